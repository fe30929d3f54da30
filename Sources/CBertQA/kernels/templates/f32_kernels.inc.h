// Template: the f32 kernels for one instruction set. It includes f32_math.inc.h and tiles.inc.h. In
// addition to their requirements, the including file defines
//   SUFFIXED(name)  the name of the instruction set's version of a kernel
//   v_sqrt          the vector of square roots
//   TILE_ROWS       weight rows of a linear tile
//   KEY_ROWS        keys of a tile of attention scores: 4, 6 or 8
//   VALUE_ROWS      features of a tile of attention output
// and, optionally,
//   HAS_DOT_TILE    if it includes these two itself and defines its own dot_tile

#include <math.h>
#include <string.h>

#ifndef HAS_DOT_TILE
#include "f32_math.inc.h"
#include "tiles.inc.h"

// acc[r][v] += Σ_k w[r·w_row + k·w_step] · x[k·x_step + …], k ascending: weights are broadcast
// scalars, and lanes of tokens are vectors. Every product in this file uses this tile. `ahead`
// means that more rows follow in memory and will be needed next; w_step is then 1.
//
// Every instruction other than multiply-adds costs, above all if two threads share a core's
// decoders. So one loop iteration does four steps, and three rows share a pointer: w_row, once or
// twice, is their index.
INLINE void dot_tile(const int rows, const int blocks, const float *w, size_t w_row, size_t w_step,
                     const float *x, size_t x_step, size_t x_block, size_t n, const int ahead,
                     V acc[][TILE_VECS]) {
  enum { STEPS = 4 };
  const int thirds = (rows + 2) / 3;
  const float *from[6];
  const char *next = (const char *)(w + (size_t)rows * w_row);
  const float *last = x + n * x_step, *whole = x + n / STEPS * STEPS * x_step;
  BQ_UNROLL_FOR (int t = 0; t < thirds; t++) from[t] = w + 3 * (size_t)t * w_row;
#define BQ_STEP(i)                                                                 \
  do {                                                                             \
    V lanes[TILE_VECS];                                                            \
    BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++)                              \
      lanes[v] = v_load(x + (i)*x_step + v / VECS * x_block + v % VECS * VL);      \
    BQ_UNROLL_FOR (int r = 0; r < rows; r++) {                                     \
      const V weight = v_splat(from[r / 3][(size_t)(r % 3) * w_row + (i)*w_step]); \
      BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++)                            \
        acc[r][v] = v_fma(weight, lanes[v], acc[r][v]);                            \
    }                                                                              \
  } while (0)
  while (x < whole) {
    // Without prefetch the next rows arrive at memory latency: the hardware does not predict a
    // dozen short streams.
    if (ahead) {
      const int bytes = rows * STEPS * (int)sizeof *w;
      BQ_UNROLL_FOR (int i = 0; i < bytes; i += 64) __builtin_prefetch(next + i, 0, 2);
      next += bytes;
      BQ_UNROLL_FOR (int t = 0; t < thirds; t++) BQ_OPAQUE(from[t]);
    }
    BQ_UNROLL_FOR (size_t i = 0; i < STEPS; i++) BQ_STEP(i);
    BQ_UNROLL_FOR (int t = 0; t < thirds; t++) from[t] += STEPS * w_step;
    x += STEPS * x_step;
  }
  while (x < last) {
    BQ_STEP(0);
    BQ_UNROLL_FOR (int t = 0; t < thirds; t++) from[t] += w_step;
    x += x_step;
  }
#undef BQ_STEP
}
#endif

// Computes `rows` outputs of `blocks` blocks; w, bias and y point at the first of them.
INLINE void linear_tile_f32(const int rows, const int blocks, const float *w, const float *bias,
                            const float *x, size_t in, int32_t epilogue, float *y,
                            size_t y_stride) {
  V acc[TILE_ROWS][TILE_VECS];
  CLEAR_TILE(acc, v_splat(0));
  prefetch_outputs(rows, blocks, y, y_stride * sizeof *y, BQ_LANES * sizeof *y);
  dot_tile(rows, blocks, w, in, 1, x, BQ_LANES, in * BQ_LANES, in, 1, acc);
  BQ_UNROLL_FOR (int r = 0; r < rows; r++)
    BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++) acc[r][v] = acc[r][v] + v_splat(bias[r]);
  store_tile(rows, blocks, acc, epilogue, activate_tile, y, y_stride);
}

KERNEL void SUFFIXED(linear_f32)(const float *w, const float *bias, const float *x, size_t blocks,
                                 size_t in, size_t outs, int32_t epilogue, float *y,
                                 size_t y_stride) {
#define BQ_TILE(rows, count, o, b)                                                              \
  linear_tile_f32(rows, count, w + in * (o), bias + (o), x + in * BQ_LANES * (b), in, epilogue, \
                  y + y_stride * (b) + BQ_LANES * (o), y_stride)
  BQ_FOR_TILES(TILE_ROWS, in * BQ_LANES * sizeof(float), blocks, outs, BQ_TILE);
#undef BQ_TILE
}

