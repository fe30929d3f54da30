// Template: one head of one window from f32 activations: scores of bytes by vpdpbusd, the context in
// bfloat16. The including file defines HAS_VNNI before avx512.inc.h, and includes quantize.inc.h and
// bf16_attention.inc.h before this one.
//
// Softmax does not change when the scores of all keys grow by the same amount. So each feature of the
// keys has an offset of its own, which makes their bytes unsigned and needs no correction:
// q·(k - offset) differs from q·k by q·offset, which is the same for every key.

#include <math.h>
#include <string.h>

// Less than any score, and so far from INT32_MIN that subtracting a score does not overflow.
enum { NO_SCORE = -(1 << 30) };

// A window's keys and values in scratch, by blocks of the window's first token's block on.
typedef struct {
  uint8_t *keys;     // [block][head_dim/4][16][4]
  uint16_t *values;  // [block][head_dim][16], bfloat16
  int8_t *queries;   // [blocks of a tile][head_dim/4][16][4]
  float *strip;
  float *lows;                     // [head_dim], each feature's least key
  size_t first, tokens, head_dim;  // first < 16
  float key_step;                  // value of a step of a key's byte
} head_s8;

// The lanes of block `block` that hold tokens of the window.
INLINE __mmask16 window_lanes(const head_s8 *h, size_t block) {
  const size_t from = block * BQ_LANES, end = h->first + h->tokens;
  const unsigned begin = from < h->first ? (unsigned)(h->first - from) : 0;
  const unsigned stop = end - from < BQ_LANES ? (unsigned)(end - from) : BQ_LANES;
  return (__mmask16)((0xFFFFu << begin) & (0xFFFFu >> (BQ_LANES - stop)));
}

// One step for all features, so that it divides every score of the window alike. It is not so small
// that an offset would be more than 2^22 steps: those are no integers beside 1.5 · 2^23.
INLINE void quantize_keys(head_s8 *h, const float *k, size_t stride) {
  const size_t blocks = (h->first + h->tokens + BQ_LANES - 1) / BQ_LANES;
  float range = 1e-30f;
  for (size_t d = 0; d < h->head_dim; d++) {
    V low = v_splat(INFINITY), high = v_splat(-INFINITY);
    for (size_t b = 0; b < blocks; b++) {
      const __mmask16 lanes = window_lanes(h, b);
      const V x = v_load(k + b * stride + d * BQ_LANES);
      low = _mm512_mask_min_ps(low, lanes, low, x);
      high = _mm512_mask_max_ps(high, lanes, high, x);
    }
    h->lows[d] = _mm512_reduce_min_ps(low);
    const float width = _mm512_reduce_max_ps(high) - h->lows[d];
    range = fmaxf(range, fmaxf(width, 1e-4f * fabsf(h->lows[d])));
  }
  h->key_step = range * (1.0f / 253);
  const float inverse = 253 / range;
  const V magic = v_splat(12582912.0f + 1);
  for (size_t d = 0; d < h->head_dim; d += 4) {
    V zero[4];
    BQ_UNROLL_FOR (size_t i = 0; i < 4; i++) zero[i] = magic - v_splat(h->lows[d + i] * inverse);
    for (size_t b = 0; b < blocks; b++)
      vi_store(h->keys + (b * h->head_dim + d) * BQ_LANES,
               quantize_quad(k + b * stride + d * BQ_LANES, v_splat(inverse), zero));
  }
}

INLINE void convert_values(const head_s8 *h, const float *v, size_t stride) {
  const size_t blocks = (h->first + h->tokens + BQ_LANES - 1) / BQ_LANES;
  for (size_t b = 0; b < blocks; b++)
    for (size_t d = 0; d < h->head_dim; d++)
      _mm256_storeu_si256((__m256i *)(h->values + (b * h->head_dim + d) * BQ_LANES),
                          (__m256i)_mm512_cvtneps_pbh(v_load(v + b * stride + d * BQ_LANES)));
}

// Symmetric bytes of one block's queries; returns the value of a step per query.
INLINE V quantize_queries(const float *q, size_t head_dim, int8_t *to) {
  V most = v_splat(1e-30f);
  for (size_t d = 0; d < head_dim; d++) most = v_max(most, _mm512_abs_ps(v_load(q + d * BQ_LANES)));
  const V inverse = v_splat(127) / most, magic = v_splat(12582912.0f);
  const V zero[4] = {magic, magic, magic, magic};
  for (size_t d = 0; d < head_dim; d += 4)
    vi_store(to + d * BQ_LANES, quantize_quad(q + d * BQ_LANES, inverse, zero));
  return most * v_splat(1.0f / 127);
}

// As score_tile, in integers: strip[key][blocks·16 queries].
INLINE void score_tile_s8(const int rows, const int blocks, const head_s8 *h, const uint8_t *k,
                          size_t left, int32_t *strip, VI most[TILE_VECS]) {
  VI acc[KEY_ROWS][TILE_VECS];
  CLEAR_TILE(acc, vi_splat(0));
  for (size_t d = 0; d < h->head_dim; d += 4) {
    VI lanes[TILE_VECS];
    BQ_UNROLL_FOR (int b = 0; b < blocks; b++)
      lanes[b] = vi_load(h->queries + ((size_t)b * h->head_dim + d) * BQ_LANES);
    BQ_UNROLL_FOR (int r = 0; r < rows; r++) {
      int32_t quad;
      memcpy(&quad, k + d * BQ_LANES + r * 4, sizeof quad);
      BQ_UNROLL_FOR (int b = 0; b < blocks; b++)
        acc[r][b] = v_dot(acc[r][b], vi_splat(quad), lanes[b]);
    }
  }
  BQ_UNROLL_FOR (int r = 0; r < rows; r++)
    BQ_UNROLL_FOR (int b = 0; b < blocks; b++) {
      const VI score = (size_t)r < left ? acc[r][b] : vi_splat(NO_SCORE);
      most[b] = (VI)_mm512_max_epi32((__m512i)most[b], (__m512i)score);
      vi_store(strip + (r * blocks + b) * VL, score);
    }
}

