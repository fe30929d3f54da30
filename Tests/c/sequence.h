/* Two recurrent models, and what tests of their sequences share. */
#ifndef SEQUENCE_H
#define SEQUENCE_H

#include "check.h"

static bertqa_context *context, *other; /* two models */
static size_t vocabulary, length;

/* Options whose top_k is this. */
static const bertqa_sequence_options *top(int32_t k) {
  static bertqa_sequence_options options = BERTQA_SEQUENCE_OPTIONS_INIT;
  options.top_k = k;
  return &options;
}

static int same_state(const bertqa_sequence_state *a, const bertqa_sequence_state *b) {
  float left[512], right[512];
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_state_export(a, left, length));
  CHECK_STATUS(BERTQA_OK, bertqa_sequence_state_export(b, right, length));
  return memcmp(left, right, length * sizeof(float)) == 0;
}

static void begin_sequences(int argc, char **argv) {
  begin(argc, argv);
  context = fixture_context("tiny-lstm", 2);
  other = fixture_context("tiny-gru", 1);
  vocabulary = bertqa_context_info(context)->vocabulary_size;
  length = bertqa_context_sequence_info(context)->state_length;
}

static int finish_sequences(void) {
  bertqa_context_free(context);
  bertqa_context_free(other);
  return finish();
}

#endif
