"""The model that is loaded if no path is passed: BERTQA_MODEL, and installed models by name, for the tool, the
library and the Python package."""

import os
import pathlib
import pickle
import re
import shutil
import subprocess
import sys

import pytest

import bertqa
from cli import FOX, MODEL, environment, run
from conftest import PREFIX, ROOT
from samples import HEADER, TINY, WHO

MODELS = MODEL.parent
INFO = "import bertqa, sys; print(bertqa.Context(*sys.argv[1:]).info.directory)"


def tool_info(*arguments, cwd=None, **variables):
    result = subprocess.run(
        [PREFIX / "bin" / "bertqa", "info", *arguments], cwd=cwd, env=environment(**variables), capture_output=True
    )
    return result.returncode, result.stdout.decode(), result.stderr.decode()


def python_info(*arguments, cwd=None, **variables):
    path = os.pathsep.join([str(ROOT / "bindings" / "python"), *filter(None, [os.environ.get("PYTHONPATH")])])
    result = subprocess.run(
        [sys.executable, "-c", INFO, *arguments], cwd=cwd, capture_output=True,
        env=environment(PYTHONPATH=path, BERTQA_LIBRARY=os.environ.get("BERTQA_LIBRARY", ""), **variables),
    )  # fmt: skip
    return result.returncode, result.stdout.decode(), result.stderr.decode()


BOTH = pytest.mark.parametrize(("info", "option"), [(tool_info, ["-m"]), (python_info, [])])


@BOTH
def test_the_environment_comes_before_the_installed_model(info, option):
    code, output, error = info(BERTQA_MODEL=str(TINY))
    assert code == 0 and str(TINY) in output, error
    # Empty is as not set, and a path on the command line comes first.
    assert f"/share/bertqa/models/{MODEL.name}\n" in info(BERTQA_MODEL="")[1]
    assert str(MODEL) in info(*option, str(MODEL), BERTQA_MODEL=str(TINY))[1]


@BOTH
@pytest.mark.parametrize("value", ["/nonexistent/model", "no-such-model", str(FOX)])
def test_a_wrong_path_in_the_environment_is_an_error_that_names_it(info, option, value):
    code, output, error = info(BERTQA_MODEL=value)
    assert code != 0 and output == "" and f"BERTQA_MODEL: {value}" in error


def test_the_environment_is_for_answers_only():
    result = run(
        "classify", "The striker scored twice in the final match.", env=environment(BERTQA_MODEL=str(TINY))
    )
    assert "sport" in result[0]
    error = run("answer", "-q", WHO, FOX, code=3, env=environment(BERTQA_MODEL=str(MODELS / "embed-minilm-l6")))[1]
    assert "embed-minilm-l6" in error


@BOTH
@pytest.mark.parametrize("name", sorted(path.name for path in MODELS.iterdir()))
def test_an_installed_model_by_name(info, option, name, tmp_path):
    code, output, error = info(*option, name, cwd=tmp_path)
    assert code == 0 and f"/{name}" in output, error
    assert info(BERTQA_MODEL=name, cwd=tmp_path)[1] == output
    # An entry of the working directory takes precedence, whatever its kind.
    (tmp_path / name).symlink_to(TINY)
    code, output, error = info(*option, name, cwd=tmp_path)
    assert code == 0 and f"/{name}" not in output
    (tmp_path / name).unlink()
    (tmp_path / name).mkdir()
    assert info(*option, name, cwd=tmp_path)[0] != 0
    (tmp_path / name).rmdir()
    # A path is a path.
    for path in f"./{name}", f"{name}/":
        assert info(*option, path, cwd=tmp_path)[0] != 0


def test_a_name_that_is_no_model(tmp_path):
    assert "no-such-model" in run("info", "-m", "no-such-model", code=3)[1]


def test_other_commands_take_names(tmp_path):
    assert "int8" in run("quantize", "qa-minilm-l6", "out", code=2, cwd=tmp_path)[1]
    assert run("tokenize", "-m", "embed-minilm-l6", "the fox", cwd=tmp_path)[0]


