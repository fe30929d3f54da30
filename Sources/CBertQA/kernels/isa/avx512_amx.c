// AVX-512 with AMX: tiles of 16 rows of 64 bytes; one instruction multiplies two of them. 64 bytes
// of 16 rows of weights, and the same features of a block of activations, form tiles without
// repacking. Linear layers, attention_bf16 and the context of attention_s8 use tiles. The
// remainders at the edges and everything else use AVX-512.
#include "../kernels_internal.h"

#if BQ_X86
#define SUFFIXED(name) BQ_PASTE(bq_##name, avx512_amx)
#define TARGET                                                                    \
  __attribute__((                                                                 \
      target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx512bf16,avx2,fma," \
             "amx-tile,amx-int8,amx-bf16")))
#define KERNEL TARGET
#define INLINE TARGET __attribute__((always_inline)) static inline
#define HAS_VNNI
#define HAS_LINEAR_S8
#define S8_ROWS 8

#include "../templates/avx512.inc.h"
#include "../templates/f32_math.inc.h"
#include "../templates/tiles.inc.h"
#include "../templates/avx512_bf16.inc.h"
#include "../templates/bf16_kernels.inc.h"
#define PAIR_ROWS VALUE_ROWS
#include "../templates/bf16_attention.inc.h"
#include "../templates/quantize.inc.h"
#include "../templates/s8_kernels.inc.h"

enum { SUMS_ROWS = 8 };  // outputs that are finished at once

// value_tiles.inc.h handles whole tiles of features only.
#define HAS_VALUE_TILES
#include "../templates/tile_sums.inc.h"
#include "../templates/value_tiles.inc.h"
#include "../templates/dot_quads.inc.h"
#include "../templates/s8_attention.inc.h"

// A call of a linear layer. Four bytes of a weight row (four int8 or two bfloat16) multiply 64 of a
// block's activations.
typedef struct {
  const bq_weights_s8 *s8;  // or NULL
  const char *w, *x;
  size_t row;  // bytes of a row of weights
  const float *bias, *scale, *offset;
  int32_t epilogue;
  char *y;
  size_t y_stride;
} product;

#include "../templates/attention_tiles.inc.h"

// Multiplies `rows` tiles of weights by `blocks` blocks. `ahead` prefetches the rows that follow,
// which would otherwise arrive at memory latency.
INLINE void multiply_tiles(const int bf16, const int rows, const int blocks, const int ahead,
                           const char *w, const char *x, size_t row, tile_sums *sums) {
  clear_sums(rows, blocks);
  for (size_t k = 0; k < row; k += TILE_BYTES) {
    if (ahead)
      BQ_UNROLL_FOR (int r = 0; r < rows * TILE; r++)
        __builtin_prefetch(w + (rows * TILE + r) * row + k, 0, 2);
    add_tiles(bf16, rows, blocks, w + k, row, x + k * BQ_LANES, TILE_BYTES, row * BQ_LANES);
  }
  store_sums(rows, blocks, sums);
}

INLINE void finish_bf16(const int blocks, const product *p, size_t o, size_t b,
                        V acc[][TILE_VECS]) {
  BQ_UNROLL_FOR (int r = 0; r < SUMS_ROWS; r++)
    BQ_UNROLL_FOR (int v = 0; v < blocks; v++)
      acc[r][v] = acc[r][v] + v_splat(p->bias[o + (size_t)r]);
  const size_t at = p->y_stride * b + BQ_LANES * o;
  if (p->epilogue >= BQ_EPILOGUE_BF16)
    store_tile_bf16(SUMS_ROWS, blocks, acc, p->epilogue, (uint16_t *)p->y + at, p->y_stride);
  else
    store_tile(SUMS_ROWS, blocks, acc, p->epilogue, activate_fast_tile, (float *)p->y + at,
               p->y_stride);
}

// Computes 16 · `rows` outputs from `o` for the blocks from `b`.
INLINE void linear_tiles(const int bf16, const int rows, const int blocks, const int ahead,
                         const product *p, size_t o, size_t b) {
  tile_sums sums;
  multiply_tiles(bf16, rows, blocks, ahead, p->w + o * p->row, p->x + b * p->row * BQ_LANES, p->row,
                 &sums);
  for (size_t i = 0; i < (size_t)rows * TILE; i += SUMS_ROWS) {
    VI dots[SUMS_ROWS][TILE_VECS];
    BQ_UNROLL_FOR (size_t r = 0; r < SUMS_ROWS; r++)
      BQ_UNROLL_FOR (int v = 0; v < blocks; v++)
        dots[r][v] = vi_load(sums.of[i / TILE][v] + (i % TILE + r) * BQ_LANES);
    if (bf16)
      finish_bf16(blocks, p, o + i, b, (V(*)[TILE_VECS])dots);
    else
      finish_tile_s8(SUMS_ROWS, blocks, p->s8, o + i, dots, p->scale + BQ_LANES * b,
                     p->offset + BQ_LANES * b, p->epilogue,
                     (float *)p->y + p->y_stride * b + BQ_LANES * (o + i), p->y_stride);
  }
}

// Computes the first `outs` outputs, a multiple of 16.
INLINE void linear_product(const int bf16, const product *p, size_t blocks, size_t outs) {
  const size_t panel = PANEL_BYTES / (p->row * BQ_LANES) / 2 * 2, step = panel ? panel : 2;
  use_tiles();
  for (size_t begin = 0; begin < blocks; begin += step) {
    const size_t end = blocks - begin < step ? blocks : begin + step;
    for (size_t o = 0; o < outs;) {
      const int rows = outs - o < 2 * TILE ? 1 : 2;
      for (size_t b = begin; b < end; b += 2) {
        if (rows == 1 && end - b < 2)
          linear_tiles(bf16, 1, 1, 0, p, o, b);
        else if (rows == 1)
          linear_tiles(bf16, 1, 2, 0, p, o, b);
        else if (end - b < 2)
          linear_tiles(bf16, 2, 1, 0, p, o, b);
        else if (b == begin)
          linear_tiles(bf16, 2, 2, 1, p, o, b);
        else
          linear_tiles(bf16, 2, 2, 0, p, o, b);
      }
      o += (size_t)rows * TILE;
    }
  }
  // Tiles in use would be saved at every context switch.
  _tile_release();
}

KERNEL void SUFFIXED(linear_s8)(const bq_weights_s8 *weights, const uint8_t *x, const float *scale,
                                const float *offset, size_t blocks, size_t in, size_t outs,
                                int32_t epilogue, float *y, size_t y_stride) {
  const size_t whole = in % TILE_BYTES ? 0 : outs / TILE * TILE;
  const product p = {weights,         (const char *)weights->w,
                     (const char *)x, in,
                     weights->bias,   scale,
                     offset,          epilogue,
                     (char *)y,       y_stride};
  if (whole) linear_product(0, &p, blocks, whole);
  if (whole == outs) return;
  const bq_weights_s8 rest = {weights->w + whole * in, weights->scale + whole,
                              weights->sums + whole, weights->bias + whole, NULL};
  bq_linear_s8_avx512_vnni(&rest, x, scale, offset, blocks, in, outs - whole, epilogue,
                           y + whole * BQ_LANES, y_stride);
}

TARGET static void linear_bf16(const uint16_t *w, const float *bias, const uint16_t *x,
                               size_t blocks, size_t in, size_t outs, int32_t epilogue, void *y,
                               size_t y_stride) {
  const size_t whole = in * sizeof *w % TILE_BYTES ? 0 : outs / TILE * TILE;
  const size_t size = epilogue >= BQ_EPILOGUE_BF16 ? sizeof(uint16_t) : sizeof(float);
  const product p = {
      NULL, (const char *)w, (const char *)x, in * sizeof *w, bias, NULL, NULL, epilogue,
      y,    y_stride};
  if (whole) linear_product(1, &p, blocks, whole);
  if (whole < outs)
    bq_linear_bf16_avx512_vnni_bf16(w + whole * in, bias + whole, x, blocks, in, outs - whole,
                                    epilogue, (char *)y + whole * BQ_LANES * size, y_stride);
}

TARGET static void attention_s8(const bq_attention *a, const float *q, const float *k,
                                const float *v, float *out) {
  if (a->head_dim % TILE) {
    bq_attention_s8_avx512_vnni(a, q, k, v, out);
    return;
  }
  use_tiles();
  bq_attention_s8_avx512_amx(a, q, k, v, out);
  _tile_release();
}

const bq_kernels bq_kernels_avx512_amx = {
    .isa = BQ_ISA_AVX512_AMX,
    BQ_AVX512_F32,
    .byte_steps = BYTE_STEPS,
    .quantize_u8 = bq_quantize_u8_avx512_vnni,
    .linear_s8 = bq_linear_s8_avx512_amx,
    .attention_s8 = attention_s8,
    .pack_bf16 = bq_pack_bf16_avx512_vnni_bf16,
    .linear_bf16 = linear_bf16,
    .attention_bf16 = attention_bf16,
    .relative_keys_bf16 = bq_relative_keys_bf16_avx512_vnni_bf16,
};
#endif
