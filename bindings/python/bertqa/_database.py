"""The SQLite database of a collection."""

import contextlib
import sqlite3
from typing import Any, Callable, Iterator, List

from ._call import guarded

#: SQLite's instructions between two polls. They take about a millisecond, and some calls of FTS5 many.
_INSTRUCTIONS = 1000


class Database(sqlite3.Connection):
    """A connection whose errors name the database."""

    def __init__(self, name: str, file: str):
        self._name = name
        with self._named():
            super().__init__(file, isolation_level=None, timeout=10, check_same_thread=False)

    #: True during a poll, when SQLite allows no other use of the connection.
    _is_polling = False

    def execute(self, *arguments: Any) -> sqlite3.Cursor:
        self._check_use()
        with self._named():
            return super().execute(*arguments)

    def close(self) -> None:
        self._check_use()
        super().close()

    def _check_use(self) -> None:
        if self._is_polling:
            raise ValueError(f"{self._name}: a callback cannot use the collection that it was called for")

    @contextlib.contextmanager
    def polled(self, poll: Callable[[], None]) -> "Iterator[None]":
        """Calls `poll` while statements run. Its exception, or that of a signal's handler, ends them."""
        errors: List[BaseException] = []

        def call(_: None) -> None:
            self._is_polling = True
            try:
                poll()
            finally:
                self._is_polling = False

        try:
            self.set_progress_handler(guarded(call, errors).__next__, _INSTRUCTIONS)
            yield
        except sqlite3.Error:
            if not errors:
                raise
        finally:
            self.set_progress_handler(None, _INSTRUCTIONS)
        if errors:
            raise errors.pop(0)

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
