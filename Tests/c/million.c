/* A million lines, words, labels, examples, entities, pieces, and so on. Each call must end, in bounded memory; what
 * exceeds a limit must return a status. Tests/c/linear.sh checks on smaller inputs that the work is linear. Arguments:
 * the tiny model's directory; parts of the names of tests to run instead of all. Prints for each test the processor
 * time, the longest processor time between two polls of the cancel hook, and the memory. */
#include <sys/stat.h>
#include <time.h>

#include "columns.h"

enum { MILLION = 1000000 };

static char directory[] = "/tmp/bertqa-million-XXXXXX";
static bertqa_context *answering, *classifying, *tagging, *embedding, *predicting;
static char *lines, *words, *mails;

/* ---- Processor seconds between polls; every context has one thread */

static double last_poll, longest_pause;

static double processor_seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int32_t note_poll(void *unused) {
  (void)unused;
  const double now = processor_seconds();
  if (now - last_poll > longest_pause) longest_pause = now - last_poll;
  last_poll = now;
  return 0;
}

static const bertqa_call_options call = {.struct_size = sizeof call, .cancel = note_poll};

/* Makes a call that has `call` in its options. The time before its first poll and after its last one counts, too. */
#define CHECK_CALL(called)               \
  do {                                   \
    last_poll = processor_seconds();     \
    CHECK_STATUS(BERTQA_OK, called);     \
    note_poll(NULL);                     \
  } while (0)

static const bertqa_tokenize_options tokenizing = {.struct_size = sizeof tokenizing, .call = &call};
static const bertqa_entities_options finding = {.struct_size = sizeof finding, .call = &call};
static const bertqa_patterns_options matching = {.struct_size = sizeof matching, .call = &call};
static const bertqa_word_counts_options counting = {.struct_size = sizeof counting, .call = &call};
static const bertqa_classify_options labelling = {.struct_size = sizeof labelling, .call = &call};
static const bertqa_embed_options reading = {.struct_size = sizeof reading, .call = &call};
static const bertqa_sequence_options predicting_words = {.struct_size = sizeof predicting_words, .call = &call};
static const bertqa_answer_options one_window = {.struct_size = sizeof one_window, .max_windows = 1, .call = &call};

static const char *path(const char *name) {
  static char result[4][160];
  static int next;
  next = (next + 1) % 4;
  snprintf(result[next], sizeof result[next], "%s/%s", directory, name);
  return result[next];
}

/* A file of a million lines, or members, each with its number. */
static void write_numbered(const char *name, const char *before, const char *format, const char *after) {
  FILE *file = fopen(path(name), "w");
  if (file == NULL) exit(2);
  fputs(before, file);
  for (int i = 0; i < MILLION; i++) fprintf(file, format, i);
  fputs(after, file);
  CHECK(fclose(file) == 0);
}

static bertqa_context *tokenizer_of(const char *model) {
  bertqa_context_options options = BERTQA_CONTEXT_OPTIONS_INIT;
  options.tokenizer_only = BERTQA_ON;
  bertqa_context *context;
  CHECK_STATUS(BERTQA_OK, bertqa_context_create(model, &options, &context));
  if (context == NULL) exit(finish());
  return context;
}

/* ---- Texts */

static const char *const tokenizers[] = {"tiny-bert", "pipeline-byte-level", "pipeline-characters", "pipeline-unigram"};

static void tokenize(void) {
  for (int i = 0; i < 4; i++) {
    char model[4096];
    snprintf(model, sizeof model, "%s/../%s", tiny, tokenizers[i]);
    bertqa_context *context = tokenizer_of(model);
    bertqa_tokens *tokens;
    CHECK_CALL(bertqa_tokenize(context, lines, 2 * MILLION, &tokenizing, &tokens));
    CHECK(bertqa_tokens_count(tokens) >= MILLION);
    bertqa_tokens_free(tokens);
    bertqa_context_free(context);
  }
}

