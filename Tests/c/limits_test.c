/* The limits of the system: no threads, no descriptors, signals at every moment, a clock that is set, a quota that
 * changes. Results stay the same to the bit, or a status says what is missing. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include "check.h"

/* ---- The clock. The time of day jumps by a day at every look, back and forth. */

static atomic_long looks_at_the_day;

static void jump(struct timespec *time) {
  const long look = ++looks_at_the_day;
  time->tv_sec = 1000000000 + (look % 2 ? 86400 : -86400) * look;
  time->tv_nsec = 0;
}

#include "faults/set_clock.h"

/* ---- The control group. What the library opens below /proc/self and /sys/fs/cgroup is below `groups` instead, once
 * that is set. */

static char groups[64];

int open(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, int) : 0;
  va_end(rest);
  char other[4096];
  const int is_group = strncmp(path, "/sys/fs/cgroup", 14) == 0 || strcmp(path, "/proc/self/cgroup") == 0 ||
                       strcmp(path, "/proc/self/mountinfo") == 0;
  if (groups[0] != '\0' && is_group) {
    snprintf(other, sizeof other, "%s%s", groups, path);
    path = other;
  }
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

/* ---- A scenario with every kind of call, files read and written, and threads. */

typedef struct outcome {
  float scores[3];
  int32_t label;
  double likelihood;
} outcome;

static char scratch[] = "/tmp/bertqa-limits-XXXXXX";

static bertqa_context *load(const char *name, bertqa_load how) {
  char path[4096];
  snprintf(path, sizeof path, "%s/../%s", tiny, name);
  bertqa_context_options options = BERTQA_CONTEXT_OPTIONS_INIT;
  options.threads = 3;
  options.load = how;
  bertqa_context *context = NULL;
  CHECK_STATUS(BERTQA_OK, bertqa_context_create(path, &options, &context));
  return context;
}

static void answer(const bertqa_context *context, outcome *o) {
  static const char *const questions[] = {"who jumped", "the king?", "where is the fox"};
  char *document = made_document(1, 300);
  bertqa_answer_pair pairs[3];
  bertqa_answers *answers[3];
  for (int i = 0; i < 3; i++)
    pairs[i] = (bertqa_answer_pair){questions[i], strlen(questions[i]), document, strlen(document)};
  const bertqa_answer_options options = tiny_options();
  CHECK_STATUS(BERTQA_OK, bertqa_answer_batch(context, pairs, 3, &options, answers, NULL));
  for (int i = 0; i < 3; i++) {
    if (answers[i] == NULL) continue;
    o->scores[i] = bertqa_answers_get(answers[i], 0)->score;
    bertqa_answers_free(answers[i]);
  }
  free(document);
}

static void files(void) {
  char output[128], command[192];
  snprintf(output, sizeof output, "%s/int8", scratch);
  CHECK_STATUS(BERTQA_OK, bertqa_quantize(tiny, output, NULL, NULL));
  snprintf(output, sizeof output, "%s/words", scratch);
  bertqa_train_options options = BERTQA_TRAIN_OPTIONS_INIT;
  options.folds = -1;
  bertqa_trainer *trainer;
  CHECK_STATUS(BERTQA_OK, bertqa_trainer_create(&options, &trainer));
  CHECK_STATUS(BERTQA_OK, bertqa_trainer_add(trainer, "a goal in the match", 19, "sport", 5, NULL));
  CHECK_STATUS(BERTQA_OK, bertqa_trainer_add(trainer, "the vote on the bill", 20, "politics", 8, NULL));
  CHECK_STATUS(BERTQA_OK, bertqa_trainer_finish(trainer, output, NULL, NULL));
  bertqa_trainer_free(trainer);
  snprintf(command, sizeof command, "rm -rf %s/int8 %s/words", scratch, scratch);
  pid_t child = fork(); /* not system(), which waits under signals of its own */
  if (child == 0) execl("/bin/sh", "sh", "-c", command, (char *)NULL);
  while (waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
}

static outcome scenario(void) {
  outcome o;
  memset(&o, 0, sizeof o);
  bertqa_context *answering = load("tiny-bert", BERTQA_LOAD_MMAP);
  bertqa_context *classifying = load("tiny-bert-classifier", BERTQA_LOAD_COPY);
  bertqa_context *predicting = load("tiny-lstm", BERTQA_LOAD_COPY);
  answer(answering, &o);
  bertqa_classification *classification;
  CHECK_STATUS(BERTQA_OK, bertqa_classify(classifying, "the king", 8, NULL, &classification));
  o.label = bertqa_classification_get(classification, 0)->id;
  bertqa_classification_free(classification);
  bertqa_sequence_score score = BERTQA_SEQUENCE_SCORE_INIT;
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_likelihood(predicting, "the king of france", 18, NULL, NULL, &score));
  o.likelihood = score.log_likelihood;
  CHECK_STATUS(BERTQA_OK, bertqa_pool_shutdown());
  bertqa_context_free(answering);
  bertqa_context_free(classifying);
  bertqa_context_free(predicting);
  return o;
}

