/* Predictions along a sequence: states, steps, generations, likelihoods. */
#include "check.h"
#include "structs.h"

static bertqa_context *context, *other; /* two models */
static size_t vocabulary, length;

/* The state behind some words of the vocabulary. */
static bertqa_sequence_state *state_after(const bertqa_context *model, const int32_t *ids, size_t count) {
  bertqa_sequence_state *state = NULL;
  for (size_t i = 0; i < count; i++) {
    bertqa_sequence_state *next = NULL;
    const bertqa_sequence_state *before = state;
    CHECK_STATUS(BERTQA_OK, bertqa_sequence_step(model, &ids[i], &before, 1, NULL, &next, NULL, 0));
    bertqa_sequence_state_free(state);
    state = next;
  }
  return state;
}

/* Options whose top_k is this. */
static const bertqa_sequence_options *top(int32_t k) {
  static bertqa_sequence_options options = BERTQA_SEQUENCE_OPTIONS_INIT;
  options.top_k = k;
  return &options;
}

static int same_state(const bertqa_sequence_state *a, const bertqa_sequence_state *b) {
  float left[512], right[512];
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_state_export(a, left, length));
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_state_export(b, right, length));
  return memcmp(left, right, length * sizeof(float)) == 0;
}

static void test_info(void) {
  const bertqa_model_info *info = bertqa_context_info(context);
  CHECK(info->task == BERTQA_TASK_PREDICT);
  CHECK(strcmp(info->architecture, "LSTMLanguageModel") == 0);
  CHECK(length == 2 * 2 * 20 && info->hidden_size == 20 && info->num_hidden_layers == 2);
  const bertqa_sequence_info *sequence = bertqa_context_sequence_info(context);
  CHECK(sequence->struct_size == sizeof *sequence && strcmp(sequence->separator, " ") == 0);
  CHECK(strcmp(bertqa_context_vocabulary_piece(context, sequence->unknown_id, NULL), "<unk>") == 0);
  CHECK(sequence->end_id == bertqa_context_vocabulary_id(context, sequence->end, strlen(sequence->end)));
  size_t bytes;
  CHECK(strcmp(bertqa_context_vocabulary_piece(context, 0, &bytes), "<unk>") == 0 && bytes == 5);
  CHECK(bertqa_context_vocabulary_id(context, "Romeo", 5) >= 0 && bertqa_context_vocabulary_id(context, "romeo", 5) == -1);
}

static void test_states(void) {
  const int32_t ids[] = {3, 9, 4};
  bertqa_sequence_state *state = state_after(context, ids, 3), *clone, *copy = NULL;
  clone = bertqa_sequence_state_clone(state);
  CHECK(same_state(state, clone));
  bertqa_sequence_state_free(state); /* in any order */
  CHECK(bertqa_sequence_state_clone(NULL) == NULL);
  bertqa_sequence_state_free(NULL);

  float values[80];
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_state_export(clone, values, 80));
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_state_import(context, values, 80, &copy));
  CHECK(same_state(clone, copy));
  bertqa_sequence_state_free(copy);

  size_t bytes = 0;
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_sequence_state_serialize(clone, NULL, 0, &bytes));
  CHECK(bytes > 80 * sizeof(float));
  unsigned char *data = malloc(bytes), *untouched = malloc(bytes);
  memset(data, 0xaa, bytes);
  memset(untouched, 0xaa, bytes);
  size_t needed = 0;
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_sequence_state_serialize(clone, data, bytes - 1, &needed));
  CHECK(needed == bytes && memcmp(data, untouched, bytes) == 0);
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_state_serialize(clone, data, bytes, &needed));
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_state_deserialize(context, data, bytes, &copy));
  CHECK(same_state(clone, copy));
  bertqa_sequence_state_free(copy);

  CHECK_FAILS(BERTQA_ERROR_WRONG_MODEL, copy, bertqa_sequence_state_deserialize(other, data, bytes, &copy));
  for (size_t i = 0; i < bytes; i++) {
    CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, copy, bertqa_sequence_state_deserialize(context, data, i, &copy));
    data[i] ^= 1;
    CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, copy, bertqa_sequence_state_deserialize(context, data, bytes, &copy));
    data[i] ^= 1;
  }
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, copy, bertqa_sequence_state_deserialize(context, NULL, bytes, &copy));
  CHECK_FAILS(BERTQA_ERROR_TOO_LARGE, copy, bertqa_sequence_state_deserialize(context, data, SIZE_MAX, &copy));
  free(data);
  free(untouched);

  const size_t wrong[] = {0, 1, 79, 81, SIZE_MAX};
  for (int i = 0; i < 5; i++) {
    CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_sequence_state_export(clone, values, wrong[i]));
    CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, copy, bertqa_sequence_state_import(context, values, wrong[i], &copy));
  }
  values[7] = NAN;
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, copy, bertqa_sequence_state_import(context, values, 80, &copy));
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, copy, bertqa_sequence_state_import(context, NULL, 80, &copy));
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, copy, bertqa_sequence_state_import(NULL, values, 80, &copy));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_sequence_state_export(NULL, values, 80));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_sequence_state_export(clone, NULL, 80));
  bertqa_context *answering = tiny_context(1);
  values[7] = 0;
  const size_t lengths[] = {80, 0, SIZE_MAX, SIZE_MAX / 2 + 1};
  for (int i = 0; i < 4; i++)
    CHECK_FAILS(BERTQA_ERROR_WRONG_MODEL, copy,
                bertqa_sequence_state_import(answering, values, lengths[i], &copy));
  CHECK(bertqa_context_sequence_info(answering) == NULL && bertqa_context_sequence_info(NULL) == NULL);
  bertqa_context_free(answering);
  bertqa_sequence_state_free(clone);
}

