/* The cancellation hook is polled while a call works, whatever it works on: between two polls lies a small part of the
 * call's processor time.
 *
 * This program's clock_gettime() replaces the C library's and advances by a second at every call, so that each of the
 * library's checks polls the hook. */
#include <stdarg.h>
#include <sys/syscall.h>
#include <time.h>

#include "check.h"

static atomic_long seconds;

int clock_gettime(clockid_t clock, struct timespec *time) {
  (void)clock;
  time->tv_sec = ++seconds;
  time->tv_nsec = 0;
  return 0;
}

enum { MEGABYTE = 1 << 20, BLOCK = 1 << 16 };

/* Processor time of the process in seconds, from the system: clock_gettime() is this program's. */
static double processor_time(void) {
  struct timespec time;
  syscall(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Of the call that is running or ran last: when it began and was polled last, and its longest gap between polls. */
static double began, polled, longest;

static void note_gap(void) {
  const double now = processor_time();
  if (now - polled > longest) longest = now - polled;
  polled = now;
}

static int32_t on_poll(void *unused) {
  (void)unused;
  note_gap();
  return 0;
}

static const bertqa_call_options call = {.struct_size = sizeof call, .cancel = on_poll};

static void begin_call(void) {
  longest = 0;
  began = polled = processor_time();
}

/* Processor time to fill and copy 64 MB of new memory, as an array of tokens does that grows. It depends on the machine
 * and on what else runs there. */
static double memory_time(void) {
  enum { SIZE = 64 * MEGABYTE };
  static char *volatile array, *volatile grown; /* global: a compiler may leave out what only this function sees */
  const double start = processor_time();
  array = malloc(SIZE);
  memset(array, 1, SIZE);
  grown = malloc(2 * SIZE);
  memcpy(grown, array, SIZE);
  memset(grown + SIZE, 1, SIZE);
  const double time = processor_time() - start;
  free(array);
  free(grown);
  return time;
}

/* Notes the last gap. Returns whether all gaps are short: an eighth of the call, or what the system takes for memory. */
static int end_call(char *detail, size_t size) {
  note_gap();
  const double total = polled - began, gap = longest;
  const double allowed = gap <= total / 8 ? total / 8 : total / 8 + memory_time();
  snprintf(detail, size, "%.1f of %.1f ms passed between two polls; allowed: %.1f", 1e3 * gap, 1e3 * total, 1e3 * allowed);
  return gap <= allowed;
}

/* A successful call whose gaps are short in one of the attempts: others may have been disturbed. `discard` frees what a
 * disturbed attempt has returned. */
#define CHECK_POLLED(attempts, expression, discard)                              \
  for (int attempt = 1;; attempt++) {                                            \
    char detail[128];                                                            \
    begin_call();                                                                \
    const bertqa_status found_status = (expression);                             \
    const int is_short = end_call(detail, sizeof detail);                        \
    CHECK_STATUS(BERTQA_OK, found_status);                                       \
    if (is_short || attempt == (attempts)) {                                     \
      check(is_short, __FILE__, __LINE__, #expression, detail);                  \
      break;                                                                     \
    }                                                                            \
    discard;                                                                     \
  }

static void test_tokens(const bertqa_context *context) {
  const size_t size = 16 * MEGABYTE;
  char *marks = repeated("!", size), *dots = repeated("\xE3\x80\xAE", size);
  const bertqa_tokenize_options options = {.struct_size = sizeof options, .call = &call};
  bertqa_tokens *tokens;
  CHECK_POLLED(3, bertqa_tokenize(context, marks, size, &options, &tokens), bertqa_tokens_free(tokens));
  bertqa_tokens_free(tokens);
  /* One run of size / 3 marks that normalisation keeps: read, sorted, passed on. */
  CHECK_POLLED(3, bertqa_tokenize(context, dots, size, &options, &tokens), bertqa_tokens_free(tokens));
  bertqa_tokens_free(tokens);
  const bertqa_document_options document_options = {.struct_size = sizeof document_options, .call = &call};
  bertqa_document *document;
  CHECK_POLLED(3, bertqa_document_create(context, marks, size, &document_options, &document), bertqa_document_free(document));
  bertqa_document_free(document);
  CHECK_STATUS(BERTQA_OK, bertqa_document_create(context, dots, size, NULL, &document));
  bertqa_answer_options answer_options = tiny_options();
  answer_options.call = &call;
  bertqa_answers *answers;
  /* The search for content passes over all of a word of marks. */
  CHECK_POLLED(3, bertqa_document_answer(context, document, "king?", 5, &answer_options, &answers), bertqa_answers_free(answers));
  bertqa_answers_free(answers);
  bertqa_document_free(document);
  free(marks);
  free(dots);
}

static void answer(const bertqa_context *context, const char *text, size_t size, bertqa_answer_options options) {
  bertqa_answers *answers;
  options.call = &call;
  CHECK_POLLED(3, bertqa_answer(context, "king?", 5, text, size, &options, &answers), bertqa_answers_free(answers));
  bertqa_answers_free(answers);
}

static void test_answer(const bertqa_context *context) {
  const size_t size = 4 * MEGABYTE;
  char *words = repeated("the king of france. ", size);
  bertqa_answer_options options = tiny_options();
  options.max_windows = 1;
  answer(context, words, size, options);

  /* Every further answer takes two searches, each of which looks at up to max_answer_len starts. */
  options = tiny_options();
  options.max_answer_len = 10000;
  options.top_k = 100;
  answer(context, words, 1 << 15, options);
  free(words);

  /* The search for the sentence around an answer passes over all of it, here one unknown word. */
  char *word = repeated("x", size);
  answer(context, word, size, tiny_options());
  free(word);
}

/* So many pairs that the arrays of their results are made in steps. */
static void test_pairs(const bertqa_context *context) {
  enum { COUNT = 4 * BLOCK };
  bertqa_answer_pair *pairs = calloc(COUNT, sizeof *pairs);
  bertqa_answers **answers = calloc(COUNT, sizeof *answers);
  for (size_t i = 0; i < COUNT; i++) pairs[i] = (bertqa_answer_pair){"", 0, "the king of france", 18};
  const bertqa_answer_options options = {.struct_size = sizeof options, .call = &call};
  CHECK_POLLED(3, bertqa_answer_batch(context, pairs, COUNT, &options, answers, NULL), for (size_t i = 0; i < COUNT; i++) bertqa_answers_free(answers[i]));
  for (size_t i = 0; i < COUNT; i++) bertqa_answers_free(answers[i]);
  free(pairs);
  free(answers);
}

static void test_labeler(const bertqa_context *embedder) {
  enum { COUNT = 20000 };
  bertqa_example *examples = calloc(COUNT, sizeof *examples);
  char (*names)[8] = calloc(COUNT, sizeof *names);
  for (size_t i = 0; i < COUNT; i++) {
    const int length = snprintf(names[i], sizeof names[i], "%zu", i);
    examples[i] = (bertqa_example){"king", 4, names[i], (size_t)length};
  }
  const bertqa_labeler_options labeler_options = {.struct_size = sizeof labeler_options, .call = &call};
  bertqa_labeler *labeler;
  CHECK_POLLED(3, bertqa_labeler_create(embedder, examples, COUNT, &labeler_options, &labeler), bertqa_labeler_free(labeler));
  const bertqa_text_pair text = {"king", 4, NULL, 0};
  bertqa_classification *classification;
  CHECK_POLLED(3, bertqa_labeler_classify(labeler, &text, 1, &call, &classification, NULL), bertqa_classification_free(classification));
  bertqa_classification_free(classification);
  bertqa_labeler_free(labeler);
  free(examples);
  free(names);
}

/* Tokenizers that are made of steps, each of which reads the text. */
static void test_pipelines(void) {
  static const char *const names[] = {"pipeline-byte-level", "pipeline-characters", "pipeline-unigram"};
  const size_t size = 4 * MEGABYTE;
  char *texts[] = {repeated("!", size), repeated("the king of france ", size), repeated("x", size),
                   repeated("\xFF", size), repeated("\xE3\x80\xAE", size)};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    char directory[4096];
    snprintf(directory, sizeof directory, "%s/../%s", tiny, names[i]);
    const bertqa_context_options options = {.struct_size = sizeof options, .tokenizer_only = BERTQA_ON};
    bertqa_context *context = NULL;
    CHECK_STATUS(BERTQA_OK, bertqa_context_create(directory, &options, &context));
    for (size_t t = 0; context != NULL && t < sizeof texts / sizeof texts[0]; t++) {
      const bertqa_tokenize_options tokenize = {.struct_size = sizeof tokenize, .call = &call};
      bertqa_tokens *tokens;
      CHECK_POLLED(3, bertqa_tokenize(context, texts[t], size, &tokenize, &tokens), bertqa_tokens_free(tokens));
      bertqa_tokens_free(tokens);
    }
    bertqa_context_free(context);
  }
  for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++) free(texts[t]);
}

/* Text in memory that grows. */
typedef struct {
  char *bytes;
  size_t size;
} buffer;

static void append(buffer *target, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  target->size += (size_t)vsprintf(target->bytes + target->size, format, arguments);
  va_end(arguments);
}

enum { VOCABULARY_TXT, UNIGRAM, BYTE_PAIRS, WORD_PIECES, TOKENIZER_FILES };

/* A tokenizer of so many pieces, to be freed. */
static bertqa_file tokenizer_file(int kind, size_t pieces) {
  buffer file = {malloc(64 * pieces + 4096), 0};
  char *words = different_words(pieces);
  if (kind == VOCABULARY_TXT) {
    append(&file, "[UNK]\n[CLS]\n[SEP]\n");
    for (size_t i = 0; i < pieces; i++) append(&file, "%.6s\n", words + 7 * i);
  } else {
    append(&file, "{\"pre_tokenizer\": {\"type\": \"%s\"}, \"model\": {\"type\": ",
           kind == UNIGRAM ? "Metaspace\", \"replacement\": \"\u2581" : "Whitespace");
    append(&file, kind == UNIGRAM      ? "\"Unigram\", \"unk_id\": 0, \"vocab\": [[\"<unk>\", 0]"
                  : kind == BYTE_PAIRS ? "\"BPE\", \"vocab\": {\"w\": 0, \"a\": 1, \"wa\": 2"
                                       : "\"WordPiece\", \"vocab\": {\"[UNK]\": 0");
    const size_t first = kind == BYTE_PAIRS ? 3 : 1;
    for (size_t i = 0; i < pieces; i++)
      append(&file, kind == UNIGRAM ? ", [\"%.6s\", -%zu.5]" : ", \"%.6s\": %zu", words + 7 * i, first + i);
    append(&file, kind == UNIGRAM ? "]" : "}");
    if (kind == BYTE_PAIRS) {
      append(&file, ", \"merges\": [\"w a\"");
      for (size_t i = 1; i < pieces; i++) append(&file, ", \"w a\"");
      append(&file, "]");
    }
    append(&file, "}}");
  }
  free(words);
  return (bertqa_file){kind == VOCABULARY_TXT ? "vocab.txt" : "tokenizer.json", file.bytes, file.size};
}

static bertqa_status load_tokenizer(const bertqa_file *file, const bertqa_call_options *call) {
  const bertqa_context_options options = {.struct_size = sizeof options, .call = call, .tokenizer_only = BERTQA_ON};
  bertqa_context *context = NULL;
  const bertqa_status status = bertqa_context_create_from_files(file, 1, &options, &context);
  CHECK((context != NULL) == (status == BERTQA_OK));
  bertqa_context_free(context);
  return status;
}

static int32_t count_down(void *left) { return --*(long *)left < 0; }

static void *load_in_child(void *file) {
  const pid_t child = fork_child();
  if (child == 0) {
    CHECK_STATUS(BERTQA_OK, load_tokenizer(file, NULL));
    end_child();
  }
  CHECK(succeeds(child));
  return NULL;
}

typedef struct {
  bertqa_file *file;
  int calls;
} loading;

/* Waits for a thread that forks, and forks. */
static int32_t fork_now(void *user) {
  loading *progress = user;
  if (++progress->calls != 2 && progress->calls != 4) return 0;
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, load_in_child, progress->file) == 0);
  pthread_join(thread, NULL);
  load_in_child(progress->file);
  return 0;
}

