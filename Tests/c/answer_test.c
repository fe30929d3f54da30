/* Answers: one and batch; options, limits, texts, hooks. */
#include "check.h"
#include "structs.h"

static bertqa_context *context;
static const char question[] = "who jumped over the river?";

/* Checks what holds of every result on this document. */
static void check_result(const bertqa_answers *answers, const char *document, size_t length) {
  const bertqa_answer_summary *summary = bertqa_answers_summary(answers);
  size_t count = bertqa_answers_count(answers);
  CHECK(summary != NULL && summary->struct_size == sizeof *summary);
  CHECK(bertqa_answers_get(answers, count) == NULL && bertqa_answers_get(answers, SIZE_MAX) == NULL);
  CHECK(isfinite(summary->null_score) && isfinite(summary->no_answer_threshold));
  float probabilities = summary->no_answer_probability;
  CHECK(probabilities > 0);
  for (size_t i = 0; i < count; i++) {
    const bertqa_answer_span *answer = bertqa_answers_get(answers, i);
    CHECK(answer->struct_size == sizeof *answer);
    CHECK(answer->bytes.start < answer->bytes.end && answer->bytes.end <= length);
    CHECK(answer->sentence.start <= answer->bytes.start && answer->bytes.end <= answer->sentence.end);
    CHECK(answer->sentence.end <= length);
    size_t code_points[2] = {0, 0}, utf16[2] = {0, 0}; /* of valid UTF-8 */
    for (size_t b = 0; b < answer->bytes.end; b++) {
      unsigned char byte = (unsigned char)document[b];
      for (int k = b < answer->bytes.start ? 0 : 1; k < 2; k++) {
        code_points[k] += (byte & 0xc0) != 0x80;
        utf16[k] += ((byte & 0xc0) != 0x80) + (byte >= 0xf0);
      }
    }
    CHECK(answer->code_points.start == code_points[0] && answer->code_points.end == code_points[1]);
    CHECK(answer->utf16.start == utf16[0] && answer->utf16.end == utf16[1]);
    CHECK(answer->score == answer->start_logit + answer->end_logit);
    CHECK(answer->probability > 0);
    probabilities += answer->probability;
    CHECK(answer->document_index == 0);
    if (i == 0) CHECK(answer->gap == summary->gap);
    if (i > 0) CHECK(answer->gap <= bertqa_answers_get(answers, i - 1)->gap);
    for (size_t j = 0; j < i; j++) {
      const bertqa_answer_span *other = bertqa_answers_get(answers, j);
      CHECK(answer->bytes.end <= other->bytes.start || other->bytes.end <= answer->bytes.start);
    }
  }
  CHECK(probabilities <= 1.0001f);
}

static void test_results(void) {
  char *document = made_document(1, 60); /* several windows */
  bertqa_answers *answers = tiny_answer(context, question, document);
  CHECK(bertqa_answers_count(answers) == 3);
  CHECK(bertqa_answers_summary(answers)->window_count > 1);
  check_result(answers, document, strlen(document));
  bertqa_answers_free(answers);
  free(document);

  const char *mixed = "\xf0\x9f\xa6\x8a the caf\xc3\xa9 of fox e\xcc\x81 \xe4\xb8\xad\xe5\x9b\xbd "
                      "\xf0\x9f\x98\x80 king";
  answers = tiny_answer(context, question, mixed);
  CHECK(bertqa_answers_count(answers) > 0);
  check_result(answers, mixed, strlen(mixed));
  bertqa_answers_free(answers);
}

/* An answer with NULL options and these lengths. */
static bertqa_answers *default_answer(const char *q, size_t q_length, const char *d, size_t d_length) {
  bertqa_answers *answers = NULL;
  CHECK_STATUS(BERTQA_OK, bertqa_answer(context, q, q_length, d, d_length, NULL, &answers));
  return answers;
}

