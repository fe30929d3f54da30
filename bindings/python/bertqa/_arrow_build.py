"""Columns of Python values: their buffers, and their export as Arrow structs."""

import ctypes
import itertools
from array import array as numbers
from dataclasses import dataclass, field
from typing import Any, List, Optional, Sequence, Tuple

from . import _abi
from ._arrow import ArrowArray, ArrowSchema
from ._arrow_values import bit_text
from ._native import check, library

_ITEM_SIZES = {"i": 4, "l": 8, "f": 4}
_CODES = {"i": "i", "l": "q", "f": "f"}


@dataclass
class Buffers:
    """A column from its first row: its type in the C data interface's notation, and its memory.

    valid: a str with 0 (null) or 1 for each row.
    data: the bytes of texts and numbers; the bits of booleans.
    ends: for texts and lists, the start of each and the end of the last.
    """

    name: str
    format: str
    valid: str
    data: Any = b""
    ends: "numbers[int]" = field(default_factory=lambda: numbers("q"))
    children: "List[Buffers]" = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.valid)


def texts(name: str, values: Sequence[Optional[str]]) -> Buffers:
    data = [b"" if value is None else value.encode("utf-8", "replace") for value in values]
    return Buffers(name, "U", _valid(values), b"".join(data), _ends(map(len, data)))


def scalars(name: str, kind: str, values: Sequence[Any]) -> Buffers:
    """kind: "i" for int32, "l" for int64, "f" for float32."""
    data = numbers(_CODES[kind], [0 if value is None else value for value in values])
    return Buffers(name, kind, _valid(values), data.tobytes())


def booleans(name: str, values: Sequence[Optional[bool]]) -> Buffers:
    return Buffers(name, "b", _valid(values), packed("".join("1" if value else "0" for value in values)))


def struct(name: str, rows: Sequence[Any], children: List[Buffers]) -> Buffers:
    """rows: None for a null row."""
    return Buffers(name, "+s", _valid(rows), children=children)


def lists(name: str, rows: Sequence[Optional[Sequence[Any]]], child: Buffers) -> Buffers:
    """child: the concatenated elements of all rows."""
    return Buffers(name, "+L", _valid(rows), ends=_ends(len(row or ()) for row in rows), children=[child])


def vectors(name: str, valid: str, size: int, data: Any) -> Buffers:
    """data: `size` float32 values for each row."""
    child = Buffers("item", "f", "1" * (size * len(valid)), data)
    return Buffers(name, f"+w:{size}", valid, children=[child])


def packed(bits: str) -> bytes:
    """Packs a str of 0 and 1 into bits, the lowest of each byte first."""
    return int(bits[::-1] or "0", 2).to_bytes((len(bits) + 7) // 8, "little")


def joined(parts: Sequence[Buffers]) -> Buffers:
    """Concatenates columns of one type."""
    first = parts[0]
    ends = numbers("q", [0]) if first.ends else numbers("q")
    for part in parts:
        base = ends[-1] if ends else 0
        ends.extend(numbers("q", (base + end for end in part.ends[1:])))
    if first.format == "b":
        data = packed("".join(bit_text(part.data, len(part)) for part in parts))
    else:
        data = b"".join(bytes(part.data) for part in parts)
    children = [joined(columns) for columns in zip(*(part.children for part in parts))]
    return Buffers(first.name, first.format, "".join(part.valid for part in parts), data, ends, children)


def taken(column: Buffers, rows: Sequence[Optional[int]]) -> Buffers:
    """Returns the given rows of a column in this order; None gives a null. A row can occur several times."""
    valid = "".join("0" if row is None else column.valid[row] for row in rows)
    kept = [row if ok == "1" and row is not None else None for row, ok in zip(rows, valid)]
    if column.format == "b":
        bits = bit_text(column.data, len(column))
        data: Any = packed("".join("0" if row is None else bits[row] for row in kept))
        return Buffers(column.name, column.format, valid, data)
    if column.format in _ITEM_SIZES:
        return Buffers(column.name, column.format, valid, _pieces(column.data, kept, _ITEM_SIZES[column.format]))
    if column.format == "+s":
        return Buffers(
            column.name, column.format, valid, children=[taken(child, kept) for child in column.children]
        )
    if column.format.startswith("+w:"):
        size = int(column.format[3:])
        return vectors(column.name, valid, size, _pieces(column.children[0].data, kept, 4 * size))
    ranges = [(0, 0) if row is None else (column.ends[row], column.ends[row + 1]) for row in kept]
    ends = _ends(end - start for start, end in ranges)
    if column.format == "U":
        return Buffers(column.name, "U", valid, b"".join(column.data[start:end] for start, end in ranges), ends)
    elements = [element for start, end in ranges for element in range(start, end)]
    return Buffers(column.name, "+L", valid, ends=ends, children=[taken(column.children[0], elements)])


def _pieces(data: Any, rows: Sequence[Optional[int]], size: int) -> bytes:
    view, nothing = memoryview(data).cast("B"), bytes(size)
    return b"".join(nothing if row is None else view[row * size : (row + 1) * size] for row in rows)


def _valid(values: Sequence[Any]) -> str:
    return "".join("0" if value is None else "1" for value in values)


def _ends(lengths: Any) -> "numbers[int]":
    return numbers("q", itertools.accumulate(lengths, initial=0))


# ---- Export


def exported(column: Buffers) -> Tuple[ArrowArray, ArrowSchema]:
    """Returns structs with copies of the column's memory, which the library releases: Arrow's consumers may release them
    at any time, but a callback of Python would lose an exception that unwinds meanwhile."""
    children = [exported(child) for child in column.children]
    arrays = (ArrowArray * len(children))(*(array for array, _ in children))
    schemas = (ArrowSchema * len(children))(*(schema for _, schema in children))
    nulls = column.valid.count("0")
    memory = [packed(column.valid) if nulls else None]
    if len(column.ends):
        memory.append(column.ends.tobytes())
    if column.format in ("U", "b", *_ITEM_SIZES):
        memory.append(bytes(column.data))
    buffers = (_abi.Text * len(memory))(*(_abi.Text(data, len(data or b"")) for data in memory))
    array, schema = ArrowArray(), ArrowSchema()
    try:
        check(
            library().column_create(
                column.format.encode(), column.name.encode(), len(column), nulls, buffers, len(memory), arrays, schemas,
                len(children), ctypes.byref(array), ctypes.byref(schema),
            )
        )  # fmt: skip
    finally:
        for struct in (*arrays, *schemas):
            if struct.release:  # NULL if it was moved
                struct.release(ctypes.byref(struct))
    return array, schema
