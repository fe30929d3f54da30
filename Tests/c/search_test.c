/* Searches of a collection: their arguments and errors. */
#include "check.h"
#include "structs.h"

enum { LENGTH = 16 }; /* of the tiny model's vectors */

static bertqa_context *context;
static char fingerprint[4 + LENGTH];
static size_t fingerprint_length;

static bertqa_search *new_search(const char *question) {
  bertqa_search *search = NULL;
  CHECK_STATUS(BERTQA_OK, bertqa_search_create(context, question, strlen(question), fingerprint,
                                               fingerprint_length, NULL, &search));
  return search;
}

static void test_fingerprints(void) {
  CHECK_STATUS(BERTQA_OK, bertqa_vectors_fingerprint(context, NULL, fingerprint, sizeof fingerprint,
                                                     &fingerprint_length));
  CHECK(fingerprint_length == sizeof fingerprint);
  size_t needed = 0;
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT,
               bertqa_vectors_fingerprint(context, NULL, NULL, 0, &needed));
  CHECK(needed == sizeof fingerprint);
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT,
               bertqa_vectors_fingerprint(context, NULL, fingerprint, 4, NULL));
  bertqa_search *search;
  CHECK_FAILS(BERTQA_ERROR_WRONG_MODEL, search,
              bertqa_search_create(context, "a", 1, fingerprint, 4, NULL, &search));
  char other[sizeof fingerprint];
  memcpy(other, fingerprint, sizeof other);
  for (size_t i = 4; i < sizeof other; i++) other[i] = (char)-other[i];
  CHECK_FAILS(BERTQA_ERROR_WRONG_MODEL, search,
              bertqa_search_create(context, "a", 1, other, sizeof other, NULL, &search));
  CHECK(strstr(bertqa_last_error(), "another model") != NULL);
  bertqa_context *answering = tiny_context(1);
  CHECK_FAILS(
      BERTQA_ERROR_WRONG_MODEL, search,
      bertqa_search_create(answering, "a", 1, fingerprint, sizeof fingerprint, NULL, &search));
  bertqa_context_free(answering);
}

static void test_vectors(void) {
  float vectors[2 * LENGTH] = {1, -1, 0.5f}, scales[2];
  int8_t rows[2 * LENGTH];
  CHECK_STATUS(BERTQA_OK, bertqa_vectors_quantize(vectors, 2, LENGTH, rows, scales));
  CHECK(fabsf(scales[0] * rows[0] - 1) < 0.01f && fabsf(scales[0] * rows[2] - 0.5f) < 0.01f);
  CHECK(rows[1] == -rows[0] && scales[1] == 0 && rows[LENGTH] == 0);
  CHECK_STATUS(BERTQA_OK, bertqa_vectors_quantize(NULL, 0, LENGTH, NULL, NULL));
  CHECK_STATUS(BERTQA_ERROR_UNSUPPORTED, bertqa_vectors_quantize(vectors, 1, 6, rows, scales));
  CHECK_STATUS(BERTQA_ERROR_UNSUPPORTED, bertqa_vectors_quantize(vectors, 1, 0, rows, scales));
  CHECK_STATUS(BERTQA_ERROR_TOO_LARGE, bertqa_vectors_quantize(vectors, 1, SIZE_MAX, rows, scales));
  CHECK_STATUS(BERTQA_ERROR_TOO_LARGE, bertqa_vectors_quantize(vectors, SIZE_MAX, LENGTH, rows, scales));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_vectors_quantize(NULL, 1, LENGTH, rows, scales));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_vectors_quantize(vectors, 1, LENGTH, rows, NULL));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT,
               bertqa_vectors_quantize(vectors, 1, LENGTH, NULL, scales));
  vectors[3] = INFINITY;
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT,
               bertqa_vectors_quantize(vectors, 1, LENGTH, rows, scales));
}

