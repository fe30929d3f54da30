// Template: the tile behind all products of f32_kernels.inc.h, for NEON. It loads four adjacent
// weights at a time and multiplies by lane. Include neon.inc.h and tiles.inc.h before it.

// One step: acc[r][v] += weight(r) · x, one vector of tokens at a time, so that two registers hold
// them.
#define BQ_DOT_STEP(weight, x)                                         \
  BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++) {                  \
    const V tokens = v_load((x) + v / VECS * x_block + v % VECS * VL); \
    BQ_UNROLL_FOR (int r = 0; r < rows; r++)                           \
      acc[r][v] = v_fma(v_splat(weight), tokens, acc[r][v]);           \
  }

// acc[r][v] += Σ_k w[r·w_row + k·w_step] · x[k·x_step + …], k ascending. `ahead` means that more
// rows follow in memory and will be needed next.
INLINE void dot_tile(const int rows, const int blocks, const float *w, size_t w_row,
                     const size_t w_step, const float *x, size_t x_step, size_t x_block, size_t n,
                     const int ahead, V acc[][TILE_VECS]) {
  size_t k = 0;
  if (w_step == 1) {  // a row's weights are adjacent
    for (; k + VL <= n; k += VL) {
      V weights[TILE_ROWS];
      if (ahead)
        BQ_UNROLL_FOR (size_t i = 0; i < VL; i += 2) PREFETCH_ROWS(w, w_row * sizeof(float), k + i);
      BQ_UNROLL_FOR (int r = 0; r < rows; r++) weights[r] = v_load(w + (size_t)r * w_row + k);
      BQ_UNROLL_FOR (int i = 0; i < VL; i++)
        BQ_DOT_STEP(weights[r][i], x + (k + (size_t)i) * x_step)
    }
  } else if (w_row == 1 && rows == VL) {  // the weights of a step are adjacent
    for (; k < n; k++) {
      const V weights = v_load(w + k * w_step);
      BQ_DOT_STEP(weights[r], x + k * x_step)
    }
  }
  for (; k < n; k++) BQ_DOT_STEP(w[(size_t)r * w_row + k * w_step], x + k * x_step)
}
#undef BQ_DOT_STEP
