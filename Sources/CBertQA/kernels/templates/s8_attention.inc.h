// Template: one head of one window from f32 activations, with 8-bit scores and an 8-bit context. The
// including file includes quantize.inc.h before it, and also defines
//   v_abs            the vector of magnitudes
//   v_least, v_most  the least and the greatest lane
//   vi_max           the greater int32s
//   v_store_bytes    stores the low bytes of VL int32s at any address
//   dot_tile_quads, order_tile_quads
//     acc[r][v] += Σ_k w[r·w_row + k·w_step] · x[k·x_step + …] over n quads k of bytes, exactly; steps in bytes.
//     `unsigned_rows`: the bytes of w are unsigned and those of x signed, otherwise the reverse. The sums of a
//     tile may be in any order until order_tile_quads.
// and, optionally,
//   HAS_BYTE_PAIRS   if it includes pair_quads.inc.h, whose products bound the sums of signed bytes
//   HAS_VALUE_TILES  if it includes bf16_attention.inc.h and value_tiles.inc.h, which compute a bfloat16 context
//
// Softmax does not change if the scores of all keys grow by the same amount. So each feature of the
// keys has its own offset, which makes their bytes unsigned and needs no correction: q·(k - offset)
// differs from q·k by q·offset, which is the same for every key.
//
// Weights of keys are bytes, too: 255 is that of the best key. A weight is not rounded to nearest,
// because the many keys of small weights would then all have 0. Its fraction is the share of 16
// thresholds, one for each of 16 neighbouring keys, that round it up.

#include <math.h>
#include <string.h>

// Less than any score, and far enough from INT32_MIN that subtracting a score does not overflow.
enum { NO_SCORE = -(1 << 30) };

// A head's keys and values in scratch, in blocks from that of the first key.
typedef struct {
  const bq_attention *a;
  uint8_t *keys;       // [block][head_dim/4][16][4]
  void *values;        // s8 [head_dim][block][16], or tiles
  int8_t *queries;     // [blocks of a tile][head_dim/4][16][4]
  float *lows;         // [head_dim], each feature's least key
  float *value_steps;  // [head_dim], value of a step of a value's byte
  float key_step;      // value of a step of a key's byte
} head_s8;

// Returns the number of blocks that hold keys.
INLINE size_t key_blocks(const bq_attention *a) {
  return (a->key_end + BQ_LANES - 1) / BQ_LANES - a->key_begin / BQ_LANES;
}

// Sets the lanes of the keys' block `block` to -1 if they hold a key, otherwise to 0.
INLINE void find_keys(const bq_attention *a, size_t block, int32_t lanes[BQ_LANES]) {
  const size_t from = (a->key_begin / BQ_LANES + block) * BQ_LANES;
  for (size_t i = 0; i < BQ_LANES; i++)
    lanes[i] = from + i < a->key_begin || from + i >= a->key_end ? 0 : -1;
}

// Returns -1 in the lanes of vector v of a block that hold a key, and 0 in the others. first, last: from find_keys.
INLINE VI keys_at(size_t block, size_t blocks, int v, const int32_t first[BQ_LANES],
                  const int32_t last[BQ_LANES]) {
  VI keys = vi_splat(-1);
  if (block == 0) keys = vi_load(first + v * VL);
  if (block + 1 == blocks) keys = vi_load(last + v * VL);
  return keys;
}

// Finds the least and the greatest of the keys' numbers at x, in blocks. Other lanes, which another window may have, do
// not matter even if they are NaN.
INLINE void key_range(const bq_attention *a, const float *x, const int32_t first[BQ_LANES],
                      const int32_t last[BQ_LANES], float *least, float *most) {
  const size_t blocks = key_blocks(a);
  const V top = v_splat(INFINITY), bottom = v_splat(-INFINITY);
  V low = top, high = bottom;
  for (size_t b = 0; b < blocks; b++)
    BQ_UNROLL_FOR (int v = 0; v < VECS; v++) {
      const VI keys = keys_at(b, blocks, v, first, last),
               number = vi_load(x + b * a->stride + v * VL);
      low = v_min(low, (V)((keys & number) | (~keys & (VI)top)));
      high = v_max(high, (V)((keys & number) | (~keys & (VI)bottom)));
    }
  *least = v_least(low), *most = v_most(high);
}

