"""Conversion of Arrow arrays to Python values."""

import ctypes
from array import array as numbers
from typing import Any, List, Optional, Tuple

from ._arrow import Chunk
from ._errors import InvalidArgument

#: Number formats and their type codes in array.array.
_NUMBERS = {
    "c": "b", "C": "B", "s": "h", "S": "H", "i": "i", "I": "I", "l": "q", "L": "Q", "f": "f", "g": "d",
}  # fmt: skip


def values(rows: Chunk) -> List[Any]:
    """Returns the rows as Python values: texts, bytes, numbers, booleans, lists, dicts for structs; None for
    nulls."""
    if rows.schema.dictionary:
        distinct = rows.distinct(values)
        return [None if code is None else distinct[code] for code in codes(rows)]
    kind = rows.schema.format.decode()
    count, first = len(rows), int(rows.array.offset)
    if kind == "n":
        return [None] * count
    if kind in _NUMBERS:
        found = _numbers(rows, _NUMBERS[kind], first, count).tolist()
    elif kind == "b":
        found = [bit == "1" for bit in _bits(rows.array.buffers[1], first, count)]
    elif kind in ("u", "U", "z", "Z"):
        found = _texts(rows, is_large=kind.isupper(), is_text=kind in "uU")
    elif kind in ("vu", "vz"):
        found = _views(rows, is_text=kind == "vu")
    elif kind == "+s":
        children = [(child.schema.name.decode(), values(child.rows(first, count))) for child in _children(rows)]
        found = [{name: column[row] for name, column in children} for row in range(count)]
    elif kind in ("+l", "+L"):
        ends = _numbers(rows, "q" if kind == "+L" else "i", first, count + 1)
        found = _cut(_children(rows)[0], [(ends[row], ends[row + 1]) for row in range(count)])
    elif kind.startswith("+w:"):
        size = int(kind[3:])
        found = _cut(_children(rows)[0], [(row * size, (row + 1) * size) for row in range(first, first + count)])
    else:
        raise ValueError(f"values of Arrow type {kind!r} are not known here")
    return [value if ok else None for value, ok in zip(found, validity(rows))]


def codes(rows: Chunk) -> List[Optional[int]]:
    """Returns the indices of dictionary-encoded rows."""
    kind = _NUMBERS[rows.schema.format.decode()]
    found = _numbers(rows, kind, int(rows.array.offset), len(rows))
    indices = [int(code) if ok else None for code, ok in zip(found, validity(rows))]
    size = int(rows.array.dictionary.contents.length)
    wrong = next((code for code in indices if code is not None and not 0 <= code < size), None)
    if wrong is not None:
        raise InvalidArgument(f"a row has value {wrong} of a dictionary of {size}")
    return indices


def validity(rows: Chunk) -> List[bool]:
    """Returns True for each row that is not null."""
    bits = rows.array.buffers[0] if rows.array.n_buffers else None
    if not bits or rows.array.null_count == 0:
        return [True] * len(rows)
    return [bit == "1" for bit in _bits(bits, int(rows.array.offset), len(rows))]


def _bits(address: int, first: int, count: int) -> str:
    """Returns bits, the lowest of each byte first, as a str of 0 and 1."""
    skipped, size = first % 8, first + count
    data = ctypes.string_at(address + first // 8, (size + 7) // 8 - first // 8) if count else b""
    return bit_text(data, skipped + count)[skipped:]


def bit_text(data: bytes, count: int) -> str:
    """Returns the first `count` bits as a str of 0 and 1."""
    if count == 0:
        return ""
    bits = int.from_bytes(data, "little") & ((1 << count) - 1)
    return f"{bits:0{count}b}"[::-1]


def _numbers(rows: Chunk, kind: str, first: int, count: int) -> "numbers[Any]":
    """Returns `count` numbers of the buffer after the validity bits."""
    found = numbers(kind)
    address = rows.array.buffers[1]
    if count and address:
        found.frombytes(ctypes.string_at(address + first * found.itemsize, count * found.itemsize))
    elif count:  # offsets may be absent if there are no rows
        found.frombytes(bytes(count * found.itemsize))
    return found


def _texts(rows: Chunk, is_large: bool, is_text: bool) -> List[Any]:
    count = len(rows)
    if count == 0:
        return []
    ends = _numbers(rows, "q" if is_large else "i", int(rows.array.offset), count + 1)
    start = ends[0]
    for first, end in zip(ends, ends[1:]):
        if not 0 <= first <= end:
            raise InvalidArgument(f"a text begins at {first} and ends at {end}")
    size = ends[-1] - start
    if size and not rows.array.buffers[2]:
        raise InvalidArgument("a text is in a buffer that is NULL")
    data = ctypes.string_at(rows.array.buffers[2] + start, size) if size else b""
    parts = [data[ends[row] - start : ends[row + 1] - start] for row in range(count)]
    return [part.decode("utf-8", "replace") for part in parts] if is_text else parts


def _views(rows: Chunk, is_text: bool) -> List[Any]:
    """A view has 16 bytes: the length, then up to 12 bytes, or 4 bytes, a buffer's index and an offset in it."""
    parts = []
    buffers, last = rows.array.buffers, int(rows.array.n_buffers) - 1
    sizes = numbers("q", ctypes.string_at(buffers[last], 8 * (last - 2)) if last > 2 else b"")
    for row, ok in enumerate(validity(rows)):
        view = buffers[1] + 16 * (int(rows.array.offset) + row)
        length, _, buffer, place = numbers("i", ctypes.string_at(view, 16)) if ok else (0, 0, 0, 0)
        if length < 0:
            raise InvalidArgument(f"a text has a length of {length}")
        if length <= 12:
            start = view + 4
        elif 0 <= buffer < len(sizes) and 0 <= place <= sizes[buffer] - length and buffers[2 + buffer]:
            start = buffers[2 + buffer] + place
        else:
            raise InvalidArgument(f"a text has {length} bytes from {place} on in buffer {buffer} of {len(sizes)}")
        parts.append(ctypes.string_at(start, length))
    return [part.decode("utf-8", "replace") for part in parts] if is_text else parts


def _children(rows: Chunk) -> List[Chunk]:
    return [
        Chunk(rows.array.children[i].contents, rows.schema.children[i].contents, rows)
        for i in range(rows.array.n_children)
    ]


def _cut(child: Chunk, ranges: List[Tuple[int, int]]) -> List[Any]:
    if not ranges:
        return []
    first, last = ranges[0][0], ranges[-1][1]
    found = values(child.rows(first, last - first))
    return [found[start - first : end - first] for start, end in ranges]
