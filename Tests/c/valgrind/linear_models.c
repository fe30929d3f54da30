/* Word-count models with many labels and words: trained, loaded and asked. Tokenizers and embedding models whose files
 * have many entries: loaded. A size over 64 is how many; see linear.h.
 * Models are written into the working directory. */
#define _GNU_SOURCE
#include <sys/stat.h>
#include <unistd.h>

#include "linear.h"

/* ---- Many labels: of a model that is written by hand, as training takes texts times labels */

static FILE *file_in(const char *directory, const char *name) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  FILE *file = fopen(path, "w");
  if (file == NULL) exit(2);
  return file;
}

static void write_labels(size_t count, const char *directory) {
  mkdir(directory, 0777);
  FILE *file = file_in(directory, "config.json");
  fputs("{\"architectures\":[\"WordCountClassifier\"],\"min_word_length\":1,\"min_distinct_words\":1,", file);
  fputs("\"max_ngram\":1,\"tf_idf\":false,\"id2label\":{", file);
  for (size_t i = 0; i < count; i++) fprintf(file, "%s\"%zu\":\"label %zu\"", i ? "," : "", i, i);
  fputs("}}", file);
  fclose(file);
  file = file_in(directory, "vocab.txt");
  fputs("alpha\nbeta\n", file);
  fclose(file);
  char header[256];
  const size_t weights = 8 * count, size = weights + 4 * count;
  const int length = snprintf(header, sizeof header,
                              "{\"classifier.weight\":{\"dtype\":\"F32\",\"shape\":[%zu,2],\"data_offsets\":[0,%zu]},"
                              "\"classifier.bias\":{\"dtype\":\"F32\",\"shape\":[%zu],\"data_offsets\":[%zu,%zu]}}",
                              count, weights, count, weights, size);
  const unsigned long long header_size = (unsigned long long)length;
  file = file_in(directory, "model.safetensors");
  fwrite(&header_size, sizeof header_size, 1, file);
  fwrite(header, 1, (size_t)length, file);
  for (size_t i = 0; i < size / 4; i++) {
    const float number = (float)(i * 7919 % 1000) / 1000;
    fwrite(&number, sizeof number, 1, file);
  }
  fclose(file);
}

/* ---- Many words */

static bertqa_trainer *trainer(int32_t words) {
  bertqa_train_options options = BERTQA_TRAIN_OPTIONS_INIT;
  options.algorithm = BERTQA_ALGORITHM_NAIVE_BAYES;
  options.folds = -1;
  options.threads = 1;
  options.max_vocabulary = words;
  bertqa_trainer *trainer;
  require(bertqa_trainer_create(&options, &trainer));
  return trainer;
}

/* "wabcde " for a number: seven bytes. */
static char *many_words(size_t count) {
  char *text = malloc(7 * count);
  for (size_t i = 0; i < count; i++) {
    size_t number = i;
    text[7 * i] = 'w';
    for (int digit = 1; digit < 6; digit++, number /= 26) text[7 * i + (size_t)digit] = (char)('a' + number % 26);
    text[7 * i + 6] = ' ';
  }
  return text;
}

static void train_words(size_t count, const char *directory) {
  char *text = many_words(count);
  bertqa_trainer *two = trainer((int32_t)count);
  require(bertqa_trainer_add(two, text, 7 * count, "a", 1, NULL));
  require(bertqa_trainer_add(two, text, 7 * count / 2, "b", 1, NULL));
  require(bertqa_trainer_finish(two, directory, NULL, NULL));
  bertqa_trainer_free(two);
  free(text);
}

/* ---- Many entries of the files of tokenizers and of embedding models */

static void write_vocabulary(const char *directory) {
  mkdir(directory, 0777);
  FILE *file = file_in(directory, "vocab.txt");
  fputs("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n", file);
  fclose(file);
  file = file_in(directory, "tokenizer_config.json");
  fputs("{\"do_lower_case\":true}", file);
  fclose(file);
}

static void write_named_tokens(size_t count, const char *directory) {
  write_vocabulary(directory);
  FILE *file = file_in(directory, "special_tokens_map.json");
  for (size_t i = 0; i < count; i++) fprintf(file, "%c\"token_%zu\":\"a\"", i ? ',' : '{', i);
  fputs("}", file);
  fclose(file);
}