static void answer(void) {
  bertqa_answers *answers;
  CHECK_CALL(bertqa_answer(answering, "who?", 4, lines, 2 * MILLION, &one_window, &answers));
  bertqa_answers_free(answers);
}

/* Texts to repeat: a character, or one that ends a word or a normalised sequence. */
static const char *const units[] = {"!", "a", "\xE7\x8E\x8B", "\xE3\x80\xAE", "e\xCC\x81", "\xFF", "the king of france. "};
enum { UNITS = sizeof units / sizeof units[0], LONG = 20 * MILLION };

static void tokenize_long(int tokenizer) {
  char model[4096];
  snprintf(model, sizeof model, "%s/../%s", tiny, tokenizers[tokenizer]);
  bertqa_context *context = tokenizer_of(model);
  for (int i = 0; i < UNITS; i++) {
    char *text = repeated(units[i], LONG);
    bertqa_tokens *tokens;
    CHECK_CALL(bertqa_tokenize(context, text, LONG, &tokenizing, &tokens));
    bertqa_tokens_free(tokens);
    free(text);
  }
  bertqa_context_free(context);
}

static void long_word_pieces(void) { tokenize_long(0); }
static void long_byte_level(void) { tokenize_long(1); }
static void long_characters(void) { tokenize_long(2); }
static void long_unigram(void) { tokenize_long(3); }

static void answer_long(void) {
  for (int i = 0; i < UNITS; i++) {
    char *text = repeated(units[i], LONG);
    bertqa_answers *answers;
    CHECK_CALL(bertqa_answer(answering, "who?", 4, text, LONG, &one_window, &answers));
    bertqa_answers_free(answers);
    free(text);
  }
}

static void count_long(void) {
  for (int i = 0; i < UNITS; i++) {
    char *text = repeated(units[i], LONG);
    bertqa_word_count_list *list;
    CHECK_CALL(bertqa_word_counts(text, LONG, &counting, &list));
    bertqa_word_count_list_free(list);
    bertqa_entity_list *found;
    CHECK_CALL(bertqa_patterns(text, LONG, &matching, &found));
    bertqa_entity_list_free(found);
    free(text);
  }
}

static void find_entities(void) {
  bertqa_entity_list *list;
  CHECK_CALL(bertqa_entities(tagging, lines, 2 * MILLION, &finding, &list));
  bertqa_entity_list_free(list);
}

static void embed(void) {
  const bertqa_text_pair pair = {lines, 2 * MILLION, NULL, 0};
  float vector[256];
  CHECK_CALL(bertqa_embed(embedding, &pair, 1, &reading, vector, bertqa_context_info(embedding)->embedding_length,
                          NULL));
}

static void likelihood(void) {
  bertqa_sequence_score score = BERTQA_SEQUENCE_SCORE_INIT;
  CHECK_CALL(bertqa_sequence_likelihood(predicting, lines, 2 * MILLION, NULL, &predicting_words, &score));
}

static void redact(void) {
  bertqa_entity_list *list;
  CHECK_CALL(bertqa_patterns(mails, 7 * MILLION, &matching, &list));
  CHECK(bertqa_entity_list_count(list) == MILLION);
  const bertqa_entity_list *const lists[] = {list};
  size_t needed;
  char *output = malloc(8 * MILLION);
  const bertqa_redact_options options = {.struct_size = sizeof options, .call = &call, .text = "-",
                                         .text_length = 1, .replacement = BERTQA_REPLACEMENT_TEXT};
  CHECK_CALL(bertqa_redact(mails, 7 * MILLION, lists, 1, &options, output, 8 * MILLION, &needed));
  CHECK(needed == 2 * MILLION);
  free(output);
  bertqa_entity_list_free(list);
}

static void count_words(void) {
  bertqa_word_count_list *list;
  CHECK_CALL(bertqa_word_counts(words, 7 * MILLION, &counting, &list));
  CHECK(bertqa_word_count_list_count(list) == MILLION);
  bertqa_word_count_list_free(list);
}

