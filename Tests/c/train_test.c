/* Training a classifier, and classifying with it. */
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
                                               strlen(data[i].label), NULL));
  }
  return trainer;
}

static bertqa_train_options options_with(int32_t folds) {
  bertqa_train_options options;
  bertqa_train_options_init(&options, sizeof options);
  options.folds = folds;
  return options;
}

/* Checks a label's figures in the report. */
static void check_label(const bertqa_training_report *report, size_t index, const char *name, size_t texts) {
  const bertqa_training_label *label = bertqa_training_report_label_get(report, index);
  CHECK(label != NULL && label->struct_size == sizeof *label && label->text_count == texts);
  CHECK(strcmp(label->label, name) == 0 && label->label_length == strlen(name));
}

static void test_report(void) {
  bertqa_train_options options = options_with(2);
  bertqa_trainer *trainer = filled(&options);
  bertqa_training_report *report = NULL;
  CHECK_STATUS(BERTQA_OK, bertqa_trainer_finish(trainer, path("report"), NULL, &report));
  bertqa_trainer_free(trainer); /* the report outlives it */
  const bertqa_training_summary *summary = bertqa_training_report_summary(report);
  CHECK(summary->struct_size == sizeof *summary && summary->text_count == COUNT);
  CHECK(bertqa_training_report_label_count(report) == 2);
  check_label(report, 0, "politics", 3);
  check_label(report, 1, "sport", 4);
  CHECK(bertqa_training_report_label_get(report, 2) == NULL);
  CHECK(summary->vocabulary_size > 10 && summary->iterations > 0 && summary->is_converged && summary->loss > 0);
  CHECK(summary->accuracy >= 0 && summary->accuracy <= 1 && summary->macro_f1 <= 1 &&
        summary->calibration_error <= 1);
  size_t confusion[2][2], right = 0;
  for (size_t truth = 0; truth < 2; truth++) {
    for (size_t predicted = 0; predicted < 2; predicted++)
      confusion[truth][predicted] = bertqa_training_report_confusion(report, truth, predicted);
    right += confusion[truth][truth];
  }
  CHECK(confusion[0][0] + confusion[0][1] == 3 && confusion[1][0] + confusion[1][1] == 4);
  CHECK(fabs(summary->accuracy - (double)right / COUNT) < 1e-12);
  double f1 = 0;
  for (size_t i = 0; i < 2; i++) {
    const bertqa_training_label *label = bertqa_training_report_label_get(report, i);
    const double predicted = (double)(confusion[0][i] + confusion[1][i]);
    CHECK(fabs(label->recall - (double)confusion[i][i] / (i == 0 ? 3 : 4)) < 1e-12);
    if (predicted > 0) CHECK(fabs(label->precision - (double)confusion[i][i] / predicted) < 1e-12);
    f1 += label->f1 / 2;
  }
  CHECK(fabs(summary->macro_f1 - f1) < 1e-12);
  CHECK(bertqa_training_report_confusion(report, 2, 0) == 0);
  CHECK(bertqa_training_report_confusion(report, 0, SIZE_MAX) == 0);
  bertqa_training_report_free(report);

  bertqa_train_options none = options_with(-1);
  trainer = filled(&none);
  CHECK_STATUS(BERTQA_OK, bertqa_trainer_finish(trainer, path("none"), NULL, &report));
  summary = bertqa_training_report_summary(report);
  CHECK(isnan(summary->accuracy) && isnan(summary->macro_f1) && isnan(summary->calibration_error));
  const bertqa_training_label *label = bertqa_training_report_label_get(report, 0);
  CHECK(isnan(label->precision) && isnan(label->recall) && isnan(label->f1));
  CHECK(bertqa_training_report_confusion(report, 0, 0) == 0);
  bertqa_training_report_free(report);
  CHECK_STATUS(BERTQA_OK, bertqa_trainer_finish(trainer, path("again"), NULL, NULL)); /* without a report */
  bertqa_trainer_free(trainer);
  bertqa_trainer_free(NULL);
  bertqa_training_report_free(NULL);
  CHECK(bertqa_training_report_summary(NULL) == NULL && bertqa_training_report_label_count(NULL) == 0);
  CHECK(bertqa_training_report_label_get(NULL, 0) == NULL);
}

