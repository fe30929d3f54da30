/* The options of every call: a hook that cancels, a deadline, a memory limit, a progress hook. Each
 * function with options is called with each of them. */
#include <fcntl.h>
#include <time.h>

#include "columns.h"
#include "structs.h"

static bertqa_context *answering, *classifying, *embedding, *predicting, *tagging;
static bertqa_document *document;
static bertqa_entity_list *found;
static bertqa_labeler *labeler;
static bertqa_trainer *trainer;
static char *text, *copy;
static size_t length;
static char directory[] = "/tmp/bertqa-call-XXXXXX", output[64], model[4096];

/* Makes one call of a function and frees its result. */
typedef bertqa_status task(const bertqa_call_options *call);

#define GIVES(type, free_it, expression)   \
  do {                                     \
    type *result = NULL;                   \
    bertqa_status status = expression;     \
    CHECK((result == NULL) == (status != BERTQA_OK)); \
    free_it(result);                       \
    return status;                         \
  } while (0)

static bertqa_status load(const bertqa_call_options *call) {
  const bertqa_context_options options = {.struct_size = sizeof options, .call = call, .threads = 1};
  GIVES(bertqa_context, bertqa_context_free, bertqa_context_create(tiny, &options, &result));
}

static bertqa_status load_at(const bertqa_call_options *call) {
  const bertqa_context_options options = {.struct_size = sizeof options, .call = call, .threads = 1};
  bertqa_context *result = NULL;
  const int opened = open(tiny, O_RDONLY | O_DIRECTORY);
  const bertqa_status status = bertqa_context_create_at(opened, NULL, &options, &result);
  close(opened);
  CHECK((result == NULL) == (status != BERTQA_OK));
  bertqa_context_free(result);
  return status;
}

static bertqa_status load_files(const bertqa_call_options *call) {
  static const char vocabulary[] = "[UNK]\n[CLS]\n[SEP]\na\n";
  const bertqa_file file = {"vocab.txt", vocabulary, sizeof vocabulary - 1};
  const bertqa_context_options options = {.struct_size = sizeof options, .call = call, .tokenizer_only = BERTQA_ON};
  GIVES(bertqa_context, bertqa_context_free, bertqa_context_create_from_files(&file, 1, &options, &result));
}

static bertqa_status tokenize(const bertqa_call_options *call) {
  const bertqa_tokenize_options options = {.struct_size = sizeof options, .call = call};
  GIVES(bertqa_tokens, bertqa_tokens_free, bertqa_tokenize(answering, text, length, &options, &result));
}

static bertqa_answer_options answer_options(const bertqa_call_options *call) {
  return (bertqa_answer_options){.struct_size = sizeof(bertqa_answer_options), .call = call};
}

static bertqa_status answer(const bertqa_call_options *call) {
  const bertqa_answer_options options = answer_options(call);
  GIVES(bertqa_answers, bertqa_answers_free, bertqa_answer(answering, "who?", 4, text, length, &options, &result));
}

static bertqa_status answer_batch(const bertqa_call_options *call) {
  const bertqa_answer_options options = answer_options(call);
  const bertqa_answer_pair pair = {"who?", 4, text, length};
  GIVES(bertqa_answers, bertqa_answers_free,
        bertqa_answer_batch(answering, &pair, 1, &options, &result, NULL));
}

static bertqa_status answer_each(const bertqa_call_options *call) {
  const bertqa_answer_options options = answer_options(call);
  const bertqa_answer_pair pair = {"who?", 4, text, length};
  bertqa_status own = 99, status;
  bertqa_answers *result = (void *)&own;
  status = bertqa_answer_batch(answering, &pair, 1, &options, &result, &own);
  /* A failure of the whole call is every item's status; too much memory is the failure of one item.
   * */
  CHECK(own == status || (status == BERTQA_OK && own == BERTQA_ERROR_TOO_LARGE));
  CHECK((result == NULL) == (own != BERTQA_OK));
  bertqa_answers_free(result);
  return own;
}

