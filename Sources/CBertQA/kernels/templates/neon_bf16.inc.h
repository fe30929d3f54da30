// Template: the NEON operations for bf16_kernels.inc.h, bf16_attention.inc.h and
// s8_attention.inc.h. Include neon_mmla.inc.h and f32_math.inc.h before it.

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

INLINE void dot_tile_keys(const int rows, const int blocks, const uint8_t *k, const int8_t *q,
                          size_t q_block, size_t head_dim, VI acc[][TILE_VECS]) {
  (void)blocks, (void)q_block;
  mmla_tile(W_UNSIGNED, rows, (const char *)k, 4, 4 * BQ_LANES, (const char *)q, 4 * BQ_LANES,
            head_dim / 4, 0, acc);
}

INLINE void order_tile_keys(const int rows, VI acc[][TILE_VECS]) {
  order_sums(W_UNSIGNED, rows, acc);
}

// 2^x: the exponent's bits are floor(x), and a polynomial computes 2 to the rest, which is in [0,
// 1); 0 below -126.
INLINE V v_exp2_fast(V x) {
  static const float c[] = {0.99992522f, 0.69583354f, 0.22606716f, 0.078024517f};
  const V low = v_max(x, v_splat(-127));
  const V whole = (V)vrndmq_f32((float32x4_t)low);
  const VI exponent = (VI)vcvtq_s32_f32((float32x4_t)whole) << 23;
  const VI power = (VI)v_horner(low - whole, c, 4) + exponent;
  return (V)(power & (VI)(x > v_splat(-126)));
}

INLINE float v_least(V a) { return vminvq_f32((float32x4_t)a); }
INLINE float v_most(V a) { return vmaxvq_f32((float32x4_t)a); }
INLINE VI vi_max(VI a, VI b) { return (VI)vmaxq_s32((int32x4_t)a, (int32x4_t)b); }