static void test_nothing_to_search(void) {
  const char *const blank[] = {NULL, "", "  \n\t "};
  for (int i = 0; i < 3; i++) {
    size_t length = blank[i] == NULL ? 0 : strlen(blank[i]);
    bertqa_answers *answers = default_answer(question, strlen(question), blank[i], length);
    const bertqa_answer_summary *summary = bertqa_answers_summary(answers);
    CHECK(bertqa_answers_count(answers) == 0);
    CHECK(summary->is_impossible && summary->is_document_empty && !summary->is_question_empty);
    bertqa_answers_free(answers);

    answers = default_answer(blank[i], length, "the fox", 7);
    summary = bertqa_answers_summary(answers);
    CHECK(bertqa_answers_count(answers) == 0);
    CHECK(summary->is_impossible && summary->is_question_empty && !summary->is_document_empty);
    bertqa_answers_free(answers);

    answers = default_answer(blank[i], length, blank[i], length);
    summary = bertqa_answers_summary(answers);
    CHECK(summary->is_impossible && summary->is_question_empty && !summary->is_document_empty);
    bertqa_answers_free(answers);
  }
}

static void test_any_bytes(void) {
  char bytes[2048];
  unsigned seed = 7;
  for (int round = 0; round < 40; round++) {
    for (size_t i = 0; i < sizeof bytes; i++) {
      seed = seed * 1103515245u + 12345u;
      bytes[i] = (char)(seed >> 16);
    }
    bertqa_answers *answers = default_answer(bytes, 40, bytes, sizeof bytes);
    if (bertqa_answers_count(answers) > 0) {
      const bertqa_answer_span *best = bertqa_answers_get(answers, 0);
      CHECK(best->bytes.start < best->bytes.end && best->bytes.end <= sizeof bytes);
      CHECK(best->code_points.end <= best->utf16.end && best->code_points.end <= best->bytes.end);
    }
    bertqa_answers_free(answers);
  }
  memset(bytes, 'x', sizeof bytes); /* one endless word: a single [UNK] */
  bertqa_answers *answers = default_answer(question, strlen(question), bytes, sizeof bytes);
  CHECK(bertqa_answers_count(answers) == 1);
  CHECK(bertqa_answers_get(answers, 0)->bytes.end == sizeof bytes);
  bertqa_answers_free(answers);
  answers = default_answer("who\0is\0", 7, "the\0 fox \0\0", 11); /* NUL is ordinary */
  CHECK(bertqa_answers_count(answers) == 1);
  bertqa_answers_free(answers);
}

static void test_option_defaults(void) {
  bertqa_answer_options options;
  memset(&options, 0xff, sizeof options);
  bertqa_answer_options_init(&options, sizeof options);
  CHECK(options.struct_size == sizeof options);
  const bertqa_answer_options written = BERTQA_ANSWER_OPTIONS_INIT;
  CHECK(memcmp(&options, &written, sizeof options) == 0);
}

/* Every function that takes answer options refuses these. */
static void refuse(bertqa_answer_options options) {
  bertqa_answer_pair pair = {question, strlen(question), "the fox", 7};
  bertqa_answers *answers;
  bertqa_document *document;
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, answers,
              bertqa_answer(context, question, strlen(question), "the fox", 7, &options, &answers));
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, answers,
              bertqa_answer_batch(context, &pair, 1, &options, &answers, NULL));
  CHECK_STATUS(BERTQA_OK, bertqa_document_create(context, "the fox", 7, NULL, &document));
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, answers,
              bertqa_document_answer(context, document, "a", 1, &options, &answers));
  bertqa_document_free(document);
}

static void test_refused_options(void) {
  bertqa_answer_options options;
#define REFUSE(field, value) options = tiny_options(), options.field = (value), refuse(options)
  REFUSE(top_k, -1);
  REFUSE(top_k, 1001);
  REFUSE(max_seq_len, 7);
  REFUSE(max_seq_len, INT32_MIN);
  REFUSE(doc_stride, -2);
  REFUSE(doc_stride, 96);
  REFUSE(max_answer_len, -1);
  REFUSE(max_answer_len, 10001);
  REFUSE(max_question_len, -5);
  REFUSE(n_best_size, -1);
  REFUSE(n_best_size, 1001);
  REFUSE(max_windows, -2);
  REFUSE(handle_impossible_answer, 2);
  REFUSE(align_to_words, -2);
  REFUSE(use_no_answer_threshold, 3);
  REFUSE(no_answer_threshold, 1); /* without use_no_answer_threshold */
  REFUSE(no_answer_threshold, NAN);
  REFUSE(partial, 3);
#undef REFUSE
}

