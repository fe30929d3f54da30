"""Question answering: methods of Context, and Document."""

import ctypes
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    Generic,
    Iterable,
    Iterator,
    List,
    Tuple,
    Union,
    cast,
    overload,
)

from . import _abi
from ._abi_types import pointer_to
from ._call import Call
from ._handle import Closable, Handle, Results
from ._native import failures, library
from ._results import Answer, Result
from ._stream import stream
from ._text import as_text, check_texts, encoded, question_and_document, text_array
from ._value import T, Text

if TYPE_CHECKING:
    from typing import Literal

    from typing_extensions import Unpack

    from ._errors import BertQAError
    from ._options import AnswerOptions, CallOptions


class AnswerMethods(Closable):
    """The methods of a Context with a question-answering model."""

    def answer(self, question: Text, document: T, **options: "Unpack[AnswerOptions]") -> Result[T]:
        """Answers a question about a document of any length. options: see help(bertqa.AnswerOptions)."""
        handle = self._opened()
        document = as_text(document, "document")
        q, d = encoded(question, "question"), encoded(document)
        call = answer_call(options)
        with Results(1, library().answers_free) as answers:
            call.check(library().answer(handle.pointer, q, len(q), d, len(d), call.pointer, answers))
            return _result(answers[0], document, d)

    def answer_documents(
        self,
        question: Text,
        documents: "Iterable[Union[T, Document[T]]]",
        **options: "Unpack[AnswerOptions]",
    ) -> Result[T]:
        """Answers a question about several documents, which are read as one collection.

        Their sections are ranked together, and max_windows limits the windows of all. An answer's document_index is
        the position of its document.

        documents: texts, or Documents that were prepared with this context.
        options: see help(bertqa.AnswerOptions).
        """
        handle = self._opened()
        check_texts(documents, "documents", "one document is asked by answer")
        # A text among prepared documents is also prepared.
        items: List[Any] = [
            item if isinstance(item, Document) else as_text(item, f"documents[{index}]")
            for index, item in enumerate(documents)
        ]
        q, call, lib = encoded(question, "question"), answer_call(options), library()
        prepared = any(isinstance(item, Document) for item in items)
        if prepared:
            items = [item if isinstance(item, Document) else _prepared(self, item, call) for item in items]
        with Results(1, lib.answers_free) as answers:
            if prepared:
                # Held until the call ends: other threads may close the documents.
                handles = [item._opened() for item in items]
                pointers = (ctypes.c_void_p * len(items))(*[one.pointer for one in handles])
                call.check(
                    lib.documents_answer(handle.pointer, pointers, len(items), q, len(q), call.pointer, answers)
                )
                return _result_of(answers[0], [(item.text, item._data) for item in items])
            data = [(text, encoded(text)) for text in items]
            array = text_array([text for _, text in data])
            call.check(lib.answer_documents(handle.pointer, q, len(q), array, len(data), call.pointer, answers))
            return _result_of(answers[0], data)

    @overload
    def answer_batch(
        self,
        pairs: Iterable[Tuple[Text, T]],
        *,
        return_exceptions: "Literal[False]" = ...,
        **options: "Unpack[AnswerOptions]",
    ) -> List[Result[T]]: ...

    @overload
    def answer_batch(
        self,
        pairs: Iterable[Tuple[Text, T]],
        *,
        return_exceptions: bool,
        **options: "Unpack[AnswerOptions]",
    ) -> "List[Union[Result[T], BertQAError]]": ...

    def answer_batch(
        self,
        pairs: Iterable[Tuple[Text, T]],
        *,
        return_exceptions: bool = False,
        **options: "Unpack[AnswerOptions]",
    ) -> Any:
        """Answers many (question, document) pairs in one call, distributed over the threads.

        return_exceptions: False: the first pair that fails ends the call, and the exception's `item` is its index.
            True: the list contains an exception instead of a Result for each pair that fails.
        options: see help(bertqa.AnswerOptions).
        """
        handle = self._opened()
        check_texts(pairs, "pairs")
        pairs = [question_and_document(pair, item) for item, pair in enumerate(pairs)]
        # A document that occurs several times is one text, which the library tokenizes once.
        once: Dict[int, bytes] = {}
        for _, document in pairs:
            if id(document) not in once:
                once[id(document)] = encoded(document)
        data = [(encoded(question), once[id(document)]) for question, document in pairs]
        array = (_abi.AnswerPair * len(data))(*[_abi.AnswerPair(q, len(q), d, len(d)) for q, d in data])
        call = answer_call(options)
        with Results(len(data), library().answers_free) as answers:
            statuses = each_status(len(data), return_exceptions)
            call.check(library().answer_batch(handle.pointer, array, len(data), call.pointer, answers, statuses))
            documents = [(pair[1], d) for pair, (_, d) in zip(pairs, data)]
            return each_result(answers, statuses, documents, lambda pointer, one: _result(pointer, *one))

    @overload
    def answer_stream(
        self,
        pairs: Iterable[Tuple[Text, T]],
        *,
        batch_size: int = ...,
        return_exceptions: "Literal[False]" = ...,
        **options: "Unpack[AnswerOptions]",
    ) -> Iterator[Result[T]]: ...

    @overload
    def answer_stream(
        self,
        pairs: Iterable[Tuple[Text, T]],
        *,
        batch_size: int = ...,
        return_exceptions: bool,
        **options: "Unpack[AnswerOptions]",
    ) -> "Iterator[Union[Result[T], BertQAError]]": ...

    def answer_stream(
        self,
        pairs: Iterable[Tuple[Text, T]],
        *,
        batch_size: int = 32,
        return_exceptions: bool = False,
        **options: "Unpack[AnswerOptions]",
    ) -> Any:
        """Yields the results of any number of (question, document) pairs, in order and in bounded memory.

        Pairs are read as results are consumed, a batch at a time. Each batch is one call, distributed over the
        threads.

        batch_size: the maximum number of pairs in one call, at least 1; a batch of long documents has fewer.
        return_exceptions: False: the first pair that fails ends the stream after the results before it, and the
            exception's `item` counts from the first pair. True: the exception replaces the Result.
        options: see help(bertqa.AnswerOptions); timeout and max_bytes apply to each batch.
        """
        answer_call(options)  # rejects invalid options now instead of with the first result
        return stream(pairs, self.answer_batch, batch_size, return_exceptions, options)

    def prepare(self, document: T, **options: "Unpack[CallOptions]") -> "Document[T]":
        """Tokenizes a document once for many questions. options: see help(bertqa.CallOptions)."""
        return Document(self, document, **options)


