// The innermost CPU kernels, which the encoder calls through Sources/BertQACore/Kernels.
//
// Lane layout. Activations of T tokens and F features are stored in blocks of 16 tokens,
//   x[block][feature][16]        block = token / 16, lane = token % 16
// so that a vector register holds one feature of neighbouring tokens. Every reduction over features
// (LayerNorm, quantisation) and over keys (softmax) is then a plain vertical loop. The weights keep
// the checkpoint's layout, [out][in] row-major, and are read as broadcast scalars: nothing is
// packed at load time, and processes share the mapped pages.
//
// Every function computes each token's numbers in an order that does not depend on the lane, the
// block or the number of tokens: results are bit-identical in any batch. Lanes beyond the last
// token are computed like any other and hold arbitrary finite numbers. Buffers are 64-byte aligned
// unless stated otherwise. No function allocates, fails or keeps state.
#ifndef BERTQA_KERNELS_H
#define BERTQA_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  BQ_LANES = 16,  // tokens per block
};

// The instruction sets in order of preference: number, constant, name, architecture. Numbers equal
// bertqa_isa in bertqa.h.
#define BQ_INSTRUCTION_SETS(X)                                                          \
  X(10, AVX512_AMX, avx512_amx, X86)            /* AVX-512, VNNI, BF16 and AMX tiles */ \
  X(5, AVX512_VNNI_BF16, avx512_vnni_bf16, X86) /* AVX-512, VNNI and BF16 */            \
  X(4, AVX512_VNNI, avx512_vnni, X86)           /* AVX-512 and VNNI */                  \
  X(3, AVX512, avx512, X86)                     /* AVX-512 F, BW, DQ, VL */             \
  X(6, AVX2_VNNI, avx2_vnni, X86)               /* AVX2 and AVX-VNNI */                 \
  X(2, AVX2, avx2, X86)                         /* AVX2, FMA, F16C */                   \
  X(9, NEON_I8MM_BF16, neon_i8mm_bf16, ARM64)   /* dot product, I8MM and BF16 */        \
  X(8, NEON_DOTPROD, neon_dotprod, ARM64)       /* the dot product extension */         \
  X(7, NEON, neon, ARM64)                                                               \
  X(1, PORTABLE, portable, ANY) /* compiler vectors: SSE2 on x86-64, NEON on arm64 */

#define BQ_ISA_CONSTANT(number, constant, name, architecture) BQ_ISA_##constant = number,
#define BQ_ISA_ONE(number, constant, name, architecture) +1
enum { BQ_ISA_AUTO = 0, BQ_INSTRUCTION_SETS(BQ_ISA_CONSTANT) };
enum { BQ_ISA_LAST = 0 BQ_INSTRUCTION_SETS(BQ_ISA_ONE) };
#undef BQ_ISA_CONSTANT
#undef BQ_ISA_ONE

// The operation that a linear layer applies to its result before storing it.
enum {
  BQ_EPILOGUE_BIAS = 0,      // y = x·wᵀ + bias
  BQ_EPILOGUE_RESIDUAL = 2,  // y += x·wᵀ + bias (y holds the residual)
  // Activations: y = f(v), v = x·wᵀ + bias. f(NaN) is NaN. The errors are absolute and hold for
  // finite v.
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
  BQ_EPILOGUE_GATE = 7,  // y *= x·wᵀ + bias (y holds the gated values)
  // For linear_bf16: the result is bfloat16.
  BQ_EPILOGUE_BF16 = 8,  // BIAS, y[block][out][16]
  // Flag for BIAS or an activation: y[block][out/2][16][2]; the number of outputs must be even.
  BQ_EPILOGUE_BF16_PAIRS = 16,
};

// Storage formats of weights, which are widened on use.
enum {
  BQ_FORMAT_F32 = 0,
  BQ_FORMAT_F16 = 1,
  BQ_FORMAT_BF16 = 2,
  BQ_FORMAT_S8 = 3,  // int8 without a scale; for sum_rows only
};

