"""The Arrow C data interface and its capsules (https://arrow.apache.org/docs/format/CDataInterface.html)."""

import ctypes
import itertools
import sys
from array import array
from ctypes import POINTER, Structure, c_char_p, c_int, c_int64, c_void_p
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Tuple

from ._errors import InvalidArgument
from ._text import encoded, is_text, not_a_text


class ArrowSchema(Structure):
    pass


class ArrowArray(Structure):
    pass


class ArrowArrayStream(Structure):
    pass


#: POINTER may return another type later (see pointer_to).
SCHEMA_POINTER, ARRAY_POINTER = POINTER(ArrowSchema), POINTER(ArrowArray)
RELEASE_SCHEMA = ctypes.CFUNCTYPE(None, SCHEMA_POINTER)
RELEASE_ARRAY = ctypes.CFUNCTYPE(None, ARRAY_POINTER)

ArrowSchema._fields_ = [
    ("format", c_char_p), ("name", c_char_p), ("metadata", c_char_p), ("flags", c_int64), ("n_children", c_int64),
    ("children", POINTER(SCHEMA_POINTER)), ("dictionary", SCHEMA_POINTER),
    ("release", RELEASE_SCHEMA), ("private_data", c_void_p),
]  # fmt: skip
ArrowArray._fields_ = [
    ("length", c_int64), ("null_count", c_int64), ("offset", c_int64), ("n_buffers", c_int64),
    ("n_children", c_int64), ("buffers", POINTER(c_void_p)), ("children", POINTER(ARRAY_POINTER)),
    ("dictionary", ARRAY_POINTER), ("release", RELEASE_ARRAY),
    ("private_data", c_void_p),
]  # fmt: skip
ArrowArrayStream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(c_int, POINTER(ArrowArrayStream), SCHEMA_POINTER)),
    ("get_next", ctypes.CFUNCTYPE(c_int, POINTER(ArrowArrayStream), ARRAY_POINTER)),
    ("get_last_error", ctypes.CFUNCTYPE(c_char_p, POINTER(ArrowArrayStream))),
    ("release", ctypes.CFUNCTYPE(None, POINTER(ArrowArrayStream))), ("private_data", c_void_p),
]  # fmt: skip


class Chunk:
    """Rows of a column, borrowed from their owner."""

    def __init__(self, array: ArrowArray, schema: ArrowSchema, owner: Any, distinct: Optional[List[Any]] = None):
        self.array, self.schema, self._owner = array, schema, owner
        #: Shared by all rows of a chunk.
        self._distinct: List[Any] = [] if distinct is None else distinct

    def __len__(self) -> int:
        return int(self.array.length)

    def rows(self, start: int, count: int) -> "Chunk":
        """Returns some of the rows, in the same memory."""
        part = ArrowArray.from_buffer_copy(self.array)
        part.offset += start
        part.length = count
        if part.null_count != 0:
            part.null_count = -1  # not counted
        return Chunk(part, self.schema, self, self._distinct)

    def distinct(self, values: "Callable[[Chunk], List[Any]]") -> List[Any]:
        """Returns the dictionary values of dictionary-encoded rows, which are read once."""
        if not self._distinct:
            self._distinct.append(
                values(Chunk(self.array.dictionary.contents, self.schema.dictionary.contents, self))
            )
        found: List[Any] = self._distinct[0]
        return found


def chunks(column: Any, name: str, rows: int = 1 << 30) -> Iterator[Chunk]:
    """Yields the column's chunks, at least one, as its library exports them, without a copy. Lists, other iterables
    of texts and pandas columns of Python objects are copied, at most `rows` texts a chunk. Sparse pandas columns are
    copied too, because Arrow has no such type."""
    if hasattr(column, "sparse"):
        column = column.sparse.to_dense()
    if library_of(column) == "pandas" and _has_objects(column):
        column = iter(column)
    if hasattr(column, "__arrow_c_array__"):
        capsules = column.__arrow_c_array__()
        schema, data = (_pointer(*each) for each in zip(capsules, (b"arrow_schema", b"arrow_array")))
        yield Chunk(ArrowArray.from_address(data), ArrowSchema.from_address(schema), capsules)
    elif hasattr(column, "__arrow_c_stream__"):
        try:
            stream = column.__arrow_c_stream__()
        except (NotImplementedError, TypeError, ValueError) as error:  # such as complex numbers of pandas
            raise InvalidArgument.of(
                name, f"cannot be read as Arrow data ({error}): make it a column of texts"
            ) from None
        yield from _stream(stream)
    else:
        texts = iter(column)
        first = 0
        while True:
            part = built(itertools.islice(texts, rows), first)
            if len(part) or not first:
                yield part
            if len(part) < rows:
                return
            first += rows


def _has_objects(column: Any) -> bool:
    """True for a Series of pandas that has Python objects, or no values and thus a type of numbers or categories."""
    return str(column.dtype) == "object" or bool(column.isna().all())


