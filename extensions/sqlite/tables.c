/* The common part of the table-valued functions. */
#include "tables.h"

#include <string.h>

SQLITE_EXTENSION_INIT3

typedef struct table {
  sqlite3_vtab base;
  const table_kind *kind;
  connection *connection;
} table;

typedef struct cursor {
  sqlite3_vtab_cursor base;
  sqlite3_value *arguments[MAX_ARGUMENTS]; /* copies; NULL if absent */
  bertqa_text texts[MAX_ARGUMENTS];        /* in the copies */
  void *rows;                              /* of the kind's type; NULL before they are computed */
  int given;              /* a mask of the arguments that the rows are for; 0: no rows yet */
  sqlite3_uint64 choices; /* the connection's counter when the rows were computed */
  size_t row, count;
  sqlite3_uint64 first_id; /* 0 before it is needed */
} cursor;

/* The data that a module is registered with. */
typedef struct module_data {
  const table_kind *kind;
  connection *connection;
} module_data;

static void destroy_module_data(void *pointer) {
  connection_release(((module_data *)pointer)->connection);
  sqlite3_free(pointer);
}

static int connect_table(sqlite3 *database, void *pointer, int count, const char *const *arguments,
                         sqlite3_vtab **made, char **message) {
  (void)count;
  (void)arguments;
  (void)message;
  const module_data *data = pointer;
  int code = sqlite3_declare_vtab(database, data->kind->schema);
  if (code != SQLITE_OK) return code;
  sqlite3_vtab_config(database, SQLITE_VTAB_INNOCUOUS);
  table *table = sqlite3_malloc64(sizeof *table);
  if (table == NULL) return SQLITE_NOMEM;
  memset(table, 0, sizeof *table);
  table->kind = data->kind;
  table->connection = data->connection;
  connection_retain(table->connection);
  *made = &table->base;
  return SQLITE_OK;
}

static int disconnect_table(sqlite3_vtab *base) {
  connection_release(((table *)base)->connection);
  sqlite3_free(base);
  return SQLITE_OK;
}

static int argument_count(const table_kind *kind) {
  return kind->text_count + kind->has_k + kind->option_count;
}

/* A mask of the arguments that must be present. */
static int required(const table_kind *kind) { return (1 << kind->text_count) - 1; }

/* The arguments are equality constraints on the hidden columns; idxNum has a bit for each one
 * present. */
