"""--mask, --hash, --pseudonym and --mapping of `bertqa entities` and the filter, and `bertqa restore`."""

import csv
import hashlib
import hmac
import io
import json
import os
import signal
import stat
import subprocess

import pytest

import bertqa
from cli import run
from conftest import TOOL
from filtering import PATTERNS_OF_ALL, compact, environment, start, wait_for
from filtering import run as run_filter

MAIL = "Write to jörg@example.org or +49 30 901820, not to ann@x.org; jörg@example.org knows [EMAIL_1]."
NAMED = "Write to [EMAIL_1] or [PHONE_1], not to [EMAIL_2]; [EMAIL_1] knows [LITERAL_1]."
KEY = b"0123456789abcdef"


@pytest.fixture
def key(tmp_path):
    path = tmp_path / "key"
    path.write_bytes(KEY + b"\n")
    return path


def digits(value):
    return hmac.new(KEY, value.encode(), hashlib.sha256).hexdigest()[:32]


def test_entities(key, tmp_path):
    def redacted(*options, **more):
        return run("entities", "--patterns=all", *options, MAIL, **more)[0].rstrip("\n")

    assert redacted("--mask").startswith("Write to ****@*******.*** or +** ** ******, not")
    assert redacted("--mask=3").startswith("Write to ****@*******.org or +** ** ***820, not")
    assert redacted("--hash", key).startswith(f"Write to [EMAIL_{digits('jörg@example.org')}] or [PHONE_")
    assert redacted("--pseudonym") == NAMED == redacted("--pseudonym=record")
    mapping = tmp_path / "names"
    assert redacted("--pseudonym", "--mapping", mapping) == NAMED
    assert stat.S_IMODE(os.stat(mapping).st_mode) == 0o600
    assert [json.loads(line) for line in mapping.read_text().splitlines()][0] == {
        "name": "[EMAIL_1]",
        "value": "jörg@example.org",
    }
    # The next run keeps to the names.
    other = run("entities", "--patterns=all", "--pseudonym", "--mapping", mapping, "new@x.org, ann@x.org")[0]
    assert other == "[EMAIL_3], [EMAIL_2]\n"
    assert (
        run("restore", "--mapping", mapping, input=(NAMED + other).encode())[0] == MAIL + "new@x.org, ann@x.org\n"
    )
    # The file is the Python package's, too.
    names = bertqa.Pseudonyms.load(mapping)
    assert names.restore(NAMED) == MAIL
    names.save(mapping)
    assert run("restore", "--mapping", mapping, input=NAMED.encode())[0] == MAIL
    # Several texts have names in common, or each its own.
    files = []
    for number, text in enumerate(["a@x.org b@x.org", "b@x.org c@x.org"]):
        files += ["--file", tmp_path / f"{number}.txt"]
        files[-1].write_text(text + "\n")
    assert run("entities", "--patterns=all", "--pseudonym", *files)[0].split() == [
        "[EMAIL_1]", "[EMAIL_2]", "[EMAIL_2]", "[EMAIL_3]",
    ]  # fmt: skip
    assert run("entities", "--patterns=all", "--pseudonym=record", *files)[0].split() == [
        "[EMAIL_1]", "[EMAIL_2]", "[EMAIL_1]", "[EMAIL_2]",
    ]  # fmt: skip


