"""Results: plain values that outlive their sources. T is the type of the text, str or bytes."""

from dataclasses import dataclass
from typing import Any, Dict, Generic, Iterable, Iterator, List, Optional, Tuple, overload

from ._html import answers_html
from ._sequence_results import SequenceInfo
from ._value import T, Value


@dataclass(frozen=True, repr=False)
class Answer(Value, Generic[T]):
    """A range of the document: document[start:end] == text, in code points for str and in bytes for bytes.

    byte_range, utf16_range: the same range in bytes of UTF-8 and in UTF-16 code units.
    sentence: the sentence or sentences around the answer: document[sentence_start:sentence_end].
    score: start_logit + end_logit.
    probability: the probability that this answer is right (docs/answers.md describes the calibration).
    gap: comparable over sections, documents and questions: score - the section's null score, less up to 3 for sections
        that rank below the best one, and more if it is the best answer of several sections. With doc_stride: score -
        the result's null_score.
    document_index: the document's position in the call of answer_documents; else 0.
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
    document_index: int = 0

    def _repr_html_(self) -> str:
        """Returns the answer in its sentence, for notebooks."""
        return answers_html(self.sentence, self.sentence_start, [self], is_impossible=False)


@dataclass(frozen=True, repr=False)
class Result(Value, Generic[T]):
    """The answers of a document, or of several, to a question.

    answers: best first, without overlaps.
    is_impossible: True if the gap is below the threshold or one of the texts is empty.
    is_question_truncated: True if the question was longer than max_question_len.
    is_question_empty: True if the question has no token, so that nothing was searched.
    is_document_empty: True if the question has a token, but the document has none, so that nothing was searched.
    null_score: start + end logit at [CLS], in the best span's section; with doc_stride the lowest of all windows.
    gap: the best span's; -inf if there is no span.
    no_answer_probability: the probability that the document does not answer the question, 0...1.
    no_answer_threshold: the threshold for gap; with doc_stride the model's own rises with window_count.
    window_count: the number of windows that the model read.
    skipped_window_count: the number of windows that it did not read.
    stop: why it read no more: "all" were read; "enough": no other is likely to answer better; "limit": max_windows or
        the default maximum were read; with partial also "deadline" (timeout) or "cancelled".
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
    stop: str

    @property
    def answer(self) -> Optional[Answer[T]]:
        """The best answer, or None."""
        return self.answers[0] if self.answers else None

    def _of(self, document: T) -> "Result[T]":
        """Returns a copy that keeps its document for notebooks. Copies and pickles of it do not."""
        object.__setattr__(self, "_document", document)
        return self

    def __getstate__(self) -> Dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_document"}

    def _repr_html_(self) -> str:
        """Returns the document with its answers highlighted, for notebooks; only their surroundings if it is long."""
        return answers_html(vars(self).get("_document"), 0, self.answers, self.is_impossible)


@dataclass(frozen=True, repr=False)
class LabelScore(Value):
    """A label of a text.

    id: the row of the model's output.
    probability: the softmax over all labels or, for multi-label models, the label's own sigmoid; NaN for
        regression.
    """

    label: str
    id: int
    probability: float
    logit: float


@dataclass(frozen=True, repr=False)
class Contribution(Value, Generic[T]):
    """An occurrence of a word in the text and its weight: text[start:end], in code points (bytes for bytes).

    byte_range, utf16_range: the same range in bytes of UTF-8 and in UTF-16 code units.
    weight: its contribution to the best label's logit, relative to the mean over all labels; below 0: against it.
    """

    text: T
    start: int
    end: int
    byte_range: Tuple[int, int]
    utf16_range: Tuple[int, int]
    weight: float