static void test_options(void) {
  char *document = made_document(2, 60);
  size_t length = strlen(document);
  bertqa_answer_options options = tiny_options();
  bertqa_answers *answers, *others;

  options.max_windows = 1;
  CHECK_STATUS(BERTQA_OK, bertqa_answer(context, question, strlen(question), document, length, &options,
                                        &answers));
  CHECK(bertqa_answers_summary(answers)->window_count == 1);
  CHECK(bertqa_answers_summary(answers)->skipped_window_count > 0);
  CHECK(bertqa_answers_summary(answers)->stop == BERTQA_READING_LIMIT);
  bertqa_answers_free(answers);
  options.max_windows = -1;
  CHECK_STATUS(BERTQA_OK, bertqa_answer(context, question, strlen(question), document, length, &options,
                                        &answers));
  CHECK(bertqa_answers_summary(answers)->window_count > 1);
  CHECK(bertqa_answers_summary(answers)->skipped_window_count == 0);
  CHECK(bertqa_answers_summary(answers)->stop == BERTQA_READING_ALL);
  bertqa_answers_free(answers);

  options = tiny_options();
  options.use_no_answer_threshold = BERTQA_ON;
  options.no_answer_threshold = 1e6f;
  CHECK_STATUS(BERTQA_OK, bertqa_answer(context, question, strlen(question), document, length, &options,
                                        &answers));
  CHECK(bertqa_answers_summary(answers)->is_impossible && bertqa_answers_count(answers) == 3);
  CHECK(bertqa_answers_summary(answers)->no_answer_threshold == 1e6f);
  bertqa_answers_free(answers);
  options.handle_impossible_answer = 1;
  CHECK_STATUS(BERTQA_OK, bertqa_answer(context, question, strlen(question), document, length, &options,
                                        &answers));
  CHECK(bertqa_answers_summary(answers)->is_impossible && bertqa_answers_count(answers) == 0);
  bertqa_answers_free(answers);

  options = tiny_options();
  options.max_question_len = 2;
  CHECK_STATUS(BERTQA_OK, bertqa_answer(context, question, strlen(question), document, length, &options,
                                        &answers));
  CHECK(bertqa_answers_summary(answers)->is_question_truncated);
  CHECK(!bertqa_answers_summary(others = tiny_answer(context, question, document))->is_question_truncated);
  bertqa_answers_free(answers);
  bertqa_answers_free(others);

  options = tiny_options(); /* more than the model's positions: lowered to them, as the defaults are */
  options.max_seq_len = 100000;
  CHECK_STATUS(BERTQA_OK, bertqa_answer(context, question, strlen(question), document, length, &options,
                                        &answers));
  bertqa_answers_free(answers);
  free(document);

  CHECK_STRUCT_SIZES(bertqa_answer_options, top_k, partial, answers,
                     bertqa_answer(context, "a", 1, "the fox", 7, options, &answers),
                     bertqa_answers_free);
}

