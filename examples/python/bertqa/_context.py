"""Context and Document: the library's objects with Python's manners."""

import ctypes
import os
import weakref
from typing import Any, Callable, Iterable, List, Optional, Sequence, Tuple, Union

from . import _native
from ._native import check, initialized, library
from ._text import encoded, spans
from ._types import Answer, ModelInfo, Result, Text, Tokens

PRECISIONS = ("auto", "f32", "bf16", "int8")
INSTRUCTION_SETS = ("auto", "portable", "avx2", "avx512", "avx512_vnni")


class _Handle:
    """An object of the library, freed once, by close() or with its last reference."""

    def __init__(self, pointer: ctypes.c_void_p, free: Callable[[Any], None]):
        self._pointer = pointer
        self._finalizer = weakref.finalize(self, free, pointer)

    @property
    def pointer(self) -> ctypes.c_void_p:
        if not self._finalizer.alive:
            raise ValueError("it was closed")
        return self._pointer

    def close(self) -> None:
        self._finalizer()


class Context:
    """One loaded model; immutable, for any number of threads.

    model: a directory as Hugging Face's save_pretrained writes it; None: the default model.
    threads: that one call may use; 0: as many as the process may run on.
    precision: "auto", "f32", "bf16" or "int8"; isa: "auto", "portable", "avx2", "avx512" or "avx512_vnni".
    tokenizer_only: load the vocabulary alone; answering raises WrongModel.
    log: called with one line for each decision taken while loading.
    """

    def __init__(
        self,
        model: "Union[str, os.PathLike[str], None]" = None,
        *,
        threads: int = 0,
        precision: str = "auto",
        isa: str = "auto",
        tokenizer_only: bool = False,
        log: Optional[Callable[[str], None]] = None,
    ):
        self._arguments = dict(
            model=model, threads=threads, precision=precision, isa=isa, tokenizer_only=tokenizer_only
        )
        lib = library()
        options = initialized(_native.ContextOptions(), lib.context_options_init)
        options.threads = threads
        options.precision = _index(PRECISIONS, precision, "precision")
        options.isa = _index(INSTRUCTION_SETS, isa, "isa")
        options.tokenizer_only = tokenizer_only
        if log is not None:
            options.log = _native.LOG(lambda _, line: log(line.decode("utf-8", "replace")))
        pointer = ctypes.c_void_p()
        path = None if model is None else os.fsencode(model)
        check(lib.context_create(path, ctypes.byref(options), ctypes.byref(pointer)))
        self._handle = _Handle(pointer, lib.context_free)

    def __enter__(self) -> "Context":
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def close(self) -> None:
        """Frees the model. Nobody may be using the context; its documents stay usable with others."""
        self._handle.close()

    def __reduce__(self):
        """A pickled context is opened anew where it is unpickled; processes share the weights' pages."""
        return _open, (self._arguments,)

    @property
    def info(self) -> ModelInfo:
        info = library().context_info(self._handle.pointer).contents
        return ModelInfo(
            directory=os.fsdecode(info.directory),
            architecture=info.architecture.decode(),
            precision=PRECISIONS[info.precision] if info.precision else "",
            isa=INSTRUCTION_SETS[info.isa] if info.isa else "",
            threads=info.threads,
            vocab_size=info.vocab_size,
            hidden_size=info.hidden_size,
            num_hidden_layers=info.num_hidden_layers,
            num_attention_heads=info.num_attention_heads,
            intermediate_size=info.intermediate_size,
            max_position_embeddings=info.max_position_embeddings,
            lowercase=bool(info.lowercase),
            no_answer_threshold=info.no_answer_threshold,
        )

    def answer(self, question: Text, document: Text, **options: Any) -> Result:
        """Answers a question on a document of any length.

        options, as in Hugging Face's pipeline: top_k=1, max_seq_len=384, doc_stride=128, max_answer_len=30,
        max_question_len=64, n_best_size=0, handle_impossible_answer=False, align_to_words=True; and
        max_windows=0, no_answer_threshold=None (the model's), cancel=None (a callable that is polled during
        the call; true raises Cancelled).
        """
        q, d = encoded(question), encoded(document)
        with _Call(options) as call:
            check(
                library().answer(
                    self._handle.pointer, q, len(q), d, len(d), call.options, call.answers
                )
            )
            return call.result(0, document, d)

    def answer_batch(self, pairs: Iterable[Tuple[Text, Text]], **options: Any) -> List[Result]:
        """Answers many (question, document) pairs in one call, spread over the threads."""
        pairs = list(pairs)
        data = [(encoded(question), encoded(document)) for question, document in pairs]
        array = (_native.Pair * len(data))(*[(q, len(q), d, len(d)) for q, d in data])
        with _Call(options, len(data)) as call:
            check(library().answer_batch(self._handle.pointer, array, len(data), call.options, call.answers))
            return [call.result(i, pairs[i][1], data[i][1]) for i in range(len(data))]

    def prepare(self, document: Text) -> "Document":
        """Tokenizes a document once, to be asked many times."""
        return Document(self, document)

    def tokenize(self, text: Text, parse_special_tokens: bool = False) -> Tokens:
        """The WordPiece tokens that Hugging Face's BertTokenizerFast gives, without [CLS] and [SEP]."""
        lib = library()
        data = encoded(text)
        options = initialized(_native.TokenizeOptions(), lib.tokenize_options_init)
        options.parse_special_tokens = parse_special_tokens
        pointer = ctypes.c_void_p()
        check(
            lib.tokenize(
                self._handle.pointer, data, len(data), ctypes.byref(options), ctypes.byref(pointer)
            )
        )
        try:
            count = lib.tokens_count(pointer)
            ids = lib.tokens_ids(pointer)[:count] if count else []
            ranges = list(zip(lib.tokens_starts(pointer)[:count], lib.tokens_ends(pointer)[:count])) if count else []
        finally:
            lib.tokens_free(pointer)
        return Tokens(ids, [self.piece(id) for id in ids], spans(text, data, ranges), ranges)

    def piece(self, id: int) -> str:
        """The vocabulary's piece with this id; IndexError for others."""
        length = ctypes.c_size_t()
        pointer = library().vocabulary_piece(self._handle.pointer, id, ctypes.byref(length))
        if pointer is None:
            raise IndexError(f"id {id} is not in the vocabulary")
        return ctypes.string_at(pointer, length.value).decode("utf-8", "replace")

    def piece_id(self, piece: Text) -> Optional[int]:
        """The id of a piece, or None."""
        data = encoded(piece)
        id = library().vocabulary_id(self._handle.pointer, data, len(data))
        return None if id < 0 else id

    def logits(
        self, windows: Sequence[Sequence[int]], second_segments: Optional[Sequence[int]] = None
    ) -> List[Tuple[List[float], List[float]]]:
        """Start and end logits of each token of each window.

        windows: token ids, [CLS] and [SEP] included; second_segments: for each window the index of its first
        token of type 1.
        """
        ids = [id for window in windows for id in window]
        start, end = (ctypes.c_float * len(ids))(), (ctypes.c_float * len(ids))()
        lengths = (ctypes.c_size_t * len(windows))(*map(len, windows))
        segments = None
        if second_segments is not None:
            if len(second_segments) != len(windows):
                raise ValueError("second_segments must have one entry per window")
            segments = (ctypes.c_size_t * len(windows))(*second_segments)
        check(
            library().logits(
                self._handle.pointer, (ctypes.c_int32 * len(ids))(*ids), len(ids), lengths, segments,
                len(windows), start, end,
            )
        )
        result, first = [], 0
        for window in windows:
            last = first + len(window)
            result.append((start[first:last], end[first:last]))
            first = last
        return result


