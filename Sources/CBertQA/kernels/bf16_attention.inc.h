// Template: one head of one window in bfloat16: scores and context by vdpbf16ps, the softmax between
// them in f32. The including file includes bf16_kernels.inc.h before it.

#include <math.h>

// Token t has feature d of q and k in pairs, base[t/16·stride + d/2·32 + t%16·2 + d%2], and of
// v, whose neighbouring keys are multiplied together, at base[t/16·stride + d·16 + t%16].
typedef struct {
  const uint16_t *q, *k, *v;
  size_t stride, first, tokens, head_dim;
  float scale;  // times log2 e
} head_bf16;

// v_exp2 with a relative error of 1e-4, for results that are rounded to bfloat16.
INLINE V v_exp2_fast(V x) {
  static const float c[] = {0.99992522f, 0.69583354f, 0.22606716f, 0.078024517f};
  const V rest = _mm512_reduce_ps(x, 0x09);
  return _mm512_scalef_ps(v_horner(rest, c, 4), x);
}

// strip[key][blocks·16 queries] = q·k for `rows` keys, those from `left` on -∞; `most` is raised to
// the greatest score of each query. k is at the first key, strip at its row.
INLINE void score_tile_bf16(const int rows, const int blocks, const head_bf16 *h, const uint16_t *q,
                            const uint16_t *k, size_t left, float *strip, V most[TILE_VECS]) {
  V acc[KEY_ROWS][TILE_VECS];
  CLEAR_TILE(acc, v_splat(0));
  dot_tile_bf16(rows, blocks, k, 2, 2 * BQ_LANES, q, 2 * BQ_LANES, h->stride, h->head_dim / 2, 0,
                acc);
  BQ_UNROLL_FOR (int r = 0; r < rows; r++)
    BQ_UNROLL_FOR (int b = 0; b < blocks; b++) {
      const V score = (size_t)r < left ? acc[r][b] : v_splat(-INFINITY);
      most[b] = v_max(most[b], score);
      v_store(strip + (r * blocks + b) * VL, score);
    }
}

// All keys' scores. Groups of keys lie at multiples of their size, so that each is within one block;
// the first may be shorter, as a window starts at any multiple of 4.
INLINE void score_keys_bf16(const int blocks, const head_bf16 *h, const uint16_t *q, float *strip,
                            V most[TILE_VECS]) {
  BQ_UNROLL_FOR (int b = 0; b < blocks; b++) most[b] = v_splat(-INFINITY);
  for (size_t j = 0; j < h->tokens;) {
    const size_t token = h->first + j, left = h->tokens - j;
    const uint16_t *k = h->k + token / BQ_LANES * h->stride + token % BQ_LANES * 2;
    float *to = strip + j * (size_t)blocks * BQ_LANES;
    if (token % KEY_ROWS == 0) {
      score_tile_bf16(KEY_ROWS, blocks, h, q, k, left, to, most);
      j += KEY_ROWS;
    } else {
      score_tile_bf16(4, blocks, h, q, k, left, to, most);
      j += 4;
    }
  }
}

// In place: scores [key][queries] become pairs of exp2(scale · (score - most)) of neighbouring keys,
// [key/2][queries][2]. Returns 1 / sum per query.
INLINE void soften_bf16(const int blocks, const head_bf16 *h, float *strip, const V most[TILE_VECS],
                        V inverse[TILE_VECS]) {
  const int width = blocks * BQ_LANES;
  const V scale = v_splat(h->scale);
  V sum[TILE_VECS];
  BQ_UNROLL_FOR (int b = 0; b < blocks; b++) sum[b] = v_splat(0);
  for (size_t j = 0; j < h->tokens; j += 2)
    BQ_UNROLL_FOR (int b = 0; b < blocks; b++) {
      const float *from = strip + j * width + b * VL;
      const V even = v_exp2_fast((v_load(from) - most[b]) * scale);
      const V odd = v_exp2_fast((v_load(from + width) - most[b]) * scale);
      sum[b] += even + odd;
      vi_store(strip + j / 2 * width + b * VL, v_pairs_bf16(even, odd));
    }
  BQ_UNROLL_FOR (int b = 0; b < blocks; b++) inverse[b] = v_splat(1) / sum[b];
}

