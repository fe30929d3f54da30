/* bertqa_call_options.max_bytes bounds what a call takes, in every function that has it: what malloc has given out at
 * most during a call, less what there was before, stays within the limit, whatever the result; and a limit that is well
 * above what the call needs is no failure. */
#include <errno.h>
#include <malloc.h>

#include "columns.h"

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

/* ---- What is called. `call` is in the options of every function. */

static bertqa_call_options call = BERTQA_CALL_OPTIONS_INIT;
static bertqa_context *tokenizing[4], *answering, *classifying, *counting, *tagging, *embedding,
    *predicting;
static bertqa_labeler *labeler;
static bertqa_document *prepared;
static bertqa_entity_list *found;
static char *text, *output;
static size_t length;
static char root[] = "/tmp/bertqa-limit-XXXXXX";

enum { ITEMS = 2000 };
static bertqa_text items[ITEMS];
static bertqa_text_pair pairs[ITEMS];
static bertqa_answer_pair questions[ITEMS];
static bertqa_example examples[ITEMS];
static void *results[ITEMS];
static bertqa_status statuses[ITEMS];
static int64_t offsets[ITEMS + 1];
static float *numbers;

static char *path(const char *name) {
  static char result[4][128];
  static int next;
  next = (next + 1) % 4;
  snprintf(result[next], sizeof result[next], "%s/%s", root, name);
  return result[next];
}

/* Gives the results of a batch back. */
static bertqa_status freed(bertqa_status status, void (*give_back)(void *)) {
  for (int i = 0; i < ITEMS; i++) {
    give_back(results[i]);
    results[i] = NULL;
  }
  return status;
}

#define GIVE_BACK(object, type) \
  static void give_back_##object(void *one) { bertqa_##object##_free((type *)one); }
GIVE_BACK(answers, bertqa_answers)
GIVE_BACK(classification, bertqa_classification)
GIVE_BACK(entity_list, bertqa_entity_list)
GIVE_BACK(sequence_state, bertqa_sequence_state)

static bertqa_status tokenize(int kind) {
  const bertqa_tokenize_options options = {.struct_size = sizeof options, .call = &call};
  bertqa_tokens *tokens;
  const bertqa_status status = bertqa_tokenize(tokenizing[kind], text, length, &options, &tokens);
  bertqa_tokens_free(tokens);
  return status;
}
static bertqa_status word_pieces(void) { return tokenize(0); }
static bertqa_status byte_level(void) { return tokenize(1); }
static bertqa_status characters(void) { return tokenize(2); }
static bertqa_status unigram(void) { return tokenize(3); }

static bertqa_answer_options answer_options(void) {
  bertqa_answer_options options = tiny_options();
  options.call = &call;
  return options;
}

static bertqa_status answer_with(const bertqa_answer_options *options) {
  bertqa_answers *answers;
  const bertqa_status status = bertqa_answer(answering, "who?", 4, text, length, options, &answers);
  bertqa_answers_free(answers);
  return status;
}
static bertqa_status answer(void) {
  const bertqa_answer_options options = answer_options();
  return answer_with(&options);
}
static bertqa_status answer_ranked(void) {
  bertqa_answer_options options = answer_options();
  options.max_windows = 3;
  options.max_seq_len = 16;
  options.doc_stride = 7;
  options.max_question_len = 4;
  return answer_with(&options);
}
static bertqa_status answer_many(void) {
  bertqa_answer_options options = answer_options();
  options.top_k = 20;
  return freed(bertqa_answer_batch(answering, questions, ITEMS, &options,
                                   (bertqa_answers **)results, statuses),
               give_back_answers);
}
static bertqa_status answer_all(void) {
  const bertqa_answer_options options = answer_options();
  return freed(
      bertqa_answer_batch(answering, questions, ITEMS, &options, (bertqa_answers **)results, NULL),
      give_back_answers);
}
static bertqa_status document_create(void) {
  const bertqa_document_options options = {.struct_size = sizeof options, .call = &call};
  bertqa_document *document;
  const bertqa_status status = bertqa_document_create(answering, text, length, &options, &document);
  bertqa_document_free(document);
  return status;
}
static bertqa_status document_answer(void) {
  const bertqa_answer_options options = answer_options();
  bertqa_answers *answers;
  const bertqa_status status =
      bertqa_document_answer(answering, prepared, "who?", 4, &options, &answers);
  bertqa_answers_free(answers);
  return status;
}
static bertqa_status document_answer_batch(void) {
  const bertqa_answer_options options = answer_options();
  const bertqa_text asked[2] = {{"who?", 4}, {"the king", 8}};
  return freed(bertqa_document_answer_batch(answering, prepared, asked, 2, &options,
                                            (bertqa_answers **)results, NULL),
               give_back_answers);
}
static bertqa_status logits(void) {
  const bertqa_logits_options options = {.struct_size = sizeof options, .call = &call};
  enum { WINDOWS = 4000, TOKENS = 16 };
  static int32_t ids[WINDOWS * TOKENS];
  static size_t lengths[WINDOWS];
  for (int i = 0; i < WINDOWS; i++) lengths[i] = TOKENS;
  return bertqa_logits(answering, ids, WINDOWS * TOKENS, lengths, NULL, WINDOWS, &options, numbers,
                       numbers + WINDOWS * TOKENS);
}

