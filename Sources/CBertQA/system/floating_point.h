// The CPU's settings for floating-point arithmetic: rounding, denormal numbers, traps. Threads
// inherit them, and hosts change them: by fesetround, by feenableexcept, by -ffast-math.
#ifndef BERTQA_FLOATING_POINT_H
#define BERTQA_FLOATING_POINT_H

#include <stdint.h>

typedef struct {
  uint64_t vectors;  // SSE and AVX; arm64: everything
  uint16_t x87;      // glibc's strtod rounds as this says
} bq_floating_point;

#if defined(__x86_64__)
// MXCSR without its six flags, which say what has happened.
enum { BQ_FLAGS = 0x3f, BQ_MXCSR = 0x1f80, BQ_X87 = 0x37f };
#endif

// Sets the defaults, and returns what was set before.
static inline bq_floating_point bq_take_default(void) {
  bq_floating_point before = {0};
#if defined(__x86_64__)
  before.vectors = __builtin_ia32_stmxcsr();
  __asm__ volatile("fnstcw %0" : "=m"(before.x87));
  if ((before.vectors & ~(uint64_t)BQ_FLAGS) != BQ_MXCSR) __builtin_ia32_ldmxcsr(BQ_MXCSR);
  if (before.x87 != BQ_X87) {
    const uint16_t x87 = BQ_X87;
    __asm__ volatile("fldcw %0" : : "m"(x87));
  }
#elif defined(__aarch64__)
  __asm__ volatile("mrs %0, fpcr" : "=r"(before.vectors));
  if (before.vectors != 0) __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)0));
#endif
  return before;
}

static inline void bq_give_back(bq_floating_point before) {
#if defined(__x86_64__)
  if ((before.vectors & ~(uint64_t)BQ_FLAGS) != BQ_MXCSR)
    __builtin_ia32_ldmxcsr((unsigned)before.vectors);
  // fnclex: a flag that the library's code raised would be a trap now if the caller wants traps.
  if (before.x87 != BQ_X87) __asm__ volatile("fnclex\n\tfldcw %0" : : "m"(before.x87));
#elif defined(__aarch64__)
  if (before.vectors != 0) __asm__ volatile("msr fpcr, %0" : : "r"(before.vectors));
#endif
}

#endif
