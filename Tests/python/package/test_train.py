"""Word-count classifiers: training against scikit-learn, words against uniseg, and the package's part."""

import itertools
import json
import math
import os
import random
import signal
import threading

import numpy as np
import pyarrow
import pytest
from safetensors.numpy import load_file
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.naive_bayes import MultinomialNB

import bertqa
from conftest import SAMPLE
from samples import run_python
from unicode_words import unicode_words


class Model:
    """The files that training wrote."""

    def __init__(self, directory):
        self.directory = directory
        tensors = load_file(directory / "model.safetensors")
        self.weight = tensors["classifier.weight"].astype(float)
        self.bias = tensors["classifier.bias"].astype(float)
        self.idf = tensors.get("idf")
        self.vocabulary = (directory / "vocab.txt").read_text(encoding="utf-8").split("\n")[:-1]
        self.config = json.loads((directory / "config.json").read_text())


@pytest.fixture
def train(tmp_path):
    def train(texts, labels, **options):
        directory = tmp_path / f"model{len(list(tmp_path.iterdir()))}"
        report = bertqa.train_classifier(texts, labels, directory, **{"folds": 0, **options})
        return report, Model(directory)

    return train


def corpus(seed, labels):
    """Random texts with the same words in both libraries: letters and digits between spaces."""
    generator = random.Random(seed)
    size, count = generator.choice([30, 300, 2000]), generator.choice([60, 400, 1200])
    names = [f"label{n}" for n in range(labels)]
    texts, chosen = [], []
    for n in range(count):
        label = n % labels if n < 2 * labels else generator.randrange(labels)
        length = generator.randrange(40)
        words = [min(size - 1, int(generator.expovariate(6 / size) + label * size / 12)) for _ in range(length)]
        texts.append(" ".join(generator.choice(["w%d", "W%d", "é%dx"]) % word for word in words))
        chosen.append(names[label])
    return texts, chosen


def features(texts, tf_idf=False, max_ngram=1, **limits):
    """The reference's matrix, vocabulary and idf."""
    counter = CountVectorizer(
        tokenizer=lambda text: [word for word in text.split() if len(word) >= 3], token_pattern=None,
        ngram_range=(1, max_ngram), **limits,
    )  # fmt: skip
    matrix, idf = counter.fit_transform(texts).astype(float), None
    if tf_idf:
        transformer = TfidfTransformer().fit(matrix)
        matrix, idf = transformer.transform(matrix), transformer.idf_
    return matrix, list(counter.get_feature_names_out()), idf


def logits(matrix, weight, bias):
    return matrix @ weight.T + bias


def probabilities(scores):
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def loss(matrix, targets, weight, bias, c):
    """The objective of both libraries: mean cross-entropy + penalty. With two labels the penalty is on their
    difference."""
    likelihood = np.log(probabilities(logits(matrix, weight, bias))[np.arange(len(targets)), targets])
    penalized = weight[1] - weight[0] if len(weight) == 2 else weight
    return -likelihood.mean() + (penalized**2).sum() / (2 * c * len(targets))


def coefficients(model):
    """One row for each label, even of a binary model."""
    if len(model.coef_) > 1:
        return model.coef_, model.intercept_
    half = np.array([-0.5, 0.5])
    return half[:, None] * model.coef_, half * model.intercept_


CASES = [(seed, labels) for seed in range(4) for labels in (2, 3, 5)]


@pytest.mark.parametrize("seed, labels", CASES)
def test_logistic_regression_is_scikit_learns(train, seed, labels):
    texts, chosen = corpus(seed, labels)
    c, ngram, tf_idf = [(1.0, 1, False), (0.1, 2, False), (10.0, 1, True), (1.0, 2, True)][seed]
    report, model = train(texts, chosen, c=c, max_ngram=ngram, tf_idf=tf_idf)
    matrix, vocabulary, idf = features(texts, tf_idf, ngram)
    assert model.vocabulary == vocabulary and report.vocabulary_size == len(vocabulary)
    if tf_idf:
        np.testing.assert_allclose(model.idf, idf, rtol=1e-6)
    targets = np.array([int(label[-1]) for label in chosen])
    own = loss(matrix, targets, model.weight, model.bias, c)
    assert report.loss == pytest.approx(own, abs=1e-6) and report.is_converged
    for tolerance, near in ((1e-4, 2e-2), (1e-8, 6e-2)):
        reference = LogisticRegression(C=c, tol=tolerance, max_iter=20000).fit(matrix, targets)
        weight, bias = coefficients(reference)
        assert abs(own - loss(matrix, targets, weight, bias, c)) < 1e-3
        found = probabilities(logits(matrix, model.weight, model.bias))
        assert abs(found - reference.predict_proba(matrix)).max() < near
    # To any tolerance: the optimum is one point.
    exact, exact_model = train(texts, chosen, c=c, max_ngram=ngram, tf_idf=tf_idf, tolerance=1e-8)
    assert exact.loss == pytest.approx(loss(matrix, targets, weight, bias, c), abs=1e-7)
    found = probabilities(logits(matrix, exact_model.weight, exact_model.bias))
    assert abs(found - reference.predict_proba(matrix)).max() < 1e-4


