/* Training a word-count classifier, and classifying with it. */
#include "check.h"
#include "structs.h"

static char directory[] = "/tmp/bertqa-train-XXXXXX";

static const struct {
  const char *text, *label;
} data[] = {
    {"The striker scored a goal in the final match", "sport"},
    {"Parliament passed the bill after a long vote", "politics"},
    {"A goal in the last minute won the match", "sport"},
    {"The minister lost the vote in parliament", "politics"},
    {"The goalkeeper saved the match for the team", "sport"},
    {"Ministers and the bill: parliament decides", "politics"},
    {"", "sport"},
};
enum { COUNT = sizeof data / sizeof data[0] };

static char *path(const char *name) {
  static char buffers[4][256];
  static int next;
  char *buffer = buffers[next++ % 4];
  snprintf(buffer, sizeof buffers[0], "%s/%s", directory, name);
  return buffer;
}

static bertqa_trainer *filled(const bertqa_train_options *options) {
  bertqa_trainer *trainer = NULL;
  CHECK_STATUS(BERTQA_OK, bertqa_trainer_create(options, &trainer));
  for (int i = 0; i < COUNT; i++) {
    CHECK_STATUS(BERTQA_OK, bertqa_trainer_add(trainer, data[i].text, strlen(data[i].text), data[i].label,
                                               strlen(data[i].label)));
  }
  return trainer;
}

static bertqa_train_options options_with(int32_t folds) {
  bertqa_train_options options;
  bertqa_train_options_init(&options, sizeof options);
  options.folds = folds;
  return options;
}

static void test_defaults(void) {
  bertqa_train_options options;
  bertqa_train_options_init(&options, sizeof options);
  CHECK(options.struct_size == sizeof options && options.algorithm == BERTQA_LOGISTIC_REGRESSION);
  CHECK(options.min_word_length == 3 && options.min_distinct_words == 3 && options.max_ngram == 1);
  CHECK(options.tf_idf == 0 && options.min_document_count == 1 && options.max_document_fraction == 1);
  CHECK(options.max_vocabulary == 262144 && options.c == 1 && options.alpha == 1);
  CHECK(options.max_iterations == 1000 && options.tolerance == 1e-4 && options.folds == 5);
  CHECK(options.threads == 0 && options.seed == 0 && options.progress == NULL);
}

static void test_report(void) {
  bertqa_train_options options = options_with(2);
  bertqa_trainer *trainer = filled(&options);
  const bertqa_training_report *report = NULL;
  CHECK_STATUS(BERTQA_OK, bertqa_trainer_finish(trainer, path("report"), &report));
  CHECK(report->struct_size == sizeof *report && report->text_count == COUNT && report->label_count == 2);
  CHECK(strcmp(report->labels[0], "politics") == 0 && strcmp(report->labels[1], "sport") == 0);
  CHECK(report->label_texts[0] == 3 && report->label_texts[1] == 4);
  CHECK(report->vocabulary_size > 10 && report->iterations > 0 && report->converged && report->loss > 0);
  size_t total = 0;
  for (int i = 0; i < 4; i++) total += report->confusion[i];
  CHECK(total == COUNT);
  CHECK(report->accuracy >= 0 && report->accuracy <= 1 && report->macro_f1 <= 1 && report->calibration_error <= 1);
  bertqa_trainer_free(trainer); /* the report outlives it */
  CHECK(strcmp(report->labels[1], "sport") == 0);
  bertqa_training_report_free(report);

  bertqa_train_options none = options_with(0);
  trainer = filled(&none);
  CHECK_STATUS(BERTQA_OK, bertqa_trainer_finish(trainer, path("none"), &report));
  CHECK(isnan(report->accuracy) && isnan(report->macro_f1) && isnan(report->calibration_error));
  CHECK(report->confusion == NULL);
  bertqa_training_report_free(report);
  CHECK_STATUS(BERTQA_OK, bertqa_trainer_finish(trainer, path("again"), NULL)); /* without a report */
  bertqa_trainer_free(trainer);
  bertqa_trainer_free(NULL);
  bertqa_training_report_free(NULL);
}

