// The C half alone, against plain loops: what the Swift tests check in more depth, for machines
// (emulated ones too) and compilers that do not build the Swift half. Exit status 1 on failure.
#include "bertqa.h"
#include "kernels_testing.h"
#include "weights.h"

int failures;
const bq_kernels *kernels;

float number(float range) {
  static uint32_t state = 1;
  state = state * 1664525u + 1013904223u;
  return ((float)(state >> 8) / 8388608.0f - 1) * range;
}

float *numbers(size_t n, float range) {
  float *p = malloc(n * sizeof *p);
  for (size_t i = 0; i < n; i++) p[i] = number(range);
  return p;
}

static double gelu(double x) { return x / 2 * erfc(-x / sqrt(2)); }
static double gelu_tanh(double x) {
  return x / (1 + exp(-2 * sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x)));
}
static double silu(double x) { return x / (1 + exp(-x)); }
static double relu(double x) { return isnan(x) ? x : fmax(x, 0); }

double (*const activations[])(double) = {
    [BQ_EPILOGUE_GELU] = gelu, [BQ_EPILOGUE_GELU_TANH] = gelu_tanh, [BQ_EPILOGUE_SILU] = silu,
    [BQ_EPILOGUE_RELU] = relu, [BQ_EPILOGUE_TANH] = tanh,           [BQ_EPILOGUE_GATE] = NULL,
};

static void test_linear(size_t blocks, size_t in, size_t outs, int32_t epilogue) {
  float *w = numbers(in * outs, 1), *bias = numbers(outs, 1), *x = numbers(blocks * in * 16, 3);
  float *y = numbers(blocks * outs * 16, 1), *before = malloc(blocks * outs * 16 * sizeof *y);
  memcpy(before, y, blocks * outs * 16 * sizeof *y);
  kernels->linear_f32(w, bias, x, blocks, in, outs, epilogue, y, outs * 16);
  for (size_t t = 0; t < blocks * 16; t++)
    for (size_t o = 0; o < outs; o++) {
      double sum = bias[o];
      for (size_t k = 0; k < in; k++) sum += (double)w[o * in + k] * x[at(t, k, in)];
      if (activations[epilogue]) sum = activations[epilogue](sum);
      if (epilogue == BQ_EPILOGUE_RESIDUAL) sum += before[at(t, o, outs)];
      if (epilogue == BQ_EPILOGUE_GATE) sum *= before[at(t, o, outs)];
      CHECK(fabs(y[at(t, o, outs)] - sum) < fmax(1e-4, 1e-6 * (double)in), "linear_f32 %zu->%zu: %g for %g", in,
            outs, y[at(t, o, outs)], sum);
    }
  free(w), free(bias), free(x), free(y), free(before);
}

// Prepares weights as the model loader does. The caller frees them.
static uint64_t *large_of(const int8_t *w, size_t outs, size_t in) {
  if (!kernels->find_large_s8) return NULL;
  uint64_t *large = malloc(outs * bq_large_words(in) * sizeof *large);
  kernels->find_large_s8(w, outs, in, large);
  return large;
}

static void test_int8(size_t blocks, size_t in, size_t outs) {
  const size_t tokens = blocks * 16;
  float *x = numbers(tokens * in, 4), *y = malloc(tokens * outs * sizeof *y);
  float *scale = numbers(tokens, 1), *offset = numbers(tokens, 1);
  uint8_t *u8 = malloc(tokens * in);
  int8_t *w = malloc(in * outs);
  float *unit = numbers(outs, 1), *bias = numbers(outs, 1);
  float *sums = numbers(outs, 1);
  for (size_t i = 0; i < in * outs; i++) w[i] = (int8_t)number(128);
  bq_row_sums_s8(w, unit, outs, in, sums);
  kernels->quantize_u8(x, blocks, in, u8, scale, offset);
  uint64_t *large = large_of(w, outs, in);
  kernels->linear_s8(&(bq_weights_s8){w, unit, sums, bias, large}, u8, scale, offset, blocks, in,
                     outs, BQ_EPILOGUE_BIAS, y, outs * 16);
  for (size_t t = 0; t < tokens; t++)
    for (size_t o = 0; o < outs; o++) {
      int64_t dot = 0, sum = 0;
      for (size_t k = 0; k < in; k++) {
        const uint8_t u = u8[(t / 16 * in + k / 4 * 4) * 16 + t % 16 * 4 + k % 4];
        dot += (int64_t)u * w[o * in + k], sum += w[o * in + k];
        CHECK(fabs(scale[t] * u + offset[t] - x[at(t, k, in)]) <= 0.501 * scale[t],
              "quantize_u8: %d for %g", u, x[at(t, k, in)]);
      }
      const double exact =
          (double)unit[o] * ((double)scale[t] * (double)dot + (double)offset[t] * (double)sum) +
          bias[o];
      CHECK(fabs(y[at(t, o, outs)] - exact) < 1e-3, "linear_s8 %zu->%zu: %g for %g", in, outs,
            y[at(t, o, outs)], exact);
    }
  free(x), free(y), free(scale), free(offset), free(u8), free(w), free(unit), free(bias),
      free(sums), free(large);
}

