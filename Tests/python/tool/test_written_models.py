"""Models that the tool writes while it is killed, or while its files fail, at random points of the calls that change them.

BERTQA_KILLS is how many points there are, by default 24."""

import json
import random
import shutil
import signal

import pytest

from conftest import FIXTURES
from filtering import KILLS, fault_library, run, run_with, start  # noqa: F401

TEXTS = [("the pump leaks water again", "repair"), ("please reset my old password", "account")]


def contents(directory):
    """Returns the files by name; None without the directory."""
    if not directory.exists():
        return None
    files = (path for path in directory.rglob("*") if path.is_file())
    return {str(path.relative_to(directory)): path.read_bytes() for path in files}


def arguments(kind, source, output):
    if kind == "quantize":
        return ["quantize", FIXTURES / "tiny-bert", output]
    options = ["--algorithm=naive_bayes"]
    if kind == "vectors":
        options = ["--features=embedding", "--model", FIXTURES / "tiny-bert-embedder"]
    return ["train-classifier", "--folds=0", *options, source, "--output", output]


@pytest.mark.parametrize("kind", ["words", "vectors", "quantize"])
def test_a_model_is_whole_or_not_there(kind, faults, tmp_path):
    source, count, model = tmp_path / "texts.jsonl", tmp_path / "count", tmp_path / "models" / "model"
    source.write_text("".join(json.dumps({"text": text, "label": label}) + "\n" for text, label in TEXTS * 3))
    model.parent.mkdir()
    command = arguments(kind, source, model)
    assert run_with(faults, command, FAULT_COUNT=count) == (0, [])
    calls, whole = int(count.read_text()), contents(model)
    assert calls > 8 and len(whole) > 2
    generator = random.Random(KILLS)
    # The last calls put the directory in place and report.
    points = {*generator.choices(range(1, calls), k=KILLS), *range(calls - 4, calls + 1)}
    for point in sorted(points):
        for fault in generator.choice(["kill", "torn", "killed"]), generator.choice(["ENOSPC", "EIO"]):
            shutil.rmtree(model, ignore_errors=True)
            code, errors = run_with(faults, command, FAULT=fault, FAULT_AT=point)
            found = contents(model)
            case = fault, point, code, errors
            if code == 3:
                assert found is None and errors and list(model.parent.iterdir()) == [], case
            elif code == -signal.SIGKILL:
                assert found in (None, whole) and fault not in ("ENOSPC", "EIO"), case
            else:
                # 4: standard output fails.
                assert code in (0, 4) and found == whole, case
    if contents(model) is None:
        run(*command)
    assert contents(model) == whole and [path.name for path in model.parent.iterdir()] == ["model"]


def test_a_directory_that_cannot_be_written_is_refused_before_anything_is_read(tmp_path):
    for name in "full", "empty":
        (tmp_path / name).mkdir()
    (tmp_path / "full" / "file").touch()
    (tmp_path / "link").symlink_to("empty")
    for name, code, complaint in [
        ("full", 2, "the output directory is not empty"),
        ("link", 2, "the output directory is a symbolic link"),
        ("/proc", 2, "the output directory is a mount point"),
        ("none/model", 3, "cannot create: No such file or directory"),
        ("full/file", 3, "cannot use as output directory: Not a directory"),
    ]:
        for kind in "words", "quantize":
            # Standard input stays open: a run that reads it does not end.
            process = start(*arguments(kind, "-", tmp_path / name))
            assert process.wait(60) == code, (name, kind)
            [error] = process.stderr.read().decode().splitlines()
            assert f"{tmp_path / name}: {complaint}" in error
            for stream in process.stdin, process.stdout, process.stderr:
                stream.close()
    assert {path.name for path in tmp_path.iterdir()} == {"full", "empty", "link"}