/* A loading holds fork() back, but while the hook runs. */
static void test_forking_hook(bertqa_file *file) {
  loading progress = {file, 0};
  const bertqa_call_options forking = {.struct_size = sizeof forking, .cancel = fork_now, .user = &progress};
  CHECK_STATUS(BERTQA_OK, load_tokenizer(file, &forking));
  CHECK(progress.calls > 4);
  load_in_child(file);
}

/* The tables of a vocabulary; each way of spelling one is read by other code. */
static void test_vocabularies(void) {
  enum { PIECES = 1 << 17, FEW = 1 << 14 };
  for (int kind = 0; kind < TOKENIZER_FILES; kind++) {
    bertqa_file file = tokenizer_file(kind, FEW);
    test_forking_hook(&file);
    free((void *)file.data);
    file = tokenizer_file(kind, PIECES);
    const bertqa_context_options options = {
        .struct_size = sizeof options, .call = &call, .tokenizer_only = BERTQA_ON};
    bertqa_context *context = NULL;
    CHECK_POLLED(3, bertqa_context_create_from_files(&file, 1, &options, &context), bertqa_context_free(context));
    bertqa_context_free(context);
    free((void *)file.data);
    /* Wherever it is stopped. */
    file = tokenizer_file(kind, FEW);
    long questions = 0;
    bertqa_status status;
    do {
      long left = questions++;
      const bertqa_call_options stopped = {.struct_size = sizeof stopped, .cancel = count_down, .user = &left};
      status = load_tokenizer(&file, &stopped);
      CHECK(status == BERTQA_OK || status == BERTQA_ERROR_CANCELLED);
    } while (status == BERTQA_ERROR_CANCELLED && questions < 1000);
    CHECK_STATUS(BERTQA_OK, status);
    CHECK(questions > 2);
    free((void *)file.data);
  }
}

