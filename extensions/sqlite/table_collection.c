/* bertqa_search and bertqa_ask in a collection's database: (question, k, only_path, only_fields). */
#include <bertqa_experimental.h>
#include <string.h>

#include "tables.h"

SQLITE_EXTENSION_INIT3

enum { DEFAULT_FOUND = 10, READ = 20, MOST = 1000 };

/* The columns of a passage in the rows of both tables, and of BERTQA_COLLECTION_PASSAGE. */
enum { TEXT, START, END, LINE, PATH, NAME, TITLE, FIELDS, PASSAGE_COLUMNS };

typedef struct passage {
  sqlite3_int64 id;
  double score;
  sqlite3_value *columns[PASSAGE_COLUMNS];
  bertqa_text text; /* in the column */
} passage;

typedef struct collection_rows {
  passage *passages;
  size_t count;
  bertqa_answers *answers; /* NULL for a search */
} collection_rows;

static void free_rows(void *pointer) {
  collection_rows *rows = pointer;
  if (rows == NULL) return;
  for (size_t i = 0; i < rows->count; i++) {
    for (int column = 0; column < PASSAGE_COLUMNS; column++) {
      sqlite3_value_free(rows->passages[i].columns[column]);
    }
  }
  sqlite3_free(rows->passages);
  bertqa_answers_free(rows->answers);
  sqlite3_free(rows);
}

static int failed_sql(sqlite3 *database, int code, char **message) {
  if (code != SQLITE_INTERRUPT) *message = sqlite3_mprintf("%s", sqlite3_errmsg(database));
  return code;
}

static int prepare(sqlite3 *database, bertqa_collection_statement which, sqlite3_stmt **statement,
                   char **message) {
  int code = sqlite3_prepare_v2(database, bertqa_collection_sql(which), -1, statement, NULL);
  return code == SQLITE_OK ? code : failed_sql(database, code, message);
}

/* Views and triggers of another program might run without end. */
static int check_tables(sqlite3 *database, char **message) {
  sqlite3_stmt *check;
  int code = prepare(database, BERTQA_COLLECTION_CHECK, &check, message);
  if (code != SQLITE_OK) return code;
  sqlite3_bind_text(check, 1, bertqa_collection_sql(BERTQA_COLLECTION_CREATE), -1, SQLITE_STATIC);
  code = sqlite3_step(check);
  if (code != SQLITE_ROW) {
    code = failed_sql(database, code, message);
  } else if (sqlite3_column_int(check, 0)) {
    code = SQLITE_OK;
  } else {
    *message = sqlite3_mprintf(
        "the database is not a collection, or its tables and triggers are not those of one: "
        "'bertqa index' makes one");
    code = SQLITE_ERROR;
  }
  sqlite3_finalize(check);
  return code;
}

/* Begins a search by words and, if the collection has vectors, by them. */
static int begin(connection *connection, bertqa_text question, const bertqa_call_options *call,
                 int *has_vectors, bertqa_search **search, char **message) {
  sqlite3 *database = connection_database(connection);
  int code = check_tables(database, message);
  if (code != SQLITE_OK) return code;
  sqlite3_stmt *model;
  code = prepare(database, BERTQA_COLLECTION_MODEL, &model, message);
  if (code != SQLITE_OK) return code;
  const bertqa_context *context = NULL;
  bertqa_status status = BERTQA_OK;
  code = sqlite3_step(model);
  *has_vectors = code == SQLITE_ROW;
  if (*has_vectors) status = connection_context(connection, BERTQA_TASK_EMBED, call, &context);
  if (status == BERTQA_OK && (*has_vectors || code == SQLITE_DONE)) {
    const void *fingerprint = *has_vectors ? sqlite3_column_blob(model, 0) : NULL;
    size_t length = *has_vectors ? (size_t)sqlite3_column_bytes(model, 0) : 0;
    status = bertqa_search_create(context, question.text, question.length, fingerprint, length,
                                  call, search);
  }
  if (status != BERTQA_OK) {
    code = failed_call(status, message);
  } else if (*search != NULL) {
    code = SQLITE_OK;
  } else {
    code = failed_sql(database, code, message);
  }
  sqlite3_finalize(model);
  return code;
}

