// The innermost CPU kernels: what the encoder calls through Sources/BertQACore/Kernels.
//
// Lane layout. Activations of T tokens and F features are stored in blocks of 16 tokens,
//   x[block][feature][16]        block = token / 16, lane = token % 16
// so that a vector register holds one feature of neighbouring tokens. Every reduction over features
// (LayerNorm, quantisation) and over keys (softmax) is then a plain vertical loop, and the weights
// are read in the layout a checkpoint stores them in, [out][in] row-major, as broadcast scalars:
// nothing is packed at load and processes share the mapped pages.
//
// Every function computes each token's numbers in an order that depends neither on the lane, the
// block nor the number of tokens: results are bit-identical in any batch. Lanes beyond the last
// token are computed like any other and hold arbitrary finite numbers; buffers are 64-byte aligned unless said
// otherwise. No function allocates, fails or keeps state.
#ifndef BERTQA_KERNELS_H
#define BERTQA_KERNELS_H

#include <stddef.h>
#include <stdint.h>

enum {
  BQ_LANES = 16,  // tokens per block
};

// Instruction sets; dispatch.c has the order of preference. Values equal bertqa_isa in bertqa.h.
enum {
  BQ_ISA_AUTO = 0,
  BQ_ISA_PORTABLE = 1,          // compiler vectors: SSE2 on x86-64, NEON on arm64
  BQ_ISA_AVX2 = 2,              // AVX2 + FMA + F16C
  BQ_ISA_AVX512 = 3,            // AVX-512 F, BW, DQ, VL
  BQ_ISA_AVX512_VNNI = 4,       // AVX-512 and VNNI
  BQ_ISA_AVX512_VNNI_BF16 = 5,  // AVX-512, VNNI and BF16
  BQ_ISA_AVX2_VNNI = 6,         // AVX2 and AVX-VNNI
  BQ_ISA_NEON = 7,              // arm64
  BQ_ISA_NEON_DOTPROD = 8,      // arm64 and the dot product extension
  BQ_ISA_NEON_I8MM_BF16 = 9,    // arm64, dot product, I8MM and BF16
  BQ_ISA_AVX512_AMX = 10,       // AVX-512, VNNI, BF16 and AMX tiles
  BQ_ISA_LAST = BQ_ISA_AVX512_AMX,
};

// What a linear layer does to its result before storing it.
enum {
  BQ_EPILOGUE_BIAS = 0,      // y = x·wᵀ + bias
  BQ_EPILOGUE_RESIDUAL = 2,  // y += x·wᵀ + bias (y holds the residual)
  // Activations: y = f(v), v = x·wᵀ + bias. NaN gives NaN. Errors are absolute, and those of finite v.
  //   GELU       v/2 · (1 + erf(v/√2)): 6e-7 · max(|v|, 1e-30); exactly v above 5.6, 0 below -5.6
  //   GELU_TANH  v/2 · (1 + tanh(√(2/π) · (v + 0.044715 v³))): 4e-7 · max(|v|, 1e-30)
  //   SILU       v / (1 + exp(-v)): 5e-7 · |f(v)| + 1e-36
  //   RELU       max(v, 0), exact
  //   TANH       2e-7 · |f(v)|
  BQ_EPILOGUE_GELU = 1,
  BQ_EPILOGUE_GELU_TANH = 3,
  BQ_EPILOGUE_SILU = 4,
  BQ_EPILOGUE_RELU = 5,
  BQ_EPILOGUE_TANH = 6,
  BQ_EPILOGUE_GATE = 7,  // y *= x·wᵀ + bias (y holds what is gated)
  // For linear_bf16: as bfloat16.
  BQ_EPILOGUE_BF16 = 8,  // BIAS, y[block][out][16]
  // To be added to BIAS or an activation: y[block][out/2][16][2]; the number of outputs is even.
  BQ_EPILOGUE_BF16_PAIRS = 16,
};

// Number formats of weights that are widened where they are used.
enum {
  BQ_FORMAT_F32 = 0,
  BQ_FORMAT_F16 = 1,
  BQ_FORMAT_BF16 = 2,
};

// Weights s8 [outs][in], row-major, any alignment; a weight's value is scale[out] · w.
typedef struct {
  const int8_t *w;
  const float *scale;  // [outs]
  const float *sums;   // [outs], scale[out] · Σ_k w[out][k]: see bq_row_sums_s8 in weights.h
  const float *bias;   // [outs]
  // What find_large_s8 gives, where the instruction set has it; NULL is as exact, but slower.
  const uint64_t *large;
} bq_weights_s8;

// Words of bq_weights_s8.large for a row.
static inline size_t bq_large_words(size_t columns) { return (columns + 511) / 512; }

