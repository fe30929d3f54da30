// The AVX-512 operations with BF16 for bf16_kernels.inc.h and bf16_attention.inc.h. Two neighbouring
// features of a token (or two keys of a query) are adjacent, so that a lane's 32 bits are the operand
// of one vdpbf16ps. Include avx512.inc.h, f32_math.inc.h and tiles.inc.h before it, and define
//   KERNEL, INLINE  with a target that has avx512bf16

#include <string.h>

INLINE V v_dot_bf16(V sum, VI x, VI w) { return _mm512_dpbf16_ps(sum, (__m512bh)x, (__m512bh)w); }

INLINE void v_store_bf16(uint16_t *p, V a) {
  _mm256_storeu_si256((__m256i *)p, (__m256i)_mm512_cvtneps_pbh(a));
}

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
  // Clang 17 of Swift 6.0 crashes on a product of bfloat16 with a value known to be equal in all
  // lanes.
  __asm__("" : "+v"(pairs));
#endif
  return pairs;
}

INLINE void clear_tile_bf16(const int rows, const int blocks, V acc[][TILE_VECS]) {
  CLEAR_TILE(acc, v_splat(0));
}

INLINE void dot_tile_bf16(const int rows, const int blocks, const uint16_t *w, size_t w_row,
                          const size_t w_step, const uint16_t *x, size_t x_step, size_t x_block,
                          size_t n, const int ahead, V acc[][TILE_VECS]) {
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

// The sums are already in order.
INLINE void order_tile_bf16(const int rows, V acc[][TILE_VECS]) { (void)rows, (void)acc; }