static void test_predict(void) {
  bertqa_prediction *prediction = NULL;
  bertqa_sequence_state *state = NULL, *next = NULL;
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_predict(context, "O", 1, NULL, top(3), &prediction, &state));
  CHECK(bertqa_prediction_count(prediction) == 3 && !bertqa_prediction_is_unknown(prediction));
  CHECK(bertqa_prediction_get(prediction, 3) == NULL);
  const float *probabilities = bertqa_prediction_probabilities(prediction);
  double sum = 0;
  for (size_t i = 0; i < vocabulary; i++) sum += probabilities[i];
  CHECK(fabs(sum - 1) < 1e-6);
  float most = 1;
  for (size_t i = 0; i < 3; i++) {
    const bertqa_word *word = bertqa_prediction_get(prediction, i);
    CHECK(word->struct_size == sizeof *word && strlen(word->text) == word->length);
    CHECK(strcmp(word->text, bertqa_context_vocabulary_piece(context, word->id, NULL)) == 0);
    CHECK(fabsf(word->probability - probabilities[word->id]) < 1e-6f && word->probability <= most);
    CHECK(fabsf(expf(word->log_probability) - word->probability) < 1e-6f);
    most = word->probability;
  }
  bertqa_prediction_free(prediction);

  CHECK_STATUS(BERTQA_OK, bertqa_sequence_predict(context, "zyzzyva", 7, state, top(1000), &prediction, &next));
  CHECK(bertqa_prediction_is_unknown(prediction) != 0);
  CHECK(bertqa_prediction_count(prediction) == vocabulary);
  /* The caller wants no result, or only the state. */
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_predict(context, "O", 1, NULL, NULL, NULL, NULL));
  bertqa_sequence_state *alone = NULL;
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_predict(context, "O", 1, NULL, NULL, NULL, &alone));
  CHECK(same_state(alone, state));
  bertqa_sequence_state_free(alone);
  bertqa_sequence_state_free(next);
  bertqa_prediction_free(prediction);

  for (int32_t top_k = -2; top_k < 0; top_k++) {
    next = (void *)&vocabulary;
    CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, prediction,
                bertqa_sequence_predict(context, "O", 1, NULL, top(top_k), &prediction, &next));
    CHECK(next == NULL);
  }
  CHECK_FAILS(BERTQA_ERROR_WRONG_MODEL, prediction,
              bertqa_sequence_predict(other, "O", 1, state, NULL, &prediction, NULL));
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, prediction,
              bertqa_sequence_predict(NULL, "O", 1, NULL, NULL, &prediction, NULL));
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, prediction,
              bertqa_sequence_predict(context, NULL, 1, NULL, NULL, &prediction, NULL));
  CHECK_FAILS(BERTQA_ERROR_TOO_LARGE, prediction,
              bertqa_sequence_predict(context, "O", SIZE_MAX, NULL, NULL, &prediction, NULL));
  bertqa_prediction_free(NULL);
  CHECK(bertqa_prediction_count(NULL) == 0 && bertqa_prediction_get(NULL, 0) == NULL);
  CHECK(bertqa_prediction_probabilities(NULL) == NULL && !bertqa_prediction_is_unknown(NULL));
  bertqa_sequence_state_free(state);
}

