/* Memory runs out: with less and less address space each call gives BERTQA_OK or BERTQA_ERROR_OUT_OF_MEMORY, and the
 * process goes on. Each attempt is a forked child with a limit of its own. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "columns.h"

enum { MEGABYTE = 1 << 20, WORDS_SIZE = 60 * MEGABYTE, MARKS_SIZE = 100 * MEGABYTE };
enum { PIECES = 400000, NUMBERS = 4000000, MAILS = 400000 };

static bertqa_context *answering, *classifying, *embedding, *predicting;
static char *words, *marks, *dots, *numbers, *mails, *hypothesis, *signs;
static char vocabulary[] = "/tmp/bertqa-address-XXXXXX";

static bertqa_status tokenize(void) {
  bertqa_tokens *tokens;
  return bertqa_tokenize(answering, marks, MARKS_SIZE, NULL, &tokens);
}

static bertqa_status tokenize_dots(void) {
  bertqa_tokens *tokens;
  return bertqa_tokenize(answering, dots, WORDS_SIZE, NULL, &tokens);
}

static bertqa_status prepare(void) {
  bertqa_document *document;
  return bertqa_document_create(answering, words, WORDS_SIZE, NULL, &document);
}

static bertqa_status answer_in(const char *document, size_t length) {
  bertqa_answer_options options = tiny_options();
  options.max_windows = 3;
  options.top_k = 100;
  bertqa_answers *answers;
  return bertqa_answer(answering, "who?", 4, document, length, &options, &answers);
}

static bertqa_status answer(void) { return answer_in(words, WORDS_SIZE); }
static bertqa_status answer_marks(void) { return answer_in(marks, MARKS_SIZE); }

/* A row whose sentence is all of its text. */
static bertqa_status answer_arrow(void) {
  column questions, documents;
  struct ArrowArray array;
  struct ArrowSchema schema;
  return bertqa_answer_arrow(answering, one_row(&questions, "who?", 4), one_row(&documents, dots, WORDS_SIZE), NULL,
                             &array, &schema);
}

/* A column with a child, which a failure leaves to the caller. */
static bertqa_status create_column(void) {
  const bertqa_text buffers[] = {{NULL, 0}, {words, WORDS_SIZE}};
  struct ArrowArray child, array;
  struct ArrowSchema child_schema, schema;
  const bertqa_status made =
      bertqa_column_create("n", "", 1, 1, NULL, 0, NULL, NULL, 0, &child, &child_schema);
  if (made != BERTQA_OK) return made;
  const bertqa_status status =
      bertqa_column_create("+s", "", 1, 0, buffers, 2, &child, &child_schema, 1, &array, &schema);
  const int moved = child.release == NULL && child_schema.release == NULL;
  const int kept = array.release == NULL && schema.release == NULL && child.release != NULL;
  return (status == BERTQA_OK ? moved : kept) ? status : BERTQA_ERROR_INTERNAL;
}

/* Zeros of the test's own; NULL where there is no place for them. */
static void *pages(size_t size) {
  void *place = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return place == MAP_FAILED ? NULL : place;
}

/* Many small pairs: 200,000 results. */
static bertqa_status answer_batch(void) {
  enum { COUNT = 200000 };
  bertqa_answer_pair *pairs = pages(COUNT * sizeof *pairs);
  bertqa_answers **answers = pages(COUNT * sizeof *answers);
  if (pairs == NULL || answers == NULL) return BERTQA_ERROR_OUT_OF_MEMORY;
  for (size_t i = 0; i < COUNT; i++) pairs[i] = (bertqa_answer_pair){"", 0, words + i, 4};
  return bertqa_answer_batch(answering, pairs, COUNT, NULL, answers, NULL);
}

/* Many small documents, each with objects of its own. */
static bertqa_status answer_documents(void) {
  enum { COUNT = 400000 };
  bertqa_text *documents = pages(COUNT * sizeof *documents);
  if (documents == NULL) return BERTQA_ERROR_OUT_OF_MEMORY;
  for (size_t i = 0; i < COUNT; i++) documents[i] = (bertqa_text){words, 8};
  bertqa_answers *answers;
  return bertqa_answer_documents(answering, "who?", 4, documents, COUNT, NULL, &answers);
}

