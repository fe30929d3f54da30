/* Classifies a text and shows the words with the greatest weight.
 *
 *     ./classify TEXT [MODEL_DIRECTORY]
 *
 * The default model knows five news topics; train_classifier.c trains others. */
#include <bertqa.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: %s TEXT [MODEL_DIRECTORY]\n", argv[0]);
    return 2;
  }
  bertqa_context_options context_options = {
      .struct_size = sizeof context_options, .default_model = BERTQA_TASK_CLASSIFY};
  bertqa_classify_options options = {.struct_size = sizeof options, .contributions = 5};

  bertqa_context *context;
  bertqa_classification *result;
  if (bertqa_context_create(argc > 2 ? argv[2] : NULL, &context_options, &context) != BERTQA_OK ||
      bertqa_classify(context, argv[1], strlen(argv[1]), &options, &result) != BERTQA_OK) {
    fprintf(stderr, "%s: %s\n", argv[0], bertqa_last_error());
    return 1;
  }
  bertqa_context_free(context);

  if (bertqa_classification_summary(result)->is_too_short) printf("not enough text\n");
  for (size_t i = 0; i < bertqa_classification_count(result); i++) {
    const bertqa_label_score *score = bertqa_classification_get(result, i);
    printf("%.4f  %s\n", score->probability, score->label);
  }
  for (size_t i = 0; i < bertqa_classification_contribution_count(result); i++) {
    const bertqa_contribution *word = bertqa_classification_contribution_get(result, i);
    int length = (int)(word->bytes.end - word->bytes.start);
    printf("%+8.4f  %.*s\n", word->weight, length, argv[1] + word->bytes.start);
  }
  bertqa_classification_free(result);
  return 0;
}
