/* Logits of windows that the caller built. */
#include "check.h"

enum { TOKENS = 60 };
static bertqa_context *context;
static int32_t ids[TOKENS];

static void test_windows(void) {
  /* Each window's logits are independent of its neighbours. */
  const size_t lengths[] = {5, 40, 1, 14}, seconds[] = {2, 11, 1, 0};
  float start[TOKENS], end[TOKENS], alone_start[TOKENS], alone_end[TOKENS];
  CHECK_STATUS(BERTQA_OK, bertqa_logits(context, ids, TOKENS, lengths, seconds, 4, NULL, start, end));
  size_t first = 0;
  for (int i = 0; i < 4; i++) {
    CHECK_STATUS(BERTQA_OK, bertqa_logits(context, ids + first, lengths[i], &lengths[i], &seconds[i], 1,
                                          NULL, alone_start, alone_end));
    CHECK(memcmp(alone_start, start + first, lengths[i] * sizeof(float)) == 0);
    CHECK(memcmp(alone_end, end + first, lengths[i] * sizeof(float)) == 0);
    first += lengths[i];
  }
  for (int i = 0; i < TOKENS; i++) CHECK(isfinite(start[i]) && isfinite(end[i]));

  /* NULL: no token of type 1, which is a second segment at the end. */
  CHECK_STATUS(BERTQA_OK, bertqa_logits(context, ids, TOKENS, lengths, NULL, 4, NULL, alone_start, alone_end));
  CHECK(memcmp(alone_start, start, sizeof start) != 0);
  CHECK_STATUS(BERTQA_OK, bertqa_logits(context, ids, TOKENS, lengths, lengths, 4, NULL, start, end));
  CHECK(memcmp(alone_start, start, sizeof start) == 0 && memcmp(alone_end, end, sizeof end) == 0);

  CHECK_STATUS(BERTQA_OK, bertqa_logits(context, NULL, 0, NULL, NULL, 0, NULL, NULL, NULL));
}

static void test_refused(void) {
  const bertqa_status invalid = BERTQA_ERROR_INVALID_ARGUMENT, large = BERTQA_ERROR_TOO_LARGE;
  const size_t length = TOKENS, second = 3;
  float start[TOKENS], end[TOKENS];
  CHECK_STATUS(invalid, bertqa_logits(NULL, ids, TOKENS, &length, &second, 1, NULL, start, end));
  CHECK_STATUS(invalid, bertqa_logits(context, NULL, TOKENS, &length, &second, 1, NULL, start, end));
  CHECK_STATUS(invalid, bertqa_logits(context, ids, TOKENS, NULL, &second, 1, NULL, start, end));
  CHECK_STATUS(invalid, bertqa_logits(context, ids, TOKENS, &length, &second, 1, NULL, NULL, end));
  CHECK_STATUS(invalid, bertqa_logits(context, ids, TOKENS, &length, &second, 1, NULL, start, NULL));

  const size_t wrong[][2] = {{0, TOKENS}, {TOKENS - 1, 0}, {TOKENS, 1}, {SIZE_MAX, TOKENS + 1}, {20, 20}};
  for (int i = 0; i < 5; i++)
    CHECK_STATUS(invalid, bertqa_logits(context, ids, TOKENS, wrong[i], NULL, 2, NULL, start, end));
  const size_t long_window = 129; /* positions + 1 */
  int32_t many[129] = {0};
  float many_start[129], many_end[129];
  CHECK_STATUS(invalid, bertqa_logits(context, many, 129, &long_window, NULL, 1, NULL, many_start, many_end));
  CHECK_STATUS(invalid, bertqa_logits(context, ids, TOKENS, NULL, NULL, 0, NULL, start, end));

  const size_t behind[] = {TOKENS + 1, SIZE_MAX};
  for (int i = 0; i < 2; i++)
    CHECK_STATUS(invalid, bertqa_logits(context, ids, TOKENS, &length, &behind[i], 1, NULL, start, end));
  const int32_t outside[] = {-1, (int32_t)bertqa_context_info(context)->vocabulary_size, INT32_MAX, INT32_MIN};
  for (int i = 0; i < 4; i++) {
    int32_t other[TOKENS];
    memcpy(other, ids, sizeof ids);
    other[TOKENS - 1] = outside[i];
    CHECK_STATUS(invalid, bertqa_logits(context, other, TOKENS, &length, &second, 1, NULL, start, end));
    CHECK(strstr(bertqa_last_error(), "59") != NULL); /* which one */
  }

  CHECK_STATUS(large, bertqa_logits(context, (const int32_t *)4, SIZE_MAX, &length, NULL, 1, NULL, start, end));
  CHECK_STATUS(large, bertqa_logits(context, ids, TOKENS, (const size_t *)8, NULL, SIZE_MAX, NULL, start, end));
}

int main(int argc, char **argv) {
  begin(argc, argv);
  context = tiny_context(2);
  for (int i = 0; i < TOKENS; i++) ids[i] = (i * 37 + 2) % (int32_t)bertqa_context_info(context)->vocabulary_size;
  test_windows();
  test_refused();
  bertqa_context_free(context);
  return finish();
}