/* Labels are compared as bytes: the same name in two forms of Unicode is two labels. */
static void test_labels(void) {
  static const char *const labels[] = {"caf\xc3\xa9", "cafe\xcc\x81"};
  bertqa_train_options options = options_with(-1);
  bertqa_trainer *trainer = NULL;
  CHECK_STATUS(BERTQA_OK, bertqa_trainer_create(&options, &trainer));
  for (int i = 0; i < 4; i++) {
    const char *text = i % 2 ? "one two three" : "four five six";
    CHECK_STATUS(BERTQA_OK, bertqa_trainer_add(trainer, text, strlen(text), labels[i % 2], strlen(labels[i % 2]), NULL));
  }
  const struct { const char *label; size_t length; } wrong[] = {
      {"", 0}, {NULL, 0}, {"a\0b", 3}, {"\0", 1}, {"a\xff", 2}, {NULL, 2}};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT,
                 bertqa_trainer_add(trainer, "text", 4, wrong[i].label, wrong[i].length, NULL));
    CHECK(strcmp(bertqa_last_error_argument(), "label") == 0);
  }
  bertqa_training_report *report = NULL;
  CHECK_STATUS(BERTQA_OK, bertqa_trainer_finish(trainer, path("labels"), NULL, &report));
  check_label(report, 0, labels[1], 2);
  check_label(report, 1, labels[0], 2);
  bertqa_training_report_free(report);
  bertqa_trainer_free(trainer);
  bertqa_context *context = NULL;
  CHECK_STATUS(BERTQA_OK, bertqa_context_create(path("labels"), NULL, &context));
  for (int32_t id = 0; id < 2; id++) {
    size_t length = 0;
    const char *label = bertqa_context_label_get(context, id, &length);
    CHECK(label != NULL && strcmp(label, labels[1 - id]) == 0 && length == strlen(labels[1 - id]));
  }
  size_t length = 7;
  CHECK(bertqa_context_label_get(context, 2, &length) == NULL && length == 0);
  bertqa_context_free(context);
}

static void test_use(void) {
  bertqa_context *context = NULL;
  CHECK_STATUS(BERTQA_OK, bertqa_context_create(path("none"), NULL, &context));
  const bertqa_model_info *info = bertqa_context_info(context);
  CHECK(info->task == BERTQA_TASK_CLASSIFY && info->label_count == 2);
  CHECK(strcmp(info->architecture, "WordCountClassifier") == 0);
  CHECK(strcmp(bertqa_context_label_get(context, 1, NULL), "sport") == 0);
  CHECK(bertqa_context_vocabulary_id(context, "match", 5) >= 0 && bertqa_context_vocabulary_id(context, "zebra", 5) == -1);

  static const char text[] = "\xf0\x9f\xa6\x8a \xc3\xa9t\xc3\xa9: a GOAL won this match";
  bertqa_classify_options options;
  bertqa_classify_options_init(&options, sizeof options);
  options.contributions = 2;
  bertqa_classification *result = NULL;
  CHECK_STATUS(BERTQA_OK, bertqa_classify(context, text, sizeof text - 1, &options, &result));
  CHECK(bertqa_classification_count(result) == 2);
  CHECK(strcmp(bertqa_classification_get(result, 0)->label, "sport") == 0);
  CHECK(bertqa_classification_contribution_count(result) == 2);
  const bertqa_contribution *word = bertqa_classification_contribution_get(result, 0);
  CHECK(word->struct_size == sizeof *word && word->weight > 0);
  CHECK(word->bytes.start - word->code_points.start == 5 && word->utf16.start - word->code_points.start == 1);
  CHECK(memcmp(text + word->bytes.start, "GOAL", 4) == 0 || memcmp(text + word->bytes.start, "match", 5) == 0);
  CHECK(bertqa_classification_contribution_get(result, 2) == NULL);
  CHECK(bertqa_classification_summary(result)->distinct_word_count == 5);
  bertqa_classification_free(result);

  CHECK_STATUS(BERTQA_OK, bertqa_classify(context, "a to be", 7, NULL, &result));
  CHECK(bertqa_classification_summary(result)->is_too_short && bertqa_classification_count(result) == 0);
  CHECK(bertqa_classification_get(result, 0) == NULL);
  bertqa_classification_free(result);

  bertqa_text_pair pair = {text, sizeof text - 1, "second", 6};
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, result, bertqa_classify_batch(context, &pair, 1, NULL, &result, NULL));
  bertqa_answers *answers;
  CHECK_FAILS(BERTQA_ERROR_WRONG_MODEL, answers, bertqa_answer(context, "a", 1, "b", 1, NULL, &answers));
  bertqa_context_free(context);
}

static int progress_calls, cancel_calls;
static bertqa_trainer *watched;
static const char *last_stage;

/* It cannot use the trainer. */
static void progress(void *user, const char *stage, double fraction) {
  bertqa_training_report *report;
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_trainer_add(watched, "text", 4, "a", 1, NULL));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_trainer_set_group(watched, "g", 1));
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, report, bertqa_trainer_finish(watched, path("nested"), NULL, &report));
  last_stage = stage;
  CHECK(user == &progress_calls && (strcmp(stage, "training") == 0 || strcmp(stage, "cross-validation") == 0));
  CHECK(fraction >= 0 && fraction <= 1);
  progress_calls++;
}

