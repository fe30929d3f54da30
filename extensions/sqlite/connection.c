#include "connection.h"

#include <string.h>

#include "contexts.h"

SQLITE_EXTENSION_INIT3

struct connection {
  sqlite3 *database;
  size_t references; /* functions and tables; SQLite uses a connection from one thread at a time */
  loaded_model *models[BERTQA_TASK_ENTITIES + 1]; /* by task; NULL until it is needed */
  sqlite3_uint64 choices;                         /* the number of model choices */
  int is_searching;
};

connection *connection_create(sqlite3 *database) {
  connection *made = sqlite3_malloc64(sizeof *made);
  if (made == NULL) return NULL;
  memset(made, 0, sizeof *made);
  made->database = database;
  made->references = 1;
  return made;
}

void connection_retain(connection *connection) { connection->references++; }

void connection_release(void *pointer) {
  connection *connection = pointer;
  if (--connection->references > 0) return;
  for (bertqa_task task = 0; task <= BERTQA_TASK_ENTITIES; task++) {
    loaded_model_release(connection->models[task]);
  }
  sqlite3_free(connection);
}

static void use(connection *connection, bertqa_task task, loaded_model *model) {
  loaded_model_release(connection->models[task]);
  connection->models[task] = model;
  connection->choices++;
}

bertqa_status connection_choose(connection *connection, bertqa_task task, const char *path,
                                const bertqa_call_options *call) {
  loaded_model *model;
  bertqa_status status = loaded_model_acquire(task, path, call, &model);
  if (status != BERTQA_OK) return status;
  if (bertqa_context_info(loaded_model_context(model))->task != task) {
    loaded_model_release(model);
    return BERTQA_ERROR_WRONG_MODEL;
  }
  use(connection, task, model);
  return BERTQA_OK;
}

sqlite3_uint64 connection_choices(const connection *connection) { return connection->choices; }

bertqa_status connection_context(connection *connection, bertqa_task task,
                                 const bertqa_call_options *call, const bertqa_context **context) {
  if (connection->models[task] == NULL) {
    /* If BERTQA_MODEL names a model of another task, the calls of the library say so. */
    loaded_model *model;
    bertqa_status status = loaded_model_acquire(task, NULL, call, &model);
    if (status != BERTQA_OK) return status;
    use(connection, task, model);
  }
  *context = loaded_model_context(connection->models[task]);
  return BERTQA_OK;
}

sqlite3 *connection_database(const connection *connection) { return connection->database; }

int connection_begin_search(connection *connection) {
  if (connection->is_searching) return 0;
  return connection->is_searching = 1;
}

void connection_end_search(connection *connection) { connection->is_searching = 0; }

/* True if the calling statement must stop. SQLite before 3.41 has no function for this, but
 * documents that statements started while interrupted ones are still running are interrupted,
 * too. The probe statement shows that. */
static int32_t is_interrupted(void *user) {
  interruptible_call *call = user;
#if SQLITE_VERSION_NUMBER >= 3041000
  if (sqlite3_libversion_number() >= 3041000) return sqlite3_is_interrupted(call->database);
#endif
  int code = SQLITE_OK;
  if (call->probe == NULL) {
    code = sqlite3_prepare_v2(call->database, "SELECT 1", -1, &call->probe, NULL);
  }
  if (code == SQLITE_OK) {
    code = sqlite3_step(call->probe);
    sqlite3_reset(call->probe);
  }
  return code == SQLITE_INTERRUPT;
}

void interruptible_call_begin(interruptible_call *call, const connection *connection) {
  *call = (interruptible_call){
      .options = {.struct_size = sizeof call->options, .cancel = is_interrupted, .user = call},
      .database = connection->database};
}

void interruptible_call_end(interruptible_call *call) { sqlite3_finalize(call->probe); }

int text_argument(sqlite3_value *value, bertqa_text *text) {
  /* SQLite would take the bytes of a BLOB for text of the database's encoding. An empty BLOB has no address. */
  const int is_blob = sqlite3_value_type(value) == SQLITE_BLOB;
  text->text = is_blob ? sqlite3_value_blob(value) : (const char *)sqlite3_value_text(value);
  text->length = (size_t)sqlite3_value_bytes(value);
  if (is_blob && text->text == NULL && text->length == 0) text->text = "";
  return text->text == NULL;
}

void result_failure(sqlite3_context *result, bertqa_status status) {
  if (status != BERTQA_ERROR_CANCELLED) sqlite3_result_error(result, bertqa_last_error(), -1);
  sqlite3_result_error_code(result, sqlite_code(status));
}

int sqlite_code(bertqa_status status) {
  switch (status) {
    case BERTQA_OK: return SQLITE_OK;
    case BERTQA_ERROR_CANCELLED: return SQLITE_INTERRUPT;
    case BERTQA_ERROR_OUT_OF_MEMORY: return SQLITE_NOMEM;
    case BERTQA_ERROR_TOO_LARGE: return SQLITE_TOOBIG;
    default: return SQLITE_ERROR;
  }
}

int begin_request(request *request, sqlite3_context *result, bertqa_task task, int count,
                  sqlite3_value **arguments) {
  connection *connection = sqlite3_user_data(result);
  for (int i = 0; i < count; i++) {
    if (sqlite3_value_type(arguments[i]) == SQLITE_NULL) return 0;
  }
  for (int i = 0; i < count; i++) {
    if (text_argument(arguments[i], &request->texts[i])) {
      sqlite3_result_error_nomem(result);
      return 0;
    }
  }
  interruptible_call_begin(&request->call, connection);
  if (task == 0) return 1;
  bertqa_status status =
      connection_context(connection, task, &request->call.options, &request->context);
  return status == BERTQA_OK || end_request(request, result, status);
}

int end_request(request *request, sqlite3_context *result, bertqa_status status) {
  if (status != BERTQA_OK) result_failure(result, status);
  interruptible_call_end(&request->call);
  return status == BERTQA_OK;
}
