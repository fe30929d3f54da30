/* Quantizing a directory: the input is one of its files, by the first byte, or the beginning of the weights; all others are
 * good. What is written loads. */
#include <sys/stat.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  enum { count = 4 };
  static const char *const names[count] = {"config.json", "model.safetensors", "tokenizer_config.json", "vocab.txt"};
  static bertqa_file files[count];
  static char directory[128], output[128], changed_weights[1 << 18];
  if (files[0].data == NULL) {
    for (int i = 0; i < count; i++) files[i] = fixture_file("tiny-bert", names[i]);
    REQUIRE(files[1].size <= sizeof changed_weights);
    snprintf(directory, sizeof directory, "%s/model", scratch());
    snprintf(output, sizeof output, "%s/int8", scratch());
  }
  input in = {data, size};
  int changed = draw(&in) % count;
  mkdir(directory, 0700);
  for (int i = 0; i < count; i++) {
    bertqa_file file = i == changed ? (bertqa_file){names[i], in.data, in.size} : files[i];
    if (i == changed && i == 1 && in.size < files[i].size) {
      file = files[i];
      memcpy(changed_weights, file.data, file.size);
      memcpy(changed_weights, in.data, in.size);
      file.data = changed_weights;
    }
    write_file(directory, file);
  }
  OPTIONS(quantize, options);
  bertqa_quantize_report report = BERTQA_QUANTIZE_REPORT_INIT;
  if (is_ok(bertqa_quantize(directory, output, &options, &report))) {
    REQUIRE(report.bytes_written > 0 && report.quantized_count > 0);
    OPTIONS(context, loading);
    loading.threads = 1;
    bertqa_context *context;
    REQUIRE(is_ok(bertqa_context_create(output, &loading, &context)));
    use(context);
    bertqa_context_free(context);
  }
  remove_directory(output);
  remove_directory(directory);
  return 0;
}