/* What documents may be found: a GLOB pattern of paths, and an object of JSON with fields; NULL: all. */
typedef struct filter {
  bertqa_text path, fields;
} filter;

/* True if a value of JSON, which SQLite checks later, is an object: no document matches others. */
static int is_object(bertqa_text json) {
  size_t first = 0;
  while (first < json.length && strchr(" \t\n\r", json.text[first]) != NULL) first++;
  return first < json.length && json.text[first] == '{';
}

/* The rows of BERTQA_COLLECTION_WORDS. */
typedef struct matches {
  int64_t *ids;
  int32_t *words;
  double *scores;
  size_t count, room;
} matches;

static int add_match(matches *matches, sqlite3_stmt *row) {
  if (matches->count == matches->room) {
    size_t room = 2 * matches->room + 256;
    int64_t *ids = sqlite3_realloc64(matches->ids, room * sizeof *ids);
    if (ids == NULL) return SQLITE_NOMEM;
    matches->ids = ids;
    int32_t *words = sqlite3_realloc64(matches->words, room * sizeof *words);
    if (words == NULL) return SQLITE_NOMEM;
    matches->words = words;
    double *scores = sqlite3_realloc64(matches->scores, room * sizeof *scores);
    if (scores == NULL) return SQLITE_NOMEM;
    matches->scores = scores;
    matches->room = room;
  }
  matches->ids[matches->count] = sqlite3_column_int64(row, 0);
  matches->words[matches->count] = sqlite3_column_int(row, 1);
  matches->scores[matches->count++] = sqlite3_column_double(row, 2);
  return SQLITE_OK;
}

static int set_words(sqlite3 *database, bertqa_search *search, int has_vectors, char **message) {
  sqlite3_stmt *words;
  int code = prepare(database, BERTQA_COLLECTION_WORDS, &words, message);
  if (code != SQLITE_OK) return code;
  matches matches = {0};
  sqlite3_bind_text(words, 1, bertqa_search_query(search), -1, SQLITE_TRANSIENT);
  sqlite3_bind_int(words, 2, !has_vectors);
  while (code == SQLITE_OK && (code = sqlite3_step(words)) == SQLITE_ROW) {
    code = add_match(&matches, words);
  }
  if (code == SQLITE_DONE) {
    bertqa_status status =
        bertqa_search_set_words(search, matches.ids, matches.words, matches.scores, matches.count);
    code = status == BERTQA_OK ? SQLITE_OK : failed_call(status, message);
  } else if (code != SQLITE_NOMEM) {
    code = failed_sql(database, code, message);
  }
  sqlite3_finalize(words);
  sqlite3_free(matches.ids);
  sqlite3_free(matches.words);
  sqlite3_free(matches.scores);
  return code;
}

/* Copies a block's scales: SQLite's blobs have no alignment. */
static int add_block(sqlite3_stmt *vectors, bertqa_search *search, char **message) {
  sqlite3_int64 first = sqlite3_column_int64(vectors, 0), count = sqlite3_column_int64(vectors, 1);
  const void *rows = sqlite3_column_blob(vectors, 2);
  size_t row_bytes = (size_t)sqlite3_column_bytes(vectors, 2);
  const void *blob = sqlite3_column_blob(vectors, 3);
  size_t scale_bytes = (size_t)sqlite3_column_bytes(vectors, 3);
  if (count <= 0 || scale_bytes / sizeof(float) != (size_t)count) {
    *message =
        sqlite3_mprintf("the vectors from passage %lld on do not fit: index it again", first);
    return SQLITE_CORRUPT;
  }
  float *scales = sqlite3_malloc64(scale_bytes);
  if (scales == NULL) return SQLITE_NOMEM;
  memcpy(scales, blob, scale_bytes);
  bertqa_status status =
      bertqa_search_add_vectors(search, first, (size_t)count, rows, row_bytes, scales);
  sqlite3_free(scales);
  return status == BERTQA_OK ? SQLITE_OK : failed_call(status, message);
}

