/* A model as a whole: files one after the other, each a byte for its name, two for its size, its bytes. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const names[] = {"config.json", "vocab.txt", "model.safetensors", "tokenizer_config.json",
                                      "modules.json", "1_Pooling/config.json", "tokenizer.json",
                                      "model.safetensors.index.json", "sentence_bert_config.json",
                                      "gliner_config.json"};
  bertqa_file files[8];
  size_t count = 0;
  input in = {data, size};
  while (in.size > 0 && count < 8) {
    const char *name = names[draw(&in) % (sizeof names / sizeof *names)];
    input part = draw_bytes(&in, 1 << 16);
    files[count++] = (bertqa_file){name, part.data, part.size};
  }
  load(files, count, BERTQA_OFF);
  load(files, count, BERTQA_ON);
  return 0;
}
