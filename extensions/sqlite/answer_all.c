/* The aggregate bertqa_answer_all(question, text): the best answer over the texts of a group, which are read as one
 * collection. Rows with a NULL are left out. */
#include <string.h>

#include "connection.h"

SQLITE_EXTENSION_INIT3

/* The texts of a group. SQLite sets it to 0. */
typedef struct collection {
  char *question; /* NULL before the first row */
  size_t question_length;
  bertqa_text *texts;
  size_t count, room;
  int has_failed;
} collection;

/* Returns a copy that is not NULL, also of an empty text; NULL without memory. */
static char *copied(bertqa_text text) {
  char *copy = sqlite3_malloc64(text.length + 1);
  if (copy != NULL && text.length > 0) memcpy(copy, text.text, text.length);
  return copy;
}

/* Nonzero without memory. */
static int add(collection *all, bertqa_text question, bertqa_text text) {
  if (all->question == NULL) {
    if ((all->question = copied(question)) == NULL) return 1;
    all->question_length = question.length;
  }
  if (all->count == all->room) {
    const size_t room = all->room == 0 ? 16 : 2 * all->room;
    bertqa_text *larger = sqlite3_realloc64(all->texts, room * sizeof *larger);
    if (larger == NULL) return 1;
    all->texts = larger;
    all->room = room;
  }
  char *copy = copied(text);
  if (copy == NULL) return 1;
  all->texts[all->count++] = (bertqa_text){copy, text.length};
  return 0;
}

static void step(sqlite3_context *result, int count, sqlite3_value **arguments) {
  (void)count;
  if (sqlite3_value_type(arguments[0]) == SQLITE_NULL ||
      sqlite3_value_type(arguments[1]) == SQLITE_NULL) {
    return;
  }
  collection *all = sqlite3_aggregate_context(result, sizeof *all);
  bertqa_text question, text;
  if (all == NULL || text_argument(arguments[0], &question) || text_argument(arguments[1], &text)) {
    if (all != NULL) all->has_failed = 1;
    sqlite3_result_error_nomem(result);
    return;
  }
  if (all->question != NULL && (question.length != all->question_length ||
                                memcmp(question.text, all->question, question.length) != 0)) {
    all->has_failed = 1;
    sqlite3_result_error(
        result,
        "bertqa_answer_all(question, text): the question is the same in all rows of a group", -1);
  } else if (add(all, question, text)) {
    all->has_failed = 1;
    sqlite3_result_error_nomem(result);
  }
}

static void answer(sqlite3_context *result, const collection *all) {
  request request;
  if (!begin_request(&request, result, BERTQA_TASK_ANSWER, 0, NULL)) return;
  bertqa_answer_options options = {.struct_size = sizeof options, .call = &request.call.options};
  bertqa_answers *answers;
  bertqa_status status =
      bertqa_answer_documents(request.context, all->question, all->question_length, all->texts,
                              all->count, &options, &answers);
  if (end_request(&request, result, status) && bertqa_answers_count(answers) > 0) {
    const bertqa_answer_span *best = bertqa_answers_get(answers, 0);
    const char *text = all->texts[best->document_index].text;
    sqlite3_result_text64(result, text + best->bytes.start, best->bytes.end - best->bytes.start,
                          SQLITE_TRANSIENT, SQLITE_UTF8);
  }
  bertqa_answers_free(answers);
}

static void finish(sqlite3_context *result) {
  collection *all = sqlite3_aggregate_context(result, 0);
  if (all == NULL) return;
  if (!all->has_failed && all->count > 0) answer(result, all);
  for (size_t i = 0; i < all->count; i++) sqlite3_free((char *)all->texts[i].text);
  sqlite3_free(all->texts);
  sqlite3_free(all->question);
}

int register_answer_all(sqlite3 *database, connection *connection) {
  connection_retain(connection); /* SQLite releases it, also after a failure */
  return sqlite3_create_function_v2(database, "bertqa_answer_all", 2,
                                    SQLITE_UTF8 | SQLITE_INNOCUOUS, connection, NULL, step, finish,
                                    connection_release);
}
