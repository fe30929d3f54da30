// Attention of every precision, and the kernels of relative positions.
#include "kernels_testing.h"

// The bfloat16 next to a number, and its value.
static uint16_t bf16(float x, float *value) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  bits = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000;
  memcpy(value, &bits, sizeof *value);
  return (uint16_t)(bits >> 16);
}

// Rounds one block of activations to `pairs` or, with no pairs, to `plain`: see kernels.h.
static void round_block(float *x, size_t features, int pairs, uint16_t *y) {
  for (size_t f = 0; f < features; f++)
    for (size_t t = 0; t < 16; t++)
      y[pairs ? (f / 2 * 16 + t) * 2 + f % 2 : f * 16 + t] = bf16(x[f * 16 + t], &x[f * 16 + t]);
}

typedef enum { F32, S8, BF16 } precision;

// Scratch memory for attention, of NaN: no kernel may read what it has not written.
static float *scratch_for(size_t tokens, size_t dim) {
  const size_t bytes = bq_attention_s8_scratch(tokens, dim) * sizeof(float);
  return memset(malloc(bytes), 0xFF, bytes);
}

// A window of `tokens` tokens from `first` on in a chunk of `blocks` blocks with q, k and v side by side,
// and the queries begin ..< end of it, counted from its first token.
typedef struct {
  size_t blocks, first, tokens, begin, end, dim, band;
  int biased;
  size_t always;
} window;

// The number added to the score of a query, counted from 16 · (its first block), with a key, by
// distance.
static float *bias_table(const window *w) {
  float *table = numbers(2 * (w->tokens + 32), 2);
  for (size_t i = 0; i < 2 * (w->tokens + 32); i++)
    if (i % 5 == 3) table[i] = -INFINITY;
  table[w->tokens + 32] = 1;  // each query attends at least to itself
  return table;
}

static void attend(precision p, const bq_attention *a, float *x, size_t blocks, float *out) {
  const size_t part = a->head_dim * 16;
  if (p == F32) kernels->attention_f32(a, x, x + part, x + 2 * part, out);
  if (p == S8) kernels->attention_s8(a, x, x + part, x + 2 * part, out);
  if (p != BF16) return;
  uint16_t *rounded = malloc(blocks * 3 * part * sizeof *rounded);
  for (size_t i = 0; i < blocks * 3; i++)
    round_block(x + i * part, a->head_dim, i % 3 < 2, rounded + i * part);
  kernels->attention_bf16(a, rounded, rounded + part, rounded + 2 * part, out);
  free(rounded);
}

static void test_attention(precision p, double error, window w) {
  const size_t dim = w.dim, first = w.first, tokens = w.tokens;
  float *x = numbers(w.blocks * 16 * 3 * dim, 2), *out = malloc(w.blocks * 16 * dim * sizeof *out);
  float *scratch = scratch_for(tokens, dim);
  float *table = bias_table(&w), *zero = table + tokens + 32;
  double *scores = malloc(tokens * sizeof *scores);
  for (size_t i = 0; i < w.blocks * 16 * dim; i++) out[i] = 7;
  // Other windows' tokens. Lanes that pad this one are finite in bfloat16, where a weight of 0 multiplies them.
  const size_t end = first + (p == BF16 ? (tokens + 3) / 4 * 4 : tokens);
  for (size_t t = 0; t < w.blocks * 16; t++)
    for (size_t f = 0; f < 3 * dim; f++)
      if (t < first || t >= end) x[at(t, f, 3 * dim)] = f % 2 ? NAN : INFINITY;
  bq_attention a = {.stride = 3 * dim * 16,
                    .key_begin = first,
                    .key_end = first + tokens,
                    .query_begin = first + w.begin,
                    .query_end = first + w.end,
                    .head_dim = dim,
                    .scale = 0.3f,
                    .band = w.band,
                    .always = w.always,
                    .scratch = scratch,
                    .out_stride = dim * 16};
  if (w.biased) {
    a.bias = zero + (ptrdiff_t)(a.query_begin / 16 * 16) - (ptrdiff_t)first;
    a.bias_stride = 16, a.bias_step = -1;
  }
  attend(p, &a, x, w.blocks, out);
  for (size_t t = 0; t < w.blocks * 16; t++) {
    const int wanted = t >= a.query_begin && t < a.query_end;
    double sum = 0;
    for (size_t j = 0; wanted && j < tokens; j++) {
      const ptrdiff_t distance = (ptrdiff_t)t - (ptrdiff_t)(first + j);
      scores[j] = w.biased ? zero[distance] : 0;
      if (w.band && j >= w.always && (size_t)labs(distance) > w.band) scores[j] = -INFINITY;
      for (size_t d = 0; d < dim; d++)
        scores[j] += (double)x[at(t, d, 3 * dim)] * x[at(first + j, dim + d, 3 * dim)];
      sum += scores[j] = exp((double)a.scale * scores[j]);
    }
    for (size_t d = 0; d < dim; d++) {
      double exact = wanted ? 0 : 7;
      for (size_t j = 0; wanted && j < tokens; j++)
        exact += scores[j] / sum * x[at(first + j, 2 * dim + d, 3 * dim)];
      CHECK(fabs(out[at(t, d, dim)] - exact) <= (wanted ? error : 0),
            "attention %d of %zu tokens: %g for %g", p, tokens, out[at(t, d, dim)], exact);
    }
  }
  free(x), free(out), free(scratch), free(table), free(scores);
}

