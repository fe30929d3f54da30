/* The part of a table-valued function that differs from the others. */
#ifndef BERTQA_SQLITE_TABLES_H
#define BERTQA_SQLITE_TABLES_H

#include <bertqa.h>
#include <sqlite3ext.h>

#define MAX_ARGUMENTS 3

typedef struct table_kind {
  const char *name, *schema, *usage;
  int column_count; /* then follow the arguments as hidden columns: the texts, then at most k */
  int argument_count, text_count;
  bertqa_task task;
  /* Computes the rows. k is 0 if it is absent. */
  bertqa_status (*find)(const bertqa_context *context, const bertqa_text *texts, int32_t k,
                        const bertqa_call_options *call, void **rows);
  size_t (*count)(const void *rows);
  void (*give)(sqlite3_context *result, const void *rows, const bertqa_text *texts, size_t row,
               int column);
  void (*free)(void *rows);
} table_kind;

extern const table_kind answers_kind, labels_kind, entities_kind;

/* Returns a part of a text as a column. */
void give_part(sqlite3_context *result, bertqa_text text, bertqa_range range);

#endif
