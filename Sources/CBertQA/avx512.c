// AVX-512 F, BW, DQ and VL.
#include "kernels_internal.h"

#if BQ_X86
#define SUFFIXED(name) BQ_PASTE(bq_##name, avx512)
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")))
#define KERNEL TARGET
#define INLINE TARGET __attribute__((always_inline)) static inline
#define HAS_FAST_GELU

#include "avx512.inc.h"
#include "f32_kernels.inc.h"

typedef int16_t VI16 __attribute__((vector_size(64)));
typedef uint16_t VU16 __attribute__((vector_size(64)));
#define S8_ROWS 8  // 16 sums, 4 vectors of activations and 2 of weights, 4 products
INLINE VI vi_multiply_add(VI a, VI b) { return (VI)_mm512_madd_epi16((__m512i)a, (__m512i)b); }

#include "multiply16.inc.h"
#include "quantize.inc.h"
#include "s8_kernels.inc.h"

const bq_kernels bq_kernels_avx512 = {
    .isa = BQ_ISA_AVX512,
    BQ_AVX512_F32,
    .quantize_u8 = bq_quantize_u8_avx512,
    .linear_s8 = bq_linear_s8_avx512,
};
#endif
