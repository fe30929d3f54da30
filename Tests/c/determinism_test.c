/* An answer has the same bits for every batch and number of threads. */
#include "check.h"

enum { PAIRS = 64 };
static bertqa_answers *expected[PAIRS];

static bertqa_context *make_context(const char *model, bertqa_precision precision, int32_t threads) {
  bertqa_context_options options;
  bertqa_context_options_init(&options, sizeof options);
  options.precision = precision;
  options.threads = threads;
  bertqa_context *context;
  bertqa_status status = bertqa_context_create(model, &options, &context);
  CHECK(status == BERTQA_OK || (status == BERTQA_ERROR_UNSUPPORTED && precision > BERTQA_PRECISION_F32));
  return context;
}

static void test_precision(const char *model, bertqa_precision precision, const bertqa_answer_pair *pairs, size_t count) {
  bertqa_answer_options options = tiny_options();
  bertqa_context *one = make_context(model, precision, 1);
  if (one == NULL) return;
  for (size_t i = 0; i < count; i++) {
    const bertqa_answer_pair *pair = &pairs[i];
    CHECK_STATUS(BERTQA_OK, bertqa_answer(one, pair->question, pair->question_length, pair->document,
                                          pair->document_length, &options, &expected[i]));
  }
  for (int32_t threads = 1; threads <= 5; threads += 2) {
    bertqa_context *context = make_context(model, precision, threads);
    for (size_t size = 1; size <= count; size *= 8) {
      for (size_t first = 0; first < count; first += size) {
        bertqa_answers *answers[PAIRS] = {NULL};
        CHECK_STATUS(BERTQA_OK, bertqa_answer_batch(context, pairs + first, size, &options, answers, NULL));
        for (size_t i = 0; i < size; i++) {
          CHECK(same_answers(expected[first + i], answers[i]));
          bertqa_answers_free(answers[i]);
        }
      }
    }
    bertqa_context_free(context);
  }
  for (size_t i = 0; i < count; i++) bertqa_answers_free(expected[i]);
  bertqa_context_free(one);
}

int main(int argc, char **argv) {
  static const char *const questions[] = {"who jumped over the river?", "what is the king of france?",
                                          "when?", "how many people were in paris during the war?"};
  static bertqa_answer_pair pairs[PAIRS];
  begin(argc, argv);
  for (size_t i = 0; i < PAIRS; i++) {
    const char *question = questions[i % 4];
    char *document = made_document((unsigned)i, i % 13 == 0 ? 40 : i % 7);
    pairs[i] = (bertqa_answer_pair){question, strlen(question), document, strlen(document)};
  }
  for (int32_t precision = BERTQA_PRECISION_AUTO; precision <= BERTQA_PRECISION_INT8; precision++) {
    test_precision(tiny, precision, pairs, PAIRS);
    /* The default model, on short documents: where it is emulated, a token takes 0.2 s. */
    test_precision(NULL, precision, pairs + 1, 8);
  }
  for (size_t i = 0; i < PAIRS; i++) free((char *)pairs[i].document);
  return finish();
}