// int8 weights [outs][in], row-major, any alignment. The value of a weight is scale[out] · w.
typedef struct {
  const int8_t *w;
  const float *scale;  // [outs]
  const float *sums;   // [outs], scale[out] · Σ_k w[out][k]: see bq_row_sums_s8 in weights.h
  const float *bias;   // [outs]
  // The result of find_large_s8, if the instruction set has it. NULL is equally exact but slower.
  const uint64_t *large;
} bq_weights_s8;

// The number of words that a row takes in bq_weights_s8.large.
static inline size_t bq_large_words(size_t columns) { return (columns + 511) / 512; }

// One head's attention: the queries, the keys, and the bias on their scores. Token numbers are
// relative to the first token of the chunk's block 0.
typedef struct {
  // The number of elements between a feature of one block of q, k and v and the same feature of the
  // next.
  size_t stride;
  // The keys are the tokens key_begin ..< key_end. key_begin is a multiple of 4.
  size_t key_begin, key_end;
  // The queries. Only their lanes of `out` are written; other threads may write the other lanes.
  size_t query_begin, query_end;
  size_t head_dim;
  float scale;  // > 0, or 0 for attention_f32 without a bias
  // The bias, added to q·k before scaling: 16 floats at bias + block · bias_stride + key ·
  // bias_step for every block that holds queries, counted from the first of these blocks, and for
  // every key, counted from key_begin. No alignment is required. Tiles [block][key][16] have a step
  // of 16. A table indexed by the distance query - key has a stride of 16 and a step of -1. Lanes
  // without a query may hold anything. NULL means no bias. With -∞ the query does not attend to the
  // key, whose weight is then exactly 0. Each query must attend to at least one key.
  const float *bias;
  ptrdiff_t bias_stride, bias_step;
  // A query attends only to keys within `band` tokens before or after it, and to the first `always`
  // keys; 0 means all keys.
  size_t band, always;
  // bq_attention_scratch(key_end - key_begin) floats; for attention_s8, bq_attention_s8_scratch.
  float *scratch;
  size_t out_stride;  // like `stride`, for out
} bq_attention;

