/* Classification by BERT: labels, probabilities, windows, pairs, and who is refused. */
#include "check.h"
#include "structs.h"

static bertqa_context *context;

static const char fox[] = "The quick brown fox jumps over the lazy dog.";

static bertqa_classification *classified(const char *text, const bertqa_classify_options *options) {
  bertqa_classification *classification = NULL;
  CHECK_STATUS(BERTQA_OK, bertqa_classify(context, text, strlen(text), options, &classification));
  return classification;
}

/* True if two results are the same to the last bit. */
static int same(const bertqa_classification *a, const bertqa_classification *b) {
  if (a == NULL || b == NULL || bertqa_classification_count(a) != bertqa_classification_count(b)) return 0;
  for (size_t i = 0; i < bertqa_classification_count(a); i++) {
    const bertqa_label_score *x = bertqa_classification_get(a, i), *y = bertqa_classification_get(b, i);
    if (x->id != y->id || x->logit != y->logit || x->probability != y->probability) return 0;
  }
  return memcmp(bertqa_classification_summary(a), bertqa_classification_summary(b),
                sizeof(bertqa_classify_summary)) == 0;
}

static void test_labels(void) {
  static const char *const labels[] = {"calm", "glad", "sad"};
  const bertqa_model_info *info = bertqa_context_info(context);
  CHECK(info->task == BERTQA_TASK_CLASSIFY && info->label_count == 3 && info->embedding_length == 0);
  for (int32_t id = 0; id < 3; id++) CHECK(strcmp(bertqa_context_label_get(context, id, NULL), labels[id]) == 0);
  CHECK(bertqa_context_label_get(context, 3, NULL) == NULL && bertqa_context_label_get(context, -1, NULL) == NULL);

  bertqa_classification *result = classified(fox, NULL);
  CHECK(bertqa_classification_count(result) == 3 && bertqa_classification_get(result, 3) == NULL);
  float sum = 0, last = 1;
  for (size_t i = 0; i < 3; i++) {
    const bertqa_label_score *score = bertqa_classification_get(result, i);
    CHECK(score->struct_size == sizeof *score && strcmp(score->label, labels[score->id]) == 0);
    CHECK(score->probability <= last);
    last = score->probability;
    sum += last;
  }
  CHECK(fabsf(sum - 1) < 1e-6f);
  const bertqa_classify_summary *summary = bertqa_classification_summary(result);
  CHECK(summary->struct_size == sizeof *summary && summary->problem_type == BERTQA_PROBLEM_TYPE_SINGLE_LABEL_CLASSIFICATION);
  CHECK(summary->window_count == 1 && summary->is_too_short == 0 && summary->distinct_word_count == 0);
  CHECK(bertqa_classification_contribution_count(result) == 0);
  CHECK(bertqa_classification_contribution_get(result, 0) == NULL);
  bertqa_classification_free(result);
  bertqa_classification_free(NULL);
}

static void test_batches(void) {
  const bertqa_text_pair texts[] = {{fox, sizeof fox - 1, NULL, 0}, {NULL, 0, NULL, 0}, {fox, 9, "a king", 6},
                               {fox, 9, "", 0}, {fox, 9, NULL, 0}, {"\xff\0\xfe", 3, NULL, 0}};
  enum { COUNT = sizeof texts / sizeof texts[0] };
  bertqa_classification *all[COUNT], *one;
  CHECK_STATUS(BERTQA_OK, bertqa_classify_batch(context, texts, COUNT, NULL, all, NULL));
  for (size_t i = 0; i < COUNT; i++) {
    CHECK_STATUS(BERTQA_OK, bertqa_classify_batch(context, &texts[i], 1, NULL, &one, NULL));
    CHECK(same(one, all[i]));
    bertqa_classification_free(one);
  }
  one = classified(fox, NULL);
  CHECK(same(one, all[0]) && !same(all[2], all[3]) && !same(all[3], all[4]));
  bertqa_classification_free(one);
  for (size_t i = 0; i < COUNT; i++) bertqa_classification_free(all[i]);
  CHECK_STATUS(BERTQA_OK, bertqa_classify_batch(context, NULL, 0, NULL, NULL, NULL));

  const bertqa_text_pair bad[] = {texts[0], {NULL, 4, NULL, 0}};
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_classify_batch(context, bad, 2, NULL, all, NULL));
  CHECK(all[0] == NULL && all[1] == NULL && strstr(bertqa_last_error(), "texts[1]") != NULL);
}

static void test_windows(void) {
  char *text = made_document(3, 40);
  bertqa_classify_options options;
  bertqa_classify_options_init(&options, sizeof options);
  CHECK(options.struct_size == sizeof options && options.max_seq_len == 0 && options.doc_stride == 0);
  CHECK(options.window_pooling == BERTQA_WINDOW_POOLING_MEAN && options.contributions == 0);
  bertqa_classification *whole = classified(text, NULL), *mean, *max;
  options.max_seq_len = 32;
  options.doc_stride = 8;
  mean = classified(text, &options);
  options.window_pooling = BERTQA_WINDOW_POOLING_MAX;
  max = classified(text, &options);
  CHECK(bertqa_classification_summary(whole)->window_count > 1);
  CHECK(bertqa_classification_summary(mean)->window_count > bertqa_classification_summary(whole)->window_count);
  for (size_t i = 0; i < 3; i++) {
    for (size_t j = 0; j < 3; j++) {
      const bertqa_label_score *a = bertqa_classification_get(mean, i), *b = bertqa_classification_get(max, j);
      if (a->id == b->id) CHECK(a->logit < b->logit);
    }
  }
  bertqa_classification_free(whole);
  bertqa_classification_free(mean);
  bertqa_classification_free(max);
  free(text);
}