static void test_refused_arguments(void) {
  bertqa_answers *answers;
  bertqa_document *document;
  const bertqa_status invalid = BERTQA_ERROR_INVALID_ARGUMENT, large = BERTQA_ERROR_TOO_LARGE;
  CHECK_STATUS(invalid, bertqa_answer(context, "a", 1, "b", 1, NULL, NULL));
  CHECK_FAILS(invalid, answers, bertqa_answer(NULL, "a", 1, "b", 1, NULL, &answers));
  CHECK_FAILS(invalid, answers, bertqa_answer(context, NULL, 1, "b", 1, NULL, &answers));
  CHECK_FAILS(invalid, answers, bertqa_answer(context, "a", 1, NULL, 1, NULL, &answers));
  CHECK_STATUS(invalid, bertqa_document_create(context, "b", 1, NULL, NULL));
  CHECK_FAILS(invalid, document, bertqa_document_create(NULL, "b", 1, NULL, &document));
  CHECK_FAILS(invalid, document, bertqa_document_create(context, NULL, 1, NULL, &document));

  CHECK_STATUS(BERTQA_OK, bertqa_document_create(context, "the fox", 7, NULL, &document));
  CHECK_STATUS(invalid, bertqa_document_answer(context, document, "a", 1, NULL, NULL));
  CHECK_FAILS(invalid, answers, bertqa_document_answer(NULL, document, "a", 1, NULL, &answers));
  CHECK_FAILS(invalid, answers, bertqa_document_answer(context, NULL, "a", 1, NULL, &answers));
  CHECK_FAILS(invalid, answers, bertqa_document_answer(context, document, NULL, 1, NULL, &answers));

  /* Nothing is readable at 1. */
  const char *nowhere = (const char *)1;
  const size_t lengths[] = {(size_t)BERTQA_MAX_TEXT_BYTES + 1, SIZE_MAX / 2 + 1, SIZE_MAX};
  for (int i = 0; i < 3; i++) {
    size_t huge = lengths[i];
    CHECK_FAILS(large, answers, bertqa_answer(context, nowhere, huge, "b", 1, NULL, &answers));
    CHECK_FAILS(large, answers, bertqa_answer(context, "a", 1, nowhere, huge, NULL, &answers));
    CHECK_FAILS(large, answers, bertqa_document_answer(context, document, nowhere, huge, NULL, &answers));
    bertqa_document *other;
    CHECK_FAILS(large, other, bertqa_document_create(context, nowhere, huge, NULL, &other));
    CHECK_STATUS(large, bertqa_answer_batch(context, (const bertqa_answer_pair *)8, huge, NULL,
                                            (bertqa_answers **)8, NULL));
  }
  bertqa_document_free(document);

  /* The context is as good after failed calls as before. */
  answers = tiny_answer(context, question, "the quick brown fox");
  CHECK(bertqa_answers_count(answers) > 0);
  bertqa_answers_free(answers);
}

static void test_batch(void) {
  enum { COUNT = 5 };
  bertqa_answer_options options = tiny_options();
  bertqa_answer_pair pairs[COUNT];
  bertqa_answers *answers[COUNT];
  char *documents[COUNT];
  for (size_t i = 0; i < COUNT; i++) {
    documents[i] = made_document((unsigned)i, i * 7);
    pairs[i] = (bertqa_answer_pair){question, strlen(question), documents[i], strlen(documents[i])};
  }
  CHECK_STATUS(BERTQA_OK, bertqa_answer_batch(context, pairs, COUNT, &options, answers, NULL));
  for (size_t i = 0; i < COUNT; i++) {
    bertqa_answers *alone = tiny_answer(context, question, documents[i]);
    CHECK(same_answers(alone, answers[i]));
    bertqa_answers_free(alone);
    bertqa_answers_free(answers[i]);
  }

  CHECK_STATUS(BERTQA_OK, bertqa_answer_batch(context, NULL, 0, NULL, NULL, NULL));
  CHECK_STATUS(BERTQA_OK, bertqa_answer_batch(context, pairs, 0, &options, answers, NULL));

  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_answer_batch(context, pairs, COUNT, NULL, NULL, NULL));
  for (int which = 0; which < 4; which++) { /* whatever fails, every result is NULL */
    for (size_t i = 0; i < COUNT; i++) answers[i] = (void *)&report;
    bertqa_answer_pair bad[COUNT];
    memcpy(bad, pairs, sizeof pairs);
    if (which == 0) bad[3].question = NULL;
    if (which == 1) bad[3].document_length = SIZE_MAX;
    CHECK_STATUS(which == 1 ? BERTQA_ERROR_TOO_LARGE : BERTQA_ERROR_INVALID_ARGUMENT,
                 bertqa_answer_batch(which == 2 ? NULL : context, which == 3 ? NULL : bad, COUNT, &options,
                                     answers, NULL));
    if (which < 2) CHECK(strstr(bertqa_last_error(), "pairs[3]") != NULL && bertqa_last_error_item() == 3);
    if (which == 0) CHECK(strcmp(bertqa_last_error_argument(), "question") == 0);
    if (which > 1) CHECK(bertqa_last_error_item() == SIZE_MAX);
    for (size_t i = 0; i < COUNT; i++) CHECK(answers[i] == NULL);
  }
  for (size_t i = 0; i < COUNT; i++) free(documents[i]);
}

