/* Asks one document several questions: it is read and tokenized once.
 *
 *     ./document FILE QUESTION...
 *
 * Prints each answer with the sentence it stands in, or "no answer" where the document seems to
 * have none. */
#include <bertqa.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The bytes of a file, to be freed; NULL with errno set. */
static char *read_file(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return NULL;
  char *text = NULL;
  long size;
  if (fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0 && fseek(file, 0, SEEK_SET) == 0 &&
      (text = malloc((size_t)size + 1)) != NULL) {
    *length = fread(text, 1, (size_t)size, file);
  }
  fclose(file);
  return text;
}

static void print_range(const char *label, const char *text, bertqa_range range) {
  printf("%s%.*s\n", label, (int)(range.end - range.start), text + range.start);
}

static int failed(const char *program) {
  fprintf(stderr, "%s: %s\n", program, bertqa_last_error());
  return 1;
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

  bertqa_context *context;
  bertqa_document *document;
  if (bertqa_context_create(NULL, NULL, &context) != BERTQA_OK ||
      bertqa_document_create(context, text, length, &document) != BERTQA_OK) {
    return failed(argv[0]);
  }

  bertqa_answer_options options;
  bertqa_answer_options_init(&options, sizeof options);
  options.handle_impossible_answer = 1;
  for (int i = 2; i < argc; i++) {
    bertqa_answers *answers;
    if (bertqa_document_answer(context, document, argv[i], strlen(argv[i]), &options, &answers) !=
        BERTQA_OK) {
      return failed(argv[0]);
    }
    printf("%s\n", argv[i]);
    if (bertqa_answers_count(answers) == 0) {
      puts("  no answer");
    } else {
      const bertqa_answer_span *best = bertqa_answers_get(answers, 0);
      print_range("  ", text, best->bytes);
      print_range("  in: ", text, best->sentence);
    }
    bertqa_answers_free(answers);
  }

  bertqa_document_free(document);
  bertqa_context_free(context);
  free(text);
  return 0;
}
