/* Versions, status names, the last error of each thread, and what *_free and accessors do with NULL. */
#include "check.h"

static void test_versions(void) {
  char expected[32];
  snprintf(expected, sizeof expected, "%d.%d.%d", BERTQA_VERSION_MAJOR, BERTQA_VERSION_MINOR,
           BERTQA_VERSION_PATCH);
  CHECK(strcmp(bertqa_version(), expected) == 0);
  CHECK(bertqa_abi_version() == BERTQA_ABI_VERSION);
}

static void test_status_names(void) {
  static const char *const names[] = {
      "BERTQA_OK",
      "BERTQA_ERROR_INVALID_ARGUMENT",
      "BERTQA_ERROR_IO",
      "BERTQA_ERROR_INVALID_MODEL",
      "BERTQA_ERROR_UNSUPPORTED",
      "BERTQA_ERROR_WRONG_MODEL",
      "BERTQA_ERROR_OUT_OF_MEMORY",
      "BERTQA_ERROR_CANCELLED",
      "BERTQA_ERROR_TOO_LARGE",
      "BERTQA_ERROR_INTERNAL",
      "BERTQA_ERROR_DEADLINE_EXCEEDED",
  };
  for (int32_t i = 0; i < 11; i++) CHECK(strcmp(bertqa_status_name(i), names[i]) == 0);
  CHECK(strcmp(bertqa_status_name(11), "unknown status") == 0);
  CHECK(strcmp(bertqa_status_name(-1), "unknown status") == 0);
  CHECK(strcmp(bertqa_status_name(INT32_MAX), "unknown status") == 0);
  CHECK(strcmp(bertqa_status_name(INT32_MIN), "unknown status") == 0);
}

static void *other_thread(void *out) {
  CHECK(*bertqa_last_error() == '\0');
  bertqa_context *context;
  CHECK_STATUS(BERTQA_ERROR_IO, bertqa_context_create("/nonexistent/other", NULL, &context));
  CHECK(strstr(bertqa_last_error(), "/nonexistent/other") != NULL);
  *(int *)out = 1;
  return NULL;
}

static void test_last_error(void) {
  CHECK(strcmp(bertqa_last_error(), "") == 0);
  bertqa_context *context;
  CHECK_STATUS(BERTQA_ERROR_IO, bertqa_context_create("/nonexistent/mine", NULL, &context));
  CHECK(strstr(bertqa_last_error(), "/nonexistent/mine") != NULL);

  pthread_t thread;
  int ran = 0;
  CHECK(pthread_create(&thread, NULL, other_thread, &ran) == 0);
  pthread_join(thread, NULL);
  CHECK(ran);
  CHECK(strstr(bertqa_last_error(), "/nonexistent/mine") != NULL);
}

static void test_null_handles(void) {
  bertqa_context_free(NULL);
  bertqa_tokens_free(NULL);
  bertqa_document_free(NULL);
  bertqa_answers_free(NULL);
  CHECK(bertqa_context_info(NULL) == NULL);
  CHECK(bertqa_tokens_count(NULL) == 0);
  CHECK(bertqa_tokens_ids(NULL) == NULL);
  CHECK(bertqa_tokens_ranges(NULL) == NULL);
  CHECK(bertqa_answers_count(NULL) == 0);
  CHECK(bertqa_answers_get(NULL, 0) == NULL);
  CHECK(bertqa_answers_summary(NULL) == NULL);
  size_t length = 7;
  CHECK(bertqa_context_vocabulary_piece(NULL, 0, &length) == NULL);
  CHECK(bertqa_context_vocabulary_piece(NULL, 0, NULL) == NULL);
  CHECK(bertqa_context_vocabulary_id(NULL, "the", 3) == -1);
}

int main(int argc, char **argv) {
  begin(argc, argv);
  test_last_error(); /* first: no call has failed yet */
  test_versions();
  test_status_names();
  test_null_handles();
  return finish();
}
