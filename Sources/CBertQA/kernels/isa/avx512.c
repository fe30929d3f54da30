// AVX-512 F, BW, DQ and VL.
#include "../kernels_internal.h"

#if BQ_X86
#define SUFFIXED(name) BQ_PASTE(bq_##name, avx512)
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")))
#define KERNEL TARGET
#define INLINE TARGET __attribute__((always_inline)) static inline

#include "../templates/avx512.inc.h"
#include "../templates/f32_kernels.inc.h"
#include "../templates/relative.inc.h"

#define ROW_VECTORS 6  // 24 sums, 4 vectors of weights, 1 of values
INLINE V v_load_f16(const void *p) { return _mm512_cvtph_ps(_mm256_loadu_si256(p)); }
INLINE V v_load_bf16(const void *p) {
  return (V)_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256(p)), 16);
}
INLINE V v_load_part(const float *p, size_t n) {
  return _mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p);
}
#define BQ_MASK_ONES -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1
// Adds lanes l and l + 2 of each quarter, then those two sums; then quarters q and q + 2, then
// those two.
INLINE void v_sums4(V a, V b, V c, V d, const float *bias, float *y) {
  const V ab = _mm512_unpacklo_ps(a, b) + _mm512_unpackhi_ps(a, b);
  const V cd = _mm512_unpacklo_ps(c, d) + _mm512_unpackhi_ps(c, d);
  const V four = _mm512_shuffle_ps(ab, cd, 0x44) + _mm512_shuffle_ps(ab, cd, 0xEE);
  const __m256 two = _mm512_castps512_ps256(four) + _mm512_extractf32x8_ps(four, 1);
  const __m128 sums = _mm256_castps256_ps128(two) + _mm256_extractf128_ps(two, 1);
  _mm_storeu_ps(y, sums + _mm_loadu_ps(bias));
}

#include "../templates/recurrent.inc.h"
#include "../templates/table_rows.inc.h"

#define HAS_BYTE_PAIRS
#define S8_ROWS 8
INLINE VI vi_byte_pairs(VI a, VI b) { return (VI)_mm512_maddubs_epi16((__m512i)a, (__m512i)b); }
INLINE VI vi_add16(VI a, VI b) { return (VI)_mm512_add_epi16((__m512i)a, (__m512i)b); }
INLINE VI vi_multiply_add(VI a, VI b) { return (VI)_mm512_madd_epi16((__m512i)a, (__m512i)b); }

#include "../templates/quantize.inc.h"
#include "../templates/s8_kernels.inc.h"
#include "../templates/pair_quads.inc.h"
#include "../templates/dot_quads.inc.h"
#include "../templates/s8_attention.inc.h"

const bq_kernels bq_kernels_avx512 = {
    .isa = BQ_ISA_AVX512,
    BQ_AVX512_F32,
    .byte_steps = BYTE_STEPS,
    .quantize_u8 = bq_quantize_u8_avx512,
    .linear_s8 = bq_linear_s8_avx512,
    .find_large_s8 = bq_find_large_s8_avx512,
    .attention_s8 = bq_attention_s8_avx512,
};
#endif
