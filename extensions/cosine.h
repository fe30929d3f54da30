/* The cosine of two vectors in SQL. */
#ifndef BERTQA_COSINE_H
#define BERTQA_COSINE_H

#include <math.h>
#include <stddef.h>
#include <string.h>

/* Returns -1 to 1, exactly 1 for equal vectors; NaN for vectors of zeros, infinities or NaN. a, b: float[count], at any
 * address. */
static inline double vector_cosine(const void *a, const void *b, size_t count) {
  double product = 0, squares_a = 0, squares_b = 0;
  for (size_t i = 0; i < count; i++) {
    float x, y;
    memcpy(&x, (const char *)a + i * sizeof x, sizeof x);
    memcpy(&y, (const char *)b + i * sizeof y, sizeof y);
    product += (double)x * y;
    squares_a += (double)x * x;
    squares_b += (double)y * y;
  }
  /* The root of the product, which of equal vectors is a square; two roots would be rounded twice. */
  const double cosine = product / sqrt(squares_a * squares_b);
  return !isfinite(cosine) ? NAN : cosine > 1 ? 1 : cosine < -1 ? -1 : cosine;
}

#endif
