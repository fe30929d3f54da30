/* Labels defined by examples. */
#include "check.h"
#include "structs.h"

#define EXAMPLE(text, label) {text, sizeof text - 1, label, sizeof label - 1}

static const bertqa_example examples[] = {EXAMPLE("the dog", "animal"), EXAMPLE("the king", "person"),
                                          EXAMPLE("a quick brown fox", "animal")};
enum { COUNT = sizeof examples / sizeof examples[0] };

static bertqa_context *context;

static bertqa_labeler *labeler_of(const bertqa_labeler_options *options) {
  bertqa_labeler *labeler = NULL;
  CHECK_STATUS(BERTQA_OK, bertqa_labeler_create(context, examples, COUNT, options, &labeler));
  return labeler;
}

static void test_labels(void) {
  bertqa_labeler *labeler = labeler_of(NULL);
  size_t bytes = 0;
  CHECK(bertqa_labeler_label_count(labeler) == 2);
  CHECK(strcmp(bertqa_labeler_label_get(labeler, 1, &bytes), "person") == 0 && bytes == 6);
  CHECK(bertqa_labeler_label_get(labeler, 2, &bytes) == NULL && bytes == 0);
  bertqa_context_free(context); /* the labeler keeps what it needs */
  const bertqa_text_pair texts[] = {{"the king", 8, NULL, 0}, {"", 0, NULL, 0}, {"the dog", 7, "a fox", 5}};
  bertqa_classification *all[3], *one;
  CHECK_STATUS(BERTQA_OK, bertqa_labeler_classify(labeler, texts, 3, NULL, all, NULL));
  for (int i = 0; i < 3; i++) {
    CHECK_STATUS(BERTQA_OK, bertqa_labeler_classify(labeler, &texts[i], 1, NULL, &one, NULL));
    float sum = 0;
    CHECK(bertqa_classification_count(all[i]) == 2 && bertqa_classification_count(one) == 2);
    for (size_t rank = 0; rank < 2; rank++) {
      const bertqa_label_score *score = bertqa_classification_get(all[i], rank);
      CHECK(strcmp(score->label, score->id == 0 ? "animal" : "person") == 0);
      CHECK(fabsf(score->logit) <= 20.0001f);
      CHECK(score->logit == bertqa_classification_get(one, rank)->logit);
      sum += score->probability;
    }
    CHECK(fabsf(sum - 1) < 1e-6f);
    CHECK(bertqa_classification_summary(all[i])->problem_type == BERTQA_PROBLEM_TYPE_SINGLE_LABEL_CLASSIFICATION);
    bertqa_classification_free(one);
  }
  const bertqa_label_score *best = bertqa_classification_get(all[0], 0);
  CHECK(strcmp(best->label, "person") == 0 && fabsf(best->logit - 20) < 1e-3f); /* its own example */
  for (int i = 0; i < 3; i++) bertqa_classification_free(all[i]);
  CHECK_STATUS(BERTQA_OK, bertqa_labeler_classify(labeler, NULL, 0, NULL, NULL, NULL));
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, one, bertqa_labeler_classify(labeler, NULL, 1, NULL, &one, NULL));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_labeler_classify(labeler, texts, 1, NULL, NULL, NULL));
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, one, bertqa_labeler_classify(NULL, texts, 1, NULL, &one, NULL));
  bertqa_labeler_free(labeler);
  bertqa_labeler_free(NULL);
  context = fixture_context("tiny-bert-embedder", 2);
}

static int32_t stop(void *user) { return ++*(int *)user; }

static void test_options(void) {
  bertqa_embed_options embed;
  bertqa_embed_options_init(&embed, sizeof embed);
  bertqa_labeler_options options;
  bertqa_labeler_options_init(&options, sizeof options);
  CHECK(options.struct_size == sizeof options && options.scale == 0 && options.embed == NULL);
  const bertqa_text_pair text = {"a king", 6, NULL, 0};
  float logits[3];
  const bertqa_pooling poolings[] = {BERTQA_POOLING_MEAN, BERTQA_POOLING_CLS, BERTQA_POOLING_MODEL};
  for (int i = 0; i < 3; i++) {
    embed.pooling = poolings[i];
    embed.normalize = i - 1;
    options.embed = &embed;
    options.scale = 5;
    bertqa_labeler *labeler = labeler_of(&options);
    bertqa_classification *result;
    CHECK_STATUS(BERTQA_OK, bertqa_labeler_classify(labeler, &text, 1, NULL, &result, NULL));
    logits[i] = bertqa_classification_get(result, 0)->logit;
    CHECK(fabsf(logits[i]) <= 5.0001f);
    bertqa_classification_free(result);
    bertqa_labeler_free(labeler);
  }
  CHECK(logits[0] == logits[2] && logits[0] != logits[1]);

  int calls = 0;
  const bertqa_call_options call = {.struct_size = sizeof call, .cancel = stop, .user = &calls};
  options.call = &call;
  bertqa_labeler *labeler;
  CHECK_FAILS(BERTQA_ERROR_CANCELLED, labeler,
              bertqa_labeler_create(context, examples, COUNT, &options, &labeler));
  CHECK(calls == 1);
}