// Sums term(x[f]) over the features of one block's vector in four interleaved chains, which are
// then added in the same order for every token.
#define BQ_FEATURE_SUM(sum, term)                                      \
  do {                                                                 \
    V s0 = v_splat(0), s1 = s0, s2 = s0, s3 = s0;                      \
    size_t f = 0;                                                      \
    for (; f + 4 <= features; f += 4) {                                \
      s0 = term(s0, v_load(x + (f + 0) * BQ_LANES));                   \
      s1 = term(s1, v_load(x + (f + 1) * BQ_LANES));                   \
      s2 = term(s2, v_load(x + (f + 2) * BQ_LANES));                   \
      s3 = term(s3, v_load(x + (f + 3) * BQ_LANES));                   \
    }                                                                  \
    for (; f < features; f++) s0 = term(s0, v_load(x + f * BQ_LANES)); \
    sum = (s0 + s1) + (s2 + s3);                                       \
  } while (0)

// Normalizes one vector of tokens: the mean first, then the variance of the differences, which
// avoids cancellation.
INLINE void normalize(const float *x, size_t features, const float *gamma, const float *beta,
                      float eps, float *y) {
  const V count = v_splat((float)features);
  V mean, variance;
#define BQ_TERM(s, value) (s + value)
  BQ_FEATURE_SUM(mean, BQ_TERM);
#undef BQ_TERM
  mean = mean / count;
#define BQ_TERM(s, value) v_fma(value - mean, value - mean, s)
  BQ_FEATURE_SUM(variance, BQ_TERM);
#undef BQ_TERM
  const V scale = v_splat(1) / v_sqrt(variance / count + v_splat(eps));
  for (size_t f = 0; f < features; f++) {
    const V normal = (v_load(x + f * BQ_LANES) - mean) * scale;
    v_store(y + f * BQ_LANES, v_fma(normal, v_splat(gamma[f]), v_splat(beta[f])));
  }
}

KERNEL void SUFFIXED(layer_norm_f32)(const float *x, size_t blocks, size_t features,
                                     const float *gamma, const float *beta, float eps, float *y) {
  for (size_t b = 0; b < blocks; b++)
    for (int v = 0; v < VECS; v++) {
      const size_t at = b * features * BQ_LANES + v * VL;
      normalize(x + at, features, gamma, beta, eps, y + at);
    }
}

KERNEL void SUFFIXED(rotate_f32)(float *x, size_t heads, size_t head_dim, const float *turns) {
  const size_t half = head_dim / 2 * BQ_LANES;
  for (size_t h = 0; h < heads; h++) {
    float *head = x + h * head_dim * BQ_LANES;
    for (size_t i = 0; i < half; i += VL) {
      const size_t turn = i / BQ_LANES * 2 * BQ_LANES + i % BQ_LANES;
      const V cosine = v_load(turns + turn), sine = v_load(turns + turn + BQ_LANES);
      const V a = v_load(head + i), b = v_load(head + half + i);
      v_store(head + i, a * cosine - b * sine);
      v_store(head + half + i, b * cosine + a * sine);
    }
  }
}

// One head. Feature d of token t of the chunk is at base[t/16·stride + d·16 + t%16].
typedef struct {
  const bq_attention *a;
  const float *q, *k, *v;
} SUFFIXED(head);

INLINE const float *token_at(const float *base, size_t token, size_t stride) {
  return base + token / BQ_LANES * stride + token % BQ_LANES;
}

// strip[key][blocks·16 queries] = q·k for `rows` keys from `key` and the queries from block
// `block`, with the call's bias added if `biased`. Keys from key_end on get -∞. `most` is raised to
// the greatest score of each query. strip points at the row of `key`.
INLINE void score_tile(const int rows, const int blocks, const int biased, const SUFFIXED(head) *h,
                       size_t block, size_t key, float *strip, V most[TILE_VECS]) {
  const bq_attention *a = h->a;
  const size_t left = a->key_end - key;
  V acc[KEY_ROWS][TILE_VECS];
  CLEAR_TILE(acc, v_splat(0));
  dot_tile(rows, blocks, token_at(h->k, key, a->stride), 1, BQ_LANES, h->q + block * a->stride,
           BQ_LANES, a->stride, a->head_dim, 0, acc);
  BQ_UNROLL_FOR (int r = 0; r < rows; r++)
    BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++) {
      V score = acc[r][v];
      if (biased && (size_t)r < left) score = add_bias(a, score, block, v, key + (size_t)r);
      score = (size_t)r < left ? score : v_splat(-INFINITY);
      most[v] = v_max(most[v], score);
      v_store(strip + (r * blocks * VECS + v) * VL, score);
    }
}

// Computes all keys' scores. Groups of keys lie within one block and start at lanes that are
// multiples of their size: a block has two groups of 8, or two of 6 followed by one of 4. A window
// may start at any multiple of 4.
INLINE void score_keys(const int blocks, const int biased, const SUFFIXED(head) *h, size_t block,
                       float *strip, V most[TILE_VECS]) {
  BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++) most[v] = v_splat(-INFINITY);
  for (size_t key = h->a->key_begin; key < h->a->key_end;) {
    float *to = strip + (key - h->a->key_begin) * (size_t)blocks * BQ_LANES;
    const size_t lane = key % BQ_LANES;
    if (lane % KEY_ROWS == 0 && lane + KEY_ROWS <= BQ_LANES) {
      score_tile(KEY_ROWS, blocks, biased, h, block, key, to, most);
      key += KEY_ROWS;
    } else {
      score_tile(4, blocks, biased, h, block, key, to, most);
      key += 4;
    }
  }
}

