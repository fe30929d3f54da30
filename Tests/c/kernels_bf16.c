// Linear layers of bfloat16.
#include "kernels_testing.h"

static float widen(uint16_t bf16) {
  const uint32_t bits = (uint32_t)bf16 << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static size_t pair_at(size_t token, size_t feature, size_t features) {
  return (token / 16 * features / 2 + feature / 2) * 32 + token % 16 * 2 + feature % 2;
}

static void test_pack(size_t blocks, size_t features) {
  float *x = numbers(blocks * features * 16, 3);
  uint16_t *y = malloc(blocks * features * 16 * sizeof *y);
  kernels->pack_bf16(x, blocks, features, y);
  for (size_t t = 0; t < blocks * 16; t++)
    for (size_t f = 0; f < features; f++) {
      uint32_t bits;
      memcpy(&bits, &x[at(t, f, features)], sizeof bits);
      const uint16_t exact = (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
      CHECK(y[pair_at(t, f, features)] == exact, "pack_bf16: %04x for %04x",
            y[pair_at(t, f, features)], exact);
    }
  free(x), free(y);
}

// Reads the value of an output, in the format that the epilogue writes.
static double output(const void *y, int32_t epilogue, size_t t, size_t o, size_t outs) {
  if (epilogue < BQ_EPILOGUE_BF16) return ((const float *)y)[at(t, o, outs)];
  if (epilogue == BQ_EPILOGUE_BF16) return widen(((const uint16_t *)y)[at(t, o, outs)]);
  return widen(((const uint16_t *)y)[pair_at(t, o, outs)]);
}

static void test_linear(size_t blocks, size_t in, size_t outs, int32_t epilogue) {
  const size_t tokens = blocks * 16, size = epilogue < BQ_EPILOGUE_BF16 ? 4 : 2;
  const int32_t activation = epilogue & ~BQ_EPILOGUE_BF16_PAIRS;
  float *floats = numbers(tokens * in, 3), *bias = numbers(outs, 1);
  uint16_t *x = malloc(tokens * in * sizeof *x), *w = malloc(in * outs * sizeof *w);
  float *before = numbers(tokens * outs, 1);
  char *y = malloc(tokens * outs * size), *alone = malloc(16 * outs * size);
  kernels->pack_bf16(floats, blocks, in, x);
  for (size_t i = 0; i < in * outs; i++) w[i] = (uint16_t)(0x3F00 + (int)number(250)) ^ (i % 3 ? 0 : 0x8000);
  memcpy(y, before, tokens * outs * size);
  memcpy(alone, before, 16 * outs * size);
  kernels->linear_bf16(w, bias, x, blocks, in, outs, epilogue, y, outs * 16);
  for (size_t t = 0; t < tokens; t++)
    for (size_t o = 0; o < outs; o++) {
      double exact = bias[o];
      for (size_t k = 0; k < in; k++)
        exact += (double)widen(w[o * in + k]) * widen(x[pair_at(t, k, in)]);
      if (epilogue != BQ_EPILOGUE_BF16 && activations[activation])
        exact = activations[activation](exact);
      if (epilogue == BQ_EPILOGUE_RESIDUAL) exact += before[at(t, o, outs)];
      if (epilogue == BQ_EPILOGUE_GATE) exact *= before[at(t, o, outs)];
      const double value = output(y, epilogue, t, o, outs), step = size == 2 ? 0x1p-8 : 0;
      CHECK(fabs(value - exact) < fmax(2e-4, 1e-6 * (double)in) + step * fabs(exact), "linear_bf16 %zu->%zu (%d): %g for %g",
            in, outs, epilogue, value, exact);
    }
  // The same bits without the other blocks, and for the first output without the other outputs. AMX adds
  // in another order, but only in whole tiles of 16 outputs and 32 inputs.
  const size_t first = kernels->isa == BQ_ISA_AVX512_AMX && outs >= 16 && in % 32 == 0 ? 16 : 1;
  kernels->linear_bf16(w, bias, x, 1, in, outs, epilogue, alone, outs * 16);
  CHECK(memcmp(alone, y, 16 * outs * size) == 0, "linear_bf16: other bits in a batch");
  if (epilogue <= BQ_EPILOGUE_BF16) {
    memcpy(alone, before, 16 * outs * size);
    kernels->linear_bf16(w, bias, x, 1, in, first, epilogue, alone, outs * 16);
    CHECK(memcmp(alone, y, first * 16 * size) == 0, "linear_bf16: other bits in a tile");
  }
  free(floats), free(bias), free(x), free(w), free(before), free(y), free(alone);
}

void test_bf16(void) {
  if (!kernels->linear_bf16) return;
  test_pack(1, 2);
  test_pack(3, 38);
  // Rows that share a set of the L1 cache have tiles of their own.
  test_linear(3, 2048, 29, BQ_EPILOGUE_BIAS);
  for (int32_t epilogue = BQ_EPILOGUE_BIAS; epilogue <= BQ_EPILOGUE_BF16; epilogue++) {
    test_linear(1, 2, 1, epilogue);
    test_linear(3, 38, 29, epilogue);
    test_linear(2, 64, 13, epilogue);
    const int is_added = epilogue == BQ_EPILOGUE_BIAS || (epilogue < BQ_EPILOGUE_BF16 && activations[epilogue]);
    if (!is_added) continue;
    test_linear(1, 2, 2, epilogue + BQ_EPILOGUE_BF16_PAIRS);
    test_linear(3, 38, 28, epilogue + BQ_EPILOGUE_BF16_PAIRS);
    test_linear(2, 64, 14, epilogue + BQ_EPILOGUE_BF16_PAIRS);
  }
}
