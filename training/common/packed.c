// A BERT layer without its matrix products, forward and backward, over windows whose tokens lie end
// to end: token t of window b is row offsets[b] + t. Nothing is padded. For CPUs with AVX-512 and
// its BF16 products.
//
// packed.py builds it with -fopenmp and calls it. A function returns 0, or -1 where there is no memory. bf16 values are
// uint16_t. Where two lie in a uint32_t, the first is the low half, as _mm512_dpbf16_ps multiplies them: "pairs".

#include <immintrin.h>
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Rows of a block of attention, and columns of a head that are accumulated at once: 16 of the 32 registers.
enum { ROWS = 8, COLUMNS = 32 };

static int64_t rounded_up(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

static __m512 dot(__m512 sum, __m512i a, __m512i b) {
  return _mm512_dpbf16_ps(sum, (__m512bh)a, (__m512bh)b);
}

static __m256i to_bf16(__m512 x) { return (__m256i)_mm512_cvtneps_pbh(x); }

static __m512 from_bf16(const uint16_t *x) {
  __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)x));
  return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
}

static void store_bf16(uint16_t *to, __m512 x) { _mm256_storeu_si256((__m256i *)to, to_bf16(x)); }

// Lanes of which a vector at `first` of `count` values has any.
static __mmask16 lanes(int64_t first, int64_t count) {
  return first + 16 <= count ? 0xffff
         : first >= count    ? 0
                             : (__mmask16)((1u << (count - first)) - 1);
}

// 2^x, x <= 0, relative error below 3e-6: the polynomial of 2^f for f in [-1/2, 1/2].
static __m512 exp2_of(__m512 x) {
  x = _mm512_max_ps(x, _mm512_set1_ps(-150.f));
  __m512 whole = _mm512_roundscale_ps(x, 8), f = _mm512_sub_ps(x, whole);
  __m512 p = _mm512_set1_ps(1.33336498402e-3f);
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(9.61793571697e-3f));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(5.55033224e-2f));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(2.40226507e-1f));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(6.93147182e-1f));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(1.f));
  return _mm512_scalef_ps(p, whole);
}

// Attention

// pairs[d / 2][row]: rows of `size` values, `stride` apart; columns up to `width` are 0.
static void pack_columns(const uint16_t *x, int64_t stride, int64_t rows, int64_t size,
                         int64_t width, uint32_t *pairs) {
  for (int64_t row = 0; row < width; row++) {
    uint32_t values[size / 2];
    if (row < rows) {
      memcpy(values, x + row * stride, 2 * size);
    } else {
      memset(values, 0, 2 * size);
    }
    for (int64_t d = 0; d < size / 2; d++) pairs[d * width + row] = values[d];
  }
}

// pairs[row / 2][d]: two rows each, the last one with 0 where their number is odd.
static void pack_row_pairs(const uint16_t *x, int64_t stride, int64_t rows, int64_t size,
                           uint32_t *pairs) {
  for (int64_t row = 0; row < rows; row += 2) {
    const uint16_t *a = x + row * stride, *b = a + stride;
    for (int64_t d = 0; d < size; d++) {
      pairs[row / 2 * size + d] = a[d] | (row + 1 < rows ? (uint32_t)b[d] << 16 : 0);
    }
  }
}

// The rows end to end, and rows of 0 up to `height`.
static void pack_rows(const uint16_t *x, int64_t stride, int64_t rows, int64_t size, int64_t height,
                      uint32_t *pairs) {
  for (int64_t row = 0; row < rows; row++)
    memcpy(pairs + row * size / 2, x + row * stride, 2 * size);
  memset(pairs + rows * size / 2, 0, (height - rows) * size * 2);
}

// product[ROWS][width] = a [ROWS][size] times columns [size][width].
static void rows_times_columns(const uint32_t *a, const uint32_t *columns, int64_t size,
                               int64_t width, float *product) {
  for (int64_t j = 0; j < width; j += 32) {
    __m512 sums[ROWS][2] = {{{0}}};
    for (int64_t d = 0; d < size / 2; d++) {
      __m512i left = _mm512_load_si512(columns + d * width + j);
      __m512i right = _mm512_load_si512(columns + d * width + j + 16);
#pragma GCC unroll 8
      for (int r = 0; r < ROWS; r++) {
        __m512i pair = _mm512_set1_epi32((int)a[r * size / 2 + d]);
        sums[r][0] = dot(sums[r][0], pair, left);
        sums[r][1] = dot(sums[r][1], pair, right);
      }
    }
    for (int r = 0; r < ROWS; r++) {
      _mm512_store_ps(product + r * width + j, sums[r][0]);
      _mm512_store_ps(product + r * width + j + 16, sums[r][1]);
    }
  }
}

