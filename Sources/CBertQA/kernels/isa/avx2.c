// AVX2, FMA and F16C.
#include "../kernels_internal.h"

#if BQ_X86
#define SUFFIXED(name) BQ_PASTE(bq_##name, avx2)
#define TARGET __attribute__((target("avx2,fma,f16c")))
#define KERNEL TARGET
#define INLINE TARGET __attribute__((always_inline)) static inline

#include "../templates/avx2.inc.h"
#include "../templates/f32_kernels.inc.h"
#include "../templates/relative.inc.h"

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
// Adds lanes l and l + 2 of each half, then those two sums, then the halves.
INLINE void v_sums4(V a, V b, V c, V d, const float *bias, float *y) {
  const V ab = _mm256_unpacklo_ps(a, b) + _mm256_unpackhi_ps(a, b);
  const V cd = _mm256_unpacklo_ps(c, d) + _mm256_unpackhi_ps(c, d);
  const V four = _mm256_shuffle_ps(ab, cd, 0x44) + _mm256_shuffle_ps(ab, cd, 0xEE);
  const __m128 sums = _mm256_castps256_ps128(four) + _mm256_extractf128_ps(four, 1);
  _mm_storeu_ps(y, sums + _mm_loadu_ps(bias));
}

#include "../templates/recurrent.inc.h"
#include "../templates/table_rows.inc.h"

#define HAS_BYTE_PAIRS
#define S8_ROWS 4
INLINE VI vi_byte_pairs(VI a, VI b) { return (VI)_mm256_maddubs_epi16((__m256i)a, (__m256i)b); }
INLINE VI vi_add16(VI a, VI b) { return (VI)_mm256_add_epi16((__m256i)a, (__m256i)b); }
INLINE VI vi_multiply_add(VI a, VI b) { return (VI)_mm256_madd_epi16((__m256i)a, (__m256i)b); }

#include "../templates/quantize.inc.h"
#include "../templates/s8_kernels.inc.h"
// Tiles like those of S8_ROWS: 8 sums, 4 vectors of bytes, 2 of rows.
#undef KEY_ROWS
#undef VALUE_ROWS
#define KEY_ROWS S8_ROWS
#define VALUE_ROWS S8_ROWS
#include "../templates/pair_quads.inc.h"
#include "../templates/dot_quads.inc.h"
#include "../templates/s8_attention.inc.h"

const bq_kernels bq_kernels_avx2 = {
    .isa = BQ_ISA_AVX2,
    BQ_AVX2_F32,
    .byte_steps = BYTE_STEPS,
    .quantize_u8 = bq_quantize_u8_avx2,
    .linear_s8 = bq_linear_s8_avx2,
    .find_large_s8 = bq_find_large_s8_avx2,
    .attention_s8 = bq_attention_s8_avx2,
};
#endif