@pytest.mark.parametrize("seed, labels", CASES)
def test_naive_bayes_is_scikit_learns(train, seed, labels):
    texts, chosen = corpus(seed, labels)
    alpha, ngram, tf_idf = [(1.0, 1, False), (0.1, 2, False), (0.5, 1, True), (2.0, 2, True)][seed]
    _, model = train(texts, chosen, algorithm="naive_bayes", alpha=alpha, max_ngram=ngram, tf_idf=tf_idf)
    matrix, _, _ = features(texts, tf_idf, ngram)
    reference = MultinomialNB(alpha=alpha).fit(matrix, chosen)
    np.testing.assert_allclose(model.weight, reference.feature_log_prob_, atol=1e-5)
    np.testing.assert_allclose(model.bias, reference.class_log_prior_, atol=1e-5)
    with bertqa.Context(model.directory) as context:
        for text, expected in zip(texts, reference.predict_proba(matrix)):
            result = context.classify(text)
            if not result.is_too_short:
                found = [result.probabilities[name] for name in reference.classes_]
                np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("tf_idf", [False, True])
def test_classifies_as_the_formula_says(train, tf_idf):
    texts, chosen = corpus(1, 3)
    _, model = train(texts, chosen, tf_idf=tf_idf, max_ngram=2)
    expected = logits(features(texts, tf_idf, 2)[0], model.weight, model.bias)
    with bertqa.Context(model.directory) as context:
        for text, scores, result in zip(texts, expected, context.classify_batch(texts), strict=True):
            distinct = {word.lower() for word in text.split() if len(word) >= 3}
            assert result.distinct_word_count == len(distinct)
            assert result.is_too_short == (len(distinct) < 3)
            if result.scores:
                found = [score.logit for score in sorted(result.scores, key=lambda score: score.id)]
                np.testing.assert_allclose(found, scores, atol=1e-4)


@pytest.mark.parametrize(
    "own, reference",
    [
        (dict(min_document_count=3), dict(min_df=3)),
        (dict(max_document_fraction=0.3), dict(max_df=0.3)),
        (dict(max_vocabulary=1, min_document_count=2), dict(max_features=1, min_df=2)),
    ],
)
def test_selects_words_as_scikit_learn(train, own, reference):
    texts, chosen = corpus(2, 3)
    _, model = train(texts, chosen, **own)
    assert model.vocabulary == features(texts, **reference)[1]


def test_cross_validation_adds_up(train):
    texts, chosen = corpus(1, 3)
    report, _ = train(texts, chosen, folds=4, seed=3)
    confusion = np.array(report.confusion)
    assert confusion.sum(axis=1).tolist() == [label.text_count for label in report.labels]
    assert [label.label for label in report.labels] == sorted(set(chosen))
    truth = [t for t in range(3) for p in range(3) for _ in range(confusion[t, p])]
    predicted = [p for t in range(3) for p in range(3) for _ in range(confusion[t, p])]
    assert report.accuracy == pytest.approx(np.trace(confusion) / len(texts))
    assert report.macro_f1 == pytest.approx(f1_score(truth, predicted, average="macro"))
    assert 0 < report.calibration_error < 1
    again, _ = train(texts, chosen, folds=4, seed=3, threads=1)
    assert again == report
    assert train(texts, chosen, folds=4, seed=4)[0].confusion != report.confusion