// sums[ROWS][COLUMNS] = over k: the pair at a[r * row_stride + k * pair_stride] times rows 2k and 2k + 1, from `rows`
// on, which lie `size` apart.
static void pairs_times_rows(const uint32_t *a, int64_t row_stride, int64_t pair_stride,
                             const uint32_t *rows, int64_t size, int64_t pairs,
                             __m512 sums[ROWS][2]) {
  for (int r = 0; r < ROWS; r++) sums[r][0] = sums[r][1] = _mm512_setzero_ps();
  for (int64_t k = 0; k < pairs; k++) {
    __m512i left = _mm512_load_si512(rows + k * size),
            right = _mm512_load_si512(rows + k * size + 16);
#pragma GCC unroll 8
    for (int r = 0; r < ROWS; r++) {
      __m512i pair = _mm512_set1_epi32((int)a[r * row_stride + k * pair_stride]);
      sums[r][0] = dot(sums[r][0], pair, left);
      sums[r][1] = dot(sums[r][1], pair, right);
    }
  }
}

// Writes the first `rows` rows, times `factor` each, to rows with the distance `stride`.
static void store_rows(uint16_t *to, int64_t stride, int64_t rows, __m512 sums[ROWS][2],
                       const float factor[ROWS]) {
  for (int r = 0; r < ROWS && r < rows; r++) {
    __m512 f = _mm512_set1_ps(factor[r]);
    store_bf16(to + r * stride, _mm512_mul_ps(sums[r][0], f));
    store_bf16(to + r * stride + 16, _mm512_mul_ps(sums[r][1], f));
  }
}

static int64_t longest(const int32_t *offsets, int64_t windows) {
  int64_t length = 0;
  for (int64_t b = 0; b < windows; b++) {
    if (offsets[b + 1] - offsets[b] > length) length = offsets[b + 1] - offsets[b];
  }
  return length;
}

// A part of `arena`, which moves on by `bytes`.
static void *taken(char **arena, int64_t bytes) {
  void *part = *arena;
  *arena += rounded_up(bytes, 64);
  return part;
}

// The arrays of a call, as attention_forward and attention_backward have them.
typedef struct {
  const int32_t *offsets;
  int64_t windows, tokens, heads, size;
  const uint16_t *qkv;
  uint16_t *output;
  float *logsums;
  const uint16_t *gradient;
  uint16_t *qkv_gradient;
} Call;

// `work` for each head of each window, with `bytes` of memory for each thread.
static int each_head(int threads, const Call *call, int64_t bytes,
                     void (*work)(const Call *, int64_t window, int64_t head, char *memory)) {
  int failed = 0;
#pragma omp parallel num_threads(threads)
  {
    char *memory = aligned_alloc(64, rounded_up(bytes, 64) + 1024);
    if (memory == NULL) {
#pragma omp atomic write
      failed = 1;
    }
#pragma omp for schedule(dynamic, 4)
    for (int64_t part = 0; part < call->windows * call->heads; part++) {
      if (memory != NULL) work(call, part / call->heads, part % call->heads, memory);
    }
    free(memory);
  }
  return failed ? -1 : 0;
}

