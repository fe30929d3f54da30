// The NEON operations for the other templates: 4 tokens per register. A tile of 6 rows × 1 block
// takes 24 of 32 registers. A step of 4 inputs loads 6 vectors of weights, one per row, and 16 of
// tokens for 96 multiply-adds. These take a weight from a lane: a broadcast would occupy the same
// units. The including file defines
//   INLINE    storage class and attributes of an inlined function
#include <arm_neon.h>
#include <string.h>

typedef float V __attribute__((vector_size(16)));
typedef int32_t VI __attribute__((vector_size(16)));
#define VL 4
#define TILE_ROWS 6
#define TILE_BLOCKS 1
#define KEY_ROWS 4
#define VALUE_ROWS 4

// The f32 kernels, which all NEON tables share.
#define BQ_NEON_F32                                                                       \
  .linear_f32 = bq_linear_f32_neon, .layer_norm_f32 = bq_layer_norm_f32_neon,             \
  .rotate_f32 = bq_rotate_f32_neon, .attention_f32 = bq_attention_f32_neon,               \
  .relative_keys_f32 = bq_relative_keys_f32_neon, .relative_bias = bq_relative_bias_neon, \
  .multiply_rows = bq_multiply_rows_neon, .lstm_cell = bq_lstm_cell_neon,                 \
  .gru_cell = bq_gru_cell_neon, .exp_f32 = bq_exp_f32_neon, .tanh_f32 = bq_tanh_f32_neon, \
  .sum_rows = bq_sum_rows_neon

INLINE V v_load(const float *p) { return (V)vld1q_f32(p); }
INLINE void v_store(float *p, V a) { vst1q_f32(p, (float32x4_t)a); }
INLINE V v_splat(float a) { return (V)vdupq_n_f32(a); }
INLINE V v_fma(V a, V b, V c) {
  return (V)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
}
// NaN if either operand is NaN.
INLINE V v_max(V a, V b) { return (V)vmaxq_f32((float32x4_t)a, (float32x4_t)b); }
INLINE V v_min(V a, V b) { return (V)vminq_f32((float32x4_t)a, (float32x4_t)b); }
INLINE V v_abs(V a) { return (V)vabsq_f32((float32x4_t)a); }
INLINE V v_sqrt(V a) { return (V)vsqrtq_f32((float32x4_t)a); }
INLINE float v_least(V a) { return vminvq_f32((float32x4_t)a); }
INLINE float v_most(V a) { return vmaxvq_f32((float32x4_t)a); }

INLINE VI vi_load(const void *p) { return (VI)vld1q_u8(p); }
INLINE void vi_store(void *p, VI a) { vst1q_u8(p, (uint8x16_t)a); }
INLINE void v_store_bytes(void *p, VI a) {
  const uint16x4_t low = vmovn_u32((uint32x4_t)a);
  const uint32x2_t four = (uint32x2_t)vmovn_u16(vcombine_u16(low, low));
  const uint32_t bytes = vget_lane_u32(four, 0);
  memcpy(p, &bytes, sizeof bytes);
}
INLINE VI vi_splat(int32_t a) { return (VI)vdupq_n_s32(a); }
INLINE VI vi_bits(V a) { return (VI)a; }
INLINE V vi_float(VI a) { return (V)vcvtq_f32_s32((int32x4_t)a); }
INLINE VI vi_max(VI a, VI b) { return (VI)vmaxq_s32((int32x4_t)a, (int32x4_t)b); }
