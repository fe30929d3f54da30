/* Vectors of texts. */
#include "check.h"
#include "structs.h"

enum { LENGTH = 16 }; /* of the tiny model's vectors */

static bertqa_context *context;

static double dot(const float *a, const float *b) {
  double sum = 0;
  for (int i = 0; i < LENGTH; i++) sum += (double)a[i] * b[i];
  return sum;
}

/* The vector of a text; NULL options: the defaults. */
static void embed(const char *text, const bertqa_embed_options *options, float *vector) {
  const bertqa_text_pair one = {text, strlen(text), NULL, 0};
  CHECK_STATUS(BERTQA_OK, bertqa_embed(context, &one, 1, options, vector, LENGTH, NULL));
}

static void test_vectors(void) {
  const bertqa_model_info *info = bertqa_context_info(context);
  CHECK(info->task == BERTQA_TASK_EMBED && info->embedding_length == LENGTH && info->label_count == 0);
  CHECK(bertqa_context_label_get(context, 0, NULL) == NULL);
  char *document = made_document(5, 100);
  const bertqa_text_pair texts[] = {{"the dog", 7, NULL, 0}, {NULL, 0, NULL, 0}, {"the dog", 7, "", 0},
                               {"the dog", 7, "a king", 6}, {document, strlen(document), NULL, 0},
                               {"\xff\0\xfe", 3, NULL, 0}};
  enum { COUNT = sizeof texts / sizeof texts[0] };
  float all[COUNT][LENGTH + 1], one[LENGTH], flat[COUNT * LENGTH + 1];
  flat[COUNT * LENGTH] = 7;
  CHECK_STATUS(BERTQA_OK, bertqa_embed(context, texts, COUNT, NULL, flat, COUNT * LENGTH, NULL));
  CHECK(flat[COUNT * LENGTH] == 7); /* nothing is written behind the last */
  for (size_t i = 0; i < COUNT; i++) {
    memcpy(all[i], flat + i * LENGTH, sizeof one);
    CHECK_STATUS(BERTQA_OK, bertqa_embed(context, &texts[i], 1, NULL, one, LENGTH, NULL));
    CHECK(memcmp(one, all[i], sizeof one) == 0); /* the same bits alone */
    CHECK(fabs(dot(one, one) - 1) < 1e-5);       /* this model's files ask for length 1 */
  }
  CHECK(memcmp(all[0], all[2], sizeof one) != 0 && memcmp(all[2], all[3], sizeof one) != 0);
  CHECK(memcmp(all[1], all[5], sizeof one) == 0); /* no token in either */
  CHECK_STATUS(BERTQA_OK, bertqa_embed(context, NULL, 0, NULL, NULL, 0, NULL));
  bertqa_embed_options short_windows = {.struct_size = sizeof short_windows, .max_seq_len = 1};
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_embed(context, NULL, 0, &short_windows, NULL, 0, NULL));
  free(document);
}

static void test_options(void) {
  bertqa_embed_options options;
  bertqa_embed_options_init(&options, sizeof options);
  CHECK(options.struct_size == sizeof options && options.pooling == BERTQA_POOLING_MODEL);
  CHECK(options.normalize == BERTQA_DEFAULT && options.max_seq_len == 0 && options.truncate == BERTQA_DEFAULT);
  char *document = made_document(5, 20);
  float model[LENGTH], plain[LENGTH], cls[LENGTH], cut[LENGTH], wide[LENGTH];
  embed(document, NULL, model);
  options.normalize = BERTQA_OFF;
  embed(document, &options, plain);
  CHECK(fabs(dot(plain, model) - sqrt(dot(plain, plain))) < 1e-4 && fabs(dot(plain, plain) - 1) > 1e-3);
  options.truncate = 1;
  embed(document, &options, cut);
  options.max_seq_len = 64;
  embed(document, &options, wide);
  CHECK(memcmp(cut, plain, sizeof cut) != 0 && memcmp(cut, wide, sizeof cut) != 0);
  options.pooling = BERTQA_POOLING_CLS;
  embed(document, &options, cls);
  CHECK(memcmp(cls, wide, sizeof cls) != 0);
  free(document);
}