static int same(const outcome *a, const outcome *b) { return memcmp(a, b, sizeof *a) == 0; }

/* Runs `body` in a child whose checks count here. */
static void in_child(void (*body)(const outcome *), const outcome *expected) {
  pid_t child = fork();
  if (child == 0) {
    alarm(900); /* under emulation, minutes are no hang */
    passed = failed = 0;
    body(expected);
    _exit(failed == 0 && passed > 0 ? 0 : 1);
  }
  CHECK(succeeds(child));
}

/* ---- Threads */

static void *nothing(void *argument) { return argument; }

static void without_threads(const outcome *expected) {
  bertqa_context *context = load("tiny-bert", BERTQA_LOAD_MMAP);
  /* The limit does not bind root. */
  if (geteuid() == 0) CHECK(setregid(65534, 65534) == 0 && setreuid(65534, 65534) == 0);
  const struct rlimit none = {0, 0};
  CHECK(setrlimit(RLIMIT_NPROC, &none) == 0);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, nothing, NULL) == EAGAIN);
  outcome o;
  memset(&o, 0, sizeof o);
  answer(context, &o);
  CHECK(memcmp(o.scores, expected->scores, sizeof o.scores) == 0);
  CHECK_STATUS(BERTQA_OK, bertqa_pool_set_threads(4));
  CHECK_STATUS(BERTQA_ERROR_OUT_OF_MEMORY, bertqa_pool_start());
  answer(context, &o);
  CHECK(memcmp(o.scores, expected->scores, sizeof o.scores) == 0);
  CHECK_STATUS(BERTQA_OK, bertqa_pool_shutdown());
  bertqa_context_free(context);
}

/* ---- Descriptors */

static void few_descriptors(const outcome *expected) {
  bertqa_context *loaded = load("tiny-bert", BERTQA_LOAD_MMAP);
  /* The first descriptor that is free: everything below is taken. */
  const int first = dup(0);
  close(first);
  int refused = 0, done = 0;
  for (rlim_t limit = (rlim_t)first; limit < (rlim_t)first + 8; limit++) {
    const struct rlimit few = {limit, 4096};
    CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
    for (bertqa_load how = BERTQA_LOAD_MMAP; how <= BERTQA_LOAD_COPY; how++) {
      bertqa_context_options options = BERTQA_CONTEXT_OPTIONS_INIT;
      options.load = how;
      bertqa_context *context;
      bertqa_status status = bertqa_context_create(tiny, &options, &context);
      CHECK(status == BERTQA_OK || status == BERTQA_ERROR_IO);
      if (status == BERTQA_OK) done++;
      else refused++, CHECK(strstr(bertqa_last_error(), "Too many open files") != NULL);
      bertqa_context_free(context);
    }
    outcome o; /* needs none */
    memset(&o, 0, sizeof o);
    answer(loaded, &o);
    CHECK(memcmp(o.scores, expected->scores, sizeof o.scores) == 0);
  }
  CHECK(refused > 0 && done > 0);
  bertqa_context_free(loaded);
  const int after = dup(0);
  CHECK(after == first);
}

/* ---- Signals */

static atomic_long signals;

static void on_signal(int number) {
  (void)number;
  signals++;
}

static void under_signals(const outcome *expected) {
  struct sigaction action = {.sa_handler = on_signal}; /* without SA_RESTART */
  CHECK(sigaction(SIGALRM, &action, NULL) == 0 && sigaction(SIGPROF, &action, NULL) == 0);
  const struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
  CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0 && setitimer(ITIMER_PROF, &often, NULL) == 0);
  for (int i = 0; i < 10; i++) {
    outcome o = scenario();
    CHECK(same(&o, expected));
    files();
  }
  CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0 && setitimer(ITIMER_PROF, &never, NULL) == 0);
  CHECK(signals > 100);
  fprintf(report, "%ld signals\n", (long)signals);
}

