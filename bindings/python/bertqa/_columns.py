"""Whole columns of pyarrow, Polars, pandas and lists, over the Arrow C data interface."""

import contextlib
import ctypes
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple

from . import _abi, _column_results
from ._answer import answer_call
from ._arrow import Chunk, built
from ._arrow_build import Buffers, taken
from ._arrow_build import texts as arrow_texts
from ._arrow_column import Column
from ._arrow_values import codes, values
from ._call import Call, integer
from ._classify import classify_call
from ._column_input import check_column, check_lengths, length, paired, parts, plain, texts_of
from ._column_output import mapped
from ._context import Context, tokenize_call
from ._entities import entities_call, patterns
from ._errors import BertQAError, InvalidArgument
from ._native import library
from ._redaction import Pseudonyms, apply_lists, everywhere, redact
from ._rules import Rules
from ._run import Run
from ._text import check_kind, encoded, is_text, spans, text_list

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import AnswerOptions, CallOptions, ClassifyOptions, EmbedOptions, EntitiesOptions

#: Rows per call of the library, which holds some 400 bytes per row until the call ends.
ROWS = 16384
#: Rows per call if the results pass through Python.
BATCH = 1024


def answer_column(context: Context, questions: Any, documents: Any, **options: "Unpack[AnswerOptions]") -> Any:
    """Answers the question of each row. Returns a struct column with the fields answer, start and end (code points
    of the document), probability, score, gap, sentence and is_impossible.

    With top_k above 1 the fields are answers, a list of such structs, best first, and is_impossible.

    documents: a pyarrow Array or ChunkedArray, a Polars or pandas Series, any object with Arrow's capsules, or a
        list or other iterable of texts; columns may be dictionary-encoded or categorical.
    questions: the same, or one question for all rows; a pandas Series must have the documents' index.
    options: see help(bertqa.AnswerOptions); progress covers all rows if their number is known.

    The columns are read in place, a part of the rows at a time. A row with a null has a null answer. The result
    has a type of the documents' library: an Array, a ChunkedArray or a Series (pandas: with the same index). For
    other inputs it is a Column, a sequence of rows that all consumers of Arrow's capsules accept.
    """
    check_kind(context, Context, "context")
    names = "questions", "documents"
    handle, lib = context._opened(), library()
    _check_both(questions, documents, names)
    run = Run(options, length(documents), "rows")
    call = answer_call(run.options())
    if (options.get("top_k") or 1) > 1:

        def best(run: Run, pairs: List[Any]) -> List[Any]:
            return context.answer_batch(pairs, **run.options())

        pairs = paired(questions, documents, BATCH, names)
        return _batched(documents, options, pairs, best, _column_results.answers)

    def answered(pair: Tuple[Chunk, Chunk]) -> Column:
        result = Column()
        given = plain(pair[0]), plain(pair[1])
        call.check(
            lib.answer_arrow(
                handle.pointer, _column(given[0]), _column(given[1]), call.pointer,
                ctypes.byref(result.array), ctypes.byref(result.schema),
            )
        )  # fmt: skip
        return result

    rows = paired(questions, documents, ROWS, names)
    return mapped(documents, run, rows, answered, lambda pair: len(pair[1]))


def classify_column(
    context: Context,
    texts: Any,
    second_texts: Any = None,
    *,
    top_k: Optional[int] = None,
    **options: "Unpack[ClassifyOptions]",
) -> Any:
    """Classifies each row. Returns a struct column with the fields label, probability and probabilities (a list in
    the order of context.info.labels or of the option labels).

    second_texts: for models of pairs, the second texts: a column, or one text for all rows.
    top_k: each row is instead a list of this many structs of label and probability, the most probable first;
        at least 1.
    options: see help(bertqa.ClassifyOptions); contributions must be 0.

    texts and the result: like documents and the result of answer_column.
    """
    check_kind(context, Context, "context")
    if top_k is not None and integer(top_k, "top_k") < 1:
        raise InvalidArgument.of("top_k", f"is {top_k}, but must be at least 1")
    if top_k is None and second_texts is None:
        return _texts_mapped(context, texts, classify_call, options, library().classify_arrow)
    if options.get("contributions"):
        raise InvalidArgument.of("contributions", f"is {options['contributions']}, but must be 0 for a column")
    label_count = len(context.info.labels)

    def classified(run: Run, items: List[Any]) -> List[Any]:
        return context.classify_batch(items, **run.options())

    def result(rows: List[Any]) -> Buffers:
        if top_k is None:
            return _column_results.classifications(rows, label_count)
        return _column_results.labels([None if row is None else row.scores[:top_k] for row in rows])

    return _pairs_mapped(texts, second_texts, options, classified, result)


def entities_column(context: Context, texts: Any, **options: "Unpack[EntitiesOptions]") -> Any:
    """Finds the entities of each row. Returns a column of lists of structs with the fields label, text, start and
    end (code points of the row's text) and score.

    texts and the result: like documents and the result of answer_column. options: see help(bertqa.EntitiesOptions).
    """
    return _texts_mapped(context, texts, entities_call, options, library().entities_arrow)