static int best_index(sqlite3_vtab *base, sqlite3_index_info *plan) {
  const table_kind *kind = ((table *)base)->kind;
  enum { ABSENT = -1, UNUSABLE = -2 };
  int used[MAX_ARGUMENTS] = {ABSENT, ABSENT, ABSENT, ABSENT};
  for (int i = 0; i < plan->nConstraint; i++) {
    int argument = plan->aConstraint[i].iColumn - kind->column_count;
    if (argument < 0 || plan->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
    if (used[argument] < 0) used[argument] = plan->aConstraint[i].usable ? i : UNUSABLE;
  }
  int position = 0;
  for (int argument = 0; argument < argument_count(kind); argument++) {
    if (used[argument] == ABSENT) continue;
    /* This join order of the tables is not possible. */
    if (used[argument] == UNUSABLE) return SQLITE_CONSTRAINT;
    plan->aConstraintUsage[used[argument]].argvIndex = ++position;
    plan->aConstraintUsage[used[argument]].omit = 1;
    plan->idxNum |= 1 << argument;
  }
  /* A run of the model: plan as few as possible. SQLite also asks for a plan of each part of an OR, where
   * the texts are missing: it must not choose that one if there is another. */
  int is_complete = (plan->idxNum & required(kind)) == required(kind);
  plan->estimatedCost = is_complete ? 1e6 : 1e99;
  plan->estimatedRows = 1;
  return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **made) {
  (void)base;
  cursor *cursor = sqlite3_malloc64(sizeof *cursor);
  if (cursor == NULL) return SQLITE_NOMEM;
  memset(cursor, 0, sizeof *cursor);
  *made = &cursor->base;
  return SQLITE_OK;
}

static void clear(cursor *cursor) {
  ((table *)cursor->base.pVtab)->kind->free(cursor->rows);
  for (int i = 0; i < MAX_ARGUMENTS; i++) {
    sqlite3_value_free(cursor->arguments[i]);
    cursor->arguments[i] = NULL;
  }
  cursor->rows = NULL;
  cursor->row = cursor->count = 0;
  cursor->given = 0;
  cursor->first_id = 0;
}

static int close_cursor(sqlite3_vtab_cursor *base) {
  clear((cursor *)base);
  sqlite3_free(base);
  return SQLITE_OK;
}

int failed_call(bertqa_status status, char **message) {
  int code = sqlite_code(status);
  if (code != SQLITE_INTERRUPT) *message = sqlite3_mprintf("%s", bertqa_last_error());
  return code;
}

int wrong_argument(const char *wrong, char **message) {
  *message = sqlite3_mprintf("%s", wrong);
  return SQLITE_ERROR;
}

/* Reads the argument after the texts; 0 if it is absent. */
static int read_k(table *table, cursor *cursor, int32_t *k) {
  sqlite3_value *value = cursor->arguments[table->kind->text_count];
  *k = 0;
  if (!table->kind->has_k || value == NULL) return SQLITE_OK;
  sqlite3_int64 given = sqlite3_value_int64(value);
  if (given < 1 || given > 1000) {
    table->base.zErrMsg = sqlite3_mprintf("%s: k is 1 to 1000", table->kind->name);
    return SQLITE_ERROR;
  }
  *k = (int32_t)given;
  return SQLITE_OK;
}

/* True if the rows are those of these arguments, which an outer table often repeats. */
static int is_computed(const table *table, const cursor *cursor, int given,
                       sqlite3_value **values) {
  if (given == 0 || cursor->given != given || table->kind->reads_database ||
      cursor->choices != connection_choices(table->connection))
    return 0;
  for (int argument = 0; argument < argument_count(table->kind); argument++) {
    if (!(given & 1 << argument)) continue;
    sqlite3_value *value = *values++, *old = cursor->arguments[argument];
    const int type = sqlite3_value_type(value);
    bertqa_text text, old_text;
    if (type != sqlite3_value_type(old) || type == SQLITE_FLOAT || text_argument(value, &text) ||
        text_argument(old, &old_text) || text.length != old_text.length ||
        memcmp(text.text, old_text.text, text.length) != 0)
      return 0; /* the text of a FLOAT is rounded */
  }
  return 1;
}

/* A NULL argument has no rows. */
static int filter(sqlite3_vtab_cursor *base, int given, const char *name, int count,
                  sqlite3_value **values) {
  (void)name;
  (void)count;
  cursor *cursor = (struct cursor *)base;
  table *table = (struct table *)base->pVtab;
  if (is_computed(table, cursor, given, values)) {
    cursor->row = 0;
    return SQLITE_OK;
  }
  clear(cursor);
  if ((given & required(table->kind)) != required(table->kind)) {
    table->base.zErrMsg = sqlite3_mprintf("%s", table->kind->usage);
    return SQLITE_ERROR;
  }
  for (int argument = 0; argument < argument_count(table->kind); argument++) {
    if (!(given & 1 << argument)) continue;
    /* A copy, as the resulting ranges point into it. */
    cursor->arguments[argument] = sqlite3_value_dup(*values++);
    if (cursor->arguments[argument] == NULL) return SQLITE_NOMEM;
    if (sqlite3_value_type(cursor->arguments[argument]) == SQLITE_NULL) return SQLITE_OK;
  }
  for (int i = 0; i < table->kind->text_count; i++) {
    if (text_argument(cursor->arguments[i], &cursor->texts[i])) return SQLITE_NOMEM;
  }
  for (int option = 0; option < table->kind->option_count; option++) {
    bertqa_text *text = &cursor->texts[table->kind->text_count + option];
    *text = (bertqa_text){NULL, 0};
    sqlite3_value *value = cursor->arguments[table->kind->text_count + table->kind->has_k + option];
    if (value == NULL) continue;
    if (text_argument(value, text)) return SQLITE_NOMEM;
  }
  int32_t k;
  int code = read_k(table, cursor, &k);
  if (code != SQLITE_OK) return code;
  interruptible_call call;
  interruptible_call_begin(&call, table->connection);
  code = table->kind->find(table->connection, cursor->texts, k, &call.options, &cursor->rows,
                           &table->base.zErrMsg);
  interruptible_call_end(&call);
  if (code != SQLITE_OK) return code;
  cursor->count = table->kind->count(cursor->rows);
  cursor->given = given;
  cursor->choices = connection_choices(table->connection);
  return SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *base) {
  ((cursor *)base)->row++;
  return SQLITE_OK;
}

static int is_at_end(sqlite3_vtab_cursor *base) {
  return ((cursor *)base)->row >= ((cursor *)base)->count;
}

/* The ids of other arguments' rows are others: SQLite takes rows with one id that two parts of an OR find
 * for the same row. */
static int row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *id) {
  cursor *cursor = (struct cursor *)base;
  if (cursor->first_id == 0) {
    sqlite3_uint64 hash = 14695981039346656037u; /* FNV-1a of the arguments, each with a NUL */
    for (int i = 0; i < MAX_ARGUMENTS; i++) {
      bertqa_text text = {"", 0};
      if (cursor->arguments[i] != NULL && text_argument(cursor->arguments[i], &text))
        return SQLITE_NOMEM;
      for (size_t at = 0; at <= text.length; at++)
        hash = (hash ^ (at < text.length ? (unsigned char)text.text[at] : 0)) * 1099511628211u;
    }
    cursor->first_id = hash;
  }
  *id = (sqlite3_int64)(cursor->first_id + cursor->row);
  return SQLITE_OK;
}

