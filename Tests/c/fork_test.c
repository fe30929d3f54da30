/* A forked child, and its child, go on using the objects they inherited. */
#include <signal.h>

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

/* Runs in a child `depth` generations deep; a hang ends it by SIGALRM. */
static void test_child(int depth) {
  pid_t child = fork();
  if (child == 0) {
    alarm(60);
    failed = 0;
    use_everything();
    if (depth > 1) test_child(depth - 1);
    bertqa_answers_free(expected);
    bertqa_document_free(document);
    bertqa_context_free(context);
    _exit(failed == 0 ? 0 : 1);
  }
  int status = -1;
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static atomic_int stop;

static void *keep_answering(void *unused) {
  CHECK(keeps_answering(context, question, text, expected, &stop));
  return unused;
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
  use_everything();

  bertqa_answers_free(expected);
  bertqa_document_free(document);
  bertqa_context_free(context);
  free(text);
  return finish();
}
