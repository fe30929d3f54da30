"""Entities by any label: what Context.entities finds with a tiny GLiNER model, and the package gliner too."""

import json
import shutil

import pyarrow
import pytest

import bertqa
from conftest import FIXTURES

DIRECTORY = FIXTURES / "tiny-gliner"
#: The first one scores spans, the second one words; it has its weights in a pytorch_model.bin.
DIRECTORIES = [DIRECTORY, FIXTURES / "tiny-gliner-tokens"]
EXPECTED = json.loads((DIRECTORY / "expected.json").read_text())
TEXTS, LABELS = EXPECTED["texts"], EXPECTED["labels"]


@pytest.fixture(scope="module")
def context():
    with bertqa.Context(DIRECTORY, precision="f32") as context:
        yield context


@pytest.mark.parametrize("kind", ["flat", "nested"])
@pytest.mark.parametrize("directory", DIRECTORIES, ids=lambda directory: directory.name)
def test_entities_are_those_of_the_package(directory, kind):
    with bertqa.Context(directory, precision="f32") as context:
        found = context.entities_batch(TEXTS, labels=LABELS, nested=kind == "nested")
    expected = json.loads((directory / "expected.json").read_text())[kind]
    assert sum(map(len, expected)) > 20
    for text, own, theirs in zip(TEXTS, found, expected, strict=True):
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


def test_the_pipeline_has_no_labels(context):
    for task in "ner", None:
        with pytest.raises(bertqa.WrongModel, match="GLiNER needs the labels .*: call entities"):
            bertqa.pipeline(task, context)


def test_thresholds_of_labels(context):
    """A label's own threshold leaves out only entities of this label."""
    other, own = LABELS[2:]
    usual = context.entities(TEXTS[0], labels=LABELS[2:], threshold=0.3, nested=True)
    highest = max(one.score for one in usual if one.label == own)
    asked = {other: None, own: highest}
    some = context.entities(TEXTS[0], labels=asked, threshold=0.3, nested=True)
    assert [one.score for one in some if one.label == own] == [highest]
    assert sum(one.label == own for one in usual) > 1
    column = bertqa.entities_column(context, TEXTS[:1], labels=asked, threshold=0.3, nested=True)
    assert [one["label"] for one in pyarrow.array(column).to_pylist()[0]] == [one.label for one in some]
    hidden = bertqa.redact_column(TEXTS[:1], context=context, labels={own: 1})
    assert pyarrow.array(hidden).to_pylist() == TEXTS[:1]
    assert f"[{own}]" in str(pyarrow.array(bertqa.redact_column(TEXTS[:1], context=context, labels=[own]))[0])
    for wrong in 2, -1, float("nan"):
        with pytest.raises(bertqa.InvalidArgument, match="thresholds has"):
            context.entities(TEXTS[0], labels={LABELS[0]: wrong})
    with bertqa.Context(FIXTURES / "tiny-bert-entities") as labeler:
        every = labeler.entities(TEXTS[0])
        low = min(one.score for one in every if one.label == every[0].label)
        some = labeler.entities(
            TEXTS[0], labels={one.label: low if one.label == every[0].label else 1 for one in every}
        )
        assert {one.label for one in some} == {every[0].label}


def test_labels_are_compared_by_their_bytes(context):
    """Of two labels that look alike each has its own threshold and its own spelling."""
    alike = ["caf\u00e9", "cafe\u0301"]
    for wanted in alike:
        asked = {label: 0.01 if label == wanted else 1 for label in alike}
        assert {one.label for one in context.entities(TEXTS[0], labels=asked)} == {wanted}


@pytest.mark.parametrize("directory", DIRECTORIES, ids=lambda directory: directory.name)
def test_quantizing(directory, tmp_path):
    """The int8 form has the same entities, or almost, without the files of the Hub."""
    report = bertqa.quantize(directory, tmp_path / "int8")
    assert report.quantized_count > 0
    settings = json.loads((tmp_path / "int8" / "gliner_config.json").read_text())
    assert (
        settings["bertqa"] == {"weight_format": "int8"}
        and settings["encoder_config"]["model_type"] == "deberta-v2"
    )
    assert not (tmp_path / "int8" / "config.json").exists()
    with (
        bertqa.Context(tmp_path / "int8", precision="f32") as small,
        bertqa.Context(directory, precision="f32") as context,
    ):
        near = total = 0
        for text in TEXTS:
            ours, theirs = (
                {
                    (one.start, one.end, one.label): one.score
                    for one in model.entities(text, labels=LABELS, nested=True)
                }
                for model in (small, context)
            )
            total += len(theirs)
            near += sum(abs(ours.get(key, 0) - score) < 0.05 for key, score in theirs.items())
        assert near > 0.8 * total > 10
    with pytest.raises(bertqa.InvalidArgument, match="already int8"):
        bertqa.quantize(tmp_path / "int8", tmp_path / "again")
    assert not (tmp_path / "again").exists()


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


def test_bf16_finds_the_same(context):
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
            assert theirs and ours == pytest.approx(theirs, abs=0.01)


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
        for text, theirs in zip(TEXTS, EXPECTED["flat"], strict=True):
            found = loaded.entities(text, labels=LABELS)
            assert [[entity.start, entity.end, entity.label] for entity in found] == [
                entity[:3] for entity in theirs
            ]