static bertqa_status prepare(const bertqa_call_options *call) {
  const bertqa_document_options options = {.struct_size = sizeof options, .call = call};
  GIVES(bertqa_document, bertqa_document_free, bertqa_document_create(answering, text, length, &options, &result));
}

static bertqa_status document_answer(const bertqa_call_options *call) {
  const bertqa_answer_options options = answer_options(call);
  GIVES(bertqa_answers, bertqa_answers_free,
        bertqa_document_answer(answering, document, "who?", 4, &options, &result));
}

static bertqa_status document_batch(const bertqa_call_options *call) {
  const bertqa_answer_options options = answer_options(call);
  const bertqa_text question = {"who?", 4};
  GIVES(bertqa_answers, bertqa_answers_free,
        bertqa_document_answer_batch(answering, document, &question, 1, &options, &result, NULL));
}

static bertqa_status answer_documents(const bertqa_call_options *call) {
  const bertqa_answer_options options = answer_options(call);
  const bertqa_text item = {text, length};
  GIVES(bertqa_answers, bertqa_answers_free,
        bertqa_answer_documents(answering, "who?", 4, &item, 1, &options, &result));
}

static bertqa_status documents_answer(const bertqa_call_options *call) {
  const bertqa_answer_options options = answer_options(call);
  const bertqa_document *const items[] = {document};
  GIVES(bertqa_answers, bertqa_answers_free,
        bertqa_documents_answer(answering, items, 1, "who?", 4, &options, &result));
}

static bertqa_status logits(const bertqa_call_options *call) {
  const bertqa_logits_options options = {.struct_size = sizeof options, .call = call};
  enum { COUNT = 12800 };
  static int32_t ids[COUNT];
  static float starts[COUNT], ends[COUNT];
  static size_t windows[COUNT / 128];
  for (size_t i = 0; i < COUNT / 128; i++) windows[i] = 128;
  return bertqa_logits(answering, ids, COUNT, windows, NULL, COUNT / 128, &options, starts, ends);
}

static bertqa_status classify(const bertqa_call_options *call) {
  const bertqa_classify_options options = {.struct_size = sizeof options, .call = call};
  GIVES(bertqa_classification, bertqa_classification_free,
        bertqa_classify(classifying, text, length, &options, &result));
}

static bertqa_status classify_batch(const bertqa_call_options *call) {
  const bertqa_classify_options options = {.struct_size = sizeof options, .call = call};
  const bertqa_text_pair pair = {text, length, NULL, 0};
  GIVES(bertqa_classification, bertqa_classification_free,
        bertqa_classify_batch(classifying, &pair, 1, &options, &result, NULL));
}

static bertqa_status entities(const bertqa_call_options *call) {
  const bertqa_entities_options options = {.struct_size = sizeof options, .call = call};
  GIVES(bertqa_entity_list, bertqa_entity_list_free, bertqa_entities(tagging, text, length, &options, &result));
}

static bertqa_status entities_batch(const bertqa_call_options *call) {
  const bertqa_entities_options options = {.struct_size = sizeof options, .call = call};
  const bertqa_text item = {text, length};
  GIVES(bertqa_entity_list, bertqa_entity_list_free,
        bertqa_entities_batch(tagging, &item, 1, &options, &result, NULL));
}

static bertqa_status patterns(const bertqa_call_options *call) {
  const bertqa_patterns_options options = {.struct_size = sizeof options, .call = call};
  GIVES(bertqa_entity_list, bertqa_entity_list_free, bertqa_patterns(text, length, &options, &result));
}

static bertqa_status list_ranges(const bertqa_call_options *call) {
  const bertqa_labelled_range range = {{0, 3}, "A", 1, 1, 0};
  GIVES(bertqa_entity_list, bertqa_entity_list_free,
        bertqa_entity_list_create(text, length, &range, 1, call, &result));
}

