// AVX2 and FMA: 8 tokens per register. A tile of 6 rows × 1 block takes 12 of 16 registers.
#include "kernels_internal.h"

#if BQ_X86
#include <immintrin.h>

#define SUFFIXED(name) BQ_PASTE(bq_##name, avx2)
#define TARGET __attribute__((target("avx2,fma,f16c")))
#define KERNEL TARGET
#define INLINE TARGET __attribute__((always_inline)) static inline

typedef __m256 V;
typedef int32_t VI __attribute__((vector_size(32)));
#define VL 8
#define TILE_ROWS 6
#define TILE_BLOCKS 1
#define KEY_ROWS 6
#define VALUE_ROWS 6

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
  const VI whole = (VI)t - 0x4B400000;
  const VI half = whole >> 1;
  return p * (V)((half + 127) << 23) * (V)((whole - half + 127) << 23);
}

INLINE VI vi_load(const void *p) { return (VI)_mm256_loadu_si256((const __m256i *)p); }
INLINE void vi_store(void *p, VI a) { _mm256_storeu_si256((__m256i *)p, (__m256i)a); }
INLINE VI vi_splat(int32_t a) { return (VI)_mm256_set1_epi32(a); }
INLINE VI vi_bits(V a) { return (VI)_mm256_castps_si256(a); }
INLINE V vi_float(VI a) { return _mm256_cvtepi32_ps((__m256i)a); }

#include "f32_kernels.inc.h"
#include "relative.inc.h"

#define ROW_VECTORS 2  // 8 sums, 4 vectors of weights, 1 of values
INLINE V v_load_f16(const void *p) { return _mm256_cvtph_ps(_mm_loadu_si128(p)); }
INLINE V v_load_bf16(const void *p) {
  return (V)_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128(p)), 16);
}
#define BQ_MASK_ONES -1, -1, -1, -1, -1, -1, -1, -1
INLINE V v_load_part(const float *p, size_t n) {
  static const int32_t mask[2 * VL] = {BQ_MASK_ONES};
  return _mm256_maskload_ps(p, (__m256i)vi_load(mask + VL - n));
}
// Lanes l and l + 2 of each half, then those two sums; then the halves.
INLINE void v_sums4(V a, V b, V c, V d, const float *bias, float *y) {
  const V ab = _mm256_unpacklo_ps(a, b) + _mm256_unpackhi_ps(a, b);
  const V cd = _mm256_unpacklo_ps(c, d) + _mm256_unpackhi_ps(c, d);
  const V four = _mm256_shuffle_ps(ab, cd, 0x44) + _mm256_shuffle_ps(ab, cd, 0xEE);
  const __m128 sums = _mm256_castps256_ps128(four) + _mm256_extractf128_ps(four, 1);
  _mm_storeu_ps(y, sums + _mm_loadu_ps(bias));
}

#include "recurrent.inc.h"

typedef int16_t VI16 __attribute__((vector_size(32)));
typedef uint16_t VU16 __attribute__((vector_size(32)));
#define S8_ROWS 4  // 8 sums, 4 vectors of activations, 2 of weights, 2 products
INLINE VI vi_multiply_add(VI a, VI b) { return (VI)_mm256_madd_epi16((__m256i)a, (__m256i)b); }

#include "multiply16.inc.h"
#include "quantize.inc.h"
#include "s8_kernels.inc.h"

const bq_kernels bq_kernels_avx2 = {
    .isa = BQ_ISA_AVX2,
    .linear_f32 = bq_linear_f32_avx2,
    .layer_norm_f32 = bq_layer_norm_f32_avx2,
    .rotate_f32 = bq_rotate_f32_avx2,
    .attention_f32 = bq_attention_f32_avx2,
    .relative_keys_f32 = bq_relative_keys_f32_avx2,
    .relative_bias = bq_relative_bias_avx2,
    .multiply_rows = bq_multiply_rows_avx2,
    .lstm_cell = bq_lstm_cell_avx2,
    .gru_cell = bq_gru_cell_avx2,
    .exp_f32 = bq_exp_f32_avx2,
    .tanh_f32 = bq_tanh_f32_avx2,
    .quantize_u8 = bq_quantize_u8_avx2,
    .linear_s8 = bq_linear_s8_avx2,
};
#endif