/* A text of one window that the model reads: most of it is cut off. */
static bertqa_status embed(void) {
  const bertqa_text_pair pair = {words, WORDS_SIZE, NULL, 0};
  const bertqa_embed_options options = {.struct_size = sizeof options, .truncate = BERTQA_ON};
  float vector[16];
  return bertqa_embed(embedding, &pair, 1, &options, vector, 16, NULL);
}

/* A prompt that is longer than the model reads. */
static bertqa_status embed_behind_prompt(void) {
  const bertqa_text_pair pair = {"king", 4, NULL, 0};
  const bertqa_text prompt = {words, WORDS_SIZE};
  const bertqa_embed_options options = {.struct_size = sizeof options, .prompt = &prompt, .truncate = BERTQA_ON};
  float vector[16];
  return bertqa_embed(embedding, &pair, 1, &options, vector, 16, NULL);
}

static bertqa_status classify(void) {
  const bertqa_text_pair pair = {words, 4 * MEGABYTE, NULL, 0};
  bertqa_classification *classification;
  return bertqa_classify_batch(classifying, &pair, 1, NULL, &classification, NULL);
}

/* Four million different words. */
static bertqa_status word_counts(void) {
  bertqa_word_count_list *list;
  return bertqa_word_counts(numbers, 8 * NUMBERS, NULL, &list);
}

/* A range whose label has most of the memory. */
static bertqa_status list_entities(void) {
  const bertqa_labelled_range range = {{0, 1}, words, WORDS_SIZE, 1, 0};
  bertqa_entity_list *list;
  return bertqa_entity_list_create("a", 1, &range, 1, NULL, &list);
}

/* A name is kept once, and copied for C when it is first read. */
static bertqa_status read_pseudonym(void) {
  bertqa_pseudonyms *names;
  bertqa_status status = bertqa_pseudonyms_create(&names);
  if (status == BERTQA_OK) status = bertqa_pseudonyms_add(names, "[A_1]", 5, words, WORDS_SIZE);
  if (status != BERTQA_OK) return status;
  return bertqa_pseudonyms_get(names, 0) == NULL ? BERTQA_ERROR_OUT_OF_MEMORY : BERTQA_OK;
}

/* Each number of the text has a name of its own. */
static bertqa_status redact(void) {
  enum { COUNT = 400000 };
  bertqa_labelled_range *ranges = pages(COUNT * sizeof *ranges);
  char *output = pages(20 * COUNT);
  if (ranges == NULL || output == NULL) return BERTQA_ERROR_OUT_OF_MEMORY;
  for (size_t i = 0; i < COUNT; i++) ranges[i] = (bertqa_labelled_range){{8 * i, 8 * i + 7}, "A", 1, 1, 0};
  bertqa_entity_list *list;
  bertqa_redact_options options = {.struct_size = sizeof options, .replacement = BERTQA_REPLACEMENT_PSEUDONYM};
  bertqa_status status = bertqa_entity_list_create(numbers, 8 * COUNT, ranges, COUNT, NULL, &list);
  if (status == BERTQA_OK) status = bertqa_pseudonyms_create(&options.pseudonyms);
  if (status != BERTQA_OK) return status;
  const bertqa_entity_list *const lists[] = {list};
  size_t needed;
  return bertqa_redact(numbers, 8 * COUNT, lists, 1, &options, output, 20 * COUNT, &needed);
}

static bertqa_status add_pseudonyms(void) {
  bertqa_pseudonyms *names;
  bertqa_status status = bertqa_pseudonyms_create(&names);
  for (int i = 1; i <= 400000 && status == BERTQA_OK; i++) {
    char name[32];
    const int size = snprintf(name, sizeof name, "[A_%d]", i);
    status = bertqa_pseudonyms_add(names, name, (size_t)size, numbers + 8 * i, 7);
  }
  return status;
}

/* Many small results, without a check of memory for each. */
static bertqa_status embed_tokens(void) {
  enum { COUNT = 20000 };
  bertqa_text_pair *texts = pages(COUNT * sizeof *texts);
  bertqa_token_vectors **vectors = pages(COUNT * sizeof *vectors);
  if (texts == NULL || vectors == NULL) return BERTQA_ERROR_OUT_OF_MEMORY;
  for (int i = 0; i < COUNT; i++) texts[i] = (bertqa_text_pair){"the king of france", 18, NULL, 0};
  return bertqa_embed_tokens(embedding, texts, COUNT, NULL, vectors, NULL);
}