def library_of(column: Any) -> str:
    """Returns the library of a column's type, also if a caller has made a subclass of it."""
    libraries = (kind.__module__.partition(".")[0] for kind in type(column).__mro__)
    return next((library for library in libraries if library in ("pandas", "polars", "pyarrow")), "")


def _stream(capsule: Any) -> Iterator[Chunk]:
    stream = ArrowArrayStream.from_address(_pointer(capsule, b"arrow_array_stream"))

    def filled(get: Any, struct: Any) -> Any:
        if get(ctypes.byref(stream), ctypes.byref(struct)) != 0:
            raise ValueError(
                f"Arrow stream: {(stream.get_last_error(ctypes.byref(stream)) or b'?').decode('utf-8', 'replace')}"
            )
        return _Released(struct)

    schema = filled(stream.get_schema, ArrowSchema())
    rows = filled(stream.get_next, ArrowArray())
    if not rows.struct.release:
        yield built([])
    while rows.struct.release:
        yield Chunk(rows.struct, schema.struct, (rows, schema, capsule))
        rows = filled(stream.get_next, ArrowArray())


class _Released:
    """Releases an Arrow struct with the last reference."""

    def __init__(self, struct: Any):
        self.struct = struct

    def __del__(self) -> None:
        if self.struct.release:
            self.struct.release(ctypes.byref(self.struct))


def built(texts: Iterable[Any], first: int = 0) -> Chunk:
    """Returns a large_utf8 column of texts; None, NaN and pandas' NA and NaT are nulls. first: the index of the first
    row in errors."""
    data: List[bytes] = []
    offsets, valid = array("q", [0]), bytearray()
    for row, text in enumerate(texts):
        if row % 8 == 0:
            valid.append(0)
        if not is_null(text):
            if not is_text(text):
                raise not_a_text(text, f"row {first + row}")
            data.append(encoded(text))
            valid[-1] |= 1 << row % 8
        offsets.append(offsets[-1] + (len(data[-1]) if valid[-1] >> row % 8 & 1 else 0))
    memory = [(ctypes.c_char * max(1, len(part))).from_buffer(part) for part in (valid or bytearray(1), offsets)]
    joined = b"".join(data)
    buffers = (c_void_p * 3)(
        ctypes.addressof(memory[0]), ctypes.addressof(memory[1]), ctypes.cast(c_char_p(joined), c_void_p).value
    )
    # Python owns the memory, so nothing needs release, but NULL would mean that it was released.
    rows = ArrowArray(length=len(offsets) - 1, null_count=-1, n_buffers=3, buffers=buffers, release=_KEEP_ARRAY)
    return Chunk(rows, ArrowSchema(format=b"U", release=_KEEP_SCHEMA), (buffers, memory, joined))


def is_null(text: Any) -> bool:
    pandas = sys.modules.get("pandas")
    return (
        text is None
        or (isinstance(text, float) and text != text)
        or (pandas is not None and (text is pandas.NA or text is pandas.NaT))
    )


_KEEP_ARRAY = RELEASE_ARRAY(lambda array: None)
_KEEP_SCHEMA = RELEASE_SCHEMA(lambda schema: None)


try:
    _python = ctypes.pythonapi
except AttributeError:
    raise ImportError("bertqa needs CPython: the ctypes of this interpreter has no pythonapi") from None
_python.PyCapsule_GetPointer.restype, _python.PyCapsule_GetPointer.argtypes = c_void_p, [c_void_p, c_void_p]
_python.PyCapsule_New.restype = ctypes.py_object
_python.PyCapsule_New.argtypes = [c_void_p, c_char_p, c_void_p]
_NAMES = {name: ctypes.c_char_p(name) for name in (b"arrow_schema", b"arrow_array", b"arrow_array_stream")}
#: Capsules and their structs, by the struct's address.
_exported: Dict[int, Tuple[Any, "_Released"]] = {}


def _pointer(capsule: Any, name: bytes) -> int:
    return int(_python.PyCapsule_GetPointer(id(capsule), _NAMES[name]))


def capsule(struct: Any, name: bytes) -> Any:
    """Moves a struct into a capsule. If no consumer takes it, it is released some time after the capsule is gone: by a
    later call, as a destructor in Python would lose an exception that unwinds meanwhile."""
    release_unused()
    moved = type(struct).from_buffer_copy(struct)
    struct.release = type(struct.release)()
    address = ctypes.addressof(moved)
    made = _python.PyCapsule_New(address, _NAMES[name], None)
    _exported[address] = made, _Released(moved)
    return made


def release_unused() -> None:
    """Releases the structs of capsules that nothing else refers to."""
    for address in list(_exported):
        entry = _exported.get(address)
        if entry is not None and _references(entry) <= _REFERENCES_ALONE:
            _exported.pop(address, None)


def _references(entry: Tuple[Any, Any]) -> int:
    return sys.getrefcount(entry[0])


_REFERENCES_ALONE = _references((object(), None))
