"""Results: plain values that outlive everything they came from."""

from dataclasses import dataclass
from typing import List, Optional, Tuple, Union

Text = Union[str, bytes]


@dataclass(frozen=True)
class Answer:
    """A range of the document: document[start:end] == text, in code points (in bytes for bytes)."""

    text: Text
    start: int
    end: int
    byte_range: Tuple[int, int]
    utf16_range: Tuple[int, int]
    #: The sentence(s) around the answer, and where: document[sentence_start:sentence_end].
    sentence: Text
    sentence_start: int
    sentence_end: int
    #: Start logit + end logit: one scale over all documents of one model.
    score: float
    start_logit: float
    end_logit: float
    #: Softmax over all spans of the document and the no-answer candidate.
    probability: float
    #: score - the document's null score.
    gap: float


@dataclass(frozen=True)
class Result:
    """What a document says to a question: answers, best first, none overlapping another."""

    answers: List[Answer]
    #: The gap is below the threshold, or one of the texts is empty.
    is_impossible: bool
    question_truncated: bool
    empty_question: bool
    empty_document: bool
    null_score: float
    #: Best span's score - null_score; -inf where there is no span.
    gap: float
    no_answer_probability: float
    no_answer_threshold: float
    window_count: int
    skipped_windows: int

    @property
    def answer(self) -> Optional[Answer]:
        """The best answer, or None."""
        return self.answers[0] if self.answers else None


@dataclass(frozen=True)
class Tokens:
    """WordPiece tokens without [CLS] and [SEP]."""

    ids: List[int]
    tokens: List[str]
    #: (start, end) of each token in the text: code points, or bytes for bytes.
    offsets: List[Tuple[int, int]]
    byte_offsets: List[Tuple[int, int]]


@dataclass(frozen=True)
class ModelInfo:
    """What a context loaded and how it runs; dimensions are 0 for a tokenizer alone."""

    directory: str
    architecture: str
    precision: str
    isa: str
    threads: int
    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    max_position_embeddings: int
    lowercase: bool
    no_answer_threshold: float
