"""--rules, --allow, --deny and --report of `bertqa entities` and the filter, and why an entity was found."""

import csv
import io
import json

import pytest

import bertqa
from cli import run, run_json
from filtering import PATTERNS_OF_ALL, compact
from filtering import run as run_filter

RULES = {
    "rules": [
        {"name": "STAFF", "expression": r"\bE-\d{6}\b"},
        {
            "name": "LOYALTY",
            "expression": r"\b\d{11}\b",
            "checksum": "luhn",
            "context": ["loyalty", "Karte (alt)"],
        },
    ]
}
TEXT = "É: E-123456, loyalty card 79927398713. Tel. 030 901820, a@b.de"


@pytest.fixture
def written(tmp_path):
    """Writes a file of the directory and returns its path."""

    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


@pytest.fixture
def rules(written):
    return written("rules.json", json.dumps(RULES))


def found(*options, text=TEXT, **more):
    [record] = run_json("entities", *options, text, **more)
    return [
        (e["text"], e["label"], e["score"], e.get("rule"), e.get("checksum"), e.get("context"))
        for e in record["entities"]
    ]


OWN = [
    ("E-123456", "STAFF", 1, "STAFF", None, None),
    ("79927398713", "LOYALTY", 1, "LOYALTY", "luhn", "loyalty"),
]
KINDS = [("030 901820", "PHONE", 1, "phone", None, "Tel"), ("a@b.de", "EMAIL", 1, "email", None, None)]


def test_rules_alone_and_with_patterns(rules):
    assert found("--rules", rules) == OWN
    assert found("--rules", rules, "--patterns=phone,email") == OWN + KINDS
    output = run("entities", "--rules", rules, "--patterns=phone", "--redact", TEXT)[0]
    assert output == "É: [STAFF], loyalty card [LOYALTY]. Tel. [PHONE], a@b.de\n"
    # Places in all units, behind a character of two bytes.
    [record] = run_json("entities", "--rules", rules, TEXT)
    assert record["entities"][0]["bytes"] == [4, 12] and record["entities"][0]["code_points"] == [3, 11]


@pytest.mark.parametrize(
    "text, count",
    [
        ("loyalty 79927398713", 1),
        ("LOYALTY: 79927398713", 1),
        ("Karte (alt) 79927398713", 1),
        ("Karte alt 79927398713", 0),
        ("loyaltys 79927398713", 0),
        ("disloyalty 79927398713", 0),
        ("loyalty 79927398710", 0),  # a wrong check digit
        ("loyalty\n79927398713", 0),  # another line
        ("loyalty" + " é" * 28 + " 79927398713", 1),
        ("loyalty" + " é" * 33 + " 79927398713", 0),
        ("79927398713 loyalty", 0),
        ("loyalty loyalty79927398713", 0),
        ("_loyalty_79927398713 and loyalty_79927398713", 0),
    ],
)
def test_check_and_words(rules, text, count):
    """The Python package's rules find the same."""
    assert len(found("--rules", rules, text=text, code=None)) == count
    assert len(bertqa.Rules.load(rules).entities(text)) == count


def test_lines_and_fields_say_why(rules):
    lines = run("entities", "--rules", rules, "--patterns=card,phone", "212-555-1234 " + TEXT)[0].splitlines()
    assert [line.split("\t")[1:3] + line.split("\t")[5:] for line in lines] == [
        ["PHONE", "0.5000", "phone", "", ""],
        ["STAFF", "1.0000", "STAFF", "", ""],
        ["LOYALTY", "1.0000", "LOYALTY", "luhn", "loyalty"],
        ["PHONE", "1.0000", "phone", "", "Tel"],
    ]
    fields = ["--fields=label,score,rule,checksum,context"]
    output, _ = run_filter("filter", "--task=entities", "--rules", rules, *fields, input=compact({"text": TEXT}))
    assert json.loads(output)["bertqa"] == [
        {"label": label, "score": score, "rule": rule, "checksum": check, "context": context}
        for _, label, score, rule, check, context in OWN
    ]
    output, _ = run_filter(*PATTERNS_OF_ALL, input=compact({"text": TEXT}))
    assert [entity["rule"] for entity in json.loads(output)["bertqa"]["entities"]] == ["phone", "email"]
    # A model's entities have no rule.
    [record] = run_json("entities", "Ann Smith lives in Oslo.")
    assert record["entities"] and all("rule" not in entity for entity in record["entities"])


