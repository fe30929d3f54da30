// Template: the bfloat16 kernels for AVX-512 with BF16. Two neighbouring features of a token (or two keys
// of a query) lie side by side, so that a lane's 32 bits are what one vdpbf16ps multiplies and adds.
// The including file includes avx512.inc.h, f32_math.inc.h and tiles.inc.h before it, and also defines
//   SUFFIXED(name)  the name of the instruction set's version of a kernel
//   KERNEL, INLINE  with a target that has avx512bf16

#include <string.h>

INLINE V v_dot_bf16(V sum, VI x, VI w) { return _mm512_dpbf16_ps(sum, (__m512bh)x, (__m512bh)w); }

// a's and b's lanes alternating, rounded to nearest even.
INLINE VI v_pairs_bf16(V a, V b) {
  const __m512i halves = (__m512i)_mm512_cvtne2ps_pbh(b, a);
  const __m512i alternate =
      _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6,
                       21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  return (VI)_mm512_permutexvar_epi16(alternate, halves);
}

INLINE VI v_splat_pair(const uint16_t *p) {
  int32_t pair;
  memcpy(&pair, p, sizeof pair);
  VI pairs = vi_splat(pair);
#if defined(__clang__) && __clang_major__ < 19
  // Clang 17, that of Swift 6.0, crashes on a product of bfloat16 with what it knows to be one value in all lanes.
  __asm__("" : "+v"(pairs));
#endif
  return pairs;
}

KERNEL void SUFFIXED(pack_bf16)(const float *x, size_t blocks, size_t features, uint16_t *y) {
  for (size_t i = 0; i < blocks * features * BQ_LANES; i += 2 * BQ_LANES)
    vi_store(y + i, v_pairs_bf16(v_load(x + i), v_load(x + i + BQ_LANES)));
}

// Like store_tile, for the epilogues that give bfloat16. Pairs need an even `rows`.
INLINE void store_tile_bf16(const int rows, const int blocks, V acc[][TILE_VECS], int32_t epilogue,
                            uint16_t *y, size_t y_stride) {
  if (epilogue == BQ_EPILOGUE_BF16) {
    BQ_UNROLL_FOR (int r = 0; r < rows; r++)
      BQ_UNROLL_FOR (int b = 0; b < blocks; b++)
        _mm256_storeu_si256((__m256i *)(y + b * y_stride + r * BQ_LANES),
                            (__m256i)_mm512_cvtneps_pbh(acc[r][b]));
    return;
  }
  const int32_t activation = epilogue - BQ_EPILOGUE_BF16_PAIRS;
  if (activation != BQ_EPILOGUE_BIAS) {
    float sums[TILE_ROWS * TILE_VECS * VL];
    BQ_UNROLL_FOR (int r = 0; r < rows; r++)
      BQ_UNROLL_FOR (int b = 0; b < blocks; b++) v_store(sums + (r * blocks + b) * VL, acc[r][b]);
    activate_fast_tile(activation, sums, rows * blocks * VL);
    BQ_UNROLL_FOR (int r = 0; r < rows; r++)
      BQ_UNROLL_FOR (int b = 0; b < blocks; b++) acc[r][b] = v_load(sums + (r * blocks + b) * VL);
  }
  BQ_UNROLL_FOR (int r = 0; r + 1 < rows; r += 2)
    BQ_UNROLL_FOR (int b = 0; b < blocks; b++)
      vi_store(y + b * y_stride + r * BQ_LANES, v_pairs_bf16(acc[r][b], acc[r + 1][b]));
}

// acc[r][v] += Σ_k w[r·w_row + k·w_step] · x[k·x_step + …] over n pairs k; steps in bfloat16s.
INLINE void dot_tile_bf16(const int rows, const int blocks, const uint16_t *w, size_t w_row,
                          size_t w_step, const uint16_t *x, size_t x_step, size_t x_block, size_t n,
                          const int ahead, V acc[][TILE_VECS]) {
  for (size_t k = 0; k < n; k++) {
    if (ahead) PREFETCH_ROWS(w, w_row * sizeof(uint16_t), k);
    VI lanes[TILE_VECS];
    BQ_UNROLL_FOR (int b = 0; b < blocks; b++) lanes[b] = vi_load(x + k * x_step + b * x_block);
    BQ_UNROLL_FOR (int r = 0; r < rows; r++) {
      const VI weight = v_splat_pair(w + r * w_row + k * w_step);
      BQ_UNROLL_FOR (int b = 0; b < blocks; b++)
        acc[r][b] = v_dot_bf16(acc[r][b], lanes[b], weight);
    }
  }
}

INLINE void linear_tile_bf16(const int rows, const int blocks, const uint16_t *w, const float *bias,
                             const uint16_t *x, size_t in, int32_t epilogue, void *y,
                             size_t y_stride) {
  V acc[TILE_ROWS][TILE_VECS];
  CLEAR_TILE(acc, v_splat(0));
  const size_t size = epilogue >= BQ_EPILOGUE_BF16 ? sizeof(uint16_t) : sizeof(float);
  prefetch_outputs(rows, blocks, y, y_stride * size, BQ_LANES * size);
  dot_tile_bf16(rows, blocks, w, in, 2, x, 2 * BQ_LANES, in * BQ_LANES, in / 2, 1, acc);
  BQ_UNROLL_FOR (int r = 0; r < rows; r++)
    BQ_UNROLL_FOR (int b = 0; b < blocks; b++) acc[r][b] = acc[r][b] + v_splat(bias[r]);
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
