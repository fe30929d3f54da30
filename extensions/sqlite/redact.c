/* bertqa_redact(text[, patterns[, action[, value[, regions[, labels]]]]]): the text with its personal data replaced. */
#include "../replacement.h"
#include "connection.h"

SQLITE_EXTENSION_INIT3

static void redact(sqlite3_context *result, int count, sqlite3_value **arguments) {
  bertqa_text texts[6] = {{NULL, 0}, {"all", 3}, {"label", 5}, {NULL, 0}, {NULL, 0}, {NULL, 0}};
  for (int i = 0; i < count; i++) {
    if (sqlite3_value_type(arguments[i]) == SQLITE_NULL) return;
  }
  for (int i = 0; i < count; i++) {
    if (text_argument(arguments[i], &texts[i])) {
      sqlite3_result_error_nomem(result);
      return;
    }
  }
  bertqa_patterns_options patterns = BERTQA_PATTERNS_OPTIONS_INIT;
  bertqa_redact_options options = BERTQA_REDACT_OPTIONS_INIT;
  bertqa_entities_options entities = BERTQA_ENTITIES_OPTIONS_INIT;
  name_list regions;
  threshold_list labels;
  const char *wrong = read_replacement(texts[2], texts[3], &options);
  if (wrong == NULL) wrong = read_names(texts[4], &regions);
  if (wrong == NULL && texts[5].length > 0) wrong = set_entity_labels(texts[5], &labels, &entities);
  if (wrong != NULL) {
    sqlite3_result_error(result, wrong, -1);
    return;
  }
  patterns.regions = regions.names;
  patterns.region_count = regions.count;
  bertqa_status status = bertqa_patterns_named(texts[1].text, texts[1].length, &patterns.patterns);
  const bertqa_context *model = NULL;
  if (status == BERTQA_OK && texts[5].length > 0)
    status = connection_context(sqlite3_user_data(result), BERTQA_TASK_ENTITIES, &model);
  if (status != BERTQA_OK) {
    result_failure(result, status);
    return;
  }
  interruptible_call call;
  interruptible_call_begin(&call, sqlite3_user_data(result));
  patterns.call = options.call = &call.options;
  bertqa_entity_list *found[2];
  size_t length;
  status = begin_redaction(texts[0], &patterns, model, &entities, &options, found, &length);
  char *output = status == BERTQA_OK ? sqlite3_malloc64(length + 1) : NULL;
  if (status != BERTQA_OK) {
    result_failure(result, status); /* first: other calls change the message */
    end_redaction(texts[0], &options, found, NULL, 0);
  } else {
    status = end_redaction(texts[0], &options, found, output, length);
    if (status != BERTQA_OK) result_failure(result, status);
  }
  interruptible_call_end(&call);
  if (status == BERTQA_OK && output == NULL) {
    sqlite3_result_error_nomem(result);
  } else if (status == BERTQA_OK) {
    sqlite3_result_text64(result, output, length, sqlite3_free, SQLITE_UTF8);
  } else {
    sqlite3_free(output);
  }
}

int register_redact(sqlite3 *database, connection *connection) {
  int code = SQLITE_OK;
  for (int count = 1; code == SQLITE_OK && count <= 6; count++) {
    connection_retain(connection); /* SQLite releases it, also after a failure */
    /* Another version may find more, so no index stores the result. */
    code =
        sqlite3_create_function_v2(database, "bertqa_redact", count, SQLITE_UTF8 | SQLITE_INNOCUOUS,
                                   connection, redact, NULL, NULL, connection_release);
  }
  return code;
}
