/* Answers one question about one document.
 *
 *     ./answer "Who jumped over the dog?" "The quick brown fox jumps over the lethargic dog."
 *     ./answer "Who jumped over the dog?" - < document.txt
 *
 * A third argument is the directory of a model that replaces the default one. */
#include <bertqa.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads all of standard input. The caller frees the text; NULL with errno set on failure. */
static char *read_input(size_t *length) {
  size_t capacity = 1 << 16;
  char *text = malloc(capacity);
  *length = 0;
  while (text != NULL) {
    *length += fread(text + *length, 1, capacity - *length, stdin);
    if (*length < capacity && !ferror(stdin)) return text;
    capacity *= 2;
    char *larger = ferror(stdin) ? NULL : realloc(text, capacity);
    if (larger == NULL) free(text);
    text = larger;
  }
  return NULL;
}

int main(int argc, char **argv) {
  if (argc < 3 || argc > 4) {
    fprintf(stderr, "usage: %s QUESTION DOCUMENT|- [MODEL_DIRECTORY]\n", argv[0]);
    return 2;
  }
  const char *question = argv[1];
  int from_input = strcmp(argv[2], "-") == 0;
  size_t length = strlen(argv[2]);
  char *document = from_input ? read_input(&length) : argv[2];
  if (document == NULL) {
    perror(argv[0]);
    return 1;
  }

  bertqa_answer_options options = {.struct_size = sizeof options, .top_k = 3};

  bertqa_context *context;
  bertqa_answers *answers;
  if (bertqa_context_create(argc > 3 ? argv[3] : NULL, NULL, &context) != BERTQA_OK ||
      bertqa_answer(context, question, strlen(question), document, length, &options, &answers) !=
          BERTQA_OK) {
    fprintf(stderr, "%s: %s\n", argv[0], bertqa_last_error());
    return 1;
  }

  if (bertqa_answers_summary(answers)->is_impossible) {
    puts("The document does not seem to answer this. The best guesses:");
  }
  for (size_t rank = 0; rank < bertqa_answers_count(answers); rank++) {
    const bertqa_answer_span *answer = bertqa_answers_get(answers, rank);
    printf("%5.1f %%  %.*s\n", 100 * answer->probability,
           (int)(answer->bytes.end - answer->bytes.start), document + answer->bytes.start);
  }

  bertqa_answers_free(answers);
  bertqa_context_free(context);
  if (from_input) free(document);
  return 0;
}
