// What loading a model asks of its weights, as fast as memory gives them.
#ifndef BERTQA_WEIGHTS_H
#define BERTQA_WEIGHTS_H

#include <stddef.h>
#include <stdint.h>

// The index of the first infinity or NaN among `count` elements in a BQ_FORMAT_…; `count` if there is
// none. Any address.
size_t bq_first_nonfinite(const void *elements, int32_t format, size_t count);

// A 64-bit number that tells contents apart (not for secrets): equal for equal bytes and seeds on every
// machine, and different whenever a single 8-byte word differs. Any address.
uint64_t bq_fingerprint(const void *bytes, size_t size, uint64_t seed);

#endif
