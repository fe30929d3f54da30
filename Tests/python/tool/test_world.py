"""Real-world inputs of Tests/world through the tool."""

import gzip
import os
import resource
import subprocess
import sys

import pytest

from conftest import ROOT, TOOL
from filtering import environment, run

sys.path.insert(0, str(ROOT / "Tests" / "world"))
from cases import CASES, skippable, zstd  # noqa: E402


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_inputs_of_the_world(case, tmp_path):
    for name, data in case.files.items():
        (tmp_path / name).write_bytes(data)
    names = sorted(case.files)
    files = names if case.command == "filter" else [f"--file={name}" for name in names]
    result = subprocess.run(
        [TOOL, case.command, *case.options, *files],
        capture_output=True,
        env=environment(),
        cwd=tmp_path,
        timeout=60,
    )
    errors = result.stderr.decode()
    assert (result.stdout, result.returncode) == (case.expected, case.code), errors
    assert (case.complaint in errors) if case.complaint else errors == ""


def test_names_are_different():
    assert len({case.name for case in CASES}) == len(CASES)


ALONE = [case for case in CASES if len(case.files) == 1 and case.code != 3]


@pytest.mark.parametrize("case", ALONE, ids=[case.name for case in ALONE])
def test_inputs_of_the_world_through_a_pipe(case):
    """Standard input has no name and no size: its first bytes determine its format."""
    [(name, data)] = case.files.items()
    options = list(case.options)
    if case.command == "filter" and "--format=csv" not in options:
        options.append(f"--format={name.removesuffix('.gz').rpartition('.')[2]}")
    output, _ = run(case.command, *options, input=data, code=case.code)
    # Through a pipe, a last line without a line end gets one.
    assert output.removesuffix(b"\n") == case.expected.removesuffix(b"\n")


# Documents