/* Stops once the training has told of its progress. */
static int32_t cancel(void *user) {
  CHECK(user == &progress_calls);
  cancel_calls++;
  return progress_calls > 0;
}

/* The model differs from one that is not calibrated in its probabilities alone. */
static void test_calibration(void) {
  float logits[2], probabilities[2];
  for (int i = 0; i < 2; i++) {
    bertqa_train_options options = options_with(2);
    options.algorithm = BERTQA_ALGORITHM_NAIVE_BAYES;
    options.calibrate = i ? BERTQA_ON : BERTQA_DEFAULT;
    bertqa_trainer *trainer = filled(&options);
    CHECK_STATUS(BERTQA_OK, bertqa_trainer_finish(trainer, path(i ? "calibrated" : "plain"), NULL, NULL));
    bertqa_trainer_free(trainer);
    bertqa_context *context = NULL;
    CHECK_STATUS(BERTQA_OK, bertqa_context_create(path(i ? "calibrated" : "plain"), NULL, &context));
    bertqa_classification *result = NULL;
    CHECK_STATUS(BERTQA_OK, bertqa_classify(context, "the goal of the match", 21, NULL, &result));
    logits[i] = bertqa_classification_get(result, 0)->logit;
    probabilities[i] = bertqa_classification_get(result, 0)->probability;
    bertqa_classification_free(result);
    bertqa_context_free(context);
  }
  CHECK(logits[0] == logits[1] && probabilities[0] != probabilities[1]);
  CHECK(probabilities[1] > 0.5f && probabilities[1] < 1);
}

static void test_vectors(void) {
  char model[4096];
  snprintf(model, sizeof model, "%s/../tiny-bert-embedder", tiny);
  bertqa_context *embedder = fixture_context("tiny-bert-embedder", 1);
  const size_t length = (size_t)bertqa_context_info(embedder)->embedding_length;
  bertqa_context_free(embedder);
  for (bertqa_features features = BERTQA_FEATURES_EMBEDDING; features <= BERTQA_FEATURES_AUTO; features++) {
    bertqa_train_options options = options_with(2);
    options.features = features;
    options.embedding_model = model;
    bertqa_trainer *trainer = filled(&options);
    bertqa_training_report *report = NULL;
    const char *written = path(features == BERTQA_FEATURES_AUTO ? "auto" : "vectors");
    CHECK_STATUS(BERTQA_OK, bertqa_trainer_finish(trainer, written, NULL, &report));
    bertqa_trainer_free(trainer);
    const bertqa_training_summary *summary = bertqa_training_report_summary(report);
    if (features == BERTQA_FEATURES_EMBEDDING) {
      CHECK(summary->features == features && summary->vocabulary_size == length && isnan(summary->other_accuracy));
    } else {
      CHECK(summary->features != features && summary->accuracy >= summary->other_accuracy);
      CHECK(summary->other_macro_f1 >= 0);
    }
    bertqa_training_report_free(report);
    bertqa_context *context = context_of(written, 1);
    CHECK(bertqa_context_info(context)->task == BERTQA_TASK_CLASSIFY);
    bertqa_classification *result = NULL;
    CHECK_STATUS(BERTQA_OK, bertqa_classify(context, "the goal of the match", 21, NULL, &result));
    CHECK(bertqa_classification_count(result) == 2);
    bertqa_classification_free(result);
    bertqa_context_free(context);
  }
  bertqa_trainer *trainer;
  bertqa_train_options options = options_with(-1);
  options.embedding_model = "/no/such";
  options.features = 3;
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, trainer, bertqa_trainer_create(&options, &trainer));
  options.features = BERTQA_FEATURES_AUTO;
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, trainer, bertqa_trainer_create(&options, &trainer));
  CHECK(strcmp(bertqa_last_error_argument(), "features") == 0);
  options.features = BERTQA_FEATURES_EMBEDDING;
  CHECK_FAILS(BERTQA_ERROR_IO, trainer, bertqa_trainer_create(&options, &trainer));
  options.embedding_model = tiny; /* which answers */
  CHECK_FAILS(BERTQA_ERROR_WRONG_MODEL, trainer, bertqa_trainer_create(&options, &trainer));
}

