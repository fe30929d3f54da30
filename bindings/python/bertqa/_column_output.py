"""Concatenates the results of a column's parts."""

import sys
from typing import Any, Callable, Iterator, List, TypeVar

from ._arrow import library_of
from ._arrow_build import joined
from ._arrow_column import Column
from ._errors import BertQAError
from ._run import Run

Part = TypeVar("Part")


def mapped(
    column: Any, run: Run, parts: "Iterator[Part]", call: "Callable[[Part], Column]", rows: "Callable[[Part], int]"
) -> Any:
    """Returns the results of all parts as one column of the library of `column`."""
    results: List[Column] = []
    for part in parts:
        run.begin(rows(part))
        try:
            results.append(call(part))
        except BertQAError as error:
            if error.item is not None:
                error._move(run.first + error.item)  # the call counts from the beginning of the part
            raise
        run.end()
    return _assembled(column, results)


def _assembled(column: Any, results: List[Column]) -> Any:
    kind = library_of(column)
    if kind == "polars":
        # Polars ignores a name that is passed with Arrow data.
        series = [sys.modules["polars"].Series(result).rename(column.name) for result in results]
        return sys.modules["polars"].concat(series, rechunk=False)
    if kind == "pandas":
        import pyarrow

        values = pyarrow.chunked_array([pyarrow.array(result) for result in results])
        pandas = sys.modules["pandas"]
        return pandas.Series(pandas.arrays.ArrowExtensionArray(values), index=column.index, name=column.name)
    if kind == "pyarrow":
        import pyarrow

        arrays = [pyarrow.array(result) for result in results]
        if isinstance(column, pyarrow.Array):
            return arrays[0] if len(arrays) == 1 else pyarrow.concat_arrays(arrays)
        return pyarrow.chunked_array(arrays)
    return results[0] if len(results) == 1 else Column.of(joined([result.buffers() for result in results]))
