// NEON with the dot product extension: four byte products per lane and instruction.
#include "../kernels_internal.h"

#if BQ_ARM64
#define SUFFIXED(name) BQ_PASTE(bq_##name, neon_dotprod)
#define TARGET __attribute__((target("arch=armv8.2-a+dotprod")))
#define KERNEL TARGET
#define INLINE TARGET __attribute__((always_inline)) static inline

#include "../templates/neon.inc.h"
#include "../templates/f32_math.inc.h"
#include "../templates/tiles.inc.h"

// The operands of the instruction have the same signedness, so weights become unsigned too:
//   Σ w·x = Σ (w + 128)·x - 128 · Σ x
// in arithmetic modulo 2^32. `start`, the second sum, is the same for all rows and is computed
// once.
INLINE void dots_tile_s8(const int rows, const int blocks, const int8_t *w, const uint8_t *x,
                         size_t in, const uint32_t *start, VI dots[][TILE_VECS]) {
  const uint8x16_t sign = vdupq_n_u8(0x80);
  uint32x4_t sums[TILE_ROWS][TILE_VECS];
  BQ_UNROLL_FOR (int r = 0; r < rows; r++)
    BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++) sums[r][v] = vld1q_u32(start + v * VL);
  size_t k = 0;
  for (; k + 16 <= in; k += 16) {
    uint8x16_t weights[TILE_ROWS];
    BQ_UNROLL_FOR (size_t i = 0; i < 4; i += 2) PREFETCH_ROWS(w, in, k / 4 + i);
    BQ_UNROLL_FOR (int r = 0; r < rows; r++) {
      weights[r] = veorq_u8(vld1q_u8((const uint8_t *)w + (size_t)r * in + k), sign);
      __asm__ volatile("" : "+w"(weights[r])::"memory");
    }
#define BQ_QUAD(i)                                                               \
  BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++) {                            \
    const uint8x16_t tokens = vld1q_u8(x + (k + 4 * i) * BQ_LANES + v * VL * 4); \
    BQ_UNROLL_FOR (int r = 0; r < rows; r++)                                     \
      sums[r][v] = vdotq_laneq_u32(sums[r][v], tokens, weights[r], i);           \
  }
    BQ_QUAD(0) BQ_QUAD(1) BQ_QUAD(2) BQ_QUAD(3)
#undef BQ_QUAD
  }
  for (; k < in; k += 4)
    BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++) {
      const uint8x16_t tokens = vld1q_u8(x + k * BQ_LANES + v * VL * 4);
      BQ_UNROLL_FOR (int r = 0; r < rows; r++) {
        int32_t quad;
        memcpy(&quad, w + (size_t)r * in + k, sizeof quad);
        sums[r][v] = vdotq_u32(sums[r][v], tokens, veorq_u8((uint8x16_t)vi_splat(quad), sign));
      }
    }
  BQ_UNROLL_FOR (int r = 0; r < rows; r++)
    BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++) dots[r][v] = (VI)sums[r][v];
}

// start[token] = -128 · Σ x of one block's tokens.
INLINE void start_block(const uint8_t *x, size_t in, uint32_t *start) {
  uint32x4_t sums[VECS];
  BQ_UNROLL_FOR (int v = 0; v < VECS; v++) sums[v] = vdupq_n_u32(0);
  for (size_t k = 0; k < in; k += 4)
    BQ_UNROLL_FOR (int v = 0; v < VECS; v++)
      sums[v] = vdotq_u32(sums[v], vld1q_u8(x + k * BQ_LANES + v * VL * 4), vdupq_n_u8(1));
  BQ_UNROLL_FOR (int v = 0; v < VECS; v++)
    vst1q_u32(start + v * VL, vsubq_u32(vdupq_n_u32(0), vshlq_n_u32(sums[v], 7)));
}

#define S8_ROWS TILE_ROWS
#define HAS_LINEAR_S8
#include "../templates/s8_kernels.inc.h"

INLINE void linear_tile_s8(const int rows, const int blocks, const bq_weights_s8 *weights, size_t o,
                           const uint8_t *x, const float *scale, const float *offset, size_t in,
                           const uint32_t *start, int32_t epilogue, float *y, size_t y_stride) {
  VI dots[S8_ROWS][TILE_VECS];
  prefetch_outputs(rows, blocks, y, y_stride * sizeof *y, BQ_LANES * sizeof *y);
  dots_tile_s8(rows, blocks, weights->w + o * in, x, in, start, dots);
  finish_tile_s8(rows, blocks, weights, o, dots, scale, offset, epilogue, y, y_stride);
}

KERNEL void SUFFIXED(linear_s8)(const bq_weights_s8 *weights, const uint8_t *x, const float *scale,
                                const float *offset, size_t blocks, size_t in, size_t outs,
                                int32_t epilogue, float *y, size_t y_stride) {
  enum { SPAN = 32 };  // blocks whose sums are kept
  uint32_t start[SPAN * BQ_LANES];
  for (size_t first = 0; first < blocks; first += SPAN) {
    const size_t many = blocks - first < SPAN ? blocks - first : SPAN;
    for (size_t b = 0; b < many; b++)
      start_block(x + in * BQ_LANES * (first + b), in, start + b * BQ_LANES);
#define BQ_TILE(rows, count, o, b)                                                                \
  linear_tile_s8(rows, count, weights, o, x + in * BQ_LANES * (first + (b)),                      \
                 scale + BQ_LANES * (first + (b)), offset + BQ_LANES * (first + (b)), in,         \
                 start + BQ_LANES * (b), epilogue, y + y_stride * (first + (b)) + BQ_LANES * (o), \
                 y_stride)
    BQ_FOR_TILES(S8_ROWS, in * BQ_LANES, many, outs, BQ_TILE);
#undef BQ_TILE
  }
}

const bq_kernels bq_kernels_neon_dotprod = {
    .isa = BQ_ISA_NEON_DOTPROD,
    BQ_NEON_F32,
    .byte_steps = 253,
    .quantize_u8 = bq_quantize_u8_neon,
    .linear_s8 = bq_linear_s8_neon_dotprod,
};
#endif
