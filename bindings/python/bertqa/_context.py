"""Context: a loaded model."""

import ctypes
import os
from array import array
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

from . import _abi
from ._answer import AnswerMethods
from ._call import ON_LOG, Call, function, index, int32, integer, numbers, switch
from ._classify import ClassifyMethods
from ._embed import EmbedMethods
from ._entities import EntitiesMethods
from ._errors import InvalidArgument
from ._handle import Handle, Results
from ._native import library, text_at
from ._results import ModelInfo, Tokens
from ._sequence import SequenceMethods
from ._sequence_results import SequenceInfo
from ._text import as_bytes, as_text, elements, encoded, path_bytes, spans
from ._value import Text

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import CallOptions

TASKS = ("answer", "classify", "embed", "predict", "entities")
LOADS = ("mmap", "copy")
PRECISIONS = ("auto", "f32", "bf16", "int8")
INSTRUCTION_SETS = (
    "auto", "portable", "avx2", "avx512", "avx512_vnni", "avx512_vnni_bf16", "avx2_vnni",
    "neon", "neon_dotprod", "neon_i8mm_bf16", "avx512_amx",
)  # fmt: skip


class Context(AnswerMethods, ClassifyMethods, EntitiesMethods, EmbedMethods, SequenceMethods):
    """A loaded model. It is immutable, and any number of threads can use it. None selects an argument's default.

    model: a directory as Hugging Face's save_pretrained or this library writes it, or a mapping of such a
        directory's file names to bytes. If no such path exists, the name of an installed model, such as
        "embed-minilm-l6", or of a model in the local cache of the Hugging Face Hub, such as
        "deepset/roberta-base-squad2"; nothing is downloaded. Default: the default model of task; for "answer" the
        environment variable BERTQA_MODEL comes first.
    task: the task of the default model: "answer", "classify", "entities", "embed" or "predict"; default "answer".
    threads: the maximum number of threads of one call, 1...1024, or 0 for the number of CPUs available to the
        process; default 0.
    precision: "auto", "f32", "bf16" or "int8"; default "auto": the fastest whose accuracy contract holds.
    isa: instruction set, one of INSTRUCTION_SETS; default "auto": the best that the CPU supports.
    tokenizer_only: load only the vocabulary; answering then raises WrongModel. model can then also be a vocab.txt
        or tokenizer.json file; default False.
    load: "mmap": processes share the pages of the weights, and the files must not be truncated while in use; "copy":
        the files are read into memory, and later changes to them have no effect; default "mmap".
    log: a function that is called after loading with a line for each decision that was made; default None.
    dir_fd: a descriptor of an open directory to which model is relative, as in os.open; "" is that directory
        itself. The descriptor is not kept, so SentenceEncoder and pipeline, which read more of the model's files, take no
        such Context; default None.
    options: see help(bertqa.CallOptions).
    """

    def __init__(
        self,
        model: "Union[str, os.PathLike[str], Mapping[str, bytes], None]" = None,
        *,
        task: Optional[str] = None,
        threads: Optional[int] = None,
        precision: Optional[str] = None,
        isa: Optional[str] = None,
        tokenizer_only: Optional[bool] = None,
        load: Optional[str] = None,
        log: Optional[Callable[[str], Any]] = None,
        dir_fd: Optional[int] = None,
        **options: "Unpack[CallOptions]",
    ):
        lib = library()
        struct = _abi.ContextOptions()
        call = Call(options, struct)
        struct.default_model = 0 if task is None else index(TASKS, task, "task") + 1
        struct.threads = 0 if threads is None else int32(threads, "threads")
        struct.precision = 0 if precision is None else index(PRECISIONS, precision, "precision")
        struct.isa = 0 if isa is None else index(INSTRUCTION_SETS, isa, "isa")
        struct.tokenizer_only = switch(tokenizer_only, "tokenizer_only")
        struct.load = 0 if load is None else index(LOADS, load, "load")
        lines: List[bytes] = []
        if function(log, "log") is not None:
            struct.log_user = lines
            struct.log = ON_LOG
        if isinstance(model, Mapping):
            model = {name: as_bytes(data, name) for name, data in model.items()}
        pointer = ctypes.c_void_p()
        arguments: Tuple[Any, ...] = (call.pointer, ctypes.byref(pointer))
        files = _files(model) if isinstance(model, Mapping) else None
        if files is not None:
            if dir_fd is not None:
                raise InvalidArgument.of("dir_fd", "is set, but model is a mapping of files, not a path")
            status = lib.context_create_from_files(files, len(files), *arguments)
        elif dir_fd is not None:
            status = lib.context_create_at(int32(dir_fd, "dir_fd"), path_bytes(model or "", "model"), *arguments)
        else:
            path = None if model is None else path_bytes(model, "model")
            status = lib.context_create(path, *arguments)
        # The library reads the files in place, so the handle keeps them alive.
        handle = Handle(pointer, lib.context_free, files)
        if log is not None:
            for line in lines:
                log(line.decode("utf-8", "replace"))
        call.check(status)
        self._handle = handle
        self._is_relative = dir_fd is not None
        # An absolute path, because a name depends on the working directory.
        self._directory = os.path.abspath(self.info.directory)
        self._arguments: Dict[str, Any] = {
            "model": model if model is None or files is not None else self._directory,
            "task": task,
            "threads": threads,
            "precision": precision,
            "isa": isa,
            "tokenizer_only": tokenizer_only,
            "load": load,
        }

    def __reduce__(self) -> Tuple[Any, ...]:
        """Pickles the arguments; unpickling opens the context anew. Processes share the pages of the weights."""
        self._opened()
        if self._is_relative:
            raise TypeError("a Context opened with dir_fd cannot be pickled or deep-copied: open it by its path")
        return _open, (self._arguments,)

    def __repr__(self) -> str:
        if self._handle is None:
            return "<closed Context>"
        info = self.info
        return f"<Context of {info.architecture or 'a tokenizer'} in {info.directory or 'memory'!r}>"

    @property
    def info(self) -> ModelInfo:
        """Facts about the loaded model and its execution."""
        handle = self._opened()
        lib = library()
        info = lib.context_info(handle.pointer).contents
        return ModelInfo(
            directory=os.fsdecode(info.directory),
            architecture=info.architecture.decode(),
            task=TASKS[info.task - 1] if info.task else "",
            precision=PRECISIONS[info.precision] if info.precision else "",
            isa=INSTRUCTION_SETS[info.isa] if info.isa else "",
            threads=info.threads,
            vocabulary_size=info.vocabulary_size,
            hidden_size=info.hidden_size,
            num_hidden_layers=info.num_hidden_layers,
            num_attention_heads=info.num_attention_heads,
            intermediate_size=info.intermediate_size,
            max_position_embeddings=info.max_position_embeddings,
            is_lowercase=bool(info.is_lowercase),
            no_answer_threshold=info.no_answer_threshold,
            labels=_labels(handle, info.label_count),
            embedding_length=info.embedding_length,
            prompts=_prompts(handle, info.prompt_count),
            sequence=_sequence_info(handle),
        )

    def _file(self, name: str, size: int = -1) -> bytes:
        """Returns the beginning of one of the model's files; empty if there is none."""
        self._opened()
        files = self._arguments["model"]
        if isinstance(files, Mapping):
            return bytes(files.get(name, b"")[: None if size < 0 else size])
        if self._is_relative:
            raise TypeError(f"{name} of a Context opened with dir_fd cannot be read: open the Context by its path")
        try:
            with open(os.path.join(self._directory, name), "rb") as file:
                return file.read(size)
        except OSError:
            return b""

    def tokenize(
        self, text: Text, parse_special_tokens: Optional[bool] = None, **options: "Unpack[CallOptions]"
    ) -> Tokens:
        """Returns the tokens of Hugging Face's tokenizers, without those of the template, such as [CLS].

        parse_special_tokens: "[SEP]" and the like in the text become special tokens, as in Hugging Face; default
            False.
        options: see help(bertqa.CallOptions).
        """
        text = as_text(text)
        data = encoded(text)
        ids, ranges = self._token_ranges(data, tokenize_call(parse_special_tokens, options))
        pieces = {id: self.piece(id) for id in set(ids)}
        return Tokens(ids, [pieces[id] for id in ids], spans(text, data, ranges), ranges)

    def _token_ranges(self, data: bytes, call: Call) -> Tuple[List[int], List[Tuple[int, int]]]:
        """Returns the ids and byte ranges of a text's tokens."""
        handle, lib = self._opened(), library()
        with Results(1, lib.tokens_free) as tokens:
            call.check(lib.tokenize(handle.pointer, data, len(data), call.pointer, tokens))
            count = lib.tokens_count(tokens[0])
            if not count:
                return [], []
            ends = ctypes.cast(lib.tokens_ranges(tokens[0]), ctypes.POINTER(ctypes.c_size_t))[: 2 * count]
            return lib.tokens_ids(tokens[0])[:count], list(zip(ends[::2], ends[1::2]))

    def piece(self, id: int) -> str:
        """Returns the vocabulary's piece with this id. Raises IndexError if there is none."""
        handle = self._opened()
        length = ctypes.c_size_t()
        pointer = None
        if 0 <= integer(id, "id") < 2**31:
            pointer = library().context_vocabulary_piece(handle.pointer, id, ctypes.byref(length))
        if pointer is None:
            raise IndexError(f"id {id} is not in the vocabulary")
        return text_at(pointer, length.value)

    def piece_id(self, piece: Text) -> Optional[int]:
        """Returns the id of a piece, or None."""
        handle = self._opened()
        data = encoded(piece, "piece")
        id = library().context_vocabulary_id(handle.pointer, data, len(data))
        return None if id < 0 else id

    def logits(
        self,
        windows: Sequence[Sequence[int]],
        second_segments: Optional[Sequence[int]] = None,
        **options: "Unpack[CallOptions]",
    ) -> List[Tuple[List[float], List[float]]]:
        """Returns (start logits, end logits) of each window's tokens, directly from the model.

        windows: token ids, including [CLS] and [SEP].
        second_segments: the index of each window's first token of type 1.
        options: see help(bertqa.CallOptions).
        """
        handle = self._opened()
        given = elements(windows, "windows", "a list of lists of token ids", lambda one: isinstance(one, Iterable))
        ids, lengths = array("i"), array("Q")
        for item, window in enumerate(given):
            one = numbers(window, "i", f"windows[{item}]", "a list of token ids")
            ids.extend(one)
            lengths.append(len(one))
        segments = None
        if second_segments is not None:
            segments = numbers(second_segments, "Q", "second_segments", "a list of indices")
            if len(segments) != len(lengths):
                raise InvalidArgument.of("second_segments", "must have one entry per window")
        count = len(ids)
        start, end = (ctypes.c_float * count)(), (ctypes.c_float * count)()
        sizes = ctypes.c_size_t * len(lengths)
        call = Call(options, _abi.LogitsOptions())
        call.check(
            library().logits(
                handle.pointer, (ctypes.c_int32 * count).from_buffer(ids), count,
                sizes.from_buffer(lengths), None if segments is None else sizes.from_buffer(segments),
                len(lengths), call.pointer, start, end,
            )
        )  # fmt: skip
        result, first = [], 0
        for length in lengths:
            last = first + length
            result.append((start[first:last], end[first:last]))
            first = last
        return result