/* ---- Models */

static bertqa_trainer *trainer(void) {
  bertqa_train_options options = BERTQA_TRAIN_OPTIONS_INIT;
  options.algorithm = BERTQA_ALGORITHM_NAIVE_BAYES;
  options.folds = -1;
  options.max_vocabulary = MILLION;
  bertqa_trainer *trainer;
  CHECK_STATUS(BERTQA_OK, bertqa_trainer_create(&options, &trainer));
  return trainer;
}

static void words_of_a_model(void) {
  bertqa_trainer *two = trainer();
  CHECK_CALL(bertqa_trainer_add(two, words, 7 * MILLION, "a", 1, &call));
  CHECK_CALL(bertqa_trainer_add(two, words, 7 * MILLION / 2, "b", 1, &call));
  CHECK_CALL(bertqa_trainer_finish(two, path("words"), &call, NULL));
  bertqa_trainer_free(two);
  const bertqa_context_options loading = {.struct_size = sizeof loading, .call = &call, .threads = 1};
  bertqa_context *context;
  CHECK_CALL(bertqa_context_create(path("words"), &loading, &context));
  bertqa_classify_options options = labelling;
  options.contributions = MILLION;
  bertqa_classification *classification;
  CHECK_CALL(bertqa_classify(context, words, 7 * MILLION, &options, &classification));
  CHECK(bertqa_classification_contribution_count(classification) == MILLION);
  bertqa_classification_free(classification);
  bertqa_context_free(context);
}

/* Training computes texts times labels, so only the deadline ends it. */
static void labels_of_a_model(void) {
  bertqa_trainer *many = trainer();
  bertqa_status status = BERTQA_OK;
  size_t count = 0;
  for (; count < MILLION && status == BERTQA_OK; count++) {
    char name[16];
    const int length = snprintf(name, sizeof name, "%zu", count);
    status = bertqa_trainer_add(many, "a text with words", 17, name, (size_t)length, NULL);
  }
  CHECK_STATUS(BERTQA_ERROR_TOO_LARGE, status);
  CHECK(count == 65537);
  bertqa_call_options limited = BERTQA_CALL_OPTIONS_INIT;
  limited.deadline_ns = bertqa_deadline_after(100000000);
  CHECK_STATUS(BERTQA_ERROR_DEADLINE_EXCEEDED, bertqa_trainer_finish(many, path("labels"), &limited, NULL));
  bertqa_trainer_free(many);
}

static void labels_of_a_file(void) {
  CHECK(mkdir(path("model"), 0777) == 0);
  write_numbered("model/config.json",
                 "{\"architectures\":[\"BertForSequenceClassification\"],\"model_type\":\"bert\",\"id2label\":{",
                 "\"%d\":\"a\",", "\"x\":\"a\"}}");
  bertqa_context *context;
  CHECK_FAILS(BERTQA_ERROR_INVALID_MODEL, context, bertqa_context_create(path("model"), NULL, &context));
}

static void pieces_of_a_vocabulary(void) {
  CHECK(mkdir(path("vocabulary"), 0777) == 0);
  write_numbered("vocabulary/vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n", "##w%d\n", "w\n");
  bertqa_context_free(tokenizer_of(path("vocabulary")));
}

/* ---- Items */

static void label(void) {
  char(*names)[8] = calloc(MILLION, sizeof *names);
  bertqa_example *examples = calloc(MILLION, sizeof *examples);
  for (size_t i = 0; i < MILLION; i++) {
    const int length = snprintf(names[i], sizeof names[i], "%zu", i);
    examples[i] = (bertqa_example){"a", 1, names[i], (size_t)length};
  }
  const bertqa_labeler_options options = {.struct_size = sizeof options, .call = &call};
  bertqa_labeler *labeler;
  CHECK_CALL(bertqa_labeler_create(embedding, examples, MILLION, &options, &labeler));
  const bertqa_text_pair pair = {"a", 1, NULL, 0};
  bertqa_classification *classification;
  CHECK_CALL(bertqa_labeler_classify(labeler, &pair, 1, &call, &classification, NULL));
  CHECK(bertqa_classification_count(classification) == MILLION);
  bertqa_classification_free(classification);
  bertqa_labeler_free(labeler);
  free(names);
  free(examples);
}

