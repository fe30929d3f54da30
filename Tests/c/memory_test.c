/* Memory stays flat: contexts made and freed a thousand times, a hundred thousand small calls. */
#include "check.h"

/* The allowed growth of the resident set after warming up: less than 21 bytes a call, 2 KiB a
 * context. */
enum { TOLERANCE = 2 << 20, CONTEXTS = 1000, CALLS = 100000 };

static long resident_bytes(void) {
  long size, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  CHECK(file != NULL && fscanf(file, "%ld %ld", &size, &resident) == 2);
  if (file != NULL) fclose(file);
  return resident * sysconf(_SC_PAGESIZE);
}

static void check_growth(const char *what, long before) {
  char detail[96];
  long growth = resident_bytes() - before;
  snprintf(detail, sizeof detail, "grew by %ld bytes, more than %d", growth, TOLERANCE);
  check(growth <= TOLERANCE, __FILE__, __LINE__, what, detail);
}

static void test_contexts(void) {
  long before = 0;
  for (int i = 0; i < CONTEXTS + CONTEXTS / 10; i++) {
    if (i == CONTEXTS / 10) before = resident_bytes();
    bertqa_context *context = tiny_context(1 + i % 2);
    if (i % 10 == 0) bertqa_answers_free(tiny_answer(context, "who?", "the quick brown fox"));
    bertqa_context_free(context);
    CHECK_FAILS(BERTQA_ERROR_IO, context, bertqa_context_create("/nonexistent", NULL, &context));
  }
  check_growth("contexts", before);
}

static void test_calls(void) {
  static const char text[] =
      "in 1066 the united king of france was made in the city; the fox is not known there, is it? "
      "quick rivers run all through the world, and people of the north have a name for it.";
  bertqa_context *context = tiny_context(2);
  bertqa_document *document;
  bertqa_answer_options options = tiny_options();
  long before = 0;
  for (size_t i = 0; i < CALLS + CALLS / 10; i++) {
    if (i == CALLS / 10) before = resident_bytes();
    size_t length = 10 + i * 7 % 60; /* of mixed length */
    bertqa_tokens *tokens;
    bertqa_word_count_list *counts;
    bertqa_answers *answers;
    bertqa_answer_pair pair = {"who is it?", 10, text, length};
    switch (i % 8) {
      case 0:
        CHECK_STATUS(BERTQA_OK, bertqa_answer(context, "who is it?", 10, text, length, &options, &answers));
        break;
      case 1:
        CHECK_STATUS(BERTQA_OK, bertqa_answer_batch(context, &pair, 1, &options, &answers, NULL));
        break;
      case 2:
        CHECK_STATUS(BERTQA_OK, bertqa_document_create(context, text, length, NULL, &document));
        CHECK_STATUS(BERTQA_OK, bertqa_document_answer(context, document, "who?", 4, &options, &answers));
        bertqa_document_free(document);
        break;
      case 3:
        CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, answers,
                    bertqa_answer(context, NULL, 1, text, length, &options, &answers));
        break;
      case 4:
        CHECK_STATUS(BERTQA_OK, bertqa_word_counts(text, length, NULL, &counts));
        bertqa_word_count_list_free(counts);
        continue;
      default:
        CHECK_STATUS(BERTQA_OK, bertqa_tokenize(context, text, length, NULL, &tokens));
        bertqa_tokens_free(tokens);
        continue;
    }
    bertqa_answers_free(answers);
  }
  check_growth("calls", before);
  bertqa_context_free(context);
}

static void test_sequences(void) {
  char path[4096];
  snprintf(path, sizeof path, "%s/../tiny-lstm", tiny);
  bertqa_context *context = NULL;
  CHECK_STATUS(BERTQA_OK, bertqa_context_create(path, NULL, &context));
  bertqa_sequence_state *state = NULL;
  long before = 0;
  for (int i = 0; context != NULL && i < CALLS + CALLS / 10; i++) {
    if (i == CALLS / 10) before = resident_bytes();
    bertqa_sequence_state *next[3] = {NULL};
    const bertqa_sequence_state *states[] = {state, NULL, state};
    const int32_t ids[] = {i % 20, 3, 4};
    bertqa_prediction *prediction;
    bertqa_generation *generation;
    switch (i % 4) {
      case 0:
        CHECK_STATUS(BERTQA_OK, bertqa_sequence_step(context, ids, states, 3, NULL, next, NULL, 0));
        break;
      case 1:
        CHECK_STATUS(BERTQA_OK, bertqa_sequence_generate(context, "O", 1, state, NULL, &generation));
        next[0] = bertqa_sequence_state_clone(bertqa_generation_state(generation));
        bertqa_generation_free(generation);
        break;
      case 2:
        CHECK_FAILS(BERTQA_ERROR_TOO_LARGE, prediction,
                    bertqa_sequence_predict(context, "O", SIZE_MAX, state, NULL, &prediction, &next[0]));
        continue;
      default:
        CHECK_STATUS(BERTQA_OK, bertqa_sequence_predict_text(context, "O Romeo", 7, state, NULL, &prediction, &next[0]));
        bertqa_prediction_free(prediction);
    }
    bertqa_sequence_state_free(state);
    bertqa_sequence_state_free(next[1]);
    bertqa_sequence_state_free(next[2]);
    state = next[0];
  }
  check_growth("sequences", before);
  bertqa_sequence_state_free(state);
  bertqa_context_free(context);
}

int main(int argc, char **argv) {
  begin(argc, argv);
  test_contexts();
  test_calls();
  test_sequences();
  return finish();
}
