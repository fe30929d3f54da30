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
  CHECK(strcmp(bertqa_last_error(), "") == 0 && strcmp(bertqa_last_error_argument(), "") == 0);
  CHECK(bertqa_last_error_item() == SIZE_MAX);
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

/* One line of valid UTF-8 of at most 1000 bytes, whatever the path. */
static void check_line(const char *path, const char *part) {
  bertqa_context *context;
  bertqa_status status = bertqa_context_create(path, NULL, &context);
  CHECK(status != BERTQA_OK && context == NULL);
  const char *message = bertqa_last_error();
  const size_t length = strlen(message);
  CHECK(length > 0 && length <= 1000 && strstr(message, part) != NULL);
  size_t continuation = 0; /* bytes of the character that are still to come */
  for (size_t i = 0; i < length; i++) {
    const unsigned char byte = (unsigned char)message[i];
    CHECK(byte >= 0x20 && byte != 0x7f);
    if (continuation > 0) {
      CHECK((byte & 0xc0) == 0x80);
      continuation--;
    } else {
      CHECK((byte & 0xc0) != 0x80);
      continuation = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : byte >= 0xc0 ? 1 : 0;
    }
  }
  CHECK(continuation == 0);
}

static void test_message_form(void) {
  check_line("/none\nexistent\r\t\x1b[31m\x7f", "/none\\nexistent\\r\\t\\u{1B}[31m\\u{7F}");
  check_line("/\xe2\x80\xa8\xe2\x80\xae\xc2\x85", "/\\u{2028}\\u{202E}\\u{85}");
  check_line("/\xff\xfe", "UTF-8");
  for (size_t size = 900; size < 1100; size++) { /* every place where the message may have to be cut */
    char path[1200] = "/";
    while (strlen(path) < size) strcat(path, "\xe4\xb8\xad");
    check_line(path, "\xe4\xb8\xad");
  }
  char *huge = malloc(10000001);
  memset(huge, 'x', 10000000);
  huge[0] = '/', huge[10000000] = '\0';
  check_line(huge, "xxx...");
  CHECK(strlen(bertqa_last_error()) == 1000);
  free(huge);
}

static void *failing_thread(void *unused) {
  bertqa_context *context;
  CHECK(*bertqa_last_error() == '\0' && bertqa_last_error_item() == SIZE_MAX);
  CHECK_STATUS(BERTQA_ERROR_IO, bertqa_context_create("/nonexistent/keys", NULL, &context));
  CHECK(strstr(bertqa_last_error(), "/nonexistent/keys") != NULL);
  return unused;
}

/* A host that has used up all keys of thread-specific data. */
static void test_without_keys(void) {
  enum { MOST = 4096 };
  static pthread_key_t keys[MOST];
  int count = 0;
  while (count < MOST && pthread_key_create(&keys[count], NULL) == 0) count++;
  CHECK(count < MOST);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, failing_thread, NULL) == 0);
  pthread_join(thread, NULL);
  for (int i = 0; i < count; i++) pthread_key_delete(keys[i]);
}

static void test_names(void) {
  static const char *const precisions[] = {"auto", "f32", "bf16", "int8"};
  static const char *const sets[] = {
      "auto",      "portable", "avx2",         "avx512",         "avx512_vnni", "avx512_vnni_bf16",
      "avx2_vnni", "neon",     "neon_dotprod", "neon_i8mm_bf16", "avx512_amx"};
  static const char *const tasks[] = {"unknown", "answer", "classify", "embed", "predict", "entities"};
  for (int32_t i = 0; i <= BERTQA_PRECISION_INT8; i++) CHECK(strcmp(bertqa_precision_name(i), precisions[i]) == 0);
  for (int32_t i = 0; i <= BERTQA_ISA_AVX512_AMX; i++) CHECK(strcmp(bertqa_isa_name(i), sets[i]) == 0);
  for (int32_t i = 0; i <= BERTQA_TASK_ENTITIES; i++) CHECK(strcmp(bertqa_task_name(i), tasks[i]) == 0);
  const int32_t others[] = {-1, 99, INT32_MAX, INT32_MIN};
  for (int i = 0; i < 4; i++) {
    CHECK(strcmp(bertqa_precision_name(others[i]), "unknown") == 0 && strcmp(bertqa_isa_name(others[i]), "unknown") == 0);
    CHECK(strcmp(bertqa_task_name(others[i]), "unknown") == 0);
  }
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
  CHECK(bertqa_context_label_get(NULL, 0, &length) == NULL && length == 0);
  CHECK(bertqa_labeler_label_count(NULL) == 0);
  CHECK(bertqa_labeler_label_get(NULL, 0, &length) == NULL);
  CHECK(bertqa_classification_summary(NULL) == NULL && bertqa_classification_count(NULL) == 0);
  CHECK(bertqa_classification_contribution_count(NULL) == 0);
  CHECK(bertqa_classification_contribution_get(NULL, 0) == NULL);
}