def test_threshold_leaves_out_what_is_doubtful():
    text = "212-555-1234, tel 212-555-1235, 943 476 5919"
    patterns = "--patterns=phone,uk_nhs"
    assert [entity[0] for entity in found(patterns, text=text)] == ["212-555-1234", "212-555-1235", "943 476 5919"]
    assert [entity[2] for entity in found(patterns, text=text)] == pytest.approx([0.5, 1, 0.8])
    assert len(found(patterns, "--threshold=0.6", text=text)) == 2
    assert len(found(patterns, "--threshold=0.9", text=text)) == 1
    assert "0 to 1" in run("entities", patterns, "--threshold=2", text, code=2)[1]


def test_allow_and_deny(written):
    allow = written("allow", "Info@ACME.com\r\n\n  030/901820\n")
    deny = written("deny", "Blue Falcon\n")
    text = "info@acme.com, ann@acme.com, Tel. 030 901820, blue  FALCON's"
    options = ["--allow", allow, "--deny", deny]
    assert run("entities", "--patterns=all", *options, "--redact", text)[0] == (
        "info@acme.com, [EMAIL], Tel. 030 901820, [DENIED]'s\n"
    )
    # What is denied is found even if it is allowed; --deny alone needs no model.
    both = run("entities", "--allow", deny, "--deny", deny, "--redact", text)[0]
    assert both == text.replace("blue  FALCON", "[DENIED]") + "\n"
    assert found("--deny", deny, text=text) == [("blue  FALCON", "DENIED", 1, "deny", None, None)]
    output, _ = run_filter(*PATTERNS_OF_ALL, *options, "--redact", "--in-place", input=compact({"text": text}))
    assert json.loads(output)["text"] == "info@acme.com, [EMAIL], Tel. 030 901820, [DENIED]'s"
    # A name of the model, and everywhere.
    text = "Ann Smith met Bob Jones. ANN SMITH left."
    ann = written("ann", "ann smith\n")
    assert run("entities", "--labels=person", "--allow", ann, "--everywhere", "--redact", text)[0] == (
        "Ann Smith met [person]. ANN SMITH left.\n"
    )


def test_wrong_lists(written, tmp_path):
    for wrong in ["--\n", "a " * 17 + "\n", b"\xff\n"]:
        for option in ["--allow", "--deny"]:
            error = run("entities", "--patterns=all", option, written("list", wrong), "x", code=3)[1]
            assert "a a" not in error
    run("entities", "--patterns=all", "--deny", tmp_path / "none", "x", code=3)


@pytest.mark.parametrize(
    "rules, place, what",
    [
        ('{"rules": [\n {"name": "A", "expression": "a(b"}]}', (2, 34), "missing closing parenthesis"),
        # The column is that of the file, behind two escapes.
        ('{"rules": [{"name": "A", "expression": "\\\\d\\u0061[b"}]}', (1, 52), "missing terminating ]"),
        ('{"rules": [{"name": "A", "expression": "é("}]}', (1, 43), "missing closing parenthesis"),
        ('{"rules": [\n {"name": "A", "expression": "a",}]}', (2, 34), "expected a key in quotes"),
        ('{"rules": [{"name": "A", "expresion": "a"}]}', (1, 12), "expresion"),
        ('{"rules": [{"name": "A", "name": "B", "expression": "a"}]}', (1, 12), "twice"),
        ('{"rules": [{"expression": "a"}]}', (1, 12), "name"),
        ('{"rules": [{"name": "A", "expression": "a"},\n{"name": "A"}]}', (2, 1), "expression"),
        ('{"rules": [{"name": "[A]", "expression": "a"}]}', (1, 21), "name"),
        ('{"rules": [{"name": "A", "expression": 3}]}', (1, 40), "string"),
        ('{"rules": [{"name": "A", "expression": "a", "checksum": "luhm"}]}', (1, 57), '"checksum" is "luhm"'),
        ('{"rules": [{"name": "A", "expression": "a", "context": "b"}]}', (1, 56), "array of words"),
        ('{"rules": [{"name": "A", "expression": "a", "context": [""]}]}', (1, 56), "array of words"),
        ('{"rules": [{"name": "A", "expression": "a", "context": ["b", 1]}]}', (1, 56), "array of words"),
        ('{"rules": [3]}', (1, 12), "object"),
        ('{"rules": {}}', (1, 11), '"rules"'),
        ('{"rule": []}', (1, 1), '"rules"'),
        ('{"rules": [], "more": 1}', (1, 11), '"rules"'),
        ("", (1, 1), "object"),
    ],
)
def test_bad_rules_are_told_with_their_place(written, rules, place, what):
    path = written("rules.json", rules)
    error = run("entities", "--rules", path, "x", code=3)[1]
    assert "rules.json: line " in error and what in error, error
    assert f"line {place[0]}, column {place[1]}: " in error, error
    with pytest.raises(bertqa.InvalidArgument, match="rules.json"):
        bertqa.Rules.load(path)