/* Restricts a search to the documents that may be found; none tells if there are no such. */
static int allow(sqlite3 *database, bertqa_search *search, filter filter, int *none,
                 char **message) {
  *none = 0;
  if (filter.path.text == NULL && filter.fields.text == NULL) return SQLITE_OK;
  sqlite3_stmt *allowed;
  int code = prepare(database, BERTQA_COLLECTION_ALLOWED, &allowed, message);
  if (code != SQLITE_OK) return code;
  sqlite3_bind_text(allowed, 1, filter.path.text, (int)filter.path.length, SQLITE_STATIC);
  sqlite3_bind_text(allowed, 2, filter.fields.text, (int)filter.fields.length, SQLITE_STATIC);
  *none = 1;
  bertqa_status status = BERTQA_OK;
  while (status == BERTQA_OK && (code = sqlite3_step(allowed)) == SQLITE_ROW) {
    *none = 0;
    status = bertqa_search_allow(search, sqlite3_column_int64(allowed, 0),
                                 sqlite3_column_int64(allowed, 1));
  }
  if (status != BERTQA_OK) {
    code = failed_call(status, message);
  } else {
    code = code == SQLITE_DONE ? SQLITE_OK : failed_sql(database, code, message);
  }
  sqlite3_finalize(allowed);
  return code;
}

static int add_vectors(sqlite3 *database, bertqa_search *search, char **message) {
  sqlite3_stmt *vectors;
  int code = prepare(database, BERTQA_COLLECTION_VECTORS, &vectors, message);
  if (code != SQLITE_OK) return code;
  while ((code = sqlite3_step(vectors)) == SQLITE_ROW) {
    code = add_block(vectors, search, message);
    if (code != SQLITE_OK) {
      sqlite3_finalize(vectors);
      return code;
    }
  }
  code = code == SQLITE_DONE ? SQLITE_OK : failed_sql(database, code, message);
  sqlite3_finalize(vectors);
  return code;
}

/* True for a place in a document, or NULL. */
static int is_place(sqlite3_value *value) {
  sqlite3_int64 place = sqlite3_value_int64(value);
  return place >= 0 && place <= INT32_MAX;
}

static int read_passage(sqlite3_stmt *statement, passage *passage, char **message) {
  for (int column = 0; column < PASSAGE_COLUMNS; column++) {
    passage->columns[column] = sqlite3_value_dup(sqlite3_column_value(statement, column));
    if (passage->columns[column] == NULL) return SQLITE_NOMEM;
  }
  sqlite3_value **columns = passage->columns;
  if (sqlite3_value_type(columns[TEXT]) == SQLITE_NULL || !is_place(columns[START]) ||
      !is_place(columns[END]) || !is_place(columns[LINE])) {
    *message = sqlite3_mprintf("passage %lld has no text or place: index it again", passage->id);
    return SQLITE_CORRUPT;
  }
  return text_argument(columns[TEXT], &passage->text) ? SQLITE_NOMEM : SQLITE_OK;
}

static int read_passages(sqlite3 *database, const bertqa_search *search, int32_t wanted,
                         collection_rows *rows, char **message) {
  int64_t ids[MOST];
  double scores[MOST];
  size_t found = bertqa_search_best(search, (size_t)wanted, ids, scores);
  rows->passages = sqlite3_malloc64((found + 1) * sizeof *rows->passages);
  if (rows->passages == NULL) return SQLITE_NOMEM;
  memset(rows->passages, 0, (found + 1) * sizeof *rows->passages);
  sqlite3_stmt *statement;
  int code = prepare(database, BERTQA_COLLECTION_PASSAGE, &statement, message);
  for (size_t i = 0; i < found && code == SQLITE_OK; i++) {
    sqlite3_bind_int64(statement, 1, ids[i]);
    code = sqlite3_step(statement);
    if (code == SQLITE_ROW) {
      passage *passage = &rows->passages[rows->count++];
      passage->id = ids[i];
      passage->score = scores[i];
      code = read_passage(statement, passage, message);
    } else if (code == SQLITE_DONE) {
      *message = sqlite3_mprintf("passage %lld is missing: index it again", ids[i]);
      code = SQLITE_CORRUPT;
    } else {
      code = failed_sql(database, code, message);
    }
    sqlite3_reset(statement);
  }
  sqlite3_finalize(statement);
  return code;
}

