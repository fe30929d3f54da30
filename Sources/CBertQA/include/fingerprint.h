// A hash of bytes. The saved states of recurrent models contain it to identify their model.
#ifndef BERTQA_FINGERPRINT_H
#define BERTQA_FINGERPRINT_H

#include <stddef.h>
#include <stdint.h>

// Returns a 64-bit non-cryptographic hash. It is equal for equal bytes and seeds on every machine,
// and differs whenever a single 8-byte word differs. `bytes` needs no alignment.
uint64_t bq_fingerprint(const void *bytes, size_t size, uint64_t seed);

#endif
