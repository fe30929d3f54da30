/* bertqa_match(question): the question as a query of FTS5. */
#include <bertqa_experimental.h>

#include "connection.h"

SQLITE_EXTENSION_INIT3

/* Returns a query that matches any of the question's words. Common words are left out unless
 * there are no others. If there is no word, the query is "", which matches nothing. */
static void match(sqlite3_context *result, int count, sqlite3_value **arguments) {
  request request;
  if (!begin_request(&request, result, 0, count, arguments)) return;
  bertqa_search *search;
  bertqa_status status = bertqa_search_create(NULL, request.texts[0].text, request.texts[0].length,
                                              NULL, 0, &request.call.options, &search);
  if (end_request(&request, result, status))
    sqlite3_result_text(result, bertqa_search_query(search), -1, SQLITE_TRANSIENT);
  bertqa_search_free(search);
}

int register_match(sqlite3 *database, connection *connection) {
  connection_retain(connection); /* SQLite releases it, also after a failure */
  return sqlite3_create_function_v2(database, "bertqa_match", 1,
                                    SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
                                    connection, match, NULL, NULL, connection_release);
}