def patterns_column(
    texts: Any,
    kinds: Optional[Iterable[str]] = None,
    *,
    regions: Optional[Iterable[str]] = None,
    rules: Optional[Rules] = None,
    **options: "Unpack[CallOptions]",
) -> Any:
    """Finds the personal data of each row by rules, without a model. Returns a column like that of entities_column.

    kinds, regions: like `patterns` and `regions` of bertqa.patterns.
    rules: rules that find more; default: none.

    texts and the result: like documents and the result of answer_column. options: see help(bertqa.CallOptions).
    """
    find = _finder(None, kinds, regions, None, rules)
    return _pairs_mapped(
        texts, None, options, lambda run, items: _each(run, items, find), _column_results.entities
    )


def redact_column(
    texts: Any,
    kinds: Optional[Iterable[str]] = None,
    *,
    regions: Optional[Iterable[str]] = None,
    context: Optional[Context] = None,
    labels: Optional[Iterable[str]] = None,
    rules: Optional[Rules] = None,
    allow: Iterable[str] = (),
    deny: Iterable[str] = (),
    repeats: bool = False,
    replacement: Optional[str] = None,
    mask: Optional[int] = None,
    key: Optional[bytes] = None,
    pseudonyms: Optional[Pseudonyms] = None,
    **options: "Unpack[CallOptions]",
) -> Any:
    """Replaces the personal data of each row. Returns a column of texts.

    kinds, regions: like `patterns` and `regions` of bertqa.patterns.
    context, labels: a model whose entities with these labels (as in entities) are replaced; default: none.
    rules: rules that find more; default: none.
    allow, deny: texts that stay and texts that are replaced, as in bertqa.apply_lists.
    repeats: replaces every occurrence in the row of what was found there, as bertqa.everywhere finds it.
    replacement, mask, key, pseudonyms: as in bertqa.redact.

    A value has the same pseudonym in all rows; names are numbered in the order of the rows.

    texts and the result: like documents and the result of answer_column. options: see help(bertqa.CallOptions).
    """
    find = _finder(context, kinds, regions, labels, rules)
    lists: Dict[str, Any] = {
        "allow": text_list(allow, "allow"),
        "deny": text_list(deny, "deny"),
    }
    replaced: Dict[str, Any] = {"replacement": replacement, "mask": mask, "key": key, "pseudonyms": pseudonyms}
    apply_lists("", [], **lists)  # both reject invalid arguments before any work
    redact("", [], **replaced)

    def redacted(text: Any, call: Any) -> Any:
        found = find(text, call)
        if any(lists.values()):
            found = apply_lists(text, found, **lists, **call)
        if repeats:
            found = everywhere(text, found, **call)
        return redact(text, found, **replaced, **call)

    def result(rows: List[Any]) -> Buffers:
        return arrow_texts("", rows)

    return _pairs_mapped(texts, None, options, lambda run, items: _each(run, items, redacted), result)


def _finder(
    context: Optional[Context], kinds: Any, regions: Any, labels: Any, rules: Optional[Rules]
) -> Callable[[Any, Any], Any]:
    """Returns a function that finds the entities of a text, by a model and by rules."""
    kinds = kinds if kinds is None else text_list(kinds, "kinds")
    regions = regions if regions is None else text_list(regions, "regions")
    labels = list(labels) if isinstance(labels, Iterator) else labels
    patterns("", kinds, regions=regions)  # rejects invalid arguments before any work
    if rules is not None:
        check_kind(rules, Rules, "rules")
    if context is not None:
        check_kind(context, Context, "context")
        context.entities("", labels=labels)
    elif labels is not None:
        raise InvalidArgument.of("labels", "need a context: pass one")

    def find(text: Any, call: Any) -> Any:
        found: Any = patterns(text, kinds, regions=regions, **call)
        if rules is not None:
            found = found + rules.entities(text, **call)
        return found if context is None else [*context.entities(text, labels=labels, **call), *found]

    return find


def _each(run: Run, items: List[Any], work: Callable[[Any, Any], Any]) -> List[Any]:
    """Applies `work` to each text. The `item` of an error is the text's index."""
    Call(run.options())  # rejects invalid options before any work
    results = []
    for item, text in enumerate(items):
        try:
            results.append(work(text, {**run.options(), "progress": None}))
        except BertQAError as error:
            error.item = item
            raise
    return results


def embed_column(context: Context, texts: Any, second_texts: Any = None, **options: "Unpack[EmbedOptions]") -> Any:
    """Embeds each row. Returns a column of lists of float32, all of length context.info.embedding_length.

    second_texts: as in classify_column.
    options: see help(bertqa.EmbedOptions).

    texts and the result: like documents and the result of answer_column.
    """
    check_kind(context, Context, "context")
    size = context.info.embedding_length

    def embedded(run: Run, items: List[Any]) -> List[Any]:
        return list(context.embed(items, **run.options()))

    def result(rows: List[Any]) -> Buffers:
        return _column_results.vectors_of(rows, size)

    return _pairs_mapped(texts, second_texts, options, embedded, result)


