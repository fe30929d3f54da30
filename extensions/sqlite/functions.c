/* The scalar functions. A NULL text gives NULL. */
#include <string.h>

#include "../cosine.h"
#include "../labels.h"
#include "connection.h"

SQLITE_EXTENSION_INIT3

/* bertqa_answer(question, text): the best answer; NULL if there is none. */
static void answer(sqlite3_context *result, int count, sqlite3_value **arguments) {
  request request;
  if (!begin_request(&request, result, BERTQA_TASK_ANSWER, count, arguments)) return;
  bertqa_text question = request.texts[0], text = request.texts[1];
  bertqa_answer_options options = {.struct_size = sizeof options, .call = &request.call.options};
  bertqa_answers *answers;
  bertqa_status status = bertqa_answer(request.context, question.text, question.length, text.text,
                                       text.length, &options, &answers);
  if (end_request(&request, result, status) && bertqa_answers_count(answers) > 0) {
    bertqa_range range = bertqa_answers_get(answers, 0)->bytes;
    sqlite3_result_text64(result, text.text + range.start, range.end - range.start,
                          SQLITE_TRANSIENT, SQLITE_UTF8);
  }
  bertqa_answers_free(answers);
}

/* bertqa_classify(text[, labels]): the most probable label; NULL for a text too short for the model. */
static void classify(sqlite3_context *result, int count, sqlite3_value **arguments) {
  request request;
  if (!begin_request(&request, result, BERTQA_TASK_CLASSIFY, count, arguments)) return;
  bertqa_classify_options options = {.struct_size = sizeof options, .call = &request.call.options};
  name_list labels;
  const char *wrong = count > 1 ? set_labels(request.texts[1], &labels, &options) : NULL;
  if (wrong != NULL) {
    interruptible_call_end(&request.call);
    sqlite3_result_error(result, wrong, -1);
    return;
  }
  bertqa_classification *classification;
  bertqa_status status = bertqa_classify(request.context, request.texts[0].text,
                                         request.texts[0].length, &options, &classification);
  if (end_request(&request, result, status) && bertqa_classification_count(classification) > 0) {
    const bertqa_label_score *best = bertqa_classification_get(classification, 0);
    sqlite3_result_text64(result, best->label, best->label_length, SQLITE_TRANSIENT, SQLITE_UTF8);
  }
  bertqa_classification_free(classification);
}

/* The cached vector of a text that is the same in all rows of a statement, such as a parameter. */
typedef struct constant_vector {
  sqlite3_uint64 choices; /* the connection's counter when the vector was computed */
  size_t size;            /* in bytes */
  float values[];
} constant_vector;

/* Caches a vector for as long as SQLite keeps data for a constant argument. */
static void keep_vector(sqlite3_context *result, const float *vector, size_t size) {
  constant_vector *kept = sqlite3_malloc64(sizeof *kept + size);
  if (kept == NULL) return;
  *kept = (constant_vector){.choices = connection_choices(sqlite3_user_data(result)), .size = size};
  memcpy(kept->values, vector, size);
  sqlite3_set_auxdata(result, 0, kept, sqlite3_free);
}

/* bertqa_embed(text[, prompt_name]): the vector as a BLOB of float32 in the machine's byte order. */
static void embed(sqlite3_context *result, int count, sqlite3_value **arguments) {
  request request;
  if (!begin_request(&request, result, BERTQA_TASK_EMBED, count, arguments)) return;
  const constant_vector *kept = sqlite3_get_auxdata(result, 0);
  /* The mark at the prompt's name is there only if the name is constant, too. */
  const int is_same = count == 1 || sqlite3_get_auxdata(result, 1) != NULL;
  if (kept != NULL && is_same && kept->choices == connection_choices(sqlite3_user_data(result))) {
    interruptible_call_end(&request.call);
    sqlite3_result_blob64(result, kept->values, kept->size, SQLITE_TRANSIENT);
    return;
  }
  size_t length = bertqa_context_info(request.context)->embedding_length;
  float *vector =
      sqlite3_malloc64((length + 1) * sizeof *vector); /* not NULL for another task's model */
  if (vector == NULL) {
    interruptible_call_end(&request.call);
    sqlite3_result_error_nomem(result);
    return;
  }
  bertqa_embed_options options = {.struct_size = sizeof options,
                                  .call = &request.call.options,
                                  .prompt_name = count > 1 ? &request.texts[1] : NULL};
  bertqa_text_pair pair = {request.texts[0].text, request.texts[0].length, NULL, 0};
  bertqa_status status = bertqa_embed(request.context, &pair, 1, &options, vector, length, NULL);
  if (end_request(&request, result, status)) {
    keep_vector(result, vector, length * sizeof *vector);
    if (count > 1) sqlite3_set_auxdata(result, 1, "", NULL);
    sqlite3_result_blob64(result, vector, length * sizeof *vector, sqlite3_free);
  } else {
    sqlite3_free(vector);
  }
}

