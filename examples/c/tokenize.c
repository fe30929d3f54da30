/* Prints the tokens of a text: ID, piece, and byte range in the text.
 *
 *     ./tokenize VOCABULARY TEXT
 *
 * VOCABULARY is a model directory, a vocab.txt or a tokenizer.json. No weights are needed. */
#include <bertqa.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s VOCABULARY TEXT\n", argv[0]);
    return 2;
  }
  const char *text = argv[2];

  bertqa_context_options options = {.struct_size = sizeof options, .tokenizer_only = BERTQA_ON};

  bertqa_context *context;
  bertqa_tokens *tokens;
  if (bertqa_context_create(argv[1], &options, &context) != BERTQA_OK ||
      bertqa_tokenize(context, text, strlen(text), NULL, &tokens) != BERTQA_OK) {
    fprintf(stderr, "%s: %s\n", argv[0], bertqa_last_error());
    return 1;
  }

  const int32_t *ids = bertqa_tokens_ids(tokens);
  const bertqa_range *ranges = bertqa_tokens_ranges(tokens);
  for (size_t i = 0; i < bertqa_tokens_count(tokens); i++) {
    printf("%6d  %-16s %.*s\n", (int)ids[i], bertqa_context_vocabulary_piece(context, ids[i], NULL),
           (int)(ranges[i].end - ranges[i].start), text + ranges[i].start);
  }

  bertqa_tokens_free(tokens);
  bertqa_context_free(context);
  return 0;
}
