/* Shared by the fuzz targets. A target is a LLVMFuzzerTestOneInput over the public C ABI: linked
 * with libFuzzer and an instrumented core by fuzz.sh, or with replay.c and the released library.
 * FIXTURES is the directory of the tiny models. */
#ifndef FUZZ_H
#define FUZZ_H

#include <bertqa_experimental.h>
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A promise of the header that does not hold ends the process, as a crash does. */
#define REQUIRE(condition)                                                                       \
  do {                                                                                           \
    if (!(condition)) {                                                                          \
      fprintf(stderr, "%s:%d: %s (last error: %s)\n", __FILE__, __LINE__, #condition,            \
              bertqa_last_error());                                                              \
      abort();                                                                                   \
    }                                                                                            \
  } while (0)

/* A variable with options, which have their defaults. */
#define OPTIONS(kind, name)     \
  bertqa_##kind##_options name; \
  bertqa_##kind##_options_init(&name, sizeof name)

/* One of the statuses of the header, with a message for a failure. */
static inline int is_ok(bertqa_status status) {
  REQUIRE(status >= BERTQA_OK && status <= BERTQA_ERROR_DEADLINE_EXCEEDED);
  REQUIRE(status != BERTQA_ERROR_INTERNAL);
  if (status != BERTQA_OK) {
    const char *message = bertqa_last_error();
    REQUIRE(*message != '\0' && strlen(message) <= 1000 && strchr(message, '\n') == NULL);
    REQUIRE(strchr(bertqa_last_error_argument(), '\n') == NULL);
    REQUIRE(bertqa_last_error_item() == SIZE_MAX || bertqa_last_error_item() < 1 << 20);
    REQUIRE(strncmp(bertqa_status_name(status), "BERTQA_ERROR_", 13) == 0);
  }
  return status == BERTQA_OK;
}

/* A context of a tiny model, which lives as long as the process. */
static inline bertqa_context *fixture(const char *name, bertqa_switch tokenizer_only) {
  OPTIONS(context, options);
  options.threads = 1;
  options.tokenizer_only = tokenizer_only;
  bertqa_context *context;
  int directory = open(FIXTURES, O_RDONLY | O_DIRECTORY);
  REQUIRE(directory >= 0);
  REQUIRE(bertqa_context_create_at(directory, name, &options, &context) == BERTQA_OK);
  close(directory);
  return context;
}

/* A file of a tiny model, in memory that is never freed. */
static inline bertqa_file fixture_file(const char *model, const char *name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s/%s", FIXTURES, model, name);
  FILE *file = fopen(path, "rb");
  REQUIRE(file != NULL && fseek(file, 0, SEEK_END) == 0);
  long size = ftell(file);
  REQUIRE(size >= 0);
  void *data = malloc((size_t)size + 1);
  rewind(file);
  REQUIRE(data != NULL && fread(data, 1, (size_t)size, file) == (size_t)size);
  fclose(file);
  return (bertqa_file){name, data, (size_t)size};
}

/* Bytes that are drawn from the front of the input; 0 behind its end. */
typedef struct input {
  const uint8_t *data;
  size_t size;
} input;

static inline uint8_t draw(input *in) {
  if (in->size == 0) return 0;
  in->size--;
  return *in->data++;
}

/* Up to `limit` bytes, whose number is drawn, too. */
static inline input draw_bytes(input *in, size_t limit) {
  size_t count = (size_t)draw(in) << 8;
  count |= draw(in);
  if (count > limit) count = limit;
  if (count > in->size) count = in->size;
  input part = {in->data, count};
  in->data += count;
  in->size -= count;
  return part;
}

static inline const char *chars(input part) { return (const char *)part.data; }

/* Ranges in the order of the text and inside it. Behind a piece of a white space character that byte-level tokenizers trim
 * to nothing, as Hugging Face's do, the character's other piece begins before it. */
static inline void require_tokens(const bertqa_context *context, const bertqa_tokens *tokens, size_t length) {
  size_t count = bertqa_tokens_count(tokens), last = 0;
  const int32_t *ids = bertqa_tokens_ids(tokens);
  const bertqa_range *ranges = bertqa_tokens_ranges(tokens);
  int32_t vocabulary = (int32_t)bertqa_context_info(context)->vocabulary_size;
  for (size_t i = 0; i < count; i++) {
    REQUIRE(ids[i] >= 0 && ids[i] < vocabulary);
    int after_nothing = i > 0 && ranges[i - 1].start == ranges[i - 1].end;
    REQUIRE(ranges[i].start >= last || after_nothing);
    REQUIRE(ranges[i].start <= ranges[i].end && ranges[i].end <= length);
    REQUIRE(i == 0 || ranges[i].end >= ranges[i - 1].end);
    last = ranges[i].start;
  }
}