def test_what_is_refused(key, tmp_path):
    mapping = tmp_path / "names"
    for wrong in [
        ["--mask=-1"], ["--mask=x"], ["--pseudonym=all"], ["--redact", "--mask"], ["--hash", key, "--pseudonym"],
        ["--mapping", mapping], ["--redact", "--mapping", mapping], ["--pseudonym=record", "--mapping", mapping],
    ]:  # fmt: skip
        run("entities", "--patterns=all", *wrong, "a", code=2)
    assert not mapping.exists()
    key.write_bytes(b"short\r\n")
    assert "5 bytes" in run("entities", "--patterns=all", "--hash", key, "a", code=3)[1]
    run("entities", "--patterns=all", "--hash", tmp_path / "none", "a", code=3)
    out, source = tmp_path / "out", tmp_path / "in"
    source.write_bytes(b"")
    for wrong in [["--fields=label", "--mask"], ["--pseudonym", "--resume", tmp_path / "cp", "-o", out]]:
        run_filter(*PATTERNS_OF_ALL, *wrong, source, code=2)
    # Others could read it.
    mapping.touch(0o644)
    assert "chmod 600" in run("entities", "--patterns=all", "--pseudonym", "--mapping", mapping, "a", code=3)[1]
    mapping.chmod(0o600)
    for content in [b"x\n", b"[]\n", b'{"name":"PER_1","value":"a"}\n', b'{"name":"[A_1]"}\n',
                    b'{"name":"[A_1]","value":"a"}\n{"name":"[A_1]","value":"b"}\n']:  # fmt: skip
        mapping.write_bytes(content)
        for command in [["entities", "--patterns=all", "--pseudonym"], ["restore"]]:
            _, errors = run(*command, "--mapping", mapping, *(["a"] if command[0] == "entities" else []), code=3)
            assert f"{mapping}: line {content.count(bytes([10]))}" in errors
        assert mapping.read_bytes() == content
    run("restore", code=2)


def records(*texts):
    return b"".join(compact({"n": n, "text": text}) + b"\n" for n, text in enumerate(texts))


@pytest.mark.parametrize("batch", [1, 2, 64])
@pytest.mark.parametrize("limits", [[], ["--max-bytes=100000", "--max-document-bytes=20000"]])
def test_names_do_not_depend_on_batches(tmp_path, batch, limits):
    texts = [MAIL, "z@x.org " * 2000, '"a"@x.org \\ ann@x.org', "q@x.org\n\tjörg@example.org"]
    mapping = tmp_path / f"names{batch}"
    output, _ = run_filter(
        *PATTERNS_OF_ALL, "--in-place", "--pseudonym", "--mapping", mapping, f"--batch-size={batch}", *limits,
        input=records(*texts), code=None,
    )  # fmt: skip
    lines = [json.loads(line)["text"] for line in output.splitlines()]
    third = "[EMAIL_3]" if lines[1] is None else "[EMAIL_4]"
    assert lines[0] == NAMED and lines[3] == f"{third}\n\t[EMAIL_1]"
    assert lines[2].endswith("\\ [EMAIL_2]")
    restored = run("restore", "--mapping", mapping, "--format=jsonl", input=output)[0]
    assert run("restore", "--mapping", mapping, "--format=ndjson", input=output)[0] == restored
    assert [json.loads(line)["text"] for line in restored.splitlines()] == [
        text if line is not None else None for text, line in zip(texts, lines)
    ]


def test_tables_restore(tmp_path):
    values = ['x@x.org, "quoted"', "a@x.org", "two\nlines b@x.org", "+49 30 901820"]
    table = io.StringIO()
    csv.writer(table).writerows([["id", "text"], *([n, text] for n, text in enumerate(values))])
    mapping = tmp_path / "names"
    output, _ = run_filter(
        *PATTERNS_OF_ALL, "--format=csv", "--in-place", "--pseudonym", "--mapping", mapping,
        input=table.getvalue().encode(),
    )  # fmt: skip
    assert b"@" not in output and b"901820" not in output
    path = tmp_path / "out.csv"
    path.write_bytes(output)
    restored = run("restore", "--mapping", mapping, path)[0]
    assert [row["text"] for row in csv.DictReader(io.StringIO(restored, newline=""))] == values
    # Another program wrote the cells without quotes: what needs them gets them.
    with mapping.open("a") as file:
        file.write('{"name":"[X_1]","value":"a, \\"b\\""}\n')
    assert run("restore", "--mapping", mapping, "--format=csv", input=b'[X_1],"[X_1]",c\n')[0] == (
        '"a, ""b""","a, ""b""",c\n'
    )
    assert run("restore", "--mapping", mapping, "--format=tsv", input=b"[X_1]\tc\n")[0] == 'a, "b"\tc\n'
    assert (
        run("restore", "--mapping", mapping, "--format=csv", "--delimiter=;", input=b"[X_1];c")[0]
        == '"a, ""b""";c'
    )