static bertqa_status everywhere(const bertqa_call_options *call) {
  const bertqa_entity_list *const lists[] = {found};
  GIVES(bertqa_entity_list, bertqa_entity_list_free, bertqa_everywhere(text, length, lists, 1, call, &result));
}

static bertqa_status apply_lists(const bertqa_call_options *call) {
  const bertqa_entity_list *const lists[] = {found};
  const bertqa_text denied = {"fox", 3};
  GIVES(bertqa_entity_list, bertqa_entity_list_free,
        bertqa_apply_lists(text, length, lists, 1, NULL, 0, &denied, 1, call, &result));
}

static bertqa_status redact(const bertqa_call_options *call) {
  const bertqa_redact_options options = {.struct_size = sizeof options, .call = call};
  const bertqa_entity_list *const lists[] = {found};
  size_t needed;
  return bertqa_redact(text, length, lists, 1, &options, copy, length, &needed);
}

static bertqa_status restore(const bertqa_call_options *call) {
  bertqa_pseudonyms *names;
  size_t needed;
  CHECK_STATUS(BERTQA_OK, bertqa_pseudonyms_create(&names));
  const bertqa_status status = bertqa_restore(text, length, names, call, copy, length, &needed);
  bertqa_pseudonyms_free(names);
  return status;
}

static bertqa_status word_counts(const bertqa_call_options *call) {
  const bertqa_word_counts_options options = {.struct_size = sizeof options, .call = call};
  GIVES(bertqa_word_count_list, bertqa_word_count_list_free, bertqa_word_counts(text, length, &options, &result));
}

static bertqa_status embed(const bertqa_call_options *call) {
  const bertqa_embed_options options = {.struct_size = sizeof options, .call = call};
  const bertqa_text_pair pair = {text, length, NULL, 0};
  float vector[16];
  return bertqa_embed(embedding, &pair, 1, &options, vector, 16, NULL);
}

static bertqa_status embed_tokens(const bertqa_call_options *call) {
  const bertqa_embed_options options = {.struct_size = sizeof options, .call = call};
  const bertqa_text_pair pair = {text, length, NULL, 0};
  GIVES(bertqa_token_vectors, bertqa_token_vectors_free,
        bertqa_embed_tokens(embedding, &pair, 1, &options, &result, NULL));
}

static bertqa_status passages(const bertqa_call_options *call) {
  GIVES(bertqa_passages, bertqa_passages_free, bertqa_passages_create(embedding, text, length, call, &result));
}

static bertqa_status fingerprint(const bertqa_call_options *call) {
  char bytes[4 + 16];
  size_t needed;
  return bertqa_vectors_fingerprint(embedding, call, bytes, sizeof bytes, &needed);
}

static bertqa_status search(const bertqa_call_options *call) {
  char bytes[4 + 16];
  size_t needed;
  CHECK_STATUS(BERTQA_OK, bertqa_vectors_fingerprint(embedding, NULL, bytes, sizeof bytes, &needed));
  GIVES(bertqa_search, bertqa_search_free,
        bertqa_search_create(embedding, text, length, bytes, needed, call, &result));
}

static bertqa_status search_answer(const bertqa_call_options *call) {
  const bertqa_answer_options options = answer_options(call);
  const bertqa_text passage = {text, length};
  bertqa_search *made = search_of_one_passage();
  bertqa_answers *result;
  const bertqa_status status = bertqa_search_answer(made, answering, &passage, 1, &options, &result);
  CHECK((result == NULL) == (status != BERTQA_OK));
  bertqa_answers_free(result);
  bertqa_search_free(made);
  return status;
}

static bertqa_status quantize(const bertqa_call_options *call) {
  const bertqa_quantize_options options = {.struct_size = sizeof options, .call = call};
  bertqa_status status = bertqa_quantize(model, output, &options, NULL);
  char command[96];
  snprintf(command, sizeof command, "rm -rf %s", output);
  CHECK(system(command) == 0);
  return status;
}