static inline int is_inside(bertqa_range range, size_t length) {
  return range.start <= range.end && range.end <= length;
}

static inline void require_answers(const bertqa_answers *answers, size_t length) {
  REQUIRE(bertqa_answers_summary(answers) != NULL);
  for (size_t i = 0; i < bertqa_answers_count(answers); i++) {
    const bertqa_answer_span *span = bertqa_answers_get(answers, i);
    REQUIRE(is_inside(span->bytes, length) && is_inside(span->sentence, length));
    REQUIRE(is_inside(span->code_points, length) && is_inside(span->utf16, length));
    REQUIRE(span->probability >= 0 && span->probability <= 1.001f);
  }
}

static inline void require_words(const char *text, size_t length) {
  REQUIRE(text != NULL && strlen(text) == length);
}

static inline void require_classification(const bertqa_classification *result, size_t length) {
  const bertqa_classify_summary *summary = bertqa_classification_summary(result);
  REQUIRE((summary != NULL) == (result != NULL));
  size_t count = bertqa_classification_count(result);
  for (size_t i = 0; i < count; i++) {
    const bertqa_label_score *score = bertqa_classification_get(result, i);
    require_words(score->label, score->label_length);
    REQUIRE(summary->problem_type == BERTQA_PROBLEM_TYPE_REGRESSION ||
            (score->probability >= 0 && score->probability <= 1.001f));
  }
  REQUIRE(bertqa_classification_get(result, count) == NULL);
  count = bertqa_classification_contribution_count(result);
  for (size_t i = 0; i < count; i++)
    REQUIRE(is_inside(bertqa_classification_contribution_get(result, i)->bytes, length));
  REQUIRE(bertqa_classification_contribution_get(result, count) == NULL);
}

/* In the order of the text. */
static inline void require_entities(const bertqa_entity_list *list, size_t length) {
  REQUIRE((bertqa_entity_list_summary(list) != NULL) == (list != NULL));
  size_t count = bertqa_entity_list_count(list), last = 0;
  for (size_t i = 0; i < count; i++) {
    const bertqa_entity *entity = bertqa_entity_list_get(list, i);
    require_words(entity->label, entity->label_length);
    REQUIRE(is_inside(entity->bytes, length) && is_inside(entity->context, length));
    REQUIRE(is_inside(entity->code_points, length) && is_inside(entity->utf16, length));
    REQUIRE(entity->bytes.start >= last);
    last = entity->bytes.start;
  }
  REQUIRE(bertqa_entity_list_get(list, count) == NULL);
}

/* Finite, with ids of the vocabulary, and like themselves. */
static inline void require_token_vectors(const bertqa_context *context, const bertqa_token_vectors *vectors) {
  size_t count = bertqa_token_vectors_count(vectors), width = bertqa_token_vectors_width(vectors);
  const int32_t *ids = bertqa_token_vectors_ids(vectors);
  const float *values = bertqa_token_vectors_values(vectors);
  REQUIRE((ids != NULL) == (count > 0) && (values != NULL) == (count > 0 && width > 0));
  double squares = 0;
  for (size_t i = 0; i < count; i++) {
    REQUIRE(ids[i] >= 0 && ids[i] < (int32_t)bertqa_context_info(context)->vocabulary_size);
    for (size_t j = 0; j < width; j++) squares += (double)values[i * width + j] * values[i * width + j];
  }
  float similarity;
  if (count > 0 && is_ok(bertqa_max_sim(values, count, values, count, width, &similarity)))
    REQUIRE(similarity >= squares - 1e-3 * (1 + squares) || !isfinite(squares));
}

/* What a context says of itself. */
static inline void require_info(const bertqa_context *context) {
  const bertqa_model_info *info = bertqa_context_info(context);
  size_t length;
  const char *words;
  for (size_t id = 0; id < info->label_count; id++) {
    words = bertqa_context_label_get(context, (int32_t)id, &length);
    require_words(words, length);
  }
  REQUIRE(bertqa_context_label_get(context, (int32_t)info->label_count, &length) == NULL && length == 0);
  for (size_t i = 0; i < info->prompt_count; i++) {
    words = bertqa_context_prompt_name_get(context, i, &length);
    require_words(words, length);
    words = bertqa_context_prompt_get(context, i, &length);
    require_words(words, length);
  }
  REQUIRE(bertqa_context_prompt_get(context, info->prompt_count, NULL) == NULL);
  const bertqa_sequence_info *sequence = bertqa_context_sequence_info(context);
  REQUIRE(sequence == NULL || sequence->separator != NULL);
  REQUIRE(strcmp(bertqa_precision_name(info->precision), "unknown") != 0);
  REQUIRE(strcmp(bertqa_isa_name(info->isa), "unknown") != 0);
  REQUIRE((info->task == 0) == (strcmp(bertqa_task_name(info->task), "unknown") == 0));  // 0: a tokenizer alone
}

