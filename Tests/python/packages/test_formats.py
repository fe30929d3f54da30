"""Files of earlier versions in Tests/formats are read as before, or refused by their version.

Tests/formats/VERSION is what Tests/formats/generate.py made with that version.
"""

import json
import shutil
import struct
import subprocess
import sys

import pytest

import bertqa
from conftest import FIXTURES, PREFIX, ROOT, clean_environment

FORMATS = ROOT / "Tests" / "formats"
sys.path.insert(0, str(FORMATS))
import generate  # noqa: E402

VERSIONS = sorted(path.parent for path in FORMATS.glob("*/expected.json"))


@pytest.fixture(params=VERSIONS, ids=lambda path: path.name)
def version(request):
    return request.param, json.loads((request.param / "expected.json").read_text())


def test_there_is_one_for_each_released_version():
    """Every released version in the changelog has a directory, and so has the next one."""
    text = (ROOT / "CHANGELOG.md").read_text()
    released = {line.split("]")[0].removeprefix("## [") for line in text.splitlines() if line.startswith("## [0")}
    assert released <= {path.name for path in VERSIONS}
    for path in VERSIONS:
        assert json.loads((path / "expected.json").read_text())["version"] == path.name


@pytest.mark.parametrize("name", generate.TRAINERS)
def test_word_count_models(version, name):
    directory, expected = version
    with bertqa.Context(directory / name) as context:
        for text, probabilities in zip(generate.TEXTS, expected[name], strict=True):
            scores = {score.label: score.probability for score in context.classify(text).scores}
            assert scores == pytest.approx(probabilities, abs=1e-6)


def test_int8_models(version):
    directory, expected = version
    with bertqa.Context(directory / "int8", isa="portable") as context:
        [(start, end)] = context.logits([[3, 120, 3]], [1])
    assert list(start) == pytest.approx(expected["int8"]["start"], abs=1e-5)
    assert list(end) == pytest.approx(expected["int8"]["end"], abs=1e-5)


def test_states(version):
    directory, expected = version
    with bertqa.Context(directory / "lstm", isa="portable") as context:
        state = context.state_from_bytes((directory / "state.bin").read_bytes())
        assert list(state.values) == expected["state"]["values"]
        _, logits = context.step([7], [state])
        assert logits.tolist()[0] == pytest.approx(expected["state"]["logits"], abs=1e-5)


@pytest.mark.parametrize("number", [0, 2, 2**32 - 1])
def test_states_of_other_versions_are_refused_by_it(version, number):
    data = bytearray((version[0] / "state.bin").read_bytes())
    struct.pack_into("<I", data, 8, number)
    with bertqa.Context(version[0] / "lstm") as context:
        with pytest.raises(bertqa.InvalidArgument, match=f"has version {number}; this library reads version 1"):
            context.state_from_bytes(bytes(data))


def test_checkpoints_of_the_filter(version, tmp_path):
    """From another machine or another version: they are refused, and all files stay unchanged."""
    run = tmp_path / "run"
    shutil.copytree(version[0] / "filter", run)
    before = {path.name: path.read_bytes() for path in run.iterdir()}
    tool = PREFIX / "bin" / "bertqa"
    command = [tool, "filter", "--task", "tokenize", "-m", FIXTURES / "tiny-bert", "-o", "out.jsonl"]
    command += ["--resume", "checkpoint", "in.jsonl"]
    result = subprocess.run(command, cwd=run, capture_output=True, text=True, env=clean_environment())
    assert result.returncode in (2, 3) and result.stderr.startswith("bertqa: "), result
    assert "checkpoint" in result.stderr
    assert {path.name: path.read_bytes() for path in run.iterdir()} == before
    # And a run of its own starts where they are not.
    for name in "checkpoint", "out.jsonl":
        (run / name).unlink()
    subprocess.run(command, cwd=run, check=True, capture_output=True, env=clean_environment())
    assert len((run / "out.jsonl").read_text().splitlines()) == 20
