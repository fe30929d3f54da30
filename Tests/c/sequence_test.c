/* States of sequences, and steps between them. */
#include "sequence.h"

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
  CHECK(strcmp(bertqa_last_error_argument(), "bytes") == 0);
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, copy, bertqa_sequence_state_deserialize(context, "garbage", 7, &copy));
  CHECK(strcmp(bertqa_last_error_argument(), "bytes") == 0);
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
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_sequence_step(NULL, NULL, NULL, 0, NULL, NULL, NULL, 0));
  const size_t lengths[] = {0, COUNT * vocabulary - 1, COUNT * vocabulary + 1, SIZE_MAX};
  for (int i = 0; i < 4; i++) {
    CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT,
                 bertqa_sequence_step(context, ids, NULL, COUNT, NULL, next, logits, lengths[i]));
    CHECK(strcmp(bertqa_last_error_argument(), "logits_length") == 0);
  }
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT,
               bertqa_sequence_step(context, ids, NULL, COUNT, NULL, next, NULL, COUNT * vocabulary));

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

/* A child goes on from a state that its parent made. */
static void test_fork(void) {
  const int32_t ids[] = {3, 9};
  bertqa_sequence_state *state = state_after(context, ids, 2), *expected = NULL;
  const bertqa_sequence_state *given[64];
  int32_t words[64];
  bertqa_sequence_state *next[64];
  for (int i = 0; i < 64; i++) given[i] = state, words[i] = 4;
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_step(context, words, given, 1, NULL, &expected, NULL, 0));
  const pid_t child = fork_child();
  if (child == 0) {
    for (int round = 0; round < 20; round++) {
      CHECK_STATUS(BERTQA_OK, bertqa_sequence_step(context, words, given, 64, NULL, next, NULL, 0));
      for (int i = 0; i < 64; i++) {
        CHECK(same_state(next[i], expected));
        bertqa_sequence_state_free(next[i]);
      }
    }
    end_child();
  }
  CHECK(succeeds(child));
  bertqa_sequence_state_free(state);
  bertqa_sequence_state_free(expected);
}

/* One context and one state, many threads: each generates what one thread does. */
static bertqa_sequence_state *shared;
static char alone[4096];

static bertqa_generation *generated(void) {
  bertqa_generation *generation = NULL;
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_generate(context, "Romeo", 5, shared, NULL, &generation));
  return generation;
}

static void *use(void *unused) {
  (void)unused;
  for (int round = 0; round < 50; round++) {
    bertqa_generation *generation = generated();
    CHECK(strcmp(bertqa_generation_text(generation, NULL), alone) == 0);
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
  bertqa_generation *generation = generated();
  snprintf(alone, sizeof alone, "%s", bertqa_generation_text(generation, NULL));
  bertqa_generation_free(generation);
  CHECK(strlen(alone) > 0);
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
  CHECK(bertqa_generation_count(generation) > 0);
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
  begin_sequences(argc, argv);
  test_info();
  test_states();
  test_step();
  test_fork();
  test_threads();
  test_lifetimes();
  return finish_sequences();
}
