// AVX-512 with VNNI and BF16: four byte products or two bfloat16 products per lane and instruction.
#include "kernels_internal.h"

#if BQ_X86
#define SUFFIXED(name) BQ_PASTE(bq_##name, avx512_vnni)
#define TARGET \
  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx512bf16,avx2,fma")))
#define KERNEL TARGET
#define INLINE TARGET __attribute__((always_inline)) static inline
#define HAS_FAST_GELU

#include <math.h>
#include <string.h>

#include "avx512.inc.h"
#include "f32_math.inc.h"
#include "tiles.inc.h"
#include "bf16_kernels.inc.h"
#include "bf16_attention.inc.h"

#define BYTES_X VI
#define BYTES_W VI
#define S8_ROWS TILE_ROWS
INLINE VI v_bytes_x(VI u8) { return u8; }
INLINE VI v_bytes_w(VI s8) { return s8; }
INLINE VI v_dot(VI sum, VI x, VI w) {
  return (VI)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)x, (__m512i)w);
}

#include "s8_kernels.inc.h"

// Less than any score, and not so small that subtracting a score from it overflows.
enum { NO_SCORE = -(1 << 30) };

#include "s8_attention.inc.h"

BQ_KERNEL(linear_f32, avx512);
BQ_KERNEL(layer_norm_f32, avx512);
BQ_KERNEL(attention_f32, avx512);
BQ_KERNEL(exp_f32, avx512);
BQ_KERNEL(erf_f32, avx512);
BQ_KERNEL(tanh_f32, avx512);
BQ_KERNEL(gelu_f32, avx512);

const bq_kernels bq_kernels_avx512_vnni = {
    .isa = BQ_ISA_AVX512_VNNI,
    .linear_f32 = bq_linear_f32_avx512,
    .layer_norm_f32 = bq_layer_norm_f32_avx512,
    .attention_f32 = bq_attention_f32_avx512,
    .exp_f32 = bq_exp_f32_avx512,
    .erf_f32 = bq_erf_f32_avx512,
    .tanh_f32 = bq_tanh_f32_avx512,
    .gelu_f32 = bq_gelu_f32_avx512,
    .quantize_u8 = bq_quantize_u8_avx512_vnni,
    .linear_s8 = bq_linear_s8_avx512_vnni,
    .attention_s8 = bq_attention_s8_avx512_vnni,
    .pack_bf16 = bq_pack_bf16_avx512_vnni,
    .linear_bf16 = bq_linear_bf16_avx512_vnni,
    .attention_bf16 = bq_attention_bf16_avx512_vnni,
};
#endif
