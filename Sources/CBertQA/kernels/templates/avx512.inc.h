// The AVX-512 operations for the other templates: 16 tokens per register. A tile of 12 rows × 2
// blocks takes 24 of 32 registers and 14 loads for 24 multiply-adds, so that the two multiply-add
// units are the bottleneck, not the loads. The including file defines
//   INLINE    storage class and attributes of an inlined function, with a target that has AVX-512 F, BW,
//             DQ and VL, and avx512vnni with HAS_VNNI
// and, optionally,
//   HAS_VNNI  to provide the byte products that s8_kernels.inc.h and s8_attention.inc.h need
#include <immintrin.h>

typedef __m512 V;
typedef int32_t VI __attribute__((vector_size(64)));
#define VL 16
#define TILE_ROWS 12
#define TILE_BLOCKS 2
#define KEY_ROWS 8
#define VALUE_ROWS 8

// The f32 kernels, which all AVX-512 tables share.
#define BQ_AVX512_F32                                                                           \
  .linear_f32 = bq_linear_f32_avx512, .layer_norm_f32 = bq_layer_norm_f32_avx512,               \
  .rotate_f32 = bq_rotate_f32_avx512, .attention_f32 = bq_attention_f32_avx512,                 \
  .relative_keys_f32 = bq_relative_keys_f32_avx512, .relative_bias = bq_relative_bias_avx512,   \
  .multiply_rows = bq_multiply_rows_avx512, .lstm_cell = bq_lstm_cell_avx512,                   \
  .gru_cell = bq_gru_cell_avx512, .exp_f32 = bq_exp_f32_avx512, .tanh_f32 = bq_tanh_f32_avx512, \
  .sum_rows = bq_sum_rows_avx512

INLINE V v_load(const float *p) { return _mm512_loadu_ps(p); }
INLINE void v_store(float *p, V a) { _mm512_storeu_ps(p, a); }
INLINE V v_splat(float a) { return _mm512_set1_ps(a); }
INLINE V v_fma(V a, V b, V c) { return _mm512_fmadd_ps(a, b, c); }
INLINE V v_max(V a, V b) { return _mm512_max_ps(a, b); }
INLINE V v_min(V a, V b) { return _mm512_min_ps(a, b); }
INLINE V v_sqrt(V a) { return _mm512_sqrt_ps(a); }
INLINE V v_abs(V a) { return _mm512_abs_ps(a); }
INLINE float v_least(V a) { return _mm512_reduce_min_ps(a); }
INLINE float v_most(V a) { return _mm512_reduce_max_ps(a); }
INLINE V v_swap_neighbors(V a) { return _mm512_permute_ps(a, 0xB1); }
#define HAS_V_SCALE 1
INLINE V v_scale(V p, V t, V n) {
  (void)t;
  return _mm512_scalef_ps(p, n);
}

INLINE VI vi_load(const void *p) { return (VI)_mm512_loadu_si512(p); }
INLINE void vi_store(void *p, VI a) { _mm512_storeu_si512(p, (__m512i)a); }
INLINE void v_store_bytes(void *p, VI a) { _mm_storeu_si128(p, _mm512_cvtepi32_epi8((__m512i)a)); }
INLINE VI vi_splat(int32_t a) { return (VI)_mm512_set1_epi32(a); }
INLINE VI vi_bits(V a) { return (VI)_mm512_castps_si512(a); }
INLINE V vi_float(VI a) { return _mm512_cvtepi32_ps((__m512i)a); }
INLINE VI vi_max(VI a, VI b) { return (VI)_mm512_max_epi32((__m512i)a, (__m512i)b); }

#ifdef HAS_VNNI
#define BYTES_X VI
#define BYTES_W VI
INLINE VI v_bytes_x(VI u8) { return u8; }
INLINE VI v_bytes_w(VI s8) { return s8; }
INLINE VI v_dot(VI sum, VI u8, VI s8) {
  return (VI)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)u8, (__m512i)s8);
}
#endif

// 2^x for x ≤ 0, as softmax needs it, with a relative error of 2e-7. scalef applies floor(x); a
// polynomial computes 2 to the rest, which is in [0, 1). -∞ gives 0.
#define HAS_EXP2
#define HAS_FAST_GELU
INLINE V v_exp2(V x) {
  const V r = _mm512_reduce_ps(x, 0x09);
  V p = v_fma(r, v_splat(0.00186713009f), v_splat(0.00901703028f));
  p = v_fma(r, p, v_splat(0.0557999132f));
  p = v_fma(r, p, v_splat(0.24016445f));
  p = v_fma(r, p, v_splat(0.693151312f));
  p = v_fma(r, p, v_splat(1.0f));
  return _mm512_scalef_ps(p, x);
}

