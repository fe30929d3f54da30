// What loading a model computes of its weights.
#ifndef BERTQA_WEIGHTS_H
#define BERTQA_WEIGHTS_H

#include <stddef.h>
#include <stdint.h>

// The index of the first infinity or NaN among `count` elements in a BQ_FORMAT_…; `count` if there
// is none. `elements` may be at any address.
size_t bq_first_nonfinite(const void *elements, int32_t format, size_t count);

// sums[r] = scale[r] · Σ_k w[r][k]: what linear_s8 needs to account for the activations' offsets.
void bq_row_sums_s8(const int8_t *w, const float *scale, size_t rows, size_t columns, float *sums);

#endif
