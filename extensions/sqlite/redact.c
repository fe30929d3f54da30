/* bertqa_redact(text[, patterns[, action[, value[, regions[, labels]]]]]): the text with its personal data replaced. */
#include "../replacement.h"
#include "connection.h"

SQLITE_EXTENSION_INIT3

static void redact(sqlite3_context *result, int count, sqlite3_value **arguments) {
  request request = {.texts = {{NULL, 0}, {"all", 3}, {"label", 5}}};
  if (!begin_request(&request, result, 0, count, arguments)) return;
  const bertqa_text *texts = request.texts;
  bertqa_patterns_options patterns = BERTQA_PATTERNS_OPTIONS_INIT;
  bertqa_redact_options options = BERTQA_REDACT_OPTIONS_INIT;
  bertqa_entities_options entities = BERTQA_ENTITIES_OPTIONS_INIT;
  name_list regions;
  threshold_list labels;
  const char *wrong = read_replacement(texts[2], texts[3], &options);
  if (wrong == NULL) wrong = read_names(texts[4], &regions);
  if (wrong == NULL && texts[5].length > 0) wrong = set_entity_labels(texts[5], &labels, &entities);
  if (wrong != NULL) {
    interruptible_call_end(&request.call);
    sqlite3_result_error(result, wrong, -1);
    return;
  }
  patterns.regions = regions.names;
  patterns.region_count = regions.count;
  patterns.call = options.call = &request.call.options;
  bertqa_status status = bertqa_patterns_named(texts[1].text, texts[1].length, &patterns.patterns);
  const bertqa_context *model = NULL;
  if (status == BERTQA_OK && texts[5].length > 0)
    status = connection_context(sqlite3_user_data(result), BERTQA_TASK_ENTITIES,
                                &request.call.options, &model);
  bertqa_entity_list *found[2] = {NULL, NULL};
  size_t length = 0;
  if (status == BERTQA_OK)
    status = begin_redaction(texts[0], &patterns, model, &entities, &options, found, &length);
  if (status != BERTQA_OK) {
    end_request(&request, result, status);
    end_redaction(texts[0], &options, found, NULL, 0);
    return;
  }
  char *output = sqlite3_malloc64(length + 1);
  status = end_redaction(texts[0], &options, found, output, length);
  if (!end_request(&request, result, status)) {
    sqlite3_free(output);
  } else if (output == NULL) {
    sqlite3_result_error_nomem(result);
  } else {
    sqlite3_result_text64(result, output, length, sqlite3_free, SQLITE_UTF8);
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