// One head's attention: which queries meet which keys, and what is added to their scores. Tokens are
// counted from the first of block 0 of the chunk.
typedef struct {
  // Elements from a feature of one block of q, k and v to the same of the next block.
  size_t stride;
  // The keys: the tokens key_begin ..< key_end. key_begin is a multiple of 4.
  size_t key_begin, key_end;
  // The queries: only their lanes of `out` are written; other threads may write the others.
  size_t query_begin, query_end;
  size_t head_dim;
  float scale;  // > 0, or 0 for attention_f32 without a bias
  // Added to q·k before the scale: 16 floats at bias + block · bias_stride + key · bias_step for every
  // block that holds queries, from the first of them on, and every key from key_begin on, at any
  // address. Tiles [block][key][16] have a step of 16; a table of numbers by the distance query - key
  // has a stride of 16 and a step of -1. Lanes that are no query's may hold anything. NULL: nothing is
  // added. -∞: the query does not attend to the key, which then has a weight of exactly 0. Each
  // query attends to at least one key.
  const float *bias;
  ptrdiff_t bias_stride, bias_step;
  // A query attends only to keys at most `band` tokens before or behind it; 0: to all.
  size_t band;
  // bq_attention_scratch(key_end - key_begin) floats, or bq_attention_s8_scratch for attention_s8.
  float *scratch;
  size_t out_stride;  // as `stride`, of out
} bq_attention;

