/* Asks one document several questions. The document is tokenized once, and one call answers all.
 *
 *     ./document FILE QUESTION...
 *
 * Prints each answer with the sentence around it, or "no answer" if the document does not seem
 * to have one. */
#include <bertqa.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads a file or a pipe. The caller frees the text; NULL with errno set on failure. */
static char *read_file(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return NULL;
  char *text = NULL, *larger;
  size_t room = 1 << 16;
  *length = 0;
  while ((larger = realloc(text, room)) != NULL) {
    text = larger;
    *length += fread(text + *length, 1, room - *length, file);
    if (*length < room) break;
    room *= 2;
  }
  if (larger == NULL || ferror(file)) {
    free(text);
    text = NULL;
  }
  fclose(file);
  return text;
}

static void print_range(const char *label, const char *text, bertqa_range range) {
  printf("%s%.*s\n", label, (int)(range.end - range.start), text + range.start);
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: %s FILE QUESTION...\n", argv[0]);
    return 2;
  }
  size_t length = 0;
  char *text = read_file(argv[1], &length);
  if (text == NULL) {
    perror(argv[1]);
    return 1;
  }

  size_t count = (size_t)argc - 2;
  bertqa_text *questions = calloc(count, sizeof *questions);
  bertqa_answers **answers = calloc(count, sizeof *answers);
  if (questions == NULL || answers == NULL) {
    perror(argv[0]);
    return 1;
  }
  for (size_t i = 0; i < count; i++) questions[i] = (bertqa_text){argv[i + 2], strlen(argv[i + 2])};

  bertqa_context *context;
  bertqa_document *document;
  bertqa_answer_options options = {.struct_size = sizeof options,
                                   .handle_impossible_answer = BERTQA_ON};
  if (bertqa_context_create(NULL, NULL, &context) != BERTQA_OK ||
      bertqa_document_create(context, text, length, NULL, &document) != BERTQA_OK ||
      bertqa_document_answer_batch(context, document, questions, count, &options, answers, NULL) !=
          BERTQA_OK) {
    fprintf(stderr, "%s: %s\n", argv[0], bertqa_last_error());
    return 1;
  }
  for (size_t i = 0; i < count; i++) {
    printf("%s\n", questions[i].text);
    if (bertqa_answers_count(answers[i]) == 0) {
      puts("  no answer");
    } else {
      const bertqa_answer_span *best = bertqa_answers_get(answers[i], 0);
      print_range("  ", text, best->bytes);
      print_range("  in: ", text, best->sentence);
    }
    bertqa_answers_free(answers[i]);
  }

  bertqa_document_free(document);
  bertqa_context_free(context);
  free(questions);
  free(answers);
  free(text);
  return 0;
}
