/* Trains a classifier on lines of standard input: a label, a tab and a text.
 *
 *     ./train_classifier MODEL_DIRECTORY < DATA
 *
 * MODEL_DIRECTORY must not exist. */
#define _GNU_SOURCE /* getline */
#include <bertqa_experimental.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void show(void *user, const char *stage, double fraction) {
  (void)user;
  fprintf(stderr, "\r%s %3.0f %% ", stage, 100 * fraction);
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
  bertqa_trainer *trainer;
  if (bertqa_trainer_create(NULL, &trainer) != BERTQA_OK) return fail(argv[0]);

  char *line = NULL;
  size_t room = 0, number = 0;
  for (ssize_t length; (length = getline(&line, &room, stdin)) > 0;) {
    number++;
    if (line[length - 1] == '\n') length--;
    const char *label = line, *end = line + length;
    /* Some editors write a byte order mark at the start of a file. */
    if (number == 1 && length >= 3 && memcmp(label, "\xEF\xBB\xBF", 3) == 0) label += 3;
    const char *tab = memchr(label, '\t', (size_t)(end - label));
    if (tab == NULL) {
      fprintf(stderr, "%s: line %zu has no tab\n", argv[0], number);
      return 1;
    }
    if (bertqa_trainer_add(trainer, tab + 1, (size_t)(end - tab - 1), label, (size_t)(tab - label), NULL) !=
        BERTQA_OK)
      return fail(argv[0]);
  }
  if (!feof(stdin)) {
    perror(argv[0]);
    return 1;
  }
  free(line);

  const bertqa_call_options call = {.struct_size = sizeof call, .progress = show};
  bertqa_training_report *report;
  if (bertqa_trainer_finish(trainer, argv[1], &call, &report) != BERTQA_OK) return fail(argv[0]);
  bertqa_trainer_free(trainer);
  const bertqa_training_summary *summary = bertqa_training_report_summary(report);
  printf("\n%zu texts, %zu words, accuracy %.3f\n", summary->text_count, summary->vocabulary_size,
         summary->accuracy);
  for (size_t i = 0; i < bertqa_training_report_label_count(report); i++) {
    const bertqa_training_label *label = bertqa_training_report_label_get(report, i);
    printf("%8zu  F1 %.3f  %s\n", label->text_count, label->f1, label->label);
  }
  bertqa_training_report_free(report);
  return 0;
}
