// Template: one head of one window from f32 activations, with 8-bit scores and a bfloat16 context.
// The including file includes quantize.inc.h and bf16_attention.inc.h before it, and also defines
//   v_abs            the vector of magnitudes
//   v_least, v_most  the least and the greatest lane
//   vi_max           the greater int32s
//   dot_tile_keys, order_tile_keys
//     as dot_tile_bf16 and order_tile_bf16: acc[r][v] += Σ_d k[d][r] · q[d], exactly, for neighbouring keys, u8
//     [head_dim/4][16][4], and blocks of queries, s8 [head_dim/4][16][4], q_block bytes apart
// and, with HAS_VALUE_TILES, includes value_tiles.inc.h.
//
// Softmax does not change if the scores of all keys grow by the same amount. So each feature of the
// keys has its own offset, which makes their bytes unsigned and needs no correction: q·(k - offset)
// differs from q·k by q·offset, which is the same for every key.

#include <math.h>
#include <string.h>

// Less than any score, and far enough from INT32_MIN that subtracting a score does not overflow.
enum { NO_SCORE = -(1 << 30) };

// A head's keys and values in scratch, in blocks from that of the first key.
typedef struct {
  const bq_attention *a;
  uint8_t *keys;     // [block][head_dim/4][16][4]
  uint16_t *values;  // [block][head_dim][16], bfloat16
  int8_t *queries;   // [blocks of a tile][head_dim/4][16][4]
  float *lows;       // [head_dim], each feature's least key
  float key_step;    // value of a step of a key's byte
} head_s8;

// Returns the number of blocks that hold keys.
INLINE size_t key_blocks(const bq_attention *a) {
  return (a->key_end + BQ_LANES - 1) / BQ_LANES - a->key_begin / BQ_LANES;
}

// Sets the lanes of the keys' block `block` to 0, or to ∞ if they hold no key.
INLINE void no_keys(const bq_attention *a, size_t block, float lanes[BQ_LANES]) {
  const size_t from = (a->key_begin / BQ_LANES + block) * BQ_LANES;
  for (size_t i = 0; i < BQ_LANES; i++)
    lanes[i] = from + i < a->key_begin || from + i >= a->key_end ? INFINITY : 0;
}

// Chooses one step for all features, so that it scales every score of a query alike. It is large
// enough that no offset exceeds 2^22 steps: larger ones are not integers after adding 1.5 · 2^23.
INLINE void quantize_keys(head_s8 *h, const float *k) {
  const size_t blocks = key_blocks(h->a), stride = h->a->stride, head_dim = h->a->head_dim;
  float range = 1e-30f, first[BQ_LANES], last[BQ_LANES];
  no_keys(h->a, 0, first);
  no_keys(h->a, blocks - 1, last);
  for (size_t d = 0; d < head_dim; d++) {
    V low = v_splat(INFINITY), high = v_splat(-INFINITY);
    for (size_t b = 0; b < blocks; b++)
      BQ_UNROLL_FOR (int v = 0; v < VECS; v++) {
        const V x = v_load(k + b * stride + d * BQ_LANES + v * VL);
        V none = v_splat(0);
        if (b == 0) none = v_load(first + v * VL);
        if (b + 1 == blocks) none = v_load(last + v * VL);
        low = v_min(low, x + none);
        high = v_max(high, x - none);
      }
    h->lows[d] = v_least(low);
    const float width = v_most(high) - h->lows[d];
    range = fmaxf(range, fmaxf(width, 1e-4f * fabsf(h->lows[d])));
  }
  h->key_step = range * (1.0f / 253);
  const float inverse = 253 / range;
  const V magic = v_splat(12582912.0f + 1);
  for (size_t d = 0; d < head_dim; d += 4) {
    V zero[4];
    BQ_UNROLL_FOR (size_t i = 0; i < 4; i++) zero[i] = magic - v_splat(h->lows[d + i] * inverse);
    for (size_t b = 0; b < blocks; b++)
      BQ_UNROLL_FOR (int v = 0; v < VECS; v++)
        vi_store(h->keys + (b * head_dim + d) * BQ_LANES + v * VL * 4,
                 quantize_quad(k + b * stride + d * BQ_LANES + v * VL, v_splat(inverse), zero));
  }
}