static bertqa_status classify_with(const bertqa_context *context, int32_t contributions) {
  const bertqa_classify_options options = {
      .struct_size = sizeof options, .call = &call, .contributions = contributions};
  bertqa_classification *classification;
  const bertqa_status status = bertqa_classify(context, text, length, &options, &classification);
  bertqa_classification_free(classification);
  return status;
}
static bertqa_status classify(void) { return classify_with(classifying, 0); }
static bertqa_status classify_words(void) { return classify_with(counting, 0); }
static bertqa_status contribution(void) { return classify_with(counting, 1); }
static bertqa_status contributions(void) { return classify_with(counting, INT32_MAX); }
static bertqa_status classify_many_with(const bertqa_context *context, int32_t number) {
  const bertqa_classify_options options = {
      .struct_size = sizeof options, .call = &call, .contributions = number};
  return freed(bertqa_classify_batch(context, pairs, ITEMS, &options,
                                     (bertqa_classification **)results, statuses),
               give_back_classification);
}
static bertqa_status classify_batch(void) { return classify_many_with(classifying, 0); }
static bertqa_status classify_words_batch(void) { return classify_many_with(counting, 100); }

static bertqa_status entities_with(bertqa_aggregation aggregation) {
  const bertqa_entities_options options = {.struct_size = sizeof options,
                                           .call = &call,
                                           .aggregation = aggregation,
                                           .ignore_labels = items};
  bertqa_entity_list *list;
  const bertqa_status status = bertqa_entities(tagging, text, length, &options, &list);
  bertqa_entity_list_free(list);
  return status;
}
static bertqa_status entities(void) { return entities_with(BERTQA_AGGREGATION_SIMPLE); }
static bertqa_status entities_of_tokens(void) { return entities_with(BERTQA_AGGREGATION_NONE); }
static bertqa_status entities_batch(void) {
  const bertqa_entities_options options = {.struct_size = sizeof options, .call = &call};
  return freed(bertqa_entities_batch(tagging, items, ITEMS, &options,
                                     (bertqa_entity_list **)results, statuses),
               give_back_entity_list);
}

static bertqa_status embed_with(size_t count, const bertqa_text_pair *texts) {
  const bertqa_embed_options options = {.struct_size = sizeof options, .call = &call};
  return bertqa_embed(embedding, texts, count, &options, numbers,
                      count * bertqa_context_info(embedding)->embedding_length, statuses);
}
static bertqa_status embed(void) {
  const bertqa_text_pair whole = {text, length, NULL, 0};
  return embed_with(1, &whole);
}
static bertqa_status embed_many(void) { return embed_with(ITEMS, pairs); }
static bertqa_status labeler_create(void) {
  const bertqa_labeler_options options = {.struct_size = sizeof options, .call = &call};
  bertqa_labeler *made;
  const bertqa_status status = bertqa_labeler_create(embedding, examples, ITEMS, &options, &made);
  bertqa_labeler_free(made);
  return status;
}
static bertqa_status labeler_classify(void) {
  return freed(bertqa_labeler_classify(labeler, pairs, ITEMS / 8, &call,
                                       (bertqa_classification **)results, statuses),
               give_back_classification);
}

