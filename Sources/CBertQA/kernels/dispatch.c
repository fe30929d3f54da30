// The choice of the kernels that this machine can run.
#include "kernels_internal.h"

// All that are compiled for this architecture, the one that is preferred first.
static const bq_kernels *const tables[] = {
#if BQ_X86
    &bq_kernels_avx512_vnni_bf16, &bq_kernels_avx512_vnni, &bq_kernels_avx512, &bq_kernels_avx2,
#endif
    &bq_kernels_portable,
};

#if BQ_X86
// __builtin_cpu_supports also asks whether the operating system saves the registers.
static int supports(int32_t isa) {
  __builtin_cpu_init();
  switch (isa) {
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
    default: return isa == BQ_ISA_PORTABLE;
  }
}
#else
static int supports(int32_t isa) { return isa == BQ_ISA_PORTABLE; }
#endif

const bq_kernels *bq_kernels_for(int32_t isa) {
  for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
    if ((isa == BQ_ISA_AUTO || isa == tables[i]->isa) && supports(tables[i]->isa)) return tables[i];
  }
  return NULL;
}

int32_t bq_best_isa(void) { return bq_kernels_for(BQ_ISA_AUTO)->isa; }