static void test_use(void) {
  bertqa_context *context = NULL;
  CHECK_STATUS(BERTQA_OK, bertqa_context_create(path("none"), NULL, &context));
  const bertqa_model_info *info = bertqa_context_info(context);
  CHECK(info->task == BERTQA_TASK_CLASSIFY && info->num_labels == 2);
  CHECK(strcmp(info->architecture, "WordCountClassifier") == 0);
  CHECK(strcmp(bertqa_context_label(context, 1), "sport") == 0);
  CHECK(bertqa_vocabulary_id(context, "match", 5) >= 0 && bertqa_vocabulary_id(context, "zebra", 5) == -1);

  static const char text[] = "\xc3\xa9t\xc3\xa9: a GOAL won this match";
  bertqa_classify_options options;
  bertqa_classify_options_init(&options, sizeof options);
  options.contributions = 2;
  bertqa_classification *result = NULL;
  CHECK_STATUS(BERTQA_OK, bertqa_classify(context, text, sizeof text - 1, &options, &result));
  CHECK(bertqa_classification_count(result) == 2);
  CHECK(strcmp(bertqa_classification_get(result, 0)->label, "sport") == 0);
  CHECK(bertqa_classification_contributions_count(result) == 2);
  const bertqa_contribution *word = bertqa_classification_contribution(result, 0);
  CHECK(word->struct_size == sizeof *word && word->weight > 0);
  CHECK(word->bytes.start - word->code_points.start == 2 && word->utf16.start == word->code_points.start);
  CHECK(memcmp(text + word->bytes.start, "GOAL", 4) == 0 || memcmp(text + word->bytes.start, "match", 5) == 0);
  CHECK(bertqa_classification_contribution(result, 2) == NULL);
  CHECK(bertqa_classification_summary(result)->distinct_words == 5);
  bertqa_classification_free(result);

  CHECK_STATUS(BERTQA_OK, bertqa_classify(context, "a to be", 7, NULL, &result));
  CHECK(bertqa_classification_summary(result)->not_enough_text && bertqa_classification_count(result) == 0);
  CHECK(bertqa_classification_get(result, 0) == NULL);
  bertqa_classification_free(result);

  bertqa_text pair = {text, sizeof text - 1, "second", 6};
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, result, bertqa_classify_batch(context, &pair, 1, NULL, &result));
  bertqa_answers *answers;
  CHECK_FAILS(BERTQA_ERROR_WRONG_MODEL, answers, bertqa_answer(context, "a", 1, "b", 1, NULL, &answers));
  bertqa_context_free(context);
}

static int progress_calls;
static double last_fraction;

static int32_t progress(void *user, const char *stage, double fraction) {
  CHECK(user == &progress_calls && (strcmp(stage, "training") == 0 || strcmp(stage, "cross-validation") == 0));
  CHECK(fraction >= 0 && fraction <= 1);
  last_fraction = fraction;
  return ++progress_calls == 3;
}

static void test_refused(void) {
  bertqa_train_options options = options_with(0);
  bertqa_trainer *trainer;
  const bertqa_training_report *report;
  options.max_ngram = 3;
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, trainer, bertqa_trainer_create(&options, &trainer));
  options = options_with(0);
  options.algorithm = 7;
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, trainer, bertqa_trainer_create(&options, &trainer));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_trainer_create(NULL, NULL));
  CHECK_STRUCT_SIZES(bertqa_train_options, bertqa_train_options_init, progress_user, trainer,
                     bertqa_trainer_create(options, &trainer), bertqa_trainer_free);

  CHECK_STATUS(BERTQA_OK, bertqa_trainer_create(NULL, &trainer));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_trainer_add(trainer, "text", 4, "", 0));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_trainer_add(trainer, "text", 4, NULL, 0));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_trainer_add(trainer, NULL, 4, "a", 1));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_trainer_add(NULL, "text", 4, "a", 1));
  CHECK_STATUS(BERTQA_ERROR_TOO_LARGE, bertqa_trainer_add(trainer, (const char *)1, SIZE_MAX, "a", 1));
  CHECK_STATUS(BERTQA_OK, bertqa_trainer_add(trainer, "one two three", 13, "a", 1));
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, report, bertqa_trainer_finish(trainer, path("one"), &report));
  CHECK(strstr(bertqa_last_error(), "two labels") != NULL);
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, report, bertqa_trainer_finish(trainer, NULL, &report));
  bertqa_trainer_free(trainer);

  options = options_with(0);
  trainer = filled(&options);
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, report, bertqa_trainer_finish(trainer, path("none"), &report));
  CHECK_FAILS(BERTQA_ERROR_IO, report, bertqa_trainer_finish(trainer, path("no/such"), &report));
  bertqa_trainer_free(trainer);

  options.progress = progress;
  options.progress_user = &progress_calls;
  trainer = filled(&options);
  CHECK_FAILS(BERTQA_ERROR_CANCELLED, report, bertqa_trainer_finish(trainer, path("cancelled"), &report));
  CHECK(progress_calls == 3 && access(path("cancelled"), F_OK) != 0);
  bertqa_trainer_free(trainer);
}

int main(int argc, char **argv) {
  begin(argc, argv);
  if (mkdtemp(directory) == NULL) return 2;
  test_defaults();
  test_report();
  test_use();
  test_refused();
  char command[64];
  snprintf(command, sizeof command, "rm -r %s", directory);
  CHECK(system(command) == 0);
  return finish();
}
