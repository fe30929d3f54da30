"""Random options, values and files: every command ends as its help says, and removes nothing."""

import contextlib
import os
import random
import re
import shutil
import stat
import subprocess

import pytest

from cli import COMMANDS, OPTIONS, environment, run
from conftest import FEWER, FIXTURES, TOOL

ANSWER, CLASSIFY, EMBED, ENTITIES = (
    ["--model", FIXTURES / name]
    for name in ("tiny-bert", "tiny-bert-classifier", "tiny-bert-embedder", "tiny-bert-entities")
)
# Calls that work; FILE and NEW stand for paths.
CALLS = [
    ["answer", *ANSWER, "-q", "Who jumps?", "FILE"],
    ["ask", "--answer-model", FIXTURES / "tiny-bert", "collection"],
    ["index", *EMBED, "NEW", "FILE", "FILE"],
    ["index", "--words-only", "collection", "."],
    ["search", "--embed-model", FIXTURES / "tiny-bert-embedder", "collection", "fox"],
    ["classify", "-f", "FILE"],
    ["classify", *CLASSIFY, "-f", "FILE"],
    ["train-classifier", "--label-field=text", "-o", "NEW", "FILE"],
    ["entities", *ENTITIES, "-f", "FILE"],
    ["entities", "--patterns=all", "--redact", "-f", "FILE"],
    ["restore", "--mapping=mapping", "FILE"],
    ["embed", *EMBED, "-f", "FILE"],
    ["predict", "-f", "FILE"],
    ["generate", "-f", "FILE"],
    ["filter", "--task=classify", "FILE"],
    ["filter", "--task=classify", "--resume", "NEW", "-o", "NEW", "FILE"],
    ["filter", "--task=embed", *EMBED, "FILE"],
    ["filter", "--task=entities", *ENTITIES, "--pseudonym", "--mapping", "NEW", "FILE"],
    ["filter", "--task=tokenize", *ANSWER, "FILE"],
    ["tokenize", *ANSWER, "-f", "FILE"],
    ["info", *ANSWER],
    ["quantize", FIXTURES / "tiny-bert", "NEW"],
    ["complete", "answer", "-"],
    ["help"],
]
VALUES = [
    "", " ", "0", "1", "-1", "7", "99999999999999999999", "nan", "inf", "0.5", "x", "é", "a,b", "text", "id", "all",
    "mean", "max", "none", "skip", "null", "drop", "dead-letter=dead", "jsonl", "csv", "length-prefixed", "UTF-16",
    "latin1", "int8", "portable", "answer", "embed", "hash", "50%", "64K", "1G", ".txt=cat {}", "a=b", "\\t", ";", "{}",
]  # fmt: skip
SKIPPED = {"follow", "browser", "help", "version"}  # run until a signal; open a browser; are other calls


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A directory with files of every kind."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "text.txt").write_text("The quick brown fox jumps over the lazy dog. Write to ann@x.org.")
    (folder / "empty.txt").write_bytes(b"")
    (folder / "odd.txt").write_bytes(bytes(range(256)))
    records = b'{"id":1,"text":"The fox jumps."}\nbad\n\n{"text":null}\n{"text":""}\n{"text":"ok"}'
    (folder / "records.jsonl").write_bytes(records)
    (folder / "table.csv").write_bytes(b'id,text\n1,"The fox, jumps"\n2,\n3,"a\nb",x\n')
    (folder / "mapping").write_text('{"name":"[PER_1]","value":"Bob"}\n')
    (folder / "mapping").chmod(0o600)
    (folder / "link").symlink_to("text.txt")
    (folder / "dangling").symlink_to("nowhere")
    (folder / "directory").mkdir()
    run("index", "--words-only", folder / "collection", folder / "text.txt")
    run("filter", "--task=classify", "--resume", folder / "checkpoint", "-o", folder / "output", folder / "table.csv",
        code=None)  # fmt: skip
    return folder


def states(folder):
    """{path: its kind, and what it has or leads to}"""
    found = {}
    for path in folder.rglob("*"):
        kind = stat.S_IFMT(path.lstat().st_mode)
        content = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
        found[path.name] = kind, content
    return found


def arguments_of(generator, names):
    """A call that works, with up to three options that may not."""
    call = generator.choice(CALLS)

    def path():
        return generator.choice([*names, "new", "no/such", ".", "-"])

    arguments = [path() if part in ("FILE", "NEW") else str(part) for part in call]
    options = [option for option in OPTIONS if option[0] == call[0] and option[1] not in SKIPPED]
    for _, name, _, value, is_optional in generator.choices(options, k=generator.randrange(4)) if options else []:
        if not value or is_optional and generator.random() < 0.5:
            arguments.append(f"--{name}")
            continue
        is_path = value in ("FILE", "DIR", "CHECKPOINT") or generator.random() < 0.05
        arguments.append(f"--{name}={path() if is_path else generator.choice(VALUES)}")
    return arguments


def test_every_command_has_a_call():
    assert {call[0] for call in CALLS} == set(COMMANDS)


@pytest.mark.parametrize("seed", range(2))
def test_any_arguments(seed, files, tmp_path):
    generator = random.Random(seed)
    for number in range(1000 // FEWER):
        folder = tmp_path / str(number)
        shutil.copytree(files, folder, symlinks=True)
        with contextlib.suppress(PermissionError):
            os.mknod(folder / "sink", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        before = states(folder)
        arguments = arguments_of(generator, sorted(before))
        result = subprocess.run(
            [TOOL, *arguments],
            input=b"The fox jumps.\n",
            capture_output=True,
            timeout=120,
            cwd=folder,
            env=environment(),
        )
        about = " ".join(arguments), result.returncode, result.stderr.decode()
        assert result.returncode in range(5), about
        if result.returncode > 1:
            assert re.search("^bertqa: ", about[-1], re.M) and "defect" not in about[-1], about
        after = states(folder)
        if result.returncode == 2:
            assert after == before, about
        for name, (kind, content) in before.items():
            assert name in after and after[name][0] == kind, (name, *about)
            if kind == stat.S_IFLNK:
                assert after[name][1] == content, (name, *about)
        shutil.rmtree(folder)
