// Template: int8 linear layers for one instruction set. Integer sums are exact and therefore equal
// on all instruction sets. The including file includes f32_math.inc.h and tiles.inc.h before it,
// and also defines
//   SUFFIXED(name)        the name of the instruction set's version of a kernel
//   vi_load, vi_splat     VL int32s at any address; the vector of one int32
//   vi_float              int32s as floats
//   BYTES_X, BYTES_W      types of 4 · VL activations and weights in the form that v_dot takes
//   v_bytes_x, v_bytes_w  the conversions of a VI to them
//   v_dot                 v_dot(sum, x, w): adds to each int32 the four products of the bytes there,
//                         exactly
//   S8_ROWS               weight rows of a tile
// or, with HAS_DOTS_TILE, its own dots_tile_s8 instead of the byte types and v_dot; or, with
// HAS_BYTE_PAIRS, the definitions that s8_pairs.inc.h lists. HAS_LINEAR_S8 needs only
// finish_tile_s8.

#include <string.h>

// Returns the four bytes at `from` in each lane.
INLINE VI splat_quad(const void *from) {
  int32_t quad;
  memcpy(&quad, from, sizeof quad);
  return vi_splat(quad);
}

// Stores the sums of byte products of `rows` outputs from `o` of `blocks` blocks. scale and offset
// point at the first block, y at its output `o`.
INLINE void finish_tile_s8(const int rows, const int blocks, const bq_weights_s8 *weights, size_t o,
                           VI dots[][TILE_VECS], const float *scale, const float *offset,
                           int32_t epilogue, float *y, size_t y_stride) {
  V acc[S8_ROWS][TILE_VECS];
  // Σ w·(scale·u + offset) = scale · Σ w·u + offset · Σ w
  BQ_UNROLL_FOR (int r = 0; r < rows; r++) {
    const V unit = v_splat(weights->scale[o + r]), sum = v_splat(weights->sums[o + r]);
    BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++) {
      const V rest = v_fma(v_load(offset + v * VL), sum, v_splat(weights->bias[o + r]));
      acc[r][v] = v_fma(vi_float(dots[r][v]) * v_load(scale + v * VL), unit, rest);
    }
  }
  store_tile(rows, blocks, acc, epilogue, activate_fast_tile, y, y_stride);
}

#ifndef HAS_LINEAR_S8
#if defined(HAS_BYTE_PAIRS)
#include "s8_pairs.inc.h"
#elif !defined(HAS_DOTS_TILE)
// dots[r][v] = Σ_k w[r][k] · x[k] for `rows` rows of weights and the tokens of `blocks` blocks.
INLINE void dots_tile_s8(const int rows, const int blocks, const int8_t *w, const uint8_t *x,
                         size_t in, VI dots[][TILE_VECS]) {
  CLEAR_TILE(dots, vi_splat(0));
  for (size_t k = 0; k < in; k += 4) {
    PREFETCH_ROWS(w, in, k / 4);
    BYTES_X lanes[TILE_VECS];
    BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++)
      lanes[v] =
          v_bytes_x(vi_load(x + v / VECS * in * BQ_LANES + k * BQ_LANES + v % VECS * VL * 4));
    BQ_UNROLL_FOR (int r = 0; r < rows; r++) {
      const BYTES_W weight = v_bytes_w(splat_quad(w + r * in + k));
      BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++)
        dots[r][v] = v_dot(dots[r][v], lanes[v], weight);
    }
  }
}
#endif

// Computes `rows` outputs from `o` of `blocks` blocks. x, scale and offset point at the first
// block, y at its output `o`.
INLINE void linear_tile_s8(const int rows, const int blocks, const bq_weights_s8 *weights, size_t o,
                           const uint8_t *x, const float *scale, const float *offset, size_t in,
                           int32_t epilogue, float *y, size_t y_stride) {
  VI dots[S8_ROWS][TILE_VECS];
  prefetch_outputs(rows, blocks, y, y_stride * sizeof *y, BQ_LANES * sizeof *y);
#ifdef HAS_BYTE_PAIRS
  pairs_tile_s8(rows, blocks, weights, o, x, in, dots);
#else
  dots_tile_s8(rows, blocks, weights->w + o * in, x, in, dots);
#endif
  finish_tile_s8(rows, blocks, weights, o, dots, scale, offset, epilogue, y, y_stride);
}

KERNEL void SUFFIXED(linear_s8)(const bq_weights_s8 *weights, const uint8_t *x, const float *scale,
                                const float *offset, size_t blocks, size_t in, size_t outs,
                                int32_t epilogue, float *y, size_t y_stride) {
#define BQ_TILE(rows, count, o, b)                                                           \
  linear_tile_s8(rows, count, weights, o, x + in * BQ_LANES * (b), scale + BQ_LANES * (b),   \
                 offset + BQ_LANES * (b), in, epilogue, y + y_stride * (b) + BQ_LANES * (o), \
                 y_stride)
  BQ_FOR_TILES(S8_ROWS, in * BQ_LANES, blocks, outs, BQ_TILE);
#undef BQ_TILE
}
#endif