// One instruction set's kernels.
typedef struct bq_kernels {
  int32_t isa;
  // Steps that the range of an int8 activation is cut into: 253, or 126 where no instruction adds
  // products of 8 bits without saturating.
  int32_t byte_steps;

  // y[b][o][16] for o < outs, b < blocks; x: [blocks][in][16], w: [outs][in] row-major (any
  // alignment of 4), bias: [outs]. y_stride: floats from one block of y to the next (y may be a
  // slice of a wider buffer). Each output is summed over k = 0 ..< in in this order, by FMA.
  void (*linear_f32)(const float *w, const float *bias, const float *x, size_t blocks, size_t in,
                     size_t outs, int32_t epilogue, float *y, size_t y_stride);

  // y = (x - mean) / sqrt(var + eps) · gamma + beta over the features, per token; y may be x.
  // x, y: [blocks][features][16].
  void (*layer_norm_f32)(const float *x, size_t blocks, size_t features, const float *gamma,
                         const float *beta, float eps, float *y);

  // Rotary positions (Su et al. 2021, https://arxiv.org/abs/2104.09864) of one block's queries or keys, in
  // place. x: [heads][head_dim][16]; features d and d + head_dim/2 of a head are the plane that the lane's
  // angle turns. turns: [head_dim/2][cos, sin][16]; head_dim is even.
  void (*rotate_f32)(float *x, size_t heads, size_t head_dim, const float *turns);

  // One head's attention of one window: out = softmax((q·kᵀ + bias) · scale) · v.
  // q, k, v and out point at this head's first feature within block 0 of the chunk. Results depend on
  // the keys' numbers and their distances from key_begin, not on where the window lies.
  void (*attention_f32)(const bq_attention *a, const float *q, const float *k, const float *v,
                        float *out);

  // int8. Activations u8 with four neighbouring features of a token side by side,
  // x[block][feature/4][16][4], of value scale[token] · u + offset[token]. `features` and `in` are
  // multiples of 4. scale and offset: [blocks][16]. Each token gets the range of its own values
  // and 0, cut into byte_steps, so batches do not change results. Bytes are at most byte_steps + 2.
  // Infinities and NaN give unspecified numbers.
  void (*quantize_u8)(const float *x, size_t blocks, size_t features, uint8_t *y, float *scale,
                      float *offset);

  // As linear_f32, of what quantize_u8 gave; the sums of byte products are exact, up to in = 2^16. The GELUs are
  // those of 8-bit results: absolute error ≤ 6e-6. The epilogues that give bfloat16 are not for it.
  void (*linear_s8)(const bq_weights_s8 *weights, const uint8_t *x, const float *scale,
                    const float *offset, size_t blocks, size_t in, size_t outs, int32_t epilogue,
                    float *y, size_t y_stride);

  // Which of a row's steps of 8 columns have weights so large that linear_s8 takes more care of them: bit
  // k / 8 % 64 of large[row][k / 512], or all of large[row][0] where there are many. NULL where it takes the same of all.
  void (*find_large_s8)(const int8_t *w, size_t rows, size_t columns, uint64_t *large);

  // As attention_f32 (f32 in and out), with scores of bytes and the rest as attention_bf16; NULL
  // without BF16. The keys of a call share one step, so that a call with other keys has other
  // bits; queries get one per token. head_dim is a multiple of 4.
  void (*attention_s8)(const bq_attention *a, const float *q, const float *k, const float *v,
                       float *out);

  // bfloat16; NULL without BF16. "Pairs" are two neighbouring features of a token side by side,
  // x[block][feature/2][16][2]; the number of features is even.
  // f32 [blocks][features][16] to pairs, rounding to nearest even.
  void (*pack_bf16)(const float *x, size_t blocks, size_t features, uint16_t *y);

  // As linear_f32, of x in pairs and w bfloat16 [outs][in], row-major, with f32 sums; GELU as of
  // linear_s8. y is float, or bfloat16 where the epilogue says so; y_stride counts its elements.
  void (*linear_bf16)(const uint16_t *w, const float *bias, const uint16_t *x, size_t blocks,
                      size_t in, size_t outs, int32_t epilogue, void *y, size_t y_stride);

  // As attention_f32, with q and k as BQ_EPILOGUE_BF16_PAIRS gives them and v as BQ_EPILOGUE_BF16
  // does; stride counts bfloat16s; head_dim is even. Scores and softmax are f32; the softmax's weights
  // are rounded to bfloat16 before they meet v.
  void (*attention_bf16)(const bq_attention *a, const uint16_t *q, const uint16_t *k,
                         const uint16_t *v, float *out);

  // Relative positions: products of queries and keys with vectors for the distance between them, as a
  // bias for attention. One head's, for the queries and keys of the call that the bias is for, of which
  // only stride, the ranges and head_dim are used.
  //
  // Products of keys with a vector for every distance from the queries:
  //   y[key - key_begin][i] = Σ_d k[key][d] · positions[i + 16 · (B - K - 1)][d], i < bq_relative_width
  // B: the block of the first query; K: that of the key. positions: this head's first feature of the
  // distances 0 ..< 16, lane layout; position_stride floats further is that of the next 16 distances.
  // Those from -16 · (K - B + 1) on are read, a block more than queries and keys have.
  void (*relative_keys_f32)(const bq_attention *a, const float *k, const float *positions,
                            size_t position_stride, float *y);
  // The same of pairs; NULL without BF16. position_stride counts bfloat16s.
  void (*relative_keys_bf16)(const bq_attention *a, const uint16_t *k, const uint16_t *positions,
                             size_t position_stride, float *y);

  // The bias of one block of queries, bias[key - key_begin][16], before the scale:
  //   by_query[rows[query - key] - first_row][lane] + what by_key has for the key and the distance
  // by_query: products of the block's queries with a vector for every row, [row][16], or NULL;
  // by_key: y of relative_keys_… or NULL. rows: at the distance 0; ascending with the distance, and
  // so given for 15 keys behind the last too.
  void (*relative_bias)(const bq_attention *a, size_t block, const int32_t *rows, size_t first_row,
                        const float *by_query, const float *by_key, float *bias);

  // Recurrent models. Their vectors are plain rows, not in the lane layout, at any alignment.
  // y[v][o] = Σ_k w[o][k] · x[v][k] + bias[o], o < outs, k < in, v < vectors; w: [outs][in] in a
  // BQ_FORMAT_…, finite, at any address; x_stride, y_stride: floats from one vector to the next.
  void (*multiply_rows)(const void *w, int32_t format, const float *bias, const float *x,
                        size_t x_stride, size_t vectors, size_t in, size_t outs, float *y,
                        size_t y_stride);

  // A step of `units` units of one LSTM layer. x, h: what the input and the state give to the gates i,
  // f, g, o (biases included), `gate` floats from one gate to the next.
  //   next_c = σ(f) · c + σ(i) · tanh(g)    next_h = σ(o) · tanh(next_c)
  void (*lstm_cell)(const float *x, const float *h, size_t gate, size_t units, const float *c,
                    float *next_c, float *next_h);

  // The same of a GRU layer with gates r, z, n:
  //   n = tanh(x_n + σ(r) · h_n)    next = (1 - σ(z)) · n + σ(z) · state
  void (*gru_cell)(const float *x, const float *h, size_t gate, size_t units, const float *state,
                   float *next);

  // y[i] = f(x[i]) for i < n; y may be x; any alignment. NaN gives NaN. Errors over all floats:
  //   exp   2 ulp, and half the smallest subnormal where the result is subnormal
  //   tanh  2e-7 relative
  void (*exp_f32)(const float *x, size_t n, float *y);
  void (*tanh_f32)(const float *x, size_t n, float *y);
} bq_kernels;

// Floats of scratch that attention needs for so many keys, whatever the number of queries.
size_t bq_attention_scratch(size_t keys);
size_t bq_attention_s8_scratch(size_t keys, size_t head_dim);

// Distances for which relative_keys_… gives products with each key.
size_t bq_relative_width(const bq_attention *a);

// The best instruction set this CPU and operating system support (> BQ_ISA_AUTO).
int32_t bq_best_isa(void);

// The kernels for an instruction set, or NULL where this CPU or build does not have it.
// BQ_ISA_AUTO gives the best.
const bq_kernels *bq_kernels_for(int32_t isa);

#endif
