"""Results: plain values that outlive everything they came from."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Tuple, TypedDict, Union

if TYPE_CHECKING:
    from array import array

    from ._sequence import SequenceState

Text = Union[str, bytes]


class AnswerOptions(TypedDict, total=False):
    """Keyword arguments of every answer method; names, meanings and defaults as in Hugging Face's pipeline.

    An option that is None keeps its default. Lengths are in tokens.
    """

    #: How many answers at most; default 1.
    top_k: Optional[int]
    #: Of one window, question included; default 384.
    max_seq_len: Optional[int]
    #: Document tokens that two neighbouring windows share; default 128.
    doc_stride: Optional[int]
    #: Default 30.
    max_answer_len: Optional[int]
    #: A longer question is cut; default 64.
    max_question_len: Optional[int]
    #: 0 (default): exact search. n: only the n best starts x n best ends of each window are considered.
    n_best_size: Optional[int]
    #: Give no answer where is_impossible is set; default False.
    handle_impossible_answer: Optional[bool]
    #: Answers start and end at word boundaries; default True.
    align_to_words: Optional[bool]
    #: 0 (default): read every window. n: only the n that share most with the question (BM25).
    max_windows: Optional[int]
    #: The question counts as impossible when the gap is below this; default: the model's own.
    no_answer_threshold: Optional[float]
    #: Called many times a second; true ends the call with Cancelled, an exception with that exception.
    cancel: Optional[Callable[[], Any]]


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


class ClassifyOptions(TypedDict, total=False):
    """Keyword arguments of the classify methods. An option that is None keeps its default."""

    #: Word-count models: how many contributions to give, at most; default 0.
    contributions: Optional[int]
    #: BERT models: tokens of one window; default: as many as the model takes. Longer texts are read in windows.
    max_seq_len: Optional[int]
    #: BERT models: tokens that two neighbouring windows share; default 128.
    doc_stride: Optional[int]
    #: BERT models: "mean" (default) or "max" of the windows' logits.
    window_pooling: Optional[str]
    #: Called many times a second; true ends the call with Cancelled, an exception with that exception.
    cancel: Optional[Callable[[], Any]]


@dataclass(frozen=True)
class LabelScore:
    label: str
    #: Row of the model's output.
    id: int
    #: Softmax over all labels, or for multi-label models the label's own sigmoid; NaN for regression.
    probability: float
    logit: float


@dataclass(frozen=True)
class Contribution:
    """An occurrence of a word in the text and what it weighed: text[start:end], in code points (bytes for bytes)."""

    text: Text
    start: int
    end: int
    byte_range: Tuple[int, int]
    utf16_range: Tuple[int, int]
    #: Added to the best label's logit, over the mean of all labels; below 0: against it.
    weight: float


@dataclass(frozen=True)
class Classification:
    """What a classifier says of a text."""

    #: Every label, the most probable first; empty where there was not enough text.
    scores: List[LabelScore]
    #: What weighed most for and against the best label, by falling magnitude.
    contributions: List[Contribution]
    #: "single_label", "multi_label" or "regression".
    problem_type: str
    #: Fewer distinct words than the model asks for: nothing is said of the text.
    not_enough_text: bool
    distinct_words: int
    window_count: int

    @property
    def label(self) -> Optional[str]:
        """The most probable label, or None."""
        return self.scores[0].label if self.scores else None

    @property
    def probability(self) -> float:
        """Of the most probable label; NaN without one."""
        return self.scores[0].probability if self.scores else float("nan")

    @property
    def probabilities(self) -> Dict[str, float]:
        """The probability of every label."""
        return {score.label: score.probability for score in self.scores}


class TrainOptions(TypedDict, total=False):
    """Keyword arguments of train_classifier. An option that is None keeps its default."""

    #: "logistic_regression" (default) or "naive_bayes".
    algorithm: Optional[str]
    #: In code points; default 3.
    min_word_length: Optional[int]
    #: Texts with fewer are not classified; default 3.
    min_distinct_words: Optional[int]
    #: 1 (default): words; 2: and pairs of neighbouring words.
    max_ngram: Optional[int]
    #: Weigh counts by TF-IDF and scale each text to length 1; default False.
    tf_idf: Optional[bool]
    #: Words in fewer texts are left out; default 1.
    min_document_count: Optional[int]
    #: Words in a larger part of the texts are left out; default 1.
    max_document_fraction: Optional[float]
    #: The most frequent words are kept; default 262144.
    max_vocabulary: Optional[int]
    #: Logistic regression: inverse strength of L2; default 1.
    c: Optional[float]
    #: Naive Bayes: additive smoothing; default 1.
    alpha: Optional[float]
    #: Logistic regression: of L-BFGS; default 1000.
    max_iterations: Optional[int]
    #: Logistic regression: its largest gradient component at the end; default 1e-4.
    tolerance: Optional[float]
    #: Of the cross-validation; 0: none; default 5.
    folds: Optional[int]
    #: Default: as many as the process may run on.
    threads: Optional[int]
    #: Of the folds; default 0.
    seed: Optional[int]
    #: Told a few times a second what is done and the part of that which is over, 0 to 1; true ends the training
    #: with Cancelled, an exception with that exception.
    progress: Optional[Callable[[str, float], Any]]


@dataclass(frozen=True)
class TrainingReport:
    """How a training went. Cross-validated figures are NaN without folds."""

    text_count: int
    #: Features of the model.
    vocabulary_size: int
    labels: List[str]
    #: Texts with each label.
    label_texts: List[int]
    #: Of L-BFGS, and whether it came within the tolerance.
    iterations: int
    converged: bool
    #: Of the final model: mean cross-entropy, with logistic regression + L2.
    loss: float
    #: Of the cross-validation.
    accuracy: float
    macro_f1: float
    #: Expected calibration error (ECE), 15 bins.
    calibration_error: float
    #: confusion[true label][predicted label]; empty without folds.
    confusion: List[List[int]]


class EmbedOptions(TypedDict, total=False):
    """Keyword arguments of embed and Labeler. An option that is None keeps its default."""

    #: "mean", "cls", or "model" (default): what the model's sentence-transformers files say, else the mean.
    pooling: Optional[str]
    #: Scale vectors to length 1; default: as the model's files say.
    normalize: Optional[bool]
    #: Tokens of one window; default: as the model's files say.
    max_seq_len: Optional[int]
    #: Cut longer texts, as sentence-transformers does; default False: they are read in windows, whose vectors are
    #: averaged.
    truncate: Optional[bool]
    #: Called many times a second; true ends the call with Cancelled, an exception with that exception.
    cancel: Optional[Callable[[], Any]]


class GenerateOptions(TypedDict, total=False):
    """Keyword arguments of Context.generate; names and meanings as in Hugging Face's generate.

    An option that is None keeps its default.
    """

    #: Generated at most, 1...1000000; default 100.
    max_words: Optional[int]
    #: 0 (default): greedy, always the most probable word; else the logits are divided by it.
    temperature: Optional[float]
    #: Only the k most probable words are drawn from; 0 (default): all.
    top_k: Optional[int]
    #: Only the fewest words whose probabilities sum to this; default 1: all.
    top_p: Optional[float]
    #: The same seed gives the same words; default 0.
    seed: Optional[int]
    #: Called with each Word as it is generated; true stops the generation after it.
    on_word: Optional[Callable[["Word"], Any]]


@dataclass(frozen=True)
class Word:
    """A word that may come next, or that was generated."""

    text: str
    id: int
    #: Of the model itself, whatever the options of a generation left out.
    probability: float
    log_probability: float


@dataclass(frozen=True)
class Prediction:
    """The words that may come next."""

    #: The most probable first.
    words: List[Word]
    #: The word that was read is not in the vocabulary; the model read its unknown token.
    unknown: bool
    #: Of every word, by id.
    probabilities: "array[float]"
    #: After the word that was read: for the next prediction.
    state: "SequenceState"

    @property
    def word(self) -> str:
        """The most probable word."""
        return self.words[0].text


@dataclass(frozen=True)
class Generation:
    """What was generated."""

    #: The words joined as the model's texts are: with spaces between words, without between characters.
    text: str
    #: Without the prompt and the end symbol.
    words: List[Word]
    #: "end": the model predicted its end symbol; "limit": max_words; "callback": on_word asked for it.
    stop: str
    #: Words of the prompt that are not in the vocabulary.
    unknown_count: int
    #: After the last word, to go on from.
    state: "SequenceState"


@dataclass(frozen=True)
class SequenceScore:
    """How likely a text is."""

    #: Sum of the natural logarithms of the words' probabilities.
    log_likelihood: float
    #: Words predicted: all but a sequence's first, and the end symbol if asked.
    word_count: int
    #: Words of the text that are not in the vocabulary.
    unknown_count: int
    #: exp(-log_likelihood / word_count); NaN where nothing was predicted.
    perplexity: float


@dataclass(frozen=True)
class RankedText:
    """One of several continuations."""

    text: Text
    #: In the order given.
    index: int
    #: Of its own words.
    log_likelihood: float
    word_count: int


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
    """What a context loaded and how it runs; dimensions are 0 where it has no such thing."""

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
    #: "answer", "classify", "embed" or "predict"; "" for a tokenizer alone.
    task: str = ""
    #: A classifier's labels, by id.
    labels: Tuple[str, ...] = ()
    #: Floats of an embedding, and of a sequence's state; 0 for models of other tasks.
    embedding_length: int = 0
    state_length: int = 0
