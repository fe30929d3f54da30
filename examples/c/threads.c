/* Many threads share one context. Each takes the next question from a list and answers it.
 *
 *     ./threads
 *
 * A context is immutable, so it needs no lock. Each call stays on its own thread (threads = 1),
 * as in a server with more requests than cores. */
#include <bertqa.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define THREADS 4

static const char document[] =
    "The Apollo program landed the first humans on the Moon in 1969. Neil Armstrong was the first "
    "to walk on it, while Michael Collins stayed in lunar orbit. The program cost $25.4 billion.";

static const char *const questions[] = {
    "Who was the first to walk on the Moon?",
    "Who stayed in orbit?",
    "When did the first humans land on the Moon?",
    "How much did the program cost?",
};
#define QUESTIONS (sizeof questions / sizeof questions[0])

static bertqa_context *context;
static bertqa_answers *results[QUESTIONS];
static size_t next;
static pthread_mutex_t next_lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *name) {
  for (;;) {
    pthread_mutex_lock(&next_lock);
    size_t i = next++;
    pthread_mutex_unlock(&next_lock);
    if (i >= QUESTIONS) return NULL;
    if (bertqa_answer(context, questions[i], strlen(questions[i]), document, strlen(document),
                      NULL, &results[i]) != BERTQA_OK) {
      /* Error messages are per thread. */
      fprintf(stderr, "%s: %s\n", (const char *)name, bertqa_last_error());
    }
  }
}

int main(int argc, char **argv) {
  bertqa_context_options options = {.struct_size = sizeof options, .threads = 1};
  if (bertqa_context_create(argc > 1 ? argv[1] : NULL, &options, &context) != BERTQA_OK) {
    fprintf(stderr, "%s: %s\n", argv[0], bertqa_last_error());
    return 1;
  }

  pthread_t threads[THREADS];
  int started = 0;
  while (started < THREADS && pthread_create(&threads[started], NULL, work, argv[0]) == 0) started++;
  if (started == 0) work(argv[0]);
  for (int i = 0; i < started; i++) pthread_join(threads[i], NULL);

  bertqa_context_free(context); /* the results outlive it */
  int failures = 0;
  for (size_t i = 0; i < QUESTIONS; i++) {
    if (results[i] == NULL) {
      failures++;
    } else if (bertqa_answers_count(results[i]) > 0) {
      bertqa_range range = bertqa_answers_get(results[i], 0)->bytes;
      printf("%s %.*s\n", questions[i], (int)(range.end - range.start), document + range.start);
    }
    bertqa_answers_free(results[i]);
  }
  return failures == 0 ? 0 : 1;
}
