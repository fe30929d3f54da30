// Shared by the tests of the kernels.
#ifndef BERTQA_KERNELS_TESTING_H
#define BERTQA_KERNELS_TESTING_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"

extern int failures;
extern const bq_kernels *kernels;  // those under test

#define CHECK(condition, ...)                                                           \
  do {                                                                                  \
    if (!(condition) && failures++ < 20) {                                              \
      fprintf(stderr, "%s:%d: instruction set %d: ", __FILE__, __LINE__, kernels->isa); \
      fprintf(stderr, __VA_ARGS__);                                                     \
      fputc('\n', stderr);                                                              \
    }                                                                                   \
  } while (0)

// A number in [-range, range] from a fixed sequence.
float number(float range);

// `n` floats in memory of exactly that size, for the address sanitizer.
float *numbers(size_t n, float range);

static inline size_t at(size_t token, size_t feature, size_t features) {
  return (token / 16 * features + feature) * 16 + token % 16;
}

// The activations by their epilogues; NULL for the others.
extern double (*const activations[])(double);

void test_attentions(void);
void test_bf16(void);

#endif