def test_words_are_unicodes(train):
    """The vocabulary of random texts has the words between uniseg's word boundaries."""
    generator = random.Random(5)
    alphabet = [
        *"abZ07_'.,;:\"-  \n\t", "\r\n", "\xad", "\u0301", "\u200d", "é", "ß", "Σ", "א", "״", "’", "·", "カ", "ひ",
        "日", "ไ", "ั", "，", "‿", "\u202f", "१", "😀", "\x85", "\u3000", "한", "ﬁ", "Ꭰ", "ⅷ", "İ", "\u2028", "𐐀",
    ]  # fmt: skip
    texts = ["".join(generator.choices(alphabet, k=generator.randrange(40))) for _ in range(3000)]
    texts = [text for text in texts if "\u200d😀" not in text]  # rule WB3c, for emoji, is left out
    for length in (1, 3):
        _, model = train(texts, ["ab"[n % 2] for n in range(len(texts))], min_word_length=length)
        found = {word.lower() for text in texts for word in unicode_words(text) if len(word) >= length}
        # test_final_sigma has the forms of sigma, for which Python looks beyond the word's end.
        assert {word.replace("ς", "σ") for word in found} == {word.replace("ς", "σ") for word in model.vocabulary}


def test_final_sigma(train):
    _, model = train(["ΟΔΟΣ ΣΟΦΟΣ, ΜΑΣ'Α ΑΣ. Σ", "one"], ["a", "b"], min_word_length=1)
    assert set(model.vocabulary) == {"one", "οδος", "σοφος", "μασ'α", "ας", "σ"}


def test_labels_and_texts_of_any_kind(train):
    labels = ["é", "e\u0301", "日本", 'with "quotes",\nand lines', "🦊"]
    report, model = train([b"one two \xff\xfe three", "four"] * 5, [labels[n % 5] for n in range(10)])
    assert [label.label for label in report.labels] == sorted(labels, key=str.encode)
    assert [label.text_count for label in report.labels] == [2] * 5
    assert math.isnan(report.accuracy) and report.confusion == []
    with bertqa.Context(model.directory) as context:
        assert list(context.info.labels) == [label.label for label in report.labels]
        assert context.info.task == "classify"
        assert set(context.classify("one two three").probabilities) == set(labels)


def test_refused(train, tmp_path):
    for texts, labels, message in [
        ([], [], "at least two labels"),
        (["one two three"] * 2, ["a", "a"], "at least two labels"),
        (["one two three"], [""], "text 0: label is empty"),
        (["a b", "c"], ["a", "b"], "no words are left"),
    ]:
        with pytest.raises(bertqa.InvalidArgument, match=message):
            train(texts, labels)
    for options, message in [
        (dict(folds=1), "folds is 1"),
        (dict(folds=3), "folds is 3, but there are only 2"),
        (dict(algorithm="perceptron"), "algorithm is 'perceptron'"),
        (dict(max_ngram=3), "max_ngram is 3"),
        (dict(c=0.0), "c is 0.0"),
        (dict(min_word_length=2**40), "does not fit"),
    ]:
        with pytest.raises(bertqa.InvalidArgument, match=message):
            train(["one two", "three"], ["a", "b"], **options)
    with pytest.raises(TypeError, match="unknown option 'colour'"):
        train(["one two", "three"], ["a", "b"], colour=1)
    for texts, labels in [(["one"], []), (["one", "two"], ["a"]), (["one"], ["a", "b"])]:
        with pytest.raises(ValueError, match="the same length"):
            train(texts, labels)
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").touch()
    with pytest.raises(bertqa.InvalidArgument, match="not empty"):
        bertqa.train_classifier(["one two", "three"], ["a", "b"], tmp_path / "taken", folds=0)
    with pytest.raises(bertqa.ModelIOError):
        bertqa.train_classifier(["one two", "three"], ["a", "b"], tmp_path / "no" / "such", folds=0)


def slow(count=6000):
    """A training that takes its time."""
    generator = random.Random(1)
    texts = [" ".join(f"word{generator.randrange(20000)}" for _ in range(40)) for _ in range(count)]
    return texts, [str(n % 7) for n in range(count)]


def test_a_training_that_any_report_stops_writes_nothing(tmp_path):
    texts, labels = ["one two three", "four five six"] * 2, ["a", "b"] * 2
    for place in itertools.count(1):
        reports = iter([None] * (place - 1))
        try:
            # The report of this place raises StopIteration.
            bertqa.train_classifier(
                texts, labels, tmp_path / "model", folds=2, progress=lambda *_, reports=reports: next(reports)
            )
        except StopIteration:
            assert os.listdir(tmp_path) == []
        else:
            assert place > 1 and os.listdir(tmp_path) == ["model"]
            break