struct cancel {
  pthread_t thread;
  int calls, until, wrong;
};

static int32_t cancel_after(void *user) {
  struct cancel *cancel = user;
  if (!pthread_equal(cancel->thread, pthread_self())) cancel->wrong++;
  return ++cancel->calls > cancel->until;
}

static void test_cancel_hook(void) {
  char *text = made_document(4, 400);
  size_t length = strlen(text);
  bertqa_answer_options options = tiny_options();
  struct cancel cancel = {pthread_self(), 0, INT32_MAX, 0};
  const bertqa_call_options call = {.struct_size = sizeof call, .cancel = cancel_after, .user = &cancel};
  options.call = &call;
  bertqa_answers *answers, *expected = tiny_answer(context, question, text);
  CHECK_STATUS(BERTQA_OK, bertqa_answer(context, question, strlen(question), text, length, &options,
                                        &answers));
  CHECK(same_answers(expected, answers));
  CHECK(cancel.calls > 0);
  bertqa_answers_free(answers);

  for (int until = 1; until < 8; until++) { /* how often it is asked depends on time */
    cancel.calls = 0;
    cancel.until = until;
    answers = (void *)text;
    bertqa_status status =
        bertqa_answer(context, question, strlen(question), text, length, &options, &answers);
    if (cancel.calls <= until) {
      CHECK(status == BERTQA_OK && same_answers(expected, answers));
      bertqa_answers_free(answers);
    } else { /* it is not asked again */
      CHECK(status == BERTQA_ERROR_CANCELLED && answers == NULL && cancel.calls == until + 1);
    }
  }
  bertqa_answers_free(expected);

  /* A partial result, whenever it is stopped: of nothing read, of some windows, or of all. */
  bertqa_answer_options partial = options;
  partial.partial = BERTQA_ON;
  for (int until = 0;; until++) {
    cancel.calls = 0;
    cancel.until = until;
    CHECK_STATUS(BERTQA_OK, bertqa_answer(context, question, strlen(question), text, length, &partial,
                                          &answers));
    const bertqa_answer_summary *summary = bertqa_answers_summary(answers);
    const int is_stopped = cancel.calls > until;
    CHECK(!is_stopped || cancel.calls == until + 1);
    CHECK(!is_stopped || summary->stop == BERTQA_READING_CANCELLED || summary->skipped_window_count == 0);
    CHECK((bertqa_answers_count(answers) > 0) == (summary->window_count > 0));
    CHECK(summary->window_count > 0 || summary->is_impossible);
    bertqa_answers_free(answers);
    if (!is_stopped) break;
  }
  cancel.until = 0;
  CHECK_FAILS(BERTQA_ERROR_CANCELLED, answers,
              bertqa_answer(context, question, strlen(question), text, length, &options, &answers));
  bertqa_answer_pair pairs[2] = {{question, strlen(question), text, length}, {question, 3, text, length}};
  bertqa_answers *both[2] = {(void *)text, (void *)text};
  CHECK_STATUS(BERTQA_ERROR_CANCELLED, bertqa_answer_batch(context, pairs, 2, &options, both, NULL));
  CHECK(both[0] == NULL && both[1] == NULL);
  bertqa_document *document;
  CHECK_STATUS(BERTQA_OK, bertqa_document_create(context, text, length, NULL, &document));
  CHECK_FAILS(BERTQA_ERROR_CANCELLED, answers,
              bertqa_document_answer(context, document, question, strlen(question), &options, &answers));
  bertqa_document_free(document);
  CHECK(cancel.wrong == 0);
  free(text);
}

int main(int argc, char **argv) {
  begin(argc, argv);
  context = tiny_context(2);
  test_results();
  test_nothing_to_search();
  test_any_bytes();
  test_option_defaults();
  test_refused_options();
  test_options();
  test_refused_arguments();
  test_batch();
  test_cancel_hook();
  bertqa_context_free(context);
  return finish();
}