static bertqa_status word_counts(void) {
  const bertqa_word_counts_options options = {
      .struct_size = sizeof options, .call = &call, .max_ngram = 2};
  bertqa_word_count_list *list;
  const bertqa_status status = bertqa_word_counts(text, length, &options, &list);
  bertqa_word_count_list_free(list);
  return status;
}
static bertqa_status patterns(void) {
  const bertqa_patterns_options options = {.struct_size = sizeof options, .call = &call};
  bertqa_entity_list *list;
  const bertqa_status status = bertqa_patterns(text, length, &options, &list);
  bertqa_entity_list_free(list);
  return status;
}
static bertqa_status redact(void) {
  const bertqa_entity_list *const lists[] = {found, found};
  size_t needed;
  return bertqa_redact(text, length, lists, 2, NULL, 0, &call, output, 4 * length + 64, &needed);
}

static bertqa_sequence_options sequence_options(void) {
  bertqa_sequence_options options = BERTQA_SEQUENCE_OPTIONS_INIT;
  options.call = &call;
  return options;
}
static bertqa_status predict(void) {
  const bertqa_sequence_options options = sequence_options();
  bertqa_prediction *prediction;
  bertqa_sequence_state *state;
  const bertqa_status status =
      bertqa_sequence_predict(predicting, "O", 1, NULL, &options, &prediction, &state);
  bertqa_prediction_free(prediction);
  bertqa_sequence_state_free(state);
  return status;
}
static bertqa_status predict_text(void) {
  const bertqa_sequence_options options = sequence_options();
  bertqa_prediction *prediction;
  bertqa_sequence_state *state;
  const bertqa_status status =
      bertqa_sequence_predict_text(predicting, text, length, NULL, &options, &prediction, &state);
  bertqa_prediction_free(prediction);
  bertqa_sequence_state_free(state);
  return status;
}
static bertqa_status step(void) {
  const bertqa_sequence_options options = sequence_options();
  static const int32_t ids[ITEMS];
  return freed(bertqa_sequence_step(predicting, ids, NULL, ITEMS, &options,
                                    (bertqa_sequence_state **)results, NULL, 0),
               give_back_sequence_state);
}
static bertqa_status generate(void) {
  const bertqa_generate_options options = {.struct_size = sizeof options,
                                           .call = &call,
                                           .max_words = 30000,
                                           .temperature = 1,
                                           .seed = 1};
  bertqa_generation *generation;
  const bertqa_status status =
      bertqa_sequence_generate(predicting, text, length / 4, NULL, &options, &generation);
  bertqa_generation_free(generation);
  return status;
}
static bertqa_status likelihood(void) {
  const bertqa_sequence_options options = sequence_options();
  bertqa_sequence_score score = BERTQA_SEQUENCE_SCORE_INIT;
  return bertqa_sequence_likelihood(predicting, text, length, NULL, &options, &score);
}
static bertqa_status rank(void) {
  const bertqa_sequence_options options = sequence_options();
  static size_t order[ITEMS];
  return bertqa_sequence_rank(predicting, text, length / 4, items, ITEMS / 8, NULL, &options, order,
                              NULL, NULL);
}

static bertqa_column whole_text(column *made) { return one_row(made, text, length); }
static bertqa_column many_rows(column *made) {
  return filled(made, "U", NULL, offsets, text, ITEMS, 0);
}

#define COLUMN(name, function, context, column_of, ...)                           \
  static bertqa_status name(void) {                                               \
    column made;                                                                  \
    struct ArrowArray array;                                                      \
    struct ArrowSchema schema;                                                    \
    const bertqa_status status = function(context, __VA_ARGS__, &array, &schema); \
    if (array.release != NULL) array.release(&array);                             \
    if (schema.release != NULL) schema.release(&schema);                          \
    return status;                                                                \
  }