INLINE void score_keys_s8(const int blocks, const head_s8 *h, VI most[TILE_VECS]) {
  BQ_UNROLL_FOR (int b = 0; b < blocks; b++) most[b] = vi_splat(NO_SCORE);
  for (size_t j = 0; j < h->tokens;) {
    const size_t token = h->first + j, left = h->tokens - j;
    const uint8_t *k = h->keys + token / BQ_LANES * h->head_dim * BQ_LANES + token % BQ_LANES * 4;
    int32_t *to = (int32_t *)h->strip + j * (size_t)blocks * BQ_LANES;
    if (token % KEY_ROWS == 0) {
      score_tile_s8(KEY_ROWS, blocks, h, k, left, to, most);
      j += KEY_ROWS;
    } else {
      score_tile_s8(4, blocks, h, k, left, to, most);
      j += 4;
    }
  }
}

// As soften_bf16; `unit` is the value of an integer score in powers of 2, per query.
INLINE void soften_s8(const int blocks, const head_s8 *h, const VI most[TILE_VECS],
                      const V unit[TILE_VECS], V inverse[TILE_VECS]) {
  const int width = blocks * BQ_LANES;
  V sum[TILE_VECS];
  BQ_UNROLL_FOR (int b = 0; b < blocks; b++) sum[b] = v_splat(0);
  for (size_t j = 0; j < h->tokens; j += 2)
    BQ_UNROLL_FOR (int b = 0; b < blocks; b++) {
      const float *from = h->strip + j * width + b * VL;
      const V even = v_exp2_fast(vi_float(vi_load(from) - most[b]) * unit[b]);
      V odd = v_exp2_fast(vi_float(vi_load(from + width) - most[b]) * unit[b]);
      if (j + 1 == h->tokens) odd = v_splat(0);
      sum[b] += even + odd;
      vi_store(h->strip + j / 2 * width + b * VL, v_pairs_bf16(even, odd));
    }
  BQ_UNROLL_FOR (int b = 0; b < blocks; b++) inverse[b] = v_splat(1) / sum[b];
}

// The queries of `blocks` blocks from block `block` of the chunk on.
INLINE void attend_s8(const int blocks, const head_s8 *h, const float *q, size_t stride,
                      size_t block, size_t query_begin, size_t query_end, float scale, float *out,
                      size_t out_stride) {
  V unit[TILE_VECS], inverse[TILE_VECS];
  VI most[TILE_VECS];
  BQ_UNROLL_FOR (int b = 0; b < blocks; b++)
    unit[b] = quantize_queries(q + (block + (size_t)b) * stride, h->head_dim,
                               h->queries + (size_t)b * h->head_dim * BQ_LANES) *
              v_splat(scale * 1.44269504f * h->key_step);
  score_keys_s8(blocks, h, most);
  soften_s8(blocks, h, most, unit, inverse);
  const head_bf16 values = {NULL,     NULL,      h->values,   h->head_dim * BQ_LANES,
                            h->first, h->tokens, h->head_dim, 0};
  context_keys_bf16(blocks, &values, h->strip, inverse, block, query_begin, query_end, out,
                    out_stride);
}

KERNEL void SUFFIXED(attention_s8)(const float *q, const float *k, const float *v, size_t stride,
                                   size_t first, size_t tokens, size_t query_begin,
                                   size_t query_end, size_t head_dim, float scale, float *scratch,
                                   float *out, size_t out_stride) {
  if (query_begin >= query_end) return;
  const size_t window = first / BQ_LANES * stride;
  const size_t padded = (tokens + 2 * BQ_LANES) / BQ_LANES * BQ_LANES;
  head_s8 h = {.strip = scratch, .first = first % BQ_LANES, .tokens = tokens, .head_dim = head_dim};
  h.queries = (int8_t *)(scratch + bq_attention_scratch(tokens));
  h.keys = (uint8_t *)h.queries + TILE_BLOCKS * BQ_LANES * head_dim;
  h.values = (uint16_t *)(h.keys + padded * head_dim);
  h.lows = (float *)(h.values + padded * head_dim);
  quantize_keys(&h, k + window, stride);
  convert_values(&h, v + window, stride);
  const size_t begin = first + query_begin, end = first + query_end;
  const size_t last = (end + BQ_LANES - 1) / BQ_LANES;
  size_t block = begin / BQ_LANES;
  for (; block + TILE_BLOCKS <= last; block += TILE_BLOCKS)
    attend_s8(TILE_BLOCKS, &h, q, stride, block, begin, end, scale, out, out_stride);
  for (; block < last; block++)
    attend_s8(1, &h, q, stride, block, begin, end, scale, out, out_stride);
}
