"""Estimators of scikit-learn."""

import pickle
import warnings

import numpy
import pandas
import pytest

from hosts import TEXTS, host

host("sklearn")

from sklearn.base import clone  # noqa: E402
from sklearn.compose import ColumnTransformer  # noqa: E402
from sklearn.exceptions import DataConversionWarning, NotFittedError  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402

import bertqa  # noqa: E402
from bertqa.sklearn import TextEmbedder, WordCountClassifier  # noqa: E402

SPORT = [
    "the striker scored twice",
    "a goal in the last minute",
    "the team won the match",
    "the keeper saved a goal",
]
MONEY = [
    "shares of the bank fell",
    "the bank raised its rates",
    "profits of the company rose",
    "shares rose again",
]
X, Y = SPORT * 3 + MONEY * 3, ["sport"] * 12 + ["money"] * 12


@pytest.mark.parametrize("estimator", [TextEmbedder(), WordCountClassifier()])
def test_check_estimator(estimator):
    """scikit-learn runs the checks that need no matrix of numbers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(estimator, on_fail=None)
    assert {result["status"] for result in results} <= {"passed", "skipped", "xfail"}, results
    assert results


@pytest.mark.parametrize("missing", [None, float("nan"), 5, numpy.array(["a"])])
def test_what_is_no_text(missing):
    """It does not become a text such as "None" or "nan"."""
    for call in (
        lambda: TextEmbedder().transform(["a", missing]),
        lambda: WordCountClassifier().fit([*X, missing], [*Y, "sport"]),
        lambda: WordCountClassifier().fit(X, Y).predict(["a", missing]),
    ):
        with pytest.raises(ValueError, match=r"text \d+ is of type \w+, not str or bytes"):
            call()
    assert TextEmbedder().transform([b"a", "a"]).shape == (2, 384)
    for one in "a", b"a":
        with pytest.raises(ValueError, match="string object received"):
            TextEmbedder().transform(one)


def test_tables_are_no_texts():
    """Their columns' names are not read as texts."""
    table = pandas.DataFrame({"body": X})
    for call in (
        lambda: TextEmbedder().transform(table),
        lambda: WordCountClassifier().fit(X, Y).predict(table),
    ):
        with pytest.raises(TypeError, match="is of type DataFrame, but must be a list or one column"):
            call()
    assert ColumnTransformer([("body", TextEmbedder(), "body")]).fit_transform(table).shape == (24, 384)


def test_embedder():
    embedder = clone(TextEmbedder(normalize=True))
    vectors = embedder.fit_transform(TEXTS)
    assert numpy.allclose(vectors, bertqa.SentenceEncoder().encode(TEXTS, normalize_embeddings=True), atol=1e-2)
    assert numpy.allclose(numpy.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert embedder.transform([]).shape == (0, 384) and len(embedder.get_feature_names_out()) == 384
    with pytest.raises(ValueError, match="raw text"):
        embedder.transform("a text")
    classifier = make_pipeline(TextEmbedder(), LogisticRegression()).fit(X, Y)
    assert classifier.predict(["the bank sold shares", "he scored a goal"]).tolist() == ["money", "sport"]


def test_classifier():
    classifier = WordCountClassifier().fit(X, Y)
    assert classifier.classes_.tolist() == ["money", "sport"]
    assert classifier.predict(["shares fell", "a goal"]).tolist() == ["money", "sport"]
    probabilities = classifier.predict_proba([*X, "zz"])
    assert numpy.allclose(probabilities.sum(axis=1), 1) and probabilities.shape == (25, 2)
    assert classifier.score(X, Y) == 1 and cross_val_score(WordCountClassifier(), X, Y, cv=3).mean() == 1
    again = pickle.loads(pickle.dumps(classifier))
    assert numpy.array_equal(again.predict_proba(X), classifier.predict_proba(X))
    search = GridSearchCV(WordCountClassifier(), {"c": [0.1, 1.0], "max_ngram": [1, 2]}, cv=2).fit(X, Y)
    assert search.best_score_ == 1
    with pytest.warns(DataConversionWarning, match="column-vector y"):  # as other classifiers do
        assert list(WordCountClassifier().fit(X, pandas.DataFrame({"label": Y})).classes_) == list(
            classifier.classes_
        )
    numbers = WordCountClassifier().fit(X, [7] * 12 + [3] * 12)
    assert numbers.predict(["shares fell"]).tolist() == [3]
    with pytest.raises(NotFittedError):
        WordCountClassifier().predict(X)


def test_probabilities_are_as_exact_as_those_of_scikit_learn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cross_val_score(WordCountClassifier(), X, Y, cv=2, scoring="neg_log_loss")
    assert abs(WordCountClassifier().fit(X, Y).predict_proba(X).sum(axis=1) - 1).max() < 1e-15