INLINE void convert_values(const head_s8 *h, const float *v) {
  const size_t blocks = key_blocks(h->a), stride = h->a->stride, head_dim = h->a->head_dim;
  for (size_t b = 0; b < blocks; b++)
    for (size_t i = 0; i < head_dim * BQ_LANES; i += VL)
      v_store_bf16(h->values + b * head_dim * BQ_LANES + i, v_load(v + b * stride + i));
}

// Quantizes one vector of queries to symmetric bytes. Returns the value of a step per query.
INLINE V quantize_queries(const float *q, size_t head_dim, int8_t *to) {
  V most = v_splat(1e-30f);
  for (size_t d = 0; d < head_dim; d++) most = v_max(most, v_abs(v_load(q + d * BQ_LANES)));
  const V inverse = v_splat(127) / most, magic = v_splat(12582912.0f);
  const V zero[4] = {magic, magic, magic, magic};
  for (size_t d = 0; d < head_dim; d += 4)
    vi_store(to + d * BQ_LANES, quantize_quad(q + d * BQ_LANES, inverse, zero));
  return most * v_splat(1.0f / 127);
}

// Like score_tile of f32_kernels.inc.h, in integers: strip[key][blocks·16 queries].
INLINE void score_tile_s8(const int rows, const int blocks, const int biased, const head_s8 *h,
                          const V unit[TILE_VECS], size_t block, size_t key, void *strip,
                          void *most) {
  const bq_attention *a = h->a;
  const size_t left = a->key_end - key, head_dim = a->head_dim;
  const size_t token = key - a->key_begin / BQ_LANES * BQ_LANES;
  const uint8_t *k = h->keys + token / BQ_LANES * head_dim * BQ_LANES + token % BQ_LANES * 4;
  VI acc[KEY_ROWS][TILE_VECS];
  CLEAR_TILE(acc, vi_splat(0));
  dot_tile_keys(rows, blocks, k, h->queries, head_dim * BQ_LANES, head_dim, acc);
  order_tile_keys(rows, acc);
  BQ_UNROLL_FOR (int r = 0; r < rows; r++)
    BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++) {
      if (biased) {
        V score = v_splat(-INFINITY), *top = (V *)most + v;
        if ((size_t)r < left)
          score = add_bias(a, vi_float(acc[r][v]) * unit[v], block, v, key + (size_t)r);
        *top = v_max(*top, score);
        v_store((float *)strip + (r * blocks * VECS + v) * VL, score);
      } else {
        VI *top = (VI *)most + v;
        const VI score = (size_t)r < left ? acc[r][v] : vi_splat(NO_SCORE);
        *top = vi_max(*top, score);
        vi_store((int32_t *)strip + (r * blocks * VECS + v) * VL, score);
      }
    }
}

// Computes all keys' scores: integers with the value `unit` per query, or, with `biased`, floats
// with the call's bias. most: VI or V [TILE_VECS].
INLINE void score_keys_s8(const int blocks, const int biased, const head_s8 *h,
                          const V unit[TILE_VECS], size_t block, void *most) {
  BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++)
    if (biased)
      ((V *)most)[v] = v_splat(-INFINITY);
    else
      ((VI *)most)[v] = vi_splat(NO_SCORE);
  for (size_t key = h->a->key_begin; key < h->a->key_end;) {
    float *to = h->a->scratch + (key - h->a->key_begin) * (size_t)blocks * BQ_LANES;
    if (key % KEY_ROWS == 0) {
      score_tile_s8(KEY_ROWS, blocks, biased, h, unit, block, key, to, most);
      key += KEY_ROWS;
    } else {
      score_tile_s8(4, blocks, biased, h, unit, block, key, to, most);
      key += 4;
    }
  }
}