static bertqa_status label(const bertqa_call_options *call) {
  const bertqa_labeler_options options = {.struct_size = sizeof options, .call = call};
  const bertqa_example example = {text, length, "a", 1};
  GIVES(bertqa_labeler, bertqa_labeler_free, bertqa_labeler_create(embedding, &example, 1, &options, &result));
}

static bertqa_status labeler_classify(const bertqa_call_options *call) {
  const bertqa_text_pair pair = {text, length, NULL, 0};
  GIVES(bertqa_classification, bertqa_classification_free,
        bertqa_labeler_classify(labeler, &pair, 1, call, &result, NULL));
}

static bertqa_status train_add(const bertqa_call_options *call) {
  return bertqa_trainer_add(trainer, text, length, "sport", 5, call);
}

static bertqa_status train_finish(const bertqa_call_options *call) {
  bertqa_status status = bertqa_trainer_finish(trainer, output, call, NULL);
  char command[96];
  snprintf(command, sizeof command, "rm -rf %s", output);
  CHECK(system(command) == 0);
  return status;
}

static bertqa_sequence_options sequence_options(const bertqa_call_options *call) {
  return (bertqa_sequence_options){.struct_size = sizeof(bertqa_sequence_options), .call = call};
}

static bertqa_status predict(const bertqa_call_options *call) {
  const bertqa_sequence_options options = sequence_options(call);
  GIVES(bertqa_prediction, bertqa_prediction_free,
        bertqa_sequence_predict(predicting, "O", 1, NULL, &options, &result, NULL));
}

static bertqa_status predict_text(const bertqa_call_options *call) {
  const bertqa_sequence_options options = sequence_options(call);
  GIVES(bertqa_prediction, bertqa_prediction_free,
        bertqa_sequence_predict_text(predicting, text, length, NULL, &options, &result, NULL));
}

static bertqa_status step(const bertqa_call_options *call) {
  const bertqa_sequence_options options = sequence_options(call);
  static const int32_t ids[1000];
  static bertqa_sequence_state *next[1000];
  bertqa_status status = bertqa_sequence_step(predicting, ids, NULL, 1000, &options, next, NULL, 0);
  for (int i = 0; i < 1000; i++) bertqa_sequence_state_free(next[i]);
  return status;
}

static bertqa_status generate(const bertqa_call_options *call) {
  const bertqa_generate_options options = {.struct_size = sizeof options, .call = call};
  GIVES(bertqa_generation, bertqa_generation_free,
        bertqa_sequence_generate(predicting, text, length, NULL, &options, &result));
}

static bertqa_status likelihood(const bertqa_call_options *call) {
  const bertqa_sequence_options options = sequence_options(call);
  bertqa_sequence_score score = BERTQA_SEQUENCE_SCORE_INIT;
  return bertqa_sequence_likelihood(predicting, text, length, NULL, &options, &score);
}

static bertqa_status rank_texts(const bertqa_call_options *call) {
  const bertqa_sequence_options options = sequence_options(call);
  const bertqa_text continuation = {text, length};
  size_t order;
  return bertqa_sequence_rank(predicting, "O", 1, &continuation, 1, NULL, &options, &order, NULL, NULL);
}

