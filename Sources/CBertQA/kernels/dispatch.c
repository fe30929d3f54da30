// The choice of the kernels that this machine can run.
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
    case BQ_ISA_AVX512_VNNI: return supports(BQ_ISA_AVX512) && __builtin_cpu_supports("avx512vnni");
    case BQ_ISA_AVX512_VNNI_BF16:
      return supports(BQ_ISA_AVX512_VNNI) && __builtin_cpu_supports("avx512bf16");
    default: return 0;
  }
#else
  return isa == BQ_ISA_PORTABLE;
#endif
}

int32_t bq_best_isa(void) {
  int32_t isa = BQ_ISA_AVX512_VNNI_BF16;
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
    case BQ_ISA_AVX512_VNNI: return &bq_kernels_avx512_vnni;
    case BQ_ISA_AVX512_VNNI_BF16: return &bq_kernels_avx512_vnni_bf16;
#endif
    default: return &bq_kernels_portable;
  }
}
