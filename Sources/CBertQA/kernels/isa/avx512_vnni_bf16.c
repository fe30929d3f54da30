// AVX-512 with VNNI and BF16: in addition, two bfloat16 products per lane and instruction.
#include "../kernels_internal.h"

#if BQ_X86
#define SUFFIXED(name) BQ_PASTE(bq_##name, avx512_vnni_bf16)
#define TARGET \
  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx512bf16,avx2,fma")))
#define KERNEL TARGET
#define INLINE TARGET __attribute__((always_inline)) static inline

#include "../templates/avx512.inc.h"
#include "../templates/f32_math.inc.h"
#include "../templates/tiles.inc.h"
#include "../templates/avx512_bf16.inc.h"
#include "../templates/bf16_kernels.inc.h"
#define PAIR_ROWS VALUE_ROWS
#include "../templates/bf16_attention.inc.h"

const bq_kernels bq_kernels_avx512_vnni_bf16 = {
    .isa = BQ_ISA_AVX512_VNNI_BF16,
    BQ_AVX512_F32,
    .byte_steps = BQ_BYTE_STEPS,
    .quantize_u8 = bq_quantize_u8_avx512_vnni,
    .linear_s8 = bq_linear_s8_avx512_vnni,
    .attention_s8 = bq_attention_s8_avx512_vnni,
    .pack_bf16 = bq_pack_bf16_avx512_vnni_bf16,
    .linear_bf16 = bq_linear_bf16_avx512_vnni_bf16,
    .attention_bf16 = bq_attention_bf16_avx512_vnni_bf16,
    .relative_keys_bf16 = bq_relative_keys_bf16_avx512_vnni_bf16,
};
#endif
