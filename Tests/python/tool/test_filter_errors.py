"""`bertqa filter` and invalid records: none is lost, and the counts add up."""

import json
import random
import re
import struct

import pytest

from filtering import TOKENS, compact, parse, run, summary, text_of

GOOD = b'{"id":1,"text":"a b"}'
# A record, the kind of its problem, and what is said about it.
BAD = [
    (b"nonsense", "invalid_record", "not a JSON object: expected an object at byte 0"),
    (b'"text"', "invalid_record", "expected an object at byte 0"),
    (b"[]", "invalid_record", "expected an object at byte 0"),
    (b'{"text":"a"', "invalid_record", "expected ',' or '}' at byte 11"),
    (b'{"text":"a"}}', "invalid_record", "expected the end of the record at byte 12"),
    (b'{"text":"a",}', "invalid_record", "expected a key in quotes at byte 12"),
    (b'{"text":"a" "b":1}', "invalid_record", "expected ',' or '}'"),
    (b'{"text":"a","b"}', "invalid_record", "expected ':'"),
    (b'{"text":"a","b":}', "invalid_record", "expected a value"),
    (b'{"text":"a","b":[1,]}', "invalid_record", "expected a value"),
    (b'{"text":"a","b":[,]}', "invalid_record", "expected a value"),
    (b'{"text":"a","b":[1}', "invalid_record", "expected ',' or ']'"),
    (b'{,"text":"a"}', "invalid_record", "expected a key in quotes"),
    (b'{"text":"a","b":01}', "invalid_record", "expected ',' or '}'"),
    (b'{"text":"a","b":1.}', "invalid_record", "malformed number"),
    (b'{"text":"a","b":-}', "invalid_record", "malformed number"),
    (b'{"text":"a","b":1e}', "invalid_record", "malformed number"),
    (b'{"text":"a","b":NaN}', "invalid_record", "expected a value"),
    (b'{"text":"a","b":tru}', "invalid_record", "expected a value"),
    (b'{"text":"a\0b"}', "invalid_record", "control character in a string"),
    (b'{"text":"a\tb"}', "invalid_record", "control character in a string"),
    (b'{"text":"a\0', "invalid_record", "control character in a string"),
    (b'{"text":"a', "invalid_record", "unterminated string"),
    (b'{"text":"\\', "invalid_record", "unknown escape"),
    (b'{"text":"\\x41"}', "invalid_record", "unknown escape"),
    (b'{"text":"\\u12g4"}', "invalid_record", "expected four hexadecimal digits"),
    (b'\xfe\xff\0{\0"', "invalid_record", "expected an object"),
    (b'{"text":"a"}\0', "invalid_record", "expected the end of the record"),
    (b'{"a":' + b"[" * 1001 + b"]" * 1001 + b"}", "invalid_record", "nested deeper than 1000 levels"),
    (b"{}", "missing_field", "there is no field 'text'"),
    (b'{"Text":"a","x":{"text":"b"}}', "missing_field", "there is no field 'text'"),
    (b'{"text":null}', "wrong_type", "the field 'text' is null, not a string"),
    (b'{"text":["a"]}', "wrong_type", "the field 'text' is an array, not a string"),
    (b'{"text":1.5e3}', "wrong_type", "the field 'text' is a number, not a string"),
    (b'{"text":"%s"}' % (b"x" * 3000), "document_too_large", "has 3000 bytes, but --max-document-bytes is 2000"),
    (b'{"text":"%s"}' % (b"x" * 9000), "record_too_large", "the record has more than 5000 bytes"),
    (b"x" * 200_000, "record_too_large", "the record has more than 5000 bytes"),
    (b" " * 6000, "record_too_large", "the record has more than 5000 bytes"),
]
LIMITS = ["--max-record-bytes=5000", "--max-document-bytes=2000"]


def stream(records):
    return b"".join(record + b"\n" for record in records)


@pytest.mark.parametrize("record, kind, complaint", BAD, ids=range(len(BAD)))
@pytest.mark.parametrize("policy", ["null", "pass", "drop", "dead-letter"])
def test_bad_records(record, kind, complaint, policy, tmp_path):
    letters, stats = tmp_path / "letters", tmp_path / "stats"
    name = f"dead-letter={letters}" if policy == "dead-letter" else policy
    output, errors = run(
        *TOKENS, *LIMITS, "--on-error", name, "--stats", stats, input=stream([GOOD, record, GOOD]), code=1
    )
    [error] = errors
    assert error.startswith("bertqa: line 2: ") and complaint in error
    lines = output.splitlines()
    assert lines[0] == lines[-1] == GOOD[:-1] + b',"bertqa":[1037,1038]}'
    numbers = summary(stats)
    assert numbers["failed_by_kind"][kind] == numbers["failed"] == 1 and numbers["succeeded"] == 2
    if policy == "null":
        result = parse(lines[1])
        assert result["bertqa"] is None and len(lines) == 3 == numbers["written"]
        if parse(record) is not None and kind != "record_too_large":
            end = record.rindex(b"}")
            comma = b"," if parse(record) else b""
            reason = b',"bertqa_error":' + json.dumps(error.removeprefix("bertqa: line 2: ")).encode()
            assert lines[1] == record[:end] + comma + b'"bertqa":null' + reason + record[end:]
            assert complaint in result["bertqa_error"]
        else:
            assert complaint in result["bertqa_error"]
            kept = record.decode(errors="surrogateescape") if kind != "record_too_large" else None
            assert result.get("bertqa_record") == kept
    elif policy == "pass":
        assert output == stream([lines[0], record, lines[0]]) and numbers["written"] == 3
    else:
        assert len(lines) == 2 == numbers["written"]
        if policy == "dead-letter":
            assert letters.read_bytes() == stream([record]) and numbers["dead_letters"] == 1


