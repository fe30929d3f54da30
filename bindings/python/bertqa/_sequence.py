"""Prediction along a sequence: methods of Context, and SequenceState."""

import ctypes
from array import array
from typing import TYPE_CHECKING, Any, Iterable, List, Optional, Sequence, Tuple

from . import _abi
from ._call import ON_WORD, Call, guarded, numbers
from ._errors import InvalidArgument
from ._handle import Closable, Handle, Results
from ._native import check, library, text_at
from ._sequence_results import Generation, Prediction, RankedText, SequenceScore, Word
from ._text import as_bytes, as_text, check_texts, encoded, text_array
from ._value import T, Text

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import CallOptions, GenerateOptions

STOPS = ("", "end", "limit", "callback")


class SequenceState:
    """A model's memory of a sequence, created by Context's methods. It is immutable, so any number of threads
    and continuations can use it. A pickled state includes its context, which unpickling opens anew."""

    def __init__(self, context: "SequenceMethods", pointer: Any):
        """Takes ownership of `pointer`."""
        self.context = context
        self._handle = Handle(ctypes.c_void_p(pointer), library().sequence_state_free)

    @property
    def values(self) -> "array[float]":
        """The values: h of each layer, then for LSTM c of each layer. Context.state converts them back."""
        context = self.context._opened()
        info = library().context_sequence_info(context.pointer).contents
        values = array("f", bytes(4 * info.state_length))
        buffer = (ctypes.c_float * len(values)).from_buffer(values)
        check(library().sequence_state_export(self._handle.pointer, buffer, len(values)))
        return values

    def to_bytes(self) -> bytes:
        """Returns the state and its model's fingerprint. Context.state_from_bytes converts them back."""
        lib, length = library(), ctypes.c_size_t()
        lib.sequence_state_serialize(self._handle.pointer, None, 0, ctypes.byref(length))
        data = ctypes.create_string_buffer(length.value)
        check(lib.sequence_state_serialize(self._handle.pointer, data, length, ctypes.byref(length)))
        return data.raw

    def __copy__(self) -> "SequenceState":
        return SequenceState(self.context, library().sequence_state_clone(self._handle.pointer))

    def __eq__(self, other: object) -> bool:
        """True if both states have the same model and the same bits."""
        if not isinstance(other, SequenceState):
            return NotImplemented
        return self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    def __repr__(self) -> str:
        return "<SequenceState>"

    def __reduce__(self) -> Tuple[Any, ...]:
        return _unpickled, (self.context, self.to_bytes())


def _unpickled(context: "SequenceMethods", data: bytes) -> SequenceState:
    return context.state_from_bytes(data)