class Document:
    """A document tokenized once; asked with the context that prepared it, from any number of threads."""

    def __init__(self, context: Context, document: Text):
        lib = library()
        self.context, self.text = context, document
        self._data = encoded(document)
        pointer = ctypes.c_void_p()
        check(
            lib.document_create(
                context._handle.pointer, self._data, len(self._data), ctypes.byref(pointer)
            )
        )
        self._handle = _Handle(pointer, lib.document_free)

    def __enter__(self) -> "Document":
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def close(self) -> None:
        self._handle.close()

    def answer(self, question: Text, **options: Any) -> Result:
        """As Context.answer, on this document."""
        q = encoded(question)
        with _Call(options) as call:
            check(
                library().document_answer(
                    self.context._handle.pointer, self._handle.pointer, q, len(q), call.options,
                    call.answers,
                )
            )
            return call.result(0, self.text, self._data)


class _Call:
    """The options of one call, and what it gives back until that is copied."""

    def __init__(self, options: dict, count: int = 1):
        self.answers = (ctypes.c_void_p * count)()
        self._struct = initialized(_native.AnswerOptions(), library().answer_options_init)
        self._error: Optional[BaseException] = None
        names = {name for name, _ in _native.AnswerOptions._fields_} - {"struct_size", "cancel_user"}
        for name, value in options.items():
            if name not in names:
                raise TypeError(f"unknown option {name!r}; known: {', '.join(sorted(names))}")
            if name == "cancel":
                if value is not None:
                    self._struct.cancel = _native.CANCEL(lambda _: self._poll(value))
            elif value is not None:
                setattr(self._struct, name, value)

    @property
    def options(self):
        return ctypes.byref(self._struct)

    def _poll(self, cancel: Callable[[], Any]) -> int:
        try:
            return int(bool(cancel()))
        except BaseException as error:  # it cannot pass through C; raised when the call is over
            self._error = error
            return 1

    def __enter__(self) -> "_Call":
        return self

    def __exit__(self, *exception: Any) -> None:
        for pointer in self.answers:
            library().answers_free(pointer)
        if self._error is not None:
            raise self._error

    def result(self, index: int, document: Text, data: bytes) -> Result:
        lib, pointer = library(), self.answers[index]
        summary = lib.answers_summary(pointer).contents
        found = [lib.answers_get(pointer, rank).contents for rank in range(lib.answers_count(pointer))]
        sentences = spans(document, data, [(span.sentence.start, span.sentence.end) for span in found])
        return Result(
            answers=[_answer(span, document, sentence) for span, sentence in zip(found, sentences)],
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


def _answer(span: _native.AnswerSpan, document: Text, sentence: Tuple[int, int]) -> Answer:
    own = span.bytes if isinstance(document, bytes) else span.code_points
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


def _index(names: Sequence[str], name: str, what: str) -> int:
    if name not in names:
        raise ValueError(f"{what} is {name!r}, but must be one of {', '.join(names)}")
    return names.index(name)


def _open(arguments: dict) -> Context:
    return Context(arguments.pop("model"), **arguments)
