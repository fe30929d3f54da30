// How fast the kernels are, as a share of what the core can do: a loop of register-only
// multiply-adds is timed in turn with each kernel, so that a change of clock or a noisy neighbour
// meets both. Prints medians. Usage: kernels [instruction set [part of a name]]. Built by
//   K=Sources/CBertQA; clang -O3 -ffp-contract=off -I$K/include Benchmarks/kernels.c $(find $K/kernels -name "*.c") -lm
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels.h"

// Processor time: other processes' turns do not count.
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

enum { ROUNDS = 15 };

static double median(double *values) {
  qsort(values, ROUNDS, sizeof *values, ascending);
  return values[ROUNDS / 2];
}

// `chains` independent multiply-adds: more than the units' latency times their number, and few enough
// for the registers.
#define PEAK(name, isa, chains, vector, splat, step)                                   \
  __attribute__((target(isa), noinline)) static void name(size_t n) {                  \
    vector a[chains], b = splat;                                                       \
    for (int i = 0; i < chains; i++) a[i] = b;                                         \
    for (size_t k = 0; k < n; k++) {                                                   \
      _Pragma("clang loop unroll(full)") for (int i = 0; i < chains; i++) a[i] = step; \
      __asm__ volatile("" : "+v"(b));                                                  \
    }                                                                                  \
    for (int i = 0; i < chains; i++) __asm__ volatile("" ::"v"(a[i]));                 \
  }

typedef struct {
  void (*run)(size_t n);
  double operations;  // per step of n
} peak_t;

#if defined(__x86_64__)
#include <immintrin.h>
PEAK(peak_sse, "sse2", 12, __m128, _mm_set1_ps(0), _mm_add_ps(_mm_mul_ps(b, b), a[i]))
PEAK(peak_avx2, "avx2,fma", 12, __m256, _mm256_set1_ps(0), _mm256_fmadd_ps(b, b, a[i]))
PEAK(peak_avx512, "avx512f", 24, __m512, _mm512_set1_ps(0), _mm512_fmadd_ps(b, b, a[i]))
PEAK(peak_vnni, "avx512f,avx512vnni", 24, __m512i, _mm512_set1_epi32(1),
     _mm512_dpbusd_epi32(a[i], b, b))
PEAK(peak_bf16, "avx512f,avx512bf16", 24, __m512, _mm512_set1_ps(0),
     _mm512_dpbf16_ps(a[i], (__m512bh)b, (__m512bh)b))
#endif

typedef enum { F32, BF16, S8 } number_t;

// The best that the instruction set's own multiply-adds allow; for s8 without AVX-512 VNNI that of f32, with AMX
// that of AVX-512.
static peak_t peak_of(int32_t isa, number_t number) {
#if defined(__x86_64__)
  const int vnni =
      isa == BQ_ISA_AVX512_VNNI || isa == BQ_ISA_AVX512_VNNI_BF16 || isa == BQ_ISA_AVX512_AMX;
  if (vnni && number == S8) return (peak_t){peak_vnni, 24 * 16 * 8};
  if (number == BF16) return (peak_t){peak_bf16, 24 * 16 * 4};
  switch (isa) {
    case BQ_ISA_PORTABLE: return (peak_t){peak_sse, 12 * 4 * 2};
    case BQ_ISA_AVX2:
    case BQ_ISA_AVX2_VNNI: return (peak_t){peak_avx2, 12 * 8 * 2};
    default: return (peak_t){peak_avx512, 24 * 16 * 2};
  }
#else
  (void)isa, (void)number;
  return (peak_t){NULL, 0};
#endif
}

static float *floats(size_t n, float scale) {
  float *p = aligned_alloc(64, (n * sizeof(float) + 63) / 64 * 64);
  for (size_t i = 0; i < n; i++) p[i] = ((float)rand() / (float)RAND_MAX - 0.5f) * scale;
  return p;
}

// Bytes that are distributed like a model's weights: a bell whose ends are the greatest bytes. Some kernels'
// speed depends on how many weights are large.
static void fill_weights(float *to, size_t n) {
  int8_t *w = (int8_t *)to;
  for (size_t i = 0; i < n; i++) {
    int sum = 0;
    for (int part = 0; part < 4; part++) sum += rand() % 69 - 34;
    w[i] = (int8_t)(sum < -127 ? -127 : sum > 127 ? 127 : sum);
  }
}

