#include "weights.h"

#include <string.h>

#include "kernels.h"

// In every format, a number is infinite or NaN if its exponent bits, `mask`, are all ones.
#define BQ_FIRST_NONFINITE(type, mask)                                         \
  for (size_t i = 0; i < count; i += STEP) {                                   \
    type part[STEP] = {0};                                                     \
    const size_t n = count - i < STEP ? count - i : STEP;                      \
    memcpy(part, (const char *)elements + i * sizeof(type), n * sizeof(type)); \
    int found = 0;                                                             \
    for (int j = 0; j < STEP; j++) found |= (part[j] & (mask)) == (mask);      \
    for (size_t j = 0; found && j < n; j++)                                    \
      if ((part[j] & (mask)) == (mask)) return i + j;                          \
  }

size_t bq_first_nonfinite(const void *elements, int32_t format, size_t count) {
  enum { STEP = 256 };
  if (format == BQ_FORMAT_F16) {
    BQ_FIRST_NONFINITE(uint16_t, 0x7C00)
  } else if (format == BQ_FORMAT_BF16) {
    BQ_FIRST_NONFINITE(uint16_t, 0x7F80)
  } else {
    BQ_FIRST_NONFINITE(uint32_t, 0x7F800000)
  }
  return count;
}

void bq_row_sums_s8(const int8_t *w, const float *scale, size_t rows, size_t columns, float *sums) {
  for (size_t r = 0; r < rows; r++) {
    int32_t sum = 0;
    for (size_t k = 0; k < columns; k++) sum += w[r * columns + k];
    sums[r] = scale[r] * (float)sum;
  }
}
