/* Trains a classifier on lines of standard input, each a label, a tab and a text.
 *
 *     ./train_classifier MODEL_DIRECTORY < DATA
 *
 * MODEL_DIRECTORY must not exist. */
#include <bertqa.h>
#include <stdio.h>
#include <string.h>

static int32_t show(void *user, const char *stage, double fraction) {
  (void)user;
  fprintf(stderr, "\r%s %3.0f %% ", stage, 100 * fraction);
  return 0; /* not 0 would end the training */
}

static int fail(const char *program) {
  fprintf(stderr, "%s: %s\n", program, bertqa_last_error());
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s MODEL_DIRECTORY < DATA\n", argv[0]);
    return 2;
  }
  bertqa_train_options options;
  bertqa_train_options_init(&options, sizeof options);
  options.progress = show;
  bertqa_trainer *trainer;
  if (bertqa_trainer_create(&options, &trainer) != BERTQA_OK) return fail(argv[0]);

  static char line[1 << 20];
  while (fgets(line, sizeof line, stdin) != NULL) {
    char *tab = strchr(line, '\t');
    if (tab == NULL) continue;
    size_t length = strcspn(tab + 1, "\n");
    if (bertqa_trainer_add(trainer, tab + 1, length, line, (size_t)(tab - line)) != BERTQA_OK)
      return fail(argv[0]);
  }

  const bertqa_training_report *report;
  if (bertqa_trainer_finish(trainer, argv[1], &report) != BERTQA_OK) return fail(argv[0]);
  bertqa_trainer_free(trainer);
  printf("\n%zu texts, %zu words, accuracy %.3f\n", report->text_count, report->vocabulary_size,
         report->accuracy);
  for (size_t i = 0; i < report->label_count; i++) {
    printf("%8zu  %s\n", report->label_texts[i], report->labels[i]);
  }
  bertqa_training_report_free(report);
  return 0;
}
