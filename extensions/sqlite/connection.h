/* The state that the functions and tables of one database connection share. */
#ifndef BERTQA_SQLITE_CONNECTION_H
#define BERTQA_SQLITE_CONNECTION_H

#include <bertqa.h>
#include <sqlite3ext.h>

typedef struct connection connection;

/* Returns an object with one reference; NULL if memory runs out. */
connection *connection_create(sqlite3 *database);
void connection_retain(connection *connection);
void connection_release(void *connection);

/* Returns the connection's model for a task; the first call loads it. */
bertqa_status connection_context(connection *connection, bertqa_task task,
                                 const bertqa_call_options *call, const bertqa_context **context);

/* Loads a model (NULL: the task's default one) and uses it from now on. Returns
 * BERTQA_ERROR_WRONG_MODEL, without a message, for a model of another task. */
bertqa_status connection_choose(connection *connection, bertqa_task task, const char *path,
                                const bertqa_call_options *call);

/* Returns the connection's database. */
sqlite3 *connection_database(const connection *connection);

/* Begins a search of the database's collection; 0 inside another, which a view could otherwise nest
 * without end. */
int connection_begin_search(connection *connection);
void connection_end_search(connection *connection);

/* Returns a counter that changes with each choice of a model. */
sqlite3_uint64 connection_choices(const connection *connection);

/* A library call that sqlite3_interrupt() stops: pass it &call.options, then end it. */
typedef struct interruptible_call {
  bertqa_call_options options;
  sqlite3 *database;
  sqlite3_stmt *probe;
} interruptible_call;

void interruptible_call_begin(interruptible_call *call, const connection *connection);
void interruptible_call_end(interruptible_call *call);

/* Reads a text argument, in UTF-8; the value owns the bytes. Nonzero if SQLite has no memory to convert it. */
int text_argument(sqlite3_value *value, bertqa_text *text);

/* Sets the error of a failed call as a function's result. */
void result_failure(sqlite3_context *result, bertqa_status status);

/* A function's call of the library. texts: the caller sets those of absent arguments. */
typedef struct request {
  bertqa_text texts[6];
  const bertqa_context *context;
  interruptible_call call;
} request;

/* Reads the arguments and, unless task is 0, gets its model. Returns 0 if the result is already set: NULL for a NULL,
 * or an error. Otherwise call end_request. */
int begin_request(request *request, sqlite3_context *result, bertqa_task task, int count,
                  sqlite3_value **arguments);

/* Call it first: other calls change the message. Returns 0 if the call failed; the error is then the result. */
int end_request(request *request, sqlite3_context *result, bertqa_status status);

/* Returns SQLite's code for a status. The message is bertqa_last_error(). */
int sqlite_code(bertqa_status status);

/* Register the functions and tables; each has its own file. They return SQLite's codes. */
int register_functions(sqlite3 *database, connection *connection);
int register_answer_all(sqlite3 *database, connection *connection);
int register_redact(sqlite3 *database, connection *connection);
int register_tables(sqlite3 *database, connection *connection);
int register_match(sqlite3 *database, connection *connection);

#endif
