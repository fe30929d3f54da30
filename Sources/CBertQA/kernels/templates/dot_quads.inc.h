// Template: tiles of products of bytes for s8_attention.inc.h, by v_dot of s8_kernels.inc.h.

#include <string.h>

INLINE void dot_tile_quads(const int unsigned_rows, const int rows, const int blocks, const void *w,
                           size_t w_row, const size_t w_step, const void *x, size_t x_step,
                           size_t x_block, size_t n, VI acc[][TILE_VECS]) {
  const char *from = w, *lanes = x;
  for (size_t k = 0; k < n; k++, from += w_step, lanes += x_step) {
    VI tokens[TILE_VECS];
    BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++)
      tokens[v] = vi_load(lanes + (size_t)(v / VECS) * x_block + v % VECS * VL * 4);
    BQ_UNROLL_FOR (int r = 0; r < rows; r++) {
      int32_t quad;
      memcpy(&quad, from + (size_t)r * w_row, sizeof quad);
      const VI row = vi_splat(quad);
      BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++)
        acc[r][v] =
            unsigned_rows ? v_dot(acc[r][v], row, tokens[v]) : v_dot(acc[r][v], tokens[v], row);
    }
  }
}

// The sums are already in order.
INLINE void order_tile_quads(const int unsigned_rows, const int rows, VI acc[][TILE_VECS]) {
  (void)unsigned_rows, (void)rows, (void)acc;
}