// strip = exp((strip - most) · scale) over the keys. Returns 1 / sum per query. With `biased` the
// result is exactly 0 where v_exp2 may give the least normal number.
INLINE void soften(const int blocks, const int biased, size_t keys, float scale, float *strip,
                   const V most[TILE_VECS], V inverse[TILE_VECS]) {
  const int width = blocks * BQ_LANES;
  const V factor = v_splat(scale * 1.44269504f);
  V sum[TILE_VECS];
  BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++) sum[v] = v_splat(0);
  for (size_t j = 0; j < keys; j++)
    BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++) {
      float *at = strip + j * width + v * VL;
      // One v_fma would not do: for scores of 1e19 the rounding of most · factor alone would exceed
      // v_exp2's 0.
      const V x = (v_load(at) - most[v]) * factor;
      V e = v_exp2(x);
      if (biased) e = (V)((VI)e & (VI)(x > v_splat(-126)));
      v_store(at, e);
      sum[v] += e;
    }
  BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++) inverse[v] = v_splat(1) / sum[v];
}

// out[d][queries] = Σ_key strip[key] · v[d][key] · inverse for `rows` features from `d`; `queries`
// are relative to the first block.
INLINE void context_tile(const int rows, const int blocks, const SUFFIXED(head) *h,
                         const float *strip, const V *inverse, size_t d, size_t query_begin,
                         size_t query_end, float *out) {
  const bq_attention *a = h->a;
  const size_t width = blocks * BQ_LANES;
  V acc[VALUE_ROWS][TILE_VECS];
  CLEAR_TILE(acc, v_splat(0));
  for (size_t key = a->key_begin; key < a->key_end;) {
    const size_t lane = key % BQ_LANES, left = a->key_end - key;
    const size_t run = left < BQ_LANES - lane ? left : BQ_LANES - lane;
    dot_tile(rows, blocks, token_at(h->v, key, a->stride) + d * BQ_LANES, BQ_LANES, 1,
             strip + (key - a->key_begin) * width, width, BQ_LANES, run, 0, acc);
    key += run;
  }
  store_queries(rows, blocks, acc, inverse, query_begin, query_end, out + d * BQ_LANES,
                a->out_stride);
}

// Computes the queries of `blocks` blocks from block `block` of the chunk.
INLINE void attend(const int blocks, const int biased, const SUFFIXED(head) *h, size_t block,
                   float *out) {
  const bq_attention *a = h->a;
  V most[TILE_VECS], inverse[TILE_VECS];
  score_keys(blocks, biased, h, block, a->scratch, most);
  soften(blocks, biased, a->key_end - a->key_begin, a->scale, a->scratch, most, inverse);
  const size_t from = block * BQ_LANES, end = a->query_end - from;
  const size_t begin = a->query_begin > from ? a->query_begin - from : 0;
  float *to = out + block * a->out_stride;
  for (size_t d = 0; d < a->head_dim;) {
    const size_t left = a->head_dim - d;
    if (VALUE_ROWS == 6 && (left == 8 || left == 4)) {  // rather than 6 or none, and single ones
      context_tile(4, blocks, h, a->scratch, inverse, d, begin, end, to);
      d += 4;
    } else if (left >= VALUE_ROWS) {
      context_tile(VALUE_ROWS, blocks, h, a->scratch, inverse, d, begin, end, to);
      d += VALUE_ROWS;
    } else {
      context_tile(1, blocks, h, a->scratch, inverse, d, begin, end, to);
      d++;
    }
  }
}

KERNEL void SUFFIXED(attention_f32)(const bq_attention *a, const float *q, const float *k,
                                    const float *v, float *out) {
  const bq_attention call = *a;  // a copy that no store can change
  const SUFFIXED(head) h = {&call, q, k, v};
#define BQ_TILE(blocks, biased, block) attend(blocks, biased, &h, block, out)
  BQ_FOR_QUERIES(call, BQ_TILE);
#undef BQ_TILE
}

// y[i] = op(x[i]) for i < n; a copy extends the last, partial vector.
#define BQ_MAP(name, op)                                            \
  KERNEL void SUFFIXED(name)(const float *x, size_t n, float *y) {  \
    size_t i = 0;                                                   \
    for (; i + VL <= n; i += VL) v_store(y + i, op(v_load(x + i))); \
    if (i < n) {                                                    \
      float rest[VL] = {0};                                         \
      memcpy(rest, x + i, (n - i) * sizeof(float));                 \
      v_store(rest, op(v_load(rest)));                              \
      memcpy(y + i, rest, (n - i) * sizeof(float));                 \
    }                                                               \
  }
BQ_MAP(exp_f32, v_exp)
BQ_MAP(tanh_f32, v_tanh)
#undef BQ_MAP