class Document(Closable, Generic[T]):
    """A document that is tokenized once. Any number of threads can ask it. Its context answers.

    options: see help(bertqa.CallOptions).
    """

    def __init__(self, context: AnswerMethods, document: T, **options: "Unpack[CallOptions]"):
        self._prepare(context, document, Call(options))

    def _prepare(self, context: AnswerMethods, document: T, call: Call) -> None:
        """call: its deadline, limits and callbacks hold."""
        owner, lib = context._opened(), library()
        self.context, self.text = context, as_text(document, "document")
        self._data = encoded(self.text)
        pointer, struct = ctypes.c_void_p(), _abi.DocumentOptions()
        struct.call = pointer_to(call.common)
        status = lib.document_create(
            owner.pointer, self._data, len(self._data), ctypes.byref(struct), ctypes.byref(pointer)
        )
        handle = Handle(pointer, lib.document_free)
        call.check(status)
        self._handle = handle

    def __repr__(self) -> str:
        return f"<Document of {len(self.text)} {'bytes' if isinstance(self.text, bytes) else 'code points'}>"

    def __reduce__(self) -> Tuple[Any, ...]:
        """Pickles the document's text; unpickling prepares it anew."""
        self._opened()
        return Document, (self.context, self.text)

    def answer(self, question: Text, **options: "Unpack[AnswerOptions]") -> Result[T]:
        """Like Context.answer, for this document."""
        handle, context = self._opened(), self.context._opened()
        q = encoded(question, "question")
        call = answer_call(options)
        with Results(1, library().answers_free) as answers:
            call.check(
                library().document_answer(context.pointer, handle.pointer, q, len(q), call.pointer, answers)
            )
            return _result(answers[0], self.text, self._data)

    @overload
    def answer_batch(
        self,
        questions: Iterable[Text],
        *,
        return_exceptions: "Literal[False]" = ...,
        **options: "Unpack[AnswerOptions]",
    ) -> List[Result[T]]: ...

    @overload
    def answer_batch(
        self,
        questions: Iterable[Text],
        *,
        return_exceptions: bool,
        **options: "Unpack[AnswerOptions]",
    ) -> "List[Union[Result[T], BertQAError]]": ...

    def answer_batch(
        self,
        questions: Iterable[Text],
        *,
        return_exceptions: bool = False,
        **options: "Unpack[AnswerOptions]",
    ) -> Any:
        """Like Context.answer_batch, with many questions about this document."""
        handle, context = self._opened(), self.context._opened()
        check_texts(questions, "questions", "one question is asked by answer")
        array = text_array([as_text(question, f"questions[{item}]") for item, question in enumerate(questions)])
        call = answer_call(options)
        with Results(len(array), library().answers_free) as answers:
            statuses = each_status(len(array), return_exceptions)
            call.check(
                library().document_answer_batch(
                    context.pointer, handle.pointer, array, len(array), call.pointer, answers, statuses
                )
            )
            return each_result(
                answers, statuses, array, lambda pointer, _: _result(pointer, self.text, self._data)
            )


