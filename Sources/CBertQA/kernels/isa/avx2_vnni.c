// AVX2 with AVX-VNNI: four byte products per lane and instruction, in 256 bits. Client CPUs without
// AVX-512 have it.
#include "../kernels_internal.h"

#if BQ_X86
#include <immintrin.h>

#define SUFFIXED(name) BQ_PASTE(bq_##name, avx2_vnni)
#define TARGET __attribute__((target("avx2,fma,f16c,avxvnni")))
#define KERNEL TARGET
#define INLINE TARGET __attribute__((always_inline)) static inline

#include "../templates/avx2.inc.h"
#include "../templates/f32_math.inc.h"
#include "../templates/tiles.inc.h"

#define BYTES_X VI
#define BYTES_W VI
INLINE VI v_bytes_x(VI u8) { return u8; }
INLINE VI v_bytes_w(VI s8) { return s8; }
INLINE VI v_dot(VI sum, VI u8, VI s8) {
  return (VI)_mm256_dpbusd_avx_epi32((__m256i)sum, (__m256i)u8, (__m256i)s8);
}
#define S8_ROWS 6  // 12 sums, 2 vectors of activations, 1 of weights
#include "../templates/quantize.inc.h"
#include "../templates/s8_kernels.inc.h"
#include "../templates/dot_quads.inc.h"
#include "../templates/s8_attention.inc.h"

const bq_kernels bq_kernels_avx2_vnni = {
    .isa = BQ_ISA_AVX2_VNNI,
    BQ_AVX2_F32,
    .byte_steps = BYTE_STEPS,
    .quantize_u8 = bq_quantize_u8_avx2_vnni,
    .linear_s8 = bq_linear_s8_avx2_vnni,
    .attention_s8 = bq_attention_s8_avx2_vnni,
};
#endif
