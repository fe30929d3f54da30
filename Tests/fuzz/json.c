/* The JSON files of a model, the others being good. The first byte says which one the rest is. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const models[] = {"tiny-bert", "tiny-bert-classifier", "tiny-bert-embedder", "tiny-lstm"};
  static const char *const names[] = {"config.json",       "tokenizer_config.json",
                                      "special_tokens_map.json",
                                      "modules.json",      "sentence_bert_config.json",
                                      "1_Pooling/config.json",
                                      "tokenizer.json",    "config_sentence_transformers.json",
                                      "artifact.metadata", "gliner_config.json",
                                      "added_tokens.json"};
  enum { model_count = sizeof models / sizeof *models, name_count = sizeof names / sizeof *names };
  static bertqa_file good[model_count][3];
  if (good[0][0].data == NULL) {
    for (int i = 0; i < model_count; i++) {
      good[i][0] = fixture_file(models[i], "vocab.txt");
      good[i][1] = fixture_file(models[i], "model.safetensors");
      good[i][2] = fixture_file(models[i], "config.json");
    }
  }
  if (size == 0) return 0;
  int model = *data & 3, name = (*data >> 2) % name_count;
  bertqa_file files[4] = {good[model][0], good[model][1], good[model][2], good[model][2]};
  bertqa_file drawn = {names[name], data + 1, size - 1};
  if (name == 0) {
    files[2] = drawn;
    load(files, 3, BERTQA_OFF);
  } else {
    files[3] = drawn;
    load(files, 4, BERTQA_OFF);
  }
  return 0;
}
