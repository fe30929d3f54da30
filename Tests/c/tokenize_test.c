/* Tokens, the vocabulary, and texts of every kind. */
#include "check.h"
#include "structs.h"

#include <limits.h>

static bertqa_context *context;

/* Tokens of a text with a length; checks what holds of all. */
static bertqa_tokens *tokens_of(const char *text, size_t length) {
  bertqa_tokens *tokens = NULL;
  CHECK_STATUS(BERTQA_OK, bertqa_tokenize(context, text, length, NULL, &tokens));
  size_t count = bertqa_tokens_count(tokens);
  const int32_t *ids = bertqa_tokens_ids(tokens);
  const bertqa_range *ranges = bertqa_tokens_ranges(tokens);
  CHECK((count == 0) == (ids == NULL) && (count == 0) == (ranges == NULL));
  for (size_t i = 0; i < count; i++) {
    CHECK(ranges[i].start < ranges[i].end && ranges[i].end <= length);
    CHECK(bertqa_context_vocabulary_piece(context, ids[i], NULL) != NULL);
  }
  return tokens;
}

/* Checks the pieces of a text, which `expected` separates with spaces. */
static void check_pieces(const char *text, size_t length, const char *expected) {
  char found[1024] = "";
  bertqa_tokens *tokens = tokens_of(text, length);
  for (size_t i = 0; i < bertqa_tokens_count(tokens); i++) {
    if (i > 0) strcat(found, " ");
    strcat(found, bertqa_context_vocabulary_piece(context, bertqa_tokens_ids(tokens)[i], NULL));
  }
  check(strcmp(found, expected) == 0, __FILE__, __LINE__, expected, found);
  bertqa_tokens_free(tokens);
}

static void test_texts(void) {
  check_pieces("The quick brown fox jumps.", 26, "the quick brown fox jumps .");
  check_pieces("", 0, "");
  check_pieces(NULL, 0, "");
  check_pieces(" \t\n\r ", 5, "");
  check_pieces("the fox", 3, "the"); /* no NUL is needed */
  check_pieces("t\0he\0 fox", 9, "the fox"); /* control characters are removed */
  check_pieces("f\xff\xfeox", 5, "fox"); /* invalid bytes read as U+FFFD, which is removed */
  check_pieces("[SEP]", 5, "[UNK] s ##e ##p [UNK]");
  check_pieces("Caf\xc3\xa9", 5, "c ##a ##f ##e");
  check_pieces("fo\xcc\x81x", 5, "fox"); /* a combining accent */

  bertqa_tokens *tokens = tokens_of("a \xf0\x9f\x98\x80 fox", 10);
  CHECK(bertqa_tokens_count(tokens) == 3);
  CHECK(bertqa_tokens_ranges(tokens)[1].start == 2 && bertqa_tokens_ranges(tokens)[1].end == 6);
  CHECK(bertqa_tokens_ranges(tokens)[2].start == 7 && bertqa_tokens_ranges(tokens)[2].end == 10);
  bertqa_tokens_free(tokens);

  char bytes[512]; /* every byte value, valid nowhere */
  for (int i = 0; i < 512; i++) bytes[i] = (char)(255 - i);
  bertqa_tokens_free(tokens_of(bytes, sizeof bytes));
}

static void test_special_tokens(void) {
  bertqa_tokenize_options options;
  bertqa_tokenize_options_init(&options, sizeof options);
  CHECK(options.struct_size == sizeof options && options.parse_special_tokens == 0);
  options.parse_special_tokens = 1;
  bertqa_tokens *tokens;
  CHECK_STATUS(BERTQA_OK, bertqa_tokenize(context, "the [SEP] fox", 13, &options, &tokens));
  CHECK(bertqa_tokens_count(tokens) == 3);
  CHECK(bertqa_tokens_ids(tokens)[1] == bertqa_context_vocabulary_id(context, "[SEP]", 5));
  CHECK(bertqa_tokens_ranges(tokens)[1].start == 4 && bertqa_tokens_ranges(tokens)[1].end == 9);
  bertqa_tokens_free(tokens);
}

