/* Columns over the Arrow C data interface, laid out by hand. */
#include "check.h"

static const char *question = "who has seen the river";
static bertqa_context *context;

static void keep_array(struct ArrowArray *array) { array->release = NULL; }
static void keep_schema(struct ArrowSchema *schema) { schema->release = NULL; }

/* A column of buffers that live elsewhere. */
typedef struct {
  const void *buffers[3];
  struct ArrowArray array;
  struct ArrowSchema schema;
} column;

static bertqa_column filled(column *made, const char *format, const void *validity, const void *second,
                            const void *data, int64_t length, int64_t offset) {
  memset(made, 0, sizeof *made);
  made->buffers[0] = validity, made->buffers[1] = second, made->buffers[2] = data;
  made->array = (struct ArrowArray){.length = length, .null_count = -1, .offset = offset, .n_buffers = 3,
                                    .buffers = made->buffers, .release = keep_array};
  made->schema = (struct ArrowSchema){.format = format, .release = keep_schema};
  return (bertqa_column){&made->array, &made->schema};
}

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
  const struct ArrowArray *starts = child(array, schema, "start", "l");
  const struct ArrowArray *scores = child(array, schema, "score", "f");
  CHECK(best != NULL && is_valid(array, row) && is_valid(texts, row));
  const int64_t *offsets = texts->buffers[1];
  const size_t found = (size_t)(offsets[row + 1] - offsets[row]);
  CHECK(found == best->bytes.end - best->bytes.start);
  CHECK(memcmp((const char *)texts->buffers[2] + offsets[row], document + best->bytes.start, found) == 0);
  CHECK(((const int64_t *)starts->buffers[1])[row] == (int64_t)best->code_points.start);
  CHECK(((const float *)scores->buffers[1])[row] == best->score);
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
          bertqa_answer_arrow(context, good, filled(&two, "u", NULL, offsets, "", -1, 0), NULL, &array, &schema));
  REFUSED(BERTQA_ERROR_WRONG_MODEL, bertqa_classify_arrow(context, good, NULL, &array, &schema));
}

int main(int argc, char **argv) {
  begin(argc, argv);
  CHECK_STATUS(BERTQA_OK, bertqa_context_create(tiny, NULL, &context));
  test_layouts();
  test_refused();
  bertqa_context_free(context);
  return finish();
}
