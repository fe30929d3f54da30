"""Options: keyword arguments of the calls, with their documentation for help()."""

import os
from typing import TYPE_CHECKING, Any, Callable, Iterable, Optional, TypedDict, Union

if TYPE_CHECKING:
    from ._sequence_results import Word


class CallOptions(TypedDict, total=False):
    """Keyword arguments of every call. An option that is None or absent has its default.

    cancel: a function without arguments, called many times a second; a true value from it makes the call raise
        Cancelled; its exceptions propagate from the call; default None.
    progress: a function of the current stage (a str) and its finished part (0...1), called occasionally by long
        calls; its exceptions propagate from the call; default None.
    timeout: seconds after which the call raises DeadlineExceeded, at least 0; default: none.
    max_bytes: the maximum memory that grows with the input and that the call may hold at once, at least 1; a call
        that would need more raises TooLarge; default: no limit.
    max_document_tokens: the maximum number of tokens (words, for models that read words) of one text or question, at
        least 1; a longer one raises TooLarge; default: no limit.
    """

    cancel: Optional[Callable[[], Any]]
    progress: Optional[Callable[[str, float], Any]]
    timeout: Optional[float]
    max_bytes: Optional[int]
    max_document_tokens: Optional[int]


class AnswerOptions(CallOptions, total=False):
    """Keyword arguments of every answer method; names and meanings as in Hugging Face's pipeline.

    An option that is None or absent has its default. Lengths are in tokens.

    top_k: the maximum number of answers, 1...1000; default 1.
    max_seq_len: the length of a window, including the question, at least 8; reduced to the model's maximum;
        default 384, or the model's maximum for Longformer.
    doc_stride: None (default): a long document is read in sections that end where paragraphs and sentences do, ranked
        by the question's words. Else as in Hugging Face's pipeline: every window is read, neighbours share this many
        tokens, fewer than a window has beside the question and the special tokens, and raw scores are compared.
    max_answer_len: the maximum length of an answer before it is aligned to words, 1...10000; default 30.
    max_question_len: longer questions are truncated, 1...10000; default 64, or less to leave the document room.
    n_best_size: 1...1000: only the n best starts x n best ends of each window are considered; 0 (default): all spans.
    max_windows: n > 0: the n windows that match the question best (BM25) are read; -1: all; 0 (default): until no
        remaining window is likely to answer better, at most 7 (more if there are 128 or more), or all if none has a
        word of the question; with doc_stride: all.
    handle_impossible_answer: return no answer if is_impossible is set; default False.
    align_to_words: answers have whole words, addresses, paths, numbers with units and abbreviations, do not cross blank
        lines or line breaks that end a sentence, as in lists, tables and forms, and are not only punctuation
        (docs/answers.md); default True. False: the model's own spans.
    no_answer_threshold: the question counts as impossible if the gap is below this, any number; default: the model's
        own, which rises with the number of windows if doc_stride is set.
    partial: True: timeout and cancel end the reading, and the result is that of the windows read so far; its stop
        has the reason. False (default): they raise an exception.
    """

    top_k: Optional[int]
    max_seq_len: Optional[int]
    doc_stride: Optional[int]
    max_answer_len: Optional[int]
    max_question_len: Optional[int]
    n_best_size: Optional[int]
    max_windows: Optional[int]
    handle_impossible_answer: Optional[bool]
    align_to_words: Optional[bool]
    no_answer_threshold: Optional[float]
    partial: Optional[bool]


class ClassifyOptions(CallOptions, total=False):
    """Keyword arguments of the classify methods. An option that is None or absent has its default.

    contributions: word-count models: the number of words with the greatest weights to return, at least 0; default 0.
    max_seq_len: encoders: tokens of one window, at least 8; longer texts are read in windows; default: as many as
        the model takes.
    doc_stride: encoders: None (default): windows end where paragraphs and sentences do. Else neighbouring windows
        share this many tokens, fewer than a window has without its special tokens and, for a pair, without the
        other text's tokens.
    window_pooling: encoders: "mean" or "max" of the windows' logits; default "mean".
    min_probability: if no label has at least this probability, the result's label is None and `is_none` is set,
        0...1; default 0. Not for regression.
    labels: a list of labels for zero-shot classification by an entailment model; default: the model's own.
    hypothesis_template: with labels: a sentence that a text may entail, with one {} for the label; default
        "This example is {}."
    multi_label: with labels: True judges each by itself, so several or none may be probable; default False.
    """

    contributions: Optional[int]
    max_seq_len: Optional[int]
    doc_stride: Optional[int]
    window_pooling: Optional[str]
    min_probability: Optional[float]
    labels: Optional[Iterable[str]]
    hypothesis_template: Optional[str]
    multi_label: Optional[bool]


class EntitiesOptions(CallOptions, total=False):
    """Keyword arguments of the entities methods. An option that is None or absent has its default.

    labels: a list of the labels to return, with or without "B-" and "I-"; default: all. For GLiNER, which finds what
        labels name, the labels to find, in any words; at least one. A dict has a threshold for each label, such as
        {"product": 0.7, "disease": None}; None, or 0, is the call's threshold.
    ignore_labels: a list of labels to omit, spelt as in results, unless labels has them; default ["O"].
    aggregation: how token labels become entities, as in Hugging Face's pipeline: "none", "simple", "first",
        "average", "max", or "model": the value in the model's config.json, else "simple"; default "model".
    threshold: entities with a lower score are omitted, 0...1; default 0. For GLiNER, 0 means 0.5.
    nested: GLiNER: True: entities may lie within others; default False: of overlapping entities, the one with the
        highest score stays.
    max_seq_len: tokens of one window, at least 8; longer texts are read in windows; default: "max_seq_length" in the
        model's config.json unless doc_stride is given, else as many as the model takes.
    doc_stride: None (default): windows end where paragraphs and sentences do. Else neighbouring windows share this
        many tokens, fewer than a window has without its special tokens.
    """

    labels: Optional[Iterable[str]]
    ignore_labels: Optional[Iterable[str]]
    aggregation: Optional[str]
    threshold: Optional[float]
    nested: Optional[bool]
    max_seq_len: Optional[int]
    doc_stride: Optional[int]