void give_part(sqlite3_context *result, bertqa_text text, bertqa_range range) {
  sqlite3_result_text64(result, text.text + range.start, range.end - range.start, SQLITE_TRANSIENT,
                        SQLITE_UTF8);
}

static int give_column(sqlite3_vtab_cursor *base, sqlite3_context *result, int column) {
  cursor *cursor = (struct cursor *)base;
  const table_kind *kind = ((table *)base->pVtab)->kind;
  if (column >= kind->column_count) {
    sqlite3_value *argument = cursor->arguments[column - kind->column_count];
    if (argument != NULL) sqlite3_result_value(result, argument);
  } else {
    kind->give(result, cursor->rows, cursor->texts, cursor->row, column);
  }
  return SQLITE_OK;
}

int register_tables(sqlite3 *database, connection *connection) {
  /* There is no xCreate: the tables are eponymous-only and need no CREATE VIRTUAL TABLE. */
  static const sqlite3_module module = {.iVersion = 0,
                                        .xConnect = connect_table,
                                        .xBestIndex = best_index,
                                        .xDisconnect = disconnect_table,
                                        .xOpen = open_cursor,
                                        .xClose = close_cursor,
                                        .xFilter = filter,
                                        .xNext = next,
                                        .xEof = is_at_end,
                                        .xColumn = give_column,
                                        .xRowid = row_id};
  const table_kind *kinds[] = {&answers_kind,  &labels_kind, &entities_kind,
                               &patterns_kind, &search_kind, &ask_kind};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    module_data *data = sqlite3_malloc64(sizeof *data);
    if (data == NULL) return SQLITE_NOMEM;
    *data = (module_data){kinds[i], connection};
    connection_retain(connection); /* SQLite destroys the data, also after a failure */
    int code =
        sqlite3_create_module_v2(database, kinds[i]->name, &module, data, destroy_module_data);
    if (code != SQLITE_OK) return code;
  }
  return SQLITE_OK;
}
