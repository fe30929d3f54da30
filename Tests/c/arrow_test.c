/* Columns over the Arrow C data interface, laid out by hand. */
#include "columns.h"

static const char *question = "who has seen the river";
static bertqa_context *context;

static const struct ArrowArray *child(const struct ArrowArray *array, const struct ArrowSchema *schema,
                                      const char *name, const char *format) {
  for (int64_t i = 0; i < schema->n_children; i++) {
    if (strcmp(schema->children[i]->name, name) != 0) continue;
    CHECK(strcmp(schema->children[i]->format, format) == 0);
    return array->children[i];
  }
  CHECK(!"no such child");
  return NULL;
}

static int is_valid(const struct ArrowArray *array, int row) {
  const uint8_t *bits = array->buffers[0];
  return bits == NULL || (bits[row / 8] >> row % 8 & 1);
}

/* Row `row` says what bertqa_answer says of `document`. */
static void check_row(const struct ArrowArray *array, const struct ArrowSchema *schema, int row,
                      const char *document, size_t length) {
  bertqa_answers *answers;
  CHECK_STATUS(BERTQA_OK, bertqa_answer(context, question, strlen(question), document, length, NULL, &answers));
  const bertqa_answer_span *best = bertqa_answers_get(answers, 0);
  const struct ArrowArray *texts = child(array, schema, "answer", "U");
  const struct ArrowArray *starts = child(array, schema, "start", "l"), *ends = child(array, schema, "end", "l");
  const struct ArrowArray *scores = child(array, schema, "score", "f"), *gaps = child(array, schema, "gap", "f");
  CHECK(best != NULL && is_valid(array, row) && is_valid(texts, row));
  const int64_t *offsets = texts->buffers[1];
  const size_t found = (size_t)(offsets[row + 1] - offsets[row]);
  CHECK(found == best->bytes.end - best->bytes.start);
  CHECK(memcmp((const char *)texts->buffers[2] + offsets[row], document + best->bytes.start, found) == 0);
  CHECK(((const int64_t *)starts->buffers[1])[row] == (int64_t)best->code_points.start);
  CHECK(((const int64_t *)ends->buffers[1])[row] == (int64_t)best->code_points.end);
  CHECK(((const float *)scores->buffers[1])[row] == best->score);
  CHECK(((const float *)gaps->buffers[1])[row] == best->gap);
  bertqa_answers_free(answers);
}

static void test_layouts(void) {
  const char data[] = "the river has seen youwho";
  const char long_text[] = "the river has seen you";
  const int32_t offsets[] = {0, 22, 22, 25};
  const int64_t large[] = {0, 22, 22, 25};
  struct { int32_t length; char inlined[12]; } views[3] = {{22, ""}, {0, ""}, {3, "who"}};
  const int32_t place[2] = {0, 0};
  memcpy(views[0].inlined, "the ", 4);
  memcpy(views[0].inlined + 4, place, sizeof place);
  const int64_t sizes[] = {25};
  const uint8_t validity = 5; /* the second row is null */
  const int32_t question_offsets[] = {0, (int32_t)strlen(question)};
  column questions, documents;
  const bertqa_column asked = filled(&questions, "u", NULL, question_offsets, question, 1, 0);
  struct ArrowArray array;
  struct ArrowSchema schema;
  for (int layout = 0; layout < 3; layout++) {
    const void *second[] = {offsets, large, views};
    const char *formats[] = {"u", "U", "vu"};
    bertqa_column read = filled(&documents, formats[layout], &validity, second[layout], data, 3, 0);
    const void *with_sizes[] = {&validity, views, data, sizes};
    if (layout == 2) documents.array.buffers = with_sizes, documents.array.n_buffers = 4;
    CHECK_STATUS(BERTQA_OK, bertqa_answer_arrow(context, asked, read, NULL, &array, &schema));
    CHECK(strcmp(schema.format, "+s") == 0 && array.length == 3 && array.null_count == 1);
    CHECK(!is_valid(&array, 1));
    check_row(&array, &schema, 0, long_text, strlen(long_text));
    check_row(&array, &schema, 2, "who", 3);
    /* A consumer may move a child out and release it by itself. */
    struct ArrowArray moved = *array.children[0];
    array.children[0]->release = NULL;
    array.release(&array);
    schema.release(&schema);
    CHECK(array.release == NULL && schema.release == NULL);
    moved.release(&moved);
    CHECK(documents.array.release != NULL && documents.schema.release != NULL); /* still the caller's */
    /* From an offset on. */
    documents.array.offset = 2, documents.array.length = 1;
    CHECK_STATUS(BERTQA_OK, bertqa_answer_arrow(context, asked, read, NULL, &array, &schema));
    check_row(&array, &schema, 0, "who", 3);
    array.release(&array);
    schema.release(&schema);
  }
}