@dataclass(frozen=True, repr=False)
class Classification(Value, Generic[T]):
    """The classification of a text.

    scores: every label, the most probable first; empty if the text is too short.
    contributions: the words with the greatest weights for and against the best label, the greatest first.
    problem_type: "single_label_classification", "multi_label_classification" or "regression".
    is_too_short: True if the text has too few distinct words for the model, which does not classify it.
    distinct_word_count: the distinct words that a word-count model counted.
    window_count: the windows that an encoder read.
    is_none: True if no label reaches min_probability; the scores are still present.
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
        """The probability of the most probable label, even if it is below min_probability; NaN without scores."""
        return self.scores[0].probability if self.scores else float("nan")

    @property
    def probabilities(self) -> Dict[str, float]:
        """The probability of every label."""
        return {score.label: score.probability for score in self.scores}


@dataclass(frozen=True, repr=False)
class Entity(Value, Generic[T]):
    """A part of a text with its label: text[start:end], in code points (bytes for bytes).

    label: without the prefix "B-" or "I-", except with aggregation="none".
    byte_range, utf16_range: the same range in bytes of UTF-8 and in UTF-16 code units.
    score: the label's probability, as the mean over the entity's words or tokens. For a rule: 1 if the form, or a word
        before it, leaves little doubt; 0.8 if only a register number's check digits indicate it; 0.5 if only its
        form does.
    rule: the name of the rule that found it, or None.
    checksum: the check that its characters passed, such as "luhn", or None.
    context: the word before it that indicates its kind, or None.
    """

    text: T
    label: str
    start: int
    end: int
    byte_range: Tuple[int, int]
    utf16_range: Tuple[int, int]
    score: float
    rule: Optional[str] = None
    checksum: Optional[str] = None
    context: Optional[T] = None


@dataclass(frozen=True, repr=False)
class EntityList(Value, Generic[T]):
    """The entities of a text: a sequence of Entity, in text order; + joins two.

    entities: the same, as a list.
    window_count: the number of windows that the model read.
    """

    entities: List[Entity[T]]
    window_count: int

    def __len__(self) -> int:
        return len(self.entities)

    def __iter__(self) -> "Iterator[Entity[T]]":
        return iter(self.entities)

    @overload
    def __getitem__(self, index: int) -> Entity[T]: ...

    @overload
    def __getitem__(self, index: "slice[Any, Any, Any]") -> List[Entity[T]]: ...

    def __getitem__(self, index: Any) -> Any:
        return self.entities[index]

    def __add__(self, other: "Iterable[Entity[T]]") -> "List[Entity[T]]":
        return [*self.entities, *other]

    def __radd__(self, other: "Iterable[Entity[T]]") -> "List[Entity[T]]":
        return [*other, *self.entities]


@dataclass(frozen=True, repr=False)
class Tokens(Value):
    """Tokens without those of the template, such as [CLS].

    ids, tokens: their numbers in the vocabulary, and their spelling in it.
    offsets: (start, end) of each token in the text: code points, or bytes for bytes.
    byte_offsets: the same in bytes.
    """

    ids: List[int]
    tokens: List[str]
    offsets: List[Tuple[int, int]]
    byte_offsets: List[Tuple[int, int]]


@dataclass(frozen=True, repr=False)
class ModelInfo(Value):
    """Facts about a loaded model and its execution. Sizes have the names in config.json and are 0 if not applicable.

    directory: the model's directory; "" for files in memory.
    architecture: for example "BertForQuestionAnswering"; "" for a tokenizer alone.
    task: "answer", "classify", "entities", "embed" or "predict"; "" for a tokenizer alone.
    precision, isa: in use; "" for word-count models and tokenizers.
    threads: the maximum number of threads of one call.
    vocabulary_size: the number of pieces or words in the vocabulary.
    is_lowercase: True if the tokenizer lower-cases.
    no_answer_threshold: the model's own, see AnswerOptions.
    labels: the labels of texts or tokens, by id.
    embedding_length: the number of floats of an embedding; 0 if only embed_tokens has results.
    prompts: an embedding model's prompts by name, see EmbedOptions.
    sequence: facts about models that predict.
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
    prompts: Tuple[Tuple[str, str], ...] = ()
    sequence: Optional[SequenceInfo] = None