static int answer(connection *connection, const bertqa_search *search, int32_t k,
                  const bertqa_call_options *call, collection_rows *rows, char **message) {
  if (rows->count == 0) return SQLITE_OK;
  bertqa_text texts[READ];
  for (size_t i = 0; i < rows->count; i++) texts[i] = rows->passages[i].text;
  const bertqa_context *context;
  bertqa_status status = connection_context(connection, BERTQA_TASK_ANSWER, call, &context);
  if (status == BERTQA_OK) {
    bertqa_answer_options options = {.struct_size = sizeof options, .call = call, .top_k = k};
    status = bertqa_search_answer(search, context, texts, rows->count, &options, &rows->answers);
  }
  return status == BERTQA_OK ? SQLITE_OK : failed_call(status, message);
}

/* k is 0 for a search whose number of passages is not given. */
static int find(connection *connection, const bertqa_text *texts, int32_t k, int is_asked,
                const bertqa_call_options *call, void **found, char **message) {
  const filter filter = {texts[1], texts[2]};
  if (filter.fields.text != NULL && !is_object(filter.fields)) {
    *message = sqlite3_mprintf("only_fields is an object of JSON, such as {\"year\": 2024}");
    return SQLITE_ERROR;
  }
  if (!connection_begin_search(connection)) {
    *message = sqlite3_mprintf("a search of a collection cannot be part of another");
    return SQLITE_ERROR;
  }
  sqlite3 *database = connection_database(connection);
  bertqa_search *search = NULL;
  int has_vectors = 0;
  collection_rows *rows = sqlite3_malloc64(sizeof *rows);
  int code = rows == NULL ? SQLITE_NOMEM : SQLITE_OK;
  if (code == SQLITE_OK) {
    memset(rows, 0, sizeof *rows);
    code = begin(connection, texts[0], call, &has_vectors, &search, message);
  }
  int none = 0;
  if (code == SQLITE_OK) code = allow(database, search, filter, &none, message);
  if (code == SQLITE_OK && !none) code = set_words(database, search, has_vectors, message);
  if (code == SQLITE_OK && !none && has_vectors) code = add_vectors(database, search, message);
  const int32_t wanted = is_asked ? READ : k > 0 ? k : DEFAULT_FOUND;
  if (code == SQLITE_OK) code = read_passages(database, search, wanted, rows, message);
  if (code == SQLITE_OK && is_asked) code = answer(connection, search, k, call, rows, message);
  bertqa_search_free(search);
  connection_end_search(connection);
  if (code == SQLITE_OK) {
    *found = rows;
  } else {
    free_rows(rows);
  }
  return code;
}

static void give_passage(sqlite3_context *result, const passage *passage, int column) {
  sqlite3_result_value(result, passage->columns[column]);
}

/* ---- bertqa_search ---- */

static int find_passages(connection *connection, const bertqa_text *texts, int32_t k,
                         const bertqa_call_options *call, void **rows, char **message) {
  return find(connection, texts, k, 0, call, rows, message);
}

static size_t count_passages(const void *rows) {
  return rows == NULL ? 0 : ((const collection_rows *)rows)->count;
}

static void give_found(sqlite3_context *result, const void *rows, const bertqa_text *texts,
                       size_t row, int column) {
  (void)texts;
  const passage *passage = &((const collection_rows *)rows)->passages[row];
  switch (column) {
    case 0: sqlite3_result_int64(result, passage->id); break;
    case 1: sqlite3_result_double(result, passage->score); break;
    default: give_passage(result, passage, column - 2);
  }
}