static bertqa_status find_patterns(void) {
  bertqa_entity_list *list;
  return bertqa_patterns(mails, 7 * MAILS, NULL, &list);
}

/* Continuations without words, whose score takes no time. */
static bertqa_status rank(void) {
  enum { COUNT = 400000 };
  const bertqa_text *texts = pages(COUNT * sizeof *texts);
  size_t *order = pages(COUNT * sizeof *order);
  if (texts == NULL || order == NULL) return BERTQA_ERROR_OUT_OF_MEMORY;
  return bertqa_sequence_rank(predicting, "O", 1, texts, COUNT, NULL, NULL, order, NULL, NULL);
}

/* A call that fails because of its arguments has had the memory for them. */
static bertqa_status had_memory(bertqa_status expected, bertqa_status found) {
  return found == expected ? BERTQA_OK : found == BERTQA_OK ? BERTQA_ERROR_INTERNAL : found;
}

static bertqa_status step(void) {
  enum { COUNT = 4000000 };
  int32_t *ids = pages(COUNT * sizeof *ids);
  bertqa_sequence_state **next = pages(COUNT * sizeof *next);
  if (ids == NULL || next == NULL) return BERTQA_ERROR_OUT_OF_MEMORY;
  ids[0] = -1;
  return had_memory(BERTQA_ERROR_INVALID_ARGUMENT,
                    bertqa_sequence_step(predicting, ids, NULL, COUNT, NULL, next, NULL, 0));
}

/* A word of such characters as are looked for in two ways. */
static bertqa_status predict(void) {
  bertqa_prediction *prediction;
  return bertqa_sequence_predict(predicting, signs, WORDS_SIZE, NULL, NULL, &prediction, NULL);
}

/* All but the checksum is that of a state. */
static bertqa_status deserialize(void) {
  char *bytes = pages(MARKS_SIZE);
  if (bytes == NULL) return BERTQA_ERROR_OUT_OF_MEMORY;
  const uint32_t numbers[] = {1, (MARKS_SIZE - 32) / 4};
  memcpy(bytes, "BQSTATE", 8);
  memcpy(bytes + 8, numbers, sizeof numbers);
  bertqa_sequence_state *state;
  return had_memory(BERTQA_ERROR_INVALID_ARGUMENT,
                    bertqa_sequence_state_deserialize(predicting, bytes, MARKS_SIZE, &state));
}

static bertqa_status search(void) {
  bertqa_search *made;
  return bertqa_search_create(NULL, numbers, 8 * NUMBERS, NULL, 0, NULL, &made);
}

/* Sentences that are long together, for a model that does not judge them. */
static bertqa_status classify_zero_shot(void) {
  enum { LABELS = 20 };
  bertqa_text labels[LABELS];
  for (int i = 0; i < LABELS; i++) labels[i] = (bertqa_text){"king", 4};
  const bertqa_text sentence = {hypothesis, WORDS_SIZE / 2};
  const bertqa_classify_options options = {
      .struct_size = sizeof options, .labels = labels, .label_count = LABELS, .hypothesis_template = &sentence};
  bertqa_classification *classification;
  return had_memory(BERTQA_ERROR_WRONG_MODEL,
                    bertqa_classify(classifying, "the king", 8, &options, &classification));
}

static bertqa_status load(void) {
  bertqa_context *context;
  return bertqa_context_create(tiny, NULL, &context);
}

static bertqa_status load_vocabulary(void) {
  bertqa_context *context;
  const bertqa_context_options options = {.struct_size = sizeof options, .tokenizer_only = BERTQA_ON};
  return bertqa_context_create(vocabulary, &options, &context);
}

