// Template: attention biases from relative positions as in DeBERTa (He et al. 2020,
// https://arxiv.org/abs/2006.03654). The including file includes f32_kernels.inc.h before it and
// defines only
//   vi_load, vi_splat  VL int32s at any address; the vector of one int32
//
// The distance of query i from key j is i - j. A block of queries and a block of keys have 31
// distances: with the block numbers B and K, those from 16 · (B - K) - 15. They lie in two blocks
// of the table, B - K - 1 and B - K.

// The number of keys of a tile; a divisor of the keys of a block.
enum { DISTANCE_ROWS = KEY_ROWS == 8 ? 8 : 4 };

// Computes the products of `rows` keys from `key` with one or two blocks of distances.
INLINE void relative_tile_f32(const int rows, const int blocks, const bq_attention *a,
                              const float *k, const float *positions, size_t position_stride,
                              float *y, size_t width) {
  V acc[DISTANCE_ROWS][TILE_VECS];
  CLEAR_TILE(acc, v_splat(0));
  dot_tile(rows, blocks, k, 1, BQ_LANES, positions, BQ_LANES, position_stride, a->head_dim, 0, acc);
  BQ_UNROLL_FOR (int r = 0; r < rows; r++)
    BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++) v_store(y + r * width + v * VL, acc[r][v]);
}

KERNEL void SUFFIXED(relative_keys_f32)(const bq_attention *a, const float *k,
                                        const float *positions, size_t position_stride, float *y) {
  const bq_attention call = *a;  // a copy that no store can change
  const size_t width = bq_relative_width(a);
#define BQ_TILE(rows, blocks, key, block)                               \
  relative_tile_f32(rows, blocks, &call, token_at(k, key, call.stride), \
                    positions + (block) * (ptrdiff_t)position_stride, position_stride, to_, width)
  BQ_FOR_DISTANCES(call, width, DISTANCE_ROWS, BQ_TILE);
#undef BQ_TILE
}

// Selects lanes of b whose number within the vector has this bit set, and otherwise lanes of a.
INLINE V select_lanes(const int bit, V a, V b) {
  static const int32_t lanes[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const VI second = (VI)((vi_load(lanes) & vi_splat(bit)) != vi_splat(0));
  return (V)((~second & (VI)a) | (second & (VI)b));
}

// Computes one vector of queries with VL keys from `key`. Lane l of key t needs row l - t, counted
// from that of the first lane and the first key: VL steps of a shear, by halves.
INLINE void relative_bias_tile(const bq_attention *a, size_t block, int v, size_t key,
                               const int32_t *rows, size_t first_row, const float *by_query,
                               const float *by_key, size_t width, float *bias) {
  V x[2 * VL - 1];
  const ptrdiff_t distance = (ptrdiff_t)(block * BQ_LANES) + v * VL - (ptrdiff_t)key;
  BQ_UNROLL_FOR (int s = 0; s < 2 * VL - 1; s++) x[s] = v_splat(0);
  if (by_query) {
    BQ_UNROLL_FOR (int s = 0; s < 2 * VL - 1; s++)
      x[s] = v_load(by_query + ((size_t)rows[distance + s - (VL - 1)] - first_row) * BQ_LANES +
                    v * VL);
    BQ_UNROLL_FOR (int step = VL / 2; step > 0; step /= 2)
      BQ_UNROLL_FOR (int s = 0; s < VL - 1 + step; s++)
        x[s] = select_lanes(step, x[s], x[s + step]);
  }
  const size_t left = a->key_end - key;
  const size_t first = (block - a->query_begin / BQ_LANES + 1) * BQ_LANES + (size_t)(v * VL);
  BQ_UNROLL_FOR (int t = 0; t < VL; t++)
    if ((size_t)t < left) {
      const size_t row = key - a->key_begin + (size_t)t;
      V sum = x[VL - 1 - t];
      if (by_key) sum += v_load(by_key + row * width + first - (key + (size_t)t) % BQ_LANES);
      v_store(bias + row * BQ_LANES + v * VL, sum);
    }
}

KERNEL void SUFFIXED(relative_bias)(const bq_attention *a, size_t block, const int32_t *rows,
                                    size_t first_row, const float *by_query, const float *by_key,
                                    float *bias) {
  const bq_attention call = *a;  // a copy that no store can change
  const size_t width = bq_relative_width(a);
  for (size_t key = call.key_begin; key < call.key_end; key += VL)
    for (int v = 0; v < VECS; v++)
      relative_bias_tile(&call, block, v, key, rows, first_row, by_query, by_key, width, bias);
}