/* Words of a recurrent model: it is asked at each, as each is a step of the network. */
static void test_sequences(void) {
  enum { WORDS = 3000 };
  bertqa_context *context = fixture_context("tiny-lstm", 1);
  char *text = repeated("the king ", WORDS / 2 * 9);
  const size_t size = strlen("the king ") * (WORDS / 2);
  const bertqa_sequence_options options = {.struct_size = sizeof options, .call = &call};
  bertqa_sequence_score score = BERTQA_SEQUENCE_SCORE_INIT;
  CHECK_POLLED(3, bertqa_sequence_likelihood(context, text, size, NULL, &options, &score), (void)0);
  bertqa_prediction *prediction;
  CHECK_POLLED(3, bertqa_sequence_predict_text(context, text, size, NULL, &options, &prediction, NULL), bertqa_prediction_free(prediction));
  bertqa_prediction_free(prediction);
  bertqa_text *continuations = calloc(WORDS, sizeof *continuations);
  size_t *order = calloc(WORDS, sizeof *order);
  for (size_t i = 0; i < WORDS; i++) continuations[i] = (bertqa_text){"the king", 8};
  CHECK_POLLED(3, bertqa_sequence_rank(context, "O", 1, continuations, WORDS, NULL, &options, order, NULL, NULL), (void)0);
  const bertqa_generate_options generate = {
      .struct_size = sizeof generate, .call = &call, .max_words = WORDS, .temperature = 1};
  bertqa_generation *generation;
  CHECK_POLLED(3, bertqa_sequence_generate(context, text, size, NULL, &generate, &generation), bertqa_generation_free(generation));
  bertqa_generation_free(generation);
  free(continuations);
  free(order);
  free(text);
  bertqa_context_free(context);
}

