"""SQLite's C library by ctypes: Python's own sqlite3 module may have been built without extension loading."""

import ctypes
import ctypes.util

INTEGER, FLOAT, TEXT, BLOB = 1, 2, 3, 4
ROW, DONE, INTERRUPT = 100, 101, 9
UTF8 = 1
DBCONFIG_LOAD_EXTENSION, DBCONFIG_TRUSTED_SCHEMA = 1005, 1017

_name = ctypes.util.find_library("sqlite3")
library = ctypes.CDLL(_name) if _name else None
if library:
    pointer, text, integer = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
    for _result, _names in {
        text: "errmsg",
        pointer: "column_text column_blob",
        ctypes.c_double: "column_double",
        ctypes.c_int64: "column_int64",
    }.items():
        for _each in _names.split():
            getattr(library, f"sqlite3_{_each}").restype = _result


FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p))


class SQLError(Exception):
    """code: SQLite's primary result code."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class Database:
    def __init__(self, path=":memory:", extension=None):
        self.handle = ctypes.c_void_p()
        self.functions = []
        self.check(library.sqlite3_open(str(path).encode(), ctypes.byref(self.handle)))
        if extension:
            self.configure(DBCONFIG_LOAD_EXTENSION, 1)
            message = ctypes.c_void_p()
            code = library.sqlite3_load_extension(
                self.handle, str(extension).encode(), None, ctypes.byref(message)
            )
            if code != 0:
                raise SQLError(code, ctypes.string_at(message).decode())

    def configure(self, option, value):
        self.check(library.sqlite3_db_config(self.handle, option, ctypes.c_int(value), None))

    def check(self, code):
        if code not in (0, ROW, DONE):
            raise SQLError(code & 0xFF, library.sqlite3_errmsg(self.handle).decode())
        return code

    def execute(self, sql, *parameters):
        """All rows of a statement, as tuples."""
        statement = ctypes.c_void_p()
        self.check(library.sqlite3_prepare_v2(self.handle, sql.encode(), -1, ctypes.byref(statement), None))
        try:
            for index, value in enumerate(parameters, 1):
                self.check(bind(statement, index, value))
            rows = []
            while self.check(library.sqlite3_step(statement)) == ROW:
                rows.append(tuple(column(statement, i) for i in range(library.sqlite3_column_count(statement))))
            return rows
        finally:
            library.sqlite3_finalize(statement)

    def value(self, sql, *parameters):
        [[value]] = self.execute(sql, *parameters)
        return value

    def define(self, name, function):
        """Defines a function of one argument. function: is called with the result and the arguments as SQLite has them."""
        called = FUNCTION(
            lambda result, _, arguments: function(ctypes.c_void_p(result), [ctypes.c_void_p(arguments[0])])
        )
        self.functions.append(called)
        create = library.sqlite3_create_function
        self.check(create(self.handle, name.encode(), 1, UTF8, None, called, None, None))

    def interrupt(self):
        library.sqlite3_interrupt(self.handle)

    def close(self):
        self.check(library.sqlite3_close(self.handle))
        self.handle = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.handle:
            self.close()


def bind(statement, index, value):
    if value is None:
        return library.sqlite3_bind_null(statement, index)
    if isinstance(value, int):
        return library.sqlite3_bind_int64(statement, index, ctypes.c_int64(value))
    if isinstance(value, float):
        return library.sqlite3_bind_double(statement, index, ctypes.c_double(value))
    data = value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass")
    function = library.sqlite3_bind_blob if isinstance(value, bytes) else library.sqlite3_bind_text
    return function(statement, index, data, len(data), ctypes.c_void_p(-1))


def column(statement, index):
    kind = library.sqlite3_column_type(statement, index)
    if kind == INTEGER:
        return library.sqlite3_column_int64(statement, index)
    if kind == FLOAT:
        return library.sqlite3_column_double(statement, index)
    if kind in (TEXT, BLOB):
        get = library.sqlite3_column_text if kind == TEXT else library.sqlite3_column_blob
        start = get(statement, index)
        data = ctypes.string_at(start, library.sqlite3_column_bytes(statement, index)) if start else b""
        return data.decode("utf-8", "surrogatepass") if kind == TEXT else data
    return None
