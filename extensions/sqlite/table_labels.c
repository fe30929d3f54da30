/* bertqa_labels(text[, labels]) */
#include "../labels.h"
#include "tables.h"

SQLITE_EXTENSION_INIT3

enum { LABEL, PROBABILITY, LOGIT, ID, COLUMNS };

static int find(connection *connection, const bertqa_text *texts, int32_t k,
                const bertqa_call_options *call, void **rows, char **message) {
  const bertqa_context *context;
  bertqa_status status = connection_context(connection, BERTQA_TASK_CLASSIFY, call, &context);
  if (status != BERTQA_OK) return failed_call(status, message);
  (void)k;
  bertqa_classify_options options = {.struct_size = sizeof options, .call = call};
  name_list labels;
  const char *wrong = texts[1].text != NULL ? set_labels(texts[1], &labels, &options) : NULL;
  if (wrong != NULL) return wrong_argument(wrong, message);
  bertqa_classification *found;
  status = bertqa_classify(context, texts[0].text, texts[0].length, &options, &found);
  *rows = found;
  return status == BERTQA_OK ? SQLITE_OK : failed_call(status, message);
}

static size_t count(const void *rows) { return bertqa_classification_count(rows); }

static void free_rows(void *rows) { bertqa_classification_free(rows); }

static void give(sqlite3_context *result, const void *rows, const bertqa_text *texts, size_t row,
                 int column) {
  (void)texts;
  const bertqa_label_score *label = bertqa_classification_get(rows, row);
  switch (column) {
    case LABEL:
      sqlite3_result_text64(result, label->label, label->label_length, SQLITE_TRANSIENT,
                            SQLITE_UTF8);
      break;
    case PROBABILITY: sqlite3_result_double(result, label->probability); break;
    case LOGIT: sqlite3_result_double(result, label->logit); break;
    case ID: sqlite3_result_int(result, label->id); break;
  }
}

const table_kind labels_kind = {
    .name = "bertqa_labels",
    .schema =
        "CREATE TABLE bertqa_labels(label TEXT, probability REAL, logit REAL, id INTEGER,"
        " bertqa_text TEXT HIDDEN, bertqa_labels TEXT HIDDEN)",
    .usage = "bertqa_labels(text) needs a text",
    .column_count = COLUMNS,
    .text_count = 1,
    .option_count = 1,
    .find = find,
    .count = count,
    .give = give,
    .free = free_rows};