// Attention of all tokens of one head to all, without a bias. Queries, keys and values are beside one another.
static bq_attention one_head(size_t tokens, size_t dim, float scale, float *scratch) {
  return (bq_attention){.stride = 3 * dim * 16,
                        .key_end = tokens,
                        .query_end = tokens,
                        .head_dim = dim,
                        .scale = scale,
                        .scratch = scratch,
                        .out_stride = dim * 16};
}

// Queries, keys and values as large as their steps allow, in long runs of one sign: sums of bytes must not overflow.
static void test_large_sums(precision p, double error) {
  enum { TOKENS = 96, DIM = 20 };
  float *x = malloc(TOKENS * 3 * DIM * sizeof *x), *out = malloc(TOKENS * DIM * sizeof *out);
  float *scratch = scratch_for(TOKENS, DIM);
  for (size_t t = 0; t < TOKENS; t++)
    for (size_t d = 0; d < DIM; d++) {
      const float sign = d < 12 ? 1 : -1;
      x[at(t, d, 3 * DIM)] = t % 2 ? sign : -sign;
      x[at(t, DIM + d, 3 * DIM)] = t % 24 < 12 ? 1 : 0;
      x[at(t, 2 * DIM + d, 3 * DIM)] = (t % 24 < 12) == (d % 2 == 0) ? 1 : -1;
    }
  const bq_attention a = one_head(TOKENS, DIM, 0.1f, scratch);
  attend(p, &a, x, TOKENS / 16, out);
  for (size_t t = 0; t < TOKENS; t++)
    for (size_t d = 0; d < DIM; d++) {
      const double score = 0.1 * (t % 2 ? 4 : -4), exact = (d % 2 ? -1 : 1) * tanh(score / 2);
      CHECK(fabs(out[at(t, d, DIM)] - exact) <= error, "attention %d: %g for %g", p, out[at(t, d, DIM)], exact);
    }
  free(x), free(out), free(scratch);
}

// One key outweighs 383 others, whose weights are each too small for the nearest byte but not together.
static void test_small_weights(precision p, double error) {
  enum { TOKENS = 384, DIM = 4 };
  const double small = 0.3 / 255, exact = (TOKENS - 1) * small / (1 + (TOKENS - 1) * small);
  float *x = calloc(TOKENS * 3 * DIM, sizeof *x), *out = malloc(TOKENS * DIM * sizeof *out);
  float *scratch = scratch_for(TOKENS, DIM);
  for (size_t t = 0; t < TOKENS; t++) {
    x[at(t, 0, 3 * DIM)] = 1;
    x[at(t, DIM, 3 * DIM)] = t == 100 ? 0 : (float)log(small);
    for (size_t d = 0; d < DIM; d++) x[at(t, 2 * DIM + d, 3 * DIM)] = t != 100;
  }
  const bq_attention a = one_head(TOKENS, DIM, 1, scratch);
  attend(p, &a, x, TOKENS / 16, out);
  for (size_t i = 0; i < TOKENS * DIM; i++)
    CHECK(fabs(out[i] - exact) <= error, "attention %d: %g for %g", p, out[i], exact);
  free(x), free(out), free(scratch);
}

