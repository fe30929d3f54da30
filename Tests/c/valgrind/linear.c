/* The public functions on hostile texts: see linear.h. What is trained is written into the working directory. */
#include "linear.h"

static bertqa_context *tokenizers[4], *answering, *classifying, *embedding, *tagging, *counting, *predicting;

/* ---- Functions of a text */

static void tokenize(const bertqa_context *context, const char *text, size_t size) {
  bertqa_tokens *tokens;
  require(bertqa_tokenize(context, text, size, NULL, &tokens));
  bertqa_tokens_free(tokens);
}
static void tokenize_bert(const char *text, size_t size) { tokenize(tokenizers[0], text, size); }
static void tokenize_bytes(const char *text, size_t size) { tokenize(tokenizers[1], text, size); }
static void tokenize_characters(const char *text, size_t size) { tokenize(tokenizers[2], text, size); }
static void tokenize_unigram(const char *text, size_t size) { tokenize(tokenizers[3], text, size); }

static void prepare(const char *text, size_t size) {
  bertqa_document *document;
  require(bertqa_document_create(answering, text, size, NULL, &document));
  bertqa_document_free(document);
}

static void answer_with(const bertqa_answer_options *options, const char *text, size_t size) {
  bertqa_answers *answers;
  require(bertqa_answer(answering, "who?", 4, text, size, options, &answers));
  bertqa_answers_free(answers);
}

/* One window is read, so that the work is that of tokenizing, ranking and making ranges. */
static void answer(const char *text, size_t size) {
  bertqa_answer_options options = BERTQA_ANSWER_OPTIONS_INIT;
  options.max_windows = 1;
  options.top_k = 5;
  answer_with(&options, text, size);
}

static void answer_all(const char *text, size_t size) {
  bertqa_answer_options options = BERTQA_ANSWER_OPTIONS_INIT;
  options.top_k = 20;
  options.max_answer_len = 100;
  answer_with(&options, text, size);
}

static void ask(const char *text, size_t size) { /* the text is the question */
  bertqa_answers *answers;
  require(bertqa_answer(answering, text, size, "the king of france", 18, NULL, &answers));
  bertqa_answers_free(answers);
}

static void classify(const char *text, size_t size) {
  bertqa_classification *classification;
  require(bertqa_classify(classifying, text, size, NULL, &classification));
  bertqa_classification_free(classification);
}

static void count_words(const char *text, size_t size) {
  bertqa_classify_options options = BERTQA_CLASSIFY_OPTIONS_INIT;
  options.contributions = 1000;
  bertqa_classification *classification;
  require(bertqa_classify(counting, text, size, &options, &classification));
  bertqa_classification_free(classification);
}

static void embed(const char *text, size_t size) {
  static float vector[4096];
  const bertqa_text_pair pair = {text, size, NULL, 0};
  require(bertqa_embed(embedding, &pair, 1, NULL, vector, bertqa_context_info(embedding)->embedding_length, NULL));
}

static void find_entities(const char *text, size_t size) {
  bertqa_entities_options options = BERTQA_ENTITIES_OPTIONS_INIT;
  options.aggregation = BERTQA_AGGREGATION_FIRST;
  bertqa_entity_list *list;
  require(bertqa_entities(tagging, text, size, &options, &list));
  bertqa_entity_list_free(list);
}

static void likelihood(const char *text, size_t size) {
  bertqa_sequence_score score = BERTQA_SEQUENCE_SCORE_INIT;
  require(bertqa_sequence_likelihood(predicting, text, size, NULL, NULL, &score));
}

/* Rules must not read again what the call does not ask for. */
static void find_each_pattern(const char *text, size_t size) {
  bertqa_patterns_options options = BERTQA_PATTERNS_OPTIONS_INIT;
  bertqa_entity_list *list;
  for (options.patterns = BERTQA_PATTERN_EMAIL; bertqa_patterns(text, size, &options, &list) == BERTQA_OK;
       options.patterns *= 2)
    bertqa_entity_list_free(list);
  if (options.patterns <= BERTQA_PATTERN_BIRTH_DATE) exit(1);
}

