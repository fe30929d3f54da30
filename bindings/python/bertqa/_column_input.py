"""Input columns: invalid ones are rejected before the work; others are read in small parts."""

import sys
from typing import Any, Iterator, List, Mapping, Optional, Tuple

from ._arrow import Chunk, built, chunks, is_null, library_of
from ._arrow_column import Column
from ._arrow_layout import check_layout
from ._arrow_values import values
from ._errors import InvalidArgument
from ._text import is_text, not_a_text


def check_column(column: Any, name: str) -> None:
    """Rejects objects that are not columns of texts."""
    kind = type(column).__name__
    if is_text(column):
        raise TypeError(f"{name} must be a column: pass [text]")
    if library_of(column) == "pandas" and not isinstance(column, sys.modules["pandas"].Series):
        hint = "use its to_series()" if hasattr(column, "to_series") else "take one of its columns"
        raise TypeError(f"{name} is a pandas {kind}, but must be a Series: {hint}")
    is_arrow = hasattr(column, "__arrow_c_array__") or hasattr(column, "__arrow_c_stream__")
    if is_arrow and hasattr(column, "columns"):
        raise TypeError(f"{name} is a table ({kind}), not a column: take one of its columns")
    if isinstance(column, (Mapping, set, frozenset)) or not (is_arrow or hasattr(column, "__iter__")):
        raise TypeError(
            f"{name} is of type {kind}, which is not a column: give a pyarrow Array or ChunkedArray, a Polars or pandas "
            "Series, or a list of texts"
        )
    if getattr(column, "ndim", 1) != 1:
        raise TypeError(f"{name} has {column.ndim} dimensions, but must be one column of texts")
    if isinstance(column, (list, tuple)):
        for row, text in enumerate(column):
            if not (is_text(text) or is_null(text)):
                raise not_a_text(text, f"{name}: row {row}")


def length(column: Any) -> Optional[int]:
    """Returns the number of rows if it is known in advance."""
    return len(column) if hasattr(column, "__len__") else None


def parts(column: Any, rows: int, name: str) -> Iterator[Chunk]:
    """Yields the column's rows, `rows` at a time. Rejects a column of another type than text."""
    # A consumer of its capsules would take a Column over.
    for chunk in [column._rows()] if isinstance(column, Column) else chunks(column, name, rows):
        check_layout(chunk, name)
        for start in range(0, max(1, len(chunk)), rows):
            yield chunk if len(chunk) <= rows else chunk.rows(start, min(rows, len(chunk) - start))


def paired(first: Any, column: Any, rows: int, names: Tuple[str, str]) -> Iterator[Tuple[Chunk, Chunk]]:
    """Yields parts with the same rows of both columns. first: a column, or a text for all rows, as a part of
    length 1."""
    if is_text(first):
        text = built([first])
        for part in parts(column, rows, names[1]):
            yield text, part
        return
    others = parts(first, rows, names[0])
    other, taken = None, 0
    for part in parts(column, rows, names[1]):
        if len(part) == 0:
            yield part, part
        start = 0
        while start < len(part):
            if other is None or taken == len(other):
                other, taken = next(others, None), 0
                if other is None:
                    raise InvalidArgument(f"there are fewer {names[0]} than {names[1]}", argument=names[0])
                continue
            count = min(len(part) - start, len(other) - taken)
            yield other.rows(taken, count), part.rows(start, count)
            start, taken = start + count, taken + count
    if (other is not None and taken < len(other)) or any(len(rest) for rest in others):
        raise InvalidArgument(f"there are more {names[0]} than {names[1]}", argument=names[0])


def check_lengths(first: Any, column: Any, names: Tuple[str, str]) -> None:
    """Rejects unequal known lengths before the work; `paired` detects them only at the end. Rejects series of pandas
    whose rows belong to each other by another order than that of their positions."""
    if is_text(first):
        return
    counts = length(first), length(column)
    if counts[0] is not None and counts[1] is not None and counts[0] != counts[1]:
        amount = "fewer" if counts[0] < counts[1] else "more"
        raise InvalidArgument(
            f"there are {amount} {names[0]} than {names[1]}: {counts[0]} and {counts[1]}", argument=names[0]
        )
    if library_of(first) == library_of(column) == "pandas" and not first.index.equals(column.index):
        raise InvalidArgument(
            f"{names[0]} and {names[1]} have different indexes: align them, or pass {names[0]}.tolist() to pair the rows "
            "by position",
            argument=names[0],
        )


def plain(rows: Chunk) -> Chunk:
    """Returns the rows without dictionary encoding, as the library reads them."""
    return built(values(rows)) if rows.schema.dictionary else rows


def texts_of(rows: Chunk, count: int) -> List[Optional[str]]:
    """Returns `count` texts, repeating a single row; U+FFFD replaces invalid UTF-8."""
    found = [text.decode("utf-8", "replace") if isinstance(text, bytes) else text for text in values(rows)]
    return found * count if len(found) == 1 else found