def test_fail_ends_the_run_behind_what_came_before(tmp_path):
    stats = tmp_path / "stats"
    output, errors = run(
        *TOKENS, "--on-error=fail", "--stats", stats, "--id-field", "id", code=3,
        input=stream([GOOD, GOOD, b'{"id":"x\\u0041","text":0}', GOOD, b"bad"]),
    )  # fmt: skip
    assert output == stream([GOOD[:-1] + b',"bertqa":[1037,1038]}'] * 2)
    assert errors == ["bertqa: line 3 (\"x\\u0041\"): the field 'text' is a number, not a string"]
    assert summary(stats)["ended_by"] == "error"


def test_dead_letters_besides_another_action(tmp_path):
    letters = tmp_path / "letters"
    letters.write_bytes(b"from before\n")
    records = [b"bad", GOOD, b'{"text":1}']
    for policy, count in [("null", 3), ("pass", 3), ("drop", 1)]:
        for options in (["--on-error", policy, "--on-error"], ["--on-error"]):
            last = [] if len(options) == 3 else ["--on-error", policy]
            output, _ = run(*TOKENS, *options, f"dead-letter={letters}", *last, input=stream(records), code=1)
            assert len(output.splitlines()) == count
    assert letters.read_bytes() == b"from before\n" + 6 * b'bad\n{"text":1}\n'
    output, _ = run(
        *TOKENS,
        "--on-error=fail",
        "--on-error",
        f"dead-letter={letters}",
        input=stream([GOOD, b"worse", GOOD]),
        code=3,
    )
    assert len(output.splitlines()) == 1 and letters.read_bytes().endswith(b"worse\n")


def test_messages_are_one_line_each():
    record = compact({"id": "a\nb\x1b[7m" + "x" * 500})
    output, errors = run(*TOKENS, "--id-field=id", input=stream([record, b"\x1b[7m\r\x0b"]), code=1)
    assert len(errors) == 2 and len(output.splitlines()) == 2
    assert not any(re.search("[\x00-\x1f]", error) for error in errors) and len(errors[0]) < 300


def test_texts_that_the_library_refuses(tmp_path):
    """A question that leaves no room for the document fails only its own record."""
    stats = tmp_path / "stats"
    long = compact({"question": "why " * 60, "text": "because"})
    short = compact({"question": "why", "text": "because"})
    options = ["--max-seq-len=40", "--doc-stride=10", "--max-question-len=64", "--stats", stats]
    output, [error] = run("filter", *options, input=stream([short, long, short] * 1), code=1)
    first, second, third = map(json.loads, output.splitlines())
    assert first == third and first["bertqa"]["answers"] and second["bertqa"] is None
    assert error.startswith("bertqa: line 2: ") and "doc_stride" in error
    assert summary(stats)["failed_by_kind"]["refused"] == 1


def mutated(generator, record):
    record = bytearray(record)
    for _ in range(generator.choice([0, 0, 1, 1, 2, 5])):
        position = generator.randrange(len(record) + 1)
        choice = generator.randrange(4)
        if choice == 0 and record:
            del record[position : position + generator.randrange(4)]
        elif choice == 1:
            record[position:position] = bytes([generator.choice(b'{}[]",:\\u0-1e.tfn \x00\x1f\x80\xff')])
        elif choice == 2 and position < len(record):
            record[position] = generator.randrange(256)
        else:
            record[position:position] = record[: generator.randrange(10)]
    return bytes(record).replace(b"\n", b" ")


def random_value(generator, depth=0):
    kind = generator.randrange(7 if depth < 4 else 5)
    if kind < 2:
        return "".join(generator.choices('ab \\"/\u00e9\u20ac🦊\ud800\udc00\0\x1f\x7f', k=generator.randrange(12)))
    if kind == 2:
        return generator.choice([0, -1, 1.5, 1e300, -0.0, 10**25])
    if kind < 5:
        return generator.choice([True, False, None])
    if kind == 5:
        return [random_value(generator, depth + 1) for _ in range(generator.randrange(4))]
    return {random_key(generator): random_value(generator, depth + 1) for _ in range(generator.randrange(4))}


def random_key(generator):
    return generator.choice(["text", "bertqa", "id", "a.b", "", "é", "🦊", "\ud800", '"', "\n"])