static void test_other_heads(void) {
  bertqa_context *single = context;
  bertqa_classification *result;
  context = fixture_context("tiny-distilbert-classifier", 1);
  result = classified(fox, NULL);
  CHECK(bertqa_classification_summary(result)->problem_type == BERTQA_PROBLEM_TYPE_MULTI_LABEL_CLASSIFICATION);
  for (size_t i = 0; i < 4; i++) {
    const bertqa_label_score *score = bertqa_classification_get(result, i);
    CHECK(fabsf(score->probability - 1 / (1 + expf(-score->logit))) < 1e-6f);
  }
  bertqa_classification_free(result);
  bertqa_context_free(context);

  context = fixture_context("tiny-bert-regression", 1);
  result = classified(fox, NULL);
  bertqa_context_free(context); /* results outlive it */
  CHECK(bertqa_classification_summary(result)->problem_type == BERTQA_PROBLEM_TYPE_REGRESSION);
  const bertqa_label_score *score = bertqa_classification_get(result, 0);
  CHECK(strcmp(score->label, "LABEL_0") == 0 && isnan(score->probability) && isfinite(score->logit));
  bertqa_classification_free(result);
  context = single;
}

static void test_none(void) {
  bertqa_classify_options options = BERTQA_CLASSIFY_OPTIONS_INIT;
  bertqa_classification *result = classified("the quick brown fox", &options);
  const float best = bertqa_classification_get(result, 0)->probability;
  CHECK(bertqa_classification_summary(result)->is_none == 0);
  bertqa_classification_free(result);
  for (int i = 0; i < 2; i++) {
    options.min_probability = i ? best + 1e-3f : best;
    result = classified("the quick brown fox", &options);
    CHECK(bertqa_classification_summary(result)->is_none == i && bertqa_classification_count(result) == 3);
    CHECK(bertqa_classification_get(result, 0)->probability == best);
    bertqa_classification_free(result);
  }
}

static int32_t stop(void *user) { return ++*(int *)user; }

static void test_refused(void) {
  bertqa_classification *result;
  bertqa_classify_options options;
  bertqa_classify_options_init(&options, sizeof options);
  const int32_t lengths[] = {7, -1, INT32_MIN};
  for (int i = 0; i < 3; i++) {
    options.max_seq_len = lengths[i];
    CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, result, bertqa_classify(context, "a", 1, &options, &result));
  }
  bertqa_classify_options_init(&options, sizeof options);
  options.window_pooling = 2;
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, result, bertqa_classify(context, "a", 1, &options, &result));
  bertqa_classify_options_init(&options, sizeof options);
  const float probabilities[] = {-0.1f, 1.1f, NAN, INFINITY};
  for (int i = 0; i < 4; i++) {
    options.min_probability = probabilities[i];
    CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, result, bertqa_classify(context, "a", 1, &options, &result));
    CHECK(strcmp(bertqa_last_error_argument(), "min_probability") == 0);
  }
  bertqa_classify_options_init(&options, sizeof options);
  options.multi_label = 2;
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, result, bertqa_classify(context, "a", 1, &options, &result));
  bertqa_classify_options_init(&options, sizeof options);
  int calls = 0;
  const bertqa_call_options call = {.struct_size = sizeof call, .cancel = stop, .user = &calls};
  options.call = &call;
  CHECK_FAILS(BERTQA_ERROR_CANCELLED, result, bertqa_classify(context, "a", 1, &options, &result));
  CHECK(calls == 1);
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, result, bertqa_classify(NULL, "a", 1, NULL, &result));
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, result, bertqa_classify(context, NULL, 1, NULL, &result));
  CHECK_FAILS(BERTQA_ERROR_TOO_LARGE, result, bertqa_classify(context, "a", SIZE_MAX, NULL, &result));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_classify(context, "a", 1, NULL, NULL));
  CHECK_STRUCT_SIZES(bertqa_classify_options, contributions, multi_label, result,
                     bertqa_classify(context, "a", 1, options, &result), bertqa_classification_free);
}

static void test_wrong_models(void) {
  bertqa_context *qa = tiny_context(1);
  bertqa_classification *result;
  bertqa_answers *answers;
  float vector[64];
  const bertqa_text_pair text = {"a", 1, NULL, 0};
  CHECK_FAILS(BERTQA_ERROR_WRONG_MODEL, result, bertqa_classify(qa, "a", 1, NULL, &result));
  CHECK(strstr(bertqa_last_error(), "use …ForSequenceClassification") != NULL);
  CHECK_FAILS(BERTQA_ERROR_WRONG_MODEL, answers, bertqa_answer(context, "a", 1, "b", 1, NULL, &answers));
  CHECK_STATUS(BERTQA_ERROR_WRONG_MODEL, bertqa_embed(context, &text, 1, NULL, vector, 64, NULL));
  CHECK_STATUS(BERTQA_ERROR_WRONG_MODEL, bertqa_embed(qa, &text, 1, NULL, vector, 64, NULL));
  bertqa_context_free(qa);
}

int main(int argc, char **argv) {
  begin(argc, argv);
  context = fixture_context("tiny-bert-classifier", 2);
  test_labels();
  test_batches();
  test_windows();
  test_other_heads();
  test_none();
  test_refused();
  test_wrong_models();
  bertqa_context_free(context);
  return finish();
}