// One kernel's call; each of the functions below uses what it needs of it.
typedef struct {
  const bq_kernels *kernels;
  const float *w, *bias, *x;
  float *y, *scratch;
  size_t tokens, in, outs, head_dim;
  int32_t epilogue;
  number_t number;
  const uint64_t *large;
} job_t;

static void run_linear(const job_t *j) {
  const size_t blocks = (j->tokens + 15) / 16, stride = j->outs * 16;
  const bq_weights_s8 weights = {(const int8_t *)j->w, j->bias, j->bias, j->bias, j->large};
  switch (j->number) {
    case F32:
      j->kernels->linear_f32(j->w, j->bias, j->x, blocks, j->in, j->outs, j->epilogue, j->y,
                             stride);
      break;
    case BF16:
      j->kernels->linear_bf16((const uint16_t *)j->w, j->bias, (const uint16_t *)j->x, blocks,
                              j->in, j->outs, j->epilogue, j->y, stride);
      break;
    case S8:
      j->kernels->linear_s8(&weights, (const uint8_t *)j->x, j->scratch, j->scratch, blocks, j->in,
                            j->outs, j->epilogue, j->y, stride);
  }
}
static void run_norm(const job_t *j) {
  j->kernels->layer_norm_f32(j->x, (j->tokens + 15) / 16, j->in, j->w, j->bias, 1e-12f, j->y);
}
static void run_attention(const job_t *j) {
  const size_t head = j->head_dim * 16;
  const uint16_t *x = (const uint16_t *)j->x;
  const bq_attention a = {.stride = 3 * head,
                          .key_end = j->tokens,
                          .query_end = j->tokens,
                          .head_dim = j->head_dim,
                          .scale = 0.2f,
                          .bias = j->bias,
                          .scratch = j->scratch,
                          .out_stride = head};
  if (j->number == BF16)
    j->kernels->attention_bf16(&a, x, x + head, x + 2 * head, j->y);
  else if (j->number == S8)
    j->kernels->attention_s8(&a, j->x, j->x + head, j->x + 2 * head, j->y);
  else
    j->kernels->attention_f32(&a, j->x, j->x + head, j->x + 2 * head, j->y);
}
static void run_exp(const job_t *j) { j->kernels->exp_f32(j->x, j->tokens * j->in, j->y); }
static void run_quantize(const job_t *j) {
  j->kernels->quantize_u8(j->x, j->tokens / 16, j->in, (uint8_t *)j->y, j->scratch, j->scratch);
}
static void run_pack(const job_t *j) {
  j->kernels->pack_bf16(j->x, j->tokens / 16, j->in, (uint16_t *)j->y);
}