/* Trains a model on many short texts. */
static void train(const char *parent, bertqa_algorithm algorithm, int32_t iterations) {
  enum { TEXTS = 20480 };
  const bertqa_train_options options = {.struct_size = sizeof options, .folds = -1, .threads = 1,
                                        .algorithm = algorithm, .max_iterations = iterations, .tolerance = 1e-9};
  char directory[64], command[96];
  bertqa_trainer *trainer;
  CHECK_STATUS(BERTQA_OK, bertqa_trainer_create(&options, &trainer));
  for (int i = 0; i < TEXTS; i++) {
    const char *words = i % 3 ? "goal match final" : i % 2 ? "vote bill match" : "vote final law";
    CHECK_STATUS(BERTQA_OK, bertqa_trainer_add(trainer, words, strlen(words), i % 5 % 2 ? "a" : "b", 1, NULL));
  }
  snprintf(directory, sizeof directory, "%s/training", parent);
  CHECK_POLLED(1, bertqa_trainer_finish(trainer, directory, &call, NULL), (void)0);
  bertqa_trainer_free(trainer);
  snprintf(command, sizeof command, "rm -rf %s", directory);
  CHECK(system(command) == 0);
}

/* Different words, which are put in order, and all of which explain a label. */
static void test_order(const char *parent) {
  enum { COUNT = 1 << 18 };
  char *words = different_words(COUNT), directory[64];
  bertqa_trainer *trainer;
  const bertqa_train_options options = {.struct_size = sizeof options, .folds = -1, .threads = 1,
                                        .algorithm = BERTQA_ALGORITHM_NAIVE_BAYES, .max_vocabulary = COUNT};
  CHECK_STATUS(BERTQA_OK, bertqa_trainer_create(&options, &trainer));
  CHECK_STATUS(BERTQA_OK, bertqa_trainer_add(trainer, words, 7 * COUNT, "a", 1, NULL));
  CHECK_STATUS(BERTQA_OK, bertqa_trainer_add(trainer, words, 7 * COUNT / 2, "b", 1, NULL));
  snprintf(directory, sizeof directory, "%s/order", parent);
  CHECK_POLLED(1, bertqa_trainer_finish(trainer, directory, &call, NULL), (void)0);
  bertqa_trainer_free(trainer);
  const bertqa_context_options loading = {.struct_size = sizeof loading, .call = &call, .load = BERTQA_LOAD_COPY};
  bertqa_context *context = NULL;
  CHECK_POLLED(3, bertqa_context_create(directory, &loading, &context), bertqa_context_free(context));
  const bertqa_classify_options classify = {.struct_size = sizeof classify, .call = &call, .contributions = COUNT};
  bertqa_classification *classification;
  CHECK_POLLED(3, bertqa_classify(context, words, 7 * COUNT, &classify, &classification), bertqa_classification_free(classification));
  bertqa_classification_free(classification);
  bertqa_context_free(context);
  free(words);
}