/* A call that fails because of one of its arguments. */
#define ABOUT(status, argument, call)                           \
  do {                                                          \
    CHECK_STATUS(status, call);                                 \
    CHECK(strcmp(bertqa_last_error_argument(), argument) == 0); \
  } while (0)

static void test_arguments_are_the_headers(void) {
  const bertqa_status invalid = BERTQA_ERROR_INVALID_ARGUMENT, large = BERTQA_ERROR_TOO_LARGE;
  bertqa_context *context = tiny_context(1), *none;
  int32_t ids[] = {2, 1000000};
  const size_t lengths[] = {1, 1}, wrong[] = {1, 2};
  float start[2], end[2];
  ABOUT(invalid, "window_lengths",
        bertqa_logits(context, ids, 2, wrong, NULL, 2, NULL, start, end));
  ABOUT(invalid, "window_lengths",
        bertqa_logits(context, ids, 2, lengths, NULL, 1, NULL, start, end));
  ABOUT(invalid, "second_segments",
        bertqa_logits(context, ids, 2, lengths, wrong, 2, NULL, start, end));
  ABOUT(invalid, "ids", bertqa_logits(context, ids, 2, lengths, NULL, 2, NULL, start, end));
  ABOUT(large, "id_count",
        bertqa_logits(context, ids, SIZE_MAX, lengths, NULL, 2, NULL, start, end));
  ABOUT(large, "window_count",
        bertqa_logits(context, ids, 2, lengths, NULL, SIZE_MAX, NULL, start, end));
  bertqa_pattern patterns;
  int32_t is_right;
  ABOUT(invalid, "names", bertqa_patterns_named("mail", 4, &patterns));
  ABOUT(invalid, "name", bertqa_checksum("sum", 3, "1", 1, &is_right));
  const bertqa_labelled_range range = {.bytes = {0, 3}, .label = "A", .label_length = 1};
  bertqa_entity_list *list = NULL;
  CHECK_STATUS(BERTQA_OK, bertqa_entity_list_create("Ann", 3, &range, 1, NULL, &list));
  char output[8];
  size_t needed;
  ABOUT(invalid, "lists",
        bertqa_redact("An", 2, (const bertqa_entity_list *[]){list}, 1, NULL, output, sizeof output,
                      &needed));
  bertqa_entity_list_free(list);
  bertqa_search *search = NULL;
  bertqa_answers *answers;
  CHECK_STATUS(BERTQA_OK, bertqa_search_create(NULL, "who", 3, NULL, 0, NULL, &search));
  ABOUT(invalid, "passages", bertqa_search_answer(search, context, NULL, 0, NULL, &answers));
  bertqa_search_free(search);
  ABOUT(invalid, "directory_fd", bertqa_context_create_at(1000000, "model", NULL, &none));
  bertqa_context_free(context);
}

int main(int argc, char **argv) {
  begin(argc, argv);
  test_last_error(); /* first: no call has failed yet */
  test_versions();
  test_status_names();
  test_names();
  test_message_form();
  test_without_keys();
  test_null_handles();
  test_arguments_are_the_headers();
  return finish();
}
