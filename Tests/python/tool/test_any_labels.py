"""bertqa entities and filter with a tiny GLiNER model: any labels, and their redaction."""

import json

import pytest

from cli import run, run_json
from conftest import FIXTURES

MODEL = FIXTURES / "tiny-gliner"
EXPECTED = json.loads((MODEL / "expected.json").read_text())
TEXT = EXPECTED["texts"][0]
LABELS = ["--labels", "person, the city", "--labels", ", ".join(EXPECTED["labels"][2:])]


def test_entities_have_the_labels_asked_for():
    model = ["-m", MODEL, "--precision", "f32"]
    [record] = run_json("entities", *model, *LABELS, TEXT)
    assert [entity["label"] for entity in record["entities"]] == [entity[2] for entity in EXPECTED["flat"][0]]
    [record] = run_json("entities", *model, *LABELS, "--nested", TEXT)
    assert len(record["entities"]) == len(EXPECTED["nested"][0])
    [record] = run_json("entities", *model, *LABELS, "--threshold", "1", TEXT, code=1)
    assert record["entities"] == []
    # A threshold of a label.
    [record] = run_json("entities", *model, "--labels", "person, film or river = 1, time=0.51", "--nested", TEXT)
    found = {entity["label"] for entity in record["entities"]}
    assert "film or river" not in found and found


@pytest.mark.parametrize("name", ["tiny-gliner", "tiny-gliner-tokens"])
def test_quantize(name, tmp_path):
    run("quantize", FIXTURES / name, tmp_path / "int8")
    [record] = run_json("entities", "-m", tmp_path / "int8", *LABELS, "--nested", TEXT)
    assert record["entities"]


def test_redaction():
    assert run("entities", "-m", MODEL, "--labels", "person=1, time=1", "--redact", TEXT)[0].strip() == TEXT
    hidden = run("entities", "-m", MODEL, *LABELS, "--redact", TEXT)[0]
    assert f"[{EXPECTED['flat'][0][0][2]}]" in hidden
    lines = run("filter", "--task", "entities", "-m", MODEL, *LABELS, input=json.dumps({"text": TEXT}).encode())[0]
    assert json.loads(lines)["bertqa"]["entities"]


def test_refused():
    assert "labels" in run("entities", "-m", MODEL, TEXT, code=2)[1]
    assert "nested" in run("entities", "-m", FIXTURES / "tiny-bert-entities", "--nested", TEXT, code=2)[1]
    assert "GLiNER" in run("info", "-m", MODEL)[0]
    assert "time" in run("entities", "-m", MODEL, "--labels", "time=1984", TEXT, code=2)[1]
