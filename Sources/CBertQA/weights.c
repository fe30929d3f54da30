#include "weights.h"

#include <string.h>

#include "kernels.h"

// An exponent of all ones marks infinities and NaN in every format.
#define BQ_FIRST_NONFINITE(type, mask)                                     \
  for (size_t i = 0; i < count; i += STEP) {                               \
    type part[STEP] = {0};                                                 \
    const size_t n = count - i < STEP ? count - i : STEP;                  \
    memcpy(part, (const char *)elements + i * sizeof(type), n * sizeof(type)); \
    int found = 0;                                                         \
    for (int j = 0; j < STEP; j++) found |= (part[j] & (mask)) == (mask);  \
    for (size_t j = 0; found && j < n; j++)                                \
      if ((part[j] & (mask)) == (mask)) return i + j;                      \
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

// The finalizer of SplitMix64: a bijection that spreads every bit.
static uint64_t mixed(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

static uint64_t word(const unsigned char *p, size_t n) {
  uint64_t value = 0;
  memcpy(&value, p, n);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  value = __builtin_bswap64(value);
#endif
  return value;
}

// One step of a chain; it can be undone, so one word that differs makes the chain differ to its end.
// The shift brings down the upper bits, which a product never does.
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
