"""Results of models that predict along a sequence: plain values."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, List, Optional

from ._value import T, Value

if TYPE_CHECKING:
    from array import array

    from ._sequence import SequenceState


@dataclass(frozen=True, repr=False)
class Word(Value):
    """A possible next word, or a generated one.

    id: its number in the vocabulary, see Context.piece.
    probability, log_probability: of the model itself, even if the options of a generation excluded words.
    """

    text: str
    id: int
    probability: float
    log_probability: float


@dataclass(frozen=True, repr=False)
class Prediction(Value):
    """The possible next words.

    words: the most probable first.
    is_unknown: True if the word that was read is not in the vocabulary; the model read its unknown token.
    probabilities: of every word, by id.
    state: the state after the word that was read, for the next prediction.
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
    """A generated text.

    text: the words joined as in the model's texts: words with spaces, characters without.
    words: without the prompt and the end symbol.
    stop: "end": the model predicted its end symbol; "limit": max_words; "callback": on_word returned true.
    unknown_count: the number of prompt words that are not in the vocabulary.
    state: the state after the last word, for a continuation.
    """

    text: str
    words: List[Word]
    stop: str
    unknown_count: int
    state: "SequenceState"


@dataclass(frozen=True, repr=False)
class SequenceScore(Value):
    """The likelihood of a text.

    log_likelihood: the sum of the natural logarithms of the words' probabilities.
    word_count: the number of predicted words: all but a sequence's first, plus the end symbol if requested.
    unknown_count: the number of words that are not in the vocabulary.
    perplexity: exp(-log_likelihood / word_count); NaN if nothing was predicted.
    """

    log_likelihood: float
    word_count: int
    unknown_count: int
    perplexity: float


@dataclass(frozen=True, repr=False)
class RankedText(Value, Generic[T]):
    """One of several continuations.

    index: its position in the input.
    log_likelihood, word_count: of its own words, as in SequenceScore.
    """

    text: T
    index: int
    log_likelihood: float
    word_count: int


@dataclass(frozen=True, repr=False)
class SequenceInfo(Value):
    """Additional facts about a model that predicts.

    state_length: the number of floats of a state.
    separator: the text between two words: " ", or "" for character models.
    end, end_id: the word that ends a sequence, such as "</s>"; None if there is none.
    unknown_id: the id of the token for unknown words, or None.
    """

    state_length: int
    separator: str
    end: Optional[str]
    end_id: Optional[int]
    unknown_id: Optional[int]
