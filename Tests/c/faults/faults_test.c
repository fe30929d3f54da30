/* Runs a scenario once for each call in it that can fail, with that call failing, and once more with all
 * calls from there on failing: every function gives a status, never a signal, and what came before is
 * released: afterwards the same scenario works in the same process and gives the same bits. Each scenario
 * runs in a child, so that first times are first, too. */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "../check.h"
#include "faults.h"

static const char *const names[FAULT_KINDS] = {"checked memory", "mmap",  "open",          "read",
                                               "short read", "fstat", "EINTR", "pthread_create"};
static void (*arm)(int, long, long);
static void (*clear)(void);
static long (*count)(int);

typedef struct outcome {
  bertqa_status worst;
  float score;
  int32_t label;
} outcome;

static void note(outcome *o, bertqa_status status) {
  if (status != BERTQA_OK && o->worst == BERTQA_OK) o->worst = status;
}

/* A document of many blocks of tokens. */
static outcome scenario(void) {
  static const char sentence[] = "The quick brown fox jumped over the king of France in the north of Paris. ";
  static char text[1000 * (sizeof sentence - 1)];
  for (size_t i = 0; i < sizeof text; i++) text[i] = sentence[i % (sizeof sentence - 1)];
  outcome o = {0};
  bertqa_context_options options = BERTQA_CONTEXT_OPTIONS_INIT;
  options.threads = 3;
  bertqa_context *context, *classifier, *recurrent;
  char path[4096];
  note(&o, bertqa_context_create(tiny, &options, &context));
  snprintf(path, sizeof path, "%s/../tiny-bert-classifier", tiny);
  note(&o, bertqa_context_create(path, &options, &classifier));
  snprintf(path, sizeof path, "%s/../tiny-lstm", tiny);
  options.load = BERTQA_LOAD_COPY;
  note(&o, bertqa_context_create(path, &options, &recurrent));
  if (context != NULL) {
    bertqa_answer_options answering = tiny_options();
    answering.max_windows = 3;
    bertqa_answers *answers;
    bertqa_status status = bertqa_answer(context, "who jumped", 10, text, sizeof text, &answering, &answers);
    note(&o, status);
    if (status == BERTQA_OK) o.score = bertqa_answers_get(answers, 0)->score;
    bertqa_answers_free(answers);
    bertqa_document *document;
    note(&o, bertqa_document_create(context, text, sizeof text, NULL, &document));
    if (document != NULL) {
      note(&o, bertqa_document_answer(context, document, "who", 3, &answering, &answers));
      bertqa_answers_free(answers);
    }
    bertqa_document_free(document);
  }
  if (classifier != NULL) {
    bertqa_classification *classification;
    bertqa_status status = bertqa_classify(classifier, text, sizeof text, NULL, &classification);
    note(&o, status);
    if (status == BERTQA_OK) o.label = bertqa_classification_get(classification, 0)->id;
    bertqa_classification_free(classification);
  }
  if (recurrent != NULL) {
    bertqa_sequence_score score = BERTQA_SEQUENCE_SCORE_INIT;
    note(&o, bertqa_sequence_likelihood(recurrent, text, sizeof text, NULL, NULL, &score));
  }
  bertqa_context_free(context);
  bertqa_context_free(classifier);
  bertqa_context_free(recurrent);
  return o;
}

static int same(outcome a, outcome b) {
  return a.worst == b.worst && memcmp(&a.score, &b.score, sizeof a.score) == 0 && a.label == b.label;
}

/* In a child: the scenario with calls n ... n + times - 1 failing, then without faults. The exit code is 0, or
 * 1 where nothing failed although a call did (allowed: threads and short reads), else 2 and more. */
static int faulty(int kind, long n, long times, outcome good) {
  pid_t child = fork();
  if (child == 0) {
    alarm(120);
    arm(kind, n, times);
    outcome o = scenario();
    clear();
    int code = o.worst == BERTQA_OK ? 1 : 0;
    if (o.worst == BERTQA_OK && !same(o, good)) code = 2;
    if (o.worst == BERTQA_ERROR_INTERNAL || o.worst > BERTQA_ERROR_DEADLINE_EXCEEDED) code = 3;
    if (o.worst != BERTQA_OK && *bertqa_last_error() == '\0') code = 4;
    if (!same(scenario(), good)) code = 5;
    _exit(code);
  }
  int status;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

int main(int argc, char **argv) {
  begin(argc, argv);
  *(void **)&arm = dlsym(RTLD_DEFAULT, "faults_arm");
  *(void **)&clear = dlsym(RTLD_DEFAULT, "faults_clear");
  *(void **)&count = dlsym(RTLD_DEFAULT, "faults_count");
  CHECK(arm != NULL && clear != NULL && count != NULL);
  if (arm == NULL) return finish();
  int pipes[2];
  long totals[FAULT_KINDS];
  outcome good;
  CHECK(pipe(pipes) == 0);
  pid_t child = fork(); /* how many calls of each kind a run has, where it is the first */
  if (child == 0) {
    for (int kind = 0; kind < FAULT_KINDS; kind++) arm(kind, 0, 0);
    good = scenario();
    for (int kind = 0; kind < FAULT_KINDS; kind++) totals[kind] = count(kind);
    _exit(write(pipes[1], &good, sizeof good) < 0 || write(pipes[1], totals, sizeof totals) < 0);
  }
  waitpid(child, NULL, 0);
  clear();
  CHECK(read(pipes[0], &good, sizeof good) == sizeof good);
  CHECK(read(pipes[0], totals, sizeof totals) == sizeof totals);
  CHECK(good.worst == BERTQA_OK);
  for (int kind = 0; kind < FAULT_KINDS; kind++) {
    long refused = 0, endured = 0, faults = 0;
    CHECK(totals[kind] > 0);
    /* Every call where they are few; else the first 40, then a hundred of the rest. */
    for (long n = 1; n <= totals[kind]; n += n < 40 ? 1 : 1 + totals[kind] / 100) {
      for (int all = 0; all < 2; all++, faults++) {
        int code = faulty(kind, n, all ? 1L << 40 : 1, good);
        char what[128];
        snprintf(what, sizeof what, "%s %ld%s of %ld: code %d", names[kind], n, all ? " and all after it" : "",
                 totals[kind], code);
        check(code <= 1, __FILE__, __LINE__, "a status and a good second run", what);
        refused += code == 0;
        endured += code == 1;
      }
    }
    fprintf(report, "%-14s %ld calls, %ld runs: %ld with a status, %ld unharmed\n", names[kind], totals[kind],
            faults, refused, endured);
    /* Calls go on alone without threads. */
    if (kind == FAULT_SHORT_READ || kind == FAULT_INTERRUPTED || kind == FAULT_THREAD)
      CHECK(refused == 0);
    else
      CHECK(refused > 0);
  }
  return finish();
}
