// AVX-512 with VNNI: four byte products per lane and instruction.
#include "../kernels_internal.h"

#if BQ_X86
#define SUFFIXED(name) BQ_PASTE(bq_##name, avx512_vnni)
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma")))
#define KERNEL TARGET
#define INLINE TARGET __attribute__((always_inline)) static inline
#define HAS_VNNI

#include "../templates/avx512.inc.h"
#include "../templates/f32_math.inc.h"
#include "../templates/tiles.inc.h"
#define S8_ROWS TILE_ROWS
#include "../templates/quantize.inc.h"
#include "../templates/s8_kernels.inc.h"
#include "../templates/dot_quads.inc.h"
#include "../templates/s8_attention.inc.h"

const bq_kernels bq_kernels_avx512_vnni = {
    .isa = BQ_ISA_AVX512_VNNI,
    BQ_AVX512_F32,
    .byte_steps = BYTE_STEPS,
    .quantize_u8 = bq_quantize_u8_avx512_vnni,
    .linear_s8 = bq_linear_s8_avx512_vnni,
    .attention_s8 = bq_attention_s8_avx512_vnni,
};
#endif
