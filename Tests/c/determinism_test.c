/* An answer has the same bits for every batch and number of threads, and wherever the host has changed how the CPU
 * computes. */
#define _GNU_SOURCE
#include <fenv.h>

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

/* As a program compiled with -ffast-math computes: denormal numbers are 0. */
static void drop_denormals(void) {
#if defined(__x86_64__)
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
#elif defined(__aarch64__)
  unsigned long control;
  __asm__ volatile("mrs %0, fpcr" : "=r"(control));
  __asm__ volatile("msr fpcr, %0" : : "r"(control | 1ul << 24));
#endif
}

/* Whether threads compute as the host has set: an inexact sum, a denormal number, what traps. */
typedef struct {
  int rounding, traps;
  double third, denormal;
} arithmetic;

static arithmetic present_arithmetic(void) {
  volatile double one = 1, three = 3, tiny_number = 1e-300;
  const int traps = fegetexcept();
  arithmetic found = {.rounding = fegetround(), .traps = traps};
  fedisableexcept(FE_ALL_EXCEPT);
  found.third = one / three;
  found.denormal = tiny_number * 1e-10;
  feclearexcept(FE_ALL_EXCEPT);
  feenableexcept(traps);
  return found;
}

typedef struct {
  arithmetic expected;
  int calls, same;
} hook_calls;

static int32_t compare_arithmetic(void *user) {
  hook_calls *calls = user;
  const arithmetic found = present_arithmetic();
  calls->calls++;
  calls->same += memcmp(&found, &calls->expected, sizeof found) == 0;
  return 0;
}

static int32_t compare_at_word(void *user, const bertqa_word *word) {
  return word == NULL || compare_arithmetic(user);
}

/* The library computes with the default floating-point environment, on the caller's thread and on its own, which inherit
 * the environment. Hooks and the code after the call have the host's. */
static void test_floating_point(const char *question, const char *document) {
  enum { DENORMALS = -1, TRAPS = -2 };
  const int environments[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, DENORMALS, TRAPS};
  bertqa_context *usual = tiny_context(1), *predicting = fixture_context("tiny-lstm", 1);
  bertqa_answers *answers, *usual_answers = tiny_answer(usual, question, document);
  bertqa_context_free(usual);
  for (size_t i = 0; i < sizeof environments / sizeof *environments; i++) {
    CHECK_STATUS(BERTQA_OK, bertqa_pool_shutdown());
    if (environments[i] == DENORMALS) drop_denormals();
    else if (environments[i] == TRAPS) feenableexcept(FE_ALL_EXCEPT);
    else fesetround(environments[i]);
    hook_calls calls = {.expected = present_arithmetic()};
    const bertqa_call_options call = {.struct_size = sizeof call, .cancel = compare_arithmetic, .user = &calls};
    bertqa_answer_options options = tiny_options();
    options.call = &call;
    bertqa_context *context = tiny_context(4);
    CHECK_STATUS(BERTQA_OK, bertqa_answer(context, question, strlen(question), document, strlen(document), &options,
                                          &answers));
    CHECK(same_answers(usual_answers, answers));
    CHECK(calls.calls > 0 && calls.same == calls.calls);
    const int other_calls = calls.calls;
    const bertqa_generate_options generate = {
        .struct_size = sizeof generate, .on_word = compare_at_word, .on_word_user = &calls, .max_words = 2};
    bertqa_generation *generation;
    CHECK_STATUS(BERTQA_OK, bertqa_sequence_generate(predicting, "the", 3, NULL, &generate, &generation));
    bertqa_generation_free(generation);
    CHECK(calls.calls > other_calls && calls.same == calls.calls);
    const arithmetic found = present_arithmetic();
    CHECK(memcmp(&found, &calls.expected, sizeof found) == 0);
    bertqa_answers_free(answers);
    fesetenv(FE_DFL_ENV);
    answers = tiny_answer(context, question, document);
    CHECK(same_answers(usual_answers, answers));
    bertqa_answers_free(answers);
    bertqa_context_free(context);
  }
  bertqa_answers_free(usual_answers);
  bertqa_context_free(predicting);
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
  test_floating_point(questions[0], pairs[13].document);
  for (size_t i = 0; i < PAIRS; i++) free((char *)pairs[i].document);
  return finish();
}
