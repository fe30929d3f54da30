// What the instruction sets' files share: the functions each of them defines.
//
// f32_kernels.inc.h is included once per instruction set by a file that defines the vector type and
// its operations; SUFFIXED(name) gives each copy its own name.
#ifndef BERTQA_KERNELS_INTERNAL_H
#define BERTQA_KERNELS_INTERNAL_H

#include "kernels.h"

#define BQ_PASTE_(a, b) a##_##b
#define BQ_PASTE(a, b) BQ_PASTE_(a, b)

// Fully unrolls the following loop, whose trip count is a constant of the inlined call.
#if defined(__clang__)
#define BQ_UNROLL _Pragma("clang loop unroll(full)")
#else
#define BQ_UNROLL _Pragma("GCC unroll 32")
#endif

#if defined(__x86_64__)
#define BQ_X86 1
#else
#define BQ_X86 0
#endif

// Declares the function that an instruction set has for a member of bq_kernels.
#define BQ_KERNEL(member, isa) __typeof__(*((bq_kernels *)0)->member) BQ_PASTE(bq_##member, isa)

extern const bq_kernels bq_kernels_portable;
#if BQ_X86
extern const bq_kernels bq_kernels_avx2;
extern const bq_kernels bq_kernels_avx512;
extern const bq_kernels bq_kernels_avx512_vnni;
extern const bq_kernels bq_kernels_avx512_bf16;

BQ_KERNEL(linear_f32, avx512);
BQ_KERNEL(layer_norm_f32, avx512);
BQ_KERNEL(attention_f32, avx512);
BQ_KERNEL(multiply_rows, avx512);
BQ_KERNEL(lstm_cell, avx512);
BQ_KERNEL(gru_cell, avx512);
BQ_KERNEL(exp_f32, avx512);
BQ_KERNEL(erf_f32, avx512);
BQ_KERNEL(tanh_f32, avx512);
BQ_KERNEL(gelu_f32, avx512);
BQ_KERNEL(quantize_u8, avx512);
BQ_KERNEL(linear_s8, avx512_vnni);
#endif

#endif
