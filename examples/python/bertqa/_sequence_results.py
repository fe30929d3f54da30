"""Results of models that predict along a sequence: plain values."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, List, Optional

from ._value import T, Value

if TYPE_CHECKING:
    from array import array

    from ._sequence import SequenceState


@dataclass(frozen=True, repr=False)
class Word(Value):
    """A word that may come next, or that was generated.

    id: in the vocabulary, see Context.piece.
    probability, log_probability: of the model itself, whatever the options of a generation left out.
    """

    text: str
    id: int
    probability: float
    log_probability: float


@dataclass(frozen=True, repr=False)
class Prediction(Value):
    """The words that may come next.

    words: the most probable first.
    is_unknown: the word that was read is not in the vocabulary; the model read its unknown token.
    probabilities: of every word, by id.
    state: after the word that was read: for the next prediction.
    """

    words: List[Word]
    is_unknown: bool
    probabilities: "array[float]"
    state: "SequenceState"

    @property
    def word(self) -> str:
        """The most probable word."""
        return self.words[0].text


@dataclass(frozen=True, repr=False)
class Generation(Value):
    """What was generated.

    text: the words joined as the model's texts are: with spaces between words, without between characters.
    words: without the prompt and the end symbol.
    stop: "end": the model predicted its end symbol; "limit": max_words; "callback": on_word asked for it.
    unknown_count: words of the prompt that are not in the vocabulary.
    state: after the last word, to go on from.
    """

    text: str
    words: List[Word]
    stop: str
    unknown_count: int
    state: "SequenceState"


@dataclass(frozen=True, repr=False)
class SequenceScore(Value):
    """How likely a text is.

    log_likelihood: sum of the natural logarithms of the words' probabilities.
    word_count: words predicted: all but a sequence's first, and the end symbol if asked.
    unknown_count: words of the text that are not in the vocabulary.
    perplexity: exp(-log_likelihood / word_count); NaN where nothing was predicted.
    """

    log_likelihood: float
    word_count: int
    unknown_count: int
    perplexity: float


@dataclass(frozen=True, repr=False)
class RankedText(Value, Generic[T]):
    """One of several continuations.

    index: in the order given; log_likelihood, word_count: of its own words, as in SequenceScore.
    """

    text: T
    index: int
    log_likelihood: float
    word_count: int


@dataclass(frozen=True, repr=False)
class SequenceInfo(Value):
    """What a model that predicts has beside ModelInfo.

    state_length: floats of a state.
    separator: between two words of a text: " ", or "" for models of characters.
    end, end_id: the word that ends a sequence, such as "</s>"; None where there is none.
    unknown_id: of the word that unknown ones are read as, or None.
    """

    state_length: int
    separator: str
    end: Optional[str]
    end_id: Optional[int]
    unknown_id: Optional[int]
