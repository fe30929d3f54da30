"""Classifiers of vectors: training against scikit-learn on the same vectors, the choice of features, and files."""

import json
import random
import shutil

import numpy as np
import pytest
from safetensors.numpy import load_file
from sklearn.linear_model import LogisticRegression

import bertqa
from conftest import FIXTURES

EMBEDDER = FIXTURES / "tiny-bert-embedder"
PLACES = ["Oslo", "Paris", "Rome", "Cairo", "Lima", "Delhi", "Quito", "Accra", "Hanoi", "Perth", "Turin", "Bergen"]
FOODS = [
    "bread",
    "soup",
    "cheese",
    "rice",
    "apples",
    "fish",
    "honey",
    "lentils",
    "butter",
    "plums",
    "beans",
    "eggs",
]


@pytest.fixture(scope="module")
def corpus():
    generator = random.Random(5)
    words = [line for line in (EMBEDDER / "vocab.txt").read_text().split("\n") if line.isalpha()]
    texts, labels = [], []
    for n in range(240):
        label = n % 3
        texts.append(" ".join(generator.choice(words[label * 40 : label * 40 + 80]) for _ in range(12)))
        labels.append("abc"[label])
    return texts, labels


@pytest.mark.parametrize("labels, c", [(3, 1.0), (3, 30.0), (2, 1.0)])
def test_is_scikit_learns_on_the_same_vectors(corpus, tmp_path, labels, c):
    texts = [text for text, label in zip(*corpus) if label in "abc"[:labels]]
    names = [label for label in corpus[1] if label in "abc"[:labels]]
    report = bertqa.train_classifier(
        texts,
        names,
        tmp_path / "model",
        features="embedding",
        embedding_model=EMBEDDER,
        folds=0,
        c=c,
        tolerance=1e-8,
    )
    assert report.features == "embedding" and report.is_converged and report.other_accuracy is None
    with bertqa.Context(EMBEDDER) as embedder:
        vectors = np.array(embedder.embed(texts, normalize=True), float)
    assert report.vocabulary_size == vectors.shape[1]
    reference = LogisticRegression(C=c, tol=1e-8, max_iter=20000).fit(vectors, names)
    with bertqa.Context(tmp_path / "model") as context:
        assert context.info.task == "classify" and list(context.info.labels) == sorted(set(names))
        results = context.classify_batch(texts)
    found = np.array([[result.probabilities[label] for label in reference.classes_] for result in results])
    assert np.abs(found - reference.predict_proba(vectors)).max() < 1e-4
    tensors = load_file(tmp_path / "model" / "classifier" / "model.safetensors")
    assert tensors["classifier.weight"].shape == (labels, vectors.shape[1])


def test_the_files_are_complete_and_the_same_each_time(corpus, tmp_path):
    shutil.copytree(EMBEDDER, tmp_path / "embedder")
    for name in "one", "two":
        bertqa.train_classifier(
            *corpus, tmp_path / name, features="embedding", embedding_model=tmp_path / "embedder", calibrate=True
        )
    shutil.rmtree(tmp_path / "embedder")
    files = {file.relative_to(tmp_path / "one"): file.read_bytes() for file in (tmp_path / "one").rglob("*.*")}
    assert {
        file.relative_to(tmp_path / "two"): file.read_bytes() for file in (tmp_path / "two").rglob("*.*")
    } == files
    config = json.loads((tmp_path / "one" / "classifier" / "config.json").read_text())
    assert config["architectures"] == ["EmbeddingClassifier"] and config["temperature"]["slope"] == 0
    assert config["training"] == {"algorithm": "logistic_regression", "c": 10.0, "tolerance": 1e-4}
    assert not list(tmp_path.glob("*partial*"))
    with pytest.raises(bertqa.Unsupported, match="quantize its embedding model"):
        bertqa.quantize(tmp_path / "one", tmp_path / "int8")
    named = {str(file): data for file, data in files.items()}
    with bertqa.Context(tmp_path / "one") as context, bertqa.Context(named) as in_memory:
        text = corpus[0][0]
        assert context.classify(text).scores == in_memory.classify(text).scores
        divided = [
            score.logit / np.exp(config["temperature"]["intercept"]) for score in context.classify(text).scores
        ]
        powers = np.exp(divided - max(divided))
        assert context.classify(text).probability == pytest.approx(powers[0] / powers.sum(), abs=1e-5)
        assert context.classify(text, min_probability=1.0).is_none
        # However short, a text has labels, and a long one is read in windows.
        assert context.classify("").label and context.classify(" ".join(corpus[0])).window_count > 1


def test_auto_says_which_won(tmp_path):
    # No word of a test text is in the other folds' texts of its label.
    texts = [f"They flew to {place}." for place in PLACES] + [f"They cooked some {food}." for food in FOODS]
    texts = [text.replace("They flew to ", "").replace("They cooked some ", "") for text in texts]
    labels = ["place"] * len(PLACES) + ["food"] * len(FOODS)
    report = bertqa.train_classifier(texts, labels, tmp_path / "vectors", features="auto", folds=4)
    assert report.features == "embedding" and report.accuracy > 0.8 > 0.6 > report.other_accuracy
    with bertqa.Context(tmp_path / "vectors") as context:
        assert [result.label for result in context.classify_batch(["Vienna", "tomatoes"])] == ["place", "food"]
    texts, labels = ["alpha beta gamma", "alpha delta gamma"] * 20, ["beta", "delta"] * 20
    report = bertqa.train_classifier(
        texts, labels, tmp_path / "words", features="auto", embedding_model=EMBEDDER, folds=2
    )
    # Equal figures choose the words.
    assert report.features == "words" and report.accuracy == 1 >= report.other_accuracy
    assert (tmp_path / "words" / "vocab.txt").exists()


def test_refused(tmp_path):
    texts, labels = ["a text", "another text"] * 4, ["a", "b"] * 4

    def train(**options):
        options = {"features": "embedding", "embedding_model": EMBEDDER, "folds": 2, **options}
        return bertqa.train_classifier(texts, labels, tmp_path / "refused", **options)

    with pytest.raises(bertqa.InvalidArgument, match="algorithm is naive_bayes, which counts words"):
        train(algorithm="naive_bayes")
    with pytest.raises(bertqa.InvalidArgument, match="features is auto, which needs a cross-validation"):
        train(features="auto", folds=0)
    for features in None, "words":
        with pytest.raises(bertqa.InvalidArgument, match="features is words, which uses no embedding model"):
            train(features=features)
    with pytest.raises(ValueError, match="features"):
        train(features="pictures")
    with pytest.raises(bertqa.WrongModel, match="cannot embed"):
        train(embedding_model=FIXTURES / "tiny-bert")
    with pytest.raises(bertqa.BertQAError, match="No such"):
        train(embedding_model=tmp_path / "missing")
    with pytest.raises(bertqa.TooLarge, match="text 0: .*max_document_tokens"):
        train(max_document_tokens=1)
    assert not list(tmp_path.iterdir())


def test_vectors_count_once_towards_the_memory(tmp_path):
    """Of each call, whether it computes vectors or only keeps them."""
    texts = ["a goal in the match", "the vote on the bill"] * 2000
    options = {"features": "embedding", "embedding_model": EMBEDDER, "folds": 0, "max_bytes": 1_600_000}
    report = bertqa.train_classifier(texts, [text[2:6] for text in texts], tmp_path / "model", **options)
    assert report.text_count == len(texts)