/* A text read at once, and its words one by one. */
static void test_predict_text(void) {
  static const char *words[] = {"O", "Romeo", ",", "night"};
  bertqa_sequence_state *state = NULL, *next = NULL, *read = NULL;
  bertqa_prediction *prediction = NULL, *at_once = NULL;
  for (int i = 0; i < 4; i++) {
    bertqa_prediction_free(prediction);
    CHECK_STATUS(BERTQA_OK, bertqa_sequence_predict(context, words[i], strlen(words[i]), state, top(3), &prediction, &next));
    bertqa_sequence_state_free(state);
    state = next;
  }
  static const char text[] = " O Romeo,\n\"night\"";
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_predict_text(context, text, sizeof text - 1, NULL, top(3), &at_once, &read));
  CHECK(same_state(state, read) && bertqa_prediction_count(at_once) == 3 && !bertqa_prediction_is_unknown(at_once));
  CHECK(memcmp(bertqa_prediction_probabilities(prediction), bertqa_prediction_probabilities(at_once),
               vocabulary * sizeof(float)) == 0);
  bertqa_prediction_free(at_once);
  bertqa_prediction_free(prediction);
  bertqa_sequence_state_free(read);

  /* In two parts, the state alone; an empty text keeps the state. */
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_predict_text(context, "O Romeo", 7, NULL, NULL, NULL, &next));
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_predict_text(context, ", night", 7, next, NULL, NULL, &read));
  CHECK(same_state(state, read));
  bertqa_sequence_state_free(read);
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_predict_text(context, NULL, 0, next, NULL, &prediction, &read));
  CHECK(same_state(next, read) && bertqa_prediction_count(prediction) == 1);
  bertqa_prediction_free(prediction);
  bertqa_sequence_state_free(read);
  bertqa_sequence_state_free(next);
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_predict_text(context, "O zyzzyva", 9, NULL, NULL, &prediction, NULL));
  CHECK(bertqa_prediction_is_unknown(prediction) != 0);
  bertqa_prediction_free(prediction);

  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, prediction,
              bertqa_sequence_predict_text(context, " \n", 2, NULL, NULL, &prediction, NULL));
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, read,
              bertqa_sequence_predict_text(context, "", 0, NULL, NULL, NULL, &read));
  CHECK_FAILS(BERTQA_ERROR_WRONG_MODEL, read,
              bertqa_sequence_predict_text(other, "O", 1, state, NULL, NULL, &read));
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, prediction,
              bertqa_sequence_predict_text(NULL, "O", 1, NULL, NULL, &prediction, NULL));
  CHECK_FAILS(BERTQA_ERROR_TOO_LARGE, prediction,
              bertqa_sequence_predict_text(context, "O", SIZE_MAX, NULL, NULL, &prediction, NULL));
  bertqa_sequence_state_free(state);
}

