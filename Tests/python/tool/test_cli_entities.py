"""bertqa entities, and bertqa filter --task entities."""

import csv
import io
import json

import pytest

import bertqa
from cli import run, run_json
from conftest import FIXTURES
from filtering import run as run_filter

MODEL = FIXTURES / "tiny-bert-entities"
TEXT = "In Paris, King Rivière of France made a film about the river."
MAIL = "Write to jörg@example.org or +49 30 901820."
REDACTED = "Write to [EMAIL] or [PHONE]."


@pytest.fixture(scope="module")
def tagger():
    with bertqa.Context(MODEL) as context:
        yield context


def test_lines(tagger):
    lines, errors = run("entities", "--model", MODEL, TEXT)
    expected = [
        f"{e.text}\t{e.label}\t{e.score:.4f}\t{e.byte_range[0]}\t{e.byte_range[1]}" for e in tagger.entities(TEXT)
    ]
    assert lines.splitlines() == expected and errors == ""


def test_json(tagger):
    [result] = run_json("entities", "--model", MODEL, "--aggregation=none", TEXT)
    assert result["file"] is None and result["window_count"] == 1
    for entity, own in zip(result["entities"], tagger.entities(TEXT, aggregation="none"), strict=True):
        assert (entity["label"], entity["text"]) == (own.label, own.text)
        assert entity["bytes"] == list(own.byte_range) and entity["utf16"] == list(own.utf16_range)
        assert entity["code_points"] == [own.start, own.end] and abs(entity["score"] - own.score) < 1e-6


def test_options(tagger):
    def found(*arguments):
        [result] = run_json("entities", "--model", MODEL, *arguments, TEXT)
        return [(entity["label"], entity["text"]) for entity in result["entities"]]

    every = found()
    assert {label for label, _ in every} > {"PER"}
    assert found("--labels", "PER") == [pair for pair in every if pair[0] == "PER"]
    assert found("--labels", "LOC,MISC-A", "--labels=PER") == every
    threshold = sorted(entity.score for entity in tagger.entities(TEXT))[1]
    assert len(found(f"--threshold={threshold}")) == len(every) - 1
    assert found("--max-seq-len=10", "--doc-stride=4") != every
    for wrong in [
        "--labels=CITY",
        "--threshold=2",
        "--aggregation=mean",
        "--max-seq-len=7",
        "--labels=",
        "--patterns=x",
        "--regions=DE,",
        "--regions=Denmark",
    ]:
        run("entities", "--model", MODEL, wrong, TEXT, code=2)


def test_patterns_need_no_model(tmp_path):
    text, errors = run("entities", "--patterns", "all", MAIL)
    assert [line.split("\t")[:2] for line in text.splitlines()] == [
        ["jörg@example.org", "EMAIL"],
        ["+49 30 901820", "PHONE"],
    ]
    assert errors == ""
    [result] = run_json("entities", "--patterns=phone,url", MAIL)
    assert [entity["label"] for entity in result["entities"]] == ["PHONE"] and result["window_count"] == 0
    run("entities", "--patterns=card", MAIL, code=1)
    twice = "Tel. 80991098\nagain 80991098"
    assert run("entities", "--patterns=all", "--redact", twice)[0] == "Tel. [PHONE]\nagain 80991098\n"
    assert (
        run("entities", "--patterns=all", "--everywhere", "--redact", twice)[0] == "Tel. [PHONE]\nagain [PHONE]\n"
    )
    run("entities", "--patterns=all", "80991098", code=1)
    assert run("entities", "--patterns=all,us", "--redact", "143-69-1724")[0] == "[US_SSN]\n"
    assert run("entities", "--patterns=all", "--regions=de,DK", "80991098")[0].startswith("80991098\tPHONE")
    assert run("entities", "--regions=DK", "--redact", "80991098 a@b.de")[0] == "[PHONE] a@b.de\n"
    both = run_json("entities", "--patterns=email", "--model", MODEL, MAIL)[0]["entities"]
    assert len(both) > 1 and [e["text"] for e in both if e["label"] == "EMAIL"] == ["jörg@example.org"]
    assert [entity["bytes"][0] for entity in both] == sorted(entity["bytes"][0] for entity in both)


