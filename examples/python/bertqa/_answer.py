"""Answering questions: methods of Context, and Document."""

import ctypes
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Tuple

from . import _native
from ._handle import Closable, Handle, Results
from ._native import check, library
from ._options import CallOptions
from ._text import encoded
from ._types import Answer, Result, Text

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._types import AnswerOptions


class AnswerMethods(Closable):
    """What a Context of a question-answering model does."""

    def answer(self, question: Text, document: Text, **options: "Unpack[AnswerOptions]") -> Result:
        """Answers a question on a document of any length. options: see AnswerOptions."""
        handle = self._opened()
        q, d = encoded(question), encoded(document)
        call = answer_options(options)
        with Results(1, library().answers_free) as answers:
            call.check(library().answer(handle.pointer, q, len(q), d, len(d), call.pointer, answers))
            return _result(answers[0], document, d)

    def answer_batch(
        self, pairs: Iterable[Tuple[Text, Text]], **options: "Unpack[AnswerOptions]"
    ) -> List[Result]:
        """Answers many (question, document) pairs in one call, spread over the threads."""
        handle = self._opened()
        pairs = list(pairs)
        data = [(encoded(question), encoded(document)) for question, document in pairs]
        array = (_native.Pair * len(data))(*[_native.Pair(q, len(q), d, len(d)) for q, d in data])
        call = answer_options(options)
        with Results(len(data), library().answers_free) as answers:
            call.check(library().answer_batch(handle.pointer, array, len(data), call.pointer, answers))
            return [_result(answers[i], pairs[i][1], data[i][1]) for i in range(len(data))]

    def prepare(self, document: Text) -> "Document":
        """Tokenizes a document once, to be asked many times."""
        return Document(self, document)


class Document(Closable):
    """A document tokenized once; asked with the context that prepared it, from any number of threads."""

    def __init__(self, context: "AnswerMethods", document: Text):
        owner, lib = context._opened(), library()
        self.context, self.text = context, document
        self._data = encoded(document)
        pointer = ctypes.c_void_p()
        check(lib.document_create(owner.pointer, self._data, len(self._data), ctypes.byref(pointer)))
        self._handle = Handle(pointer, lib.document_free)

    def __reduce__(self) -> Tuple[Any, ...]:
        """A pickled document is prepared anew where it is unpickled."""
        self._opened()
        return Document, (self.context, self.text)

    def answer(self, question: Text, **options: "Unpack[AnswerOptions]") -> Result:
        """As Context.answer, on this document."""
        handle, context = self._opened(), self.context._opened()
        q = encoded(question)
        call = answer_options(options)
        with Results(1, library().answers_free) as answers:
            call.check(
                library().document_answer(
                    context.pointer, handle.pointer, q, len(q), call.pointer, answers
                )
            )
            return _result(answers[0], self.text, self._data)


def answer_options(values: Dict[str, Any]) -> CallOptions:
    return CallOptions(_native.AnswerOptions(), library().answer_options_init, values)


def _result(pointer: Any, document: Text, data: bytes) -> Result:
    lib = library()
    summary = lib.answers_summary(pointer).contents
    found = [lib.answers_get(pointer, rank).contents for rank in range(lib.answers_count(pointer))]
    return Result(
        answers=[_answer(span, document, data) for span in found],
        is_impossible=bool(summary.is_impossible),
        question_truncated=bool(summary.question_truncated),
        empty_question=bool(summary.empty_question),
        empty_document=bool(summary.empty_document),
        null_score=summary.null_score,
        gap=summary.best_gap,
        no_answer_probability=summary.no_answer_probability,
        no_answer_threshold=summary.no_answer_threshold,
        window_count=summary.window_count,
        skipped_windows=summary.skipped_windows,
    )


def _answer(span: _native.AnswerSpan, document: Text, data: bytes) -> Answer:
    own, sentence = span.code_points, (span.sentence.start, span.sentence.end)
    if isinstance(document, bytes):
        own = span.bytes
    else:
        sentence = (
            own.start - len(data[span.sentence.start : span.bytes.start].decode()),
            own.end + len(data[span.bytes.end : span.sentence.end].decode()),
        )
    return Answer(
        text=document[own.start : own.end],
        start=own.start,
        end=own.end,
        byte_range=(span.bytes.start, span.bytes.end),
        utf16_range=(span.utf16.start, span.utf16.end),
        sentence=document[sentence[0] : sentence[1]],
        sentence_start=sentence[0],
        sentence_end=sentence[1],
        score=span.score,
        start_logit=span.start_logit,
        end_logit=span.end_logit,
        probability=span.probability,
        gap=span.gap,
    )