/* ---- The time of day */

static void deadlines(void) {
  bertqa_context *context = tiny_context(2);
  bertqa_tokens *tokens;
  bertqa_call_options call = {.struct_size = sizeof call, .deadline_ns = bertqa_deadline_after(3600000000000u)};
  const bertqa_tokenize_options options = {.struct_size = sizeof options, .call = &call};
  CHECK_STATUS(BERTQA_OK, bertqa_tokenize(context, "the king", 8, &options, &tokens));
  bertqa_tokens_free(tokens);
  call.deadline_ns = bertqa_deadline_after(0);
  CHECK_STATUS(BERTQA_ERROR_DEADLINE_EXCEEDED, bertqa_tokenize(context, "the king", 8, &options, &tokens));
  bertqa_context_free(context);
}

/* ---- A quota that changes */

static void group_file(const char *path, const char *text) {
  char name[256];
  snprintf(name, sizeof name, "%s%s", groups, path);
  for (char *slash = name + strlen(groups) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
    *slash = '\0';
    mkdir(name, 0777);
    *slash = '/';
  }
  FILE *file = fopen(name, "w");
  CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

static int32_t threads_of_a_context(void) {
  bertqa_context *context = tiny_context(0);
  const int32_t threads = bertqa_context_info(context)->threads;
  bertqa_context_free(context);
  return threads;
}

static atomic_int is_over;

static void *change_quota(void *unused) {
  for (int i = 0; !is_over; i++) {
    /* A file that is read while it is written is empty: no limit. */
    group_file("/sys/fs/cgroup/service/cpu.max", i % 3 == 0 ? "50000 100000\n" : i % 3 == 1 ? "max 100000\n" : "no");
    CHECK_STATUS(BERTQA_OK, bertqa_pool_set_threads(0));
  }
  return unused;
}

/* The quota is read when the pool first needs its size; running calls return the same bits. */
static void under_a_quota_that_changes(const outcome *expected) {
  cpu_set_t mask;
  CHECK(sched_getaffinity(0, sizeof mask, &mask) == 0);
  const int32_t processors = CPU_COUNT(&mask);
  snprintf(groups, sizeof groups, "%s/groups", scratch);
  CHECK(mkdir(groups, 0777) == 0);
  group_file("/proc/self/cgroup", "0::/service\n");
  group_file("/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n");
  static const struct {
    const char *quota;
    int32_t limit;
  } quotas[] = {{"max 100000\n", 1024}, {"50000 100000\n", 1}, {"100000 100000\n", 1}, {"100001 100000\n", 2},
                {"0 100000\n", 1024},   {"junk", 1024},         {"", 1024},            {"20000 100000\n", 1}};
  for (size_t i = 0; i < sizeof quotas / sizeof quotas[0]; i++) {
    group_file("/sys/fs/cgroup/service/cpu.max", quotas[i].quota);
    const int32_t before = threads_of_a_context(); /* not read again until it is asked for */
    CHECK(i == 0 || before == (quotas[i - 1].limit < processors ? quotas[i - 1].limit : processors));
    CHECK_STATUS(BERTQA_OK, bertqa_pool_set_threads(0));
    CHECK(threads_of_a_context() == (quotas[i].limit < processors ? quotas[i].limit : processors));
  }
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, change_quota, NULL) == 0);
  for (int i = 0; i < 20; i++) {
    const outcome o = scenario();
    CHECK(same(&o, expected));
  }
  is_over = 1;
  pthread_join(thread, NULL);
  char command[96];
  snprintf(command, sizeof command, "rm -rf %s", groups);
  CHECK(system(command) == 0);
}

int main(int argc, char **argv) {
  begin(argc, argv);
  CHECK(mkdtemp(scratch) != NULL);
  const outcome expected = scenario();
  deadlines();
  files();
  CHECK(looks_at_the_day == 0); /* the library does not look at it, so that setting it changes nothing */
  in_child(without_threads, &expected);
  in_child(few_descriptors, &expected);
  in_child(under_signals, &expected);
  in_child(under_a_quota_that_changes, &expected);
  CHECK(rmdir(scratch) == 0);
  return finish();
}
