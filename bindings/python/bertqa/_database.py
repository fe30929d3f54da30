"""The SQLite database of a collection."""

import contextlib
import sqlite3
from typing import Any, Iterator


class Database(sqlite3.Connection):
    """A connection whose errors name the database."""

    def __init__(self, name: str, file: str):
        self._name = name
        with self._named():
            super().__init__(file, isolation_level=None, timeout=10, check_same_thread=False)

    def execute(self, *arguments: Any) -> sqlite3.Cursor:
        with self._named():
            return super().execute(*arguments)

    def execute_all(self, script: str) -> None:
        """Executes the statements of a script. sqlite3's executescript would commit a transaction first."""
        statement = ""
        for line in script.splitlines(keepends=True):
            statement += line
            if sqlite3.complete_statement(statement):
                self.execute(statement)
                statement = ""

    @contextlib.contextmanager
    def _named(self) -> "Iterator[None]":
        try:
            yield
        except sqlite3.Error as error:
            raise type(error)(f"{self._name}: {error}") from None