/* A column of one row: the text. */
static bertqa_status run_column(const bertqa_call_options *call, bertqa_task kind) {
  column made;
  const bertqa_column texts = one_row(&made, text, length);
  struct ArrowArray out;
  struct ArrowSchema out_schema;
  const bertqa_answer_options options = answer_options(call);
  const bertqa_classify_options classify_options = {.struct_size = sizeof classify_options, .call = call};
  const bertqa_entities_options entities_options = {.struct_size = sizeof entities_options, .call = call};
  bertqa_status status =
      kind == BERTQA_TASK_ANSWER ? bertqa_answer_arrow(answering, texts, texts, &options, &out, &out_schema)
      : kind == BERTQA_TASK_CLASSIFY
          ? bertqa_classify_arrow(classifying, texts, &classify_options, &out, &out_schema)
          : bertqa_entities_arrow(tagging, texts, &entities_options, &out, &out_schema);
  CHECK((out.release == NULL) == (status != BERTQA_OK));
  if (out.release) out.release(&out), out_schema.release(&out_schema);
  return status;
}

static bertqa_status answer_column(const bertqa_call_options *call) { return run_column(call, BERTQA_TASK_ANSWER); }
static bertqa_status classify_column(const bertqa_call_options *call) { return run_column(call, BERTQA_TASK_CLASSIFY); }
static bertqa_status entities_column(const bertqa_call_options *call) { return run_column(call, BERTQA_TASK_ENTITIES); }

static const struct {
  const char *name;
  task *run;
  /* Holds memory that grows with the text (2: and counts no tokens); tells of its progress. */
  int grows, reports;
} tasks[] = {
    {"context_create", load, 0, 0},         {"tokenize", tokenize, 1, 0},
    {"answer", answer, 1, 1},               {"answer_batch", answer_batch, 1, 1},
    {"answer_batch, each", answer_each, 1, 1}, {"document_create", prepare, 1, 0},
    {"document_answer", document_answer, 1, 1}, {"document_answer_batch", document_batch, 1, 1},
    {"logits", logits, 2, 0},               {"classify", classify, 1, 1},
    {"embed", embed, 1, 1},                 {"quantize", quantize, 0, 0},
    {"labeler_create", label, 1, 1},        {"labeler_classify", labeler_classify, 1, 1},
    {"trainer_add", train_add, 2, 0},       {"trainer_finish", train_finish, 0, 1},
    {"sequence_predict", predict, 0, 0},    {"sequence_step", step, 2, 0},
    {"sequence_generate", generate, 1, 0},  {"sequence_likelihood", likelihood, 1, 0},
    {"sequence_rank", rank_texts, 1, 0},    {"answer_arrow", answer_column, 1, 1},
    {"classify_arrow", classify_column, 1, 1}, {"entities_arrow", entities_column, 1, 1},
    {"entities", entities, 1, 1},           {"entities_batch", entities_batch, 1, 1},
    {"patterns", patterns, 0, 0},           {"word_counts", word_counts, 1, 0},
    {"sequence_predict_text", predict_text, 1, 0}, {"context_create_at", load_at, 0, 0},
    {"context_create_from_files", load_files, 0, 0}, {"answer_documents", answer_documents, 1, 1},
    {"documents_answer", documents_answer, 1, 1}, {"classify_batch", classify_batch, 1, 1},
    {"embed_tokens", embed_tokens, 1, 1},   {"entity_list_create", list_ranges, 0, 0},
    {"everywhere", everywhere, 2, 0},       {"apply_lists", apply_lists, 2, 0},
    {"redact", redact, 0, 0},               {"restore", restore, 2, 0},
    {"passages_create", passages, 1, 0},    {"vectors_fingerprint", fingerprint, 0, 0},
    {"search_create", search, 1, 0},        {"search_answer", search_answer, 1, 1},
};
enum { TASKS = sizeof tasks / sizeof tasks[0] };

struct watch {
  pthread_t thread;
  int cancels, reports, wrong, stops;
};

static int32_t cancel(void *user) {
  struct watch *watch = user;
  if (!pthread_equal(watch->thread, pthread_self())) watch->wrong++;
  watch->cancels++;
  return watch->stops ? 17 : 0; /* anything but 0 */
}

static void progress(void *user, const char *stage, double fraction) {
  struct watch *watch = user;
  if (!pthread_equal(watch->thread, pthread_self())) watch->wrong++;
  if (*stage == '\0' || !(fraction >= 0 && fraction <= 1)) watch->wrong++;
  watch->reports++;
}