/* Entities are put in order and replaced, what is between them is copied. */
static void test_redaction(void) {
  enum { COUNT = 4 * BLOCK, BEHIND = 16 * MEGABYTE };
  char *text = repeated("a@b.de ", 7 * COUNT + BEHIND), *output = malloc(7 * COUNT + BEHIND);
  bertqa_entity_list *list;
  size_t needed;
  CHECK_STATUS(BERTQA_OK, bertqa_patterns(text, 7 * COUNT, NULL, &list));
  CHECK(bertqa_entity_list_count(list) == COUNT);
  const bertqa_entity_list *const lists[] = {list};
  const bertqa_redact_options options = {.struct_size = sizeof options, .call = &call, .text = "-",
                                         .text_length = 1, .replacement = BERTQA_REPLACEMENT_TEXT};
  CHECK_POLLED(3, bertqa_redact(text, 7 * COUNT + BEHIND, lists, 1, &options, output, 7 * COUNT + BEHIND, &needed), (void)0);
  CHECK(needed == 2 * COUNT + BEHIND);
  bertqa_entity_list_free(list);
  free(text);
  free(output);
}

/* Names of a few words are looked for in a text without words. */
static void test_phrases(void) {
  enum { BEHIND = 64 * MEGABYTE };
  char *text = repeated(" ", BEHIND);
  memcpy(text, "Paris", 5);
  const bertqa_labelled_range name = {{0, 5}, "LOC", 3, 1, 0};
  const bertqa_text allowed = {"Lyon", 4};
  bertqa_entity_list *list, *all;
  CHECK_STATUS(BERTQA_OK, bertqa_entity_list_create(text, BEHIND, &name, 1, NULL, &list));
  const bertqa_entity_list *const lists[] = {list};
  CHECK_POLLED(3, bertqa_everywhere(text, BEHIND, lists, 1, &call, &all), bertqa_entity_list_free(all));
  CHECK(bertqa_entity_list_count(all) == 1);
  bertqa_entity_list_free(all);
  CHECK_POLLED(3, bertqa_apply_lists(text, BEHIND, lists, 1, &allowed, 1, NULL, 0, &call, &all), bertqa_entity_list_free(all));
  bertqa_entity_list_free(all);
  bertqa_entity_list_free(list);
  free(text);
}

