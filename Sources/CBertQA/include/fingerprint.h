// A hash of bytes, which recurrent models' saved states hold to recognise the model they belong to.
#ifndef BERTQA_FINGERPRINT_H
#define BERTQA_FINGERPRINT_H

#include <stddef.h>
#include <stdint.h>

// A 64-bit hash that is not cryptographic: equal for equal bytes and seeds on every machine, and
// different whenever a single 8-byte word differs. `bytes` may be at any address.
uint64_t bq_fingerprint(const void *bytes, size_t size, uint64_t seed);

#endif