const table_kind search_kind = {
    .name = "bertqa_search",
    .schema =
        "CREATE TABLE bertqa_search(passage INTEGER, score REAL, text TEXT, start_byte INTEGER,"
        " end_byte INTEGER, line INTEGER, path TEXT, name TEXT, title TEXT, fields TEXT,"
        " bertqa_question TEXT HIDDEN, bertqa_k INTEGER HIDDEN, only_path TEXT HIDDEN,"
        " only_fields TEXT HIDDEN)",
    .usage = "bertqa_search(question, k) needs a question",
    .column_count = 2 + PASSAGE_COLUMNS,
    .text_count = 1,
    .has_k = 1,
    .option_count = 2,
    .reads_database = 1,
    .find = find_passages,
    .count = count_passages,
    .give = give_found,
    .free = free_rows};

/* ---- bertqa_ask ---- */

static int find_answers(connection *connection, const bertqa_text *texts, int32_t k,
                        const bertqa_call_options *call, void **rows, char **message) {
  return find(connection, texts, k, 1, call, rows, message);
}

static size_t count_answers(const void *rows) {
  return rows == NULL ? 0 : bertqa_answers_count(((const collection_rows *)rows)->answers);
}

enum {
  ANSWER,
  PROBABILITY,
  GAP,
  IS_IMPOSSIBLE,
  SENTENCE,
  START_BYTE,
  END_BYTE,
  PASSAGE,
  OF_PASSAGE /* its columns from LINE on */
};

/* The line of a byte of a passage; NULL if the passage has no line. */
static void give_line(sqlite3_context *result, const passage *passage, size_t byte) {
  if (sqlite3_value_type(passage->columns[LINE]) == SQLITE_NULL) return;
  sqlite3_int64 line = sqlite3_value_int64(passage->columns[LINE]);
  for (size_t i = 0; i < byte; i++) line += passage->text.text[i] == '\n';
  sqlite3_result_int64(result, line);
}

static void give_answer(sqlite3_context *result, const void *pointer, const bertqa_text *texts,
                        size_t row, int column) {
  (void)texts;
  const collection_rows *rows = pointer;
  const bertqa_answer_span *span = bertqa_answers_get(rows->answers, row);
  const bertqa_answer_summary *summary = bertqa_answers_summary(rows->answers);
  const passage *passage = &rows->passages[span->document_index];
  const sqlite3_int64 start = sqlite3_value_int64(passage->columns[START]);
  switch (column) {
    case ANSWER: give_part(result, passage->text, span->bytes); break;
    case PROBABILITY: sqlite3_result_double(result, span->probability); break;
    case GAP: sqlite3_result_double(result, span->gap); break;
    case IS_IMPOSSIBLE: sqlite3_result_int(result, summary->is_impossible != 0); break;
    case SENTENCE: give_part(result, passage->text, span->sentence); break;
    case START_BYTE: sqlite3_result_int64(result, start + (sqlite3_int64)span->bytes.start); break;
    case END_BYTE: sqlite3_result_int64(result, start + (sqlite3_int64)span->bytes.end); break;
    case PASSAGE: sqlite3_result_int64(result, passage->id); break;
    case OF_PASSAGE: give_line(result, passage, span->bytes.start); break;
    default: give_passage(result, passage, column - OF_PASSAGE + LINE);
  }
}

const table_kind ask_kind = {
    .name = "bertqa_ask",
    .schema =
        "CREATE TABLE bertqa_ask(answer TEXT, probability REAL, gap REAL, is_impossible INTEGER,"
        " sentence TEXT, start_byte INTEGER, end_byte INTEGER, passage INTEGER, line INTEGER,"
        " path TEXT, name TEXT, title TEXT, fields TEXT,"
        " bertqa_question TEXT HIDDEN, bertqa_k INTEGER HIDDEN, only_path TEXT HIDDEN,"
        " only_fields TEXT HIDDEN)",
    .usage = "bertqa_ask(question, k) needs a question",
    .column_count = OF_PASSAGE + PASSAGE_COLUMNS - LINE,
    .text_count = 1,
    .has_k = 1,
    .option_count = 2,
    .reads_database = 1,
    .find = find_answers,
    .count = count_answers,
    .give = give_answer,
    .free = free_rows};