def test_progress(tmp_path):
    calls = []

    def progress(stage, fraction):
        calls.append((stage, fraction, threading.get_ident()))

    texts, labels = slow()
    bertqa.train_classifier(texts, labels, tmp_path / "model", folds=2, progress=progress)
    assert {thread for _, _, thread in calls} == {threading.get_ident()}
    stages = [stage for stage, _, _ in calls]
    assert stages == sorted(stages) and set(stages) == {"cross-validation", "training"}
    with pytest.raises(bertqa.Cancelled):
        bertqa.train_classifier(texts, labels, tmp_path / "stopped", tolerance=1e-12, cancel=lambda: bool(calls))

    class Mine(Exception):
        pass

    def fails(*_):
        raise Mine

    with pytest.raises(Mine):
        bertqa.train_classifier(texts, labels, tmp_path / "stopped", tolerance=1e-12, progress=fails)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_an_interrupt_ends_the_training(tmp_path):
    texts, labels = slow(20000)
    # A shell's background jobs ignore the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            bertqa.train_classifier(texts, labels, tmp_path / "model", tolerance=1e-12, c=1e6)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert list(tmp_path.iterdir()) == []


def test_default_model_knows_its_topics():
    path = SAMPLE / "news.jsonl"
    with open(path, encoding="utf-8") as lines:
        news = [json.loads(line) for line in lines]
    with bertqa.Context(task="classify") as context:
        assert context.info.labels == ("business", "entertainment", "politics", "sport", "technology")
        results = context.classify_batch([item["text"] for item in news])
        assert sum(result.label == item["label"] for result, item in zip(results, news)) >= 38
        assert all(sum(result.probabilities.values()) == pytest.approx(1) for result in results)


def dependent(seed):
    """Texts that repeat each word, which naive Bayes counts as independent evidence."""
    generator = random.Random(seed)
    texts, labels = [], []
    for n in range(900):
        words = [
            f"word{generator.randrange(120) if generator.random() < 0.92 else n % 3}" for _ in range(1 + n % 30)
        ]
        texts.append(" ".join(words * 5))
        labels.append("abc"[n % 3])
    return texts, labels


def temperature_loss(scores, lengths, targets, intercept, slope):
    """The reference: log loss of softmax(logits / exp(intercept + slope ln(1 + occurrences)))."""
    found = probabilities(scores / np.exp(intercept + slope * np.log1p(lengths))[:, None])
    return -np.log(found[np.arange(len(targets)), targets]).mean()


def error_of(found, targets):
    best, right = found.max(axis=1), found.argmax(axis=1) == targets
    bins = np.minimum((best * 15).astype(int), 14)
    return sum(abs((best - right)[bins == n].sum()) for n in range(15)) / len(targets)


def test_calibration_makes_probabilities_true(train):
    texts, labels = dependent(3)
    plain, _ = train(texts, labels, algorithm="naive_bayes", folds=5)
    report, model = train(texts, labels, algorithm="naive_bayes", folds=5, calibrate=True)
    assert report.accuracy == plain.accuracy and report.confusion == plain.confusion
    assert plain.calibration_error > 0.15 and report.calibration_error < 0.06
    # Texts that neither the weights nor the temperature have seen.
    texts, labels = dependent(4)
    targets = np.array(["abc".index(label) for label in labels])
    with bertqa.Context(model.directory) as context:
        results = context.classify_batch(texts)
    kept = [n for n, result in enumerate(results) if not result.is_too_short]
    found = np.array([[results[n].probabilities[label] for label in "abc"] for n in kept])
    scores = np.array([[{s.label: s.logit for s in results[n].scores}[label] for label in "abc"] for n in kept])
    assert error_of(found, targets[kept]) < 0.06 < error_of(probabilities(scores), targets[kept]) - 0.1
    # The temperature is as documented, and close to the best one of these texts.
    lengths = np.array([sum(word in model.vocabulary for word in texts[n].split()) for n in kept])
    intercept, slope = model.config["temperature"]["intercept"], model.config["temperature"]["slope"]
    most = model.config["temperature"]["max_occurrences"]
    assert np.mean(lengths <= most) == pytest.approx(0.95, abs=0.02)
    fitted = np.minimum(lengths, most)
    own = probabilities(scores / (np.exp(intercept + slope * np.log1p(fitted)) * lengths / fitted)[:, None])
    assert np.abs(own - found).max() < 1e-4
    loss = temperature_loss(scores, lengths, targets[kept], intercept, slope)
    others = [
        temperature_loss(scores, lengths, targets[kept], intercept + a, slope + b)
        for a in np.linspace(-1, 1, 21) for b in np.linspace(-0.3, 0.3, 13)
    ]  # fmt: skip
    assert loss < min(others) + 0.01
    assert "temperature" not in train(texts, labels, algorithm="naive_bayes", folds=5)[1].config