/* Uses a context of any task on a few words: every loaded model must run. */
static inline void use(const bertqa_context *context) {
  require_info(context);
  static const char text[] = "the quick brown fox jumped over paris in the north";
  size_t length = sizeof text - 1;
  OPTIONS(call, call);
  call.max_bytes = 1 << 28;
  bertqa_tokens *tokens;
  if (is_ok(bertqa_tokenize(context, text, length, NULL, &tokens))) {
    require_tokens(context, tokens, length);
    bertqa_tokens_free(tokens);
  }
  OPTIONS(answer, answering);
  answering.call = &call;
  bertqa_answers *answers;
  if (is_ok(bertqa_answer(context, "which fox", 9, text, length, &answering, &answers))) {
    require_answers(answers, length);
    bertqa_answers_free(answers);
  }
  OPTIONS(classify, classifying);
  classifying.call = &call;
  bertqa_classification *classification;
  if (is_ok(bertqa_classify(context, text, length, &classifying, &classification))) {
    require_classification(classification, length);
    bertqa_classification_free(classification);
  }
  static const bertqa_text names[] = {{"place", 5}, {"animal", 6}};
  static const float thresholds[] = {0.25f, 0};
  OPTIONS(entities, finding);
  finding.call = &call;
  finding.labels = names;
  finding.thresholds = thresholds;
  for (finding.label_count = 0; finding.label_count <= 2; finding.label_count += 2) {
    bertqa_entity_list *entities;
    if (is_ok(bertqa_entities(context, text, length, &finding, &entities))) {
      require_entities(entities, length);
      bertqa_entity_list_free(entities);
    }
  }
  size_t floats = bertqa_context_info(context)->embedding_length;
  if (floats > 0 && floats < 1 << 20) {
    bertqa_text_pair pair = {text, length, NULL, 0};
    float *vector = malloc(floats * sizeof *vector);
    OPTIONS(embed, embedding);
    embedding.call = &call;
    is_ok(bertqa_embed(context, &pair, 1, &embedding, vector, floats, NULL));
    free(vector);
    bertqa_token_vectors *tokens;
    if (is_ok(bertqa_embed_tokens(context, &pair, 1, &embedding, &tokens, NULL))) {
      require_token_vectors(context, tokens);
      bertqa_token_vectors_free(tokens);
    }
  }
  OPTIONS(generate, generating);
  generating.call = &call;
  generating.max_words = 3;
  bertqa_generation *generation;
  if (is_ok(bertqa_sequence_generate(context, text, length, NULL, &generating, &generation)))
    bertqa_generation_free(generation);
}

/* Loads files in memory and uses what loads. */
static inline void load(const bertqa_file *files, size_t count, bertqa_switch tokenizer_only) {
  OPTIONS(context, options);
  options.threads = 1;
  options.tokenizer_only = tokenizer_only;
  bertqa_context *context = (void *)&options;
  if (is_ok(bertqa_context_create_from_files(files, count, &options, &context))) {
    use(context);
    bertqa_context_free(context);
  } else {
    REQUIRE(context == NULL);
  }
}

/* A directory of this process alone, which is removed at its end. */
static char scratch_path[64];

static inline void remove_scratch(void) { rmdir(scratch_path); }

static inline const char *scratch(void) {
  if (*scratch_path == '\0') {
    strcpy(scratch_path, "/tmp/bertqa-fuzz-XXXXXX");
    REQUIRE(mkdtemp(scratch_path) != NULL && atexit(remove_scratch) == 0);
  }
  return scratch_path;
}

static inline void write_file(const char *directory, bertqa_file content) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", directory, content.name);
  FILE *file = fopen(path, "wb");
  REQUIRE(file != NULL && fwrite(content.data, 1, content.size, file) == content.size);
  fclose(file);
}

/* Removes a directory of files, if it is there. */
static inline void remove_directory(const char *path) {
  DIR *directory = opendir(path);
  if (directory == NULL) return;
  for (struct dirent *entry; (entry = readdir(directory)) != NULL;) unlinkat(dirfd(directory), entry->d_name, 0);
  closedir(directory);
  REQUIRE(rmdir(path) == 0);
}

#endif
