// The message of the last failed call, per thread.
#ifndef BERTQA_LAST_ERROR_H
#define BERTQA_LAST_ERROR_H

#include <stddef.h>

// The size in bytes, including the NUL.
#define BQ_ERROR_SIZE 1001
#define BQ_ARGUMENT_SIZE 64

// Stores the error, truncated to fit. item: SIZE_MAX for none.
void bq_set_last_error(const char *message, size_t length, const char *argument,
                       size_t argument_length, size_t item);

// Return "" and SIZE_MAX before the first failure. The strings live as long as the thread.
const char *bq_last_error(void);
const char *bq_last_error_argument(void);
size_t bq_last_error_item(void);

#endif
