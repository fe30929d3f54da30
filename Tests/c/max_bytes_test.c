/* bertqa_call_options.max_bytes bounds what a call takes, in every function that has it: what malloc has given out at
 * most during a call, less what there was before, stays within the limit, whatever the result; and a limit that is well
 * above what the call needs is no failure. */
#include <errno.h>
#include <malloc.h>

#include "max_bytes_calls.h"

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static _Atomic long live, peak;

static void add(long size) {
  const long now = atomic_fetch_add(&live, size) + size;
  long highest = atomic_load(&peak);
  while (now > highest && !atomic_compare_exchange_weak(&peak, &highest, now)) continue;
}

static void *taken(void *memory) {
  if (memory != NULL) add((long)malloc_usable_size(memory));
  return memory;
}

void *malloc(size_t size) { return taken(__libc_malloc(size)); }
void *calloc(size_t count, size_t size) { return taken(__libc_calloc(count, size)); }
void *memalign(size_t alignment, size_t size) { return taken(__libc_memalign(alignment, size)); }
void *aligned_alloc(size_t alignment, size_t size) {
  return taken(__libc_memalign(alignment, size));
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
  void *fresh = taken(__libc_memalign(alignment, size));
  if (fresh == NULL) return ENOMEM;
  *memory = fresh;
  return 0;
}

void *realloc(void *memory, size_t size) {
  const long before = memory == NULL ? 0 : (long)malloc_usable_size(memory);
  void *fresh = __libc_realloc(memory, size);
  if (fresh != NULL) add((long)malloc_usable_size(fresh) - before);
  return fresh;
}

void free(void *memory) {
  if (memory != NULL) add(-(long)malloc_usable_size(memory));
  __libc_free(memory);
}

/* Memory that is not counted: small objects, the memory that a model takes to read a window, and
 * half of what is kept for the next call. */
enum { SLACK = 1 << 20 };

/* The most that a call took. */
static long growth(const function *one, uint64_t limit, bertqa_status *status) {
  call.max_bytes = limit;
  const long before = atomic_load(&live);
  atomic_store(&peak, before);
  *status = one->run();
  return atomic_load(&peak) - before;
}

static void check_limits(const function *one, const char *kind) {
  bertqa_status status;
  (void)growth(one, 0, &status); /* makes what is kept for later calls */
  const long needed = growth(one, 0, &status);
  check(status == BERTQA_OK, __FILE__, __LINE__, one->name, bertqa_last_error());
  fprintf(report, "%-44s %-6s %9ld", one->name, kind, needed);
  for (int eighths = 1; eighths <= 8; eighths += 2 + eighths / 5) {
    const long limit = needed * eighths / 8 + 1;
    const long taken = growth(one, (uint64_t)limit, &status);
    fprintf(report, " %+ld%s", (taken - limit) / 1024, status == BERTQA_OK ? "" : "!");
    char detail[160];
    snprintf(detail, sizeof detail, "took %ld bytes of %ld (%s, %s)", taken, limit, kind,
             bertqa_status_name(status));
    check(taken <= limit + SLACK, __FILE__, __LINE__, one->name, detail);
    check(status == BERTQA_OK || status == BERTQA_ERROR_TOO_LARGE, __FILE__, __LINE__, one->name,
          detail);
  }
  fprintf(report, "\n");
  (void)growth(one, (uint64_t)(3 * needed + SLACK), &status);
  check(status == BERTQA_OK, __FILE__, __LINE__, one->name, bertqa_last_error());
}

static void use_text(const char *unit, size_t size) {
  free(text);
  free(output);
  text = unit == NULL ? different_words(size / 7) : repeated(unit, size);
  length = size / 7 * 7;
  output = malloc(4 * length + 64);
  for (size_t i = 0; i < ITEMS; i++) {
    const size_t start = i * (length / ITEMS);
    items[i] = (bertqa_text){text + start, length / ITEMS};
    pairs[i] = (bertqa_text_pair){text + start, length / ITEMS, NULL, 0};
    questions[i] = (bertqa_answer_pair){"who?", 4, text + start, length / ITEMS};
    examples[i] = (bertqa_example){text + start, length / ITEMS, text + 7 * i, 6};
    offsets[i] = (int64_t)start;
  }
  offsets[ITEMS] = (int64_t)length;
  call.max_bytes = 0;
  bertqa_entity_list_free(found);
  bertqa_document_free(prepared);
  CHECK_STATUS(BERTQA_OK, bertqa_patterns(text, length, NULL, &found));
  CHECK_STATUS(BERTQA_OK, bertqa_document_create(answering, text, length, NULL, &prepared));
}

static bertqa_context *word_model(void) {
  bertqa_train_options options = BERTQA_TRAIN_OPTIONS_INIT;
  options.algorithm = BERTQA_ALGORITHM_NAIVE_BAYES;
  options.folds = -1;
  bertqa_trainer *trainer;
  CHECK_STATUS(BERTQA_OK, bertqa_trainer_create(&options, &trainer));
  CHECK_STATUS(BERTQA_OK,
               bertqa_trainer_add(trainer, "the king of france ::1 alpha", 28, "a", 1, NULL));
  CHECK_STATUS(BERTQA_OK, bertqa_trainer_add(trainer, "one two three four five", 23, "b", 1, NULL));
  CHECK_STATUS(BERTQA_OK, bertqa_trainer_finish(trainer, path("words"), NULL, NULL));
  bertqa_trainer_free(trainer);
  return context_of(path("words"), 2);
}

int main(int argc, char **argv) {
  begin(argc, argv);
  CHECK(mkdtemp(root) != NULL);
  static const char *const tokenizers[] = {"tiny-bert", "pipeline-byte-level",
                                           "pipeline-characters", "pipeline-unigram"};
  for (int i = 0; i < 4; i++) {
    char model[4096];
    snprintf(model, sizeof model, "%s/../%s", tiny, tokenizers[i]);
    const bertqa_context_options options = {.struct_size = sizeof options,
                                            .tokenizer_only = BERTQA_ON};
    CHECK_STATUS(BERTQA_OK, bertqa_context_create(model, &options, &tokenizing[i]));
  }
  answering = tiny_context(2);
  classifying = fixture_context("tiny-bert-classifier", 2);
  tagging = fixture_context("tiny-bert-entities", 2);
  prompting[0] = fixture_context("tiny-gliner", 2);
  prompting[1] = fixture_context("tiny-gliner-tokens", 2);
  embedding = fixture_context("tiny-bert-embedder", 2);
  predicting = fixture_context("tiny-lstm", 1);
  counting = word_model();
  numbers = malloc(ITEMS * 64 * sizeof *numbers + (1 << 20));
  /* Many results in few bytes; words; words that are all different. */
  static const struct {
    const char *name, *unit;
    size_t size;
  } texts[] = {{"dense", "::1 a@b.de ", 70000},
               {"words", "the king of france . ", 70000},
               {"unique", NULL, 140000}};
  for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++) {
    use_text(texts[t].unit, texts[t].size);
    if (labeler == NULL)
      CHECK_STATUS(BERTQA_OK,
                   bertqa_labeler_create(embedding, examples, ITEMS / 8, NULL, &labeler));
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
      check_limits(&functions[i], texts[t].name);
  }
  char command[160];
  snprintf(command, sizeof command, "rm -rf %s", root);
  CHECK(system(command) == 0);
  return finish();
}