static void test_prompts(void) {
  bertqa_embed_options options = BERTQA_EMBED_OPTIONS_INIT;
  float plain[LENGTH], behind[LENGTH], found[LENGTH];
  embed("dog", NULL, plain);
  embed("the dog", NULL, behind);
  bertqa_text prompt = {"the ", 4}, name = {"query", 5};
  options.prompt = &prompt;
  options.prompt_name = &name; /* not read beside a prompt */
  embed("dog", &options, found);
  CHECK(memcmp(found, behind, sizeof found) == 0 && memcmp(found, plain, sizeof found) != 0);
  options.prompt = NULL;
  embed("dog", &options, found); /* empty, as the model has no other */
  CHECK(memcmp(found, plain, sizeof found) == 0);
  const bertqa_text wrong[] = {{"other", 5}, {"", 0}, {NULL, 5}, {"\xff", 1}};
  const bertqa_text_pair text = {"dog", 3, NULL, 0};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    options.prompt_name = &wrong[i];
    CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_embed(context, &text, 1, &options, found, LENGTH, NULL));
    CHECK(strcmp(bertqa_last_error_argument(), "prompt_name") == 0);
  }
}

static int32_t stop(void *user) { return ++*(int *)user; }
static void nothing(void *out) { (void)out; }

static bertqa_status embed_pointer(const bertqa_embed_options *options, void **out) {
  static float vector[LENGTH];
  const bertqa_text_pair text = {"a", 1, NULL, 0};
  *out = NULL;
  return bertqa_embed(context, &text, 1, options, vector, LENGTH, NULL);
}

static void test_refused(void) {
  float vector[LENGTH];
  const bertqa_text_pair text = {"a", 1, NULL, 0}, null = {NULL, 1, NULL, 0}, second = {"a", 1, NULL, 1};
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_embed(NULL, &text, 1, NULL, vector, LENGTH, NULL));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_embed(context, NULL, 1, NULL, vector, LENGTH, NULL));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_embed(context, &text, 1, NULL, NULL, LENGTH, NULL));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_embed(context, &null, 1, NULL, vector, LENGTH, NULL));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_embed(context, &second, 1, NULL, vector, LENGTH, NULL));
  CHECK(bertqa_last_error_item() == 0 && strcmp(bertqa_last_error_argument(), "second") == 0);
  CHECK_STATUS(BERTQA_ERROR_TOO_LARGE, bertqa_embed(context, &text, SIZE_MAX, NULL, vector, LENGTH, NULL));
  const struct { int32_t pooling, normalize, max_seq_len; } wrong[] = {
      {3, 0, 0}, {-1, 0, 0}, {0, 2, 0}, {0, -2, 0}, {0, 0, 7}, {0, 0, -1}};
  bertqa_embed_options options;
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    bertqa_embed_options_init(&options, sizeof options);
    options.pooling = wrong[i].pooling;
    options.normalize = wrong[i].normalize;
    options.max_seq_len = wrong[i].max_seq_len;
    CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_embed(context, &text, 1, &options, vector, LENGTH, NULL));
  }
  bertqa_embed_options_init(&options, sizeof options);
  int calls = 0;
  const bertqa_call_options call = {.struct_size = sizeof call, .cancel = stop, .user = &calls};
  options.call = &call;
  CHECK_STATUS(BERTQA_ERROR_CANCELLED, bertqa_embed(context, &text, 1, &options, vector, LENGTH, NULL));
  CHECK(calls == 1);
  void *out;
  CHECK_STRUCT_SIZES(bertqa_embed_options, pooling, truncate, out,
                     embed_pointer(options, &out), nothing);
}

