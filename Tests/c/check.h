/* Shared by the C tests: counted checks, and the tiny model that they use.
 *
 * A test's main() is begin(argc, argv), checks, return finish(). It takes the directory of the tiny
 * model as its argument. Standard output and error are redirected to a file while a test runs, and
 * finish() checks that nothing but the test has written there. */
#ifndef CHECK_H
#define CHECK_H

#include <bertqa_experimental.h>
#include <execinfo.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

static FILE *report;       /* the test's real standard output */
static FILE *silence;      /* where fd 1 and 2 lead meanwhile */
static atomic_int passed, failed;
static const char *tiny;   /* directory of the tiny model */

static void check(int holds, const char *file, int line, const char *what, const char *detail) {
  if (holds) {
    passed++;
    return;
  }
  failed++;
  fprintf(report, "%s:%d: failed: %s%s%s\n", file, line, what, *detail ? ": " : "", detail);
}

#define CHECK(condition) check((condition) != 0, __FILE__, __LINE__, #condition, "")

static void check_status(bertqa_status expected, bertqa_status found, const char *file, int line,
                         const char *what) {
  char detail[1024];
  snprintf(detail, sizeof detail, "%s instead of %s (%s)", bertqa_status_name(found),
           bertqa_status_name(expected), bertqa_last_error());
  check(found == expected, file, line, what, detail);
  if (found != BERTQA_OK) {
    const char *message = bertqa_last_error();
    check(*message != '\0' && strchr(message, '\n') == NULL, file, line, what,
          "a failure's message must be one line");
  }
}

#define CHECK_STATUS(expected, call) check_status(expected, call, __FILE__, __LINE__, #call)

/* A failing call that must set its out-parameter, named out, to NULL. */
#define CHECK_FAILS(expected, out, call)                                        \
  do {                                                                          \
    (out) = (void *)&report;                                                    \
    CHECK_STATUS(expected, call);                                               \
    check((out) == NULL, __FILE__, __LINE__, #call, "must set " #out " to NULL"); \
  } while (0)

/* The least that the system takes is more than 32 KiB on arm64. */
static inline void set_stack_size(pthread_attr_t *attributes, size_t size) {
  const long least = sysconf(_SC_THREAD_STACK_MIN);
  CHECK(pthread_attr_setstacksize(attributes, least > (long)size ? (size_t)least : size) == 0);
}

static void begin(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s TINY_MODEL_DIRECTORY\n", argv[0]);
    exit(2);
  }
  tiny = argv[1];
  report = fdopen(dup(1), "w");
  silence = tmpfile();
  if (report == NULL || silence == NULL) {
    perror(argv[0]);
    exit(2);
  }
  setvbuf(report, NULL, _IONBF, 0); /* so that a forked child has nothing of it to write again */
  dup2(fileno(silence), 1);
  dup2(fileno(silence), 2);
}

static void print_stack(int signal) {
  (void)signal;
  void *frames[64];
  backtrace_symbols_fd(frames, backtrace(frames, 64), fileno(report));
  _exit(3);
}

/* Forks. In the child, which must end by end_child() within two minutes, no check has failed yet. */
static inline pid_t fork_child(void) {
  const pid_t child = fork();
  if (child == 0) {
    failed = 0;
    signal(SIGALRM, print_stack);
    alarm(120);
  }
  return child;
}

static inline void end_child(void) { _exit(failed == 0 ? 0 : 1); }