/* A deadline ends the reading, not the call: no document is read, and the column is whole. */
static void test_partial(void) {
  static column questions, documents;
  struct ArrowArray array;
  struct ArrowSchema schema;
  const bertqa_call_options late = {.struct_size = sizeof late, .deadline_ns = 1};
  bertqa_answer_options options = {.struct_size = sizeof options, .call = &late};
  const bertqa_column asked = one_row(&questions, question, strlen(question));
  const bertqa_column read = one_row(&documents, "the river has seen you", 22);
  CHECK_STATUS(BERTQA_ERROR_DEADLINE_EXCEEDED, bertqa_answer_arrow(context, asked, read, &options, &array, &schema));
  options.partial = BERTQA_ON;
  CHECK_STATUS(BERTQA_OK, bertqa_answer_arrow(context, asked, read, &options, &array, &schema));
  if (array.release == NULL) return;
  const struct ArrowArray *impossible = child(&array, &schema, "is_impossible", "b");
  CHECK(array.length == 1 && is_valid(&array, 0) && !is_valid(child(&array, &schema, "answer", "U"), 0));
  CHECK(is_valid(impossible, 0) && *(const uint8_t *)impossible->buffers[1] == 1);
  array.release(&array);
  schema.release(&schema);
}

/* Lists of entities: those of bertqa_entities, row by row, a null, and a row without any. */
static void test_entities(void) {
  const char *const texts[] = {"In Paris, King of France", NULL, "", "The fox jumps"};
  const int32_t offsets[] = {0, 24, 24, 24, 37};
  const uint8_t validity = 13; /* the second row is null */
  column made;
  struct ArrowArray array;
  struct ArrowSchema schema;
  bertqa_context *tagging = fixture_context("tiny-bert-entities", 1);
  const bertqa_column read =
      filled(&made, "u", &validity, offsets, "In Paris, King of FranceThe fox jumps", 4, 0);
  CHECK_STATUS(BERTQA_OK, bertqa_entities_arrow(tagging, read, NULL, &array, &schema));
  CHECK(strcmp(schema.format, "+L") == 0 && array.length == 4 && array.null_count == 1 && array.n_children == 1);
  const struct ArrowArray *items = array.children[0];
  const struct ArrowSchema *item = schema.children[0];
  CHECK(strcmp(item->format, "+s") == 0);
  const struct ArrowArray *labels = child(items, item, "label", "U"), *words = child(items, item, "text", "U");
  const struct ArrowArray *starts = child(items, item, "start", "l"), *ends = child(items, item, "end", "l");
  const struct ArrowArray *scores = child(items, item, "score", "f");
  const int64_t *rows = array.buffers[1], *label_offsets = labels->buffers[1], *word_offsets = words->buffers[1];
  CHECK(!is_valid(&array, 1) && rows[1] == rows[2] && is_valid(&array, 2) && rows[2] == rows[3]);
  CHECK(items->length == rows[4] && rows[1] > 0);
  for (int row = 0; row < 4; row++) {
    if (texts[row] == NULL) continue;
    bertqa_entity_list *list;
    CHECK_STATUS(BERTQA_OK, bertqa_entities(tagging, texts[row], strlen(texts[row]), NULL, &list));
    CHECK(rows[row + 1] - rows[row] == (int64_t)bertqa_entity_list_count(list));
    for (size_t i = 0; i < bertqa_entity_list_count(list); i++) {
      const bertqa_entity *entity = bertqa_entity_list_get(list, i);
      const int64_t at = rows[row] + (int64_t)i;
      CHECK(((const int64_t *)starts->buffers[1])[at] == (int64_t)entity->code_points.start);
      CHECK(((const int64_t *)ends->buffers[1])[at] == (int64_t)entity->code_points.end);
      CHECK(((const float *)scores->buffers[1])[at] == entity->score);
      CHECK(label_offsets[at + 1] - label_offsets[at] == (int64_t)entity->label_length);
      CHECK(memcmp((const char *)labels->buffers[2] + label_offsets[at], entity->label, entity->label_length) == 0);
      const size_t size = entity->bytes.end - entity->bytes.start;
      CHECK(word_offsets[at + 1] - word_offsets[at] == (int64_t)size);
      CHECK(memcmp((const char *)words->buffers[2] + word_offsets[at], texts[row] + entity->bytes.start, size) == 0);
    }
    bertqa_entity_list_free(list);
  }
  array.release(&array);
  schema.release(&schema);
  bertqa_context_free(tagging);
}

