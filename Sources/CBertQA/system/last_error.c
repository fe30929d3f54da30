#include "last_error.h"

#include <stdint.h>
#include <string.h>

// Uses the compiler's thread-local storage: POSIX keys can run out, and a destructor may run too
// early.
static _Thread_local struct {
  char message[BQ_ERROR_SIZE];
  char argument[BQ_ARGUMENT_SIZE];
  size_t item_and_one;  // 0: no item
} last;

static void copy(char *target, size_t size, const char *text, size_t length) {
  if (length >= size) length = size - 1;
  if (length > 0) memcpy(target, text, length);
  target[length] = '\0';
}

void bq_set_last_error(const char *message, size_t length, const char *argument,
                       size_t argument_length, size_t item) {
  copy(last.message, sizeof last.message, message, length);
  copy(last.argument, sizeof last.argument, argument, argument_length);
  last.item_and_one = item + 1;
}

const char *bq_last_error(void) { return last.message; }

const char *bq_last_error_argument(void) { return last.argument; }

size_t bq_last_error_item(void) { return last.item_and_one - 1; }