static void test_step(void) {
  /* Five sequences at once, and one by one. */
  enum { COUNT = 5 };
  int32_t ids[COUNT] = {0, 3, 30, 7, 3};
  const int32_t before[] = {5, 6, 7};
  bertqa_sequence_state *states[COUNT] = {NULL}, *next[COUNT], *alone;
  for (size_t i = 1; i < COUNT; i++) states[i] = state_after(context, before, i % 3 + 1);
  float *logits = malloc(COUNT * vocabulary * sizeof *logits);
  float *own = malloc(vocabulary * sizeof *own);
  const bertqa_sequence_state *const *given = (const bertqa_sequence_state *const *)states;
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_step(context, ids, given, COUNT, NULL, next, logits, COUNT * vocabulary));
  for (int i = 0; i < COUNT; i++) {
    CHECK_STATUS(BERTQA_OK, bertqa_sequence_step(context, &ids[i], &given[i], 1, NULL, &alone, own, vocabulary));
    CHECK(same_state(alone, next[i]));
    CHECK(memcmp(own, logits + (size_t)i * vocabulary, vocabulary * sizeof *own) == 0);
    bertqa_sequence_state_free(alone);
    bertqa_sequence_state_free(next[i]);
  }
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_step(context, ids, NULL, COUNT, NULL, next, NULL, 0));
  for (int i = 0; i < COUNT; i++) bertqa_sequence_state_free(next[i]);
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_step(context, NULL, NULL, 0, NULL, NULL, NULL, 0));

  /* On failure all are NULL and the message names the sequence. */
  const int32_t outside[] = {-1, (int32_t)vocabulary, INT32_MAX, INT32_MIN};
  for (int i = 0; i < 4; i++) {
    ids[3] = outside[i];
    for (int j = 0; j < COUNT; j++) next[j] = (void *)&vocabulary;
    CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_sequence_step(context, ids, given, COUNT, NULL, next, logits, COUNT * vocabulary));
    for (int j = 0; j < COUNT; j++) CHECK(next[j] == NULL);
    CHECK(bertqa_last_error_item() == 3);
  }
  ids[3] = 1;
  bertqa_sequence_state *own_state = states[2];
  states[2] = state_after(other, before, 1);
  CHECK_STATUS(BERTQA_ERROR_WRONG_MODEL, bertqa_sequence_step(context, ids, given, COUNT, NULL, next, logits, COUNT * vocabulary));
  CHECK(bertqa_last_error_item() == 2);
  bertqa_sequence_state_free(states[2]);
  states[2] = own_state;
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_sequence_step(context, NULL, NULL, 1, NULL, next, NULL, 0));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_sequence_step(context, ids, NULL, 1, NULL, NULL, NULL, 0));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_sequence_step(NULL, ids, NULL, 1, NULL, next, NULL, 0));
  CHECK_STATUS(BERTQA_ERROR_TOO_LARGE, bertqa_sequence_step(context, ids, NULL, SIZE_MAX, NULL, next, NULL, 0));
  for (int i = 0; i < COUNT; i++) bertqa_sequence_state_free(states[i]);
  free(logits);
  free(own);
}

/* Counts the words and stops after `limit`. */
struct count {
  size_t seen, limit;
  char text[4096];
};

static int32_t count_word(void *user, const bertqa_word *word) {
  struct count *count = user;
  snprintf(count->text + strlen(count->text), sizeof count->text - strlen(count->text), "%s%s",
           count->seen ? " " : "", word->text);
  return ++count->seen == count->limit;
}

static void test_generate(void) {
  bertqa_generate_options options;
  bertqa_generation *generation = NULL, *rest = NULL;
  bertqa_generate_options_init(&options, sizeof options);
  options.temperature = 1.5f;
  options.max_words = 30;
  options.seed = 5;
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_generate(context, "O zyzzyva", 9, NULL, &options, &generation));
  CHECK(bertqa_generation_unknown_count(generation) == 1);
  const size_t total = bertqa_generation_count(generation);
  size_t bytes;
  char whole[4096];
  snprintf(whole, sizeof whole, "%s", bertqa_generation_text(generation, &bytes));
  CHECK(bytes == strlen(whole) && total > 0 && bertqa_generation_get(generation, total) == NULL);
  CHECK(bertqa_generation_stop(generation) == (total == 30 ? BERTQA_STOP_LIMIT : BERTQA_STOP_END));
  bertqa_generation_free(generation);

  /* The callback sees the words, and stops. */
  struct count count = {0, 1, ""};
  options.on_word = count_word;
  options.on_word_user = &count;
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_generate(context, "O zyzzyva", 9, NULL, &options, &generation));
  CHECK(bertqa_generation_stop(generation) == BERTQA_STOP_CALLBACK && bertqa_generation_count(generation) == 1);
  CHECK(strncmp(whole, count.text, strlen(count.text)) == 0);
  CHECK(strcmp(bertqa_generation_text(generation, NULL), count.text) == 0);
  /* An empty prompt goes on from a state. */
  options.on_word = NULL;
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_generate(context, "", 0, bertqa_generation_state(generation), &options,
                                                   &rest));
  bertqa_generation_free(rest);
  bertqa_sequence_state *kept = bertqa_sequence_state_clone(bertqa_generation_state(generation));
  bertqa_generation_free(generation);
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_generate(context, NULL, 0, kept, NULL, &generation));
  bertqa_generation_free(generation);
  CHECK_FAILS(BERTQA_ERROR_WRONG_MODEL, generation,
              bertqa_sequence_generate(other, "O", 1, kept, NULL, &generation));
  bertqa_sequence_state_free(kept);
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, generation,
              bertqa_sequence_generate(context, " ", 1, NULL, NULL, &generation));
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, generation,
              bertqa_sequence_generate(context, NULL, 0, NULL, NULL, &generation));
  options.top_p = 2;
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, generation,
              bertqa_sequence_generate(context, "O", 1, NULL, &options, &generation));
  CHECK(strstr(bertqa_last_error(), "top_p") != NULL);
  bertqa_generation_free(NULL);
  CHECK(bertqa_generation_count(NULL) == 0 && bertqa_generation_get(NULL, 0) == NULL);
  CHECK(bertqa_generation_text(NULL, &bytes) == NULL && bytes == 0);
  CHECK(bertqa_generation_stop(NULL) == 0 && bertqa_generation_unknown_count(NULL) == 0);
  CHECK(bertqa_generation_state(NULL) == NULL);

  CHECK_STRUCT_SIZES(bertqa_generate_options, bertqa_generate_options_init, top_p, generation,
                     bertqa_sequence_generate(context, "O", 1, NULL, options, &generation),
                     bertqa_generation_free);
}

