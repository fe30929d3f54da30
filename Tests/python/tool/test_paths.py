"""Paths as bytes: names and directories that are not UTF-8, and names that begin with a combining mark."""

import os
import pathlib
import re
import subprocess

import pytest

from cli import environment
from conftest import TOOL
from filtering import DONE, RECORD, TOKENS, run
from following import Follower
from samples import TINY

#: To Swift it is one character with the slash before it.
ACCENT = "\u0301"


@pytest.fixture
def odd(tmp_path):
    """A directory whose name is not UTF-8."""
    directory = tmp_path / os.fsdecode(b"odd\xff")
    directory.mkdir()
    (directory / "in").write_bytes(RECORD)
    return directory


def test_files_in_a_directory_that_is_not_utf8(odd):
    arguments = [*TOKENS, "in", "-o", "out", "--resume", "c", "--stats", "s", "--metrics", "m"]
    run(*arguments, cwd=odd)
    with (odd / "in").open("ab") as file:
        file.write(RECORD)
    # The second run replaces files that are there.
    run(*arguments, cwd=odd)
    assert (odd / "out").read_bytes() == DONE * 2
    assert '"records":2' in (odd / "s").read_text() and "records_total" in (odd / "m").read_text()
    assert sorted(os.listdir(odd)) == ["c", "in", "m", "out", "s"]


def test_a_link_is_not_replaced(odd):
    (odd / "link").symlink_to("s")
    for _ in range(2):
        run(*TOKENS, "in", "--stats", "link", cwd=odd)
    assert (odd / "link").is_symlink() and '"records":1' in (odd / "s").read_text()
    (odd / "lost").symlink_to(os.fsdecode(b"s\xff"))
    assert "lost: the name is not valid UTF-8" in run(*TOKENS, "in", "--stats", "lost", cwd=odd, code=2)[1][0]
    assert sorted(os.listdir(odd)) == ["in", "link", "lost", "s"]


OPENED_BY_STRING = {
    "answer": ["--question=Who?", "--model=m", "in"],
    "classify": ["--model=m", "a"],
    "entities": ["--model=m", "a"],
    "filter": ["--task=tokenize", "--model=m", "in"],
    "info": ["--model=m"],
    "quantize": ["m", "out"],
    "train-classifier": ["--features=embedding", "--model=m", "--output=out", "in"],
    "search": ["m", "a"],
    "ask": ["m"],
}


@pytest.mark.parametrize("command", OPENED_BY_STRING)
def test_a_model_or_collection_is_not_looked_for_under_another_name(command, tmp_path):
    (tmp_path / "in").write_bytes(RECORD)
    name = os.fsdecode(b"m\xff")
    # A database by its first bytes.
    (tmp_path / name).write_bytes(b"SQLite format 3\0" + bytes(100))
    arguments = [re.sub(r"(^|=)m$", rf"\1{name}", argument) for argument in OPENED_BY_STRING[command]]
    [error] = run(command, *arguments, cwd=tmp_path, code=2)[1]
    assert "m\ufffd: the name is not valid UTF-8: rename it" in error
    assert sorted(os.listdir(tmp_path)) == ["in", name]


def test_the_default_model_is_not_looked_for_under_another_name(tmp_path):
    variables = {**environment(), "BERTQA_MODEL": os.fsdecode(b"m\xff")}
    result = subprocess.run([TOOL, "info"], capture_output=True, env=variables, cwd=tmp_path, timeout=300)
    assert result.returncode == 2
    assert b"BERTQA_MODEL is not valid UTF-8" in result.stderr


def test_a_new_output_without_records_is_removed(odd):
    name = os.fsdecode(b"\xff.csv")
    run(*TOKENS, "--format=csv", "--text-field=none", "in", "-o", name, cwd=odd, code=3)
    assert os.listdir(odd) == ["in"]


@pytest.mark.parametrize("name", ["app.jsonl", f"{ACCENT}.jsonl"])
def test_a_file_that_is_followed(name, odd, monkeypatch):
    monkeypatch.chdir(odd)
    log = Follower(pathlib.Path("."), name=name)
    log.append(1)
    log.up()
    log.has([1])
    log.rotate()
    log.append(2)
    log.has([1, 2])
    log.down()
    log.append(3)
    log.rotate()
    log.append(4)
    log.up()
    log.has([1, 2, 3, 4])
    log.down()
    assert log.messages() == []


def test_names_that_begin_with_a_combining_mark(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "here").symlink_to("there")
    (tmp_path / "in").write_bytes(RECORD)
    for option in "--metrics", "--resume":
        arguments = ["-o", "out", "--stats", f"there/{ACCENT}", option, f"here/{ACCENT}"]
        [error] = run(*TOKENS, "in", *arguments, cwd=tmp_path, code=2)[1]
        assert "cannot be written for two purposes" in error
    run(*TOKENS, "in", "-o", "out", "--stats", f"{tmp_path}/here/{ACCENT}", cwd=tmp_path)
    assert os.listdir(tmp_path / "there") == [ACCENT]


def test_a_temporary_file_is_not_written_through_a_link(tmp_path):
    (tmp_path / "in").write_bytes(b"The fox jumps.\n")
    (tmp_path / "other").write_bytes(b"kept")
    # exec keeps the process, whose number is in the name.
    command = 'ln -s other page.html.$$.tmp && exec "$0" answer --model "$1" -q "who jumps?" --html page.html in'
    result = subprocess.run(
        ["sh", "-c", command, TOOL, TINY], capture_output=True, env=environment(), cwd=tmp_path, timeout=300
    )
    assert result.returncode == 4
    assert b"page.html" in result.stderr and b"Too many levels of symbolic links" in result.stderr
    assert (tmp_path / "other").read_bytes() == b"kept"
    assert not (tmp_path / "page.html").exists()
