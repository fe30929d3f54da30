// Template: tiles of products by the matrix instructions of I8MM and BF16, which multiply 2 rows of
// 8 bytes by 2 rows of 8 bytes: [2][8] · [2][8]ᵀ. A unit is 4 bytes: a token's neighbouring
// features (4 bytes or 2 bfloat16s) in all layouts. Include neon.inc.h and tiles.inc.h before it.

// The kind of product. The unsigned operand must be the instruction's first.
typedef enum { BF16_BF16, X_UNSIGNED, W_UNSIGNED } mmla_kind;

// Sums are VI even if they hold floats: [token][row] for X_UNSIGNED, otherwise [row][token].
INLINE VI v_mmla(const mmla_kind kind, VI sum, VI x, VI w) {
  if (kind == BF16_BF16)
    return (VI)vbfmmlaq_f32((float32x4_t)sum, (bfloat16x8_t)w, (bfloat16x8_t)x);
  if (kind == W_UNSIGNED) return (VI)vusmmlaq_s32((int32x4_t)sum, (uint8x16_t)w, (int8x16_t)x);
  return (VI)vusmmlaq_s32((int32x4_t)sum, (uint8x16_t)x, (int8x16_t)w);
}

INLINE VI zip_low(VI a, VI b) { return (VI)vzip1q_u32((uint32x4_t)a, (uint32x4_t)b); }
INLINE VI zip_high(VI a, VI b) { return (VI)vzip2q_u32((uint32x4_t)a, (uint32x4_t)b); }

// Loads two units of a and of b, `step` bytes apart, or one unit and zeros.
INLINE VI load_two(const char *a, const char *b, const size_t step, const int both) {
  if (both && step == 4)
    return (VI)vcombine_u8(vld1_u8((const uint8_t *)a), vld1_u8((const uint8_t *)b));
  int32_t units[4] = {0};
  memcpy(&units[0], a, sizeof *units);
  memcpy(&units[2], b, sizeof *units);
  if (both) {
    memcpy(&units[1], a + step, sizeof *units);
    memcpy(&units[3], b + step, sizeof *units);
  }
  return vi_load(units);
}

// One step: multiplies two units, or one and zeros, of `rows` rows of weights (w_row bytes apart,
// units w_step apart) by those of 16 tokens. The products of rows 2 p and 2 p + 1 with tokens 2 i
// and 2 i + 1 go to sums[2 p + i / 4][i % 4]; an odd last row occurs twice.
INLINE void mmla_step(const mmla_kind kind, const int rows, const char *w, size_t w_row,
                      const size_t w_step, const char *x, size_t x_step, const int both,
                      VI sums[][TILE_VECS]) {
  const int pairs = (rows + 1) / 2;
  VI weights[TILE_ROWS / 2];
  if (w_step != 4 && w_row == 4 && rows == 4) {  // the rows are tokens, adjacent in a unit's row
    const VI a = vi_load(w), b = both ? vi_load(w + w_step) : vi_splat(0);
    weights[0] = zip_low(a, b);
    weights[1] = zip_high(a, b);
  } else {
    BQ_UNROLL_FOR (int p = 0; p < pairs; p++) {
      const size_t second = (size_t)(2 * p + 1 < rows ? 2 * p + 1 : 2 * p);
      weights[p] = load_two(w + (size_t)(2 * p) * w_row, w + second * w_row, w_step, both);
    }
  }
  BQ_UNROLL_FOR (int v = 0; v < VECS; v++) {
    const VI a = vi_load(x + v * 16), b = both ? vi_load(x + x_step + v * 16) : vi_splat(0);
    const VI low = zip_low(a, b), high = zip_high(a, b);
    BQ_UNROLL_FOR (int p = 0; p < pairs; p++) {
      VI *low_sum = &sums[2 * p + v / 2][2 * v % 4], *high_sum = low_sum + 1;
      *low_sum = v_mmla(kind, *low_sum, low, weights[p]);
      *high_sum = v_mmla(kind, *high_sum, high, weights[p]);
    }
    // The next tokens are not loaded earlier: the sums leave no registers for them.
    BQ_UNROLL_FOR (int p = 0; p < pairs; p++) {
      VI *low_sum = &sums[2 * p + v / 2][2 * v % 4];
      __asm__ volatile("" : "+w"(low_sum[0]), "+w"(low_sum[1])::"memory");
    }
  }
}

// Multiplies n units. `ahead` means that more rows follow in memory and will be needed next.
INLINE void mmla_tile(const mmla_kind kind, const int rows, const char *w, size_t w_row,
                      const size_t w_step, const char *x, size_t x_step, size_t n, const int ahead,
                      VI sums[][TILE_VECS]) {
  size_t k = 0;
  for (; k + 2 <= n; k += 2) {
    if (ahead) PREFETCH_ROWS(w, w_row, k);
    mmla_step(kind, rows, w + k * w_step, w_row, w_step, x + k * x_step, x_step, 1, sums);
  }
  if (k < n) mmla_step(kind, rows, w + k * w_step, w_row, w_step, x + k * x_step, x_step, 0, sums);
}

// Orders the sums of mmla_tile as rows of tokens.
INLINE void order_sums(const mmla_kind kind, const int rows, VI sums[][TILE_VECS]) {
  BQ_UNROLL_FOR (int p = 0; p < (rows + 1) / 2; p++) {
    VI first[VECS], second[VECS];
    BQ_UNROLL_FOR (int v = 0; v < VECS; v++) {
      const VI a = sums[2 * p + v / 2][2 * v % 4], b = sums[2 * p + v / 2][2 * v % 4 + 1];
      if (kind == X_UNSIGNED) {
        first[v] = (VI)vuzp1q_u32((uint32x4_t)a, (uint32x4_t)b);
        second[v] = (VI)vuzp2q_u32((uint32x4_t)a, (uint32x4_t)b);
      } else {
        first[v] = (VI)vzip1q_u64((uint64x2_t)a, (uint64x2_t)b);
        second[v] = (VI)vzip2q_u64((uint64x2_t)a, (uint64x2_t)b);
      }
    }
    BQ_UNROLL_FOR (int v = 0; v < VECS; v++) {
      sums[2 * p][v] = first[v];
      sums[2 * p + 1][v] = second[v];
    }
  }
}