class EmbedOptions(CallOptions, total=False):
    """Keyword arguments of embed and Labeler. An option that is None or absent has its default.

    pooling: "mean": of the tokens' vectors; "cls": the vector of [CLS]; "model": as the model's
        sentence-transformers files say, else the mean; default "model".
    normalize: scale vectors to length 1; default: as the model's files say.
    max_seq_len: tokens of one window, at least 8; reduced to the model's maximum; default: as the model's files
        say.
    truncate: truncate longer texts, as sentence-transformers does; default False: read them in windows, whose
        vectors are averaged.
    prompt_name: the name, in the model's files, of the prompt before each text, such as "query"; default: that of
        default_prompt_name in the files, if any. In a model with adapters, such as jina-embeddings-v3, the name of a
        task also chooses its adapters.
    prompt: a prompt instead of the model's; "": none; default: that of prompt_name.
    """

    pooling: Optional[str]
    prompt_name: Optional[str]
    prompt: Optional[str]
    normalize: Optional[bool]
    max_seq_len: Optional[int]
    truncate: Optional[bool]


class TrainOptions(CallOptions, total=False):
    """Keyword arguments of train_classifier. An option that is None or absent has its default.

    features: "words": their counts; "embedding": the vector of an embedding model; "auto": the one with the greater
        accuracy in the cross-validation; default "words".
    embedding_model: the directory or name of the embedding model, whose files are copied; default: the installed one.
        Not with words.
    algorithm: for word counts: "logistic_regression" or "naive_bayes"; default "logistic_regression".
    min_word_length: shorter words, in code points, are omitted, 1...255; default 3.
    min_distinct_words: texts with fewer distinct words are not classified, at least 1; default 3.
    max_ngram: 1: words; 2: also pairs of neighbouring words; default 1.
    tf_idf: weigh counts by TF-IDF and scale each text to length 1; default False.
    min_document_count: words in fewer texts are omitted, at least 1; default 1.
    max_document_fraction: words in a larger part of the texts are omitted, above 0, at most 1; default 1.
    max_vocabulary: the maximum number of words; the most frequent are kept, 1...2**28; default 262144.
    c: logistic regression: inverse strength of L2, 1e-9...1e9; default 1 for words, 10 for vectors.
    alpha: naive Bayes: additive smoothing, above 0, at most 1e6; default 1.
    max_iterations: logistic regression: the iterations of L-BFGS, at least 1; default 1000.
    tolerance: logistic regression: the largest gradient component at which it stops, above 0; default 1e-4.
    folds: the folds of the cross-validation, 2...1000, or 0 for none; default 5.
    calibrate: fit probabilities to the cross-validation's predictions, so that they match the fraction of correct
        predictions; the order of labels does not change; default False.
    threads: 1...1024, or 0 for the number of CPUs available to the process; default 0.
    seed: the seed of the folds, 0...2**64 - 1; the same data and seed give the same files; default 0.
    """

    features: Optional[str]
    embedding_model: "Union[str, os.PathLike[str], None]"
    algorithm: Optional[str]
    min_word_length: Optional[int]
    min_distinct_words: Optional[int]
    max_ngram: Optional[int]
    tf_idf: Optional[bool]
    min_document_count: Optional[int]
    max_document_fraction: Optional[float]
    max_vocabulary: Optional[int]
    c: Optional[float]
    alpha: Optional[float]
    max_iterations: Optional[int]
    tolerance: Optional[float]
    folds: Optional[int]
    calibrate: Optional[bool]
    threads: Optional[int]
    seed: Optional[int]


class GenerateOptions(CallOptions, total=False):
    """Keyword arguments of Context.generate; names and meanings as in Hugging Face's generate.

    An option that is None or absent has its default.

    max_words: the maximum number of generated words, 1...1000000; default 100.
    temperature: the divisor of the logits, above 0; 0: greedy, always the most probable word; default 0.
    top_k: sample from the k most probable words only, at least 1, or 0 for all; default 0.
    top_p: sample from the fewest words whose probabilities sum to this, above 0, at most 1; default 1: all.
    seed: 0...2**64 - 1; the same seed gives the same words; default 0.
    on_word: a function that receives each generated Word; a true value from it ends the generation after that word;
        its exceptions propagate from the call; default None.
    """

    max_words: Optional[int]
    temperature: Optional[float]
    top_k: Optional[int]
    top_p: Optional[float]
    seed: Optional[int]
    on_word: "Optional[Callable[[Word], Any]]"


def _add_common(*classes: Any) -> None:
    """Appends the options of every call, because help() shows only a class's own text."""
    if CallOptions.__doc__ is None:  # python -OO
        return
    common = CallOptions.__doc__.split("\n\n", 1)[1]
    for options in classes:
        options.__doc__ = f"{options.__doc__.rstrip()}\n{common}"


_add_common(AnswerOptions, ClassifyOptions, EntitiesOptions, EmbedOptions, TrainOptions, GenerateOptions)