static void find_patterns(const char *text, size_t size) {
  bertqa_entity_list *list;
  require(bertqa_patterns(text, size, NULL, &list));
  const bertqa_entity_list *const lists[] = {list};
  size_t needed = 0;
  char *output = malloc(16 * size + 1);
  require(bertqa_redact(text, size, lists, 1, NULL, output, 16 * size, &needed));
  bertqa_pseudonyms *names;
  require(bertqa_pseudonyms_create(&names));
  const bertqa_redact_options named = {.struct_size = sizeof named, .pseudonyms = names,
                                       .replacement = BERTQA_REPLACEMENT_PSEUDONYM};
  require(bertqa_redact(text, size, lists, 1, &named, output, 16 * size, &needed));
  char *restored = malloc(size + 1);
  size_t count = 0;
  require(bertqa_restore(output, needed, names, NULL, restored, size, &count));
  free(restored);
  bertqa_pseudonyms_free(names);
  const bertqa_redact_options masked = {.struct_size = sizeof masked, .keep = 2,
                                        .replacement = BERTQA_REPLACEMENT_MASK};
  require(bertqa_redact(text, size, lists, 1, &masked, output, 16 * size, &needed));
  free(output);
  /* Words of the texts, of which the second begins like the first. */
  static const bertqa_text allow[] = {{"a a a a a a a b", 15}, {"a", 1}}, deny[] = {{"a a a a a a a a a c", 19}, {"1", 1}};
  bertqa_entity_list *changed, *every;
  require(bertqa_apply_lists(text, size, lists, 1, allow, 2, deny, 2, NULL, &changed));
  const bertqa_entity_list *const some[] = {changed};
  require(bertqa_everywhere(text, size, some, 1, NULL, &every));
  bertqa_entity_list_free(every);
  bertqa_entity_list_free(changed);
  bertqa_entity_list_free(list);
}

/* Ranges that begin in the same white space, in front of an allowed word. */
static void allow_overlapping(const char *text, size_t size) {
  (void)text;
  char *gap = malloc(size);
  memset(gap, ' ', size);
  gap[size - 1] = 'a';
  const size_t count = size / 16;
  bertqa_labelled_range *ranges = calloc(count, sizeof *ranges);
  for (size_t i = 0; i < count; i++)
    ranges[i] = (bertqa_labelled_range){.bytes = {i, size}, .label = "A", .label_length = 1, .score = 1};
  static const bertqa_text allow = {"a", 1};
  bertqa_entity_list *list, *changed;
  require(bertqa_entity_list_create(gap, size, ranges, count, NULL, &list));
  const bertqa_entity_list *const lists[] = {list};
  require(bertqa_apply_lists(gap, size, lists, 1, &allow, 1, NULL, 0, NULL, &changed));
  bertqa_entity_list_free(changed);
  bertqa_entity_list_free(list);
  free(ranges);
  free(gap);
}

static void train(const char *text, size_t size) {
  bertqa_trainer *trainer;
  require(bertqa_trainer_create(NULL, &trainer));
  require(bertqa_trainer_add(trainer, text, size, "a", 1, NULL));
  bertqa_trainer_free(trainer);
}

/* ---- Functions of many items; the text is cut into words, whose number counts */

static void answer_batch(const char *text, size_t size) {
  const size_t count = size / 64;
  bertqa_answer_pair *pairs = calloc(count, sizeof *pairs);
  bertqa_answers **answers = calloc(count, sizeof *answers);
  for (size_t i = 0; i < count; i++) pairs[i] = (bertqa_answer_pair){i % 2 ? "who?" : "", i % 2 ? 4 : 0, text, 64};
  require(bertqa_answer_batch(answering, pairs, count, NULL, answers, NULL));
  for (size_t i = 0; i < count; i++) bertqa_answers_free(answers[i]);
  free(pairs);
  free(answers);
}

static void label(const char *text, size_t size) {
  const size_t count = size / 64;
  char(*names)[16] = calloc(count, sizeof *names);
  bertqa_example *examples = calloc(count, sizeof *examples);
  for (size_t i = 0; i < count; i++) {
    const int length = snprintf(names[i], sizeof names[i], "label %zu", i);
    examples[i] = (bertqa_example){text, 16, names[i], (size_t)length};
  }
  bertqa_labeler *labeler;
  require(bertqa_labeler_create(embedding, examples, count, NULL, &labeler));
  const bertqa_text_pair pair = {text, 16, NULL, 0};
  bertqa_classification *classification;
  require(bertqa_labeler_classify(labeler, &pair, 1, NULL, &classification, NULL));
  bertqa_classification_free(classification);
  bertqa_labeler_free(labeler);
  free(names);
  free(examples);
}

