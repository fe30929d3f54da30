/* What the functions and tables of one database connection share. */
#ifndef BERTQA_SQLITE_CONNECTION_H
#define BERTQA_SQLITE_CONNECTION_H

#include <bertqa.h>
#include <sqlite3ext.h>

typedef struct connection connection;

/* With one reference, or NULL if memory runs out. */
connection *connection_create(sqlite3 *database);
void connection_retain(connection *connection);
void connection_release(void *connection);

/* The model that this connection uses for a task; the first call loads it. */
bertqa_status connection_context(connection *connection, bertqa_task task,
                                 const bertqa_context **context);

/* Loads a model, NULL for the task's default one, and uses it from now on. BERTQA_ERROR_WRONG_MODEL,
 * which has no message here, for a model of another task. */
bertqa_status connection_choose(connection *connection, bertqa_task task, const char *path);

/* Another number after each choice of a model. */
sqlite3_uint64 connection_choices(const connection *connection);

/* A call of the library that sqlite3_interrupt() stops: give it &call.options, then end it. */
typedef struct interruptible_call {
  bertqa_call_options options;
  sqlite3 *database;
  sqlite3_stmt *probe;
} interruptible_call;

void interruptible_call_begin(interruptible_call *call, const connection *connection);
void interruptible_call_end(interruptible_call *call);

/* A text argument: its bytes belong to the value. Not 0 where SQLite has no memory to convert it. */
int text_argument(sqlite3_value *value, bertqa_text *text);

/* SQLite's code for a status; its message is bertqa_last_error(). */
int sqlite_code(bertqa_status status);

/* The functions and tables, each in a file of its own. Return SQLite's codes. */
int register_functions(sqlite3 *database, connection *connection);
int register_tables(sqlite3 *database, connection *connection);
int register_match(sqlite3 *database);

#endif
