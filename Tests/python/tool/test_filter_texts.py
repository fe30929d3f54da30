"""The texts of `bertqa filter`: columns by name, numbers, null, invalid bytes; and redaction in place."""

import csv
import io
import json

import pytest

from filtering import TOKENS, compact, run, summary

REDACT = ["filter", "--task=entities", "--patterns=all", "--redact"]
MAIL = "write to a@example.org"


def table_of(rows, **options):
    table = io.StringIO()
    csv.writer(table, lineterminator="\n", **options).writerows(rows)
    return table.getvalue().encode()


# Columns


@pytest.mark.parametrize("name", ["No.", "e.g.", "a..b", "/a", "/~", "a.b.0", "", ".", "Größe"])
def test_names_of_columns_need_not_be_paths(name):
    table = table_of([["x", name, "y"], ["1", "a b", "2"]])
    output, _ = run(*TOKENS, "--format=csv", "--text-field", name, "--id-field", name, input=table)
    assert output == table_of([["x", name, "y", "bertqa_ids", "bertqa_error"], ["1", "a b", "2", "1037 1038", ""]])
    output, _ = run(*TOKENS, "--format=csv", "--text-field", name, "--output-field=No.", input=table)
    assert b",No._ids,No._error\n" in output
    if name in ("No.", "a..b", "/~"):
        assert "takes a name, a path" in run(*TOKENS, "--text-field", name, code=2)[1][0]


def test_two_columns_of_one_name():
    table = b"a,text,b,text\n1,a,2,b\n"
    for options in ([], ["--id-field=text", "--text-field=a"]):
        output, [error] = run(*TOKENS, "--format=csv", *options, input=table, code=3)
        assert output == b""
        assert error == "bertqa: standard input: columns 2 and 4 are both called 'text': rename one"
    # No option names these columns, so they pass through.
    output, _ = run(*TOKENS, "--format=csv", input=b"a,text,a,,\n1,b,2,,\n")
    assert output == b"a,text,a,,,bertqa_ids,bertqa_error\n1,b,2,,,1038,\n"


# Numbers


@pytest.mark.parametrize("value", [b"1.50", b"-0", b"1e3", b"true", b"false", b"123456789012345678901234567890"])
def test_coerce(value):
    record = b'{"text": %s}\n' % value
    spelled = run(*TOKENS, input=b'{"text": "%s"}\n' % value)[0]
    assert run(*TOKENS, "--coerce", input=record)[0] == spelled.replace(b'"%s"' % value, value)
    kind = "a number" if value[:1] in b"-01" else "true or false"
    assert run(*TOKENS, input=record, code=1)[1] == [f"bertqa: line 1: the field 'text' is {kind}, not a string"]


@pytest.mark.parametrize("value, kind", [(b"[1]", "an array"), (b"{}", "an object"), (b"null", "null")])
def test_what_is_no_text_all_the_same(value, kind):
    errors = run(*TOKENS, "--coerce", input=b'{"text": %s}\n' % value, code=1)[1]
    assert errors == [f"bertqa: line 1: the field 'text' is {kind}, not a string"]


def test_coerced_questions():
    record = b'{"text": "It is 42.", "question": 42}\n'
    [found] = map(json.loads, run("filter", "--coerce", input=record)[0].splitlines())
    assert found["bertqa"]["question"] == "42" and found["question"] == 42


# Null


def test_null_as_no_text(tmp_path):
    records = b'{"text":null}\n{"text":"a"}\n{"text": null, "bertqa": null, "bertqa_error": "x"}\n'
    stats, metrics = tmp_path / "stats", tmp_path / "metrics"
    options = ["--null-text=skip", "--stats", stats, "--metrics", metrics]
    output, errors = run(*TOKENS, *options, input=records)
    assert output == (
        b'{"text":null,"bertqa":null}\n{"text":"a","bertqa":[1037]}\n'
        b'{"text": null, "bertqa": null, "bertqa_error": null}\n'
    )
    assert errors == []
    numbers = summary(stats)
    assert (numbers["records"], numbers["succeeded"], numbers["without_text"]) == (3, 3, 2)
    assert "bertqa_filter_records_without_text_total{" in metrics.read_text()
    assert run(*TOKENS, "--null-text=empty", input=b'{"text":null}\n')[0] == b'{"text":null,"bertqa":[]}\n'
    for options in ([], ["--null-text=fail"]):
        [error] = run(*TOKENS, *options, input=b'{"text":null}\n', code=1)[1]
        assert error == "bertqa: line 1: the field 'text' is null, not a string"
    # A missing text is always a failure, and so is an invalid record.
    for record in (b"{}", b'{"text":[null]}', b'{"text":null'):
        run(*TOKENS, "--null-text=skip", input=record, code=1)