def test_groups_are_held_out_whole(tmp_path):
    rows = [
        (f"shared words here group{n % 4} label{n % 4 * 2 + n // 4 % 2}", "ab"[n // 4 % 2], n % 4)
        for n in range(80)
    ]
    texts, labels, groups = zip(*rows)
    assert bertqa.train_classifier(texts, labels, tmp_path / "a").accuracy == 1
    names = [f"group {group}" for group in groups]
    assert bertqa.train_classifier(texts, labels, tmp_path / "b", groups=names).accuracy <= 0.5
    with pytest.raises(bertqa.InvalidArgument, match="texts, labels and groups must have the same length"):
        bertqa.train_classifier(texts, labels, tmp_path / "c", groups=names[:-1])
    with pytest.raises(TypeError, match="groups is one text"):
        bertqa.train_classifier(texts, labels, tmp_path / "c", groups="abc")
    with pytest.raises(bertqa.InvalidArgument, match="calibrate needs a cross-validation"):
        bertqa.train_classifier(texts, labels, tmp_path / "c", folds=0, calibrate=True)


def test_none_where_no_label_is_probable():
    sport, other = (
        "The striker scored twice in the second half of the final.",
        "Fold the paper twice, then once more.",
    )
    with bertqa.Context(task="classify") as context:
        plain = context.classify_batch([sport, other])
        assert [result.is_none for result in plain] == [False, False]
        results = context.classify_batch([sport, other], min_probability=0.8)
        assert [result.label for result in results] == ["sport", None] and results[1].is_none
        assert [result.scores for result in results] == [result.scores for result in plain]
        assert results[1].probability == plain[1].probability < 0.8
        [row] = bertqa.classify_column(context, pyarrow.array([other]), min_probability=0.8).to_pylist()
        assert (
            row["label"] is None and row["probability"] == plain[1].probability and len(row["probabilities"]) == 5
        )
        short = context.classify("", min_probability=0.8)
        assert short.is_too_short and not short.is_none
        for wrong in (-0.1, 1.5, math.nan):
            with pytest.raises(bertqa.InvalidArgument, match="min_probability is"):
                context.classify(sport, min_probability=wrong)


def test_works_in_forked_children(tmp_path):
    code = f"""
import bertqa, os
texts, labels = ["one two three", "four five six"] * 20, ["a", "b"] * 20
bertqa.train_classifier(texts, labels, {str(tmp_path / "parent")!r})
child = os.fork()
if child == 0:
    report = bertqa.train_classifier(texts, labels, {str(tmp_path / "child")!r})
    context = bertqa.Context({str(tmp_path / "parent")!r})
    os._exit(0 if report.accuracy == 1 and context.classify("one two three").label == "a" else 1)
assert os.waitpid(child, 0)[1] == 0
"""
    run_python(code)


def test_a_private_directory_stays_private(tmp_path):
    directory = tmp_path / "model"
    directory.mkdir(0o700)
    bertqa.train_classifier(["the river", "the fox"] * 2, ["a", "b"] * 2, directory, folds=0)
    assert directory.stat().st_mode & 0o777 == 0o700 and (directory / "config.json").exists()


@pytest.mark.parametrize("option", [{"folds": -1}, {"folds": -2}, {"folds": 1}])
def test_folds_out_of_range(tmp_path, option):
    with pytest.raises(bertqa.InvalidArgument, match="folds is"):
        bertqa.train_classifier(["the river", "the fox"] * 2, ["a", "b"] * 2, tmp_path / "model", **option)
