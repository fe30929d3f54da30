/* Columns of texts for the functions that read the Arrow C data interface. */
#ifndef COLUMNS_H
#define COLUMNS_H

#include "check.h"

static void keep_array(struct ArrowArray *array) { array->release = NULL; }
static void keep_schema(struct ArrowSchema *schema) { schema->release = NULL; }

/* A column of buffers that live elsewhere. */
typedef struct {
  int64_t offsets[2]; /* of one_row() */
  const void *buffers[3];
  struct ArrowArray array;
  struct ArrowSchema schema;
} column;

static inline bertqa_column filled(column *made, const char *format, const void *validity, const void *second,
                                   const void *data, int64_t length, int64_t offset) {
  memset(made, 0, sizeof *made);
  made->buffers[0] = validity, made->buffers[1] = second, made->buffers[2] = data;
  made->array = (struct ArrowArray){.length = length, .null_count = -1, .offset = offset, .n_buffers = 3,
                                    .buffers = made->buffers, .release = keep_array};
  made->schema = (struct ArrowSchema){.format = format, .release = keep_schema};
  return (bertqa_column){&made->array, &made->schema};
}

/* One row, in the layout with offsets of 64 bits. */
static inline bertqa_column one_row(column *made, const char *text, size_t length) {
  const bertqa_column result = filled(made, "U", NULL, made->offsets, text, 1, 0);
  made->offsets[1] = (int64_t)length;
  return result;
}

#endif
