/* A thread uses the library for the first time while another one forks: the child goes on, too.
 *
 * Each round is a process of its own in which nothing of the library has run but bertqa_warm_up(). */
#include <signal.h>
#include <time.h>

#include "check.h"

enum { ROUNDS = 60 };

static void keep_array(struct ArrowArray *array) { array->release = NULL; }
static void keep_schema(struct ArrowSchema *schema) { schema->release = NULL; }

static void answer(void) {
  bertqa_context *context = tiny_context(2);
  char *text = made_document(5, 30);
  bertqa_answer_options options = tiny_options();
  options.max_windows = 2;
  bertqa_answers *answers;
  bertqa_document *document;
  bertqa_status status;
  const bertqa_answer_pair pair = {"who?", 4, text, strlen(text)};
  const bertqa_text question = {"who?", 4};
  CHECK_STATUS(BERTQA_OK, bertqa_answer_batch(context, &pair, 1, &options, &answers, &status));
  bertqa_answers_free(answers);
  CHECK_STATUS(BERTQA_OK, bertqa_document_create(context, text, strlen(text), NULL, &document));
  CHECK_STATUS(BERTQA_OK, bertqa_document_answer_batch(context, document, &question, 1, &options, &answers, NULL));
  bertqa_answers_free(answers);
  bertqa_document_free(document);
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_answer(context, NULL, 1, "", 0, NULL, &answers));
  const int64_t offsets[] = {0, 4};
  const void *buffers[] = {NULL, offsets, "who?"};
  const struct ArrowArray array = {.length = 1, .n_buffers = 3, .buffers = buffers, .release = keep_array};
  const struct ArrowSchema schema = {.format = "U", .release = keep_schema};
  struct ArrowArray out;
  struct ArrowSchema out_schema;
  const bertqa_column column = {&array, &schema};
  CHECK_STATUS(BERTQA_OK, bertqa_answer_arrow(context, column, column, NULL, &out, &out_schema));
  out.release(&out), out_schema.release(&out_schema);
  free(text);
  bertqa_context_free(context);
}

static void classify_and_embed(void) {
  bertqa_context *context = fixture_context("tiny-bert-classifier", 2);
  bertqa_classification *classification;
  CHECK_STATUS(BERTQA_OK, bertqa_classify(context, "the king", 8, NULL, &classification));
  bertqa_classification_free(classification);
  bertqa_context_free(context);
  context = fixture_context("tiny-bert-embedder", 2);
  const bertqa_example example = {"the king", 8, "a", 1};
  const bertqa_text_pair text = {"the king", 8, NULL, 0};
  bertqa_labeler *labeler;
  CHECK_STATUS(BERTQA_OK, bertqa_labeler_create(context, &example, 1, NULL, &labeler));
  CHECK_STATUS(BERTQA_OK, bertqa_labeler_classify(labeler, &text, 1, NULL, &classification, NULL));
  bertqa_classification_free(classification);
  bertqa_labeler_free(labeler);
  bertqa_context_free(context);
  bertqa_trainer *trainer;
  CHECK_STATUS(BERTQA_OK, bertqa_trainer_create(NULL, &trainer));
  CHECK_STATUS(BERTQA_OK, bertqa_trainer_add(trainer, "the king", 8, "a", 1, NULL));
  bertqa_trainer_free(trainer);
}

static void predict(void) {
  bertqa_context *context = fixture_context("tiny-lstm", 2);
  bertqa_prediction *prediction;
  bertqa_sequence_state *state;
  bertqa_generation *generation;
  size_t order[2];
  const bertqa_text continuations[] = {{"Romeo", 5}, {"night .", 7}};
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_predict(context, "O", 1, NULL, NULL, &prediction, &state));
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_generate(context, "O", 1, state, NULL, &generation));
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_rank(context, "O", 1, continuations, 2, state, NULL, order, NULL, NULL));
  bertqa_prediction_free(prediction);
  bertqa_generation_free(generation);
  bertqa_sequence_state_free(state);
  bertqa_context_free(context);
}

static void *use_everything(void *unused) {
  answer();
  classify_and_embed();
  predict();
  return unused;
}

/* Waits for a child, which SIGALRM ends where it hangs. */
static int succeeds(pid_t child) {
  int status = -1;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void run_round(long nanoseconds) {
  alarm(60);
  failed = 0;
  CHECK_STATUS(BERTQA_OK, bertqa_warm_up());
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, use_everything, NULL) == 0);
  const struct timespec pause = {0, nanoseconds};
  nanosleep(&pause, NULL);
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    failed = 0;
    use_everything(NULL);
    _exit(failed == 0 ? 0 : 1);
  }
  CHECK(succeeds(child));
  pthread_join(thread, NULL);
  _exit(failed == 0 ? 0 : 1);
}

int main(int argc, char **argv) {
  begin(argc, argv);
  for (long round = 0; round < ROUNDS; round++) {
    const pid_t process = fork();
    if (process == 0) run_round(round * 500000); /* up to 30 ms after the thread began */
    CHECK(succeeds(process));
  }
  return finish();
}