/* Labels are compared as bytes: the same name in two forms of Unicode is two labels. */
static void test_bytes(void) {
  const bertqa_example forms[] = {EXAMPLE("the dog", "caf\xc3\xa9"), EXAMPLE("the king", "cafe\xcc\x81")};
  bertqa_labeler *labeler = NULL;
  CHECK_STATUS(BERTQA_OK, bertqa_labeler_create(context, forms, 2, NULL, &labeler));
  CHECK(bertqa_labeler_label_count(labeler) == 2);
  for (size_t i = 0; i < 2; i++) CHECK(strcmp(bertqa_labeler_label_get(labeler, i, NULL), forms[i].label) == 0);
  bertqa_labeler_free(labeler);
  const bertqa_example wrong[] = {EXAMPLE("a", "b\0c"), EXAMPLE("a", "\xff"), {"a", 1, NULL, 0}};
  for (size_t i = 0; i < 3; i++) {
    CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, labeler,
                bertqa_labeler_create(context, &wrong[i], 1, NULL, &labeler));
    CHECK(bertqa_last_error_item() == 0 && strcmp(bertqa_last_error_argument(), "label") == 0);
  }
}

static void test_refused(void) {
  bertqa_labeler *labeler;
  bertqa_labeler_options options;
  const float scales[] = {-INFINITY, -1, NAN, INFINITY};
  for (int i = 0; i < 4; i++) {
    bertqa_labeler_options_init(&options, sizeof options);
    options.scale = scales[i];
    CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, labeler,
                bertqa_labeler_create(context, examples, COUNT, &options, &labeler));
  }
  bertqa_embed_options embed;
  bertqa_embed_options_init(&embed, sizeof embed);
  const bertqa_call_options call = BERTQA_CALL_OPTIONS_INIT;
  embed.call = &call; /* belongs to the labeler's own options */
  bertqa_labeler_options_init(&options, sizeof options);
  options.embed = &embed;
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, labeler,
              bertqa_labeler_create(context, examples, COUNT, &options, &labeler));
  bertqa_embed_options_init(&embed, sizeof embed);
  embed.pooling = 9;
  bertqa_labeler_options_init(&options, sizeof options);
  options.embed = &embed;
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, labeler,
              bertqa_labeler_create(context, examples, COUNT, &options, &labeler));
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, labeler,
              bertqa_labeler_create(context, examples, 0, NULL, &labeler));
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, labeler,
              bertqa_labeler_create(context, NULL, 1, NULL, &labeler));
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, labeler,
              bertqa_labeler_create(NULL, examples, COUNT, NULL, &labeler));
  CHECK_FAILS(BERTQA_ERROR_TOO_LARGE, labeler,
              bertqa_labeler_create(context, examples, SIZE_MAX, NULL, &labeler));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_labeler_create(context, examples, COUNT, NULL, NULL));
  const bertqa_example unnamed[] = {examples[0], EXAMPLE("a", " \t")};
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, labeler,
              bertqa_labeler_create(context, unnamed, 2, NULL, &labeler));
  CHECK(strstr(bertqa_last_error(), "examples[1]") != NULL);
  bertqa_context *qa = tiny_context(1);
  CHECK_FAILS(BERTQA_ERROR_WRONG_MODEL, labeler, bertqa_labeler_create(qa, examples, COUNT, NULL, &labeler));
  bertqa_context_free(qa);
  CHECK_STRUCT_SIZES(bertqa_labeler_options, scale, reserved, labeler,
                     bertqa_labeler_create(context, examples, COUNT, options, &labeler), bertqa_labeler_free);
}

int main(int argc, char **argv) {
  begin(argc, argv);
  context = fixture_context("tiny-bert-embedder", 2);
  test_labels();
  test_options();
  test_bytes();
  test_refused();
  bertqa_context_free(context);
  return finish();
}
