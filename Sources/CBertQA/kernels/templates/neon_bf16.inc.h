// Template: the NEON operations for bf16_kernels.inc.h and bf16_attention.inc.h. Include
// neon_mmla.inc.h and f32_math.inc.h before it.

INLINE uint16x4_t v_bf16(V a) { return (uint16x4_t)vcvt_bf16_f32((float32x4_t)a); }
INLINE void v_store_bf16(uint16_t *p, V a) { vst1_u16(p, v_bf16(a)); }

INLINE VI v_pairs_bf16(V a, V b) {
  const uint16x4_t even = v_bf16(a), odd = v_bf16(b);
  return (VI)vcombine_u16(vzip1_u16(even, odd), vzip2_u16(even, odd));
}

// Converts a tile's sums to the type of the registers and back. A tile has `rows` rows; an odd last
// row occurs twice.
INLINE void as_ints(const int rows, V acc[][TILE_VECS], VI sums[][TILE_VECS]) {
  BQ_UNROLL_FOR (int r = 0; r < (rows + 1) / 2 * 2; r++)
    BQ_UNROLL_FOR (int v = 0; v < VECS; v++) sums[r][v] = (VI)acc[r][v];
}
INLINE void as_floats(const int rows, VI sums[][TILE_VECS], V acc[][TILE_VECS]) {
  BQ_UNROLL_FOR (int r = 0; r < (rows + 1) / 2 * 2; r++)
    BQ_UNROLL_FOR (int v = 0; v < VECS; v++) acc[r][v] = (V)sums[r][v];
}

INLINE void clear_tile_bf16(const int rows, const int blocks, V acc[][TILE_VECS]) {
  (void)blocks;  // one block, here and below
  BQ_UNROLL_FOR (int r = 0; r < (rows + 1) / 2 * 2; r++)
    BQ_UNROLL_FOR (int v = 0; v < VECS; v++) acc[r][v] = v_splat(0);
}

INLINE void dot_tile_bf16(const int rows, const int blocks, const uint16_t *w, size_t w_row,
                          const size_t w_step, const uint16_t *x, size_t x_step, size_t x_block,
                          size_t n, const int ahead, V acc[][TILE_VECS]) {
  (void)blocks, (void)x_block;
  VI sums[TILE_ROWS][TILE_VECS];
  as_ints(rows, acc, sums);
  mmla_tile(BF16_BF16, rows, (const char *)w, 2 * w_row, 2 * w_step, (const char *)x, 2 * x_step, n,
            ahead, sums);
  as_floats(rows, sums, acc);
}

INLINE void order_tile_bf16(const int rows, V acc[][TILE_VECS]) {
  VI sums[TILE_ROWS][TILE_VECS];
  as_ints(rows, acc, sums);
  order_sums(BF16_BF16, rows, sums);
  as_floats(rows, sums, acc);
}