static void test_tokens(void) {
  const bertqa_text_pair texts[] = {{"the dog", 7, NULL, 0}, {NULL, 0, NULL, 0}, {"the dog", 7, "a king", 6}};
  bertqa_token_vectors *all[3], *one[1];
  bertqa_status statuses[3];
  CHECK_STATUS(BERTQA_OK, bertqa_embed_tokens(context, texts, 3, NULL, all, statuses));
  const size_t counts[] = {4, 2, 7};
  for (size_t i = 0; i < 3; i++) {
    CHECK(statuses[i] == BERTQA_OK && bertqa_token_vectors_count(all[i]) == counts[i]);
    CHECK(bertqa_token_vectors_width(all[i]) == LENGTH);
    CHECK(strcmp(bertqa_context_vocabulary_piece(context, bertqa_token_vectors_ids(all[i])[0], NULL), "[CLS]") == 0);
    CHECK_STATUS(BERTQA_OK, bertqa_embed_tokens(context, &texts[i], 1, NULL, one, NULL));
    CHECK(memcmp(bertqa_token_vectors_values(one[0]), bertqa_token_vectors_values(all[i]),
                 counts[i] * LENGTH * sizeof(float)) == 0);
    bertqa_token_vectors_free(one[0]);
  }
  const float *query = bertqa_token_vectors_values(all[0]), *document = bertqa_token_vectors_values(all[2]);
  float similarity = -1, none = -1;
  CHECK_STATUS(BERTQA_OK, bertqa_max_sim(query, 4, document, 7, LENGTH, &similarity));
  double expected = 0;
  for (int i = 0; i < 4; i++) {
    double best = -1e9;
    for (int j = 0; j < 7; j++) best = fmax(best, dot(query + i * LENGTH, document + j * LENGTH));
    expected += best;
  }
  CHECK(fabs(similarity - expected) < 1e-3);
  CHECK_STATUS(BERTQA_OK, bertqa_max_sim(query, 4, NULL, 0, LENGTH, &none));
  CHECK(none == 0);
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_max_sim(query, 4, document, 7, 0, &none));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_max_sim(query, SIZE_MAX / 2, document, 7, LENGTH, &none));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_max_sim(query, 4, document, 7, LENGTH, NULL));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_max_sim(NULL, 4, document, 7, LENGTH, &none));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_max_sim(query, 4, NULL, 7, LENGTH, &none));
  /* Numbers that are not finite, in each place of a vector, or products that are not. */
  float changed[2 * LENGTH], ones[2 * LENGTH];
  for (int i = 0; i < 2 * LENGTH; i++) ones[i] = 1;
  const float wrong[] = {NAN, INFINITY, 3e38f};
  for (int place = 0; place < 2 * LENGTH; place++) {
    for (int kind = 0; kind < 3; kind++) {
      for (int i = 0; i < 2 * LENGTH; i++) changed[i] = kind == 2 ? 3e38f : 1;
      changed[place] = wrong[kind];
      CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_max_sim(changed, 2, ones, 2, LENGTH, &none));
      CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_max_sim(ones, 2, changed, 2, LENGTH, &none));
    }
    /* A product that is not the largest does not count. */
    for (int i = 0; i < 2 * LENGTH; i++) changed[i] = 1;
    changed[place] = -INFINITY;
    CHECK_STATUS(BERTQA_OK, bertqa_max_sim(ones, 2, changed, 2, LENGTH, &none));
    CHECK(none == 2 * LENGTH);
  }
  for (size_t i = 0; i < 3; i++) bertqa_token_vectors_free(all[i]);
  bertqa_token_vectors_free(NULL);
  CHECK(bertqa_token_vectors_count(NULL) == 0 && bertqa_token_vectors_values(NULL) == NULL);
  bertqa_embed_options options = BERTQA_EMBED_OPTIONS_INIT;
  options.pooling = BERTQA_POOLING_CLS;
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_embed_tokens(context, texts, 1, &options, one, NULL));
  CHECK(one[0] == NULL);
}

static void test_prompts_of_the_model(void) {
  CHECK(bertqa_context_info(context)->prompt_count == 0);
  size_t length = 1;
  CHECK(bertqa_context_prompt_get(context, 0, &length) == NULL && length == 0);
  CHECK(bertqa_context_prompt_name_get(context, SIZE_MAX, NULL) == NULL);
}

static void test_wrong_models(void) {
  bertqa_answers *answers;
  bertqa_classification *classification;
  CHECK_FAILS(BERTQA_ERROR_WRONG_MODEL, answers, bertqa_answer(context, "a", 1, "b", 1, NULL, &answers));
  CHECK_FAILS(BERTQA_ERROR_WRONG_MODEL, classification,
              bertqa_classify(context, "a", 1, NULL, &classification));
  bertqa_tokens *tokens;
  CHECK_STATUS(BERTQA_OK, bertqa_tokenize(context, "the fox", 7, NULL, &tokens));
  CHECK(bertqa_tokens_count(tokens) == 2);
  bertqa_tokens_free(tokens);
}

int main(int argc, char **argv) {
  begin(argc, argv);
  context = fixture_context("tiny-bert-embedder", 2);
  test_vectors();
  test_options();
  test_prompts();
  test_prompts_of_the_model();
  test_tokens();
  test_refused();
  test_wrong_models();
  bertqa_context_free(context);
  return finish();
}
