// Template: the bfloat16 kernels for NEON but attention. neon_mmla.inc.h and f32_math.inc.h come before it.

// Rounded to nearest even.
INLINE uint16x4_t v_bf16(V a) { return (uint16x4_t)vcvt_bf16_f32((float32x4_t)a); }

// a's and b's lanes alternating.
INLINE VI v_pairs_bf16(V a, V b) {
  const uint16x4_t low = v_bf16(a), high = v_bf16(b);
  return (VI)vcombine_u16(vzip1_u16(low, high), vzip2_u16(low, high));
}

KERNEL void SUFFIXED(pack_bf16)(const float *x, size_t blocks, size_t features, uint16_t *y) {
  for (size_t i = 0; i < blocks * features * BQ_LANES; i += 2 * BQ_LANES)
    BQ_UNROLL_FOR (size_t v = 0; v < BQ_LANES; v += VL)
      vi_store(y + i + 2 * v, v_pairs_bf16(v_load(x + i + v), v_load(x + i + BQ_LANES + v)));
}

// Like store_tile, for the epilogues that give bfloat16. Pairs need an even `rows`.
INLINE void store_tile_bf16(const int rows, V acc[][TILE_VECS], int32_t epilogue, uint16_t *y) {
  if (epilogue == BQ_EPILOGUE_BF16) {
    BQ_UNROLL_FOR (int r = 0; r < rows; r++)
      BQ_UNROLL_FOR (int v = 0; v < VECS; v++)
        vst1_u16(y + r * BQ_LANES + v * VL, v_bf16(acc[r][v]));
    return;
  }
  const int32_t activation = epilogue - BQ_EPILOGUE_BF16_PAIRS;
  float sums[TILE_ROWS * BQ_LANES];
  BQ_UNROLL_FOR (int r = 0; r < rows; r++)
    BQ_UNROLL_FOR (int v = 0; v < VECS; v++) v_store(sums + r * BQ_LANES + v * VL, acc[r][v]);
  activate_fast_tile(activation, sums, (size_t)(rows * BQ_LANES));
  for (int i = 0; i + BQ_LANES < rows * BQ_LANES; i += 2 * BQ_LANES)
    BQ_UNROLL_FOR (int v = 0; v < BQ_LANES; v += VL)
      vi_store(y + i + 2 * v, v_pairs_bf16(v_load(sums + i + v), v_load(sums + i + BQ_LANES + v)));
}

INLINE void linear_tile_bf16(const int rows, const uint16_t *w, const float *bias,
                             const uint16_t *x, size_t in, int32_t epilogue, void *y,
                             size_t y_stride) {
  VI sums[TILE_ROWS][TILE_VECS];
  V acc[TILE_ROWS][TILE_VECS];
  mmla_tile(1, rows, (const char *)w, in * sizeof *w, (const char *)x, 4 * BQ_LANES, in / 2, 1,
            sums);
  BQ_UNROLL_FOR (int r = 0; r < rows; r++)
    BQ_UNROLL_FOR (int v = 0; v < VECS; v++) acc[r][v] = (V)sums[r][v] + v_splat(bias[r]);
  if (epilogue >= BQ_EPILOGUE_BF16)
    store_tile_bf16(rows, acc, epilogue, y);
  else
    store_tile(rows, 1, acc, epilogue, activate_fast_tile, y, y_stride);
}

KERNEL void SUFFIXED(linear_bf16)(const uint16_t *w, const float *bias, const uint16_t *x,
                                  size_t blocks, size_t in, size_t outs, int32_t epilogue, void *y,
                                  size_t y_stride) {
  const size_t size = epilogue >= BQ_EPILOGUE_BF16 ? sizeof(uint16_t) : sizeof(float);
#define BQ_TILE(rows, count, o, b)                                                        \
  linear_tile_bf16(rows, w + in * (o), bias + (o), x + in * BQ_LANES * (b), in, epilogue, \
                   (char *)y + (y_stride * (b) + BQ_LANES * (o)) * size, y_stride)
  BQ_FOR_TILES(TILE_ROWS, in * BQ_LANES * sizeof(uint16_t), blocks, outs, BQ_TILE);
#undef BQ_TILE
}