def test_redaction(tmp_path):
    assert run("entities", "--patterns=all", "--redact", MAIL) == (REDACTED + "\n", "")
    assert run("entities", "--patterns=all", "--redact=*", MAIL)[0] == "Write to * or *.\n"
    assert run("entities", "--patterns=all", "--redact=", MAIL)[0] == "Write to  or .\n"
    # A file's text is printed as it is, line ends included.
    path = tmp_path / "mail.txt"
    path.write_bytes(b"a\r\n\t" + MAIL.encode() + b"\xff\n\n")
    lines, _ = run_filter("entities", "--patterns=all", "--redact", "--force", "--file", path)
    assert lines == b"a\r\n\t" + REDACTED.encode() + b"\xff\n\n"
    # Names may hide in what cannot be read.
    output, errors = run("entities", "--patterns=all", "--redact", "--file", path, code=3)
    assert output == "" and f"{path}: not valid UTF-8" in errors and "--encoding" in errors
    encoded = tmp_path / "a.eml"
    for field in "Subject: =?utf-8?Q?a=40b.de?=", "Content-Transfer-Encoding: BASE64", "Subject: a =?b.de?= c":
        encoded.write_text(f"From: {MAIL}\nMIME-Version: 1.0\n{field}\n\nYUBiLmRl\n")
        is_plain = "=?b.de?=" in field
        output, errors = run(
            "entities", "--patterns=all", "--redact", "--file", encoded, code=0 if is_plain else 3
        )
        assert ("is mail with encoded text" in errors) == (not is_plain) == (output == "")
        assert "[EMAIL]" in run("entities", "--patterns=all", "--redact", "--force", "--file", encoded)[0]
    assert run("entities", "--patterns=all", "--redact", "nothing") == ("nothing\n", "")
    [result] = run_json("entities", "--patterns=all", "--redact", MAIL)
    assert result["redacted"] == REDACTED and len(result["entities"]) == 2


def records(*texts):
    return b"".join(json.dumps({"n": n, "text": text}).encode() + b"\n" for n, text in enumerate(texts))


def test_filter(tagger):
    output, _ = run_filter("filter", "--task=entities", "--model", MODEL, input=records(TEXT, "", MAIL))
    for line, text in zip(output.splitlines(), [TEXT, "", MAIL], strict=True):
        record = json.loads(line)
        assert [(e["label"], *e["code_points"]) for e in record["bertqa"]["entities"]] == [
            (e.label, e.start, e.end) for e in tagger.entities(text)
        ]
        assert record["text"] == text


def test_filter_redacts():
    options = ["filter", "--task=entities", "--patterns=all"]
    output, _ = run_filter(*options, "--redact", "--output-field=text", input=records(MAIL, "a\nb"))
    assert [json.loads(line) for line in output.splitlines()] == [
        {"n": 0, "text": REDACTED},
        {"n": 1, "text": "a\nb"},
    ]
    output, _ = run_filter(*options, "--redact=…", input=records(MAIL))
    assert json.loads(output)["bertqa"] == "Write to … or …."
    table = io.StringIO()
    csv.writer(table).writerows([["id", "text"], ["1", f'"{MAIL}"'], ["2", "a"]])
    output, _ = run_filter(*options, "--format=csv", "--redact", input=table.getvalue().encode())
    rows = list(csv.DictReader(io.StringIO(output.decode())))
    assert [row["bertqa_redacted"] for row in rows] == [f'"{REDACTED}"', "a"]
    output, _ = run_filter(*options, "--format=csv", input=table.getvalue().encode())
    found = json.loads(list(csv.DictReader(io.StringIO(output.decode())))[0]["bertqa_entities"])
    assert [(e["label"], e["text"], e["start"]) for e in found] == [
        ("EMAIL", "jörg@example.org", 10),
        ("PHONE", "+49 30 901820", 30),
    ]


def test_a_record_that_fails_does_not_keep_its_text():
    options = ["filter", "--task=entities", "--patterns=all", "--redact", "--output-field=text"]
    output, errors = run_filter(*options, "--max-document-bytes=50", input=records(MAIL * 2, "a"), code=1)
    first, second = [json.loads(line) for line in output.splitlines()]
    assert first["text"] is None and "example" not in output.decode() and second["text"] == "a"
    assert len(errors) == 1 and "example" not in errors[0]


def test_filter_resumes_without_a_model(tmp_path):
    source, target, checkpoint = (tmp_path / name for name in ("in.jsonl", "out.jsonl", "checkpoint"))
    options = ["filter", "--task=entities", "--patterns=email", source, "-o", target, "--resume", checkpoint]
    source.write_bytes(records(MAIL))
    run_filter(*options)
    source.write_bytes(records(MAIL, "x@y.org"))
    run_filter(*options)
    assert [len(json.loads(line)["bertqa"]["entities"]) for line in target.read_bytes().splitlines()] == [1, 1]
    run_filter(*options[:2], "--patterns=ip", *options[3:], code=3)


def test_filter_refuses_what_does_not_go_together():
    for wrong, message in [
        (["--task=classify", "--patterns=all"], "--patterns cannot be used with --task classify"),
        (["--redact"], "--redact cannot be used with --task answer"),
        (["--task=entities", "--question=x"], "--question cannot be used with --task entities"),
    ]:
        assert run_filter("filter", *wrong, code=2)[1] == [f"bertqa: {message}; try 'bertqa filter --help'"]
    [error] = run_filter("filter", "--task=entities", "--model", FIXTURES / "tiny-bert", code=3)[1]
    assert "BertForQuestionAnswering, which cannot find entities" in error
