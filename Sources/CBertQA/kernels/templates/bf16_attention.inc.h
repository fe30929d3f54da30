// Template: one head of one window in bfloat16. Scores and context are bfloat16; the softmax
// between them is f32. The including file includes bf16_kernels.inc.h before it, and also defines
//   v_exp2_fast  2^x for x ≤ 0 with a relative error of 1e-4, for results that are rounded to bfloat16; 0 for -∞
//   KEY_ROWS     keys of a tile of scores: 4 or 8
//   PAIR_ROWS    features of a tile of context; even

#include <math.h>

// Feature d of token t is at base[t/16·stride + d/2·32 + t%16·2 + d%2] for q and k (pairs), and at
// base[t/16·stride + d·16 + t%16] for v, whose neighbouring keys are multiplied together.
typedef struct {
  const bq_attention *a;
  const uint16_t *q, *k;
} head_bf16;

// Like score_tile of f32_kernels.inc.h.
INLINE void score_tile_bf16(const int rows, const int blocks, const int biased, const head_bf16 *h,
                            size_t block, size_t key, float *strip, V most[TILE_VECS]) {
  const bq_attention *a = h->a;
  const size_t left = a->key_end - key;
  V acc[KEY_ROWS][TILE_VECS];
  clear_tile_bf16(rows, blocks, acc);
  dot_tile_bf16(rows, blocks, h->k + key / BQ_LANES * a->stride + key % BQ_LANES * 2, 2,
                2 * BQ_LANES, h->q + block * a->stride, 2 * BQ_LANES, a->stride, a->head_dim / 2, 0,
                acc);
  order_tile_bf16(rows, acc);
  BQ_UNROLL_FOR (int r = 0; r < rows; r++)
    BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++) {
      V score = v_splat(-INFINITY);
      if ((size_t)r < left)
        score = biased ? add_bias(a, acc[r][v], block, v, key + (size_t)r) : acc[r][v];
      most[v] = v_max(most[v], score);
      v_store(strip + (r * blocks * VECS + v) * VL, score);
    }
}

// Computes all keys' scores. Groups of keys start at multiples of their size, so that each is
// within one block. The first may be shorter, as a window starts at any multiple of 4.
INLINE void score_keys_bf16(const int blocks, const int biased, const head_bf16 *h, size_t block,
                            float *strip, V most[TILE_VECS]) {
  BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++) most[v] = v_splat(-INFINITY);
  for (size_t key = h->a->key_begin; key < h->a->key_end;) {
    float *to = strip + (key - h->a->key_begin) * (size_t)blocks * BQ_LANES;
    if (key % KEY_ROWS == 0) {
      score_tile_bf16(KEY_ROWS, blocks, biased, h, block, key, to, most);
      key += KEY_ROWS;
    } else {
      score_tile_bf16(4, blocks, biased, h, block, key, to, most);
      key += 4;
    }
  }
}

// Replaces scores [key][queries] in place by pairs of exp(scale · (score - most)) of neighbouring
// keys, [key/2][queries][2]. Returns 1 / sum per query.
INLINE void soften_bf16(const int blocks, const bq_attention *a, const V most[TILE_VECS],
                        V inverse[TILE_VECS]) {
  const int width = blocks * BQ_LANES;
  const V scale = v_splat(a->scale * 1.44269504f);
  float *strip = a->scratch;
  V sum[TILE_VECS];
  BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++) sum[v] = v_splat(0);
  for (size_t j = 0; j < a->key_end - a->key_begin; j += 2)
    BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++) {
      const float *from = strip + j * width + v * VL;
      const V even = v_exp2_fast((v_load(from) - most[v]) * scale);
      const V odd = v_exp2_fast((v_load(from + width) - most[v]) * scale);
      sum[v] += even + odd;
      vi_store(strip + j / 2 * width + v * VL, v_pairs_bf16(even, odd));
    }
  BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++) inverse[v] = v_splat(1) / sum[v];
}