// Products of keys with vectors for distances, then a bias of them and of products of queries.
static void test_relative(precision p, size_t first, size_t tokens, size_t dim) {
  const size_t blocks = (first + tokens + 15) / 16, key_block = first / 16;
  const bq_attention a = {.stride = dim * 16,
                          .key_begin = first,
                          .key_end = first + tokens,
                          .query_begin = first,
                          .query_end = first + tokens,
                          .head_dim = dim};
  const size_t width = bq_relative_width(&a);
  // Vectors for the distances from -16 · blocks on.
  float *k = numbers(blocks * 16 * dim, 2), *vectors = numbers(2 * blocks * 16 * dim, 2);
  float *y = malloc(tokens * width * sizeof *y);
  uint16_t *pairs = malloc(3 * blocks * 16 * dim * sizeof *pairs), *pair_vectors = pairs + blocks * 16 * dim;
  if (p == BF16) {
    for (size_t b = 0; b < blocks; b++) round_block(k + b * 16 * dim, dim, 1, pairs + b * 16 * dim);
    for (size_t b = 0; b < 2 * blocks; b++)
      round_block(vectors + b * 16 * dim, dim, 1, pair_vectors + b * 16 * dim);
    kernels->relative_keys_bf16(&a, pairs, pair_vectors + blocks * 16 * dim, dim * 16, y);
  } else {
    kernels->relative_keys_f32(&a, k, vectors + blocks * 16 * dim, dim * 16, y);
  }
  for (size_t key = first; key < first + tokens; key++)
    for (size_t i = 0; i < width; i++) {
      const size_t row = i + 16 * (blocks + key_block - key / 16 - 1);  // the distance and 16 · blocks
      double sum = 0;
      for (size_t d = 0; d < dim; d++) sum += (double)k[at(key, d, dim)] * vectors[at(row, d, dim)];
      CHECK(fabs(y[(key - first) * width + i] - sum) < 1e-4, "relative_keys: %g for %g",
            y[(key - first) * width + i], sum);
    }
  // Rows of by_query that two distances share.
  const size_t reach = 16 * blocks + 16;
  int32_t *rows = malloc(2 * reach * sizeof *rows);
  for (size_t i = 0; i < 2 * reach; i++) rows[i] = (int32_t)i / 2;
  float *by_query = numbers(reach * 16, 2), *bias = malloc(tokens * 16 * sizeof *bias);
  kernels->relative_bias(&a, key_block, rows + reach, 0, by_query, y, bias);
  for (size_t key = first; key < first + tokens; key++)
    for (size_t lane = first % 16; lane < 16 && key_block * 16 + lane < first + tokens; lane++) {
      const size_t distance = key_block * 16 + lane + reach - key;
      const float exact = by_query[(size_t)rows[distance] * 16 + lane] +
                          y[(key - first) * width + 16 + lane - key % 16];
      CHECK(bias[(key - first) * 16 + lane] == exact, "relative_bias: %g for %g",
            bias[(key - first) * 16 + lane], exact);
    }
  free(k), free(vectors), free(y), free(pairs), free(rows), free(by_query), free(bias);
}

void test_attentions(void) {
  // Without VNNI, bytes of queries and values have fewer steps.
  const double errors[] = {[F32] = 2e-5, [S8] = kernels->byte_steps < 253 ? 0.07 : 0.05, [BF16] = 0.01};
  for (precision p = F32; p <= BF16; p++) {
    if ((p == S8 && !kernels->attention_s8) || (p == BF16 && !kernels->attention_bf16)) continue;
    test_attention(p, errors[p], (window){1, 0, 1, 0, 1, 4, 0, 0, 0});
    test_attention(p, errors[p], (window){3, 4, 37, 0, 37, 32, 0, 0, 0});
    test_attention(p, errors[p], (window){5, 24, 50, 7, 41, 20, 0, 0, 0});
    test_attention(p, errors[p], (window){5, 24, 51, 7, 41, 12, 0, 1, 0});
    test_attention(p, errors[p], (window){5, 12, 66, 0, 66, 16, 9, 0, 0});
    test_attention(p, errors[p], (window){5, 12, 66, 20, 21, 16, 30, 1, 0});
    test_attention(p, errors[p], (window){5, 12, 66, 3, 66, 16, 9, 0, 19});
    test_small_weights(p, errors[p] / 2);
    test_large_sums(p, errors[p] / 2);
  }
  test_attention(F32, 2e-5, (window){1, 0, 1, 0, 1, 1, 0, 0, 0});
  for (precision p = F32; p <= BF16; p += 2) {
    if (p == BF16 && !kernels->relative_keys_bf16) continue;
    test_relative(p, 0, 1, 2);
    test_relative(p, 4, 41, 14);
    test_relative(p, 24, 33, 32);
  }
}