static void answer_batch(void) {
  bertqa_answer_pair *pairs = calloc(MILLION, sizeof *pairs);
  bertqa_answers **answers = calloc(MILLION, sizeof *answers);
  for (size_t i = 0; i < MILLION; i++) pairs[i] = (bertqa_answer_pair){"", 0, lines, 2};
  CHECK_CALL(bertqa_answer_batch(answering, pairs, MILLION, &one_window, answers, NULL));
  for (size_t i = 0; i < MILLION; i++) bertqa_answers_free(answers[i]);
  free(pairs);
  free(answers);
}

static void answer_documents(void) {
  bertqa_text *texts = calloc(MILLION, sizeof *texts);
  bertqa_answers *answers;
  for (size_t i = 0; i < MILLION; i++) texts[i] = (bertqa_text){"the king", 8};
  CHECK_CALL(bertqa_answer_documents(answering, "who?", 4, texts, MILLION, &one_window, &answers));
  bertqa_answers_free(answers);
  free(texts);
}

static void rank(void) {
  bertqa_text *texts = calloc(MILLION, sizeof *texts);
  size_t *order = calloc(MILLION, sizeof *order);
  for (size_t i = 0; i < MILLION; i++) texts[i] = (bertqa_text){"O", 1};
  CHECK_CALL(
      bertqa_sequence_rank(predicting, "O", 1, texts, MILLION, NULL, &predicting_words, order, NULL, NULL));
  free(texts);
  free(order);
}

/* Every other text is refused, each with its own status. */
static void batches(void) {
  enum { COUNT = MILLION / 5 };
  bertqa_text_pair *texts = calloc(COUNT, sizeof *texts);
  bertqa_status *statuses = calloc(COUNT, sizeof *statuses);
  void **results = calloc(COUNT, sizeof *results);
  bertqa_text *singles = calloc(COUNT, sizeof *singles);
  float *vectors = calloc(COUNT, 16 * sizeof *vectors);
  for (size_t i = 0; i < COUNT; i++) {
    singles[i] = (bertqa_text){i % 2 ? "Paris" : NULL, 5};
    texts[i] = (bertqa_text_pair){singles[i].text, 5, NULL, 0};
  }
  CHECK_CALL(bertqa_classify_batch(classifying, texts, COUNT, &labelling, (bertqa_classification **)results, statuses));
  for (size_t i = 0; i < COUNT; i++) bertqa_classification_free(results[i]);
  CHECK(statuses[0] == BERTQA_ERROR_INVALID_ARGUMENT && statuses[1] == BERTQA_OK);
  CHECK_CALL(bertqa_entities_batch(tagging, singles, COUNT, &finding, (bertqa_entity_list **)results, statuses));
  for (size_t i = 0; i < COUNT; i++) bertqa_entity_list_free(results[i]);
  CHECK(statuses[0] == BERTQA_ERROR_INVALID_ARGUMENT && statuses[1] == BERTQA_OK);
  const size_t length = bertqa_context_info(embedding)->embedding_length;
  CHECK(length <= 16);
  CHECK_CALL(bertqa_embed(embedding, texts, COUNT, &reading, vectors, COUNT * length, statuses));
  CHECK(statuses[0] == BERTQA_ERROR_INVALID_ARGUMENT && statuses[1] == BERTQA_OK);
  free(texts), free(statuses), free(results), free(singles), free(vectors);
}