// Sums of the greatest bytes that quantize_u8 gives with the greatest weights, exactly. `stride`: of
// the columns that have them, the others' weights are small.
static void test_int8_extremes(size_t blocks, size_t in, size_t outs, size_t stride) {
  const size_t tokens = blocks * 16;
  float x[4 * 16], scale[16], offset[16];
  uint8_t top[4 * 16], most = 0;
  for (int i = 0; i < 4 * 16; i++) x[i] = i < 16 ? -1e-6f * (float)i : (float)(i % 16);
  kernels->quantize_u8(x, 1, 4, top, scale, offset);
  for (int i = 0; i < 4 * 16; i++) most = top[i] > most ? top[i] : most;
  CHECK(most >= 126, "quantize_u8: at most %d", most);
  uint8_t *u8 = malloc(tokens * in);
  int8_t *w = malloc(in * outs);
  float *zeros = calloc(tokens + outs, sizeof *zeros), *ones = numbers(tokens + outs, 0);
  float *y = malloc(tokens * outs * sizeof *y);
  for (size_t i = 0; i < tokens + outs; i++) ones[i] = 1;
  for (size_t i = 0; i < tokens * in; i++)
    u8[i] = i % 64 < 48 ? most : (uint8_t)(fabsf(number(1)) * most);
  // Rows of one sign, of the other, of both.
  for (size_t o = 0; o < outs; o++)
    for (size_t k = 0; k < in; k++) {
      const int sign = o % 3 == 0 ? 1 : o % 3 == 1 ? -1 : number(1) < 0 ? -1 : 1;
      w[o * in + k] = (int8_t)(sign * (k / 8 % stride == 0 ? 127 : (int)number(60)));
    }
  // With what find_large_s8 says, and without.
  uint64_t *large[2] = {large_of(w, outs, in), NULL};
  for (int i = 0; i < 2; i++) {
    kernels->linear_s8(&(bq_weights_s8){w, ones, zeros, zeros, large[i]}, u8, ones, zeros, blocks,
                       in, outs, BQ_EPILOGUE_BIAS, y, outs * 16);
    for (size_t t = 0; t < tokens; t++)
      for (size_t o = 0; o < outs; o++) {
        int32_t dot = 0;
        for (size_t k = 0; k < in; k++)
          dot += u8[(t / 16 * in + k / 4 * 4) * 16 + t % 16 * 4 + k % 4] * w[o * in + k];
        CHECK(y[at(t, o, outs)] == (float)dot, "linear_s8 %zu->%zu: %g for %d", in, outs,
              y[at(t, o, outs)], dot);
      }
  }
  free(u8), free(w), free(zeros), free(ones), free(y), free(large[0]);
}