def _prepared(context: AnswerMethods, text: T, call: Call) -> "Document[T]":
    document: "Document[T]" = Document.__new__(Document)
    document._prepare(context, text, call)
    return document


def answer_call(values: Any) -> Call:
    zeros = {"doc_stride": -1, "n_best_size": 0, "max_windows": 0, "no_answer_threshold": 0}
    return Call(values, _abi.AnswerOptions(), zeros=zeros)


def each_status(count: int, wanted: bool) -> Any:
    """Returns an array for the status of each item of a batch, if wanted."""
    return (ctypes.c_int32 * count)() if wanted else None


def each_result(pointers: Any, statuses: Any, items: Iterable[Any], made: Callable[[Any, Any], Any]) -> List[Any]:
    """Converts the library's results of a batch. The result of an item that failed is its exception."""
    failed: Dict[int, Any] = {} if statuses is None else failures(statuses)
    return [failed[index] if index in failed else made(pointers[index], item) for index, item in enumerate(items)]


_STOPS = ("all", "enough", "limit", "deadline", "cancelled")


def _result(pointer: Any, document: T, data: bytes) -> Result[T]:
    return _result_of(pointer, [(document, data)])._of(document)


def _result_of(pointer: Any, documents: "List[Tuple[T, bytes]]") -> Result[T]:
    lib = library()
    summary = lib.answers_summary(pointer).contents
    found = [lib.answers_get(pointer, rank).contents for rank in range(lib.answers_count(pointer))]
    return Result(
        answers=[_answer(span, *documents[span.document_index]) for span in found],
        is_impossible=bool(summary.is_impossible),
        is_question_truncated=bool(summary.is_question_truncated),
        is_question_empty=bool(summary.is_question_empty),
        is_document_empty=bool(summary.is_document_empty),
        null_score=summary.null_score,
        gap=summary.gap,
        no_answer_probability=summary.no_answer_probability,
        no_answer_threshold=summary.no_answer_threshold,
        window_count=summary.window_count,
        skipped_window_count=summary.skipped_window_count,
        stop=_STOPS[summary.stop],
    )


def _answer(span: _abi.AnswerSpan, document: T, data: bytes) -> Answer[T]:
    own, sentence = span.code_points, (span.sentence.start, span.sentence.end)
    if isinstance(document, bytes):
        own = span.bytes
    else:
        sentence = (
            own.start - len(data[span.sentence.start : span.bytes.start].decode()),
            own.end + len(data[span.bytes.end : span.sentence.end].decode()),
        )
    return Answer(
        text=cast(T, document[own.start : own.end]),
        start=own.start,
        end=own.end,
        byte_range=(span.bytes.start, span.bytes.end),
        utf16_range=(span.utf16.start, span.utf16.end),
        sentence=cast(T, document[sentence[0] : sentence[1]]),
        sentence_start=sentence[0],
        sentence_end=sentence[1],
        score=span.score,
        start_logit=span.start_logit,
        end_logit=span.end_logit,
        probability=span.probability,
        gap=span.gap,
        document_index=span.document_index,
    )
