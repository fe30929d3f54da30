// The int8 kernels over one instruction set's vectors. Beyond what f32_kernels.inc.h needs, the
// including file defines
//   VI                           the vector of VL int32s; vi_load vi_store vi_splat vi_bits vi_float
//   BYTES_X, BYTES_W, v_dot      activations and weights ready for v_dot, which adds to each lane
//   v_bytes_x, v_bytes_w         the four products of its bytes, exactly
//   S8_ROWS                      weight rows of a tile
// Integer sums are exact: every instruction set has the same ones.

#include <string.h>

// round(x · inverse) + zero, by adding 1.5 · 2^23 within `zero`: four features' bytes of each lane.
INLINE VI quantize_quad(const float *x, V inverse, const V zero[4]) {
  const VI a = vi_bits(v_fma(v_load(x), inverse, zero[0]));
  const VI b = vi_bits(v_fma(v_load(x + BQ_LANES), inverse, zero[1]));
  const VI c = vi_bits(v_fma(v_load(x + 2 * BQ_LANES), inverse, zero[2]));
  const VI d = vi_bits(v_fma(v_load(x + 3 * BQ_LANES), inverse, zero[3]));
  return (a & 0xFF) | (b & 0xFF) << 8 | (c & 0xFF) << 16 | d << 24;
}

// One vector of tokens. The range, which includes 0, is cut into 253 steps and its lower end is put
// between 0.5 and 1.5, so that no rounding leaves 0...255.
INLINE void quantize_lanes(const float *x, size_t features, uint8_t *y, float *scale,
                           float *offset) {
  V low[4], high[4];
  BQ_UNROLL for (int i = 0; i < 4; i++) low[i] = high[i] = v_splat(0);
  for (size_t f = 0; f < features; f += 4)
    BQ_UNROLL for (int i = 0; i < 4; i++) {
      const V value = v_load(x + (f + (size_t)i) * BQ_LANES);
      low[i] = v_min(low[i], value);
      high[i] = v_max(high[i], value);
    }
  const V least = v_min(v_min(low[0], low[1]), v_min(low[2], low[3]));
  const V most = v_max(v_max(high[0], high[1]), v_max(high[2], high[3]));
  const V range = v_max(most - least, v_splat(1e-30f));
  const V step = range * v_splat(1.0f / 253), inverse = v_splat(253) / range;
  // Adding 1.5 · 2^23 rounds to an integer and leaves it in the low bits.
  const V magic = v_splat(12582912.0f);
  const V zero = (magic + v_splat(1)) - least * inverse;
  const V zeros[4] = {zero, zero, zero, zero};
  v_store(scale, step);
  v_store(offset, (magic - zero) * step);
  for (size_t f = 0; f < features; f += 4)
    vi_store(y + f * BQ_LANES, quantize_quad(x + f * BQ_LANES, inverse, zeros));
}

KERNEL void SUFFIXED(quantize_u8)(const float *x, size_t blocks, size_t features, uint8_t *y,
                                  float *scale, float *offset) {
  for (size_t b = 0; b < blocks; b++)
    for (int v = 0; v < VECS; v++) {
      const size_t at = b * features * BQ_LANES;
      quantize_lanes(x + at + v * VL, features, y + at + v * VL * 4, scale + b * BQ_LANES + v * VL,
                     offset + b * BQ_LANES + v * VL);
    }
}

// `rows` outputs from output `o` on of `blocks` blocks; x, scale and offset at the first block,
// y at its output `o`.
INLINE void linear_tile_s8(const int rows, const int blocks, const bq_weights_s8 *weights, size_t o,
                           const uint8_t *x, const float *scale, const float *offset, size_t in,
                           int32_t epilogue, float *y, size_t y_stride) {
  const int8_t *w = weights->w + o * in;
  VI dots[S8_ROWS][TILE_VECS];
  V acc[S8_ROWS][TILE_VECS];
  CLEAR_TILE(dots, vi_splat(0));
  prefetch_outputs(rows, blocks, y, y_stride * sizeof *y, BQ_LANES * sizeof *y);
  for (size_t k = 0; k < in; k += 4) {
    PREFETCH_ROWS(w, in, k / 4);
    BYTES_X lanes[TILE_VECS];
    BQ_UNROLL for (int v = 0; v < blocks * VECS; v++)
      lanes[v] = v_bytes_x(
          vi_load(x + v / VECS * in * BQ_LANES + k * BQ_LANES + v % VECS * VL * 4));
    BQ_UNROLL for (int r = 0; r < rows; r++) {
      int32_t quad;
      memcpy(&quad, w + r * in + k, sizeof quad);
      const BYTES_W weight = v_bytes_w(vi_splat(quad));
      BQ_UNROLL for (int v = 0; v < blocks * VECS; v++)
        dots[r][v] = v_dot(dots[r][v], lanes[v], weight);
    }
  }
  // Σ w·(scale·u + offset) = scale · Σ w·u + offset · Σ w
  BQ_UNROLL for (int r = 0; r < rows; r++) {
    const V unit = v_splat(weights->scale[o + r]), sum = v_splat(weights->sums[o + r]);
    BQ_UNROLL for (int v = 0; v < blocks * VECS; v++) {
      const V rest = v_fma(v_load(offset + v * VL), sum, v_splat(weights->bias[o + r]));
      acc[r][v] = v_fma(vi_float(dots[r][v]) * v_load(scale + v * VL), unit, rest);
    }
  }
  store_tile(rows, blocks, acc, epilogue, gelu_fast_tile, y, y_stride);
}

KERNEL void SUFFIXED(linear_s8)(const bq_weights_s8 *weights, const uint8_t *x, const float *scale,
                                const float *offset, size_t blocks, size_t in, size_t outs,
                                int32_t epilogue, float *y, size_t y_stride) {
#define BQ_TILE(rows, count, o, b)                                                              \
  linear_tile_s8(rows, count, weights, o, x + (b) * in * BQ_LANES, scale + (b) * BQ_LANES,       \
                 offset + (b) * BQ_LANES, in, epilogue,                                          \
                 y + (b) * y_stride + (o) * BQ_LANES, y_stride)
  BQ_FOR_TILES(S8_ROWS, in * BQ_LANES, blocks, outs, BQ_TILE);
#undef BQ_TILE
}
