"""The examples in other languages, built and run as their README says, with ranges in each language's unit."""

import pathlib
import shlex
import shutil
import subprocess

import pytest

from code_blocks import blocks
from conftest import PREFIX, ROOT, clean_environment
from samples import DOCUMENTS, FOX, WHO

EXAMPLES = ROOT / "examples" / "other"
JNA = pathlib.Path("/usr/share/java/jna.jar")
NEEDED = {"go": "go", "rust": "rustc", "java": "java", "lua": "luajit"}
UNITS = {"go": "byte_range", "rust": "byte_range", "java": "utf16_range", "lua": "byte_range"}
NOTHING = "there is nothing to answer from"


def environment(library=PREFIX / "lib"):
    return clean_environment() | {
        "PKG_CONFIG_PATH": str(PREFIX / "lib" / "pkgconfig"),
        "LD_LIBRARY_PATH": str(library),
        "LC_ALL": "C.UTF-8",
    }


def run(command, directory, environment):
    return subprocess.run(
        ["sh", "-e", "-c", command], cwd=directory, env=environment, capture_output=True, text=True, timeout=300
    )


@pytest.fixture(scope="module", params=NEEDED)
def host(request, tmp_path_factory):
    """The name, the directory, the README's block, and the command that takes a question and a text."""
    name = request.param
    if not shutil.which(NEEDED[name]):
        pytest.skip(f"the example in {name}: needs {NEEDED[name]}")
    if name == "java" and not JNA.exists():
        pytest.skip("the example in java: needs libjna-java")
    directory = tmp_path_factory.mktemp(name)
    shutil.copytree(EXAMPLES, directory, dirs_exist_ok=True)
    [block] = [block for block in blocks(EXAMPLES / "README.md") if f"{name}/" in block.code]
    cache = {"GOCACHE": str(directory / "cache"), "GOPATH": str(directory / "go-path")}
    result = run(block.code, directory, environment() | cache)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == block.output
    last = block.code.replace("\\\n", " ").strip().splitlines()[-1]
    return name, directory, last.partition('"')[0]


def ask(host, question, text, environment):
    _, directory, command = host
    return run(f"{command} {shlex.quote(question)} {shlex.quote(text)}", directory, environment)


@pytest.mark.parametrize("document", ["emoji", "combining marks", "composed", "inside right to left"])
def test_ranges(host, context, document):
    text = DOCUMENTS[document]
    expected = context.answer(WHO, text).answer
    result = ask(host, WHO, text, environment())
    assert (result.returncode, result.stderr) == (0, "")
    start, end, answer = result.stdout.rstrip("\n").replace("\t", " ").split(" ", 2)
    assert answer == expected.text
    assert (int(start), int(end)) == getattr(expected, UNITS[host[0]])


def test_nothing_to_answer_from(host):
    result = ask(host, WHO, "", environment())
    assert NOTHING in result.stdout + result.stderr


def test_errors(host, tmp_path):
    """The library has no models: the message arrives, and the program exits cleanly."""
    shutil.copy(PREFIX / "lib" / "libbertqa.so.1", tmp_path)
    shutil.copy(PREFIX / "lib" / "libbertqa.so.1", tmp_path / "libbertqa.so")
    result = ask(host, WHO, FOX, environment(tmp_path))
    assert result.returncode > 0
    assert "qa-minilm-l6" in result.stderr


def test_size():
    """Each has less than 100 lines, as promised."""
    sources = [path for path in EXAMPLES.glob("*/*") if path.is_file()]
    assert len(sources) == len(NEEDED)
    assert all(path.read_text().count("\n") < 100 for path in sources)