def test_hostile_texts_fail_alone(written):
    rules = written("rules.json", json.dumps({"rules": [{"name": "A", "expression": "(a+)+$"}]}))
    records = (
        b"\n".join([compact({"text": "aa"}), compact({"text": "a" * 60 + "b"}), compact({"text": "a"})]) + b"\n"
    )
    options = ["filter", "--task=entities", "--rules", rules, "--redact", "--in-place"]
    output, errors = run_filter(*options, input=records, code=1)
    assert [json.loads(line)["text"] for line in output.splitlines()] == ["[A]", None, "[A]"]
    assert len(errors) == 1 and "rule A" in errors[0] and "limit" in errors[0]
    error = run("entities", "--rules", rules, "a" * 60 + "b", code=3)[1]
    assert "limit" in error and "aaa" not in error


def test_long_texts(written):
    """Matches on both sides of every internal border, of characters of several bytes, and an invalid byte."""
    rules = written("rules.json", json.dumps({"rules": [{"name": "N", "expression": r"№\d+|(?<=é)x\Kyz*|(?=q)"}]}))
    text = "".join(f"№{number} éxyz q " for number in range(20_000))
    assert run("entities", "--rules", rules, "--redact", input=text.encode())[0].rstrip("\n") == (
        "[N] éx[N] q " * 20_000
    )
    broken = b'{"text":"\xff\xe2 \xe2\x84\x961 \xff"}\n'
    output, _ = run_filter(
        "filter", "--task=entities", "--rules", rules, "--fields=label,byte_start", input=broken
    )
    assert json.loads(output.decode(errors="replace"))["bertqa"] == [{"label": "N", "byte_start": 3}]


def test_a_rerun_with_other_rules_is_refused(written, tmp_path, rules):
    source = written("in.jsonl", compact({"text": TEXT}) + b"\n")
    options = [
        "filter",
        "--task=entities",
        source,
        "-o",
        tmp_path / "out",
        "--resume",
        tmp_path / "cp",
        "--redact",
    ]
    run_filter(*options, "--rules", rules)
    run_filter(*options, "--rules", rules)
    other = written("other.json", json.dumps(RULES).replace("STAFF", "STUFF"))
    run_filter(*options, "--rules", other, code=3)
    run_filter(*options, "--rules", rules, "--deny", written("deny", "E-1\n"), code=3)


def test_report(written, tmp_path, rules):
    report = tmp_path / "report"

    def counts():
        return json.loads(report.read_text())

    run("entities", "--rules", rules, "--patterns=all", "--report", report, "--redact", TEXT)
    assert counts() == {"texts": 1, "entities": {"EMAIL": 1, "LOYALTY": 1, "PHONE": 1, "STAFF": 1}}
    rows = io.StringIO()
    csv.writer(rows).writerows([["text"], [TEXT], ["a@b.de a@b.de"], [""], ["nothing"]])
    source = written("in.csv", rows.getvalue())
    options = [*PATTERNS_OF_ALL, source, "-o", tmp_path / "out", "--resume", tmp_path / "cp", "--report", report]
    run_filter(*options, "--null-text=skip")
    assert counts() == {"texts": 3, "entities": {"EMAIL": 3, "PHONE": 1}}
    # A rerun counts on.
    with source.open("a") as file:
        file.write("c@d.de\n")
    run_filter(*options, "--null-text=skip")
    assert counts() == {"texts": 4, "entities": {"EMAIL": 4, "PHONE": 1}}
    # Failed records do not count.
    lines = compact({"text": "a@b.de"}) + b"\n" + compact({"text": 3}) + b"\n"
    run_filter(*PATTERNS_OF_ALL, "--report", report, input=lines, code=1)
    assert counts() == {"texts": 1, "entities": {"EMAIL": 1}}


def test_without_the_library(rules, tmp_path, monkeypatch):
    """The file with the library's name is not a library."""
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    (tmp_path / "libpcre2-8.so.0").touch()
    error = run("entities", "--rules", rules, TEXT, code=3)[1]
    assert "libpcre2-8.so.0" in error and "libpcre2-8-0" in error
    assert run("entities", "--patterns=email", "--redact", "a@b.de")[0] == "[EMAIL]\n"
