// Compiler vectors of 4 floats: SSE2 on x86-64, NEON on arm64, and whatever other architectures
// have. Only NEON has an FMA here; elsewhere products are rounded before they are added.
#include "../kernels_internal.h"

#include <string.h>
#if defined(__aarch64__)
#include <arm_neon.h>
#endif

#define SUFFIXED(name) BQ_PASTE(bq_##name, portable)
#define KERNEL
#define INLINE __attribute__((always_inline)) static inline

typedef float V __attribute__((vector_size(16)));
typedef int32_t VI __attribute__((vector_size(16)));
#define VL 4
#define TILE_BLOCKS 1
#if defined(__aarch64__)
#define TILE_ROWS 6  // 24 of 32 registers
#define VALUE_ROWS 4
#else
#define TILE_ROWS 3  // 12 of 16 registers
#define VALUE_ROWS 2
#endif
#define KEY_ROWS 4

INLINE V v_load(const float *p) {
  V a;
  memcpy(&a, p, sizeof a);
  return a;
}
INLINE void v_store(float *p, V a) { memcpy(p, &a, sizeof a); }
INLINE V v_splat(float a) { return (V){a, a, a, a}; }
INLINE V v_fma(V a, V b, V c) {
#if defined(__aarch64__)
  return (V)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
#else
  return a * b + c;
#endif
}
// Returns the second operand if they are unordered, like the x86 instructions.
INLINE V v_max(V a, V b) {
  const VI first = a > b;
  return (V)((first & (VI)a) | (~first & (VI)b));
}
INLINE V v_min(V a, V b) {
  const VI first = a < b;
  return (V)((first & (VI)a) | (~first & (VI)b));
}
INLINE V v_sqrt(V a) {
  for (int i = 0; i < VL; i++) a[i] = __builtin_sqrtf(a[i]);
  return a;
}

INLINE VI vi_load(const void *p) {
  VI a;
  memcpy(&a, p, sizeof a);
  return a;
}
INLINE void vi_store(void *p, VI a) { memcpy(p, &a, sizeof a); }
INLINE VI vi_splat(int32_t a) { return (VI){a, a, a, a}; }
INLINE VI vi_bits(V a) { return (VI)a; }
INLINE V vi_float(VI a) { return __builtin_convertvector(a, V); }

#include "../templates/f32_kernels.inc.h"
#include "../templates/relative.inc.h"

#if defined(__aarch64__)
#define ROW_VECTORS 4  // 16 sums, 4 vectors of weights, 1 of values
#else
#define ROW_VECTORS 2  // 8 sums, 4 vectors of weights, 1 of values, 1 product
#endif
INLINE VI vi_load_u16(const void *p) {
  typedef uint16_t half __attribute__((vector_size(8)));
  half a;
  memcpy(&a, p, sizeof a);
  return __builtin_convertvector(a, VI);
}
// Uses integer operations, as the result must not depend on the host's treatment of subnormals.
INLINE V v_load_f16(const void *p) {
#if defined(__aarch64__)
  float16x4_t a;
  memcpy(&a, p, sizeof a);
  return (V)vcvt_f32_f16(a);
#else
  const VI a = vi_load_u16(p);
  // Changes the exponent bias from 15 to 127.
  const VI normal = ((a & 0x7FFF) << 13) + (112 << 23);
  const VI subnormal = (VI)(vi_float(a & 0x3FF) * v_splat(0x1p-24f));
  const VI is_small = (a & 0x7C00) == 0;
  return (V)((is_small & subnormal) | (~is_small & normal) | (a & 0x8000) << 16);
#endif
}
INLINE V v_load_bf16(const void *p) { return (V)(vi_load_u16(p) << 16); }
INLINE V v_load_part(const float *p, size_t n) {
  float rest[VL] = {0};
  memcpy(rest, p, n * sizeof *p);
  return v_load(rest);
}
#define BQ_MASK_ONES -1, -1, -1, -1
// Adds lanes l and l + 2, then those two sums.
INLINE void v_sums4(V a, V b, V c, V d, const float *bias, float *y) {
  const V rows[] = {a, b, c, d};
  for (int r = 0; r < 4; r++)
    y[r] = (rows[r][0] + rows[r][2]) + (rows[r][1] + rows[r][3]) + bias[r];
}

#include "../templates/recurrent.inc.h"
#include "../templates/table_rows.inc.h"

typedef int16_t VI16 __attribute__((vector_size(16)));
typedef uint16_t VU16 __attribute__((vector_size(16)));
#define S8_ROWS 2
// The sum of the products of each lane's lower and upper halves; compilers recognise it as pmaddwd.
INLINE VI vi_multiply_add(VI a, VI b) {
#if defined(__aarch64__)
  const int16x8_t x = (int16x8_t)a, y = (int16x8_t)b;
  return (VI)vpaddq_s32(vmull_s16(vget_low_s16(x), vget_low_s16(y)), vmull_high_s16(x, y));
#else
  return (a << 16 >> 16) * (b << 16 >> 16) + (a >> 16) * (b >> 16);
#endif
}

#include "../templates/multiply16.inc.h"
#include "../templates/quantize.inc.h"
#include "../templates/s8_kernels.inc.h"

const bq_kernels bq_kernels_portable = {
    .isa = BQ_ISA_PORTABLE,
    .linear_f32 = bq_linear_f32_portable,
    .layer_norm_f32 = bq_layer_norm_f32_portable,
    .rotate_f32 = bq_rotate_f32_portable,
    .attention_f32 = bq_attention_f32_portable,
    .relative_keys_f32 = bq_relative_keys_f32_portable,
    .relative_bias = bq_relative_bias_portable,
    .multiply_rows = bq_multiply_rows_portable,
    .sum_rows = bq_sum_rows_portable,
    .lstm_cell = bq_lstm_cell_portable,
    .gru_cell = bq_gru_cell_portable,
    .exp_f32 = bq_exp_f32_portable,
    .tanh_f32 = bq_tanh_f32_portable,
    .byte_steps = BYTE_STEPS,
    .quantize_u8 = bq_quantize_u8_portable,
    .linear_s8 = bq_linear_s8_portable,
};
