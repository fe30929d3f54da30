"""Results: plain values that outlive everything they came from. T is str or bytes, as the text was given."""

import reprlib
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Dict, Generic, Iterable, Iterator, List, Optional, Tuple, TypeVar, Union

if TYPE_CHECKING:
    from array import array

    from ._sequence import SequenceState

Text = Union[str, bytes]
T = TypeVar("T", bound=Text)

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 60
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxarray = 4
_WIDTH = 1000


class _Brief:
    """A repr of one line of at most about a thousand characters, whatever the size."""

    def __repr__(self) -> str:
        values = (f"{field.name}={_brief(getattr(self, field.name))}" for field in fields(self))  # type: ignore[arg-type]
        text = f"{type(self).__name__}({', '.join(values)})"
        return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 4]}...)"


def _brief(value: object) -> str:
    if isinstance(value, list) and value and isinstance(value[0], _Brief):
        return f"[{value[0]!r}{', ...' if len(value) > 1 else ''}]"
    return repr(value) if isinstance(value, _Brief) else _SHORT.repr(value)


@dataclass(frozen=True, repr=False)
class Answer(_Brief, Generic[T]):
    """A range of the document: document[start:end] == text, in code points of a str, in bytes of bytes.

    byte_range, utf16_range: the same range in bytes of UTF-8 and in UTF-16 code units.
    sentence: the sentence or sentences around the answer: document[sentence_start:sentence_end].
    score: start_logit + end_logit: one scale over all documents of one model.
    probability: softmax over all spans of the document and the no-answer candidate.
    gap: score - the document's null score.
    """

    text: T
    start: int
    end: int
    byte_range: Tuple[int, int]
    utf16_range: Tuple[int, int]
    sentence: T
    sentence_start: int
    sentence_end: int
    score: float
    start_logit: float
    end_logit: float
    probability: float
    gap: float


@dataclass(frozen=True, repr=False)
class Result(_Brief, Generic[T]):
    """What a document says to a question.

    answers: best first, none overlapping another.
    is_impossible: the gap is below the threshold, or one of the texts is empty.
    is_question_truncated: the question was longer than max_question_len.
    is_question_empty, is_document_empty: it has no token; nothing was searched.
    null_score: the lowest over the windows of start + end logit at [CLS].
    gap: the best span's score - null_score; -inf where there is no span.
    no_answer_probability: 0...1; no_answer_threshold: what was applied.
    window_count: windows that the model read; skipped_window_count: windows left out by max_windows.
    """

    answers: List[Answer[T]]
    is_impossible: bool
    is_question_truncated: bool
    is_question_empty: bool
    is_document_empty: bool
    null_score: float
    gap: float
    no_answer_probability: float
    no_answer_threshold: float
    window_count: int
    skipped_window_count: int

    @property
    def answer(self) -> Optional[Answer[T]]:
        """The best answer, or None."""
        return self.answers[0] if self.answers else None


@dataclass(frozen=True, repr=False)
class LabelScore(_Brief):
    """A label of a text.

    id: row of the model's output.
    probability: softmax over all labels, or for multi-label models the label's own sigmoid; NaN for regression.
    """

    label: str
    id: int
    probability: float
    logit: float


@dataclass(frozen=True, repr=False)
class Contribution(_Brief, Generic[T]):
    """An occurrence of a word in the text and what it weighed: text[start:end], in code points (bytes for bytes).

    byte_range, utf16_range: the same range in bytes of UTF-8 and in UTF-16 code units.
    weight: added to the best label's logit, over the mean of all labels; below 0: against it.
    """

    text: T
    start: int
    end: int
    byte_range: Tuple[int, int]
    utf16_range: Tuple[int, int]
    weight: float


@dataclass(frozen=True, repr=False)
class Classification(_Brief, Generic[T]):
    """What a classifier says of a text.

    scores: every label, the most probable first; empty where the text is too short.
    contributions: what weighed most for and against the best label, by falling magnitude.
    problem_type: "single_label_classification", "multi_label_classification" or "regression".
    is_too_short: the text has fewer distinct words than the model asks for: nothing is said of it.
    distinct_word_count: of word-count models; window_count: of BERT models.
    is_none: no label is as probable as min_probability asks for; the scores are there.
    """

    scores: List[LabelScore]
    contributions: List[Contribution[T]]
    problem_type: str
    is_too_short: bool
    distinct_word_count: int
    window_count: int
    is_none: bool = False

    @property
    def label(self) -> Optional[str]:
        """The most probable label, or None."""
        return self.scores[0].label if self.scores and not self.is_none else None

    @property
    def probability(self) -> float:
        """Of the most probable label, also where it is not probable enough; NaN without scores."""
        return self.scores[0].probability if self.scores else float("nan")

    @property
    def probabilities(self) -> Dict[str, float]:
        """The probability of every label."""
        return {score.label: score.probability for score in self.scores}