static bertqa_answer_options one_answer(void) {
  bertqa_answer_options options = answer_options();
  options.top_k = 1;
  return options;
}
#define ANSWERS (&(bertqa_answer_options[1]){one_answer()}[0])
#define LABELS \
  (&(bertqa_classify_options){.struct_size = sizeof(bertqa_classify_options), .call = &call})
#define FOUND \
  (&(bertqa_entities_options){.struct_size = sizeof(bertqa_entities_options), .call = &call})
COLUMN(answer_arrow, bertqa_answer_arrow, answering, , many_rows(&made), many_rows(&made), ANSWERS)
COLUMN(classify_arrow, bertqa_classify_arrow, classifying, , many_rows(&made), LABELS)
COLUMN(entities_arrow, bertqa_entities_arrow, tagging, , whole_text(&made), FOUND)

static bertqa_status train(void) {
  bertqa_train_options options = BERTQA_TRAIN_OPTIONS_INIT;
  options.algorithm = BERTQA_ALGORITHM_NAIVE_BAYES;
  options.folds = -1;
  bertqa_trainer *trainer;
  CHECK_STATUS(BERTQA_OK, bertqa_trainer_create(&options, &trainer));
  bertqa_status status = bertqa_trainer_add(trainer, text, length, "a", 1, &call);
  if (status == BERTQA_OK) status = bertqa_trainer_add(trainer, "one two", 7, "b", 1, &call);
  if (status == BERTQA_OK) {
    status = bertqa_trainer_finish(trainer, path("trained"), &call, NULL);
    char command[160];
    snprintf(command, sizeof command, "rm -rf %s", path("trained"));
    CHECK(system(command) == 0);
  }
  bertqa_trainer_free(trainer);
  return status;
}

typedef struct function {
  const char *name;
  bertqa_status (*run)(void);
} function;

static const function functions[] = {
    {"bertqa_tokenize, WordPiece", word_pieces},
    {"bertqa_tokenize, bytes", byte_level},
    {"bertqa_tokenize, characters", characters},
    {"bertqa_tokenize, unigram", unigram},
    {"bertqa_answer", answer},
    {"bertqa_answer, max_windows", answer_ranked},
    {"bertqa_answer_batch, statuses", answer_many},
    {"bertqa_answer_batch", answer_all},
    {"bertqa_document_create", document_create},
    {"bertqa_document_answer", document_answer},
    {"bertqa_document_answer_batch", document_answer_batch},
    {"bertqa_logits", logits},
    {"bertqa_classify", classify},
    {"bertqa_classify, words", classify_words},
    {"bertqa_classify, a contribution", contribution},
    {"bertqa_classify, all contributions", contributions},
    {"bertqa_classify_batch", classify_batch},
    {"bertqa_classify_batch, words", classify_words_batch},
    {"bertqa_entities", entities},
    {"bertqa_entities, tokens", entities_of_tokens},
    {"bertqa_entities_batch", entities_batch},
    {"bertqa_embed", embed},
    {"bertqa_embed, many", embed_many},
    {"bertqa_labeler_create", labeler_create},
    {"bertqa_labeler_classify", labeler_classify},
    {"bertqa_word_counts", word_counts},
    {"bertqa_patterns", patterns},
    {"bertqa_redact", redact},
    {"bertqa_sequence_predict", predict},
    {"bertqa_sequence_predict_text", predict_text},
    {"bertqa_sequence_step", step},
    {"bertqa_sequence_generate", generate},
    {"bertqa_sequence_likelihood", likelihood},
    {"bertqa_sequence_rank", rank},
    {"bertqa_answer_arrow", answer_arrow},
    {"bertqa_classify_arrow", classify_arrow},
    {"bertqa_entities_arrow", entities_arrow},
    {"bertqa_trainer_add, bertqa_trainer_finish", train},
};

/* ---- Limits */

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
