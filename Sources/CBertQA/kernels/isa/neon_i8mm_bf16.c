// NEON with the matrix instructions of I8MM and BF16: 32 products of bytes or 16 of bfloat16s per instruction.
#include "../kernels_internal.h"

#if BQ_ARM64
#define SUFFIXED(name) BQ_PASTE(bq_##name, neon_i8mm_bf16)
#define TARGET __attribute__((target("arch=armv8.2-a+dotprod+i8mm+bf16")))
#define KERNEL TARGET
#define INLINE TARGET __attribute__((always_inline)) static inline

#include "../templates/neon.inc.h"
#include "../templates/f32_math.inc.h"
#include "../templates/tiles.inc.h"
#include "../templates/neon_mmla.inc.h"

#define S8_ROWS TILE_ROWS
#define HAS_DOTS_TILE
INLINE void dots_tile_s8(const int rows, const int blocks, const int8_t *w, const uint8_t *x,
                         size_t in, VI dots[][TILE_VECS]) {
  (void)blocks;  // one block
  BQ_UNROLL_FOR (int r = 0; r < (rows + 1) / 2 * 2; r++)
    BQ_UNROLL_FOR (int v = 0; v < VECS; v++) dots[r][v] = vi_splat(0);
  mmla_tile(X_UNSIGNED, rows, (const char *)w, in, 4, (const char *)x, 4 * BQ_LANES, in / 4, 1,
            dots);
  order_sums(X_UNSIGNED, rows, dots);
}

#include "../templates/s8_kernels.inc.h"
#include "../templates/neon_bf16.inc.h"
#include "../templates/bf16_kernels.inc.h"
#define PAIR_ROWS TILE_ROWS
#include "../templates/bf16_attention.inc.h"
#include "../templates/quantize.inc.h"

INLINE VI v_dot(VI sum, VI u8, VI s8) {
  return (VI)vusdotq_s32((int32x4_t)sum, (uint8x16_t)u8, (int8x16_t)s8);
}
INLINE void dot_tile_quads(const int unsigned_rows, const int rows, const int blocks, const void *w,
                           size_t w_row, const size_t w_step, const void *x, size_t x_step,
                           size_t x_block, size_t n, VI acc[][TILE_VECS]) {
  (void)blocks, (void)x_block;  // one block
  mmla_tile(unsigned_rows ? W_UNSIGNED : X_UNSIGNED, rows, w, w_row, w_step, x, x_step, n, 0, acc);
}
INLINE void order_tile_quads(const int unsigned_rows, const int rows, VI acc[][TILE_VECS]) {
  order_sums(unsigned_rows ? W_UNSIGNED : X_UNSIGNED, rows, acc);
}
#include "../templates/s8_attention.inc.h"

const bq_kernels bq_kernels_neon_i8mm_bf16 = {
    .isa = BQ_ISA_NEON_I8MM_BF16,
    BQ_NEON_F32,
    .byte_steps = BYTE_STEPS,
    .quantize_u8 = bq_quantize_u8_neon_i8mm_bf16,
    .linear_s8 = bq_linear_s8_neon_i8mm_bf16,
    .attention_s8 = bq_attention_s8_neon_i8mm_bf16,
    .pack_bf16 = bq_pack_bf16_neon_i8mm_bf16,
    .linear_bf16 = bq_linear_bf16_neon_i8mm_bf16,
    .attention_bf16 = bq_attention_bf16_neon_i8mm_bf16,
    .relative_keys_bf16 = bq_relative_keys_bf16_neon_i8mm_bf16,
};
#endif