static void test_groups(void) {
  double accuracies[2];
  for (int grouped = 0; grouped < 2; grouped++) {
    const bertqa_train_options options = options_with(2);
    bertqa_trainer *trainer = NULL;
    CHECK_STATUS(BERTQA_OK, bertqa_trainer_create(&options, &trainer));
    /* The words that determine the label in one group mean nothing in the other. */
    for (int i = 0; i < 40; i++) {
      char text[64];
      const int length = snprintf(text, sizeof text, "shared words group%d label%d", i % 2, i % 2 * 2 + i / 2 % 2);
      if (grouped) CHECK_STATUS(BERTQA_OK, bertqa_trainer_set_group(trainer, i % 2 ? "b" : "a", 1));
      CHECK_STATUS(BERTQA_OK, bertqa_trainer_add(trainer, text, (size_t)length, i / 2 % 2 ? "y" : "x", 1, NULL));
    }
    bertqa_training_report *report = NULL;
    CHECK_STATUS(BERTQA_OK, bertqa_trainer_finish(trainer, path(grouped ? "grouped" : "mixed"), NULL, &report));
    accuracies[grouped] = bertqa_training_report_summary(report)->accuracy;
    bertqa_training_report_free(report);
    CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_trainer_set_group(trainer, NULL, 1));
    CHECK_STATUS(BERTQA_ERROR_TOO_LARGE, bertqa_trainer_set_group(trainer, (const char *)1, SIZE_MAX));
    CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_trainer_set_group(NULL, "a", 1));
    bertqa_trainer_free(trainer);
  }
  CHECK(accuracies[0] == 1 && accuracies[1] <= 0.5);
}

static void test_refused(void) {
  bertqa_train_options options = options_with(-1);
  bertqa_trainer *trainer;
  bertqa_training_report *report = NULL;
  options.max_ngram = 3;
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, trainer, bertqa_trainer_create(&options, &trainer));
  options = options_with(-1);
  options.calibrate = BERTQA_ON;
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, trainer, bertqa_trainer_create(&options, &trainer));
  CHECK(strcmp(bertqa_last_error_argument(), "calibrate") == 0);
  options = options_with(-1);
  options.algorithm = 7;
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, trainer, bertqa_trainer_create(&options, &trainer));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_trainer_create(NULL, NULL));
  CHECK_STRUCT_SIZES(bertqa_train_options, algorithm, features, trainer,
                     bertqa_trainer_create(options, &trainer), bertqa_trainer_free);

  CHECK_STATUS(BERTQA_OK, bertqa_trainer_create(NULL, &trainer));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_trainer_add(trainer, "text", 4, "", 0, NULL));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_trainer_add(trainer, "text", 4, NULL, 0, NULL));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_trainer_add(trainer, NULL, 4, "a", 1, NULL));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_trainer_add(NULL, "text", 4, "a", 1, NULL));
  CHECK_STATUS(BERTQA_ERROR_TOO_LARGE, bertqa_trainer_add(trainer, (const char *)1, SIZE_MAX, "a", 1, NULL));
  CHECK_STATUS(BERTQA_OK, bertqa_trainer_add(trainer, "one two three", 13, "a", 1, NULL));
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, report, bertqa_trainer_finish(trainer, path("one"), NULL, &report));
  CHECK(strstr(bertqa_last_error(), "two labels") != NULL);
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, report, bertqa_trainer_finish(trainer, NULL, NULL, &report));
  bertqa_trainer_free(trainer);

  options = options_with(-1);
  trainer = filled(&options);
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, report, bertqa_trainer_finish(trainer, path("none"), NULL, &report));
  CHECK_FAILS(BERTQA_ERROR_IO, report, bertqa_trainer_finish(trainer, path("no/such"), NULL, &report));
  bertqa_trainer_free(trainer);

  bertqa_call_options call = {.struct_size = sizeof call, .progress = progress, .user = &progress_calls};
  watched = trainer = filled(&options);
  CHECK_STATUS(BERTQA_OK, bertqa_trainer_finish(trainer, path("watched"), &call, NULL));
  CHECK(progress_calls > 0);
  CHECK(strcmp(last_stage, "training") == 0); /* static */
  call.cancel = cancel;
  CHECK_FAILS(BERTQA_ERROR_CANCELLED, report, bertqa_trainer_finish(trainer, path("cancelled"), &call, &report));
  CHECK(cancel_calls > 0 && access(path("cancelled"), F_OK) != 0);
  const bertqa_call_options late = {.struct_size = sizeof late, .deadline_ns = 1};
  CHECK_FAILS(BERTQA_ERROR_DEADLINE_EXCEEDED, report,
              bertqa_trainer_finish(trainer, path("late"), &late, &report));
  CHECK(access(path("late"), F_OK) != 0);
  bertqa_trainer_free(trainer);
}

int main(int argc, char **argv) {
  begin(argc, argv);
  if (mkdtemp(directory) == NULL) return 2;
  test_report();
  test_labels();
  test_use();
  test_calibration();
  test_vectors();
  test_groups();
  test_refused();
  char command[64];
  snprintf(command, sizeof command, "rm -r %s", directory);
  CHECK(system(command) == 0);
  return finish();
}
