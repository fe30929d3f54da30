/* Bytes of a sequence's state. The first picks the model. What is read comes out as it went in. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static bertqa_context *contexts[3];
  if (contexts[0] == NULL) {
    contexts[0] = fixture("tiny-lstm", BERTQA_OFF);
    contexts[1] = fixture("tiny-gru", BERTQA_OFF);
    contexts[2] = fixture("tiny-bert", BERTQA_OFF);
  }
  if (size == 0) return 0;
  const bertqa_context *context = contexts[*data % 3];
  data++;
  size--;
  bertqa_sequence_state *state = NULL;
  if (is_ok(bertqa_sequence_state_deserialize(context, data, size, &state))) {
    size_t needed = 0;
    uint8_t *bytes = malloc(size);
    REQUIRE(is_ok(bertqa_sequence_state_serialize(state, bytes, size, &needed)));
    REQUIRE(needed == size && memcmp(bytes, data, size) == 0);
    free(bytes);
    bertqa_sequence_score score = BERTQA_SEQUENCE_SCORE_INIT;
    is_ok(bertqa_sequence_likelihood(context, "the king", 8, state, NULL, &score));
  }
  bertqa_sequence_state_free(state);
  /* The same bytes as floats, which need not be aligned or of the right number. */
  size_t length = size / sizeof(float);
  float *values = malloc(size + 1);
  if (size > 0) memcpy(values, data, size);
  if (is_ok(bertqa_sequence_state_import(context, values, length, &state))) {
    bertqa_prediction *prediction;
    if (is_ok(bertqa_sequence_predict(context, "king", 4, state, NULL, &prediction, NULL)))
      bertqa_prediction_free(prediction);
    bertqa_sequence_state_free(state);
  }
  free(values);
  return 0;
}