def tokenize_column(
    context: Context, texts: Any, parse_special_tokens: Optional[bool] = None, **options: "Unpack[CallOptions]"
) -> Any:
    """Tokenizes each row as Context.tokenize does. Returns a struct column with the list fields ids, starts and
    ends (code points of the row's text).

    texts and the result: like documents and the result of answer_column. options: see help(bertqa.CallOptions).
    """
    check_kind(context, Context, "context")
    context._opened()

    def tokenized(run: Run, items: List[Any]) -> List[Any]:
        call = tokenize_call(parse_special_tokens, {**run.options(), "progress": None})
        found = []
        for item, text in enumerate(items):
            data = encoded(text)
            try:
                ids, ranges = context._token_ranges(data, call)
            except BertQAError as error:
                error.item = item
                raise
            found.append((ids, spans(text, data, ranges)))
        return found

    return _pairs_mapped(texts, None, options, tokenized, _column_results.tokens)


def _check_both(first: Any, column: Any, names: Tuple[str, str]) -> None:
    """Rejects invalid columns before any work."""
    check_column(column, names[1])
    if not is_text(first):
        check_column(first, names[0])
    check_lengths(first, column, names)


def _texts_mapped(
    context: Context, texts: Any, make_call: "Callable[[Any], Call]", options: Any, function: Any
) -> Any:
    """Applies a function of the library to each row of a column of texts."""
    check_kind(context, Context, "context")
    handle = context._opened()
    check_column(texts, "texts")
    run = Run(options, length(texts), "rows")
    call = make_call(run.options())

    def called(rows: Chunk) -> Column:
        result = Column()
        arrays = ctypes.byref(result.array), ctypes.byref(result.schema)
        call.check(function(handle.pointer, _column(plain(rows)), call.pointer, *arrays))
        return result

    def each(rows: Chunk) -> Column:
        return _distinct(rows, called) if rows.schema.dictionary else called(rows)

    return mapped(texts, run, parts(texts, ROWS, "texts"), each, len)


def _distinct(rows: Chunk, call: "Callable[[Chunk], Column]") -> Column:
    """Processes each distinct value of dictionary-encoded rows once."""
    places, known = codes(rows), rows.distinct(values)
    first: Dict[int, int] = {}
    for row, code in enumerate(places):
        if code is not None:
            first.setdefault(code, row)
    with _in_rows(list(first.values())):
        result = call(built([known[code] for code in first]))
    place = {code: index for index, code in enumerate(first)}
    return Column.of(taken(result.buffers(), [None if code is None else place[code] for code in places]))


@contextlib.contextmanager
def _in_rows(rows: Sequence[int]) -> Iterator[None]:
    """Changes the `item` of errors to the row. rows: the row of each item of the call."""
    try:
        yield
    except BertQAError as error:
        if error.item is not None and error.item < len(rows):
            error._move(rows[error.item])
        raise


def _pairs_mapped(
    texts: Any,
    second_texts: Any,
    options: Any,
    work: "Callable[[Run, List[Any]], List[Any]]",
    result: "Callable[[List[Any]], Buffers]",
) -> Any:
    """Like _batched, for a column of texts or two columns."""
    if second_texts is None:
        check_column(texts, "texts")
        columns = ((rows,) for rows in parts(texts, BATCH, "texts"))
        return _batched(texts, options, columns, lambda run, items: work(run, [item[0] for item in items]), result)
    names = "second_texts", "texts"
    _check_both(second_texts, texts, names)
    pairs = ((rows, second) for second, rows in paired(second_texts, texts, BATCH, names))
    return _batched(texts, options, pairs, work, result)


def _batched(
    column: Any,
    options: Any,
    columns: "Iterator[Tuple[Chunk, ...]]",
    work: "Callable[[Run, List[Any]], List[Any]]",
    result: "Callable[[List[Any]], Buffers]",
) -> Any:
    """Applies `work` to each row without a null, once to equal rows of a part. `result` makes a column of the results.

    columns: parts with the same number of rows of each column, or one row for all.
    """
    run = Run(options, length(column), "rows")

    def worked(part: "Tuple[Chunk, ...]") -> Column:
        count = _row_count(part)
        rows = list(zip(*(texts_of(chunk, count) for chunk in part)))
        first: Dict[Any, int] = {}
        for row, item in enumerate(rows):
            if None not in item:
                first.setdefault(item, row)
        with _in_rows(list(first.values())):
            found = dict(zip(first, work(run, list(first))))
        return Column.of(result([found.get(item) for item in rows]))

    return mapped(column, run, columns, worked, _row_count)


def _row_count(part: "Tuple[Chunk, ...]") -> int:
    return max(map(len, part)) if all(map(len, part)) else 0


def _column(rows: Chunk) -> _abi.Column:
    return _abi.Column(ctypes.addressof(rows.array), ctypes.addressof(rows.schema))
