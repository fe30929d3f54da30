/* Shared by the fuzz targets. A target is a LLVMFuzzerTestOneInput over the public C ABI: linked
 * with libFuzzer and an instrumented core by fuzz.sh, or with replay.c and the released library.
 * FIXTURES is the directory of the tiny models. */
#ifndef FUZZ_H
#define FUZZ_H

#include <bertqa_experimental.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* One of the statuses of the header, with a message for a failure. */
static inline int is_ok(bertqa_status status) {
  REQUIRE(status >= BERTQA_OK && status <= BERTQA_ERROR_DEADLINE_EXCEEDED);
  REQUIRE(status != BERTQA_ERROR_INTERNAL);
  if (status != BERTQA_OK) {
    const char *message = bertqa_last_error();
    REQUIRE(*message != '\0' && strlen(message) <= 1000 && strchr(message, '\n') == NULL);
  }
  return status == BERTQA_OK;
}

/* A context of a tiny model, which lives as long as the process. */
static inline bertqa_context *fixture(const char *name, bertqa_switch tokenizer_only) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", FIXTURES, name);
  bertqa_context_options options = BERTQA_CONTEXT_OPTIONS_INIT;
  options.threads = 1;
  options.tokenizer_only = tokenizer_only;
  bertqa_context *context;
  REQUIRE(bertqa_context_create(path, &options, &context) == BERTQA_OK);
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

/* Uses a context of any task on a few words: every loaded model must run. */
static inline void use(const bertqa_context *context) {
  static const char text[] = "the quick brown fox jumped over paris in the north";
  size_t length = sizeof text - 1;
  bertqa_call_options call = BERTQA_CALL_OPTIONS_INIT;
  call.max_bytes = 1 << 28;
  bertqa_tokens *tokens;
  if (is_ok(bertqa_tokenize(context, text, length, NULL, &tokens))) {
    require_tokens(context, tokens, length);
    bertqa_tokens_free(tokens);
  }
  bertqa_answer_options answering = BERTQA_ANSWER_OPTIONS_INIT;
  answering.call = &call;
  bertqa_answers *answers;
  if (is_ok(bertqa_answer(context, "which fox", 9, text, length, &answering, &answers))) {
    require_answers(answers, length);
    bertqa_answers_free(answers);
  }
  bertqa_classify_options classifying = BERTQA_CLASSIFY_OPTIONS_INIT;
  classifying.call = &call;
  bertqa_classification *classification;
  if (is_ok(bertqa_classify(context, text, length, &classifying, &classification)))
    bertqa_classification_free(classification);
  const bertqa_text label = {"a river", 7};
  bertqa_entities_options finding = BERTQA_ENTITIES_OPTIONS_INIT;
  finding.call = &call;
  bertqa_entity_list *entities;
  if (is_ok(bertqa_entities(context, text, length, &finding, &entities))) bertqa_entity_list_free(entities);
  finding.labels = &label;
  finding.label_count = 1;
  if (is_ok(bertqa_entities(context, text, length, &finding, &entities))) bertqa_entity_list_free(entities);
  size_t floats = bertqa_context_info(context)->embedding_length;
  if (floats > 0 && floats < 1 << 20) {
    bertqa_text_pair pair = {text, length, NULL, 0};
    float *vector = malloc(floats * sizeof *vector);
    bertqa_embed_options embedding = BERTQA_EMBED_OPTIONS_INIT;
    embedding.call = &call;
    is_ok(bertqa_embed(context, &pair, 1, &embedding, vector, floats, NULL));
    free(vector);
  }
  bertqa_generate_options generating = BERTQA_GENERATE_OPTIONS_INIT;
  generating.call = &call;
  generating.max_words = 3;
  bertqa_generation *generation;
  if (is_ok(bertqa_sequence_generate(context, text, length, NULL, &generating, &generation)))
    bertqa_generation_free(generation);
}

/* Loads files in memory and uses what loads. */
static inline void load(const bertqa_file *files, size_t count, bertqa_switch tokenizer_only) {
  bertqa_context_options options = BERTQA_CONTEXT_OPTIONS_INIT;
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

#endif