def test_null_in_one_of_several_fields():
    records = (
        b'{"text":"a","question":null}\n{"text":null,"question":"b"}\n{"text":null}\n{"text":"a","question":"b"}\n'
    )
    output, errors = run("filter", "--null-text=skip", input=records, code=1)
    results = [json.loads(line)["bertqa"] for line in output.splitlines()]
    assert results[:3] == [None] * 3 and results[3] is not None
    assert errors == ["bertqa: line 3: there is no field 'question'; --question QUESTION asks every record"]
    [error] = run("filter", "--question-field", "question", input=b'{"text":"a"}\n', code=1)[1]
    assert error == "bertqa: line 1: there is no field 'question'"
    [error] = run("filter", "--format=csv", input=b"text\na\n", code=3)[1]
    assert error.endswith(
        "no column 'question'; its first line names 'text'; --question QUESTION asks every record"
    )


def test_empty_cells():
    table = b'id,text\n1,\n2,""\n3,a\n'
    expected = b'id,text,bertqa_ids,bertqa_error\n1,,,\n2,"",,\n3,a,1037,\n'
    assert run(*TOKENS, "--format=csv", "--null-text=skip", input=table) == (expected, [])
    answers = ["filter", "-q", "What?", "--format=csv"]
    assert b"\n1,,,,,,,,\n" in run(*answers, "--null-text=skip", input=table)[0]
    assert b"\n1,,,,,,,true,\n" in run(*answers, input=table)[0]


# Invalid bytes


def test_invalid_bytes_of_a_record_above_the_limit(tmp_path):
    """The record is written in parts, between which an escape of such a byte may be divided."""
    record = b'{"text":"%s"}\n' % (b"\x81" * 1_000_000)
    letters = tmp_path / "letters"
    options = [*TOKENS, "--encoding=WINDOWS-1252", "--max-record-bytes=1000", "--on-error=pass"]
    output, _ = run(*options, f"--on-error=dead-letter={letters}", input=record, code=1)
    assert output == record and letters.read_bytes() == record


def test_invalid_bytes_of_files_in_several_encodings(tmp_path):
    """Only those of a file that is converted are escaped meanwhile; UTF-8 may have the same bytes as an escape."""
    plain, wide, odd = (tmp_path / name for name in ("plain", "wide", "odd"))
    plain.write_bytes(b'{"text":"a b"}\n')
    wide.write_bytes('\ufeff{"text":"\udc81"}\n'.encode("utf-16-le", "surrogatepass"))
    odd.write_bytes(b'{"text":"a b","x":"\xed\xb2\x81"}\n{"x":"\xed\xb2\x81"}\n')
    letters = tmp_path / "letters"
    options = [*TOKENS, "--on-error=pass", f"--on-error=dead-letter={letters}"]
    output, errors = run(*options, plain, wide, odd, code=1)
    bad = b'{"text":"\x81\xdc"}\n', b'{"x":"\xed\xb2\x81"}\n'
    done = b'{"text":"a b","bertqa":[1037,1038]}\n', b'{"text":"a b","x":"\xed\xb2\x81","bertqa":[1037,1038]}\n'
    assert output == done[0] + bad[0] + done[1] + bad[1]
    assert letters.read_bytes() == bad[0] + bad[1] and len(errors) == 2


# In place