static void expect(size_t i, bertqa_status expected, const bertqa_call_options *call, const char *what) {
  bertqa_status found = tasks[i].run(call);
  char detail[1200];
  snprintf(detail, sizeof detail, "%s: %s instead of %s (%s)", tasks[i].name, bertqa_status_name(found),
           bertqa_status_name(expected), bertqa_last_error());
  check(found == expected, __FILE__, __LINE__, what, detail);
}

static void test_task(size_t i) {
  struct watch watch = {pthread_self(), 0, 0, 0, 0};
  const bertqa_call_options watched = {
      .struct_size = sizeof watched, .cancel = cancel, .progress = progress, .user = &watch};
  expect(i, BERTQA_OK, NULL, "without options");
  expect(i, BERTQA_OK, &watched, "watched");
  check(watch.cancels > 0, __FILE__, __LINE__, tasks[i].name, "the cancellation hook was not asked");
  if (tasks[i].reports) check(watch.reports > 0, __FILE__, __LINE__, tasks[i].name, "no progress was told");
  watch.stops = 1;
  watch.cancels = 0;
  expect(i, BERTQA_ERROR_CANCELLED, &watched, "cancelled");
  check(watch.cancels == 1, __FILE__, __LINE__, tasks[i].name, "it is not asked again");
  CHECK(watch.wrong == 0);

  const bertqa_call_options late = {.struct_size = sizeof late, .deadline_ns = 1};
  expect(i, BERTQA_ERROR_DEADLINE_EXCEEDED, &late, "late");
  const bertqa_call_options soon = {
      .struct_size = sizeof soon, .deadline_ns = bertqa_deadline_after(3600000000000u), .max_bytes = 1u << 30};
  expect(i, BERTQA_OK, &soon, "an hour and a gibibyte");
  if (tasks[i].grows) {
    const bertqa_call_options small = {.struct_size = sizeof small, .max_bytes = 64};
    expect(i, BERTQA_ERROR_TOO_LARGE, &small, "64 bytes");
    CHECK(strcmp(bertqa_last_error_argument(), "max_bytes") == 0);
  }
  if (tasks[i].grows == 1) {
    const bertqa_call_options one = {.struct_size = sizeof one, .max_document_tokens = 1};
    expect(i, BERTQA_ERROR_TOO_LARGE, &one, "one token");
    CHECK(strcmp(bertqa_last_error_argument(), "max_document_tokens") == 0);
    const bertqa_call_options enough = {.struct_size = sizeof enough, .max_document_tokens = 1u << 30};
    expect(i, BERTQA_OK, &enough, "enough tokens");
  }
  const bertqa_call_options unset = {.struct_size = 0};
  expect(i, BERTQA_ERROR_INVALID_ARGUMENT, &unset, "without struct_size");
  expect(i, BERTQA_OK, NULL, "afterwards");
}

