"""Entities by any label: what Context.entities finds with a tiny GLiNER model, and the package gliner too."""

import json
import shutil

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


def test_encoder_of_the_hub(tmp_path, monkeypatch):
    """A checkpoint without its encoder's settings and tokenizer, as the first of gliner's authors: those of the model
    that it names are in the cache of the Hub. Its tokenizer lacks the tokens of labels."""
    own = tmp_path / "own"
    shutil.copytree(DIRECTORY, own)
    settings = json.loads((own / "gliner_config.json").read_text())
    base = tmp_path / "hub" / "models--some--encoder"
    (base / "refs").mkdir(parents=True)
    (base / "refs" / "main").write_text("abc")
    snapshot = base / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    encoder = {**settings["encoder_config"], "vocab_size": 243}
    (snapshot / "config.json").write_text(json.dumps(encoder))
    tokenizer = json.loads((own / "tokenizer.json").read_text())
    tokenizer["added_tokens"] = [one for one in tokenizer["added_tokens"] if not one["content"].startswith("<<")]
    (snapshot / "tokenizer.json").write_text(json.dumps(tokenizer))
    for name in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"):
        (own / name).unlink()
    settings.update(encoder_config=None, model_name="some/encoder")
    (own / "gliner_config.json").write_text(json.dumps(settings))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "nothing"))
    with pytest.raises(bertqa.InvalidModel, match="some/encoder"):
        bertqa.Context(own)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    with bertqa.Context(own, precision="f32") as loaded:
        for text, theirs in zip(TEXTS, EXPECTED["flat"]):
            found = loaded.entities(text, labels=LABELS)
            assert [[entity.start, entity.end, entity.label] for entity in found] == [
                entity[:3] for entity in theirs
            ]
