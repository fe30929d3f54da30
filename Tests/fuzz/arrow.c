/* Arrow columns whose structs are drawn. Buffers are as long as the lengths and offsets in the structs
 * promise, since Arrow does not say how long they are; columns that promise more than 64 KiB of text are
 * passed by. */
#include "fuzz.h"

enum { limit = 1 << 16, rows = 64 };

typedef struct column {
  struct ArrowArray array;
  struct ArrowSchema schema;
  const void *buffers[6];
  void *owned[6];
  int64_t sizes[4];
  char format[9];
} column;

static void fill(void *buffer, size_t size, input *in) {
  size_t have = in->size < size ? in->size : size;
  memset(buffer, 0, size);
  if (have > 0) memcpy(buffer, in->data, have);
  in->data += have;
  in->size -= have;
}

/* The number of bytes that the last offset promises; -1 above the limit. The library must find a
 * wrong order of offsets. */
static int64_t promised(const column *c, int64_t from, int64_t to, int is_large) {
  int64_t most = 0;
  for (int64_t i = from; i <= to; i++) {
    int64_t offset = is_large ? ((const int64_t *)c->buffers[1])[i] : ((const int32_t *)c->buffers[1])[i];
    if (offset > most) most = offset;
  }
  return most > limit ? -1 : most;
}

/* The library must not call these; structs without them count as released. */
static void release_array(struct ArrowArray *array) { REQUIRE(array == NULL); }

static void release_schema(struct ArrowSchema *schema) { REQUIRE(schema == NULL); }

/* True if the column may be passed to the library. */
static int make(column *c, input *in) {
  static const char *const formats[] = {"u", "U", "z", "Z", "vu", "vz", "n"};
  memset(c, 0, sizeof *c);
  uint8_t kind = draw(in), flags = draw(in);
  if (kind < 0xf0)
    strcpy(c->format, formats[kind % 7]);
  else
    fill(c->format, sizeof c->format - 1, in);
  c->array.release = kind % 32 == 31 ? NULL : release_array;
  c->schema.release = kind % 32 == 30 ? NULL : release_schema;
  int64_t length = draw(in) % rows, offset = draw(in) % rows;
  c->schema.format = flags & 1 ? NULL : c->format;
  c->schema.n_children = c->array.n_children = flags & 2 ? draw(in) : 0;
  c->array.null_count = flags & 4 ? (int8_t)draw(in) : 0;
  c->array.n_buffers = flags & 8 ? (int8_t)draw(in) % 7 : kind % 7 < 6 ? 3 : 0;
  if (kind < 0xf0 && (kind % 7 == 4 || kind % 7 == 5) && !(flags & 8)) c->array.n_buffers = 4;
  c->array.length = length;
  c->array.offset = offset;
  if (flags & 16) {
    int shift = draw(in) % 64;
    *(draw(in) & 1 ? &c->array.length : &c->array.offset) = (int64_t)((uint64_t)(int8_t)draw(in) << shift);
    /* Lengths and offsets that a buffer may well have are believed. */
    if (c->array.length >= rows && c->array.length <= 1LL << 52) return 0;
    if (c->array.offset >= rows && c->array.offset <= 1LL << 52) return 0;
  }
  int is_large = c->format[0] == 'U' || c->format[0] == 'Z', is_view = c->format[0] == 'v';
  size_t slots = 2 * rows + 2;
  c->owned[0] = malloc(slots);
  c->owned[1] = malloc(slots * 16);
  fill(c->owned[0], (size_t)(length + offset) / 8 + 1, in);
  memset((char *)c->owned[1], 0, slots * 16);
  fill(c->owned[1], (size_t)(length + offset + 1) * (is_view ? 16 : is_large ? 8 : 4), in);
  c->buffers[0] = flags & 32 ? NULL : c->owned[0];
  c->buffers[1] = c->owned[1];
  int64_t size = is_view ? draw(in) : promised(c, 0, length + offset, is_large);
  if (size < 0) return 0;
  c->owned[2] = malloc((size_t)size + 1);
  fill(c->owned[2], (size_t)size, in);
  c->buffers[2] = c->owned[2];
  if (is_view) {
    c->sizes[0] = size;
    c->buffers[3] = c->sizes;
    if (c->array.n_buffers > 4) c->array.n_buffers = 4;
  }
  if (flags & 64) c->buffers[1 + (flags >> 7)] = NULL;
  c->array.buffers = (flags & 0x90) == 0x90 ? NULL : c->buffers;
  return 1;
}

static void drop(column *c) {
  for (int i = 0; i < 6; i++) free(c->owned[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static bertqa_context *answering, *classifying, *finding;
  if (answering == NULL) {
    answering = fixture("tiny-bert", BERTQA_OFF);
    classifying = fixture("tiny-bert-classifier", BERTQA_OFF);
    finding = fixture("tiny-bert-entities", BERTQA_OFF);
  }
  input in = {data, size};
  column a, b;
  int may_run = make(&a, &in);
  may_run &= make(&b, &in);
  if (may_run) {
    bertqa_column first = {&a.array, &a.schema}, second = {&b.array, &b.schema};
    struct ArrowArray result;
    struct ArrowSchema schema;
    bertqa_status status = bertqa_answer_arrow(answering, first, second, NULL, &result, &schema);
    if (is_ok(status)) {
      REQUIRE(result.length == b.array.length);
      result.release(&result);
      schema.release(&schema);
    } else {
      REQUIRE(result.release == NULL && schema.release == NULL);
    }
    if (is_ok(bertqa_classify_arrow(classifying, first, NULL, &result, &schema))) {
      REQUIRE(result.length == a.array.length);
      result.release(&result);
      schema.release(&schema);
    }
    if (is_ok(bertqa_entities_arrow(finding, second, NULL, &result, &schema))) {
      REQUIRE(result.length == b.array.length);
      result.release(&result);
      schema.release(&schema);
    }
  }
  const bertqa_text buffers[] = {{(const char *)data, size}, {NULL, 0}};
  struct ArrowArray made;
  struct ArrowSchema made_schema;
  if (is_ok(bertqa_column_create(a.format, b.format, a.array.length, a.array.null_count, buffers, 2, NULL, NULL, 0,
                                 &made, &made_schema))) {
    REQUIRE(size == 0 || memcmp(made.buffers[0], data, size) == 0);
    made.release(&made);
    made_schema.release(&made_schema);
  }
  drop(&a);
  drop(&b);
  return 0;
}