static void test_words(void) {
  const size_t size = 16 * MEGABYTE;
  char *text = repeated("The striker scored a goal in the final match. ", size), *word = repeated("x", size);
  bertqa_trainer *trainer;
  const bertqa_train_options options = {.struct_size = sizeof options, .folds = -1, .threads = 1};
  CHECK_STATUS(BERTQA_OK, bertqa_trainer_create(&options, &trainer));
  CHECK_POLLED(1, bertqa_trainer_add(trainer, text, size, "sport", 5, &call), (void)0);
  CHECK_POLLED(1, bertqa_trainer_add(trainer, word, size, "other", 5, &call), (void)0);
  char parent[] = "/tmp/bertqa-poll-XXXXXX", directory[64], command[96];
  CHECK(mkdtemp(parent) != NULL);
  snprintf(directory, sizeof directory, "%s/model", parent);
  CHECK_POLLED(1, bertqa_trainer_finish(trainer, directory, &call, NULL), (void)0);
  bertqa_trainer_free(trainer);
  train(parent, BERTQA_ALGORITHM_NAIVE_BAYES, 0);
  train(parent, BERTQA_ALGORITHM_LOGISTIC_REGRESSION, 4);
  test_order(parent);
  bertqa_context *context = context_of(directory, 1);
  const bertqa_classify_options classify = {.struct_size = sizeof classify, .call = &call, .contributions = 10};
  bertqa_classification *classification;
  CHECK_POLLED(3, bertqa_classify(context, text, size, &classify, &classification), bertqa_classification_free(classification));
  bertqa_classification_free(classification);
  bertqa_context_free(context);
  const bertqa_patterns_options patterns = {.struct_size = sizeof patterns, .call = &call};
  bertqa_entity_list *list;
  CHECK_POLLED(3, bertqa_patterns(text, size, &patterns, &list), bertqa_entity_list_free(list));
  bertqa_entity_list_free(list);
  free(text);
  free(word);
  snprintf(command, sizeof command, "rm -rf %s", parent);
  CHECK(system(command) == 0);
}

int main(int argc, char **argv) {
  begin(argc, argv);
  bertqa_context *context = tiny_context(1);
  bertqa_context *embedder = fixture_context("tiny-bert-embedder", 1);
  test_tokens(context);
  test_answer(context);
  test_pairs(context);
  test_labeler(embedder);
  test_pipelines();
  test_vocabularies();
  test_sequences();
  test_redaction();
  test_phrases();
  test_words();
  bertqa_context_free(context);
  bertqa_context_free(embedder);
  return finish();
}