static void test_refused(void) {
  const bertqa_status invalid = BERTQA_ERROR_INVALID_ARGUMENT;
  const int32_t offsets[] = {0, 3, 6}, falling[] = {3, 0, 6};
  column one, two;
  const bertqa_column good = filled(&one, "u", NULL, offsets, "whowho", 2, 0);
  struct ArrowArray array;
  struct ArrowSchema schema;
#define REFUSED(expected, call)                                  \
  do {                                                           \
    array.release = (void *)1, schema.release = (void *)1;       \
    CHECK_STATUS(expected, call);                                \
    CHECK(array.release == NULL && schema.release == NULL);      \
  } while (0)
  REFUSED(invalid, bertqa_answer_arrow(NULL, good, good, NULL, &array, &schema));
  CHECK_STATUS(invalid, bertqa_answer_arrow(context, good, good, NULL, NULL, &schema));
  CHECK_STATUS(invalid, bertqa_answer_arrow(context, good, good, NULL, &array, NULL));
  REFUSED(invalid, bertqa_answer_arrow(context, (bertqa_column){NULL, NULL}, good, NULL, &array, &schema));
  REFUSED(invalid, bertqa_answer_arrow(context, good, filled(&two, "i", NULL, offsets, NULL, 2, 0), NULL, &array,
                                       &schema));
  REFUSED(invalid, bertqa_answer_arrow(context, good, filled(&two, "u", NULL, falling, "whowho", 2, 0), NULL,
                                       &array, &schema));
  REFUSED(invalid, bertqa_answer_arrow(context, good, filled(&two, "u", NULL, NULL, NULL, 2, 0), NULL, &array,
                                       &schema));
  filled(&two, "u", NULL, offsets, "whowho", 2, 0);
  two.array.n_buffers = 1;
  REFUSED(invalid,
          bertqa_answer_arrow(context, good, (bertqa_column){&two.array, &two.schema}, NULL, &array, &schema));
  filled(&two, "u", NULL, offsets, "whowho", 2, 0);
  two.array.release = NULL;
  REFUSED(invalid,
          bertqa_answer_arrow(context, good, (bertqa_column){&two.array, &two.schema}, NULL, &array, &schema));
  int32_t many[4] = {0, 1, 2, 3};
  REFUSED(invalid, bertqa_answer_arrow(context, good, filled(&two, "u", NULL, many, "who", 3, 0), NULL, &array,
                                       &schema));
  bertqa_answer_options options;
  bertqa_answer_options_init(&options, sizeof options);
  options.top_k = 2;
  REFUSED(invalid, bertqa_answer_arrow(context, good, good, &options, &array, &schema));
  REFUSED(BERTQA_ERROR_TOO_LARGE,
          bertqa_answer_arrow(context, good, filled(&two, "u", NULL, offsets, "", INT64_MAX, 0), NULL, &array,
                              &schema));
  REFUSED(BERTQA_ERROR_WRONG_MODEL, bertqa_classify_arrow(context, good, NULL, &array, &schema));
  REFUSED(BERTQA_ERROR_WRONG_MODEL, bertqa_entities_arrow(context, good, NULL, &array, &schema));
}