// A whole encoder layer in int8: what the encoder could reach on one thread.
// x: the hidden state; the feed-forward half takes panels of tokens so that its intermediate values
// stay in the L2 cache.
enum { PANEL = 4 };
static void run_layer(const job_t *j) {
  const size_t hidden = j->in, wide = 4 * hidden, blocks = j->tokens / 16, head = j->head_dim;
  const bq_kernels *k = j->kernels;
  static uint8_t *u8;
  static float *qkv, *context, *middle, *scales;
  if (!u8) {
    u8 = aligned_alloc(64, 512 * 768), qkv = floats(512 * 768 * 3, 1);
    context = floats(512 * 768, 1), middle = floats(PANEL * 16 * 4 * 768, 1),
    scales = floats(512, 1);
  }
  float *x = j->y;
  const int8_t *w = (const int8_t *)j->w;
  bq_weights_s8 weights = {w, j->bias, j->bias, j->bias, NULL};
  k->quantize_u8(x, blocks, hidden, u8, scales, scales);
  for (size_t i = 0; i < 3; i++, weights.w += hidden * hidden)
    k->linear_s8(&weights, u8, scales, scales, blocks, hidden, hidden, BQ_EPILOGUE_BIAS,
                 qkv + i * hidden * 16, 3 * hidden * 16);
  const bq_attention a = {.stride = 3 * hidden * 16,
                          .key_end = j->tokens,
                          .query_end = j->tokens,
                          .head_dim = head,
                          .scale = 0.2f,
                          .scratch = j->scratch,
                          .out_stride = hidden * 16};
  for (size_t h = 0; h < hidden * 16; h += head * 16)
    k->attention_s8(&a, qkv + h, qkv + hidden * 16 + h, qkv + 2 * hidden * 16 + h, context + h);
  k->quantize_u8(context, blocks, hidden, u8, scales, scales);
  k->linear_s8(&weights, u8, scales, scales, blocks, hidden, hidden, BQ_EPILOGUE_RESIDUAL, x,
               hidden * 16);
  weights.w += hidden * hidden;
  for (size_t b = 0; b < blocks; b += PANEL) {
    const size_t count = blocks - b < PANEL ? blocks - b : PANEL;
    float *to = x + b * hidden * 16;
    k->layer_norm_f32(to, count, hidden, j->bias, j->bias, 1e-12f, to);
    k->quantize_u8(to, count, hidden, u8, scales, scales);
    weights.w = w + 4 * hidden * hidden;
    k->linear_s8(&weights, u8, scales, scales, count, hidden, wide, BQ_EPILOGUE_GELU, middle,
                 wide * 16);
    k->quantize_u8(middle, count, wide, u8, scales, scales);
    weights.w += hidden * wide;
    k->linear_s8(&weights, u8, scales, scales, count, wide, hidden, BQ_EPILOGUE_RESIDUAL, to,
                 hidden * 16);
    k->layer_norm_f32(to, count, hidden, j->bias, j->bias, 1e-12f, to);
  }
}

static void measure(const char *name, const job_t *job, void (*run)(const job_t *),
                    double operations) {
  const peak_t peak = peak_of(job->kernels->isa, job->number);
  double times[ROUNDS], peaks[ROUNDS];
  run(job);
  const size_t repeat = (size_t)(2e8 / (operations + 1)) + 1;
  for (int i = 0; i < ROUNDS; i++) {
    double start = now();
    if (peak.run) peak.run(1 << 17);
    peaks[i] = now() - start;
    start = now();
    for (size_t r = 0; r < repeat; r++) run(job);
    times[i] = (now() - start) / (double)repeat;
  }
  const double rate = operations / median(times) * 1e-9;
  const double limit = peak.run ? peak.operations * (1 << 17) / median(peaks) * 1e-9 : 0;
  printf("%-34s %9.1f us %8.1f G/s", name, median(times) * 1e6, rate);
  if (limit > 0) printf("  %5.1f %% of %.0f", 100 * rate / limit, limit);
  printf("\n");
}