static void test_likelihood(void) {
  const bertqa_sequence_options complete = {.struct_size = sizeof complete, .include_end = BERTQA_ON};
  bertqa_sequence_score score;
  memset(&score, 0xaa, sizeof score);
  score.struct_size = sizeof score;
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_likelihood(context, "O zyzzyva Romeo", 15, NULL, &complete, &score));
  CHECK(score.word_count == 3 && score.unknown_count == 1 && score.log_likelihood < 0);
  CHECK(fabs(score.perplexity - exp(-score.log_likelihood / 3)) < 1e-9);
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_likelihood(context, NULL, 0, NULL, &complete, &score));
  CHECK(score.word_count == 0 && isnan(score.perplexity));

  /* Callers of other versions: no more is written than there is room. */
  struct {
    bertqa_sequence_score known;
    char added[16];
  } grown;
  for (size_t size = sizeof(size_t); size <= sizeof grown; size += sizeof(size_t)) {
    memset(&grown, 0xaa, sizeof grown);
    grown.known.struct_size = size;
    CHECK_STATUS(BERTQA_OK, bertqa_sequence_likelihood(context, "O O", 3, NULL, NULL, &grown.known));
    CHECK(grown.known.struct_size == size);
    const unsigned char *bytes = (const unsigned char *)&grown;
    for (size_t i = size; i < sizeof grown; i++) CHECK(bytes[i] == 0xaa);
  }
  const size_t wrong[] = {0, 7, 1 << 20, SIZE_MAX};
  for (int i = 0; i < 4; i++) {
    score.struct_size = wrong[i];
    CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_sequence_likelihood(context, "O", 1, NULL, NULL, &score));
  }
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_sequence_likelihood(context, "O", 1, NULL, NULL, NULL));
  score.struct_size = sizeof score;
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_sequence_likelihood(NULL, "O", 1, NULL, NULL, &score));

  bertqa_text texts[4];
  memset(texts, 0, sizeof texts);
  texts[0].text = "Romeo Romeo Romeo", texts[0].length = 17;
  texts[2].text = "night .", texts[2].length = 7;
  texts[3].text = "night .", texts[3].length = 7;
  size_t order[4], counts[4];
  double sums[4];
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_rank(context, "O", 1, texts, 4, NULL, NULL, order, sums, counts));
  CHECK(counts[0] == 3 && counts[1] == 0 && counts[2] == 2 && sums[1] == 0 && sums[2] == sums[3]);
  CHECK(order[3] == 1);
  for (int i = 0; i < 2; i++)
    CHECK(sums[order[i]] / (double)counts[order[i]] >= sums[order[i + 1]] / (double)counts[order[i + 1]]);
  for (int i = 0; i < 4; i++)
    if (order[i] == 3) CHECK(i > 0 && order[i - 1] == 2);
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_rank(context, "O", 1, texts, 4, NULL, NULL, NULL, NULL, NULL));
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_rank(context, "O", 1, NULL, 0, NULL, NULL, NULL, NULL, NULL));
  texts[2].text = NULL;
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT,
               bertqa_sequence_rank(context, "O", 1, texts, 4, NULL, NULL, order, sums, counts));
  CHECK(bertqa_last_error_item() == 2);
  CHECK(strstr(bertqa_last_error(), "continuations[2]") != NULL);
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_sequence_rank(context, "O", 1, NULL, 1, NULL, NULL, order, NULL, NULL));
  CHECK_STATUS(BERTQA_ERROR_TOO_LARGE, bertqa_sequence_rank(context, "O", 1, texts, SIZE_MAX, NULL, NULL, order, NULL, NULL));
}

