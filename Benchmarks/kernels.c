// How fast the kernels are, as a share of what the core can do: a loop of register-only
// multiply-adds is timed in turn with each kernel, so that a change of clock or a noisy neighbour
// meets both. Prints medians. Usage: kernels [isa]
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels.h"

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
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

// 12 independent chains of multiply-adds: more than the units' latency times their number, and few
// enough for 16 registers.
#define PEAK(name, isa, vector, splat, step)                                  \
  __attribute__((target(isa), noinline)) static void name(size_t n) {         \
    vector a[12], b = splat;                                                  \
    for (int i = 0; i < 12; i++) a[i] = b;                                    \
    for (size_t k = 0; k < n; k++) {                                          \
      _Pragma("clang loop unroll(full)") for (int i = 0; i < 12; i++) a[i] = step; \
      __asm__ volatile("" : "+v"(b));                                         \
    }                                                                         \
    for (int i = 0; i < 12; i++) __asm__ volatile("" ::"v"(a[i]));            \
  }

#if defined(__x86_64__)
#include <immintrin.h>
PEAK(peak_avx512, "avx512f", __m512, _mm512_set1_ps(1e-30f), _mm512_fmadd_ps(b, b, a[i]))
PEAK(peak_avx2, "avx2,fma", __m256, _mm256_set1_ps(1e-30f), _mm256_fmadd_ps(b, b, a[i]))
PEAK(peak_sse, "sse2", __m128, _mm_set1_ps(1e-30f), _mm_add_ps(_mm_mul_ps(b, b), a[i]))
#endif

typedef struct {
  void (*run)(size_t n);
  double operations;  // per step of n
} peak_t;

static peak_t peak_of(int32_t isa) {
#if defined(__x86_64__)
  switch (isa) {
    case BQ_ISA_PORTABLE: return (peak_t){peak_sse, 12 * 4 * 2};
    case BQ_ISA_AVX2: return (peak_t){peak_avx2, 12 * 8 * 2};
    default: return (peak_t){peak_avx512, 12 * 16 * 2};
  }
#else
  (void)isa;
  return (peak_t){NULL, 0};
#endif
}

static float *floats(size_t n, float scale) {
  float *p = aligned_alloc(64, (n * sizeof(float) + 63) / 64 * 64);
  for (size_t i = 0; i < n; i++) p[i] = ((float)rand() / (float)RAND_MAX - 0.5f) * scale;
  return p;
}

// One kernel's call and its operations; the blocks below fill in what it needs.
typedef struct {
  const bq_kernels *kernels;
  const float *w, *bias, *x;
  float *y, *scratch;
  size_t tokens, in, outs, head_dim;
  int32_t epilogue;
} job_t;

static void run_linear(const job_t *j) {
  j->kernels->linear_f32(j->w, j->bias, j->x, (j->tokens + 15) / 16, j->in, j->outs, j->epilogue,
                         j->y, j->outs * 16);
}
static void run_norm(const job_t *j) {
  j->kernels->layer_norm_f32(j->x, (j->tokens + 15) / 16, j->in, j->w, j->bias, 1e-12f, j->y);
}
static void run_attention(const job_t *j) {
  const size_t stride = 3 * j->head_dim * 16;
  j->kernels->attention_f32(j->x, j->x + j->head_dim * 16, j->x + 2 * j->head_dim * 16, stride, 0,
                            j->tokens, 0, j->tokens, j->head_dim, 0.2f, j->scratch, j->y,
                            j->head_dim * 16);
}
static void run_exp(const job_t *j) { j->kernels->exp_f32(j->x, j->tokens * j->in, j->y); }
static void run_gelu(const job_t *j) { j->kernels->gelu_f32(j->x, j->tokens * j->in, j->y); }

static void measure(const char *name, const job_t *job, void (*run)(const job_t *),
                    double operations) {
  const peak_t peak = peak_of(job->kernels->isa);
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
  const bq_kernels *kernels = bq_kernels_for(argc > 1 ? atoi(argv[1]) : BQ_ISA_AUTO);
  if (!kernels) return fprintf(stderr, "this machine has no such instruction set\n"), 1;
  const char *filter = argc > 2 ? argv[2] : "";
  static const size_t shapes[][2] = {{384, 384}, {384, 1152}, {384, 1536}, {1536, 384},
                                     {768, 768}, {768, 2304}, {768, 3072}, {3072, 768}};
  static const size_t lengths[] = {128, 384};
  char name[80];
  printf("instruction set %d\n", kernels->isa);
  for (size_t l = 0; l < 2; l++)
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
      const size_t in = shapes[s][0], outs = shapes[s][1], tokens = lengths[l];
      float *w = floats(in * outs, 0.1f), *bias = floats(outs, 1), *x = floats(in * tokens, 2);
      float *y = floats(outs * tokens, 2);
      const job_t job = {kernels, w,  bias, x,    y,
                         NULL,    tokens, in,   outs, 0,
                         outs > in && outs % in == 0 && outs / in == 4 ? BQ_EPILOGUE_GELU
                                                                     : BQ_EPILOGUE_BIAS};
      snprintf(name, sizeof name, "linear_f32 %zu -> %zu, %zu%s", in, outs, tokens,
               job.epilogue ? " gelu" : "");
      if (strstr(name, filter)) measure(name, &job, run_linear, 2.0 * (double)(in * outs * tokens));
      free(w), free(bias), free(x), free(y);
    }
  for (size_t head_dim = 32; head_dim <= 64; head_dim += 32)
    for (size_t l = 0; l < 2; l++) {
      const size_t tokens = lengths[l];
      float *x = floats(3 * head_dim * tokens, 2), *y = floats(head_dim * tokens, 2);
      float *scratch = floats(bq_attention_scratch(tokens), 0);
      const job_t job = {kernels, NULL, NULL, x, y, scratch, tokens, 0, 0, head_dim, 0};
      snprintf(name, sizeof name, "attention_f32 d=%zu, %zu", head_dim, tokens);
      if (strstr(name, filter))
        measure(name, &job, run_attention, 4.0 * (double)(tokens * tokens * head_dim));
      free(x), free(y), free(scratch);
    }
  {
    const size_t tokens = 384, in = 384;
    float *w = floats(in, 1), *bias = floats(in, 1), *x = floats(in * tokens, 8);
    float *y = floats(in * tokens, 1);
    const job_t job = {kernels, w, bias, x, y, NULL, tokens, in, 0, 0, 0};
    const double count = (double)(in * tokens);
    if (strstr("layer_norm_f32", filter)) measure("layer_norm_f32 (values)", &job, run_norm, count);
    if (strstr("exp_f32", filter)) measure("exp_f32 (values)", &job, run_exp, count);
    if (strstr("gelu_f32", filter)) measure("gelu_f32 (values)", &job, run_gelu, count);
    free(w), free(bias), free(x), free(y);
  }
  return 0;
}
