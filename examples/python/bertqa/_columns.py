"""Whole columns: answers and classifications for pyarrow, Polars and pandas, over the Arrow C data interface."""

import ctypes
import sys
from typing import TYPE_CHECKING, Any, Callable, Iterator, List, Tuple, Union

from . import _native
from ._answer import answer_options
from ._arrow import Chunk, Column, chunks
from ._classify import classify_options
from ._context import Context
from ._errors import InvalidArgument
from ._native import library
from ._types import Text

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._types import AnswerOptions, ClassifyOptions


def answer_column(
    context: Context, questions: Any, documents: Any, **options: "Unpack[AnswerOptions]"
) -> Any:
    """The best answer to each row: a struct column with the fields answer, start and end (code points of the
    document), probability, score, gap, sentence and is_impossible.

    documents: a pyarrow Array or ChunkedArray, a Polars or pandas Series, anything with Arrow's capsules, or a list
    of texts; questions: the same, or one question for all rows. The columns are read in place. A row with a null has
    a null answer. The result is of the documents' library: an Array, a ChunkedArray or a Series (pandas: with the
    same index); for other inputs a Column, which any reader of Arrow's capsules takes.
    """
    handle, lib = context._opened(), library()
    call = answer_options(options)

    def answered(rows: Tuple[Chunk, Chunk], result: Column) -> None:
        call.check(
            lib.answer_arrow(
                handle.pointer, _column(rows[0]), _column(rows[1]), call.pointer,
                ctypes.byref(result.array), ctypes.byref(result.schema),
            )
        )  # fmt: skip

    return _mapped(documents, _paired(questions, documents), answered)


def classify_column(context: Context, texts: Any, **options: "Unpack[ClassifyOptions]") -> Any:
    """The classification of each row: a struct column with the fields label, probability and probabilities, a list
    by the order of context.info.labels. texts and the result: as documents of answer_column."""
    handle, lib = context._opened(), library()
    call = classify_options(options)

    def classified(rows: Chunk, result: Column) -> None:
        call.check(
            lib.classify_arrow(
                handle.pointer, _column(rows), call.pointer, ctypes.byref(result.array), ctypes.byref(result.schema)
            )
        )

    return _mapped(texts, chunks(texts), classified)


def _column(rows: Chunk) -> _native.Column:
    return _native.Column(ctypes.addressof(rows.array), ctypes.addressof(rows.schema))


def _paired(questions: "Union[Text, Any]", documents: Any) -> Iterator[Tuple[Chunk, Chunk]]:
    """Chunks of the same rows of both columns."""
    if isinstance(questions, (str, bytes)):
        question = next(chunks([questions]))
        for rows in chunks(documents):
            yield question, rows
        return
    others = chunks(questions)
    other, taken = None, 0
    for rows in chunks(documents):
        if len(rows) == 0:
            yield rows, rows
        start = 0
        while start < len(rows):
            if other is None or taken == len(other):
                other, taken = next(others, None), 0
                if other is None:
                    raise InvalidArgument("there are fewer questions than documents")
                continue
            count = min(len(rows) - start, len(other) - taken)
            yield other.rows(taken, count), rows.rows(start, count)
            start, taken = start + count, taken + count
    if (other is not None and taken < len(other)) or any(len(rest) for rest in others):
        raise InvalidArgument("there are more questions than documents")


def _mapped(column: Any, parts: "Iterator[Any]", call: "Callable[[Any, Column], None]") -> Any:
    """The results of all parts as one column of the library that `column` belongs to."""
    results: List[Column] = []
    for part in parts:
        results.append(Column())
        call(part, results[-1])
    kind = type(column).__module__.split(".")[0]
    if kind == "polars":
        series = [sys.modules["polars"].Series(column.name, result) for result in results]
        return sys.modules["polars"].concat(series, rechunk=False)
    if kind == "pandas":
        import pyarrow

        values = pyarrow.chunked_array([pyarrow.array(result) for result in results])
        pandas = sys.modules["pandas"]
        return pandas.Series(
            pandas.arrays.ArrowExtensionArray(values), index=column.index, name=column.name
        )
    if kind == "pyarrow" or len(results) > 1:
        import pyarrow

        arrays = [pyarrow.array(result) for result in results]
        return arrays[0] if isinstance(column, pyarrow.Array) else pyarrow.chunked_array(arrays)
    return results[0]