// Bytes at the ends of their ranges: sums of products that are exact in 16 bits are not. Rows of one weight: the
// extreme ones, and those of which four and the greatest byte just fit in 16 bits or just do not.
static void test_extremes(size_t in) {
  enum { ROWS = 9 };
  static const int8_t weights[ROWS] = {-128, 127, 1, 63, 64, 65, -63, -64, -65};
  float one[16], zero[16] = {0}, y[ROWS * 16];
  for (int i = 0; i < 16; i++) one[i] = 1;
  const uint8_t most = (uint8_t)(kernels->byte_steps + 2);
  int8_t *w = malloc(ROWS * in);
  uint8_t *x = calloc(in, 16);
  for (int r = 0; r < ROWS; r++) memset(w + (size_t)r * in, weights[r], in);
  for (size_t k = 0; k < in; k++) x[k / 4 * 64 + k % 4] = most;
  uint64_t *large[2] = {large_of(w, ROWS, in), NULL};
  for (int i = 0; i < 2; i++)
    for (int r = 0; r < ROWS; r++) {  // each alone, as large steps of one row are exact in its tile's other rows too
      const bq_weights_s8 row = {w + (size_t)r * in, one, zero, zero, large[i] ? large[i] + (size_t)r * bq_large_words(in) : NULL};
      kernels->linear_s8(&row, x, one, zero, 1, in, 1, BQ_EPILOGUE_BIAS, y, 16);
      CHECK(y[0] == weights[r] * (most * (float)in) && y[1] == 0, "linear_s8 of %d, %zu: %g, %g", weights[r], in, y[0], y[1]);
    }
  free(w), free(x), free(large[0]);
}

// The weight with this index as a number, from a random byte, two or four.
static void set_weight(char *w, int32_t format, size_t i, double *value) {
  const float random = number(1);
  if (format == BQ_FORMAT_S8) {
    const int8_t byte = (int8_t)(random * 127);
    w[i] = (char)byte;
    *value = byte;
    return;
  }
  uint32_t bits;
  memcpy(&bits, &random, sizeof bits);
  if (format == BQ_FORMAT_F32) {
    memcpy(w + 4 * i, &bits, 4);
    *value = random;
  } else if (format == BQ_FORMAT_BF16) {
    const uint16_t half = (uint16_t)(bits >> 16);
    memcpy(w + 2 * i, &half, 2);
    bits &= 0xFFFF0000;
    float widened;
    memcpy(&widened, &bits, sizeof widened);
    *value = widened;
  } else {
    // Sign, ten bits of mantissa, an exponent from subnormal (0) to 1 ... 2 (15).
    const uint32_t exponent = (bits >> 4) % 16;
    const uint16_t half = (uint16_t)((bits >> 31) << 15 | exponent << 10 | (bits & 0x3FF));
    memcpy(w + 2 * i, &half, 2);
    *value = ldexp((bits & 0x3FF) + (exponent ? 1024 : 0), (exponent ? (int)exponent : 1) - 25);
    if (half >> 15) *value = -*value;
  }
}

static void test_rows(int32_t format, size_t vectors, size_t in, size_t outs) {
  const size_t size = format == BQ_FORMAT_F32 ? 4 : 2;
  char *memory = malloc(in * outs * size + 1), *w = memory + 1;  // at an odd address
  double *values = malloc(in * outs * sizeof *values);
  for (size_t i = 0; i < in * outs; i++) set_weight(w, format, i, &values[i]);
  float *bias = numbers(outs, 1), *x = numbers(vectors * in, 3),
        *y = malloc(vectors * outs * sizeof *y);
  float *alone = malloc(outs * sizeof *alone);
  kernels->multiply_rows(w, format, bias, x, in, vectors, in, outs, y, outs);
  for (size_t v = 0; v < vectors; v++) {
    for (size_t o = 0; o < outs; o++) {
      double sum = bias[o];
      for (size_t k = 0; k < in; k++) sum += values[o * in + k] * x[v * in + k];
      CHECK(fabs(y[v * outs + o] - sum) < 1e-4, "multiply_rows %zu->%zu: %g for %g", in, outs,
            y[v * outs + o], sum);
    }
    kernels->multiply_rows(w, format, bias, x + v * in, in, 1, in, outs, alone, outs);
    CHECK(memcmp(alone, y + v * outs, outs * sizeof *alone) == 0,
          "multiply_rows: other bits alone");
  }
  free(memory), free(values), free(bias), free(x), free(y), free(alone);
}

