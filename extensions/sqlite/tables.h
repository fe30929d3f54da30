/* The part of a table-valued function that differs from the others. */
#ifndef BERTQA_SQLITE_TABLES_H
#define BERTQA_SQLITE_TABLES_H

#include "connection.h"

#define MAX_ARGUMENTS 4

typedef struct table_kind {
  const char *name, *schema, *usage;
  /* Then follow the arguments as hidden columns: the texts, k if there is one, then the options, which
   * are texts that may be absent. */
  int column_count;
  int text_count, has_k, option_count;
  int reads_database; /* equal arguments may give other rows */
  /* Computes the rows. texts: the texts, then the options, whose text is NULL if they are absent. k is 0
   * if it is absent. Returns SQLite's code; the message of an error is freed by SQLite. */
  int (*find)(connection *connection, const bertqa_text *texts, int32_t k,
              const bertqa_call_options *call, void **rows, char **message);
  size_t (*count)(const void *rows);
  void (*give)(sqlite3_context *result, const void *rows, const bertqa_text *texts, size_t row,
               int column);
  void (*free)(void *rows);
} table_kind;

extern const table_kind answers_kind, labels_kind, entities_kind, patterns_kind, search_kind,
    ask_kind;

/* Returns SQLite's code for a failed call of the library, and sets the message. */
int failed_call(bertqa_status status, char **message);

/* The same for a text that says what is wrong with an argument. */
int wrong_argument(const char *wrong, char **message);

/* Returns a part of a text as a column. */
void give_part(sqlite3_context *result, bertqa_text text, bertqa_range range);

#endif
