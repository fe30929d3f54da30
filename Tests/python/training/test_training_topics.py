"""training/make_topics.py: from texts, passages and vectors to a model that libbertqa reads."""

import json
import random
import types

import numpy as np
import pytest

import bertqa
import make_topics
from qa.calibration import calibration_error
from topics import texts
from topics.calibration import fitted, probabilities
from topics.teacher import vectors

TOPICS = {topic: [f"{topic}{number}" for number in range(60)] for topic in ("cook", "sail")}
OTHER = [f"other{number}" for number in range(90)]


class Context:
    """Replaces an embedding model: returns the topic whose words a text has."""

    def __init__(self, directory):
        self.info = types.SimpleNamespace(directory=str(directory))
        self.read = 0

    def embed(self, batch):
        self.read += len(batch)

        def part(text, words):
            found = texts.words(text)
            return sum(word in words for word in found) / max(1, len(found))

        return [[part(text, words) for words in (*TOPICS.values(), OTHER)] for text in batch]


def written(generator, topic):
    words = [generator.choice(TOPICS[topic] if topic and generator.random() < 0.6 else OTHER) for _ in range(12)]
    return " ".join(words).capitalize() + "."


@pytest.fixture
def recipe(tmp_path):
    generator = random.Random(2)
    labelled = [
        texts.Text(written(generator, topic), topic, source)
        for source in ("a", "b", "c") for topic in TOPICS for _ in range(40)
    ]  # fmt: skip
    passages = [written(generator, topic) for topic in (*TOPICS, None) for _ in range(60)]
    (tmp_path / "embedder").mkdir()
    return make_topics.Recipe(labelled, passages, Context(tmp_path / "embedder"), str(tmp_path))


def test_a_model_that_knows_its_topics_and_what_is_none(recipe, tmp_path):
    held = {source: recipe.predictions(recipe.trained(without=source), source) for source in recipe.sources}
    for logits, _, labels, kinds in held.values():
        own = kinds == make_topics.KINDS.index("texts")
        assert np.mean(logits[own].argmax(1) == labels[own]) > 0.95
    student, temperature = recipe.trained(), make_topics.fitted_to(list(held.values()))
    words = [recipe.words[index] for index in student.features]
    make_topics.write_model(tmp_path / "m", words, recipe.names, student.weights, temperature, 300, 2, 1, {})
    assert json.loads((tmp_path / "m" / "config.json").read_text())["vocab_size"] == len(words)
    with bertqa.Context(tmp_path / "m") as context:
        assert context.classify("cook1 cook2").label == "cook" and context.classify("sail3 sail4").label == "sail"
        # Words of no topic say nothing about the topic.
        topic, none = context.classify("cook1 cook2").scores[0], context.classify("other7 other8").scores[0]
        assert topic.logit > 5 * none.logit
        # The same as in Python, within F16.
        counts = np.array([[word in ("cook1", "other7") for word in recipe.words]], float)
        own = probabilities(student.logits(counts), student.occurrences(counts), temperature)[0]
        assert list(context.classify("cook1 other7").probabilities.values()) == pytest.approx(
            sorted(own)[::-1], abs=2e-3
        )


def test_vectors_are_kept_of_a_model(tmp_path):
    """A file with the vectors of other texts, or of another model, is not read."""
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")
    context, path = Context(tmp_path / "model"), str(tmp_path / "vectors.npz")
    found = vectors(context, ["cook1", "sail2"], path)
    assert (vectors(context, ["cook1", "sail2"], path) == found).all() and context.read == 2
    vectors(context, ["cook1"], path)
    assert context.read == 3
    (tmp_path / "model" / "config.json").write_text("{ }")
    vectors(context, ["cook1"], path)
    assert context.read == 4


def test_the_temperature_is_found():
    generator = np.random.default_rng(1)
    occurrences = generator.integers(1, 300, 20000)
    true = np.array([1.0, 0.5])
    logits = generator.random((20000, 3)) * 4 * np.exp(true[0] + true[1] * np.log1p(occurrences))[:, None]
    found = probabilities(logits, occurrences, true)
    labels = (found.cumsum(1) < generator.random((20000, 1))).sum(1)
    assert fitted(logits, occurrences, labels, np.ones(20000)) == pytest.approx(true, abs=0.1)

    def error(found):
        return calibration_error(found.max(1), found.argmax(1) == labels)

    assert error(found) < 0.02 < error(probabilities(logits, occurrences, (0, 0)))
    # Texts beyond the limit are as sure as those of its length with the same words.
    shorter = probabilities(logits / occurrences[:, None], np.ones(20000), true, 1)
    assert np.allclose(shorter, probabilities(logits, occurrences, true, 1))


def test_texts(tmp_path):
    assert texts.cleaned("Title: A Text: B") == "A. B" and texts.words("It's 3.14, a U.S. X!") == [
        "it's",
        "3.14",
        "u.s",
    ]
    records = [{"context": "p" * 2000, "qas": [{"source": "s", "license": "l"}]}] * 2 + [{"context": "q"}]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    passages = texts.read_passages(tmp_path / "p.jsonl")
    assert passages.texts == ["p" * 1500, "q"] and passages.licences == {"s: l": 1, "of unknown source": 1}
    parts = [texts.Text(letter * 600, "x", "s") for letter in "abcdef"]
    # The last three are neighbours; d is far from them.
    places = {text.text: place for text, place in zip(parts, [0, 1, 2, 90, 200, 201])}
    assert [len(d.text) for d in texts.documents(parts, places, 1500)] == [1802]
    assert len(texts.documents(parts, {}, 1500)) == 2


@pytest.mark.parametrize(
    "labels, passages, message",
    [
        ((("cook", "a"), ("cook", "b"), ("sail", "b")), ["other"], "two sources: sail"),
        ((("cook", ""), ("sail", "")), ["other"], "two sources: cook, sail"),
        ((("cook", "a"), ("cook", "b")), ["other"], "two labels"),
        ([(label, source) for label in ("cook", "other") for source in "ab"], ["other"], '"other" may not be one'),
        ([(label, source) for label in ("cook", "sail") for source in "ab"], ["text"], "not texts of --topics"),
        ([], [], "two labels"),
    ],
)
def test_what_no_model_can_be_made_of_is_refused(labels, passages, message):
    with pytest.raises(SystemExit, match=message):
        make_topics.check([texts.Text("text", *label) for label in labels], passages)
