/* With statuses, one bad item of a batch does not lose the others. */
#include "check.h"

enum { COUNT = 5 };
static const char question[] = "who jumped over the river?";

/* Items 1 and 3 of each batch are bad; the statuses and the last error say so. */
static const bertqa_status expected[COUNT] = {BERTQA_OK, BERTQA_ERROR_INVALID_ARGUMENT, BERTQA_OK,
                                              BERTQA_ERROR_TOO_LARGE, BERTQA_OK};

static void check_statuses(const bertqa_status *statuses) {
  CHECK(memcmp(statuses, expected, sizeof expected) == 0);
  CHECK(bertqa_last_error_item() == 1 && *bertqa_last_error_argument() != '\0');
  CHECK(strstr(bertqa_last_error(), "[1]") != NULL);
}

static void test_answers(void) {
  bertqa_context *context = tiny_context(2);
  bertqa_answer_options options = tiny_options();
  bertqa_answer_pair pairs[COUNT];
  bertqa_text questions[COUNT];
  char *text = made_document(3, 30);
  for (size_t i = 0; i < COUNT; i++) {
    pairs[i] = (bertqa_answer_pair){question, strlen(question) - i, text, strlen(text) - i * 20};
    questions[i] = (bertqa_text){question, strlen(question) - i};
  }
  pairs[1].question = NULL, questions[1].text = NULL;
  pairs[3].document_length = SIZE_MAX, questions[3].length = SIZE_MAX;
  bertqa_answers *answers[COUNT], *alone;
  bertqa_status statuses[COUNT];
  memset(statuses, 0x55, sizeof statuses);
  CHECK_STATUS(BERTQA_OK, bertqa_answer_batch(context, pairs, COUNT, &options, answers, statuses));
  check_statuses(statuses);
  for (size_t i = 0; i < COUNT; i++) {
    CHECK((answers[i] == NULL) == (statuses[i] != BERTQA_OK));
    if (answers[i] == NULL) continue;
    CHECK_STATUS(BERTQA_OK, bertqa_answer(context, pairs[i].question, pairs[i].question_length,
                                          pairs[i].document, pairs[i].document_length, &options, &alone));
    CHECK(same_answers(answers[i], alone));
    bertqa_answers_free(alone);
    bertqa_answers_free(answers[i]);
  }

  bertqa_document *document;
  CHECK_STATUS(BERTQA_OK, bertqa_document_create(context, text, strlen(text), NULL, &document));
  CHECK_STATUS(BERTQA_OK,
               bertqa_document_answer_batch(context, document, questions, COUNT, &options, answers, statuses));
  check_statuses(statuses);
  for (size_t i = 0; i < COUNT; i++) {
    CHECK((answers[i] == NULL) == (statuses[i] != BERTQA_OK));
    if (answers[i] == NULL) continue;
    CHECK_STATUS(BERTQA_OK, bertqa_document_answer(context, document, questions[i].text, questions[i].length,
                                                   &options, &alone));
    CHECK(same_answers(answers[i], alone));
    bertqa_answers_free(alone);
    bertqa_answers_free(answers[i]);
  }
  /* Without statuses: all or nothing, and the index of the first. */
  for (size_t i = 0; i < COUNT; i++) answers[i] = (void *)&report;
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT,
               bertqa_document_answer_batch(context, document, questions, COUNT, &options, answers, NULL));
  for (size_t i = 0; i < COUNT; i++) CHECK(answers[i] == NULL);
  CHECK(bertqa_last_error_item() == 1 && strcmp(bertqa_last_error_argument(), "text") == 0);
  CHECK_STATUS(BERTQA_OK, bertqa_document_answer_batch(context, document, NULL, 0, NULL, NULL, NULL));

  /* A failure of the whole call is every item's status. */
  options.top_k = -1;
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT,
               bertqa_answer_batch(context, pairs, COUNT, &options, answers, statuses));
  for (size_t i = 0; i < COUNT; i++) CHECK(answers[i] == NULL && statuses[i] == BERTQA_ERROR_INVALID_ARGUMENT);
  CHECK(bertqa_last_error_item() == SIZE_MAX && strcmp(bertqa_last_error_argument(), "top_k") == 0);
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_answer_batch(context, NULL, 0, &options, NULL, NULL));
  bertqa_context *other = fixture_context("tiny-bert-classifier", 1);
  CHECK_STATUS(BERTQA_ERROR_WRONG_MODEL, bertqa_answer_batch(other, pairs, COUNT, NULL, answers, statuses));
  for (size_t i = 0; i < COUNT; i++) CHECK(answers[i] == NULL && statuses[i] == BERTQA_ERROR_WRONG_MODEL);
  bertqa_context_free(other);

  /* A question that leaves no room to the document fails alone. */
  bertqa_answer_options narrow = {
      .struct_size = sizeof narrow, .max_seq_len = 16, .doc_stride = 8, .max_question_len = 12};
  const bertqa_answer_pair two[] = {{"who?", 4, text, 100},
                                    {"the king of france jumped over the river", 40, text, 100}};
  CHECK_STATUS(BERTQA_OK, bertqa_answer_batch(context, two, 2, &narrow, answers, statuses));
  CHECK(statuses[0] == BERTQA_OK && statuses[1] == BERTQA_ERROR_INVALID_ARGUMENT);
  CHECK(answers[0] != NULL && answers[1] == NULL && bertqa_last_error_item() == 1);
  bertqa_answers_free(answers[0]);
  /* The message names the item by the caller's array, whether the failure is its status or ends the call. */
  const bertqa_text asked[] = {{two[0].question, 4}, {two[1].question, 40}};
  for (int with_statuses = 0; with_statuses < 2; with_statuses++) {
    CHECK_STATUS(with_statuses ? BERTQA_OK : BERTQA_ERROR_INVALID_ARGUMENT,
                 bertqa_document_answer_batch(context, document, asked, 2, &narrow, answers,
                                              with_statuses ? statuses : NULL));
    CHECK((answers[0] != NULL) == with_statuses && answers[1] == NULL && bertqa_last_error_item() == 1);
    CHECK(strncmp(bertqa_last_error(), "questions[1]: ", 14) == 0);
    bertqa_answers_free(answers[0]);
  }
  bertqa_document_free(document);
  bertqa_context_free(context);
  free(text);
}

