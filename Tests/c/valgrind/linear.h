/* Calls functions on inputs of 1, 2, 4 and 8 times a size, and has callgrind count the instructions of each call:
 * Tests/c/linear.sh compares them. argv of these programs: the directory of the fixtures, that of the installed
 * models, the size of the smallest texts in bytes, and a part of the names of the functions to call. */
#ifndef LINEAR_H
#define LINEAR_H

#include <bertqa_experimental.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/callgrind.h>

static const char *fixtures, *models, *wanted;

static void require(bertqa_status status) {
  if (status == BERTQA_OK) return;
  fprintf(stderr, "%s: %s\n", bertqa_status_name(status), bertqa_last_error());
  exit(1);
}

static inline bertqa_context *load(const char *directory, const char *name, bertqa_switch tokenizer_only) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  bertqa_context_options options = BERTQA_CONTEXT_OPTIONS_INIT;
  options.threads = 1;
  options.isa = BERTQA_ISA_PORTABLE;
  options.tokenizer_only = tokenizer_only;
  bertqa_context *context;
  require(bertqa_context_create(path, &options, &context));
  return context;
}

static char *repeated(const char *unit, size_t size) {
  char *text = malloc(size);
  const size_t length = strlen(unit);
  for (size_t i = 0; i < size; i++) text[i] = unit[i % length];
  return text;
}

static void measure(const char *function, void (*run)(const char *, size_t), const char *name, const char *unit,
                    size_t base) {
  if (strstr(function, wanted) == NULL) return;
  for (size_t times = 1; times <= 8; times *= 2) {
    char *text = repeated(unit, base * times), title[256];
    if (times == 1) run(text, base); /* the first time does more */
    snprintf(title, sizeof title, "%s;%s;%zu;%zu", function, name, times, base);
    CALLGRIND_ZERO_STATS;
    run(text, base * times);
    CALLGRIND_DUMP_STATS_AT(title);
    free(text);
  }
}

/* The size of the smallest texts. */
static size_t begin(int argc, char **argv) {
  if (argc != 5) exit(2);
  fixtures = argv[1];
  models = argv[2];
  wanted = argv[4];
  return (size_t)atol(argv[3]);
}

#endif