// out[d][queries] = Σ_key scratch[key] · v[d][key] · inverse for `rows` features from `d`. Queries
// are relative to the first block. v and stride start at key_begin's block.
INLINE void context_tile_bf16(const int rows, const int blocks, const bq_attention *a,
                              const uint16_t *v, size_t stride, const V *inverse, size_t d,
                              size_t query_begin, size_t query_end, float *out) {
  const size_t width = blocks * BQ_LANES, keys = a->key_end - a->key_begin;
  V acc[PAIR_ROWS][TILE_VECS];
  clear_tile_bf16(rows, blocks, acc);
  for (size_t j = 0; j < keys;) {
    const size_t token = a->key_begin % BQ_LANES + j, lane = token % BQ_LANES;
    const size_t left = (keys - j + 1) / 2;
    const size_t run = left < (BQ_LANES - lane) / 2 ? left : (BQ_LANES - lane) / 2;
    dot_tile_bf16(rows, blocks, v + token / BQ_LANES * stride + d * BQ_LANES + lane, BQ_LANES, 2,
                  (const uint16_t *)(a->scratch + j / 2 * width), 2 * width, 2 * BQ_LANES, run, 0,
                  acc);
    j += 2 * run;
  }
  order_tile_bf16(rows, acc);
  store_queries(rows, blocks, acc, inverse, query_begin, query_end, out + d * BQ_LANES,
                a->out_stride);
}

// Computes all features of the queries from block `block` from the weights in scratch; v as above.
INLINE void context_keys_bf16(const int blocks, const bq_attention *a, const uint16_t *v,
                              size_t stride, const V *inverse, size_t block, float *out) {
  const size_t from = block * BQ_LANES, end = a->query_end - from;
  const size_t begin = a->query_begin > from ? a->query_begin - from : 0;
  float *to = out + block * a->out_stride;
  size_t d = 0;
  for (; d + PAIR_ROWS <= a->head_dim; d += PAIR_ROWS)
    context_tile_bf16(PAIR_ROWS, blocks, a, v, stride, inverse, d, begin, end, to);
  for (; d < a->head_dim; d += 2)
    context_tile_bf16(2, blocks, a, v, stride, inverse, d, begin, end, to);
}

KERNEL void SUFFIXED(attention_bf16)(const bq_attention *a, const uint16_t *q, const uint16_t *k,
                                     const uint16_t *v, float *out) {
  const bq_attention call = *a;  // a copy that no store can change
  const head_bf16 h = {&call, q, k};
  const uint16_t *values = v + call.key_begin / BQ_LANES * call.stride;
#define BQ_TILE(blocks, biased, block)                                          \
  do {                                                                          \
    V most[TILE_VECS], inverse[TILE_VECS];                                      \
    score_keys_bf16(blocks, biased, &h, block, call.scratch, most);             \
    soften_bf16(blocks, &call, most, inverse);                                  \
    context_keys_bf16(blocks, &call, values, call.stride, inverse, block, out); \
  } while (0)
  BQ_FOR_QUERIES(call, BQ_TILE);
#undef BQ_TILE
}

INLINE void relative_tile_bf16(const int rows, const int blocks, const bq_attention *a,
                               const uint16_t *k, const uint16_t *positions, size_t position_stride,
                               float *y, size_t width) {
  V acc[KEY_ROWS][TILE_VECS];
  clear_tile_bf16(rows, blocks, acc);
  dot_tile_bf16(rows, blocks, k, 2, 2 * BQ_LANES, positions, 2 * BQ_LANES, position_stride,
                a->head_dim / 2, 0, acc);
  order_tile_bf16(rows, acc);
  BQ_UNROLL_FOR (int r = 0; r < rows; r++)
    BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++) v_store(y + r * width + v * VL, acc[r][v]);
}

// Like relative_keys_f32 of relative.inc.h.
KERNEL void SUFFIXED(relative_keys_bf16)(const bq_attention *a, const uint16_t *k,
                                         const uint16_t *positions, size_t position_stride,
                                         float *y) {
  const bq_attention call = *a;  // a copy that no store can change
  const size_t width = bq_relative_width(a);
#define BQ_TILE(rows, blocks, key, block)                                             \
  relative_tile_bf16(                                                                 \
      rows, blocks, &call, k + (key) / BQ_LANES * call.stride + (key) % BQ_LANES * 2, \
      positions + (block) * (ptrdiff_t)position_stride, position_stride, to_, width)
  BQ_FOR_DISTANCES(call, width, KEY_ROWS, BQ_TILE);
#undef BQ_TILE
}
