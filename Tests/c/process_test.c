/* The threads of the process. Runs before anything else has used the library. */
#include <dirent.h>

#include "check.h"

static const char question[] = "who jumped over the river?";
static char *text;
static bertqa_answers *expected;

/* Threads of this process that the library has started: those are called "bertqa". */
static int pool_threads(void) {
  DIR *tasks = opendir("/proc/self/task");
  int count = 0;
  for (struct dirent *entry; tasks != NULL && (entry = readdir(tasks)) != NULL;) {
    char path[320], name[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
    FILE *file = fopen(path, "r");
    if (file == NULL) continue;
    if (fgets(name, sizeof name, file) != NULL && strcmp(name, "bertqa\n") == 0) count++;
    fclose(file);
  }
  if (tasks != NULL) closedir(tasks);
  return count;
}

/* A thread has its name a moment after it was started. */
static int comes_to(int threads) {
  for (int i = 0; i < 2000 && pool_threads() != threads; i++) usleep(1000);
  return pool_threads() == threads;
}

static void check_answer(const bertqa_context *context) {
  bertqa_answers *answers = tiny_answer(context, question, text);
  CHECK(same_answers(answers, expected));
  bertqa_answers_free(answers);
}

static void test_threads(void) {
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_pool_set_threads(-1));
  CHECK(strcmp(bertqa_last_error_argument(), "threads") == 0);
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_pool_set_threads(1025));
  CHECK_STATUS(BERTQA_OK, bertqa_pool_shutdown()); /* there are none */
  bertqa_context *before = tiny_context(0);
  for (int32_t threads = 1; threads <= 4; threads++) {
    CHECK_STATUS(BERTQA_OK, bertqa_pool_set_threads(threads));
    bertqa_context *context = tiny_context(0);
    CHECK(bertqa_context_info(context)->threads == threads);
    CHECK_STATUS(BERTQA_OK, bertqa_pool_start());
    CHECK(comes_to(threads - 1));
    CHECK_STATUS(BERTQA_OK, bertqa_pool_start());
    CHECK(pool_threads() == threads - 1);
    check_answer(context);
    check_answer(before);
    CHECK_STATUS(BERTQA_OK, bertqa_pool_shutdown());
    CHECK(pool_threads() == 0);
    check_answer(context); /* starts them again */
    CHECK_STATUS(BERTQA_OK, bertqa_pool_shutdown());
    CHECK_STATUS(BERTQA_OK, bertqa_pool_shutdown());
    CHECK(pool_threads() == 0);
    bertqa_context_free(context);
  }
  CHECK_STATUS(BERTQA_OK, bertqa_pool_set_threads(4));
  for (int i = 0; i < 500; i++) { /* the kernel lists a thread a moment longer than pthread_join waits */
    CHECK_STATUS(BERTQA_OK, bertqa_pool_start());
    CHECK_STATUS(BERTQA_OK, bertqa_pool_shutdown());
    CHECK(pool_threads() == 0);
  }
  CHECK_STATUS(BERTQA_OK, bertqa_pool_set_threads(0));
  bertqa_context *context = tiny_context(0);
  CHECK(bertqa_context_info(context)->threads == bertqa_context_info(before)->threads);
  bertqa_context_free(context);
  bertqa_context_free(before);
}

static atomic_int done;

static void *keep_answering(void *context) {
  CHECK(keeps_answering(context, question, text, expected, &done));
  return NULL;
}

static int32_t shut_down(void *calls) {
  ++*(int *)calls;
  CHECK_STATUS(BERTQA_OK, bertqa_pool_shutdown());
  return 0;
}

/* The threads go and come while others work, from a hook too. */
static void test_shutdown_meanwhile(void) {
  enum { CALLERS = 4 };
  bertqa_context *context = tiny_context(3);
  pthread_t threads[CALLERS];
  for (int i = 0; i < CALLERS; i++) CHECK(pthread_create(&threads[i], NULL, keep_answering, context) == 0);
  for (int i = 0; i < 300; i++) {
    CHECK_STATUS(BERTQA_OK, i % 3 ? bertqa_pool_shutdown() : bertqa_pool_start());
    if (i % 10 == 0) CHECK_STATUS(BERTQA_OK, bertqa_pool_set_threads(1 + i % 4));
  }
  int calls = 0;
  const bertqa_call_options call = {.struct_size = sizeof call, .cancel = shut_down, .user = &calls};
  bertqa_answer_options options = tiny_options();
  options.call = &call;
  bertqa_answers *answers;
  CHECK_STATUS(BERTQA_OK, bertqa_answer(context, question, strlen(question), text, strlen(text), &options, &answers));
  CHECK(calls > 0 && same_answers(answers, expected));
  bertqa_answers_free(answers);
  done = 1;
  for (int i = 0; i < CALLERS; i++) pthread_join(threads[i], NULL);
  CHECK_STATUS(BERTQA_OK, bertqa_pool_shutdown());
  CHECK(pool_threads() == 0);

  /* A child keeps the settings and has its own threads. */
  CHECK_STATUS(BERTQA_OK, bertqa_pool_set_threads(3));
  CHECK_STATUS(BERTQA_OK, bertqa_pool_start());
  const pid_t child = fork_child();
  if (child == 0) {
    CHECK(pool_threads() == 0);
    bertqa_context *own = tiny_context(0);
    CHECK(bertqa_context_info(own)->threads == 3);
    check_answer(own);
    CHECK_STATUS(BERTQA_OK, bertqa_pool_start());
    CHECK(comes_to(2));
    CHECK_STATUS(BERTQA_OK, bertqa_pool_shutdown());
    CHECK(pool_threads() == 0);
    end_child();
  }
  CHECK(succeeds(child));
  bertqa_context_free(context);
}

static bertqa_context *kept;

static void ask_at_exit(void) {
  check_answer(kept);
  end_child();
}

static int32_t exit_in_hook(void *unused) {
  (void)unused;
  exit(1);
}

/* The process ends in a hook while others work, and a handler of atexit() still gets an answer. */
static void test_exit_meanwhile(void) {
  const pid_t child = fork_child();
  if (child == 0) {
    kept = tiny_context(2);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) CHECK(pthread_create(&threads[i], NULL, keep_answering, kept) == 0);
    check_answer(kept);
    CHECK(atexit(ask_at_exit) == 0);
    const bertqa_call_options call = {.struct_size = sizeof call, .cancel = exit_in_hook};
    bertqa_answer_options options = tiny_options();
    options.call = &call;
    bertqa_answers *answers;
    CHECK_STATUS(BERTQA_OK, bertqa_answer(kept, question, strlen(question), text, strlen(text), &options, &answers));
    CHECK(!"the hook has ended the process");
    end_child();
  }
  CHECK(succeeds(child));
}

int main(int argc, char **argv) {
  begin(argc, argv);
  text = made_document(5, 60);
  CHECK(pool_threads() == 0);
  bertqa_context *context = tiny_context(1);
  expected = tiny_answer(context, question, text);
  bertqa_context_free(context);
  test_threads();
  test_shutdown_meanwhile();
  done = 0;
  test_exit_meanwhile();
  bertqa_answers_free(expected);
  free(text);
  return finish();
}
