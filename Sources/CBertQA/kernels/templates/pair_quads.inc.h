// Template: products of bytes for s8_attention.inc.h by vpmaddubsw, for instruction sets without VNNI. The instruction
// adds two products in 16 bits, with saturation. The unsigned bytes may be 255, so signed bytes of one sign that meet
// in 16 bits may add up to at most 128: 255 · 128 < 2^15. The steps of values and queries ensure that. The including
// file includes s8_kernels.inc.h before it, and also defines
//   v_swap_neighbors  the lanes 1, 0, 3, 2, …

// Adds the products of the four bytes in each lane.
INLINE VI v_dot(VI sum, VI u8, VI s8) {
  return sum + vi_multiply_add(vi_byte_pairs(u8, s8), vi_splat(0x00010001));
}

// The same for two steps of four bytes. The sums of both in 16 bits take one multiplication less.
INLINE VI v_dot_twice(VI sum, VI u8, VI s8, VI next_u8, VI next_s8) {
  const VI pairs = vi_add16(vi_byte_pairs(u8, s8), vi_byte_pairs(next_u8, next_s8));
  return sum + vi_multiply_add(pairs, vi_splat(0x00010001));
}

// Returns the greater of the sums of either sign, from the sums of sizes and of numbers.
INLINE V one_sign(V sizes, V sum) { return (sizes + v_abs(sum)) * v_splat(0.5f); }

// Returns the least magnitude of 127 steps for which two neighboring values, rounded, add up to at most 128: one step
// for the rounding of both.
INLINE V pair_size(V values) {
  const V sizes = v_abs(values);
  return one_sign(sizes + v_swap_neighbors(sizes), values + v_swap_neighbors(values));
}

// The same for a vector of queries, of which v_dot_twice adds four features: 126 steps, and two for the rounding.
INLINE V quads_size(const float *q, size_t head_dim) {
  V most = v_splat(0);
  for (size_t begin = 0; begin < head_dim; begin += 8)
    BQ_UNROLL_FOR (size_t i = 0; i < 4; i += 2) {
      V sizes = v_splat(0), sum = sizes;
      for (size_t d = begin + i; d < begin + 8 && d < head_dim; d += 4) {
        const V a = v_load(q + d * BQ_LANES), b = v_load(q + (d + 1) * BQ_LANES);
        sizes += v_abs(a) + v_abs(b), sum += a + b;
      }
      most = v_max(most, one_sign(sizes, sum));
    }
  return most * v_splat(127.0f / 126);
}