def test_names_are_stable_when_a_run_resumes(tmp_path):
    """Kills at any time: the output and the names are those of one whole run."""
    texts = [f"a{n % 37}@x.org and b{n * 7 % 301}@y.org" for n in range(3000)]
    source = tmp_path / "in.jsonl"
    source.write_bytes(records(*texts))
    whole, names = tmp_path / "whole", tmp_path / "whole-names"
    options = [*PATTERNS_OF_ALL, "--in-place", "--pseudonym", "--checkpoint-interval=0", "--batch-size=8"]
    run_filter(*options, "--mapping", names, source, "-o", whole)
    out, mapping, checkpoint = tmp_path / "out", tmp_path / "names", tmp_path / "checkpoint"
    arguments = [*options, "--mapping", mapping, source, "-o", out, "--resume", checkpoint]
    for part in range(1, 4):
        process = start(*arguments)
        size = whole.stat().st_size * part // 4
        wait_for(lambda: process.poll() is not None or out.exists() and out.stat().st_size >= size)
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=60)
    # A killed run may have written a part of a line.
    if checkpoint.exists():
        with mapping.open("ab") as file:
            file.write(b'{"name":"[EMA')
    run_filter(*arguments)
    assert out.read_bytes() == whole.read_bytes() and mapping.read_bytes() == names.read_bytes()
    assert run("restore", "--mapping", mapping, "--format=jsonl", out)[0].encode() == source.read_bytes()
    # Names that are not those of the checkpoint.
    source.write_bytes(source.read_bytes() + records("c@z.org"))
    mapping.write_bytes(mapping.read_bytes().replace(b"a3@", b"a4@"))
    run_filter(*arguments, code=3)


@pytest.mark.parametrize(
    "encoding, options",
    [("latin-1", ["--encoding=ISO-8859-1"]), ("utf-16", []), ("utf-16-le", ["--encoding=UTF-16LE"])],
)
def test_encodings_restore(tmp_path, encoding, options):
    source, mapping, shared, deny = (tmp_path / name for name in ("in", "names", "shared", "deny"))
    text = "Jörg schrieb an jörg@example.org.\nÄ".encode(encoding)
    source.write_bytes(text)
    deny.write_text("Jörg")

    def printed(*command):
        command = [TOOL, *command, "--mapping", mapping, *options]
        return subprocess.run(command, stdout=subprocess.PIPE, check=True, env=environment()).stdout

    shared.write_bytes(printed("entities", "--patterns=all", "--deny", deny, "--pseudonym", "-f", source))
    assert "[DENIED_1] schrieb an [EMAIL_1]" in shared.read_bytes().decode(encoding)
    assert printed("restore", shared).decode(encoding).rstrip("\n") == text.decode(encoding)


def test_long_lines_restore(tmp_path):
    """Lines of several parts of the input, with names across their edges, and a mapping with a long value."""
    mapping, value = tmp_path / "names", "x" * 200_000
    names = {"[A_1]": value, "[A_2]": "Bob"}
    mapping.write_text("".join(json.dumps({"name": name, "value": text}) + "\n" for name, text in names.items()))
    mapping.chmod(0o600)
    for spaces in 0, 1, 2, 3, 4:
        parts = [" " * (65536 - spaces), "y" * 300_000, " \n", "z" * 70_000, ""]
        shared = tmp_path / "shared.txt"
        shared.write_text("[A_2][A_1]".join(parts))
        assert run("restore", "--mapping", mapping, shared)[0] == f"Bob{value}".join(parts)
