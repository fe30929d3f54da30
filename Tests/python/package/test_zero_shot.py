"""Classification with labels of the caller's choice. The pipeline that it is compared with is compared with
transformers' elsewhere."""

import random

import polars
import pyarrow
import pytest

import bertqa
import bertqa.polars
from conftest import FIXTURES
from samples import entailment_model

TEXT = "the quick brown fox jumps over the lazy dog"
LABELS = ["king", "dog", "river of france"]


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return entailment_model(tmp_path_factory.mktemp("entailment") / "model")


@pytest.fixture(scope="module")
def context(directory):
    with bertqa.Context(directory, precision="f32") as context:
        yield context


def scores(result):
    return [(score.label, score.probability) for score in result.scores]


def test_as_the_pipeline(directory, context):
    generator = random.Random(5)
    words = TEXT.split()
    pipeline = bertqa.pipeline("zero-shot-classification", str(directory), precision="f32")
    for _ in range(100):
        texts = [
            " ".join(generator.choices(words, k=generator.randint(1, 12))) for _ in range(generator.randint(1, 4))
        ]
        labels = [
            " ".join(generator.choices(words, k=generator.randint(1, 3))) for _ in range(generator.randint(1, 5))
        ]
        labels = list(dict.fromkeys(labels))
        options = {
            "hypothesis_template": generator.choice(["This example is {}.", "{}", "the {} of france"]),
            "multi_label": generator.random() < 0.5,
        }
        for text, result, wanted in zip(
            texts,
            context.classify_batch(texts, labels=labels, **options),
            pipeline(texts, labels, **options),
            strict=True,
        ):
            assert [label for label, _ in scores(result)] == wanted["labels"], (text, labels, options)
            assert [score for _, score in scores(result)] == pytest.approx(wanted["scores"], abs=1e-5)
            assert [labels[score.id] for score in result.scores] == wanted["labels"]
            assert context.classify(text, labels=labels, **options) == result


def test_long_texts_and_labels(context):
    """Each label has its own windows; the batch does not change a result."""
    texts = [" ".join(TEXT.split() * count) for count in (1, 40, 7)]
    labels = ["dog", " ".join(["king"] * 60), "fox"]
    alone = [context.classify(text, labels=labels, max_seq_len=32) for text in texts]
    assert [result.window_count > 3 for result in alone] == [True] * 3
    assert alone[1].window_count > 2 * alone[2].window_count
    assert context.classify_batch(texts, labels=labels, max_seq_len=32) == alone


def test_what_is_wrong(context):
    for options, message in [
        ({"labels": []}, "labels has no element"),
        ({"labels": LABELS, "hypothesis_template": "no place"}, "{} 0 times"),
        ({"labels": LABELS, "hypothesis_template": "{} {}"}, "{} 2 times"),
        ({"labels": ["dog", ""]}, "is empty"),
        ({"labels": ["dog", " \n"]}, "blank or contains a NUL at 1"),
    ]:
        with pytest.raises(bertqa.InvalidArgument, match=message):
            context.classify(TEXT, **options)
    with pytest.raises(TypeError, match="labels must be a list"):
        context.classify(TEXT, labels="dog")
    with pytest.raises(bertqa.InvalidArgument, match="second is set"):
        context.classify((TEXT, TEXT), labels=LABELS)
    with bertqa.Context(FIXTURES / "tiny-bert-classifier") as other:
        with pytest.raises(bertqa.WrongModel, match='no label "entailment"'):
            other.classify(TEXT, labels=LABELS)
    with pytest.raises(bertqa.WrongModel, match="counts words"):
        bertqa.Context("topics-words").classify(TEXT, labels=LABELS)


@pytest.mark.parametrize("labels", [LABELS[:1], LABELS, [*LABELS, "fox", "brown", "lazy"]], ids=len)
def test_columns_have_the_labels_of_the_call(context, labels):
    texts = [TEXT, None, "dog"]
    expected = [
        None if text is None else sorted(context.classify(text, labels=labels).scores, key=lambda score: score.id)
        for text in texts
    ]
    column = pyarrow.array(bertqa.classify_column(context, texts, labels=labels)).to_pylist()
    assert [row and row["probabilities"] for row in column] == [
        row and [score.probability for score in row] for row in expected
    ]
    frame = polars.DataFrame({"text": texts}).select(polars.col("text").bertqa.classify(context, labels=labels))
    assert frame["text"].to_list() == column


def test_labels_of_an_iterator_are_those_of_every_part(context, monkeypatch):
    monkeypatch.setattr(bertqa._columns, "BATCH", 2)
    column = bertqa.classify_column(context, ["dog", "a", "king"], labels=iter(LABELS), top_k=9)
    assert [len(row) for row in column] == [len(LABELS)] * 3


def test_minimum(context):
    best = context.classify(TEXT, labels=LABELS).scores[0].probability
    assert context.classify(TEXT, labels=LABELS, min_probability=best + 1e-4).label is None
