/* Ranks texts by their similarity in meaning to a query.
 *
 *     ./embed QUERY TEXT... */
#include <bertqa.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: %s QUERY TEXT...\n", argv[0]);
    return 2;
  }
  size_t count = (size_t)argc - 1; /* the query and the texts */
  /* NULL selects the default embedding model; a directory selects another one. */
  bertqa_context_options model = {.struct_size = sizeof model, .default_model = BERTQA_TASK_EMBED};
  bertqa_context *context;
  if (bertqa_context_create(NULL, &model, &context) != BERTQA_OK) {
    fprintf(stderr, "%s: %s\n", argv[0], bertqa_last_error());
    return 1;
  }

  size_t length = bertqa_context_info(context)->embedding_length;
  bertqa_text_pair *texts = calloc(count, sizeof *texts);
  float *vectors = calloc(count * length + 1, sizeof *vectors);
  if (texts == NULL || vectors == NULL) {
    perror(argv[0]);
    return 1;
  }
  for (size_t i = 0; i < count; i++)
    texts[i] = (bertqa_text_pair){argv[i + 1], strlen(argv[i + 1]), NULL, 0};

  /* Vectors of length 1: the dot product is then the cosine. */
  bertqa_embed_options options = {.struct_size = sizeof options, .normalize = BERTQA_ON};
  if (bertqa_embed(context, texts, count, &options, vectors, count * length, NULL) != BERTQA_OK) {
    fprintf(stderr, "%s: %s\n", argv[0], bertqa_last_error());
    return 1;
  }
  bertqa_context_free(context);

  for (size_t i = 1; i < count; i++) {
    float cosine = 0;
    for (size_t k = 0; k < length; k++) cosine += vectors[k] * vectors[i * length + k];
    printf("%6.3f  %s\n", cosine, argv[i + 1]);
  }
  free(texts);
  free(vectors);
  return 0;
}