// Like soften_bf16; `unit` is the value of an integer score, per query.
INLINE void soften_s8(const int blocks, const bq_attention *a, const VI most[TILE_VECS],
                      const V unit[TILE_VECS], V inverse[TILE_VECS]) {
  const int width = blocks * BQ_LANES;
  const size_t keys = a->key_end - a->key_begin;
  V sum[TILE_VECS];
  BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++) sum[v] = v_splat(0);
  for (size_t j = 0; j < keys; j += 2)
    BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++) {
      const float *from = a->scratch + j * width + v * VL;
      const V even = v_exp2_fast(vi_float(vi_load(from) - most[v]) * unit[v]);
      V odd = v_exp2_fast(vi_float(vi_load(from + width) - most[v]) * unit[v]);
      if (j + 1 == keys) odd = v_splat(0);
      sum[v] += even + odd;
      vi_store(a->scratch + j / 2 * width + v * VL, v_pairs_bf16(even, odd));
    }
  BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++) inverse[v] = v_splat(1) / sum[v];
}

// Computes the queries of `blocks` blocks from block `block` of the chunk.
INLINE void attend_s8(const int blocks, const int biased, const head_s8 *h, const float *q,
                      size_t block, float *out) {
  const bq_attention *a = h->a;
  V unit[TILE_VECS], inverse[TILE_VECS];
  // Integer scores are also multiplied by the scale and log2 e.
  const float step = biased ? h->key_step : a->scale * 1.44269504f * h->key_step;
  BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++) {
    const size_t b = (size_t)(v / VECS), lane = (size_t)(v % VECS * VL);
    unit[v] = quantize_queries(q + (block + b) * a->stride + lane, a->head_dim,
                               h->queries + b * a->head_dim * BQ_LANES + lane * 4) *
              v_splat(step);
  }
  if (biased) {
    V most[TILE_VECS];
    score_keys_s8(blocks, biased, h, unit, block, most);
    soften_bf16(blocks, a, most, inverse);
  } else {
    VI most[TILE_VECS];
    score_keys_s8(blocks, biased, h, unit, block, most);
    soften_s8(blocks, a, most, unit, inverse);
  }
#ifdef HAS_VALUE_TILES
  context_keys_tiles(blocks, a, h->values, inverse, block, out);
#else
  context_keys_bf16(blocks, a, h->values, a->head_dim * BQ_LANES, inverse, block, out);
#endif
}

KERNEL void SUFFIXED(attention_s8)(const bq_attention *a, const float *q, const float *k,
                                   const float *v, float *out) {
  const bq_attention call = *a;  // a copy that no store can change
  if (call.query_begin >= call.query_end) return;
  const size_t first = call.key_begin / BQ_LANES * call.stride, dim = call.head_dim;
  const size_t keys = call.key_end - call.key_begin;
  const size_t padded = (keys + 2 * BQ_LANES) / BQ_LANES * BQ_LANES;
  head_s8 h = {.a = &call};
  h.queries = (int8_t *)(call.scratch + bq_attention_scratch(keys));
  h.keys = (uint8_t *)h.queries + TILE_BLOCKS * BQ_LANES * dim;
  h.values = (uint16_t *)(h.keys + padded * dim);
  h.lows = (float *)(h.values + padded * dim);
  quantize_keys(&h, k + first);
#ifdef HAS_VALUE_TILES
  values_to_tiles(&call, v + first, h.values);
#else
  convert_values(&h, v + first);
#endif
#define BQ_TILE(blocks, biased, block) attend_s8(blocks, biased, &h, q, block, out)
  BQ_FOR_QUERIES(call, BQ_TILE);
#undef BQ_TILE
}
