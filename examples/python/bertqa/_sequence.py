"""Predicting along a sequence: methods of Context, and SequenceState."""

import ctypes
from array import array
from types import GeneratorType
from typing import TYPE_CHECKING, Any, Iterable, List, Optional, Sequence, Tuple

from . import _native
from ._errors import InvalidArgument
from ._handle import Closable, Handle, Results
from ._native import check, int32, library
from ._options import CallOptions, guarded
from ._text import encoded
from ._types import Generation, Prediction, RankedText, SequenceScore, Text, Word

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._types import GenerateOptions

STOPS = ("", "end", "limit", "callback")


class SequenceState:
    """What a model remembers of a sequence; made by Context's methods. Immutable, for any number of threads and
    continuations. A pickled state takes its context along, which is opened anew where it is unpickled."""

    def __init__(self, context: "SequenceMethods", pointer: Any):
        """Takes over `pointer`."""
        self.context = context
        self._handle = Handle(ctypes.c_void_p(pointer), library().sequence_state_free)

    @property
    def values(self) -> "array[float]":
        """For each layer h, and with LSTM then for each layer c; Context.state gives the state back."""
        values = array("f", bytes(4 * _info(self.context._opened()).state_length))
        buffer = (ctypes.c_float * len(values)).from_buffer(values)
        check(library().sequence_state_export(self._handle.pointer, buffer, len(values)))
        return values

    def to_bytes(self) -> bytes:
        """The state and its model's fingerprint; Context.state_from_bytes gives the state back."""
        lib, length = library(), ctypes.c_size_t()
        lib.sequence_state_serialize(self._handle.pointer, None, 0, ctypes.byref(length))
        data = ctypes.create_string_buffer(length.value)
        check(lib.sequence_state_serialize(self._handle.pointer, data, length, ctypes.byref(length)))
        return data.raw

    def __copy__(self) -> "SequenceState":
        return SequenceState(self.context, library().sequence_state_clone(self._handle.pointer))

    def __eq__(self, other: object) -> bool:
        """Whether both are states of one model with the same bits."""
        if not isinstance(other, SequenceState):
            return NotImplemented
        return self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    def __reduce__(self) -> Tuple[Any, ...]:
        return _unpickled, (self.context, self.to_bytes())


def _unpickled(context: "SequenceMethods", data: bytes) -> SequenceState:
    return context.state_from_bytes(data)