// Chooses one step for all features, so that it scales every score of a query alike. It is large
// enough that no offset exceeds 2^22 steps: larger ones are not integers after adding 1.5 · 2^23.
INLINE void quantize_keys(head_s8 *h, const float *k) {
  const size_t blocks = key_blocks(h->a), stride = h->a->stride, head_dim = h->a->head_dim;
  float range = 1e-30f;
  int32_t first[BQ_LANES], last[BQ_LANES];
  find_keys(h->a, 0, first);
  find_keys(h->a, blocks - 1, last);
  for (size_t d = 0; d < head_dim; d++) {
    float most;
    key_range(h->a, k + d * BQ_LANES, first, last, &h->lows[d], &most);
    range = fmaxf(range, fmaxf(most - h->lows[d], 1e-4f * fabsf(h->lows[d])));
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

// Returns the magnitude of 127 steps of one feature of the values.
INLINE float value_size(const bq_attention *a, const float *x, const int32_t first[BQ_LANES],
                        const int32_t last[BQ_LANES]) {
#ifdef HAS_BYTE_PAIRS
  const size_t blocks = key_blocks(a);
  V most = v_splat(0);
  for (size_t b = 0; b < blocks; b++)
    BQ_UNROLL_FOR (int v = 0; v < VECS; v++) {
      const VI keys = keys_at(b, blocks, v, first, last);
      most = v_max(most, pair_size((V)(vi_load(x + b * a->stride + v * VL) & keys)));
    }
  return fmaxf(1e-30f, v_most(most));
#else
  float low, high;
  key_range(a, x, first, last, &low, &high);
  return fmaxf(1e-30f, fmaxf(high, -low));
#endif
}

// Quantizes each feature of the values to symmetric bytes.
INLINE void quantize_values(const head_s8 *h, const float *values) {
  const size_t blocks = key_blocks(h->a), stride = h->a->stride;
  const V magic = v_splat(12582912.0f);
  int8_t *to = h->values;
  int32_t first[BQ_LANES], last[BQ_LANES];
  find_keys(h->a, 0, first);
  find_keys(h->a, blocks - 1, last);
  for (size_t d = 0; d < h->a->head_dim; d++, values += BQ_LANES) {
    const float most = value_size(h->a, values, first, last);
    h->value_steps[d] = most * (1.0f / 127);
    const V inverse = v_splat(127 / most);
    for (size_t b = 0; b < blocks; b++)
      BQ_UNROLL_FOR (int v = 0; v < VECS; v++, to += VL)
        v_store_bytes(to, vi_bits(v_fma(v_load(values + b * stride + v * VL), inverse, magic)));
  }
}

// Returns the magnitude of 127 steps of a vector of queries.
INLINE V query_size(const float *q, size_t head_dim) {
  V most = v_splat(1e-30f);
#ifdef HAS_BYTE_PAIRS
  most = v_max(most, quads_size(q, head_dim));
#else
  for (size_t d = 0; d < head_dim; d++) most = v_max(most, v_abs(v_load(q + d * BQ_LANES)));
#endif
  return most;
}

// Quantizes one vector of queries to symmetric bytes. Returns the value of a step per query.
INLINE V quantize_queries(const float *q, size_t head_dim, int8_t *to) {
  const V most = query_size(q, head_dim);
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
  dot_tile_quads(1, rows, blocks, k, 4, 4 * BQ_LANES, h->queries, 4 * BQ_LANES, head_dim * BQ_LANES,
                 head_dim / 4, acc);
  order_tile_quads(1, rows, acc);
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
    const size_t lane = key % BQ_LANES;
    if (KEY_ROWS == 4 || (lane % KEY_ROWS == 0 && lane + KEY_ROWS <= BQ_LANES)) {
      score_tile_s8(KEY_ROWS, blocks, biased, h, unit, block, key, to, most);
      key += KEY_ROWS;
    } else {
      score_tile_s8(4, blocks, biased, h, unit, block, key, to, most);
      key += 4;
    }
  }
}

// Returns the weights of the keys from `key`, at most 4 and `keys` of them, as bytes in each lane.
// `from` points at the first key's scores: integers of the value `unit`, or, with `biased`, floats.
INLINE VI weigh_keys(const int biased, const float *from, int width, size_t key, size_t keys,
                     V most, V unit) {
  // 1.5 · 2^15, whose sum with a number below 256 has its whole part as second byte, and the
  // thresholds.
#define BQ_AT(i) 49152 + (2 * (i) + 1) / 32.0f
  static const float thresholds[BQ_LANES] = {
      BQ_AT(0), BQ_AT(8), BQ_AT(4), BQ_AT(12), BQ_AT(2), BQ_AT(10), BQ_AT(6), BQ_AT(14),
      BQ_AT(1), BQ_AT(9), BQ_AT(5), BQ_AT(13), BQ_AT(3), BQ_AT(11), BQ_AT(7), BQ_AT(15)};
#undef BQ_AT
  VI bytes[4];
  BQ_UNROLL_FOR (size_t i = 0; i < 4; i++) {
    const float *at = from + i * (size_t)width;
    V x = v_load(at) - most;
    if (!biased) x = vi_float(vi_load(at) - (VI)most);
    const V weight = v_exp2_byte(v_fma(x, unit, v_splat(7.99435344f)));  // log2 255
    bytes[i] = vi_bits(weight + v_splat(thresholds[key % BQ_LANES + i])) & 0xFF00;
    if (i >= keys) bytes[i] = vi_splat(0);
  }
  return bytes[0] >> 8 | bytes[1] | bytes[2] << 8 | bytes[3] << 16;
}

// Replaces scores [key][queries] in place by the weights of keys, [key/4][queries][4]. Returns 1 / sum
// per query. most: VI, or V with `biased`.
INLINE void soften_s8(const int blocks, const int biased, const bq_attention *a, const V *most,
                      const V *unit, V inverse[TILE_VECS]) {
  const int width = blocks * BQ_LANES;
  const size_t keys = a->key_end - a->key_begin;
  VI sum[TILE_VECS];
  BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++) sum[v] = vi_splat(0);
#define BQ_WEIGH(count)                                                           \
  BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++) {                             \
    const float *from = a->scratch + j * width + v * VL;                          \
    const VI bytes = weigh_keys(biased, from, width, j, count, most[v], unit[v]); \
    sum[v] = v_dot(sum[v], bytes, vi_splat(0x01010101));                          \
    vi_store(a->scratch + j / 4 * width + v * VL, bytes);                         \
  }
  size_t j = 0;
  for (; j + 4 <= keys; j += 4) BQ_WEIGH(4)
  if (j < keys) BQ_WEIGH(keys - j)
