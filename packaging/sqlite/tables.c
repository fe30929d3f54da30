/* The table-valued functions: bertqa_answers(question, text, k) and bertqa_labels(text). */
#include <string.h>

#include "connection.h"

SQLITE_EXTENSION_INIT3

#define MAX_ARGUMENTS 3

typedef struct table_kind {
  const char *name, *schema, *usage;
  int column_count; /* the arguments are the hidden columns behind them */
  int argument_count, needed_count;
} table_kind;

enum {
  ANSWER,
  SCORE,
  PROBABILITY,
  GAP,
  START_BYTE,
  END_BYTE,
  START_CHAR,
  END_CHAR,
  SENTENCE,
  IS_IMPOSSIBLE,
  NO_ANSWER_PROBABILITY,
  ANSWER_COLUMNS
};

static const table_kind answers_kind = {
    .name = "bertqa_answers",
    .schema =
        "CREATE TABLE bertqa_answers(answer TEXT, score REAL, probability REAL, gap REAL,"
        " start_byte INTEGER, end_byte INTEGER, start_char INTEGER, end_char INTEGER,"
        " sentence TEXT, is_impossible INTEGER, no_answer_probability REAL,"
        " question TEXT HIDDEN, text TEXT HIDDEN, k INTEGER HIDDEN)",
    .usage = "bertqa_answers(question, text, k) needs a question and a text",
    .column_count = ANSWER_COLUMNS,
    .argument_count = 3,
    .needed_count = 2};

enum { LABEL, LABEL_PROBABILITY, LOGIT, ID, LABEL_COLUMNS };

static const table_kind labels_kind = {
    .name = "bertqa_labels",
    .schema =
        "CREATE TABLE bertqa_labels(label TEXT, probability REAL, logit REAL, id INTEGER,"
        " text TEXT HIDDEN)",
    .usage = "bertqa_labels(text) needs a text",
    .column_count = LABEL_COLUMNS,
    .argument_count = 1,
    .needed_count = 1};

typedef struct table {
  sqlite3_vtab base;
  const table_kind *kind;
  connection *connection;
} table;

typedef struct cursor {
  sqlite3_vtab_cursor base;
  sqlite3_value *arguments[MAX_ARGUMENTS]; /* NULL where not given */
  bertqa_answers *answers;
  bertqa_classification *classification;
  size_t row, count;
} cursor;

/* What a module is registered with. */
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

/* The arguments are equations on the hidden columns; idxNum has a bit for each that is given. */
static int best_index(sqlite3_vtab *base, sqlite3_index_info *plan) {
  const table_kind *kind = ((table *)base)->kind;
  int used[MAX_ARGUMENTS] = {-1, -1, -1};
  for (int i = 0; i < plan->nConstraint; i++) {
    int argument = plan->aConstraint[i].iColumn - kind->column_count;
    if (argument < 0 || plan->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ) continue;
    /* Not in this order of the tables of the join. */
    if (!plan->aConstraint[i].usable) return SQLITE_CONSTRAINT;
    if (used[argument] < 0) used[argument] = i;
  }
  int position = 0;
  for (int argument = 0; argument < kind->argument_count; argument++) {
    if (used[argument] >= 0) {
      plan->aConstraintUsage[used[argument]].argvIndex = ++position;
      plan->aConstraintUsage[used[argument]].omit = 1;
      plan->idxNum |= 1 << argument;
    } else if (argument < kind->needed_count) {
      base->zErrMsg = sqlite3_mprintf("%s", kind->usage);
      return SQLITE_ERROR;
    }
  }
  plan->estimatedCost = 1e6; /* a run of the model: as seldom as possible, so innermost */
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
  for (int i = 0; i < MAX_ARGUMENTS; i++) {
    sqlite3_value_free(cursor->arguments[i]);
    cursor->arguments[i] = NULL;
  }
  bertqa_answers_free(cursor->answers);
  bertqa_classification_free(cursor->classification);
  cursor->answers = NULL;
  cursor->classification = NULL;
  cursor->row = cursor->count = 0;
}

static int close_cursor(sqlite3_vtab_cursor *base) {
  clear((cursor *)base);
  sqlite3_free(base);
  return SQLITE_OK;
}

static int fail(table *table, const char *message, int code) {
  if (code != SQLITE_INTERRUPT) table->base.zErrMsg = sqlite3_mprintf("%s", message);
  return code;
}

static int find_answers(table *table, cursor *cursor, const bertqa_context *context,
                        const bertqa_text *texts, const bertqa_call_options *call) {
  bertqa_answer_options options = {.struct_size = sizeof options, .call = call};
  if (cursor->arguments[2] != NULL && sqlite3_value_type(cursor->arguments[2]) != SQLITE_NULL) {
    sqlite3_int64 k = sqlite3_value_int64(cursor->arguments[2]);
    if (k < 1 || k > 1000) {
      return fail(table, "bertqa_answers(question, text, k): k is 1 to 1000", SQLITE_ERROR);
    }
    options.top_k = (int32_t)k;
  }
  bertqa_status status = bertqa_answer(context, texts[0].text, texts[0].length, texts[1].text,
                                       texts[1].length, &options, &cursor->answers);
  if (status != BERTQA_OK) return fail(table, bertqa_last_error(), sqlite_code(status));
  cursor->count = bertqa_answers_count(cursor->answers);
  return SQLITE_OK;
}