class SequenceMethods(Closable):
    """What a Context of a model that predicts does. A state of None starts a sequence."""

    def predict(self, word: Text, state: Optional[SequenceState] = None, top_k: int = 1) -> Prediction:
        """Reads a word (a character, for models of characters) in a state and predicts the next.

        top_k: how many words to give.
        """
        handle, lib = self._opened(), library()
        data = encoded(word)
        next_state = ctypes.c_void_p()
        with Results(1, lib.prediction_free) as pointers:
            check(
                lib.sequence_predict(
                    handle.pointer, data, len(data), _pointer(state), int32(top_k, "top_k"), pointers,
                    ctypes.byref(next_state),
                )
            )  # fmt: skip
            pointer, size = pointers[0], _info(handle).vocab_size
            probabilities = array("f", ctypes.string_at(lib.prediction_probabilities(pointer), 4 * size))
            return Prediction(
                words=[_word(lib.prediction_get(pointer, rank)) for rank in range(lib.prediction_count(pointer))],
                unknown=bool(lib.prediction_is_unknown(pointer)),
                probabilities=probabilities,
                state=SequenceState(self, next_state.value),
            )

    def step(
        self,
        ids: Sequence[int],
        states: Optional[Sequence[Optional[SequenceState]]] = None,
        *,
        logits: bool = True,
    ) -> Tuple[List[SequenceState], Optional[memoryview]]:
        """One step of many independent sequences at once: (next states, logits).

        ids: words by id, see piece_id; states: one for each id. The logits are float32 [len(ids)][vocab_size], for
        numpy.asarray without a copy; logits=False: None instead, in much less time.
        """
        handle = self._opened()
        count, size = len(ids), _info(handle).vocab_size
        if states is not None and len(states) != count:
            raise InvalidArgument(f"there are {len(states)} states for {count} ids")
        try:
            numbers = (ctypes.c_int32 * count).from_buffer(array("i", ids))
        except OverflowError as error:
            raise InvalidArgument(f"an id is out of range: {error}") from None
        pointers = None if states is None else (ctypes.c_void_p * count)(*map(_pointer, states))
        following = (ctypes.c_void_p * count)()
        buffer = (ctypes.c_float * (count * size))() if logits else None
        check(library().sequence_step(handle.pointer, numbers, pointers, count, following, buffer))
        found = [SequenceState(self, pointer) for pointer in following]
        if buffer is None:
            return found, None
        flat = memoryview(buffer).cast("B")
        return found, flat.cast("f", (count, size)) if count else flat.cast("f")

    def generate(
        self, prompt: Text, state: Optional[SequenceState] = None, **options: "Unpack[GenerateOptions]"
    ) -> Generation:
        """Reads a prompt, split into the model's words, and generates what follows. An empty prompt needs a state.

        options: see GenerateOptions.
        """
        handle, lib = self._opened(), library()
        data = encoded(prompt)
        on_word = options.pop("on_word", None)
        call = CallOptions(_native.GenerateOptions(), lib.generate_options_init, dict(options))
        errors: List[BaseException] = []
        if on_word is not None:
            generator = guarded(lambda pointer: on_word(_word(pointer)), errors)
            call.struct.on_word = _native.WORD(GeneratorType.send)
            call.struct.on_word_user = id(generator)
        with Results(1, lib.generation_free) as pointers:
            status = lib.sequence_generate(
                handle.pointer, data, len(data), _pointer(state), call.pointer, pointers
            )
            if errors:
                raise errors[0]
            check(status)
            pointer, length = pointers[0], ctypes.c_size_t()
            text = lib.generation_text(pointer, ctypes.byref(length))
            return Generation(
                text=ctypes.string_at(text, length.value).decode(),
                words=[_word(lib.generation_get(pointer, i)) for i in range(lib.generation_count(pointer))],
                stop=STOPS[lib.generation_stop(pointer)],
                unknown_count=lib.generation_unknown_count(pointer),
                state=SequenceState(self, lib.sequence_state_clone(lib.generation_state(pointer))),
            )

    def likelihood(
        self, text: Text, state: Optional[SequenceState] = None, include_end: bool = False
    ) -> SequenceScore:
        """How likely a text is, split into the model's words; without a state its first word is given.

        include_end: the text is complete, and its end symbol is predicted too.
        """
        handle, data = self._opened(), encoded(text)
        score = _native.SequenceScore(struct_size=ctypes.sizeof(_native.SequenceScore))
        check(
            library().sequence_likelihood(
                handle.pointer, data, len(data), _pointer(state), bool(include_end), ctypes.byref(score)
            )
        )
        return SequenceScore(score.log_likelihood, score.word_count, score.unknown_count, score.perplexity)

    def rank(
        self,
        prefix: Text,
        continuations: Iterable[Text],
        state: Optional[SequenceState] = None,
        include_end: bool = False,
    ) -> List[RankedText]:
        """Continuations of a prefix, the one whose words are likeliest on average first."""
        handle, data = self._opened(), encoded(prefix)
        texts = list(continuations)
        parts = [encoded(text) for text in texts]
        count = len(texts)
        pairs = (_native.TextPair * count)(*[_native.TextPair(part, len(part)) for part in parts])
        order, counts = (ctypes.c_size_t * count)(), (ctypes.c_size_t * count)()
        likelihoods = (ctypes.c_double * count)()
        check(
            library().sequence_rank(
                handle.pointer, data, len(data), pairs, count, _pointer(state), bool(include_end), order,
                likelihoods, counts,
            )
        )  # fmt: skip
        return [RankedText(texts[i], i, likelihoods[i], counts[i]) for i in order]

    def state(self, values: Sequence[float]) -> SequenceState:
        """The state with these values: what SequenceState.values gave, or made from it."""
        handle = self._opened()
        numbers = (ctypes.c_float * len(values))(*values)
        pointer = ctypes.c_void_p()
        check(
            library().sequence_state_import(handle.pointer, numbers, len(values), ctypes.byref(pointer))
        )
        return SequenceState(self, pointer.value)

    def state_from_bytes(self, data: bytes) -> SequenceState:
        """The state that SequenceState.to_bytes wrote; WrongModel for another model's."""
        handle = self._opened()
        pointer = ctypes.c_void_p()
        check(
            library().sequence_state_deserialize(handle.pointer, data, len(data), ctypes.byref(pointer))
        )
        return SequenceState(self, pointer.value)


def _pointer(state: Optional[SequenceState]) -> Any:
    return None if state is None else state._handle.pointer.value


def _info(handle: Handle) -> _native.ModelInfo:
    return library().context_info(handle.pointer).contents


def _word(pointer: Any) -> Word:
    word = pointer.contents
    text = ctypes.string_at(word.text, word.length).decode("utf-8", "replace")
    return Word(text, word.id, word.probability, word.log_probability)
