/* bertqa_entities(text [, labels]), bertqa_patterns(text [, patterns [, regions]]) */
#include "../labels.h"

#include "tables.h"

SQLITE_EXTENSION_INIT3

enum { ENTITY, LABEL, SCORE, START_BYTE, END_BYTE, START_CHAR, END_CHAR, COLUMNS };

static int find(connection *connection, const bertqa_text *texts, int32_t k,
                const bertqa_call_options *call, void **rows, char **message) {
  const bertqa_context *context;
  bertqa_status status = connection_context(connection, BERTQA_TASK_ENTITIES, call, &context);
  if (status != BERTQA_OK) return failed_call(status, message);
  (void)k;
  bertqa_entities_options options = {.struct_size = sizeof options, .call = call};
  threshold_list labels;
  const char *wrong = texts[1].text != NULL ? set_entity_labels(texts[1], &labels, &options) : NULL;
  if (wrong != NULL) return wrong_argument(wrong, message);
  bertqa_entity_list *found;
  status = bertqa_entities(context, texts[0].text, texts[0].length, &options, &found);
  *rows = found;
  return status == BERTQA_OK ? SQLITE_OK : failed_call(status, message);
}

static int find_patterns(connection *connection, const bertqa_text *texts, int32_t k,
                         const bertqa_call_options *call, void **rows, char **message) {
  (void)connection;
  (void)k;
  bertqa_patterns_options options = {.struct_size = sizeof options, .call = call};
  bertqa_entity_list *found = NULL;
  bertqa_status status = BERTQA_OK;
  if (texts[1].text != NULL)
    status = bertqa_patterns_named(texts[1].text, texts[1].length, &options.patterns);
  name_list regions;
  const char *wrong = read_names(texts[2], &regions);
  if (wrong != NULL) return wrong_argument(wrong, message);
  options.regions = regions.names;
  options.region_count = regions.count;
  if (status == BERTQA_OK)
    status = bertqa_patterns(texts[0].text, texts[0].length, &options, &found);
  *rows = found;
  return status == BERTQA_OK ? SQLITE_OK : failed_call(status, message);
}

static size_t count(const void *rows) { return bertqa_entity_list_count(rows); }

static void free_rows(void *rows) { bertqa_entity_list_free(rows); }

static void give(sqlite3_context *result, const void *rows, const bertqa_text *texts, size_t row,
                 int column) {
  const bertqa_entity *entity = bertqa_entity_list_get(rows, row);
  switch (column) {
    case ENTITY: give_part(result, texts[0], entity->bytes); break;
    case LABEL:
      sqlite3_result_text64(result, entity->label, entity->label_length, SQLITE_TRANSIENT,
                            SQLITE_UTF8);
      break;
    case SCORE: sqlite3_result_double(result, entity->score); break;
    case START_BYTE: sqlite3_result_int64(result, (sqlite3_int64)entity->bytes.start); break;
    case END_BYTE: sqlite3_result_int64(result, (sqlite3_int64)entity->bytes.end); break;
    case START_CHAR: sqlite3_result_int64(result, (sqlite3_int64)entity->code_points.start); break;
    case END_CHAR: sqlite3_result_int64(result, (sqlite3_int64)entity->code_points.end); break;
  }
}

const table_kind entities_kind = {
    .name = "bertqa_entities",
    .schema =
        "CREATE TABLE bertqa_entities(entity TEXT, label TEXT, score REAL, start_byte INTEGER,"
        " end_byte INTEGER, start_char INTEGER, end_char INTEGER, bertqa_text TEXT HIDDEN,"
        " bertqa_labels TEXT HIDDEN)",
    .usage = "bertqa_entities(text) needs a text",
    .column_count = COLUMNS,
    .text_count = 1,
    .option_count = 1,
    .find = find,
    .count = count,
    .give = give,
    .free = free_rows};

const table_kind patterns_kind = {
    .name = "bertqa_patterns",
    .schema =
        "CREATE TABLE bertqa_patterns(entity TEXT, label TEXT, score REAL, start_byte INTEGER,"
        " end_byte INTEGER, start_char INTEGER, end_char INTEGER, bertqa_text TEXT HIDDEN,"
        " bertqa_patterns TEXT HIDDEN, bertqa_regions TEXT HIDDEN)",
    .usage = "bertqa_patterns(text) needs a text",
    .column_count = COLUMNS,
    .text_count = 1,
    .option_count = 2,
    .find = find_patterns,
    .count = count,
    .give = give,
    .free = free_rows};
