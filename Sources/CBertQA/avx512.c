// AVX-512: 16 tokens per register. A tile of 12 rows × 2 blocks takes 24 of 32 registers and 14
// loads for 24 FMAs, so that the two FMA units set the pace, not the loads.
#include "kernels_internal.h"

#if BQ_X86
#include <immintrin.h>

#define SUFFIXED(name) BQ_PASTE(name, avx512)
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")))
#define KERNEL TARGET
#define INLINE TARGET __attribute__((always_inline)) static inline

typedef __m512 V;
#define VL 16
#define TILE_ROWS 12
#define TILE_BLOCKS 2
#define KEY_ROWS 8
#define VALUE_ROWS 8

INLINE V v_load(const float *p) { return _mm512_loadu_ps(p); }
INLINE void v_store(float *p, V a) { _mm512_storeu_ps(p, a); }
INLINE V v_splat(float a) { return _mm512_set1_ps(a); }
INLINE V v_fma(V a, V b, V c) { return _mm512_fmadd_ps(a, b, c); }
INLINE V v_max(V a, V b) { return _mm512_max_ps(a, b); }
INLINE V v_min(V a, V b) { return _mm512_min_ps(a, b); }
INLINE V v_sqrt(V a) { return _mm512_sqrt_ps(a); }
// p · 2^n; t is not needed here.
INLINE V v_scale(V p, V t, V n) {
  (void)t;
  return _mm512_scalef_ps(p, n);
}

#include "f32_kernels.inc.h"

const bq_kernels bq_kernels_avx512 = {
    .isa = BQ_ISA_AVX512,
    .linear_f32 = linear_f32_avx512,
    .layer_norm_f32 = layer_norm_f32_avx512,
    .attention_f32 = attention_f32_avx512,
    .exp_f32 = exp_f32_avx512,
    .erf_f32 = erf_f32_avx512,
    .tanh_f32 = tanh_f32_avx512,
    .gelu_f32 = gelu_f32_avx512,
};
#endif
