/* Loads a tiny model and answers: what Tests/c/valgrind.sh watches. argv: the directory, the bertqa_isa, and the
 * directories of further models, which are loaded only. */
#include <bertqa.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fails(const char *what, bertqa_status status) {
  if (status == BERTQA_OK) return 0;
  fprintf(stderr, "%s: %s\n", what, bertqa_last_error());
  return 1;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  static const char document[] = "in 1066 the united king of france was made in the city; the fox is not known there.";
  bertqa_context_options options = BERTQA_CONTEXT_OPTIONS_INIT;
  options.threads = 1;
  options.isa = atoi(argv[2]);
  static const int32_t precisions[] = {BERTQA_PRECISION_F32, BERTQA_PRECISION_INT8};
  for (size_t p = 0; p < 2; p++) {
    options.precision = precisions[p];
    bertqa_context *context = NULL;
    bertqa_answers *answers = NULL;
    bertqa_tokens *tokens = NULL;
    bertqa_document *prepared = NULL;
    if (fails("context", bertqa_context_create(argv[1], &options, &context))) return 1;
    if (fails("tokens", bertqa_tokenize(context, document, strlen(document), NULL, &tokens))) return 1;
    if (fails("document", bertqa_document_create(context, document, strlen(document), NULL, &prepared))) return 1;
    if (fails("answer", bertqa_document_answer(context, prepared, "who?", 4, NULL, &answers))) return 1;
    /* The sum, which printf() branches on, depends on every bit of the result: one that was never written is reported. */
    const bertqa_answer_summary *summary = bertqa_answers_summary(answers);
    unsigned sum = 0;
    for (size_t i = 0; i < sizeof *summary; i++) sum += ((const unsigned char *)summary)[i];
    for (size_t k = 0; k < bertqa_answers_count(answers); k++) {
      const unsigned char *bytes = (const void *)bertqa_answers_get(answers, k);
      for (size_t i = 0; i < sizeof(bertqa_answer_span); i++) sum += bytes[i];
    }
    printf("%s: %zu answers, %u\n", bertqa_precision_name(precisions[p]), bertqa_answers_count(answers), sum);
    bertqa_answers_free(answers);
    bertqa_document_free(prepared);
    bertqa_tokens_free(tokens);
    bertqa_context_free(context);
  }
  options.precision = BERTQA_PRECISION_AUTO;
  for (int i = 3; i < argc; i++) {
    bertqa_context *context = NULL;
    if (fails(argv[i], bertqa_context_create(argv[i], &options, &context))) return 1;
    bertqa_context_free(context);
  }
  return 0;
}
