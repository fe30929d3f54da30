/* Asks a collection made by 'bertqa index', through SQLite and its extension.
 *
 *     cc -o ask_collection ask_collection.c $(pkg-config --cflags --libs sqlite3)
 *     ./ask_collection notes.db "Who signed the lease?" [EXTENSION]
 *
 * EXTENSION: the path of bertqa_sqlite.so; default: the dynamic loader finds it. */
#include <sqlite3.h>
#include <stdio.h>

static int fail(sqlite3 *database, const char *what) {
  fprintf(stderr, "%s: %s\n", what, sqlite3_errmsg(database));
  sqlite3_close(database);
  return 1;
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: %s DATABASE QUESTION [EXTENSION]\n", argv[0]);
    return 2;
  }
  sqlite3 *database;
  char *message = NULL;
  if (sqlite3_open_v2(argv[1], &database, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK) {
    return fail(database, argv[1]);
  }
  /* Only this call can load extensions; SQL cannot. */
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, NULL);
  if (sqlite3_load_extension(database, argc > 3 ? argv[3] : "bertqa_sqlite", NULL, &message) !=
      SQLITE_OK) {
    fprintf(stderr, "%s\n", message != NULL ? message : "cannot load the extension");
    sqlite3_free(message);
    sqlite3_close(database);
    return 1;
  }
  sqlite3_stmt *ask;
  if (sqlite3_prepare_v2(
          database,
          /* Only the passages of files have a path and lines. */
          "SELECT answer, probability, coalesce(path, name, 'passage ' || passage)"
          " || coalesce(', line ' || line, '') FROM bertqa_ask(?, 3) WHERE NOT is_impossible",
          -1, &ask, NULL) != SQLITE_OK) {
    return fail(database, "bertqa_ask");
  }
  int code = sqlite3_bind_text(ask, 1, argv[2], -1, SQLITE_STATIC);
  while (code == SQLITE_OK && (code = sqlite3_step(ask)) == SQLITE_ROW) {
    printf("%s  (%.2f, %s)\n", (const char *)sqlite3_column_text(ask, 0),
           sqlite3_column_double(ask, 1), (const char *)sqlite3_column_text(ask, 2));
    code = SQLITE_OK;
  }
  if (code != SQLITE_DONE) fprintf(stderr, "bertqa_ask: %s\n", sqlite3_errmsg(database));
  sqlite3_finalize(ask);
  sqlite3_close(database);
  return code == SQLITE_DONE ? 0 : 1;
}