def test_documents_of_any_form_are_answered(tmp_path):
    document = "The pump in hall 3 – built by Zoë – failed at noon. Its bearing had run dry.\r\n"
    files = {
        "utf-8": document.encode(),
        "notepad": ("\ufeff" + document).encode("utf-16-le"),
        "big": ("\ufeff" + document).encode("utf-16-be"),
        "gzip": gzip.compress(document.encode()),
        "members": gzip.compress(document[:9].encode()) + gzip.compress(document[9:].encode()),
        "zstd": skippable(b"index") + zstd(document.encode()),
        "both": gzip.compress(("\ufeff" + document).encode("utf-16-le")),
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    question = ["answer", "--json", "-q", "Who built the pump?"]
    [alone] = {line.replace(b'"-"', b"FILE") for line in run(*question, input=files["utf-8"])[0].splitlines()}
    assert "Zoë".encode() in alone
    paths = [tmp_path / name for name in files]
    found = run(*question, *paths)[0].splitlines()
    wanted = [alone.replace(b"FILE", f'"{path}"'.encode()) for path in paths]
    assert sorted(found) == sorted(wanted)
    ansi = tmp_path / "ansi"
    ansi.write_bytes(document.encode("cp1252"))
    assert run(*question, "--encoding=cp1252", ansi)[0].replace(f'"{ansi}"'.encode(), b"FILE") == alone + b"\n"
    assert "cannot be decompressed at byte" in run(*question, input=files["gzip"][:-8] + bytes(8), code=3)[1][0]


def test_a_text_that_does_not_fit_into_memory_in_utf_8(tmp_path):
    path = tmp_path / "zeros"
    path.touch()
    os.truncate(path, 256 << 20)
    limit = (256 + 96) << 20
    result = subprocess.run(
        [TOOL, "classify", "--force", "--encoding=UTF-16LE", "-f", path],
        capture_output=True,
        env=environment(),
        timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    assert (result.returncode, result.stdout) == (4, b"") and b"not enough memory for" in result.stderr


def test_every_command_that_reads_texts_reads_encodings(tmp_path):
    (tmp_path / "a").write_bytes("Größe".encode("latin-1"))
    (tmp_path / "b").write_bytes(gzip.compress("Größe".encode()))
    outputs = [run("tokenize", "--ids", "--encoding=latin1", "-f", tmp_path / "a")[0],
               run("tokenize", "--ids", "-f", tmp_path / "b")[0]]  # fmt: skip
    assert outputs[0] == outputs[1] == run("tokenize", "--ids", "Größe")[0]
    for command in ["answer", "ask", "classify", "embed", "entities", "filter", "generate", "predict",
                    "tokenize", "train-classifier"]:  # fmt: skip
        errors = run(command, "--encoding=utf-9", "-q", "x", "-o", tmp_path / "m", code=2)[1]
        assert len(errors) == 1
        assert b"--encoding" in run(command, "--help")[0]
    [error] = run("filter", "--encoding=utf-9", code=2)[1]
    assert "--encoding takes a name that 'iconv -l' lists" in error


def test_letters_that_wait_for_their_marks(tmp_path):
    """A decoder of Vietnamese holds a letter back until it has read what follows, which may be the end or invalid."""
    redact, encoding = ["--patterns=ip", "--redact"], "--encoding=cp1258"
    text = "Vi\u00ea\u0323t Nam".encode("cp1258")
    (tmp_path / "a").write_bytes(text)
    assert run("entities", *redact, encoding, "-f", tmp_path / "a")[0].removesuffix(b"\n") == text
    filtered = ["filter", "--task=entities", *redact, encoding]
    assert run(*filtered, input=b'{"text":"a"}')[0] == b'{"text":"a","bertqa":"a"}\n'
    assert run(*filtered, "--format=csv", input=b"id,text\n1,ab")[0].splitlines()[1] == b"1,ab,ab,"
    invalid = b'{"text":"ab\x8acd"}\n'
    assert run(*filtered, "--on-error=pass", input=invalid, code=1)[0] == invalid
    (tmp_path / "b").write_bytes(b"ab\x8acd")
    tokens = run("tokenize", encoding, "-f", tmp_path / "b")[0]
    assert tokens == run("tokenize", "ab\ufffdcd")[0]


def test_a_classifier_is_trained_on_any_encoding(tmp_path):
    rows = [("größer schöner besser", "gut"), ("übel kaputt ärger", "schlecht")] * 10
    table = "text,label\n" + "".join(f"{text},{label}\n" for text, label in rows)
    (tmp_path / "a.csv").write_bytes(table.encode())
    (tmp_path / "b.csv").write_bytes(table.replace("\n", "\r").encode("cp1252"))
    (tmp_path / "c.csv").write_bytes(("\ufeff" + table).encode("utf-16-le"))
    reports = [
        run("train-classifier", "--json", tmp_path / name, *options, "-o", tmp_path / f"{name}.model")[0]
        for name, options in [("a.csv", []), ("b.csv", ["--encoding=cp1252"]), ("c.csv", [])]
    ]
    assert len(set(reports)) == 1 and b'"text_count":20' in reports[0]


# Dead letters and runs that go on


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "cp1252"])
def test_dead_letters_are_what_they_were(encoding, tmp_path):
    mark = "\ufeff" if encoding.startswith("utf-16") else ""
    options = [] if mark else [f"--encoding={encoding}"]
    letters = tmp_path / "letters.csv"
    bad = '2,é\r\n4,"x\r\ny",5\r\n'
    table = f"{mark}id,text,n\r\n1,a,1\r\n{bad}3,b,2\r\n"
    (tmp_path / "in.csv").write_bytes(table.encode(encoding))
    run("filter", "--task=entities", "--patterns=ip", tmp_path / "in.csv", *options,
        f"--on-error=dead-letter={letters}", code=1)  # fmt: skip
    wanted = f"{mark}id,text,n\r\n2,é\r\n"
    assert letters.read_bytes() == wanted.encode(encoding)
    # They are read again as the input was.
    again = run("filter", "--task=entities", "--patterns=ip", letters, *options, "--on-error=pass", code=1)[0]
    assert again.decode().splitlines()[1] == "2,é"


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252"])
def test_a_run_goes_on_in_another_encoding(encoding, tmp_path):
    from cases import REDACT, SECRET

    lines = [f'{{"n":{n},"text":"é {SECRET}"}}\n' for n in range(2000)]
    source, target, checkpoint = tmp_path / "in.jsonl", tmp_path / "out", tmp_path / "checkpoint"
    source.write_bytes("".join(lines).encode(encoding))
    options = [*REDACT, source, "-o", target, "--resume", checkpoint, "--checkpoint-interval=0"]
    if encoding != "utf-16":
        options.append(f"--encoding={encoding}")
    process = subprocess.Popen([TOOL, "filter", *options], env=environment())
    while process.poll() is None and not (target.exists() and target.stat().st_size > 1000):
        pass
    process.kill()
    process.wait()
    run("filter", *options)
    assert target.read_bytes() == "".join(lines).replace(SECRET, "[EMAIL]").encode(encoding)
