#include "fingerprint.h"

#include <string.h>

// The finalizer of SplitMix64: a bijection that spreads every bit.
static uint64_t mixed(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

// Returns the first n ≤ 8 bytes as a little-endian number.
static uint64_t word(const unsigned char *p, size_t n) {
  uint64_t value = 0;
  memcpy(&value, p, n);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  value = __builtin_bswap64(value);
#endif
  return value;
}

// One step of a chain. It is a bijection of the chain for a fixed word, and of the word for a fixed
// chain, so a single differing word makes all later states differ. The shift mixes the upper bits
// into the lower ones; a product alone does not.
static uint64_t step(uint64_t chain, uint64_t word) {
  const uint64_t product = (chain ^ word) * 0x9E3779B97F4A7C15u;
  return product ^ product >> 32;
}

uint64_t bq_fingerprint(const void *bytes, size_t size, uint64_t seed) {
  enum { CHAINS = 4 };
  const unsigned char *p = bytes;
  uint64_t chain[CHAINS];
  for (int c = 0; c < CHAINS; c++) chain[c] = mixed(seed + (uint64_t)c);
  size_t at = 0;
  for (; size - at >= 8 * CHAINS; at += 8 * CHAINS)
    for (size_t c = 0; c < CHAINS; c++) chain[c] = step(chain[c], word(p + at + 8 * c, 8));
  for (size_t c = 0; at < size; at += 8, c++)
    chain[c] = step(chain[c], word(p + at, size - at < 8 ? size - at : 8));
  uint64_t hash = mixed(seed ^ (uint64_t)size);
  for (int c = 0; c < CHAINS; c++) hash = mixed(hash ^ chain[c]) + 0x9E3779B97F4A7C15u;
  return mixed(hash);
}
