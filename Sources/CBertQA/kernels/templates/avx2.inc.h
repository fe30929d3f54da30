// The AVX2 operations for the other templates: 8 tokens per register. A tile of 6 rows × 1 block
// takes 12 of 16 registers. The including file defines
//   INLINE  storage class and attributes of an inlined function, with a target that has AVX2, FMA and F16C
#include <immintrin.h>

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
INLINE V v_abs(V a) { return _mm256_andnot_ps(v_splat(-0.0f), a); }
INLINE float v_least(V a) {
  const __m128 four = _mm_min_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
  const __m128 two = _mm_min_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_min_ss(two, _mm_shuffle_ps(two, two, 1)));
}
INLINE float v_most(V a) { return -v_least(-a); }
INLINE V v_swap_neighbors(V a) { return _mm256_permute_ps(a, 0xB1); }

INLINE VI vi_load(const void *p) { return (VI)_mm256_loadu_si256((const __m256i *)p); }
INLINE void vi_store(void *p, VI a) { _mm256_storeu_si256((__m256i *)p, (__m256i)a); }
INLINE void v_store_bytes(void *p, VI a) {
  const __m256i low = _mm256_shuffle_epi8((__m256i)a, _mm256_set1_epi32(0x0C080400));
  _mm_storel_epi64(
      p, _mm_unpacklo_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1)));
}
INLINE VI vi_splat(int32_t a) { return (VI)_mm256_set1_epi32(a); }
INLINE VI vi_bits(V a) { return (VI)_mm256_castps_si256(a); }
INLINE V vi_float(VI a) { return _mm256_cvtepi32_ps((__m256i)a); }
INLINE VI vi_max(VI a, VI b) { return (VI)_mm256_max_epi32((__m256i)a, (__m256i)b); }

// The f32 kernels, which all AVX2 tables share.
#define BQ_AVX2_F32                                                                       \
  .linear_f32 = bq_linear_f32_avx2, .layer_norm_f32 = bq_layer_norm_f32_avx2,             \
  .rotate_f32 = bq_rotate_f32_avx2, .attention_f32 = bq_attention_f32_avx2,               \
  .relative_keys_f32 = bq_relative_keys_f32_avx2, .relative_bias = bq_relative_bias_avx2, \
  .multiply_rows = bq_multiply_rows_avx2, .lstm_cell = bq_lstm_cell_avx2,                 \
  .gru_cell = bq_gru_cell_avx2, .exp_f32 = bq_exp_f32_avx2, .tanh_f32 = bq_tanh_f32_avx2, \
  .sum_rows = bq_sum_rows_avx2
