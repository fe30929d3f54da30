/* bertqa_answers(question, text, k) */
#include "tables.h"

SQLITE_EXTENSION_INIT3

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
  COLUMNS
};

static int find(connection *connection, const bertqa_text *texts, int32_t k,
                const bertqa_call_options *call, void **rows, char **message) {
  const bertqa_context *context;
  bertqa_status status = connection_context(connection, BERTQA_TASK_ANSWER, call, &context);
  if (status != BERTQA_OK) return failed_call(status, message);
  bertqa_answer_options options = {.struct_size = sizeof options, .call = call, .top_k = k};
  bertqa_answers *found;
  status = bertqa_answer(context, texts[0].text, texts[0].length, texts[1].text, texts[1].length,
                         &options, &found);
  *rows = found;
  return status == BERTQA_OK ? SQLITE_OK : failed_call(status, message);
}

static size_t count(const void *rows) { return bertqa_answers_count(rows); }

static void free_rows(void *rows) { bertqa_answers_free(rows); }

static void give(sqlite3_context *result, const void *rows, const bertqa_text *texts, size_t row,
                 int column) {
  const bertqa_answer_span *span = bertqa_answers_get(rows, row);
  const bertqa_answer_summary *summary = bertqa_answers_summary(rows);
  switch (column) {
    case ANSWER: give_part(result, texts[1], span->bytes); break;
    case SCORE: sqlite3_result_double(result, span->score); break;
    case PROBABILITY: sqlite3_result_double(result, span->probability); break;
    case GAP: sqlite3_result_double(result, span->gap); break;
    case START_BYTE: sqlite3_result_int64(result, (sqlite3_int64)span->bytes.start); break;
    case END_BYTE: sqlite3_result_int64(result, (sqlite3_int64)span->bytes.end); break;
    case START_CHAR: sqlite3_result_int64(result, (sqlite3_int64)span->code_points.start); break;
    case END_CHAR: sqlite3_result_int64(result, (sqlite3_int64)span->code_points.end); break;
    case SENTENCE: give_part(result, texts[1], span->sentence); break;
    case IS_IMPOSSIBLE: sqlite3_result_int(result, summary->is_impossible != 0); break;
    case NO_ANSWER_PROBABILITY:
      sqlite3_result_double(result, summary->no_answer_probability);
      break;
  }
}

const table_kind answers_kind = {
    .name = "bertqa_answers",
    .schema =
        "CREATE TABLE bertqa_answers(answer TEXT, score REAL, probability REAL, gap REAL,"
        " start_byte INTEGER, end_byte INTEGER, start_char INTEGER, end_char INTEGER,"
        " sentence TEXT, is_impossible INTEGER, no_answer_probability REAL,"
        " bertqa_question TEXT HIDDEN, bertqa_text TEXT HIDDEN, bertqa_k INTEGER HIDDEN)",
    .usage = "bertqa_answers(question, text, k) needs a question and a text",
    .column_count = COLUMNS,
    .text_count = 2,
    .has_k = 1,
    .find = find,
    .count = count,
    .give = give,
    .free = free_rows};