static void test_sum_rows(int32_t format, size_t count, size_t width) {
  enum { ROWS = 9 };
  const size_t size = format == BQ_FORMAT_F32 ? 4 : format == BQ_FORMAT_S8 ? 1 : 2;
  char *memory = malloc(ROWS * width * size + 1), *w = memory + 1;  // at an odd address
  double *values = malloc(ROWS * width * sizeof *values);
  for (size_t i = 0; i < ROWS * width; i++) set_weight(w, format, i, &values[i]);
  int32_t *rows = malloc(count * sizeof *rows);
  for (size_t r = 0; r < count; r++) rows[r] = (int32_t)(fabsf(number(1)) * (ROWS - 1) + 0.5f);
  float *factors = numbers(count, 1), *y = numbers(width, 1);
  kernels->sum_rows(w, format, rows, factors, count, width, y);
  for (size_t i = 0; i < width; i++) {
    double sum = 0;
    for (size_t r = 0; r < count; r++) sum += values[(size_t)rows[r] * width + i] * factors[r];
    CHECK(fabs(y[i] - sum) < (format == BQ_FORMAT_S8 ? 1e-3 : 1e-5), "sum_rows %d of %zu: %g for %g", format, width, y[i], sum);
  }
  free(memory), free(values), free(rows), free(factors), free(y);
}

// The least number that is not finite, and the greatest that is, in each format.
static void test_first_nonfinite(void) {
  static const struct {
    int32_t format;
    uint32_t infinity;
  } formats[] = {{BQ_FORMAT_F32, 0x7F800000}, {BQ_FORMAT_F16, 0x7C00}, {BQ_FORMAT_BF16, 0x7F80}};
  enum { COUNT = 600 };
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    const size_t size = formats[i].format == BQ_FORMAT_F32 ? 4 : 2;
    char *memory = malloc(COUNT * size + 1), *elements = memory + 1;  // at an odd address
    for (size_t bad = 0; bad <= COUNT; bad += bad < 500 ? 85 : 30) {
      const uint32_t finite = formats[i].infinity - 1;
      for (size_t k = 0; k < COUNT; k++) memcpy(elements + k * size, k == bad ? &formats[i].infinity : &finite, size);
      const size_t found = bq_first_nonfinite(elements, formats[i].format, COUNT);
      CHECK(found == bad, "bq_first_nonfinite %d: %zu for %zu", formats[i].format, found, bad);
    }
    free(memory);
  }
}

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

static void test_cells(size_t units) {
  float *x = numbers(4 * units, 6), *h = numbers(4 * units, 6), *state = numbers(units, 2);
  float *next_c = malloc(units * sizeof *next_c), *next_h = malloc(units * sizeof *next_h);
  kernels->lstm_cell(x, h, units, units, state, next_c, next_h);
  for (size_t u = 0; u < units; u++) {
    double g[4];
    for (size_t i = 0; i < 4; i++) g[i] = (double)x[i * units + u] + h[i * units + u];
    const double c = sigmoid(g[1]) * state[u] + sigmoid(g[0]) * tanh(g[2]);
    CHECK(fabs(next_c[u] - c) < 4e-6, "lstm_cell: c %g for %g", next_c[u], c);
    CHECK(fabs(next_h[u] - sigmoid(g[3]) * tanh(c)) < 4e-6, "lstm_cell: h");
  }
  kernels->gru_cell(x, h, units, units, state, next_h);
  for (size_t u = 0; u < units; u++) {
    const double r = sigmoid((double)x[u] + h[u]), z = sigmoid((double)x[units + u] + h[units + u]);
    const double n = tanh(x[2 * units + u] + r * h[2 * units + u]);
    CHECK(fabs(next_h[u] - ((1 - z) * n + z * state[u])) < 4e-6, "gru_cell");
  }
  free(x), free(h), free(state), free(next_c), free(next_h);
}

