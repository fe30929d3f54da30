/* bertqa_match(question): the question as a query of FTS5. */
#include <bertqa_experimental.h>

#include "connection.h"

SQLITE_EXTENSION_INIT3

/* Returns a query that matches any of the question's words. Common words are left out unless
 * there are no others. If there is no word, the query is "", which matches nothing. */
static void match(sqlite3_context *result, int count, sqlite3_value **arguments) {
  (void)count;
  if (sqlite3_value_type(arguments[0]) == SQLITE_NULL) return;
  bertqa_text question;
  if (text_argument(arguments[0], &question)) {
    sqlite3_result_error_nomem(result);
    return;
  }
  interruptible_call call;
  interruptible_call_begin(&call, sqlite3_user_data(result));
  bertqa_search *search;
  bertqa_status status =
      bertqa_search_create(NULL, question.text, question.length, NULL, 0, &call.options, &search);
  if (status != BERTQA_OK) {
    result_failure(result, status); /* first: other calls change the message */
  } else {
    sqlite3_result_text(result, bertqa_search_query(search), -1, SQLITE_TRANSIENT);
  }
  interruptible_call_end(&call);
  bertqa_search_free(search);
}

int register_match(sqlite3 *database, connection *connection) {
  connection_retain(connection); /* SQLite releases it, also after a failure */
  return sqlite3_create_function_v2(database, "bertqa_match", 1,
                                    SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
                                    connection, match, NULL, NULL, connection_release);
}
