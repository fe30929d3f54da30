// Template: tiles of products of bytes for s8_attention.inc.h, by v_dot of s8_kernels.inc.h or, with HAS_BYTE_PAIRS, of
// pair_quads.inc.h.

INLINE void load_tokens(const int blocks, const char *lanes, size_t x_block, VI tokens[TILE_VECS]) {
  BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++)
    tokens[v] = vi_load(lanes + (size_t)(v / VECS) * x_block + v % VECS * VL * 4);
}

INLINE void dot_tile_quads(const int unsigned_rows, const int rows, const int blocks, const void *w,
                           size_t w_row, const size_t w_step, const void *x, size_t x_step,
                           size_t x_block, size_t n, VI acc[][TILE_VECS]) {
  const char *from = w, *lanes = x;
#ifdef HAS_BYTE_PAIRS
  // The steps of queries leave room for two, those of values do not.
  for (; unsigned_rows && n >= 2; n -= 2, from += 2 * w_step, lanes += 2 * x_step) {
    VI tokens[TILE_VECS], next[TILE_VECS];
    load_tokens(blocks, lanes, x_block, tokens);
    load_tokens(blocks, lanes + x_step, x_block, next);
    BQ_UNROLL_FOR (int r = 0; r < rows; r++) {
      const char *at = from + (size_t)r * w_row;
      const VI row = splat_quad(at), next_row = splat_quad(at + w_step);
      BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++)
        acc[r][v] = v_dot_twice(acc[r][v], row, tokens[v], next_row, next[v]);
    }
  }
#endif
  for (size_t k = 0; k < n; k++, from += w_step, lanes += x_step) {
    VI tokens[TILE_VECS];
    load_tokens(blocks, lanes, x_block, tokens);
    BQ_UNROLL_FOR (int r = 0; r < rows; r++) {
      const VI row = splat_quad(from + (size_t)r * w_row);
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
