// Definitions that the instruction sets' files share.
//
// The kernels are templates (*.inc.h). Each instruction set's file defines the vector types and
// operations, then includes them. The top of a template lists the definitions and the templates
// that it needs.
#ifndef BERTQA_KERNELS_INTERNAL_H
#define BERTQA_KERNELS_INTERNAL_H

#include "kernels.h"

// a * b + c rounds twice, so that every compiler and optimisation level gives the same bits; v_fma
// is the fused multiply-add. GCC does not know the pragma and needs -ffp-contract=off.
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

// The steps in the range of an int8 activation where byte products do not saturate.
enum { BQ_BYTE_STEPS = 253 };

#define BQ_PASTE_(a, b) a##_##b
#define BQ_PASTE(a, b) BQ_PASTE_(a, b)

// A fully unrolled for loop: its trip count is a constant of the inlined call.
#if defined(__clang__)
#define BQ_UNROLL_FOR(...) _Pragma("clang loop unroll(full)") for (__VA_ARGS__)
#else
#define BQ_UNROLL_FOR(...) _Pragma("GCC unroll 32") for (__VA_ARGS__)
#endif

// Prevents the compiler from recomputing a pointer from another one, which takes an instruction
// each time.
#define BQ_OPAQUE(pointer) __asm__("" : "+r"(pointer))

#if defined(__x86_64__)
#define BQ_X86 1
#else
#define BQ_X86 0
#endif
#if defined(__aarch64__)
#define BQ_ARM64 1
#else
#define BQ_ARM64 0
#endif

// Declares an instruction set's function for a member of bq_kernels.
#define BQ_KERNEL(member, isa) __typeof__(*((bq_kernels *)0)->member) BQ_PASTE(bq_##member, isa)

// BQ_ON_X86(...) and the like keep their argument on that architecture only.
#define BQ_ON_ANY(...) __VA_ARGS__
#if BQ_X86
#define BQ_ON_X86(...) __VA_ARGS__
#else
#define BQ_ON_X86(...)
#endif
#if BQ_ARM64
#define BQ_ON_ARM64(...) __VA_ARGS__
#else
#define BQ_ON_ARM64(...)
#endif

// The tables of this architecture: bq_kernels_avx2 …
#define BQ_DECLARE_TABLE(number, constant, name, architecture) \
  BQ_ON_##architecture(extern const bq_kernels bq_kernels_##name;)
BQ_INSTRUCTION_SETS(BQ_DECLARE_TABLE)

#if BQ_X86
// Kernels of earlier instruction sets that later tables reuse.
BQ_KERNEL(linear_f32, avx2);
BQ_KERNEL(layer_norm_f32, avx2);
BQ_KERNEL(rotate_f32, avx2);
BQ_KERNEL(attention_f32, avx2);
BQ_KERNEL(relative_keys_f32, avx2);
BQ_KERNEL(relative_bias, avx2);
BQ_KERNEL(multiply_rows, avx2);
BQ_KERNEL(sum_rows, avx2);
BQ_KERNEL(lstm_cell, avx2);
BQ_KERNEL(gru_cell, avx2);
BQ_KERNEL(exp_f32, avx2);
BQ_KERNEL(tanh_f32, avx2);
BQ_KERNEL(linear_f32, avx512);
BQ_KERNEL(layer_norm_f32, avx512);
BQ_KERNEL(rotate_f32, avx512);
BQ_KERNEL(attention_f32, avx512);
BQ_KERNEL(relative_keys_f32, avx512);
BQ_KERNEL(relative_bias, avx512);
BQ_KERNEL(multiply_rows, avx512);
BQ_KERNEL(sum_rows, avx512);
BQ_KERNEL(lstm_cell, avx512);
BQ_KERNEL(gru_cell, avx512);
BQ_KERNEL(exp_f32, avx512);
BQ_KERNEL(tanh_f32, avx512);
BQ_KERNEL(linear_s8, avx512_vnni);
BQ_KERNEL(quantize_u8, avx512_vnni);
BQ_KERNEL(attention_s8, avx512_vnni);
BQ_KERNEL(pack_bf16, avx512_vnni_bf16);
BQ_KERNEL(linear_bf16, avx512_vnni_bf16);
BQ_KERNEL(attention_bf16, avx512_vnni_bf16);
BQ_KERNEL(relative_keys_bf16, avx512_vnni_bf16);
#endif
#if BQ_ARM64
BQ_KERNEL(linear_f32, neon);
BQ_KERNEL(layer_norm_f32, neon);
BQ_KERNEL(rotate_f32, neon);
BQ_KERNEL(attention_f32, neon);
BQ_KERNEL(relative_keys_f32, neon);
BQ_KERNEL(relative_bias, neon);
BQ_KERNEL(multiply_rows, neon);
BQ_KERNEL(sum_rows, neon);
BQ_KERNEL(lstm_cell, neon);
BQ_KERNEL(gru_cell, neon);
BQ_KERNEL(exp_f32, neon);
BQ_KERNEL(tanh_f32, neon);
BQ_KERNEL(quantize_u8, neon);
#endif

#endif
