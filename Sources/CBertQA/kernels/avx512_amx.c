// AVX-512 with AMX: tiles of 16 rows of 64 bytes, of which one instruction multiplies two. A block of 64 features
// of the activations and 16 rows of 64 weights are tiles as they lie in memory; what is left at the edges, and all
// that is not int8 products, is AVX-512's.
#include "kernels_internal.h"

#if BQ_X86
#define SUFFIXED(name) BQ_PASTE(bq_##name, avx512_amx)
#define TARGET                                                                                   \
  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx512bf16,avx2,fma,amx-" \
                        "tile,amx-int8")))
#define KERNEL TARGET
#define INLINE TARGET __attribute__((always_inline)) static inline
#define HAS_VNNI
#define HAS_LINEAR_S8
#define S8_ROWS 8

#include "avx512.inc.h"
#include "f32_math.inc.h"
#include "tiles.inc.h"
#include "s8_kernels.inc.h"

enum {
  TILE = 16,          // rows of a tile: outputs, or quads of features
  TILE_COLUMNS = 64,  // bytes of a row
};

// sums[i][j][16][16] of `rows` · 16 outputs and `blocks` blocks: registers 0 … 3 are these, 4 and 5 of
// weights, 6 and 7 of activations. w, x: as of linear_s8.
INLINE void multiply_tiles(const int rows, const int blocks, const int8_t *w, const uint8_t *x,
                           size_t in, int32_t sums[2][2][TILE * BQ_LANES]) {
  const uint8_t *other = x + in * BQ_LANES;
  _tile_zero(0);
  if (blocks > 1) _tile_zero(1);
  if (rows > 1) _tile_zero(2);
  if (rows > 1 && blocks > 1) _tile_zero(3);
  for (size_t k = 0; k < in; k += TILE_COLUMNS) {
    _tile_loadd(4, w + k, in);
    _tile_loadd(6, x + k * BQ_LANES, TILE_COLUMNS);
    _tile_dpbsud(0, 4, 6);
    if (blocks > 1) {
      _tile_loadd(7, other + k * BQ_LANES, TILE_COLUMNS);
      _tile_dpbsud(1, 4, 7);
    }
    if (rows > 1) {
      _tile_loadd(5, w + TILE * in + k, in);
      _tile_dpbsud(2, 5, 6);
      if (blocks > 1) _tile_dpbsud(3, 5, 7);
    }
  }
  _tile_stored(0, sums[0][0], TILE_COLUMNS);
  if (blocks > 1) _tile_stored(1, sums[0][1], TILE_COLUMNS);
  if (rows > 1) _tile_stored(2, sums[1][0], TILE_COLUMNS);
  if (rows > 1 && blocks > 1) _tile_stored(3, sums[1][1], TILE_COLUMNS);
}

INLINE void linear_tiles(const int rows, const int blocks, const bq_weights_s8 *weights, size_t o,
                         const uint8_t *x, const float *scale, const float *offset, size_t in,
                         int32_t epilogue, float *y, size_t y_stride) {
  int32_t sums[2][2][TILE * BQ_LANES] __attribute__((aligned(64)));
  multiply_tiles(rows, blocks, weights->w + o * in, x, in, sums);
  for (int i = 0; i < rows; i++)
    for (int r = 0; r < TILE; r += S8_ROWS) {
      VI dots[S8_ROWS][TILE_VECS];
      BQ_UNROLL_FOR (int s = 0; s < S8_ROWS; s++)
        BQ_UNROLL_FOR (int b = 0; b < blocks; b++)
          dots[s][b] = vi_load(sums[i][b] + (r + s) * BQ_LANES);
      const int row = i * TILE + r;
      finish_tile_s8(S8_ROWS, blocks, weights, o + (size_t)row, dots, scale, offset, epilogue,
                     y + row * BQ_LANES, y_stride);
    }
}

// Outputs o ..< o + 16 · rows of the blocks begin ..< end.
INLINE void linear_rows(const int rows, const bq_weights_s8 *weights, size_t o, const uint8_t *x,
                        const float *scale, const float *offset, size_t begin, size_t end,
                        size_t in, int32_t epilogue, float *y, size_t y_stride) {
#define BQ_TILES(blocks, b)                                                               \
  linear_tiles(rows, blocks, weights, o, x + in * BQ_LANES * (b), scale + BQ_LANES * (b), \
               offset + BQ_LANES * (b), in, epilogue, y + y_stride * (b) + BQ_LANES * o,  \
               y_stride)
  size_t b = begin;
  for (; b + 2 <= end; b += 2) BQ_TILES(2, b);
  if (b < end) BQ_TILES(1, b);
#undef BQ_TILES
}

KERNEL void SUFFIXED(linear_s8)(const bq_weights_s8 *weights, const uint8_t *x, const float *scale,
                                const float *offset, size_t blocks, size_t in, size_t outs,
                                int32_t epilogue, float *y, size_t y_stride) {
  // Palette 1, all eight registers full.
  static const struct {
    uint8_t palette, start, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
  } shapes __attribute__((aligned(64))) = {
      1, 0, {0}, {64, 64, 64, 64, 64, 64, 64, 64}, {16, 16, 16, 16, 16, 16, 16, 16}};
  const size_t whole = in % TILE_COLUMNS == 0 ? outs / TILE * TILE : 0;
  if (whole) {
    _tile_loadconfig(&shapes);
    const size_t panel = PANEL_BYTES / (in * BQ_LANES) / 2 * 2, step = panel ? panel : 2;
    for (size_t begin = 0; begin < blocks; begin += step) {
      const size_t end = blocks - begin < step ? blocks : begin + step;
      size_t o = 0;
      for (; o + 2 * TILE <= whole; o += 2 * TILE)
        linear_rows(2, weights, o, x, scale, offset, begin, end, in, epilogue, y, y_stride);
      if (o < whole)
        linear_rows(1, weights, o, x, scale, offset, begin, end, in, epilogue, y, y_stride);
    }
    // Tiles in use would be saved at every switch of threads.
    _tile_release();
  }
  if (whole == outs) return;
  const bq_weights_s8 rest = {weights->w + whole * in, weights->scale + whole,
                              weights->sums + whole, weights->bias + whole, NULL};
  bq_linear_s8_avx512_vnni(&rest, x, scale, offset, blocks, in, outs - whole, epilogue,
                           y + whole * BQ_LANES, y_stride);
}

const bq_kernels bq_kernels_avx512_amx = {
    .isa = BQ_ISA_AVX512_AMX,
    BQ_AVX512_F32,
    BQ_AVX512_BF16,
    .linear_s8 = bq_linear_s8_avx512_amx,
};
#endif