static void test_deadline_after(void) {
  struct timespec time;
  const uint64_t deadline = bertqa_deadline_after(5000000000u);
  clock_gettime(CLOCK_MONOTONIC, &time);
  const uint64_t now = (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
  CHECK(deadline <= now + 5000000000u && deadline + 60000000000u > now);
  CHECK(bertqa_deadline_after(UINT64_MAX) == UINT64_MAX);
  CHECK(bertqa_deadline_after(UINT64_MAX - 1) == UINT64_MAX);
}

static bertqa_status logits_pointer(const bertqa_logits_options *options, void **out) {
  const int32_t id = 1;
  const size_t window = 1;
  float start, end;
  *out = NULL;
  return bertqa_logits(answering, &id, 1, &window, NULL, 1, options, &start, &end);
}

static void nothing(void *out) { (void)out; }

/* Options structs that other tests do not take apart. */
static void test_struct_sizes(void) {
  const bertqa_text_pair pair = {"a", 1, NULL, 0};
  bertqa_classification *classification;
  bertqa_document *other;
  bertqa_prediction *prediction;
  void *out;
  CHECK_STRUCT_SIZES(bertqa_call_options, max_document_tokens, max_document_tokens, classification,
                     bertqa_labeler_classify(labeler, &pair, 1, options, &classification, NULL),
                     bertqa_classification_free);
  CHECK_STRUCT_SIZES(bertqa_document_options, call, call, other,
                     bertqa_document_create(answering, "a", 1, options, &other), bertqa_document_free);
  CHECK_STRUCT_SIZES(bertqa_logits_options, call, call, out,
                     logits_pointer(options, &out), nothing);
  CHECK_STRUCT_SIZES(bertqa_sequence_options, top_k, include_end, prediction,
                     bertqa_sequence_predict(predicting, "O", 1, NULL, options, &prediction, NULL),
                     bertqa_prediction_free);
}

static void *run_task(void *index) {
  return (void *)(intptr_t)tasks[(intptr_t)index].run(NULL);
}

/* Half of the stack that the header asks for, once everything has run once. */
static void test_small_stacks(void) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  set_stack_size(&attributes, 32 << 10);
  for (intptr_t i = 0; i < TASKS; i++) {
    pthread_t thread;
    void *status = NULL;
    CHECK(pthread_create(&thread, &attributes, run_task, (void *)i) == 0);
    pthread_join(thread, &status);
    check((intptr_t)status == BERTQA_OK, __FILE__, __LINE__, tasks[i].name, "on a small stack");
  }
  pthread_attr_destroy(&attributes);
}

int main(int argc, char **argv) {
  begin(argc, argv);
  if (mkdtemp(directory) == NULL) return 2;
  snprintf(output, sizeof output, "%s/output", directory);
  snprintf(model, sizeof model, "%s", tiny);
  answering = tiny_context(2);
  classifying = fixture_context("tiny-bert-classifier", 2);
  embedding = fixture_context("tiny-bert-embedder", 2);
  tagging = fixture_context("tiny-bert-entities", 2);
  predicting = fixture_context("tiny-lstm", 2);
  text = made_document(9, 400);
  length = strlen(text);
  CHECK_STATUS(BERTQA_OK, bertqa_document_create(answering, text, length, NULL, &document));
  copy = malloc(length);
  const bertqa_labelled_range range = {{0, 3}, "A", 1, 1, 0};
  CHECK_STATUS(BERTQA_OK, bertqa_entity_list_create(text, length, &range, 1, NULL, &found));
  const bertqa_example example = {text, 20, "a", 1};
  CHECK_STATUS(BERTQA_OK, bertqa_labeler_create(embedding, &example, 1, NULL, &labeler));
  const bertqa_train_options options = {.struct_size = sizeof options, .folds = 2, .threads = 1};
  CHECK_STATUS(BERTQA_OK, bertqa_trainer_create(&options, &trainer));
  for (int i = 0; i < 4; i++) {
    const char *words = i % 2 ? "one two three" : "four five six";
    CHECK_STATUS(BERTQA_OK, bertqa_trainer_add(trainer, words, strlen(words), i % 2 ? "b" : "a", 1, NULL));
  }

  test_deadline_after();
  test_struct_sizes();
  for (size_t i = 0; i < TASKS; i++) test_task(i);
  test_small_stacks();

  bertqa_trainer_free(trainer);
  bertqa_labeler_free(labeler);
  bertqa_document_free(document);
  bertqa_entity_list_free(found);
  bertqa_context_free(answering);
  bertqa_context_free(classifying);
  bertqa_context_free(embedding);
  bertqa_context_free(predicting);
  bertqa_context_free(tagging);
  free(text);
  free(copy);
  CHECK(rmdir(directory) == 0);
  return finish();
}
