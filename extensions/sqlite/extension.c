/* bertqa_sqlite.so, a loadable extension of SQLite: docs/sql.md is its manual. */
#include "connection.h"

SQLITE_EXTENSION_INIT1

/* SQLite derives this name from the file name. */
__attribute__((visibility("default"))) int sqlite3_bertqasqlite_init(
    sqlite3 *database, char **message, const sqlite3_api_routines *api) {
  SQLITE_EXTENSION_INIT2(api);
  if (sqlite3_libversion_number() < 3031000) {
    *message =
        sqlite3_mprintf("bertqa needs SQLite 3.31 or later; this is %s", sqlite3_libversion());
    return SQLITE_ERROR;
  }
  connection *connection = connection_create(database);
  if (connection == NULL) return SQLITE_NOMEM;
  int code = register_functions(database, connection);
  if (code == SQLITE_OK) code = register_answer_all(database, connection);
  if (code == SQLITE_OK) code = register_redact(database, connection);
  if (code == SQLITE_OK) code = register_tables(database, connection);
  if (code == SQLITE_OK) code = register_match(database, connection);
  connection_release(connection);
  return code;
}