static void questions(void) {
  enum { COUNT = MILLION / 5 };
  bertqa_text *texts = calloc(COUNT, sizeof *texts);
  bertqa_answers **answers = calloc(COUNT, sizeof *answers);
  for (size_t i = 0; i < COUNT; i++) texts[i] = (bertqa_text){"who?", 4};
  bertqa_document *document;
  CHECK_STATUS(BERTQA_OK, bertqa_document_create(answering, "the king", 8, NULL, &document));
  CHECK_CALL(bertqa_document_answer_batch(answering, document, texts, COUNT, &one_window, answers, NULL));
  for (size_t i = 0; i < COUNT; i++) bertqa_answers_free(answers[i]);
  bertqa_document_free(document);
  free(texts), free(answers);
}

/* A column of texts, each five bytes. */
static void columns(void) {
  enum { COUNT = MILLION / 5 };
  int32_t *offsets = calloc(COUNT + 1, sizeof *offsets), one[] = {0, 4};
  for (int32_t i = 0; i <= COUNT; i++) offsets[i] = 5 * i;
  char *texts = repeated("Paris", 5 * COUNT);
  column many, single;
  const bertqa_column column_of_texts = filled(&many, "u", NULL, offsets, texts, COUNT, 0);
  const bertqa_column question = filled(&single, "u", NULL, one, "who?", 1, 0);
  struct ArrowArray array;
  struct ArrowSchema schema;
  CHECK_CALL(bertqa_answer_arrow(answering, question, column_of_texts, &one_window, &array, &schema));
  array.release(&array), schema.release(&schema);
  CHECK_CALL(bertqa_classify_arrow(classifying, column_of_texts, &labelling, &array, &schema));
  array.release(&array), schema.release(&schema);
  CHECK_CALL(bertqa_entities_arrow(tagging, column_of_texts, &finding, &array, &schema));
  array.release(&array), schema.release(&schema);
  free(offsets), free(texts);
}

static void train_texts(void) {
  bertqa_train_options options = BERTQA_TRAIN_OPTIONS_INIT;
  options.folds = 2;
  options.calibrate = BERTQA_ON;
  bertqa_trainer *trainer;
  CHECK_STATUS(BERTQA_OK, bertqa_trainer_create(&options, &trainer));
  for (int i = 0; i < MILLION; i++) {
    char group[16];
    const int length = snprintf(group, sizeof group, "%d", i);
    CHECK_STATUS(BERTQA_OK, bertqa_trainer_set_group(trainer, group, (size_t)length));
    CHECK_STATUS(BERTQA_OK, bertqa_trainer_add(trainer, i % 3 ? "some words" : "other words", i % 3 ? 10 : 11,
                                               i % 2 ? "a" : "b", 1, NULL));
  }
  CHECK_CALL(bertqa_trainer_finish(trainer, path("texts"), &call, NULL));
  bertqa_trainer_free(trainer);
}

static void generate(void) {
  bertqa_generate_options options = BERTQA_GENERATE_OPTIONS_INIT;
  options.max_words = MILLION;
  options.temperature = 1;
  options.call = &call;
  bertqa_generation *generation;
  CHECK_CALL(bertqa_sequence_generate(predicting, lines, 2 * MILLION, NULL, &options, &generation));
  bertqa_generation_free(generation);
}

static void logits(void) {
  enum { WINDOWS = MILLION / 5 };
  int32_t *ids = calloc(2 * WINDOWS, sizeof *ids);
  size_t *lengths = calloc(WINDOWS, sizeof *lengths);
  float *start = calloc(2 * WINDOWS, sizeof *start), *end = calloc(2 * WINDOWS, sizeof *end);
  for (size_t i = 0; i < WINDOWS; i++) lengths[i] = 2;
  const bertqa_logits_options options = {.struct_size = sizeof options, .call = &call};
  CHECK_CALL(bertqa_logits(answering, ids, 2 * WINDOWS, lengths, NULL, WINDOWS, &options, start, end));
  free(ids), free(lengths), free(start), free(end);
}