def test_a_context_by_name_is_unpickled_elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with bertqa.Context("topics-words") as context:
        copied = pickle.dumps(context)
    pathlib.Path("topics-words").mkdir()
    with pickle.loads(copied) as context:
        assert context.info.task == "classify"


def test_lists_of_families_are_complete(tmp_path):
    """The error for an unknown architecture names every one that the library knows."""
    (tmp_path / "config.json").write_text('{"architectures": ["Unknown"]}')
    error = run("info", "-m", str(tmp_path), code=3)[1]
    families = set(re.search(r"supported: {(.*?)}", error)[1].split(","))
    assert {"Bert", "ModernBert", "DebertaV2"} <= families
    listed = re.search(r"is an encoder family:(.*?):\n", HEADER, re.S)[1]
    assert set(re.findall(r"\w+", listed)) - {"or"} == families
    table = (ROOT / "docs" / "models.md").read_text()
    assert set(re.findall(r"^\| [^|]+ \| `(\w+)` (?:\|[^|]*){2}\|$", table, re.M)) == families


def cached(root, name):
    """Puts a model into a cache as huggingface_hub does: files are links to blobs, and refs/main has the revision."""
    revision = "1ab2"
    top = root / f"models--{name.replace('/', '--')}"
    snapshot = top / "snapshots" / revision
    snapshot.mkdir(parents=True)
    (top / "blobs").mkdir()
    (top / "refs").mkdir()
    (top / "refs" / "main").write_text(revision)
    for number, path in enumerate(TINY.iterdir()):
        shutil.copy(path, top / "blobs" / str(number))
        (snapshot / path.name).symlink_to(f"../../blobs/{number}")
    return snapshot


@BOTH
def test_a_model_in_the_cache_of_the_hub(info, option, tmp_path):
    """By its name, by each variable that huggingface_hub reads, and by the path of its directory in the cache."""
    places = {
        "HF_HUB_CACHE": tmp_path / "a",
        "HUGGINGFACE_HUB_CACHE": tmp_path / "b",
        "HF_HOME": tmp_path / "c" / "hub",
        "XDG_CACHE_HOME": tmp_path / "d" / "huggingface" / "hub",
        "HOME": tmp_path / "e" / ".cache" / "huggingface" / "hub",
    }
    values = {"HF_HOME": "c", "XDG_CACHE_HOME": "d", "HOME": "e"}
    none = dict.fromkeys(places, "")
    for variable, root in places.items():
        snapshot = cached(root, "some-org/some.model_v2")
        value = tmp_path / values[variable] if variable in values else root
        variables = none | {variable: str(value)}
        code, output, error = info(*option, "some-org/some.model_v2", cwd=tmp_path, **variables)
        assert code == 0 and str(snapshot) in output, error
        assert info(*option, str(snapshot.parent.parent), cwd=tmp_path, **none)[1] == output
        code, output, error = info(*option, "some-org/other", cwd=tmp_path, **variables)
        assert code != 0 and "hf download some-org/other" in error
    # A name without an organisation; the first variable counts.
    snapshot = cached(tmp_path / "a", "plain")
    variables = none | {"HF_HUB_CACHE": str(tmp_path / "a"), "HF_HOME": str(tmp_path / "c")}
    assert str(snapshot) in info(*option, "plain", cwd=tmp_path, **variables)[1]
    # What is in the working directory comes first.
    (tmp_path / "some-org").mkdir()
    (tmp_path / "some-org" / "some.model_v2").symlink_to(TINY)
    assert str(tmp_path / "a") not in info(*option, "some-org/some.model_v2", cwd=tmp_path, **variables)[1]


@BOTH
@pytest.mark.parametrize("revision", ["", "..", "../../elsewhere", "missing", "a" * 200, "1ab2/x"])
def test_a_cache_with_another_revision(info, option, revision, tmp_path):
    """Nothing outside of the model's snapshots is read."""
    snapshot = cached(tmp_path, "org/model")
    (snapshot.parent.parent / "refs" / "main").write_text(revision)
    shutil.copytree(TINY, tmp_path / "elsewhere")
    code, output, error = info(*option, "org/model", cwd=tmp_path, HF_HUB_CACHE=str(tmp_path))
    assert code != 0 and output == "" and "hf download org/model" in error
