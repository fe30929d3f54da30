"""Runs every example of the tool's help as it is printed, beside the files that it names."""

import pathlib
import re
import shutil
import sqlite3
import subprocess

import pytest

from cli import APOLLO, COMMANDS, FOX, MODEL, environment, run
from conftest import FIXTURES, TOOL

LETTER = (
    "Dear Mary,\nthe meeting is on Monday at ten in Paris. Joan Baker will come from London.\nYours, John Smith\n"
)
LABELLED = [
    ("sport", "the striker scored a goal in the match"),
    ("politics", "the vote on the bill in parliament"),
] * 6


def examples():
    for command in ("", *COMMANDS):
        text = run(*([command] if command else []), "--help")[0]
        lines = text.rpartition("\nExamples:\n")[2].splitlines()
        yield from (line.strip() for line in lines if not line.startswith("  # "))


@pytest.fixture
def place(tmp_path):
    """A directory with every file that an example names."""
    for name in ("letter", "letter1", "letter2", "report", "notes"):
        (tmp_path / f"{name}.txt").write_text(LETTER)
    shutil.copy(APOLLO, tmp_path / "apollo.txt")
    shutil.copy(FOX, tmp_path / "fox.txt")
    (tmp_path / "lines.txt").write_text("a line\nanother\n")
    (tmp_path / "app.log").write_text("login of ana@example.org from 10.0.0.1\n")
    (tmp_path / "app.jsonl").write_text('{"message": "At noon the host db7 failed."}\n')
    (tmp_path / "in.csv").write_text("text,other\nThe striker scored twice in the final match.,1\n")
    for name in ("tickets", "june"):
        (tmp_path / f"{name}.jsonl").write_text(
            "".join(f'{{"text": "{text}", "label": "{label}"}}\n' for label, text in LABELLED)
        )
    (tmp_path / "tickets.csv").write_text(
        "text,label\n" + "".join(f"{text},{label}\n" for label, text in LABELLED)
    )
    for name in ("notes", "papers"):
        (tmp_path / name).mkdir()
    (tmp_path / "notes" / "lease.txt").write_text("Ann Smith signed the lease. The heating costs 120 euros.\n")
    (tmp_path / "mail.jsonl").write_text('{"text": "The train leaves at noon."}\n')
    (tmp_path / "names.jsonl").write_text("")
    (tmp_path / "names.jsonl").chmod(0o600)
    (tmp_path / "out.jsonl").write_text('{"text": "Ask [EMAIL_1]."}\n')
    (tmp_path / "reply.txt").write_text("Ask [EMAIL_1].\n")
    run("index", tmp_path / "notes.db", tmp_path / "notes")
    with sqlite3.connect(tmp_path / "reports.db") as database:
        database.execute("CREATE VIRTUAL TABLE reports USING fts5(body)")
        database.execute("INSERT INTO reports VALUES ('On Tuesday Ann Lee cleaned the fan of the pump.')")
    for name in ("bert-base-squad", "bert-base-squad2"):
        shutil.copytree(FIXTURES / "tiny-bert", tmp_path / name)
    return tmp_path


def test_there_are_two_of_each_command():
    assert len(list(examples())) == 2 * (len(COMMANDS) + 1)


@pytest.mark.parametrize("line", list(examples()))
def test_example(place, line):
    programs = set(re.findall(r"(?:^|\| )(\w+)", line)) - {"bertqa", "echo", "printf", "wc"}
    if missing := [program for program in programs if shutil.which(program) is None]:
        pytest.skip(f"needs {', '.join(missing)}")
    if "-m my-model" in line:  # others make it
        shutil.copytree(FIXTURES / "tiny-bert", place / "my-model")
    path = f"{TOOL.parent}:{environment()['PATH']}"
    result = subprocess.run(
        ["bash", "-o", "pipefail", "-c", line],
        cwd=place, env=environment(PATH=path, HOME=str(place)), stdin=subprocess.DEVNULL, capture_output=True, timeout=300,
    )  # fmt: skip
    assert result.returncode == 0, result
    written = [name for name in re.findall(r"(?:> |-o |--html )(\S+)", line)]
    assert result.stdout or all(pathlib.Path(place, name).exists() for name in written), result


def test_labels_in_the_help_are_those_of_the_installed_model():
    [line] = [line for line in examples() if "--labels" in line]
    labels = re.search(r"--labels (\S+)", line)[1].split(",")
    shown = run("info", "-m", MODEL.parent / "entities-minilm-l6")[0]
    known = re.search(r"^labels\s+(.*)$", shown, re.M)[1]
    assert all(f"-{label}" in known for label in labels)