/* bertqa_cosine(a, b): the cosine of two vectors of bertqa_embed, -1...1; exactly 1 for equal vectors, NULL for zero
 * vectors. */
static void cosine(sqlite3_context *result, int count, sqlite3_value **arguments) {
  (void)count;
  if (sqlite3_value_type(arguments[0]) == SQLITE_NULL ||
      sqlite3_value_type(arguments[1]) == SQLITE_NULL) {
    return;
  }
  const char *vectors[2] = {sqlite3_value_blob(arguments[0]), sqlite3_value_blob(arguments[1])};
  int bytes = sqlite3_value_bytes(arguments[0]);
  if (sqlite3_value_type(arguments[0]) != SQLITE_BLOB ||
      sqlite3_value_type(arguments[1]) != SQLITE_BLOB || bytes % (int)sizeof(float) != 0 ||
      sqlite3_value_bytes(arguments[1]) != bytes) {
    sqlite3_result_error(
        result, "bertqa_cosine compares two vectors of one length, as bertqa_embed gives them", -1);
    return;
  }
  /* NaN is NULL. */
  sqlite3_result_double(result,
                        vector_cosine(vectors[0], vectors[1], (size_t)bytes / sizeof(float)));
}

static void append_json(sqlite3_str *json, const char *text, size_t length) {
  sqlite3_str_appendchar(json, 1, '"');
  for (size_t i = 0; i < length; i++) {
    unsigned char byte = (unsigned char)text[i];
    if (byte < 0x20) {
      sqlite3_str_appendf(json, "\\u%04x", byte);
    } else {
      if (byte == '"' || byte == '\\') sqlite3_str_appendchar(json, 1, '\\');
      sqlite3_str_appendchar(json, 1, (char)byte);
    }
  }
  sqlite3_str_appendchar(json, 1, '"');
}

/* bertqa_tokens(text): the tokens as the answering model reads them, as a JSON array of {"id",
 * "piece", "start_byte", "end_byte"}. */
static void tokens(sqlite3_context *result, int count, sqlite3_value **arguments) {
  request request;
  if (!begin_request(&request, result, BERTQA_TASK_ANSWER, count, arguments)) return;
  bertqa_tokenize_options options = {.struct_size = sizeof options, .call = &request.call.options};
  bertqa_tokens *tokens;
  bertqa_status status = bertqa_tokenize(request.context, request.texts[0].text,
                                         request.texts[0].length, &options, &tokens);
  if (status != BERTQA_OK) {
    end_request(&request, result, status);
    return;
  }
  sqlite3_str *json =
      sqlite3_str_new(sqlite3_context_db_handle(result)); /* knows its length limit */
  sqlite3_str_appendchar(json, 1, '[');
  for (size_t i = 0; status == BERTQA_OK && i < bertqa_tokens_count(tokens); i++) {
    if (i % 4096 == 0 && request.call.options.cancel(&request.call))
      status = BERTQA_ERROR_CANCELLED; /* a long text has millions */
    int32_t id = bertqa_tokens_ids(tokens)[i];
    bertqa_range range = bertqa_tokens_ranges(tokens)[i];
    size_t length;
    const char *piece = bertqa_context_vocabulary_piece(request.context, id, &length);
    sqlite3_str_appendf(json, "%s{\"id\":%d,\"piece\":", i == 0 ? "" : ",", id);
    append_json(json, piece, length);
    sqlite3_str_appendf(json, ",\"start_byte\":%llu,\"end_byte\":%llu}",
                        (unsigned long long)range.start, (unsigned long long)range.end);
  }
  sqlite3_str_appendchar(json, 1, ']');
  bertqa_tokens_free(tokens);
  int code = sqlite3_str_errcode(json);
  sqlite3_uint64 size = (sqlite3_uint64)sqlite3_str_length(json);
  char *finished = sqlite3_str_finish(json);
  int is_complete = end_request(&request, result, status);
  if (is_complete && code == SQLITE_OK) {
    sqlite3_result_text64(result, finished, size, sqlite3_free, SQLITE_UTF8);
    return;
  }
  if (is_complete) sqlite3_result_error_code(result, code);
  sqlite3_free(finished);
}

