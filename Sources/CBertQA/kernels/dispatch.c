// Names the instruction sets, and selects the kernels that this machine can run.
#include "kernels_internal.h"

#if BQ_ARM64
#include <sys/auxv.h>
// Headers of older systems lack the constants of newer kernels.
#ifndef HWCAP_ASIMDDP
#define HWCAP_ASIMDDP (1 << 20)
#endif
#ifndef HWCAP2_I8MM
#define HWCAP2_I8MM (1 << 13)
#endif
#ifndef HWCAP2_BF16
#define HWCAP2_BF16 (1 << 14)
#endif
#endif

// The tables of this architecture, the preferred one first.
#define TABLE(number, constant, name, architecture) BQ_ON_##architecture(&bq_kernels_##name, )
static const bq_kernels *const tables[] = {BQ_INSTRUCTION_SETS(TABLE)};

#if BQ_X86
#include <cpuid.h>
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

// Clang's __builtin_cpu_supports knows F16C only from version 19. F16C uses the registers of AVX.
static int has_f16c(void) {
  unsigned a, b, c, d;
  return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

// Clang 17's __builtin_cpu_supports does not know AVX-VNNI. It needs the same operating system
// support as AVX2.
static int has_avx_vnni(void) {
  unsigned a, b, c, d;
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 4 & 1);
}

// Linux saves tiles only for programs that request it. It refuses if a thread's signal stack could
// not hold them.
static int has_amx(void) {
#ifdef __linux__
  enum { REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 };
  enum { BF16 = 1 << 22, TILE = 1 << 24, INT8 = 1 << 25, ALL = BF16 | TILE | INT8 };
  unsigned a, b, c, d;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & ALL) == ALL &&
         syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
#else
  return 0;
#endif
}

// Intel's CPUs with AVX512-FP16 (since Sapphire Rapids) have a quarter of the rate of f32 multiply-adds
// for vdpbf16ps, so half the products: AMX is their unit for bf16. Cooper Lake does not have
// AVX512-FP16.
static int has_slow_bf16(void) {
  unsigned a, b, c, d;
  __builtin_cpu_init();
  return __builtin_cpu_is("intel") && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d >> 23 & 1);
}

// __builtin_cpu_supports also checks that the operating system saves the registers.
static int supports(int32_t isa) {
  __builtin_cpu_init();
  switch (isa) {
    case BQ_ISA_AVX2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
    case BQ_ISA_AVX2_VNNI: return supports(BQ_ISA_AVX2) && has_avx_vnni();
    case BQ_ISA_AVX512:
      return supports(BQ_ISA_AVX2) && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
             __builtin_cpu_supports("avx512vl");
    case BQ_ISA_AVX512_VNNI: return supports(BQ_ISA_AVX512) && __builtin_cpu_supports("avx512vnni");
    case BQ_ISA_AVX512_VNNI_BF16:
      return supports(BQ_ISA_AVX512_VNNI) && __builtin_cpu_supports("avx512bf16");
    case BQ_ISA_AVX512_AMX: return supports(BQ_ISA_AVX512_VNNI_BF16) && has_amx();
    default: return isa == BQ_ISA_PORTABLE;
  }
}
#elif BQ_ARM64
// The kernel's answer also accounts for cores that differ.
static int supports(int32_t isa) {
  switch (isa) {
    case BQ_ISA_NEON: return 1;
    case BQ_ISA_NEON_DOTPROD: return (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
    case BQ_ISA_NEON_I8MM_BF16:
      return supports(BQ_ISA_NEON_DOTPROD) && (getauxval(AT_HWCAP2) & HWCAP2_I8MM) &&
             (getauxval(AT_HWCAP2) & HWCAP2_BF16);
    default: return isa == BQ_ISA_PORTABLE;
  }
}
#else
static int supports(int32_t isa) { return isa == BQ_ISA_PORTABLE; }
#endif

// The permission for tiles applies to the whole process: its signal frames grow, and small signal
// stacks are refused from then on. Only a caller who names AMX makes that decision.
static int is_candidate(int32_t isa, int32_t asked) {
  return isa == asked || (asked == BQ_ISA_AUTO && isa != BQ_ISA_AVX512_AMX);
}

const bq_kernels *bq_kernels_for(int32_t isa) {
  for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
    if (is_candidate(tables[i]->isa, isa) && supports(tables[i]->isa)) return tables[i];
  }
  return NULL;
}

#define NAME(number, constant, name, architecture) [BQ_ISA_##constant] = #name,
const char *bq_isa_name(int32_t isa) {
  static const char *const names[] = {"auto", BQ_INSTRUCTION_SETS(NAME)};
  return isa >= 0 && isa <= BQ_ISA_LAST ? names[isa] : NULL;
}

bool bq_isa_is_native(int32_t isa) {
  for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
    if (tables[i]->isa == isa) return true;
  }
  return false;
}

bool bq_prefers_bf16(const bq_kernels *kernels) {
#if BQ_X86
  if (kernels->isa == BQ_ISA_AVX512_VNNI_BF16) return !has_slow_bf16();
#endif
  return kernels->linear_bf16 != NULL;
}

int32_t bq_best_isa(void) { return bq_kernels_for(BQ_ISA_AUTO)->isa; }
