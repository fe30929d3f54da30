// The sizes of the attention kernels' scratch memory and results.
#include "kernels.h"

// Scores of two blocks of queries, with room for the last group of keys: 8, or 32 at half the
// width.
size_t bq_attention_scratch(size_t keys) { return (keys + 16) * 2 * BQ_LANES; }

// The scores; two blocks of queries, a byte per key and at most two per value, in whole blocks, as
// the keys may begin and end inside one; and two numbers per feature.
size_t bq_attention_s8_scratch(size_t keys, size_t head_dim) {
  return bq_attention_scratch(keys) + 2 * head_dim +
         (3 * (keys + 2 * BQ_LANES) + 2 * BQ_LANES) * head_dim / sizeof(float);
}

// A block of keys and one of queries have 31 distances.
size_t bq_relative_width(const bq_attention *a) {
  const size_t blocks = (a->query_end + BQ_LANES - 1) / BQ_LANES - a->query_begin / BQ_LANES;
  return (blocks + 1) * BQ_LANES;
}
