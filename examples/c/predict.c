/* Continues a text word by word with a recurrent language model and its state.
 *
 *     ./predict "O Romeo"
 *
 * A second argument is the directory of a model that replaces the default one. */
#include <bertqa_experimental.h>
#include <stdio.h>
#include <string.h>

/* Prints each word as it arrives. 0 continues. */
static int32_t print_word(void *user, const bertqa_word *word) {
  (void)user;
  printf(" %.*s", (int)word->length, word->text);
  fflush(stdout);
  return 0;
}

/* Prints the next words after a state. A prediction must first read a word, here a comma. */
static bertqa_status print_next(const bertqa_context *context, const bertqa_sequence_state *state) {
  bertqa_sequence_options options = {.struct_size = sizeof options, .top_k = 5};
  bertqa_prediction *prediction;
  bertqa_status status = bertqa_sequence_predict(context, ",", 1, state, &options, &prediction, NULL);
  if (status != BERTQA_OK) return status;
  for (size_t i = 0; i < bertqa_prediction_count(prediction); i++) {
    const bertqa_word *word = bertqa_prediction_get(prediction, i);
    printf("  %.3f %s\n", word->probability, word->text);
  }
  bertqa_prediction_free(prediction);
  return BERTQA_OK;
}

int main(int argc, char **argv) {
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: %s PROMPT [MODEL_DIRECTORY]\n", argv[0]);
    return 2;
  }
  bertqa_context *context = NULL;
  bertqa_generation *generation = NULL;
  bertqa_context_options options = {.struct_size = sizeof options,
                                    .default_model = BERTQA_TASK_PREDICT};
  bertqa_status status =
      bertqa_context_create(argc > 2 ? argv[2] : NULL, &options, &context);

  bertqa_generate_options generate = {
      .struct_size = sizeof generate, .max_words = 40, .on_word = print_word};
  if (status == BERTQA_OK) {
    printf("%s", argv[1]);
    status = bertqa_sequence_generate(context, argv[1], strlen(argv[1]), NULL, &generate, &generation);
    printf("\n");
  }
  if (status == BERTQA_OK) {
    /* The state after the last word. Any number of sequences can continue from it. */
    printf("%zu words; and after another comma:\n", bertqa_generation_count(generation));
    status = print_next(context, bertqa_generation_state(generation));
  }

  bertqa_sequence_score score = BERTQA_SEQUENCE_SCORE_INIT;
  if (status == BERTQA_OK)
    status = bertqa_sequence_likelihood(context, argv[1], strlen(argv[1]), NULL, NULL, &score);
  if (status == BERTQA_OK)
    printf("perplexity of the prompt: %.1f, unknown words: %zu\n", score.perplexity, score.unknown_count);
  if (status != BERTQA_OK) fprintf(stderr, "%s: %s\n", argv[0], bertqa_last_error());

  bertqa_generation_free(generation);
  bertqa_context_free(context);
  return status == BERTQA_OK ? 0 : 1;
}
