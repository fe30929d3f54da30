#include "kernels.h"

int32_t bq_best_isa(void) { return BQ_ISA_PORTABLE; }

const bq_kernels *bq_kernels_for(int32_t isa) {
  (void)isa;
  return NULL;
}

size_t bq_attention_scratch(size_t tokens) { return tokens * BQ_LANES; }
