"""A run that redacts leaves no original anywhere: values are planted in records that succeed and that fail in every
way, and everything that a run writes is searched for them."""

import base64
import json
import re
import signal
import stat
import subprocess

import pytest

from filtering import PATTERNS_OF_ALL, compact, messages_of, run, start, wait_for

KEY = b"0123456789abcdef0123456789abcdef\n"
ACTIONS = {
    "label": ["--redact"],
    "text": ["--redact=gone"],
    "mask": ["--mask"],
    "hash": ["--hash", "key"],
    "pseudonym": ["--pseudonym", "--mapping", "names"],
    "pseudonym in a record": ["--pseudonym=record"],
    "own rules": ["--redact", "--rules", "rules", "--deny", "deny"],
}


class Planted:
    """Values, each used once, and the traces by which they are found again."""

    def __init__(self):
        self.number = 0
        self.traces = []
        self.failed = []  # the traces in records that fail

    def text(self):
        """A text with values of several kinds."""
        self.number += 1
        name, digits = f"quodlibet{self.number:03}", f"{self.number:03}{self.number * 7919 % 1000:03}"
        self.traces += [name, f"901{digits}"]
        return f'Write to {name}@planted.example, or Ça va: +49 30 901{digits} "{name}@planted.example"\tx.'

    def bad(self, make):
        """A record that fails: what `make` returns for a text."""
        text = self.text()
        self.failed += self.traces[-2:]
        return make(text)


def forms(trace):
    """Every way in which a value may be written."""
    data = trace.encode()
    yield data
    yield data.hex().encode()
    yield trace.encode("utf-16-le")
    yield b"".join(b"\\u%04x" % ord(character) for character in trace)
    yield base64.b64encode(data).rstrip(b"=")[:-1]
    yield data[::-1]


def assert_clean(planted, contents):
    """contents: what was written, by the name of its place."""
    for place, content in contents.items():
        spelled = content.lower()
        bare = re.sub(rb"[^a-z0-9]", b"", spelled)
        for trace in planted.traces:
            for form in forms(trace):
                assert form.lower() not in spelled, (place, trace)
            assert trace.encode() not in bare, (place, trace)


def jsonl(planted):
    """Records that succeed and records that fail."""
    bad = planted.bad
    lines = [compact({"n": 1, "text": planted.text()}), json.dumps({"text": planted.text()}).encode()]
    lines += [
        bad(lambda text: compact({"text": text * 40})),  # too large a text
        bad(lambda text: compact({"text": text, "more": "x" * 30_000})),  # too large a record
        bad(lambda text: b'{"text":"%s","text":"b"}' % text.replace('"', "").replace("\t", "").encode()),
        bad(lambda text: b'{"text":"b", "te\\u0078t":"%s"}' % text.replace('"', "").replace("\t", "").encode()),
        bad(lambda text: b'{"text":"%s\xff"}' % text.replace('"', "").replace("\t", "").encode()),
        bad(lambda text: text.encode()),  # no JSON
        bad(lambda text: compact({"text": text})[:-2]),
        bad(lambda text: compact([text])),
        bad(lambda text: compact({"text": [text]})),
        bad(lambda text: compact({"text": {"a": text}})),
        bad(lambda text: b'{"text":"b"}' + text.encode()),
        bad(lambda text: b'{"text":"\\ud800 %s\x01"}' % text.replace('"', "").replace("\t", "").encode()),
        b'{"text":null}',
        b'{"other":1}',
    ]
    lines += [compact({"text": planted.text()})]
    return b"\n".join(lines) + b"\n"


def csv(planted):
    def cell(text):
        return b'"' + text.replace('"', '""').encode() + b'"'

    bad = planted.bad
    rows = [b"id,text,more", b"1," + cell(planted.text()) + b",x"]
    rows += [b"2," + planted.text().replace('"', "").replace(",", ";").encode() + b",x"]
    rows += [
        bad(lambda text: b"3," + cell(text * 40) + b",x"),
        bad(lambda text: b"4," + cell(text)),
        bad(lambda text: b"5," + cell(text) + b",x,y"),
        bad(lambda text: b"6," + cell(text)[:-1] + b'\xff",x'),
        bad(lambda text: b"7," + cell(text) + b"," + b"x" * 30_000),
        b"8,,",
        b"9," + cell(planted.text()) + b",x",
        bad(lambda text: b'10,"' + text.replace('"', "").encode()),  # the quote is never closed
    ]
    return b"\n".join(rows) + b"\n"


def written(directory, *but):
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file() and path.name not in but
    }


