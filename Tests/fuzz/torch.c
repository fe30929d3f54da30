/* A pytorch_model.bin of a small model whose other files are good. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static bertqa_file files[3];
  if (files[0].data == NULL) {
    files[0] = fixture_file("tiny-lstm-no-bias", "vocab.txt");
    files[1] = fixture_file("tiny-lstm-no-bias", "config.json");
  }
  files[2] = (bertqa_file){"pytorch_model.bin", data, size};
  load(files, 3, BERTQA_OFF);
  return 0;
}
