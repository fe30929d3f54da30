"""Estimators for scikit-learn: vectors of texts, and the word-count classifier. Needs scikit-learn.

make_pipeline(bertqa.sklearn.TextEmbedder(), LogisticRegression()).fit(texts, labels)
"""

import pathlib
import tempfile
from typing import Any, Iterable, List

import numpy
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from ._context import Context
from ._hosts import opened, texts_of
from ._sentences import SentenceEncoder
from ._text import is_text
from ._train import train_classifier


def _texts(X: Iterable[Any]) -> List[Any]:
    if is_text(X):
        raise ValueError("Iterable over raw text documents expected, string object received.")
    return texts_of(X)


class _OfTexts(BaseEstimator):
    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        return tags


class TextEmbedder(TransformerMixin, _OfTexts):
    """Converts texts to vectors, without a fit.

    model: a directory or name for bertqa.Context; default: the default model.
    normalize: scales vectors to length 1. truncate: truncates longer texts; else they are read in windows.
    """

    def __init__(self, model: Any = None, normalize: bool = False, truncate: bool = False):
        self.model, self.normalize, self.truncate = model, normalize, truncate

    def fit(self, X: Any, y: Any = None) -> "TextEmbedder":
        return self

    def transform(self, X: Any) -> Any:
        encoder = SentenceEncoder(opened(self.model, "embed"), truncate=self.truncate)
        vectors = encoder.encode(_texts(X), normalize_embeddings=self.normalize)
        return vectors.reshape(-1, encoder.get_sentence_embedding_dimension())

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        length = opened(self.model, "embed").info.embedding_length
        return numpy.asarray([f"embedding{number}" for number in range(length)], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags


class WordCountClassifier(ClassifierMixin, _OfTexts):
    """Learns labels of texts from the counts of their words.

    The parameters are options of bertqa.train_classifier: help(bertqa.TrainOptions). A text with fewer distinct words
    than min_distinct_words gets the most frequent label.
    """

    def __init__(
        self,
        algorithm: str = "logistic_regression",
        max_ngram: int = 1,
        tf_idf: bool = False,
        min_word_length: int = 3,
        min_distinct_words: int = 1,
        c: float = 1.0,
        alpha: float = 1.0,
        calibrate: bool = False,
    ):
        self.algorithm, self.max_ngram, self.tf_idf, self.min_word_length = (
            algorithm,
            max_ngram,
            tf_idf,
            min_word_length,
        )
        self.min_distinct_words, self.c, self.alpha, self.calibrate = min_distinct_words, c, alpha, calibrate

    def fit(self, X: Any, y: Any) -> "WordCountClassifier":
        check_classification_targets(y)
        y = column_or_1d(y, warn=True)
        texts = _texts(X)
        self.classes_, numbers = numpy.unique(y, return_inverse=True)
        counts = numpy.bincount(numbers, minlength=len(self.classes_))
        self.prior_ = counts / counts.sum()
        folds = 5 if self.calibrate else 0
        with tempfile.TemporaryDirectory() as directory:
            # The library's labels are texts: the numbers of the classes.
            train_classifier(texts, map(str, numbers), f"{directory}/model", folds=folds, **self.get_params())
            files = {path.name: path.read_bytes() for path in pathlib.Path(directory, "model").iterdir()}
        # In memory, so that the estimator can be pickled.
        self.context_ = Context(files)
        return self

    def predict_proba(self, X: Any) -> Any:
        check_is_fitted(self)
        rows: List[Any] = []
        for result in self.context_.classify_batch(_texts(X)):
            found = {int(label): value for label, value in result.probabilities.items()}
            rows.append([found.get(number, 0.0) for number in range(len(self.classes_))] if found else self.prior_)
        probabilities = numpy.array(rows, dtype=float).reshape(-1, len(self.classes_))
        # The library's are float32; scikit-learn expects sums as near to 1 as those of its own.
        return probabilities / probabilities.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> Any:
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]
