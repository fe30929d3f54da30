"""Whole columns: answers, classifications and entities for pyarrow, Polars and pandas, over the Arrow C data interface."""

import ctypes
import sys
from typing import TYPE_CHECKING, Any, Callable, Iterator, List, Tuple, TypeVar, Union

from . import _abi
from ._answer import answer_call
from ._arrow import Chunk, Column, chunks
from ._call import Call
from ._classify import classify_call
from ._context import Context
from ._entities import entities_call
from ._errors import BertQAError, InvalidArgument
from ._native import library
from ._value import Text

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import AnswerOptions, ClassifyOptions, EntitiesOptions

Part = TypeVar("Part")

#: Rows of one call of the library, which holds some 400 bytes for each until it is over.
ROWS = 16384


def answer_column(context: Context, questions: Any, documents: Any, **options: "Unpack[AnswerOptions]") -> Any:
    """The best answer to each row: a struct column with the fields answer, start and end (code points of the
    document), probability, score, gap, sentence and is_impossible.

    documents: a pyarrow Array or ChunkedArray, a Polars or pandas Series, anything with Arrow's capsules, or a list
    of texts; questions: the same, or one question for all rows. The columns are read in place. A row with a null has
    a null answer. The result is of the documents' library: an Array, a ChunkedArray or a Series (pandas: with the
    same index); for other inputs a Column, which any reader of Arrow's capsules takes.
    options: see help(bertqa.AnswerOptions); top_k must be 1.
    """
    handle, lib = context._opened(), library()
    _check_column(documents, "documents")
    if not isinstance(questions, (str, bytes)):
        _check_column(questions, "questions")
    call = answer_call(options)

    def answered(rows: Tuple[Chunk, Chunk], result: Column) -> None:
        call.check(
            lib.answer_arrow(
                handle.pointer, _column(rows[0]), _column(rows[1]), call.pointer,
                ctypes.byref(result.array), ctypes.byref(result.schema),
            )
        )  # fmt: skip

    def rows(pair: Tuple[Chunk, Chunk]) -> int:
        return len(pair[1])

    return _mapped(documents, _paired(questions, documents), answered, rows)


def classify_column(context: Context, texts: Any, **options: "Unpack[ClassifyOptions]") -> Any:
    """The classification of each row: a struct column with the fields label, probability and probabilities, a list
    by the order of context.info.labels.

    texts and the result: as documents of answer_column.
    options: see help(bertqa.ClassifyOptions); contributions must be 0.
    """
    return _texts_mapped(context, texts, classify_call(options), library().classify_arrow)


def entities_column(context: Context, texts: Any, **options: "Unpack[EntitiesOptions]") -> Any:
    """The entities of each row: a column of lists of structs with the fields label, text, start and end (code points
    of the row's text) and score.

    texts and the result: as documents of answer_column. options: see help(bertqa.EntitiesOptions).
    """
    return _texts_mapped(context, texts, entities_call(options), library().entities_arrow)


def _texts_mapped(context: Context, texts: Any, call: Call, function: Any) -> Any:
    """What a function of the library says of each row of a column of texts."""
    handle = context._opened()
    _check_column(texts, "texts")

    def called(rows: Chunk, result: Column) -> None:
        arrays = ctypes.byref(result.array), ctypes.byref(result.schema)
        call.check(function(handle.pointer, _column(rows), call.pointer, *arrays))

    return _mapped(texts, _cut(texts, chunks(texts)), called, len)


def _check_column(column: Any, name: str) -> None:
    """Refuses what is no column, before any work."""
    if isinstance(column, (str, bytes)):
        raise TypeError(f"{name} is one text, not a column; a column of one is [text]")
    if _library(column) == "pandas" and not isinstance(column, sys.modules["pandas"].Series):
        kind = type(column).__name__
        hint = "use its to_series()" if hasattr(column, "to_series") else "take one of its columns"
        raise TypeError(f"{name} is a pandas {kind}, but must be a Series: {hint}")


def _library(column: Any) -> str:
    return type(column).__module__.split(".")[0]


def _column(rows: Chunk) -> _abi.Column:
    return _abi.Column(ctypes.addressof(rows.array), ctypes.addressof(rows.schema))


def _cut(column: Any, parts: Iterator[Chunk]) -> Iterator[Chunk]:
    """Chunks of at most ROWS rows, where the column's library can put the results together."""
    for rows in parts:
        if len(rows) <= ROWS or _library(column) not in ("pandas", "polars", "pyarrow"):
            yield rows
            continue
        for start in range(0, len(rows), ROWS):
            yield rows.rows(start, min(ROWS, len(rows) - start))


def _paired(questions: "Union[Text, Any]", documents: Any) -> Iterator[Tuple[Chunk, Chunk]]:
    """Chunks of the same rows of both columns."""
    parts = _cut(documents, chunks(documents))
    if isinstance(questions, (str, bytes)):
        question = next(chunks([questions]))
        for rows in parts:
            yield question, rows
        return
    others = chunks(questions)
    other, taken = None, 0
    for rows in parts:
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


def _mapped(
    column: Any, parts: "Iterator[Part]", call: "Callable[[Part, Column], None]", rows: "Callable[[Part], int]"
) -> Any:
    """The results of all parts as one column of the library that `column` belongs to."""
    results: List[Column] = []
    first = 0
    for part in parts:
        results.append(Column())
        try:
            call(part, results[-1])
        except BertQAError as error:
            if error.item is not None:
                error.item += first  # the library counts from the beginning of the part
            raise
        first += rows(part)
    kind = _library(column)
    if kind == "polars":
        series = [sys.modules["polars"].Series(column.name, result) for result in results]
        return sys.modules["polars"].concat(series, rechunk=False)
    if kind == "pandas":
        import pyarrow

        values = pyarrow.chunked_array([pyarrow.array(result) for result in results])
        pandas = sys.modules["pandas"]
        return pandas.Series(pandas.arrays.ArrowExtensionArray(values), index=column.index, name=column.name)
    if kind == "pyarrow" or len(results) > 1:
        import pyarrow

        arrays = [pyarrow.array(result) for result in results]
        if isinstance(column, pyarrow.Array):
            return arrays[0] if len(arrays) == 1 else pyarrow.concat_arrays(arrays)
        return pyarrow.chunked_array(arrays)
    return results[0]
