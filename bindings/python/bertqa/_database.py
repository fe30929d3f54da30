"""The SQLite database of a collection."""

import contextlib
import sqlite3
import time
from typing import Any, Callable, Iterator, List, Optional

from ._call import guarded

#: SQLite's instructions between two polls. They take about a millisecond, and some calls of FTS5 many.
_INSTRUCTIONS = 1000
#: Seconds that a statement waits for another connection, and between two of its tries.
_PATIENCE = 10.0
_PAUSE = 0.01


class Database(sqlite3.Connection):
    """A connection whose errors name the database."""

    def __init__(self, name: str, file: str):
        self._name = name
        with self._named():
            super().__init__(file, isolation_level=None, timeout=0, check_same_thread=False)

    #: True during a poll, when SQLite allows no other use of the connection.
    _is_polling = False
    #: Polls; true ends the statement.
    _poll: Optional[Callable[[], Any]] = None

    def execute(self, *arguments: Any) -> sqlite3.Cursor:
        """Executes a statement. It waits here for other connections, as SQLite's own wait ends for no poll or signal."""
        self._check_use()
        end = time.monotonic() + _PATIENCE
        while True:
            try:
                with self._named():
                    return super().execute(*arguments)
            except sqlite3.OperationalError as error:
                if "database is locked" not in str(error) or time.monotonic() >= end:
                    raise
                if self._poll is not None and self._poll():
                    raise
            time.sleep(_PAUSE)

    def close(self) -> None:
        self._check_use()
        super().close()

    def _check_use(self) -> None:
        if self._is_polling:
            raise ValueError(f"{self._name}: a callback cannot use the collection that it was called for")

    @contextlib.contextmanager
    def polled(self, poll: Callable[[], None]) -> "Iterator[None]":
        """Calls `poll` while statements run or wait. Its exception, or that of a signal's handler, ends them."""
        errors: List[BaseException] = []

        def call(_: None) -> None:
            self._is_polling = True
            try:
                poll()
            finally:
                self._is_polling = False

        outer = self._poll
        try:
            self._poll = guarded(call, errors).__next__
            self.set_progress_handler(self._poll, _INSTRUCTIONS)
            yield
        except sqlite3.Error:
            if not errors:
                raise
        finally:
            self._poll = outer
            self.set_progress_handler(outer, _INSTRUCTIONS)
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
