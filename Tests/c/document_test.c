/* Documents: prepared ones, several as one collection, and what outlives a context. */
#include "check.h"

static bertqa_context *context;
static const char question[] = "who jumped over the river?";

static void test_document(void) {
  char *text = made_document(3, 40);
  size_t length = strlen(text);
  bertqa_answer_options options = tiny_options();
  bertqa_answers *expected = tiny_answer(context, question, text);
  bertqa_document *document;
  CHECK_STATUS(BERTQA_OK, bertqa_document_create(context, text, length, NULL, &document));
  memset(text, '?', length); /* it holds a copy */
  free(text);
  for (int i = 0; i < 3; i++) {
    bertqa_answers *answers;
    CHECK_STATUS(BERTQA_OK, bertqa_document_answer(context, document, question, strlen(question),
                                                   &options, &answers));
    CHECK(same_answers(expected, answers));
    bertqa_answers_free(answers);
  }
  bertqa_answers_free(expected);

  /* Another context: its own vocabulary, or the same one. */
  bertqa_context *other = tiny_context(1);
  bertqa_answers *answers;
  CHECK_STATUS(BERTQA_OK, bertqa_document_answer(other, document, question, strlen(question), &options,
                                                 &answers));
  bertqa_answers_free(answers);
  bertqa_context_free(other);
  CHECK_STATUS(BERTQA_OK, bertqa_context_create(NULL, NULL, &other));
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, answers,
              bertqa_document_answer(other, document, "a", 1, NULL, &answers));
  bertqa_context_free(other);
  bertqa_document_free(document);

  CHECK_STATUS(BERTQA_OK, bertqa_document_create(context, NULL, 0, NULL, &document));
  CHECK_STATUS(BERTQA_OK, bertqa_document_answer(context, document, "a", 1, NULL, &answers));
  CHECK(bertqa_answers_summary(answers)->is_document_empty && bertqa_answers_count(answers) == 0);
  bertqa_answers_free(answers);
  bertqa_document_free(document);
}

/* Several documents are one collection, prepared or not. */
static void test_documents(void) {
  enum { COUNT = 4 };
  char *texts[COUNT];
  bertqa_text documents[COUNT];
  const bertqa_document *prepared[COUNT];
  for (int i = 0; i < COUNT; i++) {
    bertqa_document *document;
    texts[i] = made_document(20 + i, i == 1 ? 0 : 10 * i + 1);
    documents[i] = (bertqa_text){texts[i], strlen(texts[i])};
    CHECK_STATUS(BERTQA_OK, bertqa_document_create(context, texts[i], strlen(texts[i]), NULL, &document));
    prepared[i] = document;
  }
  bertqa_answer_options options = tiny_options();
  options.top_k = 50;
  options.max_windows = 5;
  bertqa_answers *answers, *others;
  CHECK_STATUS(BERTQA_OK, bertqa_answer_documents(context, question, strlen(question), documents, COUNT, &options,
                                                  &answers));
  CHECK_STATUS(BERTQA_OK, bertqa_documents_answer(context, prepared, COUNT, question, strlen(question), &options,
                                                  &others));
  CHECK(bertqa_answers_count(answers) == bertqa_answers_count(others) && bertqa_answers_count(answers) > 5);
  CHECK(memcmp(bertqa_answers_summary(answers), bertqa_answers_summary(others), sizeof(bertqa_answer_summary)) == 0);
  CHECK(bertqa_answers_summary(answers)->window_count == 5);
  int several = 0;
  for (size_t i = 0; i < bertqa_answers_count(answers); i++) {
    const bertqa_answer_span *answer = bertqa_answers_get(answers, i);
    CHECK(memcmp(answer, bertqa_answers_get(others, i), sizeof *answer) == 0);
    CHECK(answer->document_index >= 0 && answer->document_index < COUNT && answer->document_index != 1);
    CHECK(answer->bytes.end <= documents[answer->document_index].length);
    several |= answer->document_index != bertqa_answers_get(answers, 0)->document_index;
  }
  CHECK(several);
  bertqa_answers_free(answers);
  bertqa_answers_free(others);

  const bertqa_status invalid = BERTQA_ERROR_INVALID_ARGUMENT;
  CHECK_FAILS(invalid, answers, bertqa_answer_documents(context, question, 3, documents, 0, NULL, &answers));
  CHECK_FAILS(invalid, answers, bertqa_answer_documents(context, question, 3, NULL, 1, NULL, &answers));
  CHECK_FAILS(invalid, answers, bertqa_documents_answer(context, NULL, 1, question, 3, NULL, &answers));
  CHECK_FAILS(invalid, answers, bertqa_documents_answer(NULL, prepared, 1, question, 3, NULL, &answers));
  documents[2].text = NULL;
  CHECK_FAILS(invalid, answers, bertqa_answer_documents(context, question, 3, documents, COUNT, NULL, &answers));
  CHECK(strncmp(bertqa_last_error(), "documents[2]", 12) == 0);
  const bertqa_document *missing[] = {prepared[0], NULL};
  CHECK_FAILS(invalid, answers, bertqa_documents_answer(context, missing, 2, question, 3, NULL, &answers));
  CHECK(strncmp(bertqa_last_error(), "documents[1]", 12) == 0);
  if (SIZE_MAX > BERTQA_MAX_BATCH) {
    CHECK_FAILS(BERTQA_ERROR_TOO_LARGE, answers,
                bertqa_answer_documents(context, question, 3, documents, (size_t)BERTQA_MAX_BATCH + 1, NULL, &answers));
  }
  for (int i = 0; i < COUNT; i++) {
    bertqa_document_free((bertqa_document *)prepared[i]);
    free(texts[i]);
  }
}

static void test_outliving(void) {
  bertqa_context *other = tiny_context(1);
  const char *text = "the quick brown fox jumps over the lazy dog.";
  bertqa_answers *expected = tiny_answer(context, question, text);
  bertqa_answers *answers = tiny_answer(other, question, text);
  bertqa_document *document;
  CHECK_STATUS(BERTQA_OK, bertqa_document_create(other, text, strlen(text), NULL, &document));
  bertqa_context_free(other);
  CHECK(same_answers(expected, answers));
  bertqa_answers_free(answers);
  bertqa_answer_options options = tiny_options();
  CHECK_STATUS(BERTQA_OK, bertqa_document_answer(context, document, question, strlen(question), &options,
                                                 &answers));
  CHECK(same_answers(expected, answers));
  bertqa_document_free(document);
  bertqa_answers_free(answers);
  bertqa_answers_free(expected);
}

int main(int argc, char **argv) {
  begin(argc, argv);
  context = tiny_context(2);
  test_document();
  test_documents();
  test_outliving();
  bertqa_context_free(context);
  return finish();
}
