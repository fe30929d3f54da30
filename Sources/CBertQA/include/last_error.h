// What the last failed call of each thread had to say.
#ifndef BERTQA_LAST_ERROR_H
#define BERTQA_LAST_ERROR_H

#include <stddef.h>

// Bytes, with the NUL.
#define BQ_ERROR_SIZE 1001
#define BQ_ARGUMENT_SIZE 64

// Copies what fits. item: SIZE_MAX for none.
void bq_set_last_error(const char *message, size_t length, const char *argument,
                       size_t argument_length, size_t item);

// "" and SIZE_MAX before the first failure. They live as long as the thread.
const char *bq_last_error(void);
const char *bq_last_error_argument(void);
size_t bq_last_error_item(void);

#endif