#undef BQ_WEIGH
  BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++) inverse[v] = v_splat(1) / vi_float(sum[v]);
}

// Like context_tile of f32_kernels.inc.h.
INLINE void context_tile_s8(const int rows, const int blocks, const head_s8 *h, const V *inverse,
                            size_t d, size_t query_begin, size_t query_end, float *out) {
  const bq_attention *a = h->a;
  const size_t row = key_blocks(a) * BQ_LANES;
  const int8_t *values = (const int8_t *)h->values + d * row + a->key_begin % BQ_LANES;
  VI dots[VALUE_ROWS][TILE_VECS];
  V acc[VALUE_ROWS][TILE_VECS];
  CLEAR_TILE(dots, vi_splat(0));
  dot_tile_quads(0, rows, blocks, values, row, 4, a->scratch, 4 * (size_t)blocks * BQ_LANES,
                 4 * BQ_LANES, (a->key_end - a->key_begin + 3) / 4, dots);
  order_tile_quads(0, rows, dots);
  BQ_UNROLL_FOR (int r = 0; r < rows; r++)
    BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++)
      acc[r][v] = vi_float(dots[r][v]) * v_splat(h->value_steps[d + (size_t)r]);
  store_queries(rows, blocks, acc, inverse, query_begin, query_end, out + d * BQ_LANES,
                a->out_stride);
}

// Computes all features of the queries from block `block` from the weights in scratch.
INLINE void context_keys_s8(const int blocks, const head_s8 *h, const V *inverse, size_t block,
                            float *out) {
  const bq_attention *a = h->a;
  const size_t from = block * BQ_LANES, end = a->query_end - from;
  const size_t begin = a->query_begin > from ? a->query_begin - from : 0;
  float *to = out + block * a->out_stride;
  for (size_t d = 0; d < a->head_dim;) {
    const size_t left = a->head_dim - d;
    if (VALUE_ROWS == 4 || (left >= VALUE_ROWS && (VALUE_ROWS != 6 || left != 8))) {  // not 6 and 2
      context_tile_s8(VALUE_ROWS, blocks, h, inverse, d, begin, end, to);
      d += VALUE_ROWS;
    } else {
      context_tile_s8(4, blocks, h, inverse, d, begin, end, to);
      d += 4;
    }
  }
}

// Computes the queries of `blocks` blocks from block `block` of the chunk. `biased`: scores are floats.
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
  V most[TILE_VECS];  // VI unless `biased`
  score_keys_s8(blocks, biased, h, unit, block, most);
#ifdef HAS_VALUE_TILES
  soften_bf16(blocks, a, most, inverse);
  context_keys_tiles(blocks, a, h->values, inverse, block, out);
#else
  if (biased)
    BQ_UNROLL_FOR (int v = 0; v < blocks * VECS; v++) unit[v] = v_splat(a->scale * 1.44269504f);
  soften_s8(blocks, biased, a, most, unit, inverse);
  context_keys_s8(blocks, h, inverse, block, out);
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
  h.lows = call.scratch + bq_attention_scratch(keys);
  h.value_steps = h.lows + dim;
  h.queries = (int8_t *)(h.value_steps + dim);
  h.keys = (uint8_t *)h.queries + TILE_BLOCKS * BQ_LANES * dim;
  h.values = h.keys + padded * dim;
  quantize_keys(&h, k + first);
#ifdef HAS_VALUE_TILES
  values_to_tiles(&call, v + first, h.values);
#define BQ_TILE(blocks, biased, block) attend_s8(blocks, 1, &h, q, block, out)
#else
  quantize_values(&h, v + first);
#define BQ_TILE(blocks, biased, block) attend_s8(blocks, biased, &h, q, block, out)
#endif
  BQ_FOR_QUERIES(call, BQ_TILE);
#undef BQ_TILE
}
