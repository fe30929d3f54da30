"""Column: the result of the column functions for inputs without a column library."""

import ctypes
import reprlib
from array import array as numbers
from typing import Any, Iterator, List, Tuple

from ._arrow import ArrowArray, ArrowSchema, Chunk, capsule
from ._arrow_build import Buffers, exported
from ._arrow_values import validity, values


class Column:
    """A result column: a sequence of rows as Python values. pyarrow.array(column), polars.Series(column) and
    all other consumers of `__arrow_c_array__` take it over without a copy, once."""

    def __init__(self) -> None:
        self.array, self.schema = ArrowArray(), ArrowSchema()

    @classmethod
    def of(cls, buffers: Buffers) -> "Column":
        column = cls()
        column.array, column.schema = exported(buffers)
        return column

    def __len__(self) -> int:
        return int(self.array.length)

    def __iter__(self) -> "Iterator[Any]":
        return iter(self.to_pylist())

    def __getitem__(self, index: Any) -> Any:
        """Returns a row, or a list of rows."""
        if isinstance(index, slice):
            return [self[row] for row in range(*index.indices(len(self)))]
        row = range(len(self))[index]
        return values(self._rows().rows(row, 1))[0]

    def to_pylist(self) -> List[Any]:
        """Returns the rows as Python values: dicts for structs, lists, texts, numbers; None for nulls."""
        return values(self._rows())

    def __reduce__(self) -> Tuple[Any, ...]:
        """Pickles a copy of the rows, for other processes."""
        return Column.of, (self.buffers(),)

    def buffers(self) -> Buffers:
        """A copy of the memory."""
        return _copied(self._rows())

    def __repr__(self) -> str:
        if not self.array.release:
            return "<Column, taken over>"
        rows = ", ".join(reprlib.repr(self[row]) for row in range(min(2, len(self))))
        more = ", ..." if len(self) > 2 else ""
        return f"<Column of {len(self)} rows: [{rows}{more}]>"

    def __arrow_c_array__(self, requested_schema: Any = None) -> Tuple[Any, Any]:
        self._rows()
        return capsule(self.schema, b"arrow_schema"), capsule(self.array, b"arrow_array")

    def _rows(self) -> Chunk:
        if not self.array.release:
            raise ValueError("this column was taken over already")
        return Chunk(self.array, self.schema, self)

    def __del__(self) -> None:
        for struct in self.array, self.schema:
            if struct.release:
                struct.release(ctypes.byref(struct))


def _copied(rows: Chunk) -> Buffers:
    """Copies a column of the library or of `exported`, which begins at the first row of its buffers."""
    array, kind, count = rows.array, rows.schema.format.decode(), len(rows)
    children = [
        _copied(Chunk(array.children[i].contents, rows.schema.children[i].contents, rows))
        for i in range(array.n_children)
    ]
    found = Buffers(
        (rows.schema.name or b"").decode(), kind, "".join("1" if ok else "0" for ok in validity(rows)),
        children=children,
    )  # fmt: skip
    if kind in ("U", "+L"):
        found.ends = numbers("q", ctypes.string_at(array.buffers[1], 8 * (count + 1)))
    sizes = {"U": found.ends[-1] if found.ends else 0, "b": (count + 7) // 8, "i": 4 * count, "l": 8 * count}
    size = {**sizes, "f": 4 * count}.get(kind, 0)
    if size:
        found.data = ctypes.string_at(array.buffers[2 if kind == "U" else 1], size)
    return found