class SequenceMethods(Closable):
    """The methods of a Context with a predicting model. A state of None starts a sequence."""

    def predict(
        self,
        word: Text,
        state: Optional[SequenceState] = None,
        top_k: Optional[int] = None,
        **options: "Unpack[CallOptions]",
    ) -> Prediction:
        """Reads a word (for character models, a character) in a state and predicts the next one.

        top_k: the number of words to return, at least 1; default 1.
        options: see help(bertqa.CallOptions).
        """
        return self._predict(library().sequence_predict, encoded(word, "word"), state, top_k, options)

    def predict_text(
        self,
        text: Text,
        state: Optional[SequenceState] = None,
        top_k: Optional[int] = None,
        **options: "Unpack[CallOptions]",
    ) -> Prediction:
        """Reads a text, split into the model's words, and predicts the next word. This turns a prompt into a state.

        An empty text needs a state. is_unknown refers to the text's last word.
        top_k: the number of words to return, at least 1; default 1.
        options: see help(bertqa.CallOptions).
        """
        return self._predict(library().sequence_predict_text, encoded(text), state, top_k, options)

    def _predict(
        self, function: Any, data: bytes, state: Optional[SequenceState], top_k: Optional[int], options: Any
    ) -> Prediction:
        handle, lib = self._opened(), library()
        next_state = ctypes.c_void_p()
        call = Call({**options, "top_k": top_k}, _abi.SequenceOptions())
        with Results(1, lib.prediction_free) as pointers:
            status = function(
                handle.pointer, data, len(data), _pointer(state), call.pointer, pointers, ctypes.byref(next_state)
            )
            following = SequenceState(self, next_state.value)
            call.check(status)
            pointer, size = pointers[0], _vocabulary_size(handle)
            probabilities = array("f", ctypes.string_at(lib.prediction_probabilities(pointer), 4 * size))
            return Prediction(
                words=[_word(lib.prediction_get(pointer, rank)) for rank in range(lib.prediction_count(pointer))],
                is_unknown=bool(lib.prediction_is_unknown(pointer)),
                probabilities=probabilities,
                state=following,
            )

    def step(
        self,
        ids: Sequence[int],
        states: Optional[Sequence[Optional[SequenceState]]] = None,
        *,
        logits: bool = True,
        **options: "Unpack[CallOptions]",
    ) -> "Tuple[List[SequenceState], Optional[memoryview[float]]]":
        """Advances many independent sequences by one step. Returns (next states, logits).

        ids: the ids of the words, see piece_id.
        states: one for each id.
        logits: True returns float32 [len(ids)][vocabulary_size], for numpy.asarray without a copy; False returns
            None, in much less time.
        options: see help(bertqa.CallOptions).
        """
        handle = self._opened()
        given = numbers(ids, "i", "ids", "a list of integers")
        count, size = len(given), _vocabulary_size(handle)
        if states is not None:
            states = list(states)  # the caller's may change during the call
            if len(states) != count:
                raise InvalidArgument(f"there are {len(states)} states for {count} ids", argument="states")
        id_array = (ctypes.c_int32 * count).from_buffer(given)
        pointers = None if states is None else (ctypes.c_void_p * count)(*map(_pointer, states))
        following = (ctypes.c_void_p * count)()
        buffer = (ctypes.c_float * (count * size))() if logits else None
        call = Call(options, _abi.SequenceOptions())
        status = library().sequence_step(
            handle.pointer,
            id_array,
            pointers,
            count,
            call.pointer,
            following,
            buffer,
            count * size if logits else 0,
        )
        found = [SequenceState(self, pointer) for pointer in following]
        call.check(status)
        if buffer is None:
            return found, None
        flat = memoryview(buffer).cast("B")
        return found, flat.cast("f", (count, size)) if count else flat.cast("f")

    def generate(
        self, prompt: Text, state: Optional[SequenceState] = None, **options: "Unpack[GenerateOptions]"
    ) -> Generation:
        """Reads a prompt, split into the model's words, and generates a continuation. An empty prompt needs a
        state.

        options: see help(bertqa.GenerateOptions).
        """
        handle, lib = self._opened(), library()
        data = encoded(prompt, "prompt")
        values = dict(options)
        on_word: Any = values.pop("on_word", None)
        struct = _abi.GenerateOptions()
        call = Call(values, struct, zeros={"temperature": 0, "top_k": 0, "seed": 0})
        if on_word is not None:
            struct.on_word_user = guarded(lambda pointer: on_word(_word(pointer)), call.errors)
            struct.on_word = ON_WORD
        with Results(1, lib.generation_free) as pointers:
            call.check(
                lib.sequence_generate(handle.pointer, data, len(data), _pointer(state), call.pointer, pointers)
            )
            pointer, length = pointers[0], ctypes.c_size_t()
            text = lib.generation_text(pointer, ctypes.byref(length))
            return Generation(
                text=text_at(text, length.value),
                words=[_word(lib.generation_get(pointer, i)) for i in range(lib.generation_count(pointer))],
                stop=STOPS[lib.generation_stop(pointer)],
                unknown_count=lib.generation_unknown_count(pointer),
                state=SequenceState(self, lib.sequence_state_clone(lib.generation_state(pointer))),
            )

    def likelihood(
        self,
        text: Text,
        state: Optional[SequenceState] = None,
        include_end: Optional[bool] = None,
        **options: "Unpack[CallOptions]",
    ) -> SequenceScore:
        """Returns the likelihood of a text, split into the model's words.

        Without a state the first word is not predicted.

        include_end: True if the text is complete, so that its end symbol is predicted too; default False.
        options: see help(bertqa.CallOptions).
        """
        handle, data = self._opened(), encoded(text)
        score = _abi.SequenceScore()
        call = Call({**options, "include_end": include_end}, _abi.SequenceOptions())
        call.check(
            library().sequence_likelihood(
                handle.pointer, data, len(data), _pointer(state), call.pointer, ctypes.byref(score)
            )
        )
        return SequenceScore(score.log_likelihood, score.word_count, score.unknown_count, score.perplexity)

    def rank(
        self,
        prefix: Text,
        continuations: Iterable[T],
        state: Optional[SequenceState] = None,
        include_end: Optional[bool] = None,
        **options: "Unpack[CallOptions]",
    ) -> List[RankedText[T]]:
        """Ranks continuations of a prefix by the mean likelihood of their words, the likeliest first.

        include_end: as in likelihood.
        options: see help(bertqa.CallOptions).
        """
        handle, data = self._opened(), encoded(prefix, "prefix")
        check_texts(continuations, "continuations", "give a list of them")
        given = [as_text(text, f"continuations[{item}]") for item, text in enumerate(continuations)]
        array = text_array(given)
        count = len(given)
        order, counts = (ctypes.c_size_t * count)(), (ctypes.c_size_t * count)()
        likelihoods = (ctypes.c_double * count)()
        call = Call({**options, "include_end": include_end}, _abi.SequenceOptions())
        call.check(
            library().sequence_rank(
                handle.pointer, data, len(data), array, count, _pointer(state), call.pointer, order,
                likelihoods, counts,
            )
        )  # fmt: skip
        return [RankedText(given[i], i, likelihoods[i], counts[i]) for i in order]

    def state(self, values: Sequence[float]) -> SequenceState:
        """Returns the state with these values, which come from SequenceState.values or are derived from it."""
        handle = self._opened()
        given = numbers(values, "f", "values", "a list of numbers")
        floats, pointer = (ctypes.c_float * len(given)).from_buffer(given), ctypes.c_void_p()
        check(library().sequence_state_import(handle.pointer, floats, len(given), ctypes.byref(pointer)))
        return SequenceState(self, pointer.value)

    def state_from_bytes(self, data: bytes) -> SequenceState:
        """Returns the state that SequenceState.to_bytes wrote. Raises WrongModel for the state of another
        model."""
        handle = self._opened()
        pointer = ctypes.c_void_p()
        data = as_bytes(data, "data")
        check(library().sequence_state_deserialize(handle.pointer, data, len(data), ctypes.byref(pointer)))
        return SequenceState(self, pointer.value)


def _pointer(state: Optional[SequenceState]) -> Any:
    if state is None:
        return None
    if not isinstance(state, SequenceState):
        raise TypeError(
            f"state must be a SequenceState, not {type(state).__name__}; Context.state makes one of floats, "
            "Context.state_from_bytes one of bytes"
        )
    return state._handle.pointer.value


def _vocabulary_size(handle: Handle) -> int:
    return int(library().context_info(handle.pointer).contents.vocabulary_size)


def _word(pointer: Any) -> Word:
    word = pointer.contents
    return Word(text_at(word.text, word.length), word.id, word.probability, word.log_probability)
