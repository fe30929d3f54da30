/* Sixteen threads use one context at once, each for everything, and get what one thread gets. */
#include "check.h"

enum { THREADS = 16, ROUNDS = 200, DOCUMENTS = 8 };
static const char question[] = "who jumped over the river?";
static bertqa_context *context;
static char *texts[DOCUMENTS];
static bertqa_document *documents[DOCUMENTS];
static bertqa_answers *expected[DOCUMENTS];
static pthread_barrier_t start;

static void *hammer(void *argument) {
  size_t seed = (size_t)argument;
  bertqa_answer_options options = tiny_options();
  pthread_barrier_wait(&start);
  for (size_t round = 0; round < ROUNDS; round++) {
    size_t i = (seed + round * 3) % DOCUMENTS, j = (i + 1) % DOCUMENTS;
    size_t length = strlen(texts[i]);
    bertqa_answers *answers[3] = {NULL, NULL, NULL};
    bertqa_answer_pair two[2] = {{question, strlen(question), texts[i], length},
                          {question, strlen(question), texts[j], strlen(texts[j])}};
    switch ((seed + round) % 4) {
      case 0:
        answers[0] = tiny_answer(context, question, texts[i]);
        break;
      case 1:
        CHECK_STATUS(BERTQA_OK, bertqa_document_answer(context, documents[i], question, strlen(question),
                                                       &options, &answers[0]));
        break;
      case 2:
        CHECK_STATUS(BERTQA_OK, bertqa_answer_batch(context, two, 2, &options, answers, NULL));
        CHECK(same_answers(expected[j], answers[1]));
        break;
      default: { /* a failing call beside the others, and tokens */
        CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT,
                     bertqa_answer(context, NULL, 1 + seed, texts[i], length, NULL, &answers[0]));
        char mine[32];
        snprintf(mine, sizeof mine, "length of %d", (int)(1 + seed));
        CHECK(strstr(bertqa_last_error(), mine) != NULL);
        bertqa_tokens *tokens;
        CHECK_STATUS(BERTQA_OK, bertqa_tokenize(context, texts[i], length, NULL, &tokens));
        bertqa_tokens_free(tokens);
        continue;
      }
    }
    CHECK(same_answers(expected[i], answers[0]));
    bertqa_answers_free(answers[0]);
    bertqa_answers_free(answers[1]);
  }
  return NULL;
}

static void test_threads(int32_t threads_per_call) {
  context = tiny_context(threads_per_call);
  for (size_t i = 0; i < DOCUMENTS; i++) {
    texts[i] = made_document((unsigned)i, 1 + i * 5);
    expected[i] = tiny_answer(context, question, texts[i]);
    CHECK_STATUS(BERTQA_OK,
                 bertqa_document_create(context, texts[i], strlen(texts[i]), NULL, &documents[i]));
  }
  pthread_t threads[THREADS];
  pthread_barrier_init(&start, NULL, THREADS);
  for (size_t i = 0; i < THREADS; i++) {
    if (pthread_create(&threads[i], NULL, hammer, (void *)i) != 0) abort();
  }
  for (size_t i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  pthread_barrier_destroy(&start);
  for (size_t i = 0; i < DOCUMENTS; i++) {
    bertqa_document_free(documents[i]);
    bertqa_answers_free(expected[i]);
    free(texts[i]);
  }
  bertqa_context_free(context);
}

int main(int argc, char **argv) {
  begin(argc, argv);
  test_threads(1);
  test_threads(4);
  return finish();
}