static bertqa_text_pair texts[COUNT] = {{"the dog", 7, NULL, 0},
                                        {NULL, 3, NULL, 0},
                                        {"the king", 8, NULL, 0},
                                        {"a fox", SIZE_MAX, NULL, 0},
                                        {"", 0, NULL, 0}};

/* Classifications of the good items equal those of the items alone. */
static void check_classifications(bertqa_classification **all, bertqa_status *statuses,
                                  bertqa_status (*one)(const bertqa_text_pair *, bertqa_classification **)) {
  check_statuses(statuses);
  for (size_t i = 0; i < COUNT; i++) {
    CHECK((all[i] == NULL) == (statuses[i] != BERTQA_OK));
    if (all[i] == NULL) continue;
    bertqa_classification *alone = NULL;
    CHECK_STATUS(BERTQA_OK, one(&texts[i], &alone));
    CHECK(bertqa_classification_count(all[i]) == bertqa_classification_count(alone));
    for (size_t rank = 0; rank < bertqa_classification_count(alone); rank++) {
      const bertqa_label_score *a = bertqa_classification_get(all[i], rank),
                               *b = bertqa_classification_get(alone, rank);
      CHECK(a->id == b->id && a->logit == b->logit && a->label_length == strlen(a->label));
    }
    bertqa_classification_free(alone);
    bertqa_classification_free(all[i]);
  }
}

static bertqa_context *classifying;
static bertqa_labeler *labeler;

static bertqa_status classify_one(const bertqa_text_pair *text, bertqa_classification **result) {
  return bertqa_classify(classifying, text->text, text->length, NULL, result);
}

static bertqa_status label_one(const bertqa_text_pair *text, bertqa_classification **result) {
  return bertqa_labeler_classify(labeler, text, 1, NULL, result, NULL);
}

static void test_classifications(void) {
  static const char *const models[] = {"tiny-bert-classifier", NULL};
  bertqa_classification *all[COUNT];
  bertqa_status statuses[COUNT];
  for (int i = 0; i < 2; i++) {
    if (models[i] != NULL) {
      classifying = fixture_context(models[i], 2);
    } else { /* the default model, of word counts */
      const bertqa_context_options options = {.struct_size = sizeof options,
                                              .default_model = BERTQA_TASK_CLASSIFY};
      CHECK_STATUS(BERTQA_OK, bertqa_context_create(NULL, &options, &classifying));
    }
    CHECK_STATUS(BERTQA_OK, bertqa_classify_batch(classifying, texts, COUNT, NULL, all, statuses));
    check_classifications(all, statuses, classify_one);
    bertqa_context_free(classifying);
  }
  bertqa_context *embedding = fixture_context("tiny-bert-embedder", 1);
  const bertqa_example examples[] = {{"the dog", 7, "animal", 6}, {"the king", 8, "person", 6}};
  CHECK_STATUS(BERTQA_OK, bertqa_labeler_create(embedding, examples, 2, NULL, &labeler));
  CHECK_STATUS(BERTQA_OK, bertqa_labeler_classify(labeler, texts, COUNT, NULL, all, statuses));
  check_classifications(all, statuses, label_one);
  bertqa_labeler_free(labeler);
  bertqa_context_free(embedding);
}

static void test_vectors(void) {
  enum { LENGTH = 16 };
  bertqa_context *context = fixture_context("tiny-bert-embedder", 2);
  float all[COUNT][LENGTH], one[LENGTH], zeros[LENGTH] = {0};
  bertqa_status statuses[COUNT];
  memset(all, 0x55, sizeof all);
  CHECK_STATUS(BERTQA_OK, bertqa_embed(context, texts, COUNT, NULL, all[0], COUNT * LENGTH, statuses));
  check_statuses(statuses);
  for (size_t i = 0; i < COUNT; i++) {
    if (statuses[i] == BERTQA_OK) {
      CHECK_STATUS(BERTQA_OK, bertqa_embed(context, &texts[i], 1, NULL, one, LENGTH, NULL));
      CHECK(memcmp(all[i], one, sizeof one) == 0);
    } else {
      CHECK(memcmp(all[i], zeros, sizeof zeros) == 0);
    }
  }
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_embed(context, texts, COUNT, NULL, all[0], COUNT * LENGTH, NULL));
  CHECK(bertqa_last_error_item() == 1);
  const size_t wrong[] = {0, COUNT * LENGTH - 1, COUNT * LENGTH + 1, SIZE_MAX};
  for (int i = 0; i < 4; i++) {
    CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT,
                 bertqa_embed(context, texts, COUNT, NULL, all[0], wrong[i], statuses));
    CHECK(strcmp(bertqa_last_error_argument(), "embeddings_length") == 0);
    for (size_t j = 0; j < COUNT; j++) CHECK(statuses[j] == BERTQA_ERROR_INVALID_ARGUMENT);
  }
  bertqa_context_free(context);
}

int main(int argc, char **argv) {
  begin(argc, argv);
  test_answers();
  test_classifications();
  test_vectors();
  return finish();
}