static void test_search(void) {
  static const char question[] = "Who? \"the\" DOG* barks";
  bertqa_search *search = new_search(question);
  CHECK(strcmp(bertqa_search_query(search), "\"DOG\" OR \"barks\"") == 0);
  int8_t rows[2 * LENGTH] = {1};
  const float scales[2] = {1, 1};
  int64_t ids[4];
  double scores[4];
  const int64_t passages[] = {1, 1, 2};
  const int32_t words[] = {0, 1, 1};
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT,
               bertqa_search_add_vectors(search, 1, 2, rows, LENGTH, scales));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT,
               bertqa_search_add_vectors(search, 1, 2, NULL, 2 * LENGTH, scales));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT,
               bertqa_search_add_vectors(NULL, 1, 2, rows, 2 * LENGTH, scales));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT,
               bertqa_search_add_vectors(search, INT64_MAX, 2, rows, 2 * LENGTH, scales));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_search_allow(search, 2, 1));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_search_set_words(search, NULL, words, NULL, 1));
  scores[0] = NAN;
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT,
               bertqa_search_set_words(search, passages, words, scores, 1));
  CHECK(bertqa_search_best(search, 4, ids, scores) == 0 &&
        bertqa_search_best(NULL, 4, ids, scores) == 0);
  CHECK_STATUS(BERTQA_OK, bertqa_search_set_words(search, passages, words, NULL, 3));
  CHECK_STATUS(BERTQA_OK, bertqa_search_allow(search, 1, 1));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_search_allow(search, 1, 5));
  CHECK_STATUS(BERTQA_OK, bertqa_search_add_vectors(search, 1, 2, rows, 2 * LENGTH, scales));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT,
               bertqa_search_add_vectors(search, 2, 1, rows, LENGTH, scales));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_search_set_words(search, passages, words, NULL, 3));
  CHECK(bertqa_search_best(search, 4, ids, scores) == 1 && ids[0] == 1);
  /* It has both words, and the vector of the first axis. */
  const bertqa_text_pair asked = {question, sizeof question - 1, NULL, 0};
  float vector[LENGTH];
  CHECK_STATUS(BERTQA_OK, bertqa_embed(context, &asked, 1, NULL, vector, LENGTH, NULL));
  CHECK(fabs(scores[0] - bertqa_search_score(vector[0], 1)) < 0.01);
  CHECK(bertqa_search_score(1, 1) == 1 && bertqa_search_score(0, 0) == 0);
  CHECK(bertqa_search_score(0.5, 0.9) > bertqa_search_score(0.5, 0.8) &&
        bertqa_search_score(0.6, 0.8) > bertqa_search_score(0.5, 0.8));
  const bertqa_text texts[] = {{"the dog", 7}, {"a dog", 5}, {"the fox", 7}};
  bertqa_context *answering = tiny_context(1);
  bertqa_answers *answers;
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, answers,
              bertqa_search_answer(search, answering, texts, 3, NULL, &answers));
  CHECK_STATUS(BERTQA_OK, bertqa_search_answer(search, answering, texts, 1, NULL, &answers));
  bertqa_answers_free(answers);
  bertqa_context_free(answering);
  bertqa_search_free(search);
  CHECK_STATUS(BERTQA_OK, bertqa_search_create(NULL, NULL, 0, NULL, 0, NULL, &search));
  CHECK(strcmp(bertqa_search_query(search), "\"\"") == 0);
  CHECK_STATUS(BERTQA_ERROR_WRONG_MODEL,
               bertqa_search_add_vectors(search, 1, 1, rows, LENGTH, scales));
  bertqa_search_free(search);
  bertqa_search_free(NULL);
}

static void test_passages(void) {
  bertqa_passages *passages;
  CHECK_STATUS(BERTQA_OK, bertqa_passages_create(context, NULL, 0, NULL, &passages));
  CHECK(bertqa_passages_count(passages) == 0 && bertqa_passages_ranges(passages) == NULL);
  bertqa_passages_free(passages);
  char *text = made_document(5, 2000);
  const size_t length = strlen(text);
  CHECK_STATUS(BERTQA_OK, bertqa_passages_create(context, text, length, NULL, &passages));
  const size_t count = bertqa_passages_count(passages);
  const bertqa_range *ranges = bertqa_passages_ranges(passages);
  CHECK(count > 10 && ranges[0].start == 0 && ranges[count - 1].end <= length);
  for (size_t i = 1; i < count; i++) {
    CHECK(ranges[i].start > ranges[i - 1].start && ranges[i].end > ranges[i - 1].end);
    CHECK(ranges[i].start <= ranges[i - 1].end + 2);
  }
  bertqa_passages_free(passages);
  bertqa_passages_free(NULL);
  free(text);
}

int main(int argc, char **argv) {
  begin(argc, argv);
  context = fixture_context("tiny-bert-embedder", 2);
  test_fingerprints();
  test_vectors();
  test_search();
  test_passages();
  for (int i = 0; i <= BERTQA_COLLECTION_CHECK; i++)
    CHECK(bertqa_collection_sql(i) != NULL);
  CHECK(bertqa_collection_sql(-1) == NULL && bertqa_collection_sql(100) == NULL);
  bertqa_context_free(context);
  return finish();
}