// out[d][queries] = Σ_key strip[key] · v[d][key] · inverse for `rows` features from `d` on;
// queries are relative to the first block.
INLINE void context_tile_bf16(const int rows, const int blocks, const head_bf16 *h,
                              const float *strip, const V *inverse, size_t d, size_t query_begin,
                              size_t query_end, float *out, size_t out_stride) {
  const size_t width = blocks * BQ_LANES;
  V acc[VALUE_ROWS][TILE_VECS];
  CLEAR_TILE(acc, v_splat(0));
  for (size_t j = 0; j < h->tokens;) {
    const size_t token = h->first + j, lane = token % BQ_LANES;
    const size_t left = (h->tokens - j + 1) / 2;
    const size_t run = left < (BQ_LANES - lane) / 2 ? left : (BQ_LANES - lane) / 2;
    dot_tile_bf16(rows, blocks, h->v + token / BQ_LANES * h->stride + d * BQ_LANES + lane, BQ_LANES,
                  2, (const uint16_t *)(strip + j / 2 * width), 2 * width, 2 * BQ_LANES, run, 0,
                  acc);
    j += 2 * run;
  }
  store_queries(rows, blocks, acc, inverse, query_begin, query_end, out + d * BQ_LANES, out_stride);
}

// All features of the queries query_begin ..< query_end (tokens of the chunk) in blocks `block` ...
INLINE void context_keys_bf16(const int blocks, const head_bf16 *h, const float *strip,
                              const V *inverse, size_t block, size_t query_begin, size_t query_end,
                              float *out, size_t out_stride) {
  const size_t from = block * BQ_LANES;
  const size_t begin = query_begin > from ? query_begin - from : 0;
  float *to = out + block * out_stride;
  size_t d = 0;
  for (; d + VALUE_ROWS <= h->head_dim; d += VALUE_ROWS)
    context_tile_bf16(VALUE_ROWS, blocks, h, strip, inverse, d, begin, query_end - from, to,
                      out_stride);
  for (; d < h->head_dim; d++)
    context_tile_bf16(1, blocks, h, strip, inverse, d, begin, query_end - from, to, out_stride);
}

INLINE void attend_bf16(const int blocks, const head_bf16 *h, size_t block, size_t query_begin,
                        size_t query_end, float *scratch, float *out, size_t out_stride) {
  V most[TILE_VECS], inverse[TILE_VECS];
  score_keys_bf16(blocks, h, h->q + block * h->stride, scratch, most);
  soften_bf16(blocks, h, scratch, most, inverse);
  context_keys_bf16(blocks, h, scratch, inverse, block, query_begin, query_end, out, out_stride);
}

KERNEL void SUFFIXED(attention_bf16)(const uint16_t *q, const uint16_t *k, const uint16_t *v,
                                     size_t stride, size_t first, size_t tokens, size_t query_begin,
                                     size_t query_end, size_t head_dim, float scale, float *scratch,
                                     float *out, size_t out_stride) {
  if (query_begin >= query_end) return;
  const head_bf16 h = {q, k, v, stride, first, tokens, head_dim, scale * 1.44269504f};
  const size_t begin = first + query_begin, end = first + query_end;
  const size_t last = (end + BQ_LANES - 1) / BQ_LANES;
  size_t block = begin / BQ_LANES;
  for (; block + TILE_BLOCKS <= last; block += TILE_BLOCKS)
    attend_bf16(TILE_BLOCKS, &h, block, begin, end, scratch, out, out_stride);
  for (; block < last; block++) attend_bf16(1, &h, block, begin, end, scratch, out, out_stride);
}