/* A child goes on from a state that its parent made. */
static void test_fork(void) {
  const int32_t ids[] = {3, 9};
  bertqa_sequence_state *state = state_after(context, ids, 2), *expected = NULL;
  const bertqa_sequence_state *given[64];
  int32_t words[64];
  bertqa_sequence_state *next[64];
  for (int i = 0; i < 64; i++) given[i] = state, words[i] = 4;
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_step(context, words, given, 1, NULL, &expected, NULL, 0));
  const pid_t child = fork();
  if (child == 0) {
    int good = 1;
    for (int round = 0; round < 20; round++) {
      good &= bertqa_sequence_step(context, words, given, 64, NULL, next, NULL, 0) == BERTQA_OK;
      for (int i = 0; i < 64; i++) {
        good &= same_state(next[i], expected);
        bertqa_sequence_state_free(next[i]);
      }
    }
    _exit(good ? 0 : 1);
  }
  int result = -1;
  CHECK(waitpid(child, &result, 0) == child && WIFEXITED(result) && WEXITSTATUS(result) == 0);
  bertqa_sequence_state_free(state);
  bertqa_sequence_state_free(expected);
}

/* One context and one state, many threads. */
static bertqa_sequence_state *shared;

static void *use(void *unused) {
  (void)unused;
  for (int round = 0; round < 50; round++) {
    bertqa_generation *generation = NULL;
    CHECK_STATUS(BERTQA_OK, bertqa_sequence_generate(context, "Romeo", 5, shared, NULL, &generation));
    bertqa_sequence_state *clone = bertqa_sequence_state_clone(shared);
    CHECK(same_state(clone, shared));
    bertqa_sequence_state_free(clone);
    bertqa_generation_free(generation);
  }
  return NULL;
}

static void test_threads(void) {
  const int32_t ids[] = {8};
  shared = state_after(context, ids, 1);
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, use, NULL) == 0);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  bertqa_sequence_state_free(shared);
}

/* Results outlive their context. */
static void test_lifetimes(void) {
  bertqa_context *short_lived = fixture_context("tiny-lstm", 1);
  bertqa_prediction *prediction = NULL;
  bertqa_generation *generation = NULL;
  bertqa_sequence_state *state = NULL;
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_predict(short_lived, "O", 1, NULL, top(2), &prediction, &state));
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_generate(short_lived, "O", 1, NULL, NULL, &generation));
  bertqa_context_free(short_lived);
  CHECK(strlen(bertqa_prediction_get(prediction, 0)->text) > 0);
  for (size_t i = 0; i < bertqa_generation_count(generation); i++)
    CHECK(strlen(bertqa_generation_get(generation, i)->text) == bertqa_generation_get(generation, i)->length);
  /* Another context of the same files is the same model. */
  bertqa_sequence_state *next = NULL;
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_predict(context, "O", 1, state, NULL, NULL, &next));
  bertqa_sequence_state_free(next);
  bertqa_sequence_state_free(state);
  bertqa_generation_free(generation);
  bertqa_prediction_free(prediction);
}

int main(int argc, char **argv) {
  begin(argc, argv);
  context = fixture_context("tiny-lstm", 2);
  other = fixture_context("tiny-gru", 1);
  vocabulary = bertqa_context_info(context)->vocabulary_size;
  length = bertqa_context_sequence_info(context)->state_length;
  test_info();
  test_states();
  test_predict();
  test_predict_text();
  test_step();
  test_generate();
  test_likelihood();
  test_fork();
  test_threads();
  test_lifetimes();
  bertqa_context_free(context);
  bertqa_context_free(other);
  return finish();
}
