/* A forked child, and its child, go on using the objects they inherited. */
#include "check.h"

static const char question[] = "who jumped over the river?";
static bertqa_context *context;
static bertqa_document *document;
static bertqa_answers *expected;
static char *text;

static void use_everything(void) {
  bertqa_answer_options options = tiny_options();
  bertqa_answers *answers = tiny_answer(context, question, text);
  CHECK(same_answers(expected, answers));
  bertqa_answers_free(answers);
  CHECK_STATUS(BERTQA_OK, bertqa_document_answer(context, document, question, strlen(question), &options,
                                                 &answers));
  CHECK(same_answers(expected, answers));
  bertqa_answers_free(answers);
  bertqa_context *other = tiny_context(3);
  answers = tiny_answer(other, question, text);
  CHECK(same_answers(expected, answers));
  bertqa_answers_free(answers);
  bertqa_context_free(other);
}

/* Runs in a child `depth` generations deep. */
static void test_child(int depth) {
  const pid_t child = fork_child();
  if (child == 0) {
    use_everything();
    if (depth > 1) test_child(depth - 1);
    bertqa_answers_free(expected);
    bertqa_document_free(document);
    bertqa_context_free(context);
    end_child();
  }
  CHECK(succeeds(child));
}

static atomic_int stop;

static void *keep_answering(void *unused) {
  CHECK(keeps_answering(context, question, text, expected, &stop));
  return unused;
}

/* Short calls with nothing between them, which never leave the library idle. */
static void *keep_counting(void *unused) {
  int counts = 1;
  while (counts && !stop) counts = bertqa_answers_count(expected) > 0;
  CHECK(counts);
  return unused;
}

enum { CALLERS = 4, FORKS = 50 };

static void start(pthread_t *threads, void *(*body)(void *)) {
  for (int i = 0; i < CALLERS; i++) CHECK(pthread_create(&threads[i], NULL, body, NULL) == 0);
}

static void join(pthread_t *threads) {
  stop = 1;
  for (int i = 0; i < CALLERS; i++) pthread_join(threads[i], NULL);
  stop = 0;
}

static int forks_shortly(void) {
  const pid_t child = fork_child();
  if (child == 0) {
    CHECK(bertqa_answers_count(expected) > 0);
    end_child();
  }
  return succeeds(child);
}

static void *keep_forking(void *unused) {
  int forks = 1;
  while (forks && !stop) forks = forks_shortly();
  CHECK(forks);
  return unused;
}

/* A stream of calls does not keep a thread from forking, nor do many forks keep one from calling. */
static void test_fairness(void) {
  pthread_t threads[CALLERS];
  start(threads, keep_counting);
  for (int i = 0; i < FORKS; i++) CHECK(forks_shortly());
  join(threads);
  start(threads, keep_forking);
  for (int i = 0; i < FORKS; i++) {
    bertqa_answers *answers = tiny_answer(context, question, text);
    CHECK(same_answers(answers, expected));
    bertqa_answers_free(answers);
  }
  join(threads);
}

static int32_t fork_and_call(void *calls) {
  if (++*(int *)calls > 3) return 0;
  use_everything();
  test_child(2);
  return 0;
}

static void log_and_fork(void *forks, const char *message) {
  CHECK(*message != '\0');
  fork_and_call(forks);
}

static void report_and_fork(void *forks, const char *stage, double fraction) {
  CHECK(*stage != '\0' && fraction >= 0);
  fork_and_call(forks);
}

/* Hooks fork and call the library, while other threads do. */
static void test_hooks(void) {
  pthread_t threads[CALLERS];
  start(threads, keep_answering);
  int asked = 0, reported = 0, logged = 0;
  const bertqa_call_options call = {
      .struct_size = sizeof call, .cancel = fork_and_call, .user = &asked};
  bertqa_answer_options options = tiny_options();
  options.call = &call;
  bertqa_answers *answers;
  CHECK_STATUS(BERTQA_OK, bertqa_answer(context, question, strlen(question), text, strlen(text), &options, &answers));
  CHECK(asked > 0 && same_answers(answers, expected));
  bertqa_answers_free(answers);
  const bertqa_call_options reporting = {
      .struct_size = sizeof call, .progress = report_and_fork, .user = &reported};
  options.call = &reporting;
  CHECK_STATUS(BERTQA_OK, bertqa_answer(context, question, strlen(question), text, strlen(text), &options, &answers));
  CHECK(reported > 0 && same_answers(answers, expected));
  bertqa_answers_free(answers);
  const bertqa_context_options logging = {.struct_size = sizeof logging, .log = log_and_fork, .log_user = &logged};
  bertqa_context *other;
  CHECK_STATUS(BERTQA_OK, bertqa_context_create(tiny, &logging, &other));
  CHECK(logged == 1);
  bertqa_context_free(other);
  join(threads);
}

static int handled;

static void call_in_handler(void) {
  if (expected == NULL || stop == 0) return;
  CHECK(bertqa_answers_count(expected) > 0);
  handled++;
}

/* A host's own handlers of fork() call the library: some run inside of the library's own, as they were registered
 * before those, some around them. */
static void register_handlers(void) { pthread_atfork(call_in_handler, call_in_handler, call_in_handler); }
__attribute__((section(".preinit_array"), used)) static void (*const register_first)(void) = register_handlers;

static void test_handlers(void) {
  register_handlers();
  handled = 0;
  stop = 1;
  test_child(1);
  CHECK(handled == 4);
  stop = 0;
}

int main(int argc, char **argv) {
  begin(argc, argv);
  context = tiny_context(4);
  text = made_document(5, 60);
  CHECK_STATUS(BERTQA_OK, bertqa_document_create(context, text, strlen(text), NULL, &document));
  expected = tiny_answer(context, question, text); /* the parent's threads run before it forks */

  test_child(3);
  use_everything();

  /* Forking while another thread is inside the library. */
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, keep_answering, NULL) == 0);
  for (int i = 0; i < 10; i++) test_child(1);
  stop = 1;
  pthread_join(thread, NULL);
  stop = 0;
  use_everything();
  test_fairness();
  test_hooks();
  test_handlers();

  bertqa_answers_free(expected);
  bertqa_document_free(document);
  bertqa_context_free(context);
  free(text);
  return finish();
}