/* A column of the question's length whose struct or buffers say what cannot be. */
static void refuse(bertqa_column documents, const char *what) {
  const int32_t offsets[] = {0, 3};
  column one;
  const bertqa_column asked = filled(&one, "u", NULL, offsets, "who", 1, 0);
  struct ArrowArray array = {.release = (void *)1};
  struct ArrowSchema schema = {.release = (void *)1};
  bertqa_status status = bertqa_answer_arrow(context, asked, documents, NULL, &array, &schema);
  check(status == BERTQA_ERROR_INVALID_ARGUMENT, __FILE__, __LINE__, what, bertqa_status_name(status));
  CHECK(array.release == NULL && schema.release == NULL);
}

static void test_malformed(void) {
  const int32_t good32[] = {0, 3, 6};
  column two;
  bertqa_column read;
#define FIELD(field, value)                                   \
  do {                                                        \
    read = filled(&two, "u", NULL, good32, "whowho", 2, 0);   \
    two.field = value;                                        \
    refuse(read, #field " = " #value);                        \
  } while (0)
  FIELD(array.length, -1);
  FIELD(array.length, INT64_MIN);
  FIELD(array.offset, -1);
  FIELD(array.offset, INT64_MIN);
  FIELD(array.offset, INT64_MAX);
  FIELD(array.offset, (1LL << 52) + 1);
  FIELD(array.null_count, -2);
  FIELD(array.null_count, 1); /* no buffer says which */
  FIELD(array.null_count, 3);
  FIELD(array.n_buffers, 0);
  FIELD(array.n_buffers, 2);
  FIELD(array.n_buffers, 4);
  FIELD(array.n_buffers, -1);
  FIELD(array.n_buffers, INT64_MAX);
  FIELD(array.buffers, NULL);
  FIELD(buffers[1], NULL);
  FIELD(buffers[2], NULL);
  FIELD(array.n_children, 1);
  FIELD(schema.n_children, -1);
  FIELD(array.dictionary, &two.array);
  FIELD(schema.dictionary, &two.schema);
  FIELD(schema.format, NULL);
  FIELD(schema.format, "");
  FIELD(schema.format, "uu");
#undef FIELD

  const int32_t bad32[][3] = {{-1, 3, 6}, {INT32_MIN, 0, 0}, {0, -1, 6}, {0, INT32_MIN, 0}, {3, 0, 6}, {0, 6, 3},
                              {INT32_MAX, INT32_MIN, 0}};
  for (size_t i = 0; i < sizeof bad32 / sizeof bad32[0]; i++) {
    refuse(filled(&two, "u", NULL, bad32[i], "whowho", 2, 0), "offsets of 32 bits");
    CHECK(bertqa_last_error_item() < 2);
  }
  const int64_t bad64[][3] = {{-1, 3, 6}, {INT64_MIN, 0, 0}, {0, -1, 6}, {0, INT64_MIN, INT64_MAX}, {3, 0, 6},
                              {INT64_MAX - 3, INT64_MAX, INT64_MAX}, {INT64_MAX, INT64_MAX, 0}};
  for (size_t i = 0; i < sizeof bad64 / sizeof bad64[0]; i++) {
    struct ArrowArray array;
    struct ArrowSchema schema;
    read = filled(&two, "U", NULL, bad64[i], "whowho", 2, 0);
    if (i == 5) { /* three bytes beyond all memory; too large on the way there is as good */
      column one;
      const int32_t offsets[] = {0, 3};
      const bertqa_column asked = filled(&one, "u", NULL, offsets, "who", 1, 0);
      two.buffers[2] = (const void *)(UINTPTR_MAX - 1);
      CHECK(bertqa_answer_arrow(context, asked, read, NULL, &array, &schema) == BERTQA_ERROR_INVALID_ARGUMENT);
    } else {
      refuse(read, "offsets of 64 bits");
    }
  }

  struct view { int32_t length, prefix, buffer, offset; };
  const struct view bad_views[] = {{-1, 0, 0, 0},  {INT32_MIN, 0, 0, 0}, {13, 0, -1, 0}, {13, 0, 1, 0},
                                   {13, 0, INT32_MAX, 0}, {13, 0, 0, -1}, {13, 0, 0, 8}, {20, 0, 0, 1},
                                   {13, 0, 0, INT32_MAX}, {INT32_MAX, 0, 0, 0}, {13, 0, 0, INT32_MIN}};
  const int64_t sizes[] = {20}, negative[] = {-1};
  const char data[] = "who has seen the rive";
  for (size_t i = 0; i < sizeof bad_views / sizeof bad_views[0]; i++) {
    const void *buffers[] = {NULL, &bad_views[i], data, sizes};
    read = filled(&two, "vu", NULL, NULL, NULL, 1, 0);
    two.array.buffers = buffers, two.array.n_buffers = 4;
    refuse(read, "a view");
  }
  const struct view fair = {13, 0, 0, 0};
  const void *without[] = {NULL, &fair, NULL, sizes}, *unsized[] = {NULL, &fair, data, NULL},
             *shrunk[] = {NULL, &fair, data, negative};
  const void **const sets[] = {without, unsized, shrunk};
  for (int i = 0; i < 3; i++) {
    read = filled(&two, "vu", NULL, NULL, NULL, 1, 0);
    two.array.buffers = sets[i], two.array.n_buffers = 4;
    refuse(read, "a view's buffers");
  }

  /* The row is the index, nulls counted. */
  const int64_t falling[] = {0, 3, 3, 6, 5};
  const uint8_t validity = 0x1d;
  refuse(filled(&two, "U", &validity, falling, "whowho", 4, 0), "the last row falls");
  CHECK(bertqa_last_error_item() == 3);

  /* No rows, no buffers; and rows of the null type. */
  struct ArrowArray array;
  struct ArrowSchema schema;
  const int32_t offsets[] = {0, 3};
  column one;
  const bertqa_column asked = filled(&one, "u", NULL, offsets, "who", 1, 0);
  read = filled(&two, "u", NULL, NULL, NULL, 0, 0);
  two.array.n_buffers = 0, two.array.buffers = NULL;
  CHECK_STATUS(BERTQA_OK, bertqa_answer_arrow(context, asked, read, NULL, &array, &schema));
  CHECK(array.length == 0);
  array.release(&array), schema.release(&schema);
  two.schema.format = "n", two.array.length = 3;
  CHECK_STATUS(BERTQA_OK, bertqa_answer_arrow(context, asked, read, NULL, &array, &schema));
  CHECK(array.length == 3 && array.null_count == 3);
  array.release(&array), schema.release(&schema);
}

static const char values[] = "whothe river";
static const int64_t ends[] = {0, 3, 3, 12};

/* A column of three texts, of which the second is null. */
static bertqa_status make_texts(struct ArrowArray *array, struct ArrowSchema *schema) {
  static const char valid = 5;
  const bertqa_text buffers[] = {{&valid, 1}, {(const char *)ends, sizeof ends}, {values, 12}};
  return bertqa_column_create("U", "words", 3, 1, buffers, 3, NULL, NULL, 0, array, schema);
}

static void test_created(void) {
  struct ArrowArray children[2], array, other;
  struct ArrowSchema schemas[2], schema, other_schema;
  CHECK_STATUS(BERTQA_OK, make_texts(&children[0], &schemas[0]));
  const float numbers[] = {1, 2, 3};
  const bertqa_text floats[] = {{NULL, 0}, {(const char *)numbers, sizeof numbers}}, absent = {NULL, 0};
  CHECK_STATUS(BERTQA_OK, bertqa_column_create("f", "", 3, 0, floats, 2, NULL, NULL, 0, &children[1], &schemas[1]));
  CHECK(children[1].n_buffers == 2 && children[1].buffers[0] == NULL && (uintptr_t)children[1].buffers[1] % 64 == 0);
  CHECK_STATUS(BERTQA_OK,
               bertqa_column_create("+s", "row", 3, 0, &absent, 1, children, schemas, 2, &array, &schema));
  CHECK(children[0].release == NULL && schemas[1].release == NULL); /* moved */
  CHECK(array.n_children == 2 && schema.n_children == 2 && strcmp(schema.name, "row") == 0);
  const struct ArrowArray *words = child(&array, &schema, "words", "U");
  CHECK(words->length == 3 && words->null_count == 1 && is_valid(words, 0) && !is_valid(words, 1));
  CHECK(words->buffers[2] != values && memcmp(words->buffers[2], values, 12) == 0);
  /* The library reads it, and a child may be moved out. */
  column one;
  const bertqa_column asked = one_row(&one, question, strlen(question)), read = {words, schema.children[0]};
  CHECK_STATUS(BERTQA_OK, bertqa_answer_arrow(context, asked, read, NULL, &other, &other_schema));
  check_row(&other, &other_schema, 2, "the river", 9);
  other.release(&other), other_schema.release(&other_schema);
  struct ArrowArray moved = *array.children[1];
  array.children[1]->release = NULL;
  array.release(&array), schema.release(&schema);
  CHECK(memcmp(moved.buffers[1], numbers, sizeof numbers) == 0);
  moved.release(&moved);

  /* Failures leave the children and nothing else; address_space_test has those for lack of memory. */
  CHECK_STATUS(BERTQA_OK, make_texts(&children[0], &schemas[0]));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT,
               bertqa_column_create("+s", NULL, 3, 0, &absent, 1, children, schemas, 1, &array, &schema));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT,
               bertqa_column_create("+s", "", 3, 0, &absent, SIZE_MAX, children, schemas, 1, &array, &schema));
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT,
               bertqa_column_create("+s", "", 3, 0, &absent, 1, children, schemas, SIZE_MAX, &array, &schema));
  CHECK(strcmp(bertqa_last_error_argument(), "child_count") == 0);
  const bertqa_text larger = {values, SIZE_MAX};
  const struct { const char *format; int64_t length, nulls; const bertqa_text *buffers; struct ArrowArray *children; }
      wrong[] = {{NULL, 3, 0, &absent, children}, {"+s", -1, 0, &absent, children}, {"+s", 3, 4, &absent, children},
                 {"+s", 3, -2, &absent, children}, {"+s", 3, 0, NULL, children}, {"+s", 3, 0, &larger, children},
                 {"+s", 3, 0, &absent, NULL}};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    array.release = moved.release; /* becomes NULL */
    CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT,
                 bertqa_column_create(wrong[i].format, "", wrong[i].length, wrong[i].nulls, wrong[i].buffers, 1,
                                      wrong[i].children, schemas, 1, &array, &schema));
    CHECK(array.release == NULL && schema.release == NULL && children[0].release != NULL);
  }
  children[0].release(&children[0]), schemas[0].release(&schemas[0]);
  CHECK_STATUS(BERTQA_ERROR_INVALID_ARGUMENT,
               bertqa_column_create("+s", "", 3, 0, &absent, 1, children, schemas, 1, &array, &schema));
}

int main(int argc, char **argv) {
  begin(argc, argv);
  CHECK_STATUS(BERTQA_OK, bertqa_context_create(tiny, NULL, &context));
  test_layouts();
  test_partial();
  test_entities();
  test_refused();
  test_malformed();
  test_created();
  bertqa_context_free(context);
  return finish();
}
