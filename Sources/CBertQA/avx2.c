// AVX2 and FMA: 8 tokens per register. A tile of 6 rows × 1 block takes 12 of 16 registers.
#include "kernels_internal.h"

#if BQ_X86
#include <immintrin.h>

#define SUFFIXED(name) BQ_PASTE(name, avx2)
#define TARGET __attribute__((target("avx2,fma,f16c")))
#define KERNEL TARGET
#define INLINE TARGET __attribute__((always_inline)) static inline

typedef __m256 V;
#define VL 8
#define TILE_ROWS 6
#define TILE_BLOCKS 1
#define KEY_ROWS 4
#define VALUE_ROWS 4

INLINE V v_load(const float *p) { return _mm256_loadu_ps(p); }
INLINE void v_store(float *p, V a) { _mm256_storeu_ps(p, a); }
INLINE V v_splat(float a) { return _mm256_set1_ps(a); }
INLINE V v_fma(V a, V b, V c) { return _mm256_fmadd_ps(a, b, c); }
INLINE V v_max(V a, V b) { return _mm256_max_ps(a, b); }
INLINE V v_min(V a, V b) { return _mm256_min_ps(a, b); }
INLINE V v_sqrt(V a) { return _mm256_sqrt_ps(a); }
// p · 2^n in two factors, each a normal number also where the product is not; t = n + 1.5 · 2^23.
INLINE V v_scale(V p, V t, V n) {
  (void)n;
  const __m256i whole = _mm256_sub_epi32(_mm256_castps_si256(t), _mm256_set1_epi32(0x4B400000));
  const __m256i half = _mm256_srai_epi32(whole, 1);
  const __m256i rest = _mm256_sub_epi32(whole, half);
  const __m256i one = _mm256_set1_epi32(127);
  p = p * _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(half, one), 23));
  return p * _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(rest, one), 23));
}

#include "f32_kernels.inc.h"

const bq_kernels bq_kernels_avx2 = {
    .isa = BQ_ISA_AVX2,
    .linear_f32 = linear_f32_avx2,
    .layer_norm_f32 = layer_norm_f32_avx2,
    .attention_f32 = attention_f32_avx2,
    .exp_f32 = exp_f32_avx2,
    .erf_f32 = erf_f32_avx2,
    .tanh_f32 = tanh_f32_avx2,
    .gelu_f32 = gelu_f32_avx2,
};
#endif