/* Waits for a child: whether none of its checks failed. */
static inline int succeeds(pid_t child) {
  int status = -1;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int finish(void) {
  fflush(stdout);
  fflush(stderr);
  CHECK(lseek(fileno(silence), 0, SEEK_END) == 0);
  fprintf(report, "%d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}

/* A context of a model; threads as in bertqa_context_options. Ends the test on failure. */
static inline bertqa_context *context_of(const char *directory, int32_t threads) {
  bertqa_context_options options;
  bertqa_context_options_init(&options, sizeof options);
  options.threads = threads;
  bertqa_context *context = NULL;
  CHECK_STATUS(BERTQA_OK, bertqa_context_create(directory, &options, &context));
  if (context == NULL) exit(finish());
  return context;
}

/* A context of the tiny model. */
static inline bertqa_context *tiny_context(int32_t threads) { return context_of(tiny, threads); }

/* `unit` again and again, to be freed. */
static inline char *repeated(const char *unit, size_t size) {
  char *text = malloc(size);
  const size_t length = strlen(unit);
  for (size_t i = 0; i < size; i++) text[i] = unit[i % length];
  return text;
}

/* "wabcde " for each number: seven bytes. */
static inline char *different_words(size_t count) {
  char *text = repeated("w      ", 7 * count);
  for (size_t i = 0; i < count; i++)
    for (size_t digit = 1, number = i; digit < 6; digit++, number /= 26)
      text[7 * i + digit] = (char)('a' + number % 26);
  return text;
}

/* A context of another model beside the tiny one. */
static inline bertqa_context *fixture_context(const char *name, int32_t threads) {
  char directory[4096];
  snprintf(directory, sizeof directory, "%s/../%s", tiny, name);
  return context_of(directory, threads);
}

/* Options that fit the tiny model's 128 positions. */
static inline bertqa_answer_options tiny_options(void) {
  bertqa_answer_options options;
  bertqa_answer_options_init(&options, sizeof options);
  options.max_seq_len = 96;
  options.doc_stride = 16;
  options.max_question_len = 24;
  options.top_k = 3;
  return options;
}

/* One answer of the tiny model, or NULL. */
static inline bertqa_answers *tiny_answer(const bertqa_context *context, const char *question,
                                          const char *document) {
  bertqa_answer_options options = tiny_options();
  bertqa_answers *answers = NULL;
  CHECK_STATUS(BERTQA_OK, bertqa_answer(context, question, strlen(question), document,
                                        strlen(document), &options, &answers));
  return answers;
}

/* True if two results are the same to the last bit. */
static inline int same_answers(const bertqa_answers *a, const bertqa_answers *b) {
  if (a == NULL || b == NULL || bertqa_answers_count(a) != bertqa_answers_count(b)) return 0;
  if (memcmp(bertqa_answers_summary(a), bertqa_answers_summary(b), sizeof(bertqa_answer_summary)))
    return 0;
  for (size_t i = 0; i < bertqa_answers_count(a); i++) {
    if (memcmp(bertqa_answers_get(a, i), bertqa_answers_get(b, i), sizeof(bertqa_answer_span)))
      return 0;
  }
  return 1;
}

/* Asks the tiny model once, and again until *stop: whether each answer was the expected one. Counts no checks, since
 * how often it asks is a matter of time. */
static inline int keeps_answering(const bertqa_context *context, const char *question, const char *document,
                                  const bertqa_answers *expected, const atomic_int *stop) {
  const bertqa_answer_options options = tiny_options();
  int same = 1;
  do {
    bertqa_answers *answers = NULL;
    const bertqa_status status = bertqa_answer(context, question, strlen(question), document, strlen(document),
                                               &options, &answers);
    same = status == BERTQA_OK && same_answers(expected, answers);
    bertqa_answers_free(answers);
  } while (same && !*stop);
  return same;
}

/* A search whose best passage is number 1. */
static inline bertqa_search *search_of_one_passage(void) {
  const int64_t id = 1;
  const int32_t word = 0;
  int64_t best;
  double score;
  bertqa_search *search;
  CHECK_STATUS(BERTQA_OK, bertqa_search_create(NULL, "who?", 4, NULL, 0, NULL, &search));
  CHECK_STATUS(BERTQA_OK, bertqa_search_set_words(search, &id, &word, NULL, 1));
  CHECK(bertqa_search_best(search, 1, &best, &score) == 1);
  return search;
}

/* A document of `sentences` sentences, to be freed; the same for the same arguments. */
static inline char *made_document(unsigned seed, size_t sentences) {
  static const char *const words[] = {"the",   "quick", "brown", "fox",    "jumped", "over", "paris",
                                      "river", "north", "king",  "united", "france", "year", "war"};
  size_t count = sizeof words / sizeof words[0], length = 0;
  char *text = malloc(sentences * 80 + 1);
  if (text == NULL) abort();
  for (size_t s = 0; s < sentences; s++) {
    for (int w = 0; w < 8; w++) {
      seed = seed * 1103515245u + 12345u;
      length += (size_t)sprintf(text + length, "%s%s", words[(seed >> 16) % count], w < 7 ? " " : ". ");
    }
  }
  text[length] = '\0';
  return text;
}

#endif
