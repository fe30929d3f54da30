// Template: tiles of products by the matrix instructions of I8MM and BF16, which multiply 2 rows of 8 bytes
// with 2 rows of 8 bytes: [2][8] · [2][8]ᵀ. What is 4 bytes in both layouts, a token's neighbouring features
// (4 bytes or 2 bfloat16s), is a unit here. neon.inc.h and tiles.inc.h come before it.

// Sums are VI, also where they are floats.
INLINE VI v_mmla(const int bf16, VI sum, VI x, VI w) {
  return bf16 ? (VI)vbfmmlaq_f32((float32x4_t)sum, (bfloat16x8_t)x, (bfloat16x8_t)w)
              : (VI)vusmmlaq_s32((int32x4_t)sum, (uint8x16_t)x, (int8x16_t)w);
}

INLINE VI zip_low(VI a, VI b) { return (VI)vzip1q_u32((uint32x4_t)a, (uint32x4_t)b); }
INLINE VI zip_high(VI a, VI b) { return (VI)vzip2q_u32((uint32x4_t)a, (uint32x4_t)b); }

// Two rows' next 8 bytes, or their next unit and zeros.
INLINE VI load_two(const char *a, const char *b, const int both) {
  if (both) return (VI)vcombine_u8(vld1_u8((const uint8_t *)a), vld1_u8((const uint8_t *)b));
  uint32_t units[2];
  memcpy(&units[0], a, sizeof *units);
  memcpy(&units[1], b, sizeof *units);
  return (VI){(int32_t)units[0], 0, (int32_t)units[1], 0};
}

// Two units of 16 tokens, [2][16], or one and zeros, against rows 2 p and 2 p + 1 of weights in w[p].
// sums[p][i]: of tokens 2 i and 2 i + 1, [token][row].
INLINE void mmla_step(const int bf16, const int pairs, const char *x, size_t x_step, const int both,
                      const VI *w, VI sums[][BQ_LANES / 2]) {
  BQ_UNROLL_FOR (int v = 0; v < VECS; v++) {
    const VI a = vi_load(x + v * 16), b = both ? vi_load(x + x_step + v * 16) : vi_splat(0);
    const VI low = zip_low(a, b), high = zip_high(a, b);
    BQ_UNROLL_FOR (int p = 0; p < pairs; p++) {
      sums[p][2 * v] = v_mmla(bf16, sums[p][2 * v], low, w[p]);
      sums[p][2 * v + 1] = v_mmla(bf16, sums[p][2 * v + 1], high, w[p]);
    }
  }
}

// sums[r][v] = Σ w[r]·x over n units, for `rows` rows of weights, w_row bytes apart, of 16 tokens, x_step bytes
// from one unit to the next. An odd row is multiplied twice.
INLINE void mmla_tile(const int bf16, const int rows, const char *w, size_t w_row, const char *x,
                      size_t x_step, size_t n, const int ahead, VI tile[][TILE_VECS]) {
  const int pairs = (rows + 1) / 2;
  VI sums[TILE_ROWS / 2][BQ_LANES / 2], weights[TILE_ROWS / 2];
  const char *row[TILE_ROWS];
  BQ_UNROLL_FOR (int r = 0; r < 2 * pairs; r++) row[r] = w + (size_t)(r < rows ? r : 0) * w_row;
  BQ_UNROLL_FOR (int p = 0; p < pairs; p++)
    BQ_UNROLL_FOR (int i = 0; i < BQ_LANES / 2; i++) sums[p][i] = vi_splat(0);
  size_t k = 0;
  for (; k + 2 <= n; k += 2) {
    if (ahead) PREFETCH_ROWS(w, w_row, k);
    BQ_UNROLL_FOR (int p = 0; p < pairs; p++)
      weights[p] = load_two(row[2 * p] + 4 * k, row[2 * p + 1] + 4 * k, 1);
    mmla_step(bf16, pairs, x + k * x_step, x_step, 1, weights, sums);
  }
  if (k < n) {
    BQ_UNROLL_FOR (int p = 0; p < pairs; p++)
      weights[p] = load_two(row[2 * p] + 4 * k, row[2 * p + 1] + 4 * k, 0);
    mmla_step(bf16, pairs, x + k * x_step, x_step, 0, weights, sums);
  }
  BQ_UNROLL_FOR (int r = 0; r < rows; r++)
    BQ_UNROLL_FOR (int v = 0; v < VECS; v++) {
      const uint32x4_t a = (uint32x4_t)sums[r / 2][2 * v], b = (uint32x4_t)sums[r / 2][2 * v + 1];
      tile[r][v] = (VI)(r % 2 ? vuzp2q_u32(a, b) : vuzp1q_u32(a, b));
    }
}