static const struct {
  const char *name;
  void (*run)(void);
  long megabytes; /* the most additional memory */
} tests[] = {
    {"lines: tokenize, four tokenizers", tokenize, 400},
    {"lines: answer, max_windows 1", answer, 400},
    {"lines: entities", find_entities, 400},
    {"lines: embed", embed, 400},
    {"lines: sequence_likelihood", likelihood, 400},
    {"mail addresses: patterns, redact", redact, 400},
    {"words: word_counts", count_words, 400},
    {"words: train, load, classify", words_of_a_model, 1000},
    {"labels: train", labels_of_a_model, 400},
    {"labels: config.json", labels_of_a_file, 1000},
    {"pieces: vocab.txt", pieces_of_a_vocabulary, 400},
    {"examples and labels: labeler", label, 1000},
    {"pairs: answer_batch", answer_batch, 1000},
    {"documents: answer_documents", answer_documents, 2000},
    {"continuations: sequence_rank", rank, 1000},
    {"200,000 texts: classify_batch, entities_batch, embed", batches, 1000},
    {"200,000 questions: document_answer_batch", questions, 1000},
    {"200,000 rows: Arrow", columns, 1000},
    {"200,000 windows: logits", logits, 1000},
    {"texts: train, two folds, calibrated", train_texts, 1000},
    {"words of a prompt: sequence_generate", generate, 1000},
    {"20 MB of one unit: tokenize, WordPiece", long_word_pieces, 1000},
    {"20 MB of one unit: tokenize, byte-level BPE", long_byte_level, 3500},
    {"20 MB of one unit: tokenize, BPE of characters", long_characters, 2500},
    {"20 MB of one unit: tokenize, Unigram", long_unigram, 1500},
    {"20 MB of one unit: answer, max_windows 1", answer_long, 1000},
    {"20 MB of one unit: word_counts, patterns", count_long, 1000},
};

static long peak_kib(void) {
  char line[256];
  long kib = 0;
  FILE *file = fopen("/proc/self/status", "r");
  while (file != NULL && fgets(line, sizeof line, file))
    if (sscanf(line, "VmHWM: %ld", &kib) == 1) break;
  if (file != NULL) fclose(file);
  return kib;
}

static int is_wanted(const char *name, int argc, char **argv) {
  int wanted = argc < 3;
  for (int i = 2; i < argc; i++) wanted |= strstr(name, argv[i]) != NULL;
  return wanted;
}

int main(int argc, char **argv) {
  begin(argc > 2 ? 2 : argc, argv);
  CHECK(mkdtemp(directory) != NULL);
  lines = repeated("a\n", 2 * MILLION);
  mails = repeated("a@b.de ", 7 * MILLION);
  words = different_words(MILLION);
  answering = tiny_context(1);
  classifying = fixture_context("tiny-bert-classifier", 1);
  tagging = fixture_context("tiny-bert-entities", 1);
  embedding = fixture_context("tiny-bert-embedder", 1);
  predicting = fixture_context("tiny-lstm", 1);
  int ran = 0;
  for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
    if (!is_wanted(tests[i].name, argc, argv)) continue;
    ran++;
    alarm(1200); /* quadratic work takes days */
    FILE *file = fopen("/proc/self/clear_refs", "w"); /* resets the peak */
    if (file != NULL) fputs("5", file), fclose(file);
    const long before = peak_kib();
    const double begun = processor_seconds();
    longest_pause = 0;
    tests[i].run();
    const long megabytes = (peak_kib() - before) / 1024;
    fprintf(report, "%-54s %6.1f s %6.3f s %6ld MiB\n", tests[i].name, processor_seconds() - begun, longest_pause,
            megabytes);
    CHECK(megabytes <= tests[i].megabytes);
  }
  CHECK(ran > 0);
  char command[64];
  snprintf(command, sizeof command, "rm -rf %s", directory);
  CHECK(system(command) == 0);
  bertqa_context_free(answering);
  bertqa_context_free(classifying);
  bertqa_context_free(tagging);
  bertqa_context_free(embedding);
  bertqa_context_free(predicting);
  free(lines), free(mails), free(words);
  return finish();
}
