// Template: the kernels of recurrent models for one instruction set, products of few vectors with
// many rows of weights. The including file includes f32_kernels.inc.h before it, and also defines
//   vi_load                  VL int32s at any address
//   v_load_f16, v_load_bf16  VL weights of two bytes, at any address, as floats
//   v_load_part              v_load_part(p, n): the first n < VL floats at p, then zeros
//   BQ_MASK_ONES             VL times -1, separated by commas
//   v_sums4                  v_sums4(a, b, c, d, bias, y): y[r] = the sum of the lanes of the r-th of the
//                            four vectors + bias[r]
//   ROW_VECTORS              vectors that are multiplied with four rows at a time

#include <string.h>

enum { ROW_TILE = 4 };

INLINE V v_load_weights(const char *w, const int32_t format) {
  if (format == BQ_FORMAT_F16) return v_load_f16(w);
  if (format == BQ_FORMAT_BF16) return v_load_bf16(w);
  return (V)vi_load(w);  // Rows may be at odd addresses, where no float pointer may point.
}

// Loads the first n < VL weights, then zeros. `readable`: the number of readable elements from w.
INLINE V v_load_weights_part(const char *w, const int32_t format, size_t n, size_t readable) {
  static const int32_t mask[2 * VL] = {BQ_MASK_ONES};
  if (readable >= VL) return (V)((VI)v_load_weights(w, format) & vi_load(mask + VL - n));
  char rest[sizeof(V)] = {0};
  memcpy(rest, w, n * (format == BQ_FORMAT_F32 ? 4 : 2));
  return v_load_weights(rest, format);
}

INLINE void v_store_part(float *y, V a, size_t n) {
  float rest[VL];
  v_store(rest, a);
  memcpy(y, rest, n * sizeof *y);
}

// Multiplies the first of `count` rows, at most 4 · groups of them, by `vectors` vectors. Lane l of
// a sum takes k = l, l + VL, … in this order, and v_sums4 adds the lanes: one order for all shapes
// of tiles. The last row stands in for missing rows.
INLINE void rows_tile(const int groups, const int vectors, const int32_t format, const char *w,
                      const float *bias, size_t count, const float *x, size_t x_stride, size_t in,
                      float *y, size_t y_stride) {
  const size_t size = format == BQ_FORMAT_F32 ? 4 : 2;
  V acc[2 * ROW_TILE][ROW_VECTORS];
  size_t row[2 * ROW_TILE];  // the start of each, in elements
  BQ_UNROLL_FOR (int r = 0; r < groups * ROW_TILE; r++) {
    row[r] = ((size_t)r < count ? (size_t)r : count - 1) * in;
    BQ_UNROLL_FOR (int v = 0; v < vectors; v++) acc[r][v] = v_splat(0);
  }
  size_t k = 0;
  for (; k + VL <= in; k += VL) {
    V weights[2 * ROW_TILE];
    BQ_UNROLL_FOR (int r = 0; r < groups * ROW_TILE; r++)
      weights[r] = v_load_weights(w + (row[r] + k) * size, format);
    BQ_UNROLL_FOR (int v = 0; v < vectors; v++) {
      const V value = v_load(x + (size_t)v * x_stride + k);
      BQ_UNROLL_FOR (int r = 0; r < groups * ROW_TILE; r++)
        acc[r][v] = v_fma(weights[r], value, acc[r][v]);
    }
  }
  if (k < in) {
    V weights[2 * ROW_TILE];
    BQ_UNROLL_FOR (int r = 0; r < groups * ROW_TILE; r++)
      weights[r] =
          v_load_weights_part(w + (row[r] + k) * size, format, in - k, count * in - row[r] - k);
    BQ_UNROLL_FOR (int v = 0; v < vectors; v++) {
      const V value = v_load_part(x + (size_t)v * x_stride + k, in - k);
      BQ_UNROLL_FOR (int r = 0; r < groups * ROW_TILE; r++)
        acc[r][v] = v_fma(weights[r], value, acc[r][v]);
    }
  }
  BQ_UNROLL_FOR (int v = 0; v < vectors; v++)
    BQ_UNROLL_FOR (int g = 0; g < groups; g++) {
      const size_t first = (size_t)g * ROW_TILE;
      float *to = y + (size_t)v * y_stride + first;
      if (first + ROW_TILE <= count) {
        v_sums4(acc[first][v], acc[first + 1][v], acc[first + 2][v], acc[first + 3][v],
                bias + first, to);
      } else if (first < count) {
        float some[ROW_TILE] = {0};
        memcpy(some, bias + first, (count - first) * sizeof *some);
        v_sums4(acc[first][v], acc[first + 1][v], acc[first + 2][v], acc[first + 3][v], some, some);
        memcpy(to, some, (count - first) * sizeof *some);
      }
    }
}

