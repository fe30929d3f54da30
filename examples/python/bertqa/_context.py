"""Context and Document: the library's objects with Python's manners."""

import ctypes
import os
import sys
from array import array
from itertools import chain
from typing import TYPE_CHECKING, Any, Callable, Generator, Iterable, List, Optional, Sequence, Tuple, Union

from . import _native
from ._errors import InvalidArgument
from ._native import check, initialized, int32, library
from ._text import encoded, spans
from ._types import Answer, ModelInfo, Result, Text, Tokens

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from ._types import AnswerOptions

PRECISIONS = ("auto", "f32", "bf16", "int8")
INSTRUCTION_SETS = ("auto", "portable", "avx2", "avx512", "avx512_vnni")


class _Handle:
    """An object of the library, freed with the last reference: after the last call that uses it."""

    def __init__(self, pointer: ctypes.c_void_p, free: Callable[[Any], None]):
        self.pointer, self._free = pointer, free

    def __del__(self) -> None:
        self._free(self.pointer)


class _Closable:
    """Closing drops the reference to the handle; calls that are under way in other threads hold theirs."""

    _handle: Optional[_Handle] = None

    def _opened(self) -> _Handle:
        handle = self._handle
        if handle is None:
            raise ValueError(f"this {type(self).__name__} was closed")
        return handle

    def close(self) -> None:
        """Frees it as soon as no call uses it any more. A second time does nothing."""
        self._handle = None

    def __enter__(self) -> "Self":
        self._opened()
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()


class Context(_Closable):
    """One loaded model; immutable, for any number of threads.

    model: a directory as Hugging Face's save_pretrained writes it; None: the default model.
    threads: that one call may use; 0: as many as the process may run on.
    precision: "auto", "f32", "bf16" or "int8"; isa: "auto", "portable", "avx2", "avx512" or "avx512_vnni".
    tokenizer_only: load the vocabulary alone; answering raises WrongModel. model may then also be a
    vocab.txt or tokenizer.json itself.
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
        lib = library()
        options = initialized(_native.ContextOptions(), lib.context_options_init)
        options.threads = int32(threads, "threads")
        options.precision = _index(PRECISIONS, precision, "precision")
        options.isa = _index(INSTRUCTION_SETS, isa, "isa")
        options.tokenizer_only = bool(tokenizer_only)
        path = None if model is None else os.fsencode(model)
        if path is not None and b"\0" in path:
            raise InvalidArgument(f"model is {model!r}: a path cannot hold a null character")
        lines: List[bytes] = []
        if log is not None:
            # Collected without running Python code inside the call, where exceptions and signals get lost.
            options.log, options.log_user = _native.LOG(lines.insert), sys.maxsize
        pointer = ctypes.c_void_p()
        status = lib.context_create(path, ctypes.byref(options), ctypes.byref(pointer))
        handle = _Handle(pointer, lib.context_free)
        if log is not None:
            for line in lines:
                log(line.decode("utf-8", "replace"))
        check(status)
        self._handle = handle
        self._arguments = {
            "model": None if model is None else os.path.abspath(model),
            "threads": threads,
            "precision": precision,
            "isa": isa,
            "tokenizer_only": tokenizer_only,
        }

    def __reduce__(self) -> Tuple[Any, ...]:
        """A pickled context is opened anew where it is unpickled; processes share the weights' pages."""
        self._opened()
        return _open, (self._arguments,)

    @property
    def info(self) -> ModelInfo:
        handle = self._opened()
        info = library().context_info(handle.pointer).contents
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

    def answer(self, question: Text, document: Text, **options: "Unpack[AnswerOptions]") -> Result:
        """Answers a question on a document of any length. options: see AnswerOptions."""
        handle = self._opened()
        q, d = encoded(question), encoded(document)
        with _Call(options) as call:
            call.check(library().answer(handle.pointer, q, len(q), d, len(d), call.options, call.answers))
            return call.result(0, document, d)

    def answer_batch(
        self, pairs: Iterable[Tuple[Text, Text]], **options: "Unpack[AnswerOptions]"
    ) -> List[Result]:
        """Answers many (question, document) pairs in one call, spread over the threads."""
        handle = self._opened()
        pairs = list(pairs)
        data = [(encoded(question), encoded(document)) for question, document in pairs]
        array = (_native.Pair * len(data))(*[_native.Pair(q, len(q), d, len(d)) for q, d in data])
        with _Call(options, len(data)) as call:
            call.check(library().answer_batch(handle.pointer, array, len(data), call.options, call.answers))
            return [call.result(i, pairs[i][1], data[i][1]) for i in range(len(data))]

    def prepare(self, document: Text) -> "Document":
        """Tokenizes a document once, to be asked many times."""
        return Document(self, document)

    def tokenize(self, text: Text, parse_special_tokens: bool = False) -> Tokens:
        """The WordPiece tokens that Hugging Face's BertTokenizerFast gives, without [CLS] and [SEP].

        parse_special_tokens: "[SEP]" and the like in the text become those tokens, as Hugging Face does.
        """
        handle, lib = self._opened(), library()
        data = encoded(text)
        options = initialized(_native.TokenizeOptions(), lib.tokenize_options_init)
        options.parse_special_tokens = bool(parse_special_tokens)
        pointer = ctypes.c_void_p()
        check(
            lib.tokenize(handle.pointer, data, len(data), ctypes.byref(options), ctypes.byref(pointer))
        )
        try:
            count = lib.tokens_count(pointer)
            ids, ranges = [], []
            if count:
                ids = lib.tokens_ids(pointer)[:count]
                ranges = list(zip(lib.tokens_starts(pointer)[:count], lib.tokens_ends(pointer)[:count]))
        finally:
            lib.tokens_free(pointer)
        pieces = {id: self.piece(id) for id in set(ids)}
        return Tokens(ids, [pieces[id] for id in ids], spans(text, data, ranges), ranges)

    def piece(self, id: int) -> str:
        """The vocabulary's piece with this id; IndexError for others."""
        handle = self._opened()
        length = ctypes.c_size_t()
        pointer = None
        if 0 <= id < 2**31:
            pointer = library().vocabulary_piece(handle.pointer, id, ctypes.byref(length))
        if pointer is None:
            raise IndexError(f"id {id} is not in the vocabulary")
        return ctypes.string_at(pointer, length.value).decode("utf-8", "replace")

    def piece_id(self, piece: Text) -> Optional[int]:
        """The id of a piece, or None."""
        handle = self._opened()
        data = encoded(piece)
        id = library().vocabulary_id(handle.pointer, data, len(data))
        return None if id < 0 else id

    def logits(
        self, windows: Sequence[Sequence[int]], second_segments: Optional[Sequence[int]] = None
    ) -> List[Tuple[List[float], List[float]]]:
        """(start logits, end logits) of each window's tokens, of the model alone.

        windows: token ids, [CLS] and [SEP] included; second_segments: for each window the index of its first
        token of type 1.
        """
        handle = self._opened()
        if second_segments is not None and len(second_segments) != len(windows):
            raise InvalidArgument("second_segments must have one entry per window")
        try:
            ids = array("i", chain.from_iterable(windows))
            segments = None if second_segments is None else array("Q", second_segments)
        except OverflowError as error:
            raise InvalidArgument(f"an id or second segment is out of range: {error}") from None
        count = len(ids)
        start, end = (ctypes.c_float * count)(), (ctypes.c_float * count)()
        sizes = ctypes.c_size_t * len(windows)
        check(
            library().logits(
                handle.pointer, (ctypes.c_int32 * count).from_buffer(ids), count,
                sizes(*map(len, windows)), None if segments is None else sizes.from_buffer(segments),
                len(windows), start, end,
            )
        )  # fmt: skip
        result, first = [], 0
        for window in windows:
            last = first + len(window)
            result.append((start[first:last], end[first:last]))
            first = last
        return result