static int find_labels(table *table, cursor *cursor, const bertqa_context *context,
                       const bertqa_text *texts, const bertqa_call_options *call) {
  bertqa_classify_options options = {.struct_size = sizeof options, .call = call};
  bertqa_status status =
      bertqa_classify(context, texts[0].text, texts[0].length, &options, &cursor->classification);
  if (status != BERTQA_OK) return fail(table, bertqa_last_error(), sqlite_code(status));
  cursor->count = bertqa_classification_count(cursor->classification);
  return SQLITE_OK;
}

/* A NULL for a text has no rows. */
static int filter(sqlite3_vtab_cursor *base, int given, const char *name, int count,
                  sqlite3_value **values) {
  (void)name;
  (void)count;
  cursor *cursor = (struct cursor *)base;
  table *table = (struct table *)base->pVtab;
  clear(cursor);
  for (int argument = 0; argument < table->kind->argument_count; argument++) {
    if (!(given & 1 << argument)) continue;
    /* A copy: the ranges that are found point into it. */
    cursor->arguments[argument] = sqlite3_value_dup(*values++);
    if (cursor->arguments[argument] == NULL) return SQLITE_NOMEM;
  }
  bertqa_text texts[MAX_ARGUMENTS];
  for (int argument = 0; argument < table->kind->needed_count; argument++) {
    if (sqlite3_value_type(cursor->arguments[argument]) == SQLITE_NULL) return SQLITE_OK;
    if (text_argument(cursor->arguments[argument], &texts[argument])) return SQLITE_NOMEM;
  }
  int is_answers = table->kind == &answers_kind;
  const bertqa_context *context;
  bertqa_status status = connection_context(
      table->connection, is_answers ? BERTQA_TASK_ANSWER : BERTQA_TASK_CLASSIFY, &context);
  if (status != BERTQA_OK) return fail(table, bertqa_last_error(), sqlite_code(status));
  interruptible_call call;
  interruptible_call_begin(&call, table->connection);
  int code = is_answers ? find_answers(table, cursor, context, texts, &call.options)
                        : find_labels(table, cursor, context, texts, &call.options);
  interruptible_call_end(&call);
  return code;
}

static int next(sqlite3_vtab_cursor *base) {
  ((cursor *)base)->row++;
  return SQLITE_OK;
}

static int is_at_end(sqlite3_vtab_cursor *base) {
  return ((cursor *)base)->row >= ((cursor *)base)->count;
}

static int row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *id) {
  *id = (sqlite3_int64)((cursor *)base)->row + 1;
  return SQLITE_OK;
}

static void give_part(sqlite3_context *result, cursor *cursor, bertqa_range range) {
  const char *text = (const char *)sqlite3_value_text(cursor->arguments[1]);
  sqlite3_result_text64(result, text + range.start, range.end - range.start, SQLITE_TRANSIENT,
                        SQLITE_UTF8);
}

static void give_answer_column(sqlite3_context *result, cursor *cursor, int column) {
  const bertqa_answer_span *span = bertqa_answers_get(cursor->answers, cursor->row);
  const bertqa_answer_summary *summary = bertqa_answers_summary(cursor->answers);
  switch (column) {
    case ANSWER: give_part(result, cursor, span->bytes); break;
    case SCORE: sqlite3_result_double(result, span->score); break;
    case PROBABILITY: sqlite3_result_double(result, span->probability); break;
    case GAP: sqlite3_result_double(result, span->gap); break;
    case START_BYTE: sqlite3_result_int64(result, (sqlite3_int64)span->bytes.start); break;
    case END_BYTE: sqlite3_result_int64(result, (sqlite3_int64)span->bytes.end); break;
    case START_CHAR: sqlite3_result_int64(result, (sqlite3_int64)span->code_points.start); break;
    case END_CHAR: sqlite3_result_int64(result, (sqlite3_int64)span->code_points.end); break;
    case SENTENCE: give_part(result, cursor, span->sentence); break;
    case IS_IMPOSSIBLE: sqlite3_result_int(result, summary->is_impossible != 0); break;
    case NO_ANSWER_PROBABILITY:
      sqlite3_result_double(result, summary->no_answer_probability);
      break;
  }
}

static void give_label_column(sqlite3_context *result, cursor *cursor, int column) {
  const bertqa_label_score *label = bertqa_classification_get(cursor->classification, cursor->row);
  switch (column) {
    case LABEL:
      sqlite3_result_text64(result, label->label, label->label_length, SQLITE_TRANSIENT,
                            SQLITE_UTF8);
      break;
    case LABEL_PROBABILITY: sqlite3_result_double(result, label->probability); break;
    case LOGIT: sqlite3_result_double(result, label->logit); break;
    case ID: sqlite3_result_int(result, label->id); break;
  }
}

static int give_column(sqlite3_vtab_cursor *base, sqlite3_context *result, int column) {
  cursor *cursor = (struct cursor *)base;
  const table_kind *kind = ((table *)base->pVtab)->kind;
  if (column >= kind->column_count) {
    sqlite3_value *argument = cursor->arguments[column - kind->column_count];
    if (argument != NULL) sqlite3_result_value(result, argument);
  } else if (kind == &answers_kind) {
    give_answer_column(result, cursor, column);
  } else {
    give_label_column(result, cursor, column);
  }
  return SQLITE_OK;
}

int register_tables(sqlite3 *database, connection *connection) {
  /* No xCreate: the tables are there without CREATE VIRTUAL TABLE, and only so. */
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
  const table_kind *kinds[] = {&answers_kind, &labels_kind};
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