INLINE void multiply_rows(const int32_t format, const char *w, const float *bias, const float *x,
                          size_t x_stride, size_t vectors, size_t in, size_t outs, float *y,
                          size_t y_stride) {
  const size_t row = in * (format == BQ_FORMAT_F32 ? 4 : 2);
#define BQ_ROWS(groups, many)                                                                      \
  rows_tile(groups, many, format, w + o * row, bias + o, outs - o, x + v * x_stride, x_stride, in, \
            y + v * y_stride + o, y_stride)
  if (vectors == 1) {
    for (size_t v = 0, o = 0; o < outs; o += 2 * ROW_TILE) BQ_ROWS(2, 1);
    return;
  }
  // Rows are the outer loop: each is read from memory once and stays in the L1 cache for all
  // vectors.
  for (size_t o = 0; o < outs; o += ROW_TILE) {
    size_t v = 0;
    for (; v + ROW_VECTORS <= vectors; v += ROW_VECTORS) BQ_ROWS(1, ROW_VECTORS);
    for (; v + 2 <= vectors; v += 2) BQ_ROWS(1, 2);
    for (; v < vectors; v++) BQ_ROWS(1, 1);
  }
#undef BQ_ROWS
}

KERNEL void SUFFIXED(multiply_rows)(const void *w, int32_t format, const float *bias,
                                    const float *x, size_t x_stride, size_t vectors, size_t in,
                                    size_t outs, float *y, size_t y_stride) {
  switch (format) {
    case BQ_FORMAT_F16:
      multiply_rows(BQ_FORMAT_F16, w, bias, x, x_stride, vectors, in, outs, y, y_stride);
      break;
    case BQ_FORMAT_BF16:
      multiply_rows(BQ_FORMAT_BF16, w, bias, x, x_stride, vectors, in, outs, y, y_stride);
      break;
    default: multiply_rows(BQ_FORMAT_F32, w, bias, x, x_stride, vectors, in, outs, y, y_stride);
  }
}

INLINE V v_sigmoid(V x) { return v_splat(1) / (v_splat(1) + v_exp(v_splat(0) - x)); }

// Gates i, f, g, o.
INLINE void lstm_units(const V gate[4], V c, V *next_c, V *next_h) {
  *next_c = v_fma(v_sigmoid(gate[1]), c, v_sigmoid(gate[0]) * v_tanh(gate[2]));
  *next_h = v_sigmoid(gate[3]) * v_tanh(*next_c);
}

KERNEL void SUFFIXED(lstm_cell)(const float *x, const float *h, size_t gate, size_t units,
                                const float *c, float *next_c, float *next_h) {
  V new_c, new_h;
  size_t u = 0;
  for (; u + VL <= units; u += VL) {
    V g[4];
    BQ_UNROLL_FOR (int i = 0; i < 4; i++)
      g[i] = v_load(x + i * gate + u) + v_load(h + i * gate + u);
    lstm_units(g, v_load(c + u), &new_c, &new_h);
    v_store(next_c + u, new_c);
    v_store(next_h + u, new_h);
  }
  const size_t n = units - u;
  if (n == 0) return;
  V g[4];
  for (int i = 0; i < 4; i++)
    g[i] = v_load_part(x + i * gate + u, n) + v_load_part(h + i * gate + u, n);
  lstm_units(g, v_load_part(c + u, n), &new_c, &new_h);
  v_store_part(next_c + u, new_c, n);
  v_store_part(next_h + u, new_h, n);
}

// Gates r, z, n of the input and of the state.
INLINE V gru_units(const V x[3], const V h[3], V state) {
  const V n = v_tanh(v_fma(v_sigmoid(x[0] + h[0]), h[2], x[2]));
  return v_fma(v_sigmoid(x[1] + h[1]), state - n, n);
}

KERNEL void SUFFIXED(gru_cell)(const float *x, const float *h, size_t gate, size_t units,
                               const float *state, float *next) {
  V gx[3], gh[3];
  size_t u = 0;
  for (; u + VL <= units; u += VL) {
    BQ_UNROLL_FOR (int i = 0; i < 3; i++)
      gx[i] = v_load(x + i * gate + u), gh[i] = v_load(h + i * gate + u);
    v_store(next + u, gru_units(gx, gh, v_load(state + u)));
  }
  const size_t n = units - u;
  if (n == 0) return;
  for (int i = 0; i < 3; i++)
    gx[i] = v_load_part(x + i * gate + u, n), gh[i] = v_load_part(h + i * gate + u, n);
  v_store_part(next + u, gru_units(gx, gh, v_load_part(state + u, n)), n);
}