class Document(_Closable):
    """A document tokenized once; asked with the context that prepared it, from any number of threads."""

    def __init__(self, context: Context, document: Text):
        owner, lib = context._opened(), library()
        self.context, self.text = context, document
        self._data = encoded(document)
        pointer = ctypes.c_void_p()
        check(lib.document_create(owner.pointer, self._data, len(self._data), ctypes.byref(pointer)))
        self._handle = _Handle(pointer, lib.document_free)

    def __reduce__(self) -> Tuple[Any, ...]:
        """A pickled document is prepared anew where it is unpickled."""
        self._opened()
        return Document, (self.context, self.text)

    def answer(self, question: Text, **options: "Unpack[AnswerOptions]") -> Result:
        """As Context.answer, on this document."""
        handle, context = self._opened(), self.context._opened()
        q = encoded(question)
        with _Call(options) as call:
            call.check(
                library().document_answer(
                    context.pointer, handle.pointer, q, len(q), call.options, call.answers
                )
            )
            return call.result(0, self.text, self._data)


class _Call:
    """The options of one call, and what it gives back until that is copied."""

    _NAMES = [field[0] for field in _native.AnswerOptions._fields_ if field[0] not in ("struct_size", "cancel_user")]
    _FLOATS = ("no_answer_threshold",)

    def __init__(self, options: Any, count: int = 1):
        self.answers = (ctypes.c_void_p * count)()
        self._struct = initialized(_native.AnswerOptions(), library().answer_options_init)
        self._errors: List[BaseException] = []
        for name, value in options.items():
            if name not in self._NAMES:
                raise TypeError(f"unknown option {name!r}; known: {', '.join(self._NAMES)}")
            if value is None:
                continue
            if name == "cancel":
                self._struct.cancel = _native.CANCEL(_poll(value, self._errors))
            elif name in self._FLOATS:
                setattr(self._struct, name, value)
            else:
                setattr(self._struct, name, int32(value, name))

    @property
    def options(self) -> Any:
        return ctypes.byref(self._struct)

    def check(self, status: int) -> None:
        """Raises what `cancel` has raised, else the exception of the status."""
        if self._errors:
            raise self._errors[0]
        check(status)

    def __enter__(self) -> "_Call":
        return self

    def __exit__(self, *exception: Any) -> None:
        for pointer in self.answers:
            library().answers_free(pointer)

    def result(self, index: int, document: Text, data: bytes) -> Result:
        lib, pointer = library(), self.answers[index]
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


def _poll(cancel: Callable[[], Any], errors: List[BaseException]) -> Any:
    """`cancel` as a callback for the library. An exception cannot pass through C: it is kept in `errors`.

    Signals that came in during the call are handled where Python code begins to run. That would be outside
    of a function's `try`, but it is inside of this generator's: it stands at its `yield`.
    """

    def polls() -> Generator[int, Any, None]:
        result = 0
        while True:
            try:
                yield result
                result = int(bool(cancel()))
            except GeneratorExit:
                return
            except BaseException as error:  # KeyboardInterrupt included
                errors.append(error)
                result = 1

    generator = polls()
    next(generator)
    return generator.send


def _index(names: Sequence[str], name: str, what: str) -> int:
    if name not in names:
        raise InvalidArgument(f"{what} is {name!r}, but must be one of {', '.join(names)}")
    return names.index(name)


def _open(arguments: Any) -> Context:
    return Context(**arguments)
