"""bertqa classify."""

import csv
import io
import json
import re

import pytest

import bertqa
from cli import run, run_json
from conftest import FIXTURES, SAMPLE
from samples import entailment_model

NEWS = [json.loads(line) for line in (SAMPLE / "news.jsonl").read_text(encoding="utf-8").splitlines()]
SPORT = next(item["text"] for item in NEWS if item["label"] == "sport")


def by_file(paths):
    return [argument for path in paths for argument in ("--file", path)]


def test_label_and_probability():
    text, errors = run("classify", input=SPORT.encode())
    label, probability = text.rstrip("\n").split("\t")
    assert label == "sport" and re.fullmatch(r"[01]\.\d{4}", probability) and errors == ""


def test_operands_are_the_text(tmp_path):
    expected = run("classify", input=SPORT.encode())
    assert (
        run("classify", SPORT)
        == expected
        == run("classify", *SPORT.split(" "))
        == run("classify", "-", input=SPORT.encode())
    )
    [record] = run_json("classify", SPORT)
    assert record["file"] is None and record["labels"][0]["label"] == "sport"
    # Not silently something else than what was meant.
    (tmp_path / "sport.txt").write_text(SPORT)
    output, errors = run("classify", "sport.txt", cwd=tmp_path, code=1)
    assert output == "" and "--file sport.txt reads the file" in errors


def test_all_labels_of_several_files(tmp_path):
    paths = [tmp_path / f"{n}.txt" for n in range(3)]
    for path, item in zip(paths, NEWS):
        path.write_text(item["text"])
    records = run_json("classify", "--contributions=3", *by_file(paths))
    assert [record["file"] for record in records] == list(map(str, paths))
    for record, item in zip(records, NEWS[:3], strict=True):
        assert set(record) == {
            "file", "labels", "problem_type", "is_too_short", "is_none", "distinct_word_count", "window_count",
            "contributions",
        }  # fmt: skip
        assert len(record["labels"]) == 5 and record["labels"][0]["label"] == item["label"]
        assert sum(score["probability"] for score in record["labels"]) == pytest.approx(1)
        assert record["problem_type"] == "single_label_classification" and record["is_too_short"] is False
        for word in record["contributions"]:
            assert item["text"].encode()[slice(*word["bytes"])].decode() == word["text"]
    lines = run("classify", "-k", "2", "--contributions=1", *by_file(paths))[0].splitlines()
    assert [line.split("\t")[0] for line in lines] == [str(path) for path in paths for _ in range(3)]
    weight, word, start, end = lines[2].split("\t")[1:]
    first = records[0]["contributions"][0]
    assert [word, int(start), int(end)] == [first["text"], *first["bytes"]]
    assert float(weight) == pytest.approx(first["weight"], abs=1e-4) and weight[0] in "+-"
    assert [len(record["labels"]) for record in run_json("classify", "-k", "2", *by_file(paths))] == [2, 2, 2]


def test_not_enough_text(tmp_path):
    text, errors = run("classify", input=b"a goal", code=1)
    assert text == "" and errors == "bertqa: -: too short to classify: 1 distinct word(s)\n"
    [record] = run_json("classify", input=b"", code=1)
    assert record["labels"] == [] and record["is_too_short"] is True and record["distinct_word_count"] == 0
    (tmp_path / "sport.txt").write_text(SPORT)
    text, errors = run("classify", "-f", "-", "--file", tmp_path / "sport.txt", input=b"\xff\x00\xfe")
    assert "sport" in text and "too short to classify" in errors


def test_min_probability(tmp_path):
    [record] = run_json("classify", SPORT)
    best = record["labels"][0]
    assert best["label"] == "sport" and record["is_none"] is False
    [sure] = run_json("classify", f"--min-probability={best['probability'] - 0.01}", SPORT)
    assert sure == record
    [none] = run_json("classify", "--min-probability=1", SPORT, code=1)
    assert none == {**record, "is_none": True}
    text, errors = run("classify", "--min-probability=1", SPORT, code=1)
    assert text == f"none\t{best['probability']:.4f}\n" and errors == ""
    # One of two texts has a label.
    (tmp_path / "sport.txt").write_text(SPORT)
    text = run(
        "classify",
        "--min-probability=0.6",
        "-f",
        tmp_path / "sport.txt",
        "-f",
        "-",
        input=b"Fold the paper twice then once more",
    )[0]
    assert [line.split("\t")[1] for line in text.splitlines()] == ["sport", "none"]
    rows = [json.dumps({"text": text}) for text in (SPORT, "Fold the paper twice then once more")]
    arguments = ["filter", "--task=classify", "--min-probability=0.6"]
    output = run(*arguments, input="\n".join(rows).encode())[0]
    found = [json.loads(line)["bertqa"] for line in output.splitlines()]
    assert [item["is_none"] for item in found] == [False, True] and len(found[1]["labels"]) == 5
    table = io.StringIO(
        run(*arguments, "--format=csv", input=f'text\n"{SPORT}"\nFold the paper twice then once more\n'.encode())[
            0
        ]
    )
    [sport, none] = csv.DictReader(table)
    assert (
        sport["bertqa_label"] == "sport"
        and none["bertqa_label"] == ""
        and 0.2 <= float(none["bertqa_probability"]) < 0.6
    )


def test_classify_with_bert(tmp_path):
    [record] = run_json("classify", "-m", FIXTURES / "tiny-bert-classifier", "--max-seq-len=16", "--doc-stride=4",
                        "--window-pooling=max", input=SPORT.encode())  # fmt: skip
    assert record["window_count"] > 1 and record["distinct_word_count"] == 0 and record["contributions"] == []


def test_classify_refuses(tmp_path):
    for arguments, message, code in [
        (["-k", "0"], "--top-k is 0", 2), (["--contributions=-1"], "--contributions is -1", 2),
        (["--min-probability=2"], "--min-probability is 2", 2), (["--min-probability=x"], "--min-probability takes", 2),
        (["--contributions=x"], "--contributions takes a whole number", 2), (["--window-pooling=sum"], "mean, max", 2),
        (["-m", FIXTURES / "tiny-bert"], "cannot classify", 3), (["-m", tmp_path / "none"], "none", 3),
        (["-f", tmp_path / "none.txt"], "cannot read", 3),
    ]:  # fmt: skip
        assert message in run("classify", *arguments, code=code, input=b"some words here")[1]


def test_labels_of_the_callers_choice(tmp_path):
    model = entailment_model(tmp_path / "model")
    text, labels = "the quick brown fox", ["dog", "king of france", "fox"]
    arguments = ["-m", model, "--labels", "dog, king of france", "--labels=fox", "--multi-label"]
    arguments += ["--hypothesis-template", "the {} jumps"]
    [found] = run_json("classify", *arguments, text)
    with bertqa.Context(model) as context:
        wanted = context.classify(text, labels=labels, multi_label=True, hypothesis_template="the {} jumps")
    assert [(label["label"], label["id"]) for label in found["labels"]] == [
        (score.label, score.id) for score in wanted.scores
    ]
    output, _ = run("filter", "--task", "classify", *arguments, input=json.dumps({"text": text}).encode())
    assert json.loads(output)["bertqa"]["labels"] == found["labels"]
    assert "counts words" in run("classify", "--labels", "a,b", text, code=None)[1]
    assert "separated by commas" in run("classify", "--labels", ",", text, code=2)[1]
