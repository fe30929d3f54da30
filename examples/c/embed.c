/* Ranks texts by how near they are to a query in meaning.
 *
 *     ./embed MODEL_DIRECTORY QUERY TEXT...
 *
 * MODEL_DIRECTORY holds a sentence encoder, such as all-MiniLM-L6-v2. */
#include <bertqa.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  if (argc < 4) {
    fprintf(stderr, "usage: %s MODEL_DIRECTORY QUERY TEXT...\n", argv[0]);
    return 2;
  }
  size_t count = (size_t)argc - 2; /* the query and the texts */
  bertqa_context *context;
  if (bertqa_context_create(argv[1], NULL, &context) != BERTQA_OK) {
    fprintf(stderr, "%s: %s\n", argv[0], bertqa_last_error());
    return 1;
  }

  size_t length = bertqa_context_info(context)->embedding_length;
  bertqa_text_pair *texts = calloc(count, sizeof *texts);
  float *vectors = calloc(count * length + 1, sizeof *vectors);
  if (texts == NULL || vectors == NULL) return 1;
  for (size_t i = 0; i < count; i++)
    texts[i] = (bertqa_text_pair){argv[i + 2], strlen(argv[i + 2]), NULL, 0};

  /* Of length 1, so that the dot product is the cosine. */
  bertqa_embed_options options = {.struct_size = sizeof options, .normalize = BERTQA_ON};
  if (bertqa_embed(context, texts, count, &options, vectors, count * length, NULL) != BERTQA_OK) {
    fprintf(stderr, "%s: %s\n", argv[0], bertqa_last_error());
    return 1;
  }
  bertqa_context_free(context);

  for (size_t i = 1; i < count; i++) {
    float cosine = 0;
    for (size_t k = 0; k < length; k++) cosine += vectors[k] * vectors[i * length + k];
    printf("%6.3f  %s\n", cosine, argv[i + 2]);
  }
  free(texts);
  free(vectors);
  return 0;
}