static void test_vocabulary(void) {
  const int32_t size = (int32_t)bertqa_context_info(context)->vocabulary_size;
  for (int32_t id = 0; id < size; id++) {
    size_t length = 0;
    const char *piece = bertqa_context_vocabulary_piece(context, id, &length);
    CHECK(piece != NULL && strlen(piece) == length);
    CHECK(bertqa_context_vocabulary_piece(context, id, NULL) == piece);
    CHECK(bertqa_context_vocabulary_id(context, piece, length) == id);
  }
  const int32_t outside[] = {-1, size, INT32_MAX, INT32_MIN};
  for (int i = 0; i < 4; i++) CHECK(bertqa_context_vocabulary_piece(context, outside[i], NULL) == NULL);
  CHECK(strcmp(bertqa_context_vocabulary_piece(context, 1, NULL), "[UNK]") == 0);
  CHECK(bertqa_context_vocabulary_id(context, "zebra", 5) == -1);
  CHECK(bertqa_context_vocabulary_id(context, "", 0) == -1);
  CHECK(bertqa_context_vocabulary_id(context, NULL, 0) == -1);
  CHECK(bertqa_context_vocabulary_id(context, NULL, 3) == -1);
  CHECK(bertqa_context_vocabulary_id(context, (const char *)1, SIZE_MAX) == -1);
}

static void test_refused(void) {
  bertqa_tokens *tokens;
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT, bertqa_tokenize(context, "a", 1, NULL, NULL));
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, tokens, bertqa_tokenize(NULL, "a", 1, NULL, &tokens));
  CHECK_FAILS(BERTQA_ERROR_INVALID_ARGUMENT, tokens, bertqa_tokenize(context, NULL, 1, NULL, &tokens));
  const size_t lengths[] = {(size_t)BERTQA_MAX_TEXT_BYTES + 1, SIZE_MAX / 2 + 1, SIZE_MAX};
  for (int i = 0; i < 3; i++) { /* nothing is readable at 1 */
    CHECK_FAILS(BERTQA_ERROR_TOO_LARGE, tokens,
                bertqa_tokenize(context, (const char *)1, lengths[i], NULL, &tokens));
  }
  CHECK_STRUCT_SIZES(bertqa_tokenize_options, parse_special_tokens, reserved, tokens,
                     bertqa_tokenize(context, "the fox", 7, options, &tokens), bertqa_tokens_free);
}

static void test_outliving(void) {
  bertqa_context *other = tiny_context(1);
  bertqa_tokens *tokens;
  CHECK_STATUS(BERTQA_OK, bertqa_tokenize(other, "the fox", 7, NULL, &tokens));
  bertqa_context_free(other);
  CHECK(bertqa_tokens_count(tokens) == 2);
  CHECK(bertqa_tokens_ids(tokens)[0] == bertqa_context_vocabulary_id(context, "the", 3));
  CHECK(bertqa_tokens_ranges(tokens)[1].start == 4 && bertqa_tokens_ranges(tokens)[1].end == 7);
  bertqa_tokens_free(tokens);
}

static long polls, last_poll;

static int32_t cancel_behind(void *user) {
  (void)user;
  return ++polls > last_poll;
}

/* The last polls of a call come while the tokens are copied. */
static void test_cancelled_near_the_end(void) {
  const size_t count = 6000000;
  char *text = malloc(2 * count);
  for (size_t i = 0; i < count; i++) memcpy(text + 2 * i, "a ", 2);
  bertqa_call_options call = {.struct_size = sizeof call, .cancel = cancel_behind};
  bertqa_tokenize_options options = {.struct_size = sizeof options, .call = &call};
  long all = LONG_MAX;
  for (long n = 0; n < 8 && n <= all; n++) {
    polls = 0;
    last_poll = n == 0 ? LONG_MAX : all - n;
    bertqa_tokens *tokens = NULL;
    bertqa_status status = bertqa_tokenize(context, text, 2 * count, &options, &tokens);
    CHECK(status == BERTQA_OK || (n > 0 && status == BERTQA_ERROR_CANCELLED));
    CHECK((status == BERTQA_OK) == (tokens != NULL));
    if (n == 0) all = polls;
    bertqa_tokens_free(tokens);
  }
  free(text);
}

int main(int argc, char **argv) {
  begin(argc, argv);
  context = tiny_context(1);
  test_cancelled_near_the_end();
  test_texts();
  test_special_tokens();
  test_vocabulary();
  test_refused();
  test_outliving();
  bertqa_context_free(context);
  return finish();
}