static void test_norm(size_t blocks, size_t features) {
  float *x = numbers(blocks * features * 16, 3), *gamma = numbers(features, 2);
  float *beta = numbers(features, 2), *y = malloc(blocks * features * 16 * sizeof *y);
  // Tokens whose variance is about eps, and 0.
  for (size_t f = 0; f < features; f++) x[at(1, f, features)] *= 1e-3f, x[at(2, f, features)] = 1;
  kernels->layer_norm_f32(x, blocks, features, gamma, beta, 1e-6f, y);
  for (size_t t = 0; t < blocks * 16; t++) {
    double mean = 0, variance = 0;
    for (size_t f = 0; f < features; f++) mean += x[at(t, f, features)] / (double)features;
    for (size_t f = 0; f < features; f++)
      variance += pow(x[at(t, f, features)] - mean, 2) / (double)features;
    for (size_t f = 0; f < features; f++) {
      const double exact =
          (x[at(t, f, features)] - mean) / sqrt(variance + 1e-6) * gamma[f] + beta[f];
      CHECK(fabs(y[at(t, f, features)] - exact) < 2e-5, "layer_norm_f32: %g for %g",
            y[at(t, f, features)], exact);
    }
  }
  free(x), free(gamma), free(beta), free(y);
}

static void test_rotate(size_t heads, size_t dim) {
  float *x = numbers(heads * dim * 16, 3), *turns = numbers(dim * 16, 1);
  float *before = malloc(heads * dim * 16 * sizeof *before);
  memcpy(before, x, heads * dim * 16 * sizeof *before);
  kernels->rotate_f32(x, heads, dim, turns);
  for (size_t t = 0; t < 16; t++)
    for (size_t h = 0; h < heads; h++)
      for (size_t d = 0; d < dim / 2; d++) {
        const double cosine = turns[d * 32 + t], sine = turns[d * 32 + 16 + t];
        const double a = before[(h * dim + d) * 16 + t],
                     b = before[(h * dim + dim / 2 + d) * 16 + t];
        CHECK(fabs(x[(h * dim + d) * 16 + t] - (a * cosine - b * sine)) < 2e-6, "rotate_f32");
        CHECK(fabs(x[(h * dim + dim / 2 + d) * 16 + t] - (b * cosine + a * sine)) < 2e-6,
              "rotate_f32");
      }
  free(x), free(turns), free(before);
}

// y[i] = f(x[i]) for i < n ≤ 32 and an epilogue's activation f, by a linear layer with one input and
// weights of 0: f of its bias.
static int32_t mapped;
static void map_activation(const float *x, size_t n, float *y) {
  const float zeros[32] = {0};
  float lanes[32 * 16];
  kernels->linear_f32(zeros, x, zeros, 1, 1, n, mapped, lanes, n * 16);
  for (size_t i = 0; i < n; i++) y[i] = lanes[i * 16 + i % 16];
}

// f over all exponents and signs: `relative` of the exact value, or of |x| for a GELU; and for SiLU, which
// is 0 where exp(-x) is infinite, 1e-36.
static void test_map(const char *name, void (*map)(const float *, size_t, float *),
                     double (*f)(double), double relative) {
  enum { STEP = 40503 };
  for (uint64_t bits = 0; bits < (1ull << 32); bits += STEP * 16) {
    float x[17], y[17];
    for (uint32_t i = 0; i < 17; i++) {
      const uint32_t b = (uint32_t)bits + i * STEP;
      memcpy(&x[i], &b, sizeof b);
    }
    map(x, 17, y);
    for (int i = 0; i < 17; i++) {
      const double least = f == silu ? 1e-36 : 0x1p-149 * 1.01;
      const double exact = f(x[i]), size = f == gelu || f == gelu_tanh ? fabs(x[i]) : fabs(exact);
      if (isnan(x[i]))
        CHECK(isnan(y[i]), "%s(nan) = %g", name, y[i]);
      else if (isinf((float)exact) || isinf(x[i]))
        continue;
      else
        CHECK(fabs(y[i] - exact) <= relative * size + least, "%s(%g) = %g", name, x[i], y[i]);
    }
  }
}