def tokenize_call(parse_special_tokens: Optional[bool], options: Mapping[str, Any]) -> Call:
    return Call({**options, "parse_special_tokens": parse_special_tokens}, _abi.TokenizeOptions())


def _open(arguments: Any) -> Context:
    return Context(**arguments)


def _files(files: Mapping[str, bytes]) -> Any:
    """Returns the files as an array for the library, which keeps them alive."""
    entries = []
    for name, data in files.items():
        entries.append(_abi.File(path_bytes(name, "model: a file's name"), data, len(data)))
    return (_abi.File * len(entries))(*entries)


def _labels(handle: Handle, count: int) -> Tuple[str, ...]:
    return _texts(library().context_label_get, handle, count)


def _prompts(handle: Handle, count: int) -> Tuple[Tuple[str, str], ...]:
    lib = library()
    names = _texts(lib.context_prompt_name_get, handle, count)
    return tuple(zip(names, _texts(lib.context_prompt_get, handle, count)))


def _texts(get: Any, handle: Handle, count: int) -> Tuple[str, ...]:
    length = ctypes.c_size_t()
    found = [(get(handle.pointer, index, ctypes.byref(length)), length.value) for index in range(count)]
    return tuple(text_at(*text) for text in found)


def _sequence_info(handle: Handle) -> Optional[SequenceInfo]:
    pointer = library().context_sequence_info(handle.pointer)
    if not pointer:
        return None
    info = pointer.contents
    return SequenceInfo(
        state_length=info.state_length,
        separator=info.separator.decode(),
        end=info.end.decode("utf-8", "replace") or None,
        end_id=None if info.end_id < 0 else info.end_id,
        unknown_id=None if info.unknown_id < 0 else info.unknown_id,
    )