/* Training takes texts times labels: here there are two labels. */
static void train_texts(const char *text, size_t size) {
  static int number;
  bertqa_train_options options = BERTQA_TRAIN_OPTIONS_INIT;
  options.algorithm = BERTQA_ALGORITHM_NAIVE_BAYES;
  options.folds = 2;
  options.threads = 1;
  bertqa_trainer *trainer;
  require(bertqa_trainer_create(&options, &trainer));
  for (size_t i = 0; i < size / 64; i++)
    require(bertqa_trainer_add(trainer, text + i % 18, 46, i % 2 ? "a" : "b", 1, NULL));
  char directory[64];
  snprintf(directory, sizeof directory, "model-%d", number++);
  require(bertqa_trainer_finish(trainer, directory, NULL, NULL));
  bertqa_trainer_free(trainer);
}

/* ---- Hostile texts */

static const struct {
  const char *name, *unit;
} texts[] = {
    {"a long word", "x"},
    {"marks of punctuation", "!"},
    {"a storm of combining marks", "\xCC\x81\xCC\xA3"},
    {"marks that only move", "\xE3\x80\xAE"},
    {"a chain of joiners", "\xF0\x9F\x91\xA9\xE2\x80\x8D"},
    {"flags", "\xF0\x9F\x87\xAB"},
    {"one sentence", "the king of france "},
    {"lines", "a\n"},
    {"empty lines", "\n"},
    {"abbreviations", "Mr. "},
    {"quotes", "\"'("},
    {"invalid UTF-8", "\xF0\x9F"},
    {"syllables", "\xEA\xB0\x81"},
    {"ideographs", "\xE4\xB8\xAD"},
    {"apostrophes", "a'"},
    {"hyphens", "a-"},
    {"almost mail", "a@a."},
    {"almost numbers", "+1 (2"},
    {"divided numbers", "+49 1\n"},
    {"almost emphasis", "_1 "},
    {"almost addresses", "1.1:"},
    {"almost links", "http://www."},
    {"special tokens", "[SEP"},
    {"spaces", " "},
    {"capitals", "\xC7\x84"},
};
enum { TEXTS = sizeof texts / sizeof texts[0] };

/* quarters: of the size; less where the model reads all of the text, more where the first kilobytes do not count. */
static const struct {
  const char *name;
  void (*run)(const char *, size_t);
  size_t quarters;
} functions[] = {
    {"tokenize WordPiece", tokenize_bert, 4},
    {"tokenize byte-level BPE", tokenize_bytes, 4},
    {"tokenize BPE of characters", tokenize_characters, 4},
    {"tokenize Unigram", tokenize_unigram, 4},
    {"document_create", prepare, 32},
    {"answer, max_windows 1", answer, 32},
    {"answer, top_k 20", answer_all, 2},
    {"answer, the question", ask, 4},
    {"classify", classify, 2},
    {"classify by words", count_words, 32},
    {"embed", embed, 2},
    {"entities", find_entities, 2},
    {"sequence_likelihood", likelihood, 2},
    {"patterns and redact", find_patterns, 4},
    {"patterns, each alone", find_each_pattern, 4},
    {"trainer_add", train, 4},
}, of_items[] = {
    {"answer_batch", answer_batch, 4},
    {"labeler", label, 4},
    {"apply_lists", allow_overlapping, 4},
    {"trainer", train_texts, 4},
};

int main(int argc, char **argv) {
  const size_t base = begin(argc, argv);
  tokenizers[0] = load(fixtures, "tiny-bert", BERTQA_ON);
  tokenizers[1] = load(fixtures, "pipeline-byte-level", BERTQA_ON);
  tokenizers[2] = load(fixtures, "pipeline-characters", BERTQA_ON);
  tokenizers[3] = load(fixtures, "pipeline-unigram", BERTQA_ON);
  answering = load(fixtures, "tiny-bert", 0);
  classifying = load(fixtures, "tiny-bert-classifier", 0);
  embedding = load(fixtures, "tiny-bert-embedder", 0);
  tagging = load(fixtures, "tiny-bert-entities", 0);
  predicting = load(fixtures, "tiny-lstm", 0);
  counting = load(models, "topics-words", 0);
  for (size_t f = 0; f < sizeof functions / sizeof functions[0]; f++)
    for (size_t t = 0; t < TEXTS; t++)
      measure(functions[f].name, functions[f].run, texts[t].name, texts[t].unit, base * functions[f].quarters / 4);
  for (size_t f = 0; f < sizeof of_items / sizeof of_items[0]; f++)
    measure(of_items[f].name, of_items[f].run, "many items", "the king of france ", base * of_items[f].quarters);
  return 0;
}