static void write_template(size_t count, const char *directory) {
  mkdir(directory, 0777);
  FILE *file = file_in(directory, "tokenizer.json");
  fputs("{\"model\":{\"type\":\"WordLevel\",\"vocab\":{\"a\":0},\"unk_token\":\"a\"},\"post_processor\":{", file);
  fputs("\"type\":\"TemplateProcessing\",\"special_tokens\":{", file);
  for (size_t i = 0; i < count; i++) fprintf(file, "%s\"%zu\":{\"ids\":[]}", i ? "," : "", i);
  for (int pair = 0; pair < 2; pair++) {
    fprintf(file, "%s:[", pair ? "],\"pair\"" : "},\"single\"");
    for (size_t i = 0; i < count; i++) fprintf(file, "{\"SpecialToken\":{\"id\":\"%zu\"}},", i);
    fputs("{\"Sequence\":{\"id\":\"A\"}}", file);
  }
  fputs(",{\"Sequence\":{\"id\":\"B\"}}]}}", file);
  fclose(file);
}

static void link_fixture(const char *fixture, const char *name, const char *directory) {
  char from[4096], to[128];
  snprintf(from, sizeof from, "%s/%s/%s", fixtures, fixture, name);
  snprintf(to, sizeof to, "%s/%s", directory, name);
  if (symlink(from, to) != 0) exit(2);
}

static void write_prompts(size_t count, const char *directory) {
  mkdir(directory, 0777);
  const char *names[] = {"config.json", "model.safetensors", "tokenizer_config.json", "vocab.txt"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) link_fixture("tiny-mpnet-embedder", names[i], directory);
  FILE *file = file_in(directory, "config_sentence_transformers.json");
  fputs("{\"prompts\":{", file);
  for (size_t i = 0; i < count; i++) fprintf(file, "%s\"prompt %zu\":\"%zu: \"", i ? "," : "", i, i);
  fputs("}}", file);
  fclose(file);
}

/* ---- What is counted */

/* The directory of a model that was made before, or is now: its making is not counted. */
static const char *made(void make(size_t, const char *), const char *kind, size_t count) {
  static char directory[64];
  struct stat status;
  snprintf(directory, sizeof directory, "%s-%zu", kind, count);
  if (stat(directory, &status) != 0) make(count, directory);
  CALLGRIND_ZERO_STATS;
  return directory;
}

static void training_words(const char *text, size_t size) {
  static int number;
  char directory[64];
  (void)text;
  snprintf(directory, sizeof directory, "words-again-%d", number++);
  train_words(size / 64, directory);
}

static void load_and_free(const char *directory) { bertqa_context_free(load(".", directory, 0)); }

static void loading_named_tokens(const char *text, size_t size) {
  (void)text;
  bertqa_context_free(load(".", made(write_named_tokens, "named-tokens", size / 64), 1));
}

static void loading_template(const char *text, size_t size) {
  (void)text;
  bertqa_context_free(load(".", made(write_template, "template", size / 64), 1));
}

static void loading_prompts(const char *text, size_t size) {
  (void)text;
  load_and_free(made(write_prompts, "prompts", size / 64));
}

static void loading_labels(const char *text, size_t size) {
  (void)text;
  load_and_free(made(write_labels, "labels", size / 64));
}

static void loading_words(const char *text, size_t size) {
  (void)text;
  load_and_free(made(train_words, "words", size / 64));
}

static void classify(const bertqa_context *context, const char *text, size_t length) {
  bertqa_classify_options options = BERTQA_CLASSIFY_OPTIONS_INIT;
  options.contributions = 10;
  bertqa_classification *classification;
  CALLGRIND_ZERO_STATS;
  require(bertqa_classify(context, text, length, &options, &classification));
  bertqa_classification_free(classification);
}

static void classifying_labels(const char *text, size_t size) {
  (void)text;
  bertqa_context *context = load(".", made(write_labels, "labels", size / 64), 0);
  classify(context, "alpha beta beta", 15);
  bertqa_context_free(context);
}

static void classifying_words(const char *text, size_t size) {
  (void)text;
  bertqa_context *context = load(".", made(train_words, "words", size / 64), 0);
  char *words = many_words(size / 64);
  classify(context, words, 7 * (size / 64));
  free(words);
  bertqa_context_free(context);
}

int main(int argc, char **argv) {
  const size_t base = begin(argc, argv);
  measure("load, many labels", loading_labels, "65536 at most", "x", 256 * base);
  measure("classify, many labels", classifying_labels, "65536 at most", "x", 256 * base);
  measure("load, many named tokens", loading_named_tokens, "all different", "x", 64 * base);
  measure("load, a long template", loading_template, "all different", "x", 64 * base);
  measure("load, many prompts", loading_prompts, "all different", "x", 64 * base);
  measure("train, many words", training_words, "all different", "x", 64 * base);
  measure("load, many words", loading_words, "all different", "x", 64 * base);
  measure("classify, many words", classifying_words, "all different", "x", 64 * base);
  return 0;
}