def arguments(directory, action, format, *more):
    files = ("key", "names", "rules", "deny")
    options = [str(directory / option) if option in files else option for option in ACTIONS[action]]
    (directory / "key").write_bytes(KEY)
    (directory / "rules").write_text(json.dumps({"rules": [{"name": "A", "expression": r"quodlibet\d+"}]}))
    (directory / "deny").write_text("Ça va\n")
    return [
        *PATTERNS_OF_ALL, "--in-place", *options, f"--format={format}", "--max-document-bytes=1000",
        "--max-record-bytes=20000", "--batch-size=3", *more,
    ]  # fmt: skip


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("format", ["jsonl", "csv"])
def test_nothing_is_left(tmp_path, format, action):
    planted = Planted()
    data = {"jsonl": jsonl, "csv": csv}[format](planted)
    source = tmp_path / "in"
    source.mkdir()
    (source / "records").write_bytes(data)
    out = tmp_path / "out"
    out.mkdir()
    options = arguments(
        tmp_path, action, format, source / "records", "-o", out / "out", "--resume", out / "checkpoint",
        "--checkpoint-interval=0", "--stats", out / "stats", "--metrics", out / "metrics", "--report", out / "report",
        "--progress",
    )  # fmt: skip
    output, errors = run(*options, code=1)
    found = {**written(out), "stdout": output, "stderr": "\n".join(errors).encode()}
    assert len(errors) >= 6 and b"planted" not in found["out"]
    assert_clean(planted, found)
    # As a stream, and with the dead letters, which have the failed records and no others.
    output, errors = run(
        *arguments(tmp_path, action, format, "--on-error=null", f"--on-error=dead-letter={tmp_path / 'dead'}"),
        input=data, code=1,
    )  # fmt: skip
    assert_clean(planted, {"stdout": output, "stderr": "\n".join(errors).encode()})
    dead = (tmp_path / "dead").read_bytes()
    assert {trace for trace in planted.traces if trace.encode() in dead} == set(planted.failed)
    # The mapping has what was replaced, for its owner alone, and nothing of the failed records.
    if action == "pseudonym":
        names = (tmp_path / "names").read_text()
        assert stat.S_IMODE((tmp_path / "names").stat().st_mode) == 0o600
        assert {trace for trace in planted.traces if trace in re.sub(r"[ .]", "", names)} == (
            set(planted.traces) - set(planted.failed)
        )


@pytest.mark.parametrize(
    "limit", [["--timeout=0.000001"], ["--max-bytes=1"], ["--on-error=fail"], ["--max-errors=0"]]
)
def test_nothing_is_left_of_what_a_limit_ends(tmp_path, limit):
    planted = Planted()
    data = jsonl(planted)
    output, errors = run(
        *arguments(tmp_path, "label", "jsonl", *limit),
        input=data,
        code=None if "=0.0" in limit[0] or "bytes" in limit[0] else 3,
    )
    assert_clean(planted, {"stdout": output, "stderr": "\n".join(errors).encode()})


@pytest.mark.parametrize("action", ["label", "pseudonym"])
def test_nothing_is_left_of_followed_files(tmp_path, action):
    """Rotation, a kill between, and a rerun."""
    planted = Planted()
    log, out = tmp_path / "log" / "app.jsonl", tmp_path / "out"
    log.parent.mkdir()
    out.mkdir()
    log.write_bytes(jsonl(planted))
    options = arguments(
        tmp_path, action, "jsonl", "--follow", log, "-o", out / "out", "--resume", out / "checkpoint",
        "--checkpoint-interval=0", "--stats", out / "stats", "--metrics", out / "metrics",
    )  # fmt: skip
    everything = {}
    for number, end in enumerate([signal.SIGKILL, signal.SIGTERM]):
        before = planted.number
        with (out / f"errors{number}").open("wb") as errors:
            process = start(*options, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors)
            count = 17 * (number + 1) if number else 17
            wait_for(
                lambda: (
                    process.poll() is not None
                    or (out / "out").exists()
                    and (out / "out").read_bytes().count(b"\n") >= count
                )
            )
            assert process.poll() is None, (out / f"errors{number}").read_text()
            everything.update({f"{number}: {name}": content for name, content in written(out).items()})
            process.send_signal(end)
            process.wait(timeout=60)
        assert planted.number == before
        if number == 0:
            log.rename(log.with_name("app.jsonl.1"))
            log.write_bytes(jsonl(planted))
    everything.update(written(out))
    assert messages_of((out / "errors1").read_text())
    assert_clean(planted, everything)


def test_entities_prints_no_original_beside_a_redacted_text(tmp_path):
    planted = Planted()
    text = planted.text()
    (tmp_path / "key").write_bytes(KEY)
    for options in [["--redact"], ["--mask"], ["--hash", tmp_path / "key"], ["--pseudonym"]]:
        for form in [[], ["--json"]]:
            output, errors = run("entities", "--patterns=all", *options, *form, input=text.encode())
            assert_clean(planted, {"stdout": output, "stderr": "\n".join(errors).encode()})