static size_t address_space(void) {
  size_t pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  CHECK(file != NULL && fscanf(file, "%zu", &pages) == 1);
  if (file != NULL) fclose(file);
  return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* The status of the call in a child that may map so many bytes more; -1 for a child that died. */
static int attempt(bertqa_status (*call)(void), size_t room) {
  const pid_t child = fork();
  if (child == 0) {
    const struct rlimit limit = {address_space() + room, address_space() + room};
    if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(99);
    _exit(call());
  }
  int status = -1;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

static void test_call(const char *name, bertqa_status (*call)(void), int must_fail) {
  /* Megabytes; the header asks for 16 to be left to small objects. */
  static const size_t rooms[] = {16, 24, 40, 64, 100, 160, 250, 400, 640, 1000, 1600, 4000};
  int failures = 0, last = -1;
  for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
    char detail[96];
    last = attempt(call, rooms[i] * MEGABYTE);
    snprintf(detail, sizeof detail, "%s with %zu MB gave %d", name, rooms[i], last);
    check(last == BERTQA_OK || last == BERTQA_ERROR_OUT_OF_MEMORY, __FILE__, __LINE__, name, detail);
    failures += last == BERTQA_ERROR_OUT_OF_MEMORY;
    if (last == BERTQA_OK && failures > 0) break;
  }
  check(last == BERTQA_OK, __FILE__, __LINE__, name, "with the most memory");
  if (must_fail) check(failures > 0, __FILE__, __LINE__, name, "with the least memory");
}

int main(int argc, char **argv) {
  begin(argc, argv);
  CHECK_STATUS(BERTQA_OK, bertqa_pool_set_threads(1));
  answering = tiny_context(1);
  classifying = fixture_context("tiny-bert-classifier", 1);
  embedding = fixture_context("tiny-bert-embedder", 1);
  predicting = fixture_context("tiny-lstm", 1);
  mails = repeated("a@b.de ", 7 * MAILS);
  words = repeated("the king of france. ", WORDS_SIZE);
  marks = repeated("!", MARKS_SIZE);
  dots = repeated("\xE3\x80\xAE", WORDS_SIZE); /* combining marks that normalisation keeps */
  numbers = malloc(8 * NUMBERS + 1);
  for (int i = 0; i < NUMBERS; i++) snprintf(numbers + 8 * i, 9, "%07d ", i);
  signs = repeated("\xE2\x82\xAC", WORDS_SIZE);
  hypothesis = repeated("the king of france. ", WORDS_SIZE / 2);
  memcpy(hypothesis, "{}", 2);
  const int file = mkstemp(vocabulary);
  FILE *stream = fdopen(file, "w");
  fputs("[UNK]\n[CLS]\n[SEP]\n", stream);
  for (int i = 0; i < PIECES; i++) fprintf(stream, "piece number %d\n", i);
  fclose(stream);

  test_call("tokenize", tokenize, 1);
  test_call("tokenize dots", tokenize_dots, 1);
  test_call("document_create", prepare, 1);
  test_call("answer", answer, 1);
  test_call("answer marks", answer_marks, 1);
  test_call("answer_arrow", answer_arrow, 1);
  test_call("column_create", create_column, 1);
  test_call("answer_batch", answer_batch, 1);
  test_call("answer_documents", answer_documents, 1);
  test_call("embed", embed, 1);
  test_call("embed behind a prompt", embed_behind_prompt, 1);
  test_call("classify", classify, 0);
  test_call("word_counts", word_counts, 1);
  test_call("entity_list_create", list_entities, 1);
  test_call("pseudonyms_get", read_pseudonym, 1);
  test_call("redact", redact, 1);
  test_call("pseudonyms_add", add_pseudonyms, 1);
  test_call("embed_tokens", embed_tokens, 1);
  test_call("patterns", find_patterns, 1);
  test_call("sequence_rank", rank, 1);
  test_call("sequence_predict", predict, 1);
  test_call("sequence_step", step, 1);
  test_call("sequence_state_deserialize", deserialize, 1);
  test_call("search_create", search, 1);
  test_call("classify zero-shot", classify_zero_shot, 1);
  test_call("context_create", load, 0);
  test_call("context_create of a vocabulary", load_vocabulary, 1);

  unlink(vocabulary);
  free(words);
  free(marks);
  free(dots);
  free(numbers);
  free(mails);
  free(hypothesis);
  free(signs);
  bertqa_context_free(answering);
  bertqa_context_free(classifying);
  bertqa_context_free(embedding);
  bertqa_context_free(predicting);
  return finish();
}
