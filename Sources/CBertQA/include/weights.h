// Computations on weights while a model is loaded.
#ifndef BERTQA_WEIGHTS_H
#define BERTQA_WEIGHTS_H

#include <stddef.h>
#include <stdint.h>

// Returns the index of the first infinity or NaN among `count` elements in a BQ_FORMAT_…; `count`
// if there is none. `elements` needs no alignment.
size_t bq_first_nonfinite(const void *elements, int32_t format, size_t count);

// sums[r] = scale[r] · Σ_k w[r][k]. linear_s8 uses it to account for the activations' offsets.
void bq_row_sums_s8(const int8_t *w, const float *scale, size_t rows, size_t columns, float *sums);

#endif
