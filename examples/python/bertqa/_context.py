"""Context: a loaded model with Python's manners."""

import ctypes
import os
import sys
from array import array
from itertools import chain
from typing import Any, Callable, List, Optional, Sequence, Tuple, Union

from . import _native
from ._answer import AnswerMethods
from ._classify import ClassifyMethods
from ._embed import EmbedMethods
from ._errors import InvalidArgument
from ._handle import Handle
from ._native import check, initialized, int32, library
from ._options import index
from ._sequence import SequenceMethods
from ._text import encoded, spans
from ._types import ModelInfo, Text, Tokens

TASKS = ("answer", "classify", "embed", "predict")
PRECISIONS = ("auto", "f32", "bf16", "int8")
INSTRUCTION_SETS = ("auto", "portable", "avx2", "avx512", "avx512_vnni", "avx512_vnni_bf16")


class Context(AnswerMethods, ClassifyMethods, EmbedMethods, SequenceMethods):
    """One loaded model; immutable, for any number of threads.

    model: a directory as Hugging Face's save_pretrained or this library writes it; None: the default model of task,
    which is "answer", "classify" or "predict".
    threads: that one call may use; 0: as many as the process may run on.
    precision: "auto", "f32", "bf16" or "int8"; isa: "auto", "portable", "avx2", "avx512", "avx512_vnni" or
    "avx512_vnni_bf16".
    tokenizer_only: load the vocabulary alone; answering raises WrongModel. model may then also be a
    vocab.txt or tokenizer.json itself.
    log: called with one line for each decision taken while loading.
    """

    def __init__(
        self,
        model: "Union[str, os.PathLike[str], None]" = None,
        *,
        task: str = "answer",
        threads: int = 0,
        precision: str = "auto",
        isa: str = "auto",
        tokenizer_only: bool = False,
        log: Optional[Callable[[str], None]] = None,
    ):
        lib = library()
        options = initialized(_native.ContextOptions(), lib.context_options_init)
        options.default_model = index(TASKS, task, "task") + 1
        options.threads = int32(threads, "threads")
        options.precision = index(PRECISIONS, precision, "precision")
        options.isa = index(INSTRUCTION_SETS, isa, "isa")
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
        handle = Handle(pointer, lib.context_free)
        if log is not None:
            for line in lines:
                log(line.decode("utf-8", "replace"))
        check(status)
        self._handle = handle
        self._arguments = {
            "model": None if model is None else os.path.abspath(model),
            "task": task,
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
        lib = library()
        info = lib.context_info(handle.pointer).contents
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
            task=TASKS[info.task - 1] if info.task else "",
            labels=tuple(
                lib.context_label(handle.pointer, id).decode("utf-8", "replace") for id in range(info.num_labels)
            ),
            embedding_length=info.embedding_length,
            state_length=info.state_length,
        )

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


def _open(arguments: Any) -> Context:
    return Context(**arguments)