def test_redaction_in_place():
    record = compact({"id": 7, "note": MAIL, "x": 1})
    output, _ = run(*REDACT, "--in-place", "--text-field=note", input=record + b"\n")
    assert output == b'{"id":7,"note":"write to [EMAIL]","x":1}\n'
    record = compact({"note": MAIL, "note_error": "pump E42"})
    output, _ = run(*REDACT, "--in-place", "--text-field=note", input=record)
    assert output == b'{"note":"write to [EMAIL]","note_error":"pump E42"}\n'
    rows = [["id", "note", "x"], ["1", MAIL, "y"], ["2", f'"{MAIL}",\nagain', "z"], ["3", "", ""]]
    expected = [[*row, ""] for row in rows]
    expected[0][-1] = "bertqa_error"
    expected[1][1], expected[2][1] = "write to [EMAIL]", '"write to [EMAIL]",\nagain'
    for options in ({}, {"quoting": csv.QUOTE_ALL}):
        output, _ = run(
            *REDACT, "--in-place", "--format=csv", "--text-field=note", input=table_of(rows, **options)
        )
        assert list(csv.reader(io.StringIO(output.decode(), newline=""))) == expected
    output, _ = run(*REDACT, "--in-place", "--format=tsv", input=b"x\ttext\n1\t10.0.0.1 is up\n")
    assert output == b"x\ttext\tbertqa_error\n1\t[IP] is up\t\n"
    # The text as the last column, and as the only one.
    assert (
        run(*REDACT, "--in-place", "--format=csv", input=b"text\n10.0.0.1\n")[0] == b"text,bertqa_error\n[IP],\n"
    )


@pytest.mark.parametrize("policy", ["null", "drop"])
def test_a_text_that_was_not_redacted_does_not_come_out(policy):
    """Whatever else is wrong with its record."""
    options = [*REDACT, "--in-place", f"--on-error={policy}", "--max-document-bytes=100", "--max-record-bytes=300"]
    secret = b"write to a@example.org"
    good = b'{"text":"a"}\n'
    bad = [
        secret,
        b'{"text":"%s"' % secret,
        b'{"text":["%s"]}' % secret,
        b'{"text":"%s%s"}' % (secret, b"x" * 100),
        b'{"text":"%s%s"}' % (secret, b"x" * 400),
        b'{"text":"%s"} %s' % (secret, secret),
        b'["%s"]' % secret,
        b'{"text":"%s","x":1,"text":"b"}' % secret,
    ]
    output, errors = run(*options, input=b"\n".join(bad) + b"\n" + good, code=1)
    assert len(errors) == len(bad) and not any(secret.decode() in error for error in errors)
    assert b"example" not in output and output.endswith(good)
    # What is known not to be the text stays.
    assert (b'{"text":null,"x":1,"text":null,"text_error":' in output) == (policy == "null")
    # --output-field does the same.
    output, _ = run(*REDACT, "--output-field=text", "--quiet", *options[5:], input=b"\n".join(bad) + b"\n", code=1)
    assert b"example" not in output
    rows = [
        b"1,%s,3,4\n" % secret,
        b"%s\n" % secret,
        b"1,%s\n" % (secret + b"x" * 100),
        b"1,%s\n" % (secret + b"x" * 400),
        b'1,"%s' % secret,
    ]
    output, errors = run(*options, "--format=csv", input=b"id,text\n2,b\n" + b"".join(rows), code=1)
    assert len(errors) == len(rows) and b"example" not in output
    lines = list(csv.reader(io.StringIO(output.decode())))
    assert lines[:2] == [["id", "text", "bertqa_error"], ["2", "b", ""]]
    if policy == "null":
        assert [len(line) for line in lines] == [3] * 7 and all(line[2] for line in lines[2:])
        # If a text is too long, the rest of the row is still known.
        assert lines[4][:2] == ["1", ""]
    else:
        assert len(lines) == 2


def test_what_in_place_goes_with():
    assert "--in-place needs --redact" in run(*REDACT[:-1], "--in-place", code=2)[1][0]
    assert "cannot be used with --task answer" in run("filter", "--in-place", code=2)[1][0]
    errors = run(*REDACT, "--in-place", "--output-field=x", code=2)[1]
    assert "--output-field cannot be used with --in-place" in errors[0]
    output, _ = run(*REDACT, "--in-place", "--output-field=x", "--format=csv", input=b"text\na\n")
    assert output == b"text,x_error\na,\n"