static void head_forward(const Call *call, int64_t window, int64_t head, char *memory) {
  const int64_t size = call->size, hidden = call->heads * size, stride = 3 * hidden;
  const int64_t first = call->offsets[window], n = call->offsets[window + 1] - first;
  const int64_t width = rounded_up(n, 32), height = rounded_up(n, ROWS);
  const uint16_t *q = call->qkv + first * stride + head * size, *k = q + hidden, *v = k + hidden;
  const float scale = 1.4426950408889634f / sqrtf((float)size);
  char *arena = memory;
  uint32_t *keys = taken(&arena, 2 * width * size), *values = taken(&arena, 2 * width * size);
  uint32_t *queries = taken(&arena, 2 * height * size);
  float *scores = taken(&arena, 4 * ROWS * width);
  uint16_t *shares = taken(&arena, 2 * ROWS * width);
  pack_columns(k, stride, n, size, width, keys);
  pack_row_pairs(v, stride, n, size, values);
  pack_rows(q, stride, n, size, height, queries);
  for (int64_t i = 0; i < n; i += ROWS) {
    float inverse[ROWS];
    rows_times_columns(queries + i * size / 2, keys, size, width, scores);
    for (int r = 0; r < ROWS; r++) {
      float *row = scores + r * width;
      __m512 most_of = _mm512_set1_ps(-INFINITY), sum = _mm512_setzero_ps();
      for (int64_t j = 0; j < n; j += 16) {
        most_of = _mm512_mask_max_ps(most_of, lanes(j, n), most_of, _mm512_load_ps(row + j));
      }
      float highest = _mm512_reduce_max_ps(most_of) * scale;
      for (int64_t j = 0; j < width; j += 16) {
        __m512 x = _mm512_fmsub_ps(_mm512_load_ps(row + j), _mm512_set1_ps(scale),
                                   _mm512_set1_ps(highest));
        __m512 share = _mm512_maskz_mov_ps(lanes(j, n), exp2_of(x));
        sum = _mm512_add_ps(sum, share);
        store_bf16(shares + r * width + j, share);
      }
      float total = _mm512_reduce_add_ps(sum);
      inverse[r] = 1 / total;
      if (i + r < n) call->logsums[head * call->tokens + first + i + r] = highest + log2f(total);
    }
    for (int64_t d = 0; d < size; d += COLUMNS) {
      __m512 sums[ROWS][2];
      pairs_times_rows((uint32_t *)shares, width / 2, 1, values + d, size, (n + 1) / 2, sums);
      store_rows(call->output + (first + i) * hidden + head * size + d, hidden, n - i, sums,
                 inverse);
    }
  }
}

// Softmax(q k^T / sqrt(size)) v for each head of each window.
// qkv: [tokens, 3, heads, size], size a multiple of 32. output: [tokens, heads, size]. logsums: [heads, tokens], for the
// backward pass: log2 of each row's sum.
int attention_forward(int threads, const uint16_t *qkv, const int32_t *offsets, int64_t windows,
                      int64_t tokens, int64_t heads, int64_t size, uint16_t *output,
                      float *logsums) {
  const Call call = {offsets, windows, tokens, heads, size, qkv, output, logsums, NULL, NULL};
  const int64_t most = rounded_up(longest(offsets, windows), 32);
  return each_head(threads, &call, most * size * 6 + most * ROWS * 6, head_forward);
}

// pairs[row / 2][j] of rows [ROWS][width] in f32.
static void pair_rows(const float *rows, int64_t width, uint32_t *pairs) {
  for (int r = 0; r < ROWS; r += 2) {
    for (int64_t j = 0; j < width; j += 16) {
      __m512i low = _mm512_cvtepu16_epi32(to_bf16(_mm512_load_ps(rows + r * width + j)));
      __m512i high = _mm512_cvtepu16_epi32(to_bf16(_mm512_load_ps(rows + (r + 1) * width + j)));
      _mm512_store_si512(pairs + r / 2 * width + j,
                         _mm512_or_si512(low, _mm512_slli_epi32(high, 16)));
    }
  }
}