// 2^x for x ≤ 8 with a relative error of 1e-4.
#define HAS_EXP2_FAST
INLINE V v_exp2_fast(V x) {
  const V r = _mm512_reduce_ps(x, 0x09);
  V p = v_fma(r, v_splat(0.078024517f), v_splat(0.22606716f));
  p = v_fma(r, p, v_splat(0.69583354f));
  p = v_fma(r, p, v_splat(0.99992522f));
  return _mm512_scalef_ps(p, x);
}
#define v_exp2_byte v_exp2_fast

// A GELU f(x) = max(x, 0) - g(|x|), g(u) = u - f(u), with cubics around multiples of 1/3, which a
// permutation looks up. g is exactly 0 above 29/6. The absolute error is 6e-6: for results that are
// then rounded to 8 bits. It is five times as fast as v_gelu.
INLINE V v_gelu_cubic(const float cubics[4][16], V x) {
  const V magic = v_splat(12582912.0f);  // 1.5 · 2^23: its sum with u has round(u) as low bits
  const V u = v_min(_mm512_abs_ps(x), v_splat(5.0f));
  const V t = v_fma(u, v_splat(3.0f), magic);
  const V r = _mm512_fmsub_ps(u, v_splat(3.0f), t - magic);
  const __m512i i = _mm512_castps_si512(t);
  V g = _mm512_permutexvar_ps(i, v_load(cubics[3]));
  g = v_fma(g, r, _mm512_permutexvar_ps(i, v_load(cubics[2])));
  g = v_fma(g, r, _mm512_permutexvar_ps(i, v_load(cubics[1])));
  g = v_fma(g, r, _mm512_permutexvar_ps(i, v_load(cubics[0])));
  return v_max(v_splat(0), x) - g;
}

INLINE V v_gelu_fast(V x) {
  static const float cubics[4][16] = {
      {0.0f, 0.12314223f, 0.16832699f, 0.15865716f, 0.12161842f, 0.079653665f, 0.045502f,
       0.022902908f, 0.010214137f, 0.0040493053f, 0.0014298938f, 0.0004503348f, 0.00012660492f,
       3.1791031e-05f, 7.1330505e-06f, 0.0f},
      {0.16668524f, 0.081217892f, 0.013178729f, -0.027769765f, -0.042489246f, -0.03933581f,
       -0.02841175f, -0.017123826f, -0.0088532846f, -0.0039818841f, -0.0015705184f, -0.00054594624f,
       -0.00016782711f, -4.5729015e-05f, -1.1063027e-05f, 0.0f},
      {-0.044552889f, -0.039445557f, -0.027562123f, -0.013504469f, -0.0021357227f, 0.0041997903f,
       0.0059434362f, 0.0050025741f, 0.0032427611f, 0.0017359689f, 0.00079050165f, 0.00031096564f,
       0.00010664883f, 3.2078187e-05f, 8.4965823e-06f, 0.0f},
      {0.00078271731f, 0.0029927422f, 0.0046379468f, 0.0044561457f, 0.0029951716f, 0.0012610867f,
       1.382649e-05f, -0.00053592358f, -0.00057983072f, -0.0004103384f, -0.00022692677f,
       -0.00010381381f, -4.0327846e-05f, -1.3497387e-05f, -3.9269871e-06f, 0.0f}};
  return v_gelu_cubic(cubics, x);
}

INLINE V v_gelu_tanh_fast(V x) {
  static const float cubics[4][16] = {
      {0.0f, 0.123146f, 0.16837414f, 0.15880994f, 0.12185125f, 0.079805411f, 0.045404043f,
       0.022543274f, 0.0097417831f, 0.0036370012f, 0.0011607822f, 0.00031275372f, 7.0162831e-05f,
       1.2916763e-05f, 1.9223348e-06f, 0.0f},
      {0.16668533f, 0.081232376f, 0.013257107f, -0.027652686f, -0.042472564f, -0.039516669f,
       -0.02870084f, -0.017328512f, -0.0088707628f, -0.0038614206f, -0.0014214395f, -0.00043808264f,
       -0.00011164353f, -2.3206705e-05f, -3.8783637e-06f, 0.0f},
      {-0.044553984f, -0.039425619f, -0.02752668f, -0.01351512f, -0.0022210712f, 0.0041092848f,
       0.0059374608f, 0.005082198f, 0.0033330531f, 0.0017774133f, 0.00078257656f, 0.0002842774f,
       8.4548679e-05f, 2.0366444e-05f, 3.9247107e-06f, 0.0f},
      {0.00078652997f, 0.0030026773f, 0.0046344046f, 0.004430891f, 0.0029770075f, 0.0012771109f,
       4.8455517e-05f, -0.00051810843f, -0.00058931165f, -0.00042976136f, -0.00023870885f,
       -0.00010513709f, -3.7005066e-05f, -1.037011e-05f, -2.2943746e-06f, 0.0f}};
  return v_gelu_cubic(cubics, x);
}