/* Returns a text as a string; NULL if it has a NUL, behind which a string ends, or without memory. */
static const char *whole_string(sqlite3_value *value) {
  const char *text = (const char *)sqlite3_value_text(value);
  return text != NULL && strlen(text) == (size_t)sqlite3_value_bytes(value) ? text : NULL;
}

/* bertqa_model(task, path): selects the connection's model for a task; a NULL path selects the
 * default one. Returns the model's directory. */
static void model(sqlite3_context *result, int count, sqlite3_value **arguments) {
  (void)count;
  connection *connection = sqlite3_user_data(result);
  const char *name = whole_string(arguments[0]);
  bertqa_task task = BERTQA_TASK_ENTITIES;
  while (name != NULL && task > 0 && strcmp(name, bertqa_task_name(task)) != 0) task--;
  if (name == NULL || task == 0 || task == BERTQA_TASK_PREDICT) {
    sqlite3_result_error(result,
                         "bertqa_model(task, path): the task is 'answer', 'classify', 'embed' or"
                         " 'entities'",
                         -1);
    return;
  }
  const char *path = NULL;
  if (sqlite3_value_type(arguments[1]) != SQLITE_NULL &&
      (path = whole_string(arguments[1])) == NULL) {
    sqlite3_result_error(result, "bertqa_model(task, path): the path has a NUL", -1);
    return;
  }
  request request;
  begin_request(&request, result, 0, 0, NULL);
  bertqa_status status = connection_choose(connection, task, path, &request.call.options);
  if (status == BERTQA_ERROR_WRONG_MODEL) {
    interruptible_call_end(&request.call);
    char *message =
        sqlite3_mprintf("bertqa_model(task, path): '%s' is not the task of the model in %s", name,
                        path != NULL ? path : "BERTQA_MODEL");
    sqlite3_result_error(result, message != NULL ? message : "out of memory", -1);
    sqlite3_free(message);
    return;
  }
  if (status == BERTQA_OK)
    status = connection_context(connection, task, &request.call.options, &request.context);
  if (!end_request(&request, result, status)) return;
  sqlite3_result_text(result, bertqa_context_info(request.context)->directory, -1,
                      SQLITE_TRANSIENT);
}

int register_functions(sqlite3 *database, connection *connection) {
  /* Untrusted schemas may call them. They are not deterministic, so that no index or generated
   * column stores a result that depends on the model or the version. */
  const int harmless = SQLITE_UTF8 | SQLITE_INNOCUOUS;
  const struct {
    const char *name;
    int count, flags;
    void (*function)(sqlite3_context *, int, sqlite3_value **);
  } functions[] = {
      {"bertqa_answer", 2, harmless, answer},
      {"bertqa_classify", 1, harmless, classify},
      {"bertqa_classify", 2, harmless, classify},
      {"bertqa_embed", 1, harmless, embed},
      {"bertqa_embed", 2, harmless, embed},
      {"bertqa_cosine", 2, harmless | SQLITE_DETERMINISTIC, cosine},
      {"bertqa_tokens", 1, harmless, tokens},
      /* It reads files, so views and triggers of a database from elsewhere must not call it. */
      {"bertqa_model", 2, SQLITE_UTF8 | SQLITE_DIRECTONLY, model},
  };
  int code = SQLITE_OK;
  for (size_t i = 0; code == SQLITE_OK && i < sizeof functions / sizeof *functions; i++) {
    connection_retain(connection); /* SQLite releases it, also after a failure */
    code = sqlite3_create_function_v2(database, functions[i].name, functions[i].count,
                                      functions[i].flags, connection, functions[i].function, NULL,
                                      NULL, connection_release);
  }
  return code;
}
