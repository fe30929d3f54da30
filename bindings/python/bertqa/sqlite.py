"""SQL functions in SQLite for connections of Python's sqlite3: bertqa_answer and the others of docs/sql.md.

    import bertqa.sqlite, sqlite3

    connection = sqlite3.connect("reports.db")
    bertqa.sqlite.load(connection)
    connection.execute("SELECT id, bertqa_answer('Why did it fail?', body) FROM reports")

The functions are those of the SQLite extension bertqa_sqlite, in the library's directory.
"""

import contextlib
import os
import sqlite3
from typing import TYPE_CHECKING, Any, Iterator

from ._native import path

if TYPE_CHECKING:
    from typing import Protocol

    class Connection(Protocol):
        """A connection of sqlite3 or of a compatible module such as pysqlite3."""

        def enable_load_extension(self, enabled: bool, /) -> Any: ...

        def load_extension(self, path: str, /) -> Any: ...


def load(connection: "Connection") -> None:
    """Registers the SQL functions of docs/sql.md with a connection. Afterwards it loads other extensions only if it
    allowed that before.

    Raises sqlite3.NotSupportedError if the connection's module was built without extension loading, and
    sqlite3.OperationalError if SQLite cannot load the extension.
    """
    if not hasattr(connection, "enable_load_extension"):
        raise sqlite3.NotSupportedError(
            f"{type(connection).__module__} was built without loading of extensions, so it cannot load bertqa_sqlite: "
            "use a Python that has it, such as Debian's python3, or a module such as pysqlite3 or apsw"
        )
    file = extension()
    with _loading(connection):
        connection.load_extension(file)


def extension() -> str:
    """Returns the path of the extension, for other programs, such as the shell's .load."""
    library = path()
    if os.sep not in library:
        return "bertqa_sqlite"  # the dynamic loader finds an installed library and so the extension
    file = os.path.join(os.path.dirname(os.path.realpath(library)), "bertqa_sqlite.so")
    if not os.path.exists(file):
        raise FileNotFoundError(f"{file} is missing: run `make sqlite` in the checkout, or install the wheel")
    return file


@contextlib.contextmanager
def _loading(connection: "Connection") -> Iterator[None]:
    """Allows extensions while one is loaded."""
    was_allowed = False
    with contextlib.suppress(AttributeError):  # before Python 3.12
        was_allowed = connection.getconfig(sqlite3.SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION)  # type: ignore[attr-defined]
    connection.enable_load_extension(True)
    try:
        yield
    finally:
        connection.enable_load_extension(was_allowed)
