"""bertqa entities and filter with a tiny GLiNER model: any labels, and their redaction."""

import json

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


def test_redaction():
    hidden = run("entities", "-m", MODEL, *LABELS, "--redact", TEXT)[0]
    assert f"[{EXPECTED['flat'][0][0][2]}]" in hidden
    lines = run("filter", "--task", "entities", "-m", MODEL, *LABELS, input=json.dumps({"text": TEXT}).encode())[0]
    assert json.loads(lines)["bertqa"]["entities"]


def test_refused():
    assert "labels" in run("entities", "-m", MODEL, TEXT, code=2)[1]
    assert "nested" in run("entities", "-m", FIXTURES / "tiny-bert-entities", "--nested", TEXT, code=2)[1]
    assert "GLiNER" in run("info", "-m", MODEL)[0]
    assert "GLiNER" in run("quantize", MODEL, "/nonexistent/out", code=3)[1]