static void head_backward(const Call *call, int64_t window, int64_t head, char *memory) {
  const int64_t size = call->size, hidden = call->heads * size, stride = 3 * hidden;
  const int64_t first = call->offsets[window], n = call->offsets[window + 1] - first;
  const int64_t width = rounded_up(n, 32), height = rounded_up(n, ROWS);
  const uint16_t *q = call->qkv + first * stride + head * size, *k = q + hidden, *v = k + hidden;
  const float natural = 1 / sqrtf((float)size), scale = natural * 1.4426950408889634f;
  float ones[ROWS], naturals[ROWS];
  for (int r = 0; r < ROWS; r++) ones[r] = 1, naturals[r] = natural;
  const uint16_t *g = call->gradient + first * hidden + head * size,
                 *o = call->output + first * hidden + head * size;
  uint16_t *to = call->qkv_gradient + first * stride + head * size;
  char *arena = memory;
  uint32_t *keys = taken(&arena, 2 * width * size), *values = taken(&arena, 2 * width * size);
  uint32_t *queries = taken(&arena, 2 * height * size),
           *gradients = taken(&arena, 2 * height * size);
  uint32_t *key_pairs = taken(&arena, 2 * width * size),
           *query_pairs = taken(&arena, 2 * width * size);
  uint32_t *gradient_pairs = taken(&arena, 2 * width * size);
  float *shares = taken(&arena, 4 * ROWS * width), *slopes = taken(&arena, 4 * ROWS * width);
  uint16_t *slope_rows = taken(&arena, 2 * ROWS * width);
  // [row / 2][column] of the softmax, and of the gradient of what it is of.
  uint32_t *share_pairs = taken(&arena, 2 * height * width),
           *slope_pairs = taken(&arena, 2 * height * width);
  pack_columns(k, stride, n, size, width, keys);
  pack_columns(v, stride, n, size, width, values);
  pack_rows(q, stride, n, size, height, queries);
  pack_rows(g, hidden, n, size, height, gradients);
  pack_row_pairs(k, stride, n, size, key_pairs);
  pack_row_pairs(q, stride, n, size, query_pairs);
  pack_row_pairs(g, hidden, n, size, gradient_pairs);
  for (int64_t i = 0; i < n; i += ROWS) {
    rows_times_columns(queries + i * size / 2, keys, size, width, shares);
    rows_times_columns(gradients + i * size / 2, values, size, width, slopes);
    for (int r = 0; r < ROWS; r++) {
      int there = i + r < n;
      float logsum = there ? call->logsums[head * call->tokens + first + i + r] : 0;
      __m512 mean = _mm512_setzero_ps();
      for (int64_t d = 0; there && d < size; d += 16) {
        int64_t at = (i + r) * hidden + d;
        mean = _mm512_fmadd_ps(from_bf16(g + at), from_bf16(o + at), mean);
      }
      mean = _mm512_set1_ps(_mm512_reduce_add_ps(mean));
      for (int64_t j = 0; j < width; j += 16) {
        float *share = shares + r * width + j, *slope = slopes + r * width + j;
        __m512 x =
            _mm512_fmsub_ps(_mm512_load_ps(share), _mm512_set1_ps(scale), _mm512_set1_ps(logsum));
        __m512 p = _mm512_maskz_mov_ps(there ? lanes(j, n) : 0, exp2_of(x));
        __m512 s = _mm512_mul_ps(p, _mm512_sub_ps(_mm512_load_ps(slope), mean));
        _mm512_store_ps(share, p);
        _mm512_store_ps(slope, s);
        store_bf16(slope_rows + r * width + j, s);
      }
    }
    pair_rows(shares, width, share_pairs + i / 2 * width);
    pair_rows(slopes, width, slope_pairs + i / 2 * width);
    for (int64_t d = 0; d < size; d += COLUMNS) {
      __m512 sums[ROWS][2];
      pairs_times_rows((uint32_t *)slope_rows, width / 2, 1, key_pairs + d, size, (n + 1) / 2,
                       sums);
      store_rows(to + i * stride + d, stride, n - i, sums, naturals);
    }
  }
  for (int64_t j = 0; j < n; j += ROWS) {
    for (int64_t d = 0; d < size; d += COLUMNS) {
      __m512 sums[ROWS][2];
      pairs_times_rows(slope_pairs + j, 1, width, query_pairs + d, size, (n + 1) / 2, sums);
      store_rows(to + j * stride + hidden + d, stride, n - j, sums, naturals);
      pairs_times_rows(share_pairs + j, 1, width, gradient_pairs + d, size, (n + 1) / 2, sums);
      store_rows(to + j * stride + 2 * hidden + d, stride, n - j, sums, ones);
    }
  }
}

// The gradient of qkv from that of the output. The softmax is computed again from `logsums`.
int attention_backward(int threads, const uint16_t *gradient, const uint16_t *qkv,
                       const uint16_t *output, const float *logsums, const int32_t *offsets,
                       int64_t windows, int64_t tokens, int64_t heads, int64_t size,
                       uint16_t *qkv_gradient) {
  const Call call = {offsets,          windows,  tokens,      heads, size, qkv, (uint16_t *)output,
                     (float *)logsums, gradient, qkv_gradient};
  const int64_t most = rounded_up(longest(offsets, windows), 32);
  return each_head(threads, &call, most * size * 14 + most * ROWS * 10 + most * most * 4,
                   head_backward);
}

// Dropout, residual and layer norm

enum { MOST_HIDDEN = 4096 };