def random_record(generator):
    value = {random_key(generator): random_value(generator) for _ in range(generator.randrange(6))}
    if generator.random() < 0.8:
        value["text"] = random_value(generator, 9)
    text = json.dumps(
        value,
        ensure_ascii=generator.random() < 0.5,
        separators=generator.choice([(",", ":"), (", ", ": "), (" ,\t", " : ")]),
    )
    return text.encode("utf-8", "surrogatepass")


@pytest.mark.parametrize("seed", range(4))
def test_random_records(seed, tmp_path, context):
    """Good, bad and mangled records: every verdict and every result agrees with Python's JSON module."""
    generator = random.Random(seed)
    records = [mutated(generator, random_record(generator)) for _ in range(5000)]
    records = [record for record in records if record.strip(b" \t\r")]
    stats, letters = tmp_path / "stats", tmp_path / "letters"
    output, errors = run(
        *TOKENS,
        "--stats",
        stats,
        "--on-error=null",
        "--on-error",
        f"dead-letter={letters}",
        input=stream(records),
        code=1,
    )
    lines = output.split(b"\n")
    assert lines.pop() == b"" and len(lines) == len(records)
    failed = []
    for number, (record, line) in enumerate(zip(records, lines), 1):
        value = parse(record)
        result = parse(line)
        text = value.get("text") if value is not None else None
        if isinstance(text, str):
            tokens = context.tokenize(text_of(parse(record, "replace")["text"]))
            assert result == value | {"bertqa": list(tokens.ids)}, record
        else:
            failed.append(number)
            assert result["bertqa"] is None
            if value is not None:
                reason = result.pop("bertqa_error")
                assert reason in errors[len(failed) - 1] and result == value | {"bertqa": None}, record
            else:
                assert result["bertqa_record"] == record.decode(errors="surrogateescape"), record
    assert [int(re.match(r"bertqa: line (\d+)", error)[1]) for error in errors] == failed
    assert letters.read_bytes() == stream(records[number - 1] for number in failed)
    numbers = summary(stats)
    assert (numbers["records"], numbers["failed"]) == (len(records), len(failed))
    assert numbers["written"] == len(records) and numbers["dead_letters"] == len(failed)
    assert 0.1 < len(failed) / len(records) < 0.9
    assert {"invalid_record", "missing_field", "wrong_type"} == {
        kind for kind, count in numbers["failed_by_kind"].items() if count
    }


TABLES = {
    # format: (delimiter, column); only CSV has quotes
    "csv": (b",", rb'(?:"(?:[^"]|"")*"(?!")|(?!"))[^,\r\n]*'),
    "tsv": (b"\t", rb"[^\t\r\n]*"),
}


def check_rows(format, limit, source, output, letters):
    """The output has each row of two columns with its results, and other rows as they are, which are the dead
    letters too unless they are empty. Returns the number of results."""
    delimiter, column = TABLES[format]
    good = re.compile(column + delimiter + column)
    results = re.compile(delimiter + rb"[\d ]*" + delimiter)
    failed, at, count = [], 0, 0
    for row in re.finditer(rb"(%b(?:%b%b)*)(\r\n|[\r\n]|\Z)" % (column, delimiter, column), source):
        text, end = row[1], row[2] or b"\n" * bool(row[1])
        assert output.startswith(text, at)
        at += len(text)
        if len(text) <= limit and good.fullmatch(text):
            at = results.match(output, at).end()
            count += 1
        elif text:
            failed.append(text + end)
        assert output.startswith(end, at)
        at += len(end)
    assert at == len(output) and letters == b"".join(failed)
    return count


@pytest.mark.parametrize("format", ["jsonl", *TABLES, "length-prefixed"])
def test_random_bytes(format, tmp_path):
    """For any input, nothing crashes and nothing is lost."""
    generator = random.Random(format)
    for limit in (100, 1 << 20):
        noise = generator.randbytes(100_000) + bytes(generator.choices(b'{}[]",:\\\n\r\t a\0', k=100_000))
        header = b""
        if format in TABLES:
            header = TABLES[format][0].join([b"text", b"a\n"])
            noise += b'a"'  # ends the last field, in quotes or not
        stats, letters = tmp_path / "stats", tmp_path / "letters"
        letters.unlink(missing_ok=True)
        output, errors = run(
            *TOKENS, "--format", format, f"--max-record-bytes={limit}", "--stats", stats, "--on-error=pass",
            "--on-error", f"dead-letter={letters}", input=header + noise, code=None,
        )  # fmt: skip
        numbers = summary(stats)
        assert len(errors) == numbers["failed"] == numbers["dead_letters"] > 0
        assert numbers["written"] == numbers["records"]
        assert numbers["input_bytes"] == len(header + noise)
        if format in TABLES:
            assert letters.read_bytes().startswith(header)
            rows, dead = output.split(b"\n", 1)[1], letters.read_bytes().removeprefix(header)
            assert check_rows(format, limit, noise, rows, dead) == numbers["succeeded"] > 0
        else:
            assert numbers["succeeded"] == 0
            kept = noise
            if format == "length-prefixed" and limit > len(noise):
                # The length of the record that the end cut is that of what is there.
                kept = struct.pack(">I", len(noise) - 4) + noise[4:]
            # The last line end is made up for where there was none.
            assert output.rstrip(b"\n") == kept.rstrip(b"\n")
