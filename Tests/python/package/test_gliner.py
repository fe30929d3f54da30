"""Entities by any label: what Context.entities finds with a tiny GLiNER model, and the package gliner too."""

import json

import pytest

import bertqa
from conftest import FIXTURES

DIRECTORY = FIXTURES / "tiny-gliner"
EXPECTED = json.loads((DIRECTORY / "expected.json").read_text())
TEXTS, LABELS = EXPECTED["texts"], EXPECTED["labels"]


@pytest.fixture(scope="module")
def context():
    with bertqa.Context(DIRECTORY, precision="f32") as context:
        yield context


@pytest.mark.parametrize("kind", ["flat", "nested"])
def test_entities_are_those_of_the_package(context, kind):
    found = context.entities_batch(TEXTS, labels=LABELS, nested=kind == "nested")
    for text, own, theirs in zip(TEXTS, found, EXPECTED[kind]):
        theirs = sorted(theirs, key=lambda entity: (entity[0], -entity[1]))
        assert [[entity.start, entity.end, entity.label] for entity in own] == [entity[:3] for entity in theirs]
        assert all(abs(mine.score - entity[3]) < 1e-4 for mine, entity in zip(own, theirs))
        assert all(entity.text == text[entity.start : entity.end] for entity in own)


def test_info(context):
    info = context.info
    assert (info.architecture, info.task, info.labels) == ("GLiNER", "entities", ())


def test_labels_are_needed(context):
    with pytest.raises(bertqa.InvalidArgument, match="labels is empty"):
        context.entities(TEXTS[0])
    with pytest.raises(bertqa.InvalidArgument, match="aggregation"):
        context.entities(TEXTS[0], labels=["a"], aggregation="first")


def test_nested_needs_such_a_model():
    with (
        bertqa.Context(FIXTURES / "tiny-bert-entities") as labeler,
        pytest.raises(bertqa.InvalidArgument, match="nested"),
    ):
        labeler.entities(TEXTS[0], nested=True)


def test_redaction(context):
    entities = context.entities(TEXTS[0], labels=LABELS, nested=True)
    assert entities
    hidden = bertqa.redact(TEXTS[0], entities)
    assert "[" in hidden and not any(entity.text in hidden for entity in entities if len(entity.text) > 8)


def test_bf16_finds_almost_the_same(context):
    try:
        other = bertqa.Context(DIRECTORY, precision="bf16")
    except bertqa.Unsupported:
        pytest.skip("bf16 is not available on this CPU")
    with other:
        for text in TEXTS:
            ours, theirs = (
                {(one.start, one.end, one.label): one.score for one in model.entities(text, labels=LABELS)}
                for model in (other, context)
            )
            both = ours.keys() & theirs.keys()
            assert len(both) * 2 >= max(len(ours), len(theirs))
            assert all(abs(ours[key] - theirs[key]) < 0.05 for key in both)