int main(int argc, char **argv) {
  int32_t isa = BQ_ISA_AUTO;
  while (argc > 1 && isa <= BQ_ISA_LAST && strcmp(bq_isa_name(isa), argv[1]) != 0) isa++;
  const bq_kernels *kernels = bq_kernels_for(isa);
  if (!kernels) return fprintf(stderr, "this machine has no such instruction set\n"), 1;
  const char *filter = argc > 2 ? argv[2] : "";
  static const size_t shapes[][2] = {{384, 384},   {384, 1152}, {384, 1536}, {1536, 384},
                                     {768, 768},   {768, 2304}, {768, 3072}, {3072, 768},
                                     {1024, 1024}, {4096, 1024}};
  static const size_t lengths[] = {128, 384};
  static const char *const numbers[] = {"f32", "bf16", "s8"};
  char name[80];
  printf("instruction set %s\n", bq_isa_name(kernels->isa));
  for (number_t number = F32; number <= S8; number++) {
    if (number == BF16 && !kernels->linear_bf16) continue;
    for (size_t l = 0; l < 2; l++)
      for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        const size_t in = shapes[s][0], outs = shapes[s][1], tokens = lengths[l];
        // The bytes of small floats are as good activations as any.
        float *w = floats(in * outs, 0.1f), *bias = floats(outs, 1), *x = floats(in * tokens, 2);
        float *y = floats(outs * tokens, 2), *scales = floats(tokens, 1);
        uint64_t *large = NULL;
        if (number == S8) {
          fill_weights(w, in * outs);
          if (kernels->find_large_s8) {
            large = malloc(outs * bq_large_words(in) * sizeof *large);
            kernels->find_large_s8((const int8_t *)w, outs, in, large);
          }
        }
        const int32_t epilogue = outs == 4 * in ? BQ_EPILOGUE_GELU : BQ_EPILOGUE_BIAS;
        const job_t job = {kernels, w,    bias, x,        y,      scales, tokens,
                           in,      outs, 0,    epilogue, number, large};
        snprintf(name, sizeof name, "linear_%s %zu -> %zu, %zu%s", numbers[number], in, outs,
                 tokens, epilogue ? " gelu" : "");
        if (strstr(name, filter))
          measure(name, &job, run_linear, 2.0 * (double)(in * outs * tokens));
        free(w), free(bias), free(x), free(y), free(scales), free(large);
      }
    if (number == S8 && !kernels->attention_s8) continue;
    for (size_t head_dim = 32; head_dim <= 64; head_dim += 32)
      for (size_t l = 0; l < 4; l++) {
        const size_t tokens = lengths[l / 2];
        float *x = floats(3 * head_dim * tokens, 2), *y = floats(head_dim * tokens, 2);
        // The same for every block of queries: what adding costs, not what making costs.
        float *bias = l % 2 ? floats(tokens * 16, 1) : NULL;
        float *scratch = floats(bq_attention_s8_scratch(tokens, head_dim), 0);
        // Twice 1.0 in bfloat16.
        for (size_t i = 0; number == BF16 && i < 3 * head_dim * tokens; i++)
          memcpy(&x[i], (uint16_t[]){0x3F80, 0x3F80}, sizeof *x);
        const job_t job = {kernels, NULL, bias, x, y, scratch, tokens, 0, 0, head_dim, 0, number};
        snprintf(name, sizeof name, "attention_%s d=%zu, %zu%s", numbers[number], head_dim, tokens,
                 bias ? " bias" : "");
        if (strstr(name, filter))
          measure(name, &job, run_attention, 4.0 * (double)(tokens * tokens * head_dim));
        free(x), free(y), free(scratch), free(bias);
      }
  }
  for (size_t hidden = 384; hidden <= 768 && kernels->attention_s8; hidden += 384)
    for (size_t l = 0; l < 2; l++) {
      const size_t tokens = lengths[l], head_dim = hidden / 12;
      float *w = floats(3 * hidden * hidden, 1), *bias = floats(4 * hidden, 1e-6f);
      fill_weights(w, 12 * hidden * hidden);
      float *y = floats(hidden * tokens, 2),
            *scratch = floats(bq_attention_s8_scratch(tokens, head_dim), 1);
      const job_t job = {kernels, w, bias, NULL, y, scratch, tokens, hidden, 0, head_dim, 0, S8};
      snprintf(name, sizeof name, "layer_s8 hidden %zu, %zu", hidden, tokens);
      if (strstr(name, filter))
        measure(name, &job, run_layer,
                (double)tokens * 24 * (double)(hidden * hidden) +
                    4.0 * (double)(tokens * tokens * hidden));
      free(w), free(bias), free(y), free(scratch);
    }
  const size_t tokens = 384, in = 384;
  const struct {
    const char *name;
    void (*run)(const job_t *);
  } passes[] = {{"layer_norm_f32", run_norm},
                {"exp_f32", run_exp},
                {"quantize_u8", run_quantize},
                {"pack_bf16", kernels->pack_bf16 ? run_pack : NULL}};
  float *w = floats(in, 1), *bias = floats(in, 1), *x = floats(in * tokens, 8);
  float *y = floats(in * tokens, 1), *scales = floats(tokens, 1);
  const job_t job = {kernels, w, bias, x, y, scales, tokens, in, 0, 0, 0, F32};
  for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
    snprintf(name, sizeof name, "%s (values)", passes[i].name);
    if (passes[i].run && strstr(name, filter))
      measure(name, &job, passes[i].run, (double)(in * tokens));
  }
  free(w), free(bias), free(x), free(y), free(scales);
  return 0;
}