// The public header has the same constants. Each number up to the last has a name.
#define SAME(number, constant, name, architecture)                                           \
  _Static_assert((int)BERTQA_ISA_##constant == number && (int)BQ_ISA_##constant == number && \
                     number <= BQ_ISA_LAST,                                                  \
                 #name);
BQ_INSTRUCTION_SETS(SAME)
_Static_assert((int)BERTQA_ISA_AUTO == BQ_ISA_AUTO, "auto");

static void test_names(void) {
  for (int32_t isa = 0; isa <= BQ_ISA_LAST; isa++) {
    CHECK(bq_isa_name(isa) != NULL, "instruction set %d has no name", isa);
  }
  CHECK(strcmp(bq_isa_name(BQ_ISA_AUTO), "auto") == 0, "%s", bq_isa_name(BQ_ISA_AUTO));
  CHECK(strcmp(bq_isa_name(BQ_ISA_AVX2_VNNI), "avx2_vnni") == 0, "%s", bq_isa_name(BQ_ISA_AVX2_VNNI));
  CHECK(!bq_isa_name(-1) && !bq_isa_name(BQ_ISA_LAST + 1), "a number without meaning has a name");
}

// Argument: the name of the instruction set that must be the chosen one.
int main(int argc, char **argv) {
  const char *best = bq_isa_name(bq_best_isa());
  if (argc > 1 && strcmp(best, argv[1]) != 0) {
    fprintf(stderr, "instruction set %s is chosen, not %s\n", best, argv[1]);
    return 1;
  }
  test_names();
  for (int32_t isa = BQ_ISA_PORTABLE; isa <= BQ_ISA_LAST; isa++) {
    kernels = bq_kernels_for(isa);
    if (!kernels) {
      if (!bq_isa_is_native(isa)) continue;
      printf("instruction set %s: skipped, this CPU or build lacks it\n", bq_isa_name(isa));
      continue;
    }
    const int before = failures;
    for (int32_t epilogue = BQ_EPILOGUE_BIAS; epilogue <= BQ_EPILOGUE_GATE; epilogue++) {
      test_linear(1, 1, 1, epilogue);
      test_linear(3, 37, 29, epilogue);
      test_linear(2, 64, 13, epilogue);
    }
    // Rows that share a set of the L1 cache have tiles of their own.
    test_linear(3, 1024, 29, BQ_EPILOGUE_BIAS);
    test_int8_extremes(3, 4096, 29, 16);
    test_int8(1, 4, 1);
    test_int8(3, 64, 29);
    test_int8(5, 84, 13);
    test_int8(3, 64, 69);
    for (size_t stride = 1; stride <= 64; stride *= 4) {
      test_int8_extremes(1, 4, 1, stride);
      test_int8_extremes(4, 100, 19, stride);
      test_int8_extremes(7, 516, 29, stride);
      test_int8_extremes(5, 576, 53, stride);
      test_int8_extremes(2, 520, 13, stride);  // a large step among the last, which are added one by one
    }
    test_int8(35, 44, 9);
    for (size_t in = 4; in <= 64; in += 4) test_extremes(in);
    for (int32_t format = BQ_FORMAT_F32; format <= BQ_FORMAT_BF16; format++) {
      test_rows(format, 1, 1, 1);
      test_rows(format, 9, 37, 29);
      test_rows(format, 15, 64, 13);
    }
    test_first_nonfinite();
    for (int32_t format = BQ_FORMAT_F32; format <= BQ_FORMAT_S8; format++) {
      test_sum_rows(format, 0, 3);
      test_sum_rows(format, 7, 16);
      test_sum_rows(format, 20, 259);
    }
    test_cells(1);
    test_cells(37);
    test_norm(1, 1 + 3);
    test_norm(2, 101);
    test_rotate(1, 2);
    test_rotate(3, 14);
    test_attentions();
    test_bf16();
    test_map("exp", kernels->exp_f32, exp, 2.4e-7);
    test_map("tanh", kernels->tanh_f32, tanh, 2e-7);
    for (mapped = BQ_EPILOGUE_BIAS; mapped <= BQ_EPILOGUE_TANH; mapped++)
      if (activations[mapped])
        test_map("activation", map_activation, activations[mapped],
                 mapped == BQ_EPILOGUE_RELU ? 0 : 6e-7);
    printf("instruction set %s: %s\n", bq_isa_name(isa), failures > before ? "FAILED" : "ok");
  }
  return failures != 0;
}