// The kernels of one instruction set.
typedef struct bq_kernels {
  int32_t isa;
  // The number of steps in the range of an int8 activation: 253, or 126 if the instruction set has
  // no 8-bit multiply-add without saturation.
  int32_t byte_steps;

  // y[b][o][16] for o < outs, b < blocks; x: [blocks][in][16], w: [outs][in] row-major (alignment
  // 4), bias: [outs]. y_stride is the number of floats from one block of y to the next (y may be a
  // slice of a wider buffer). Each output is summed by FMA over k = 0 ..< in, in this order.
  void (*linear_f32)(const float *w, const float *bias, const float *x, size_t blocks, size_t in,
                     size_t outs, int32_t epilogue, float *y, size_t y_stride);

  // y = (x - mean) / sqrt(var + eps) · gamma + beta over the features, per token; y may be x.
  // x, y: [blocks][features][16].
  void (*layer_norm_f32)(const float *x, size_t blocks, size_t features, const float *gamma,
                         const float *beta, float eps, float *y);

  // Applies rotary positions (Su et al. 2021, https://arxiv.org/abs/2104.09864) to one block's
  // queries or keys, in place. x: [heads][head_dim][16]. Features d and d + head_dim/2 of a head
  // span the plane that is rotated by the lane's angle. turns: [head_dim/2][cos, sin][16]; head_dim
  // is even.
  void (*rotate_f32)(float *x, size_t heads, size_t head_dim, const float *turns);

  // Computes one head's attention in one window: out = softmax((q·kᵀ + bias) · scale) · v. q, k, v
  // and out point at this head's first feature in block 0 of the chunk. Results depend on the
  // values of the keys and their distances from key_begin, not on the position of the window.
  void (*attention_f32)(const bq_attention *a, const float *q, const float *k, const float *v,
                        float *out);

  // int8. Activations are u8 with four neighbouring features of a token adjacent,
  // x[block][feature/4][16][4], with the value scale[token] · u + offset[token]. `features` and
  // `in` are multiples of 4. scale and offset: [blocks][16]. The range of each token's own values
  // and 0 is divided into byte_steps, so that results do not depend on the batch. Bytes are at most
  // byte_steps + 2. Infinities and NaN give unspecified numbers.
  void (*quantize_u8)(const float *x, size_t blocks, size_t features, uint8_t *y, float *scale,
                      float *offset);

  // Like linear_f32, for activations from quantize_u8. The sums of byte products are exact up to in
  // = 2^16. GELUs have an absolute error of at most 6e-6, enough for results rounded to 8
  // bits. The bfloat16 epilogues are not supported.
  void (*linear_s8)(const bq_weights_s8 *weights, const uint8_t *x, const float *scale,
                    const float *offset, size_t blocks, size_t in, size_t outs, int32_t epilogue,
                    float *y, size_t y_stride);

  // Finds each row's steps of 8 columns whose weights are so large that linear_s8 needs its exact
  // path for them: bit k / 8 % 64 of large[row][k / 512], or all bits of large[row][0] if there are
  // many. NULL if linear_s8 has no such distinction.
  void (*find_large_s8)(const int8_t *w, size_t rows, size_t columns, uint64_t *large);

  // Like attention_f32 (f32 in and out), with products of bytes: queries, keys, values, and weights
  // of keys, which are shares of 1/255 of the best one's; avx512_amx computes the context in
  // bfloat16. NULL if the instruction set has no products of unsigned and signed bytes. Keys and each
  // feature of the values have a quantisation step per call, so results depend on the set of keys.
  // Each query has its own step. head_dim is a multiple of 4. At most 2^16 keys, whose sums fit in 32 bits.
  void (*attention_s8)(const bq_attention *a, const float *q, const float *k, const float *v,
                       float *out);

  // bfloat16; NULL without BF16. "Pairs" means that two neighbouring features of a token are
  // adjacent, x[block][feature/2][16][2]; the number of features is even.
  // Converts f32 [blocks][features][16] to pairs, rounding to nearest even.
  void (*pack_bf16)(const float *x, size_t blocks, size_t features, uint16_t *y);

  // Like linear_f32, for x in pairs and w in bfloat16 [outs][in], row-major, with f32 sums; GELU as
  // in linear_s8. y holds floats, or bfloat16s if the epilogue says so; y_stride counts its
  // elements. avx512_amx has one order of summation for whole tiles of 16 outputs, counted from the
  // first, and another for the outputs behind them.
  void (*linear_bf16)(const uint16_t *w, const float *bias, const uint16_t *x, size_t blocks,
                      size_t in, size_t outs, int32_t epilogue, void *y, size_t y_stride);

  // Like attention_f32, with q and k in the format of BQ_EPILOGUE_BF16_PAIRS and v in that of
  // BQ_EPILOGUE_BF16. stride counts bfloat16s; head_dim is even. Scores and softmax are f32; the
  // softmax weights are rounded to bfloat16 before they multiply v.
  void (*attention_bf16)(const bq_attention *a, const uint16_t *q, const uint16_t *k,
                         const uint16_t *v, float *out);

  // Relative positions: products of queries and keys with vectors for their distance, as a bias for
  // attention. The functions compute one head's, for the queries and keys of the attention call; of
  // the call they use only stride, the ranges and head_dim.
  //
  // Multiplies keys by the vector of every distance from the queries:
  //   y[key - key_begin][i] = Σ_d k[key][d] · positions[i + 16 · (B - K - 1)][d], i < bq_relative_width
  // B is the block of the first query, K that of the key. positions points at this head's first
  // feature of the distances 0 ..< 16, in lane layout; the next 16 distances follow position_stride
  // floats later. Distances from -16 · (K - B + 1) are read, one block more than queries and keys
  // have.
  void (*relative_keys_f32)(const bq_attention *a, const float *k, const float *positions,
                            size_t position_stride, float *y);
  // The same for pairs; NULL without BF16. position_stride counts bfloat16s.
  void (*relative_keys_bf16)(const bq_attention *a, const uint16_t *k, const uint16_t *positions,
                             size_t position_stride, float *y);

  // Computes the bias of one block of queries, bias[key - key_begin][16], before scaling:
  //   by_query[rows[query - key] - first_row][lane] + by_key at the key and the distance
  // by_query: products of the block's queries with a vector for every row, [row][16], or NULL.
  // by_key: y of relative_keys_… or NULL. rows points at distance 0 and ascends with the distance;
  // it must also cover 15 keys after the last.
  void (*relative_bias)(const bq_attention *a, size_t block, const int32_t *rows, size_t first_row,
                        const float *by_query, const float *by_key, float *bias);

  // Recurrent models. Their vectors are plain rows, not in lane layout, at any alignment.
  // y[v][o] = Σ_k w[o][k] · x[v][k] + bias[o], o < outs, k < in, v < vectors. w: [outs][in] in a
  // BQ_FORMAT_…, finite, at any alignment. x_stride, y_stride: floats from one vector to the next.
  void (*multiply_rows)(const void *w, int32_t format, const float *bias, const float *x,
                        size_t x_stride, size_t vectors, size_t in, size_t outs, float *y,
                        size_t y_stride);

  // Static models. y[i] = Σ_r factors[r] · w[rows[r]][i], i < width, r < count: a sum by FMA in the order
  // of r. w: rows of `width` numbers in a BQ_FORMAT_…, finite, at any alignment.
  void (*sum_rows)(const void *w, int32_t format, const int32_t *rows, const float *factors,
                   size_t count, size_t width, float *y);

  // Computes `units` units of one LSTM layer for one step. x and h are the contributions of the
  // input and the state to the gates i, f, g, o (biases included), with `gate` floats from one gate
  // to the next.
  //   next_c = σ(f) · c + σ(i) · tanh(g)    next_h = σ(o) · tanh(next_c)
  void (*lstm_cell)(const float *x, const float *h, size_t gate, size_t units, const float *c,
                    float *next_c, float *next_h);

  // The same for a GRU layer with gates r, z, n:
  //   n = tanh(x_n + σ(r) · h_n)    next = (1 - σ(z)) · n + σ(z) · state
  void (*gru_cell)(const float *x, const float *h, size_t gate, size_t units, const float *state,
                   float *next);

  // y[i] = f(x[i]) for i < n; y may be x; any alignment. f(NaN) is NaN. Errors over all floats:
  //   exp   2 ulp, and half the smallest subnormal where the result is subnormal
  //   tanh  2e-7 relative
  void (*exp_f32)(const float *x, size_t n, float *y);
  void (*tanh_f32)(const float *x, size_t n, float *y);
} bq_kernels;

// Returns the floats of scratch that attention needs for this number of keys and any number of
// queries.
size_t bq_attention_scratch(size_t keys);
size_t bq_attention_s8_scratch(size_t keys, size_t head_dim);

// Returns the number of distances for which relative_keys_… computes products with each key.
size_t bq_relative_width(const bq_attention *a);

// Returns the name of an instruction set, or "auto"; NULL for other numbers.
const char *bq_isa_name(int32_t isa);

// Returns true if this architecture has CPUs with the instruction set.
bool bq_isa_is_native(int32_t isa);

// Returns the best instruction set that the CPU and the operating system support (> BQ_ISA_AUTO).
int32_t bq_best_isa(void);

// Returns the kernels of an instruction set; NULL if the CPU or this build does not have it.
// BQ_ISA_AUTO selects the best.
const bq_kernels *bq_kernels_for(int32_t isa);

// Returns true if this CPU multiplies bf16 faster than f32 with these kernels.
bool bq_prefers_bf16(const bq_kernels *kernels);

#endif
