// Template: the bfloat16 kernels for one instruction set. The including file includes f32_math.inc.h and
// tiles.inc.h before it, and also defines
//   SUFFIXED(name)    the name of the instruction set's version of a kernel
//   vi_store          stores VL int32s at any address
//   v_store_bf16      stores VL floats as bfloat16s, rounded to nearest even
//   v_pairs_bf16      two vectors' lanes alternating, as bfloat16s rounded to nearest even
//   clear_tile_bf16, dot_tile_bf16, order_tile_bf16
//     acc = 0; acc[r][v] += Σ_k w[r·w_row + k·w_step] · x[k·x_step + …] over n pairs k; steps in bfloat16s. w_step
//     is 2, or 32 for tokens as rows. `ahead`: more rows follow in memory and will be needed next. The sums of
//     a tile may be in any order, and in rows beyond the last, until order_tile_bf16.
//   TILE_ROWS         weight rows of a linear tile; even

KERNEL void SUFFIXED(pack_bf16)(const float *x, size_t blocks, size_t features, uint16_t *y) {
  for (size_t i = 0; i < blocks * features * BQ_LANES; i += 2 * BQ_LANES)
    BQ_UNROLL_FOR (size_t v = 0; v < BQ_LANES; v += VL)
      vi_store(y + i + 2 * v, v_pairs_bf16(v_load(x + i + v), v_load(x + i + BQ_LANES + v)));
}

// Like store_tile, for the bfloat16 epilogues. Pairs need an even `rows`.
INLINE void store_tile_bf16(const int rows, const int blocks, V acc[][TILE_VECS], int32_t epilogue,
                            uint16_t *y, size_t y_stride) {
  if (epilogue == BQ_EPILOGUE_BF16) {
    BQ_UNROLL_FOR (int r = 0; r < rows; r++)
      BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++)
        v_store_bf16(y + v / VECS * y_stride + r * BQ_LANES + v % VECS * VL, acc[r][v]);
    return;
  }
  const int32_t activation = epilogue - BQ_EPILOGUE_BF16_PAIRS;
  if (activation != BQ_EPILOGUE_BIAS) {
    float sums[TILE_ROWS * TILE_VECS * VL];
    BQ_UNROLL_FOR (int r = 0; r < rows; r++)
      BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++)
        v_store(sums + (r * blocks * VECS + v) * VL, acc[r][v]);
    activate_fast_tile(activation, sums, rows * blocks * BQ_LANES);
    BQ_UNROLL_FOR (int r = 0; r < rows; r++)
      BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++)
        acc[r][v] = v_load(sums + (r * blocks * VECS + v) * VL);
  }
  BQ_UNROLL_FOR (int r = 0; r + 1 < rows; r += 2)
    BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++)
      vi_store(y + v / VECS * y_stride + r * BQ_LANES + v % VECS * VL * 2,
               v_pairs_bf16(acc[r][v], acc[r + 1][v]));
}

INLINE void linear_tile_bf16(const int rows, const int blocks, const uint16_t *w, const float *bias,
                             const uint16_t *x, size_t in, int32_t epilogue, void *y,
                             size_t y_stride) {
  V acc[TILE_ROWS][TILE_VECS];
  clear_tile_bf16(rows, blocks, acc);
  const size_t size = epilogue >= BQ_EPILOGUE_BF16 ? sizeof(uint16_t) : sizeof(float);
  prefetch_outputs(rows, blocks, y, y_stride * size, BQ_LANES * size);
  dot_tile_bf16(rows, blocks, w, in, 2, x, 2 * BQ_LANES, in * BQ_LANES, in / 2, 1, acc);
  order_tile_bf16(rows, acc);
  BQ_UNROLL_FOR (int r = 0; r < rows; r++)
    BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++) acc[r][v] = acc[r][v] + v_splat(bias[r]);
  if (epilogue >= BQ_EPILOGUE_BF16)
    store_tile_bf16(rows, blocks, acc, epilogue, y, y_stride);
  else
    store_tile(rows, blocks, acc, epilogue, activate_fast_tile, y, y_stride);
}

KERNEL void SUFFIXED(linear_bf16)(const uint16_t *w, const float *bias, const uint16_t *x,
                                  size_t blocks, size_t in, size_t outs, int32_t epilogue, void *y,
                                  size_t y_stride) {
  const size_t size = epilogue >= BQ_EPILOGUE_BF16 ? sizeof(uint16_t) : sizeof(float);
#define BQ_TILE(rows, count, o, b)                                                               \
  linear_tile_bf16(rows, count, w + in * (o), bias + (o), x + in * BQ_LANES * (b), in, epilogue, \
                   (char *)y + (y_stride * (b) + BQ_LANES * (o)) * size, y_stride)
  BQ_FOR_TILES(TILE_ROWS, in * BQ_LANES * sizeof(uint16_t), blocks, outs, BQ_TILE);
#undef BQ_TILE
}