@dataclass(frozen=True, repr=False)
class Entity(_Brief, Generic[T]):
    """A part of a text and what it is: text[start:end], in code points (bytes for bytes).

    label: without the prefix "B-" or "I-", but with aggregation="none".
    byte_range, utf16_range: the same range in bytes of UTF-8 and in UTF-16 code units.
    score: the label's probability, its mean over the entity's words or tokens; 1 for what a pattern has found.
    """

    text: T
    label: str
    start: int
    end: int
    byte_range: Tuple[int, int]
    utf16_range: Tuple[int, int]
    score: float


@dataclass(frozen=True, repr=False)
class EntityList(_Brief, Generic[T]):
    """What was found in a text: a sequence of Entity, in the order of the text; + joins two.

    entities: as a list. window_count: windows that the model read.
    """

    entities: List[Entity[T]]
    window_count: int

    def __len__(self) -> int:
        return len(self.entities)

    def __iter__(self) -> "Iterator[Entity[T]]":
        return iter(self.entities)

    def __getitem__(self, index: int) -> Entity[T]:
        return self.entities[index]

    def __add__(self, other: "Iterable[Entity[T]]") -> "List[Entity[T]]":
        return [*self.entities, *other]

    def __radd__(self, other: "Iterable[Entity[T]]") -> "List[Entity[T]]":
        return [*other, *self.entities]


@dataclass(frozen=True, repr=False)
class TrainingLabel(_Brief):
    """A label that was trained.

    text_count: texts that were added with it.
    precision, recall, f1: of the cross-validation, 0...1; NaN without folds.
    """

    label: str
    text_count: int
    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, repr=False)
class TrainingReport(_Brief):
    """How a training went. Cross-validated figures are NaN without folds.

    text_count: texts; vocabulary_size: features of the model.
    labels: by their id in the model.
    iterations, is_converged: of L-BFGS, and whether it came within the tolerance.
    loss: of the final model: mean cross-entropy, with logistic regression + L2.
    accuracy, macro_f1: of the cross-validation; calibration_error: expected calibration error (ECE), 15 bins.
    confusion: confusion[true label's id][predicted label's id], texts of the cross-validation; empty without folds
        and with more than 1000 labels.
    """

    text_count: int
    vocabulary_size: int
    labels: List[TrainingLabel]
    iterations: int
    is_converged: bool
    loss: float
    accuracy: float
    macro_f1: float
    calibration_error: float
    confusion: List[List[int]]


@dataclass(frozen=True, repr=False)
class QuantizeReport(_Brief):
    """How the rounding of a model went.

    tensor_count: tensors written, scales and sums included; quantized_count: weights rounded to int8.
    bytes_read: of the tensors read; bytes_written: of the new model.safetensors.
    rms_weight: root mean square of the rounded weights; rms_error: of their change; rms_error_of_largest: what that
        would be with scales from each row's largest magnitude.
    """

    tensor_count: int
    quantized_count: int
    bytes_read: int
    bytes_written: int
    rms_weight: float
    rms_error: float
    rms_error_of_largest: float


@dataclass(frozen=True, repr=False)
class Word(_Brief):
    """A word that may come next, or that was generated.

    id: in the vocabulary, see Context.piece.
    probability, log_probability: of the model itself, whatever the options of a generation left out.
    """

    text: str
    id: int
    probability: float
    log_probability: float


@dataclass(frozen=True, repr=False)
class Prediction(_Brief):
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
class Generation(_Brief):
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
class SequenceScore(_Brief):
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
class RankedText(_Brief, Generic[T]):
    """One of several continuations.

    index: in the order given; log_likelihood, word_count: of its own words, as in SequenceScore.
    """

    text: T
    index: int
    log_likelihood: float
    word_count: int


@dataclass(frozen=True, repr=False)
class Tokens(_Brief):
    """WordPiece tokens without [CLS] and [SEP].

    ids, tokens: in the vocabulary, and as it spells them.
    offsets: (start, end) of each token in the text: code points, or bytes for bytes; byte_offsets: in bytes.
    """

    ids: List[int]
    tokens: List[str]
    offsets: List[Tuple[int, int]]
    byte_offsets: List[Tuple[int, int]]


@dataclass(frozen=True, repr=False)
class SequenceInfo(_Brief):
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


@dataclass(frozen=True, repr=False)
class ModelInfo(_Brief):
    """What a context loaded and how it runs; sizes are named as in config.json, and 0 where it has no such thing.

    directory: where the model came from; "" for files in memory.
    architecture: "BertForQuestionAnswering"; "" for a tokenizer alone.
    task: "answer", "classify", "entities", "embed" or "predict"; "" for a tokenizer alone.
    precision, isa: in use; "" for word-count models and tokenizers. threads: that one call may use.
    vocabulary_size: pieces or words in the vocabulary; is_lowercase: the tokenizer lower-cases.
    no_answer_threshold: the model's own, see AnswerOptions.
    labels: of texts or tokens, by id. embedding_length: floats of an embedding. sequence: of models that predict.
    """

    directory: str
    architecture: str
    task: str
    precision: str
    isa: str
    threads: int
    vocabulary_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    max_position_embeddings: int
    is_lowercase: bool
    no_answer_threshold: float
    labels: Tuple[str, ...] = ()
    embedding_length: int = 0
    sequence: Optional[SequenceInfo] = None
