/* Counting the words of a text. */
#include "check.h"
#include "structs.h"

static bertqa_word_count_list *counted(const char *text, size_t length, const bertqa_word_counts_options *options) {
  bertqa_word_count_list *list = NULL;
  CHECK_STATUS(BERTQA_OK, bertqa_word_counts(text, length, options, &list));
  return list;
}

static int is_word(const bertqa_word_count_list *list, size_t index, const char *text, size_t count) {
  const bertqa_word_count *word = bertqa_word_count_list_get(list, index);
  return word != NULL && word->struct_size == sizeof *word && word->length == strlen(text) &&
         strcmp(word->text, text) == 0 && word->count == count;
}

static void test_counts(void) {
  static const char text[] = "The fox saw the F\0ox; a F\xc3\x96X, a f\xc3\xb6x. \xff\xc3";
  bertqa_word_count_list *list = counted(text, sizeof text - 1, NULL);
  CHECK(bertqa_word_count_list_count(list) == 4);
  CHECK(is_word(list, 0, "the", 2) && is_word(list, 1, "fox", 1) && is_word(list, 2, "saw", 1));
  CHECK(is_word(list, 3, "f\xc3\xb6x", 2));
  CHECK(bertqa_word_count_list_get(list, 4) == NULL && bertqa_word_count_list_get(list, SIZE_MAX) == NULL);
  bertqa_word_count_list_free(list);

  list = counted(NULL, 0, NULL);
  CHECK(bertqa_word_count_list_count(list) == 0 && bertqa_word_count_list_get(list, 0) == NULL);
  bertqa_word_count_list_free(list);
  bertqa_word_count_list_free(NULL);
  CHECK(bertqa_word_count_list_count(NULL) == 0 && bertqa_word_count_list_get(NULL, 0) == NULL);
}

static void test_options(void) {
  bertqa_word_counts_options options = BERTQA_WORD_COUNTS_OPTIONS_INIT;
  options.min_word_length = 1;
  options.max_ngram = 2;
  bertqa_word_count_list *list = counted("a b a b", 7, &options);
  CHECK(bertqa_word_count_list_count(list) == 4);
  CHECK(is_word(list, 0, "a", 2) && is_word(list, 2, "a b", 2) && is_word(list, 3, "b a", 1));
  bertqa_word_count_list_free(list);
  const struct {
    int32_t length, ngram;
    const char *argument;
  } wrong[] = {{-1, 0, "min_word_length"}, {256, 0, "min_word_length"}, {0, 3, "max_ngram"}, {0, -1, "max_ngram"}};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    options.min_word_length = wrong[i].length;
    options.max_ngram = wrong[i].ngram;
    CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, list, bertqa_word_counts("a", 1, &options, &list));
    CHECK(strcmp(bertqa_last_error_argument(), wrong[i].argument) == 0);
  }
  CHECK_STRUCT_SIZES(bertqa_word_counts_options, min_word_length, max_ngram, list,
                     bertqa_word_counts("a", 1, options, &list), bertqa_word_count_list_free);
}

static void test_refused(void) {
  bertqa_word_count_list *list;
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, list, bertqa_word_counts(NULL, 1, NULL, &list));
  CHECK_FAILS(BERTQA_ERROR_TOO_LARGE, list, bertqa_word_counts("a", SIZE_MAX, NULL, &list));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_word_counts("a", 1, NULL, NULL));
}

/* A classifier with the same options counts the same. */
static void test_classifier(void) {
  static const char text[] = "The striker scored twice in the second half, and the crowd sang.";
  bertqa_context_options options = BERTQA_CONTEXT_OPTIONS_INIT;
  options.default_model = BERTQA_TASK_CLASSIFY;
  bertqa_context *context = NULL;
  CHECK_STATUS(BERTQA_OK, bertqa_context_create(NULL, &options, &context));
  bertqa_classification *classification = NULL;
  CHECK_STATUS(BERTQA_OK, bertqa_classify(context, text, sizeof text - 1, NULL, &classification));
  bertqa_word_count_list *list = counted(text, sizeof text - 1, NULL);
  CHECK(bertqa_classification_summary(classification)->distinct_word_count == bertqa_word_count_list_count(list));
  bertqa_classification_free(classification);
  bertqa_context_free(context);
  CHECK(is_word(list, 0, "the", 3)); /* of the list alone */
  bertqa_word_count_list_free(list);
}

int main(int argc, char **argv) {
  begin(argc, argv);
  test_counts();
  test_options();
  test_refused();
  test_classifier();
  return finish();
}
