// Which kernels this machine can run.
#include "kernels_internal.h"

// __builtin_cpu_supports also asks whether the operating system saves the registers.
static int supports(int32_t isa) {
#if BQ_X86
  __builtin_cpu_init();
  switch (isa) {
    case BQ_ISA_PORTABLE: return 1;
    case BQ_ISA_AVX2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
             __builtin_cpu_supports("f16c");
    case BQ_ISA_AVX512:
      return supports(BQ_ISA_AVX2) && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512vl");
    case BQ_ISA_AVX512_VNNI:
      return supports(BQ_ISA_AVX512) && __builtin_cpu_supports("avx512vnni");
    default: return 0;
  }
#else
  return isa == BQ_ISA_PORTABLE;
#endif
}

int32_t bq_best_isa(void) {
  int32_t isa = BQ_ISA_AVX512_VNNI;
  while (!supports(isa)) isa--;
  return isa;
}

const bq_kernels *bq_kernels_for(int32_t isa) {
  if (isa == BQ_ISA_AUTO) isa = bq_best_isa();
  if (!supports(isa)) return NULL;
  switch (isa) {
#if BQ_X86
    case BQ_ISA_AVX2: return &bq_kernels_avx2;
    case BQ_ISA_AVX512: return &bq_kernels_avx512;
    case BQ_ISA_AVX512_VNNI:
      return __builtin_cpu_supports("avx512bf16") ? &bq_kernels_avx512_bf16
                                                  : &bq_kernels_avx512_vnni;
#endif
    default: return &bq_kernels_portable;
  }
}

// A strip of scores for two blocks of queries, with room for the last group of keys.
size_t bq_attention_scratch(size_t tokens) { return (tokens + 8) * 2 * BQ_LANES; }

// The strip, two blocks of queries, a byte per key and two per value, in blocks that the window may
// begin and end within, and a number per feature.
size_t bq_attention_s8_scratch(size_t tokens, size_t head_dim) {
  return bq_attention_scratch(tokens) + head_dim +
         (3 * (tokens + 2 * BQ_LANES) + 2 * BQ_LANES) * head_dim / sizeof(float);
}

void bq_row_sums_s8(const int8_t *w, const float *scale, size_t rows, size_t columns, float *sums) {
  for (size_t r = 0; r < rows; r++) {
    int32_t sum = 0;
    for (size_t k = 0; k < columns; k++) sum += w[r * columns + k];
    sums[r] = scale[r] * (float)sum;
  }
}
