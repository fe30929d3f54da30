/* Training by counts of words, on texts, labels and options that are drawn. What is written loads and classifies. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static char directory[128];
  if (*directory == '\0') snprintf(directory, sizeof directory, "%s/classifier", scratch());
  input in = {data, size};
  OPTIONS(train, options);
  options.threads = 1;
  options.algorithm = draw(&in) % 3;
  options.max_ngram = draw(&in) % 4;
  options.min_word_length = (int8_t)draw(&in);
  options.min_distinct_words = (int8_t)draw(&in);
  options.min_document_count = (int8_t)draw(&in) / 32;
  options.max_vocabulary = (int8_t)draw(&in);
  options.max_iterations = draw(&in) % 32;
  options.folds = (int8_t)draw(&in) / 16;
  options.tf_idf = draw(&in) % 2 ? BERTQA_ON : BERTQA_DEFAULT;
  options.calibrate = draw(&in) % 2 ? BERTQA_ON : BERTQA_DEFAULT;
  options.max_document_fraction = (double)draw(&in) / 128;
  options.c = (double)(int8_t)draw(&in) / 16;
  options.alpha = (double)(int8_t)draw(&in) / 16;
  bertqa_trainer *trainer;
  if (!is_ok(bertqa_trainer_create(&options, &trainer))) {
    REQUIRE(trainer == NULL);
    return 0;
  }
  size_t added = 0;
  while (in.size > 0 && added < 64) {
    uint8_t kind = draw(&in);
    const char label[] = {(char)('a' + kind % 4), '\0'};
    input text = draw_bytes(&in, 128), name = draw_bytes(&in, 8);
    if (kind & 32) is_ok(bertqa_trainer_set_group(trainer, chars(name), name.size));
    bertqa_status status = kind < 224 ? bertqa_trainer_add(trainer, chars(text), text.size, label, 1, NULL)
                                      : bertqa_trainer_add(trainer, chars(text), text.size, chars(name), name.size, NULL);
    added += (size_t)is_ok(status);
  }
  bertqa_training_report *report;
  if (is_ok(bertqa_trainer_finish(trainer, directory, NULL, &report))) {
    const bertqa_training_summary *summary = bertqa_training_report_summary(report);
    REQUIRE(summary->text_count == added && summary->vocabulary_size > 0);
    size_t labels = bertqa_training_report_label_count(report), texts = 0, predicted = 0;
    for (size_t i = 0; i < labels; i++) {
      const bertqa_training_label *label = bertqa_training_report_label_get(report, i);
      require_words(label->label, label->label_length);
      texts += label->text_count;
      for (size_t j = 0; j < labels; j++) predicted += bertqa_training_report_confusion(report, i, j);
    }
    REQUIRE(labels >= 2 && texts == added && predicted <= added);
    REQUIRE(bertqa_training_report_label_get(report, labels) == NULL);
    OPTIONS(context, loading);
    loading.threads = 1;
    bertqa_context *context;
    REQUIRE(is_ok(bertqa_context_create(directory, &loading, &context)));
    use(context);
    bertqa_context_free(context);
    bertqa_training_report_free(report);
  } else {
    REQUIRE(report == NULL);
  }
  bertqa_trainer_free(trainer);
  remove_directory(directory);
  return 0;
}