static uint32_t mixed(uint32_t x) {
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

// Chooses the values of a row to keep: those whose random byte is not below `dropped`. The same seed and row give the same.
static void kept_lanes(uint32_t seed, uint32_t row, int64_t dropped, int64_t hidden,
                       __mmask16 *kept) {
  uint32_t start[16], base = mixed(seed * 0x9e3779b9u + row * 16 + 1);
  for (int lane = 0; lane < 16; lane++)
    start[lane] = mixed(base + (uint32_t)lane * 0x9e3779b9u) | 1;
  __m512i state = _mm512_loadu_si512(start);
  for (int64_t i = 0; i < hidden / 16; i++) {
    if (i % 4 == 0) {  // xorshift32 (Marsaglia 2003) gives four bytes for each lane
      state = _mm512_xor_si512(state, _mm512_slli_epi32(state, 13));
      state = _mm512_xor_si512(state, _mm512_srli_epi32(state, 17));
      state = _mm512_xor_si512(state, _mm512_slli_epi32(state, 5));
    }
    __m512i byte = _mm512_and_si512(_mm512_srli_epi32(state, 8 * (i % 4)), _mm512_set1_epi32(255));
    kept[i] = _mm512_cmpge_epu32_mask(byte, _mm512_set1_epi32((int)dropped));
  }
}

// LayerNorm(residual + dropout(x)) in f32 and in bf16; hidden: a multiple of 16, at most MOST_HIDDEN.
// normalized [tokens, hidden] and inverse_deviations [tokens] are for the backward pass. dropped: of 256.
int add_norm_forward(int threads, const float *residual, const uint16_t *x, const float *weight,
                     const float *bias, float epsilon, int64_t seed, int64_t dropped,
                     int64_t tokens, int64_t hidden, float *output, uint16_t *output_bf16,
                     float *normalized, float *inverse_deviations) {
  const __m512 rescale = _mm512_set1_ps(256.f / (256 - dropped));
#pragma omp parallel for num_threads(threads)
  for (int64_t row = 0; row < tokens; row++) {
    __mmask16 kept[MOST_HIDDEN / 16];
    const int64_t at = row * hidden;
    kept_lanes((uint32_t)seed, (uint32_t)row, dropped, hidden, kept);
    __m512 sum = _mm512_setzero_ps(), squares = _mm512_setzero_ps();
    for (int64_t i = 0; i < hidden; i += 16) {
      __m512 value = _mm512_maskz_mul_ps(kept[i / 16], from_bf16(x + at + i), rescale);
      value = _mm512_add_ps(value, _mm512_loadu_ps(residual + at + i));
      _mm512_storeu_ps(normalized + at + i, value);
      sum = _mm512_add_ps(sum, value);
    }
    __m512 mean = _mm512_set1_ps(_mm512_reduce_add_ps(sum) / hidden);
    for (int64_t i = 0; i < hidden; i += 16) {
      __m512 value = _mm512_sub_ps(_mm512_loadu_ps(normalized + at + i), mean);
      squares = _mm512_fmadd_ps(value, value, squares);
    }
    float inverse = 1 / sqrtf(_mm512_reduce_add_ps(squares) / hidden + epsilon);
    inverse_deviations[row] = inverse;
    for (int64_t i = 0; i < hidden; i += 16) {
      __m512 value = _mm512_sub_ps(_mm512_loadu_ps(normalized + at + i), mean);
      value = _mm512_mul_ps(value, _mm512_set1_ps(inverse));
      _mm512_storeu_ps(normalized + at + i, value);
      value = _mm512_fmadd_ps(value, _mm512_loadu_ps(weight + i), _mm512_loadu_ps(bias + i));
      _mm512_storeu_ps(output + at + i, value);
      store_bf16(output_bf16 + at + i, value);
    }
  }
  return 0;
}

// gradient, gradient_bf16: of the two outputs, either NULL for none. partial [threads, 2, hidden], 0 before: the gradient
// of weight and bias is the sum of them.
int add_norm_backward(int threads, const float *gradient, const uint16_t *gradient_bf16,
                      const float *normalized, const float *inverse_deviations, const float *weight,
                      int64_t seed, int64_t dropped, int64_t tokens, int64_t hidden,
                      float *residual_gradient, uint16_t *x_gradient, float *partial) {
  const __m512 rescale = _mm512_set1_ps(256.f / (256 - dropped));
#pragma omp parallel num_threads(threads)
  {
    float *weights = partial + omp_get_thread_num() * 2 * hidden, *biases = weights + hidden;
#pragma omp for schedule(static)
    for (int64_t row = 0; row < tokens; row++) {
      __mmask16 kept[MOST_HIDDEN / 16];
      const int64_t at = row * hidden;
      kept_lanes((uint32_t)seed, (uint32_t)row, dropped, hidden, kept);
      __m512 sum = _mm512_setzero_ps(), along = _mm512_setzero_ps();
      for (int64_t i = 0; i < hidden; i += 16) {
        __m512 g = gradient ? _mm512_loadu_ps(gradient + at + i) : _mm512_setzero_ps();
        if (gradient_bf16) g = _mm512_add_ps(g, from_bf16(gradient_bf16 + at + i));
        __m512 n = _mm512_loadu_ps(normalized + at + i);
        _mm512_storeu_ps(weights + i, _mm512_fmadd_ps(g, n, _mm512_loadu_ps(weights + i)));
        _mm512_storeu_ps(biases + i, _mm512_add_ps(g, _mm512_loadu_ps(biases + i)));
        g = _mm512_mul_ps(g, _mm512_loadu_ps(weight + i));
        _mm512_storeu_ps(residual_gradient + at + i, g);
        sum = _mm512_add_ps(sum, g);
        along = _mm512_fmadd_ps(g, n, along);
      }
      __m512 mean = _mm512_set1_ps(_mm512_reduce_add_ps(sum) / hidden);
      __m512 share = _mm512_set1_ps(_mm512_reduce_add_ps(along) / hidden);
      for (int64_t i = 0; i < hidden; i += 16) {
        __m512 n = _mm512_loadu_ps(normalized + at + i),
               g = _mm512_loadu_ps(residual_gradient + at + i);
        g = _mm512_sub_ps(g, _mm512_fmadd_ps(n, share, mean));
        g = _mm512_mul_ps(g, _mm512_set1_ps(inverse_deviations[row]));
        _mm512_storeu_ps(residual_gradient + at + i, g);
        store_bf16(x_gradient + at + i, _mm512_maskz_mul_ps(kept[i / 16], g, rescale));
      }
    }
  }
  return 0;
}

// GELU

// *share = the normal distribution's share below x, *density = exp(-x^2 / 2). Abramowitz and Stegun 7.1.26: error 1.5e-7.
static void normal(__m512 x, __m512 *share, __m512 *density) {
  *density = exp2_of(_mm512_mul_ps(_mm512_mul_ps(x, x), _mm512_set1_ps(-0.72134752f)));
  __m512 z = _mm512_mul_ps(_mm512_abs_ps(x), _mm512_set1_ps(0.70710678f));
  __m512 one = _mm512_set1_ps(1.f),
         t = _mm512_div_ps(one, _mm512_fmadd_ps(z, _mm512_set1_ps(0.3275911f), one));
  __m512 p = _mm512_set1_ps(1.061405429f);
  p = _mm512_fmadd_ps(p, t, _mm512_set1_ps(-1.453152027f));
  p = _mm512_fmadd_ps(p, t, _mm512_set1_ps(1.421413741f));
  p = _mm512_fmadd_ps(p, t, _mm512_set1_ps(-0.284496736f));
  p = _mm512_fmadd_ps(p, t, _mm512_set1_ps(0.254829592f));
  __m512 above = _mm512_mul_ps(_mm512_mul_ps(_mm512_mul_ps(p, t), *density), _mm512_set1_ps(0.5f));
  __mmask16 positive = _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_GE_OQ);
  *share = _mm512_mask_sub_ps(above, positive, one, above);
}

// count: a multiple of 16.
int gelu_forward(int threads, const uint16_t *x, int64_t count, uint16_t *output) {
#pragma omp parallel for num_threads(threads)
  for (int64_t i = 0; i < count; i += 16) {
    __m512 value = from_bf16(x + i), share, density;
    normal(value, &share, &density);
    store_bf16(output + i, _mm512_mul_ps(value, share));
  }
  return 0;
}

int gelu_backward(int threads, const uint16_t *gradient, const uint16_t *x, int64_t count,
                  uint16_t *x_gradient) {
#pragma omp parallel for num_threads(threads)
  for (int64_t i = 0; i < count; i += 16) {
    __m512 value = from_bf16(x + i), share, density;
    normal(value, &share, &density);
    __m512 slope =
        _mm512_fmadd_ps(_mm512_mul_ps(value, density), _mm512_set1_ps(0.39894228f), share);
    store_bf16(x_gradient + i, _mm512_mul_ps(slope, from_bf16(gradient + i)));
  }
  return 0;
}
