// NEON: supported by every arm64 CPU.
#include "../kernels_internal.h"

#if BQ_ARM64
#define SUFFIXED(name) BQ_PASTE(bq_##name, neon)
#define KERNEL
#define INLINE __attribute__((always_inline)) static inline

#include "../templates/neon.inc.h"
#define HAS_DOT_TILE
#include "../templates/f32_math.inc.h"
#include "../templates/tiles.inc.h"
#include "../templates/neon_dot.inc.h"
#include "../templates/f32_kernels.inc.h"
#include "../templates/relative.inc.h"

#define ROW_VECTORS 6  // 24 sums, 4 vectors of weights, 1 of values
INLINE V v_load_f16(const void *p) { return (V)vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(p))); }
INLINE V v_load_bf16(const void *p) { return (V)vshll_n_u16(vreinterpret_u16_u8(vld1_u8(p)), 16); }
INLINE V v_load_part(const float *p, size_t n) {
  float rest[VL] = {0};
  memcpy(rest, p, n * sizeof *p);
  return v_load(rest);
}
#define BQ_MASK_ONES -1, -1, -1, -1
// Adds lanes 2 l and 2 l + 1, then those two sums.
INLINE void v_sums4(V a, V b, V c, V d, const float *bias, float *y) {
  const float32x4_t ab = vpaddq_f32((float32x4_t)a, (float32x4_t)b);
  const float32x4_t cd = vpaddq_f32((float32x4_t)c, (float32x4_t)d);
  vst1q_f32(y, vaddq_f32(vpaddq_f32(ab, cd), vld1q_f32(bias)));
}

#include "../templates/recurrent.inc.h"
#include "../templates/table_rows.inc.h"
#include "../templates/quantize.inc.h"

// A product of bytes fits in 16 bits, but a sum of two does not. So each product is widened to 32
// bits at once, and the sum of a token stays in two halves until the end: 16 registers for 2 rows;
// there are too few for 3. x - 128 is signed like the weights:
//   Σ w·x = Σ w·(x - 128) + 128 · Σ w
#define S8_ROWS 2
#define HAS_DOTS_TILE
INLINE void dots_tile_s8(const int rows, const int blocks, const int8_t *w, const uint8_t *x,
                         size_t in, VI dots[][TILE_BLOCKS * BQ_LANES / VL]) {
  const int vectors = blocks * BQ_LANES / VL;
  int32x4_t low[S8_ROWS][BQ_LANES / VL], high[S8_ROWS][BQ_LANES / VL];
  int32_t sums[S8_ROWS];
  BQ_UNROLL_FOR (int r = 0; r < rows; r++) {
    int32_t sum = 0;
    for (size_t k = 0; k < in; k++) sum += w[(size_t)r * in + k];
    sums[r] = sum * 128;
    BQ_UNROLL_FOR (int v = 0; v < vectors; v++) low[r][v] = high[r][v] = vdupq_n_s32(0);
  }
  for (size_t k = 0; k < in; k += 4) {
    int8x16_t weights[S8_ROWS];
    BQ_UNROLL_FOR (int r = 0; r < rows; r++) {
      int32_t quad;
      memcpy(&quad, w + (size_t)r * in + k, sizeof quad);
      weights[r] = (int8x16_t)vi_splat(quad);
    }
    BQ_UNROLL_FOR (int v = 0; v < vectors; v++) {
      const int8x16_t tokens =
          (int8x16_t)veorq_u8(vld1q_u8(x + k * BQ_LANES + v * VL * 4), vdupq_n_u8(0x80));
      BQ_UNROLL_FOR (int r = 0; r < rows; r++) {
        low[r][v] = vpadalq_s16(low[r][v], vmull_s8(vget_low_s8(tokens), vget_low_s8(weights[r])));
        high[r][v] = vpadalq_s16(high[r][v], vmull_high_s8(tokens, weights[r]));
      }
    }
  }
  BQ_UNROLL_FOR (int r = 0; r < rows; r++)
    BQ_UNROLL_FOR (int v = 0; v < vectors; v++)
      dots[r][v] = (VI)vaddq_s32(vpaddq_s32(low[r][v], high[r][v]), vdupq_n_s32(sums[r]));
}

#include "../templates/s8_kernels.inc.h"

const bq_kernels bq_kernels_neon = {
    .isa = BQ_ISA_NEON,
    BQ_NEON_F32,
    .byte_steps = BYTE_STEPS,
    .quantize_u8 = bq_quantize_u8_neon,
    .linear_s8 = bq_linear_s8_neon,
};
#endif
