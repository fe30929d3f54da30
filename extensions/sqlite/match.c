/* bertqa_match(question): the question as a query of FTS5. */
#include <string.h>

#include "connection.h"

SQLITE_EXTENSION_INIT3

/* English words that occur in most texts: they distinguish little and are the most expensive to
 * search. */
static const char *const common_words[] = {
    "a",     "about", "after", "all",   "also",  "an",   "and",  "any",   "are",    "as",   "at",
    "be",    "been",  "by",    "can",   "could", "did",  "do",   "does",  "during", "for",  "from",
    "had",   "has",   "have",  "he",    "her",   "his",  "how",  "if",    "in",     "into", "is",
    "it",    "its",   "many",  "may",   "more",  "most", "much", "not",   "of",     "on",   "or",
    "other", "s",     "she",   "some",  "such",  "than", "that", "the",   "their",  "them", "then",
    "there", "these", "they",  "this",  "to",    "was",  "we",   "were",  "what",   "when", "where",
    "which", "who",   "whom",  "whose", "why",   "will", "with", "would", "you",    "your"};

static int is_common(const char *word, size_t length) {
  for (size_t i = 0; i < sizeof common_words / sizeof *common_words; i++) {
    if (strlen(common_words[i]) == length &&
        sqlite3_strnicmp(word, common_words[i], (int)length) == 0) {
      return 1;
    }
  }
  return 0;
}

/* Letters and digits of ASCII, and all non-ASCII bytes: FTS5 splits these further. */
static int is_word_byte(unsigned char byte) {
  return byte >= 0x80 || (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
         (byte >= 'A' && byte <= 'Z');
}

/* Appends the words as "a" OR "b", quoted so that none acts as an operator. Returns their
 * number. */
static size_t append_words(sqlite3_str *query, bertqa_text text, int with_common) {
  size_t count = 0;
  for (size_t at = 0; at < text.length;) {
    size_t start = at;
    while (at < text.length && is_word_byte((unsigned char)text.text[at])) at++;
    size_t length = at - start;
    if (length == 0) {
      at++;
    } else if (with_common || !is_common(text.text + start, length)) {
      sqlite3_str_appendall(query, count++ == 0 ? "\"" : " OR \"");
      sqlite3_str_append(query, text.text + start, (int)length);
      sqlite3_str_appendchar(query, 1, '"');
    }
  }
  return count;
}

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
  sqlite3_str *query = sqlite3_str_new(sqlite3_context_db_handle(result));
  if (append_words(query, question, 0) == 0 && append_words(query, question, 1) == 0) {
    sqlite3_str_appendall(query, "\"\"");
  }
  int code = sqlite3_str_errcode(query);
  char *finished = sqlite3_str_finish(query);
  if (code != SQLITE_OK) {
    sqlite3_free(finished);
    sqlite3_result_error_code(result, code);
  } else {
    sqlite3_result_text(result, finished, -1, sqlite3_free);
  }
}

int register_match(sqlite3 *database) {
  return sqlite3_create_function_v2(database, "bertqa_match", 1,
                                    SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, NULL,
                                    match, NULL, NULL, NULL);
}
