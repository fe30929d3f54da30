"""The wheel: what is in it, and that it works where nothing else is."""

import json
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import venv
import zipfile

import pytest

from conftest import PACKAGE, PREFIX, ROOT, clean_environment
from samples import ANSWER, FOX, WHO


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """As `make wheel` makes it, with the setuptools that is here."""
    directory = tmp_path_factory.mktemp("wheel")
    command = [ROOT / "Scripts" / "wheel.sh", directory, sys.executable, "--no-build-isolation", "--no-index"]
    subprocess.run(command, check=True, env=clean_environment() | {"BERTQA_PREFIX": str(PREFIX)})
    [wheel] = directory.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory):
    """The interpreter of a fresh environment that holds nothing but the wheel."""
    directory = tmp_path_factory.mktemp("venv")
    venv.create(directory, with_pip=False, symlinks=True)
    python = directory / "bin" / "python"
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-index", "--no-deps", wheel],
        check=True, env=clean_environment(),
    )  # fmt: skip
    return python


def run(python, code, directory):
    result = subprocess.run(
        [python, "-c", code], capture_output=True, text=True, cwd=directory, env=clean_environment(), timeout=300
    )
    assert (result.returncode, result.stderr) == (0, ""), result.stderr
    return result.stdout


def needed_glibc():
    """The newest version of glibc whose symbols the library or the tool needs."""
    needed = subprocess.run(
        ["readelf", "--version-info", "--wide", PREFIX / "lib" / "libbertqa.so.1", PREFIX / "bin" / "bertqa"],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    return max(int(minor) for minor in re.findall(r"Name: GLIBC_2\.(\d+)", needed))


def test_tag(wheel):
    tag = f"py3-none-manylinux_2_{needed_glibc()}_{platform.machine()}"
    version = re.search(r'^version = "(.*)"', (PACKAGE / "pyproject.toml").read_text(), re.M)[1]
    assert wheel.name == f"bertqa-{version}-{tag}.whl"
    with zipfile.ZipFile(wheel) as archive:
        metadata = archive.read(f"bertqa-{version}.dist-info/WHEEL").decode()
        assert "Root-Is-Purelib: false" in metadata and f"Tag: {tag}\n" in metadata
        metadata = archive.read(f"bertqa-{version}.dist-info/METADATA").decode()
    assert "Requires-Dist" not in metadata and "License-Expression: Apache-2.0" in metadata
    assert (PACKAGE / "README.md").read_text(encoding="utf-8") in metadata
    header = (ROOT / "include" / "bertqa.h").read_text()
    assert version == ".".join(re.findall(r"BERTQA_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))


def test_auditwheel_finds_the_same_tag(wheel):
    command = [sys.executable, "-m", "auditwheel", "show", "--json", wheel]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert wheel.name.endswith(f"-{found['overall_tag']}.whl")
    assert found["external_libs"] == {}, "needs a library that manylinux does not promise"


def test_contents(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        modules = {
            str(path.relative_to(PACKAGE))
            for path in (PACKAGE / "bertqa").rglob("*")
            if path.suffix in (".py", ".css", ".html", ".js", ".txt")
        }
        model = PREFIX / "share" / "bertqa" / "models"
        files = {f"bertqa/lib/models/{path.relative_to(model)}" for path in model.rglob("*") if path.is_file()}
        assert "bertqa/lib/models/qa-minilm-l6/model.safetensors" in files
        assert names == modules | files | {"bertqa/py.typed", "bertqa/lib/libbertqa.so.1", "bertqa/lib/bertqa"}
        assert archive.read("bertqa/lib/bertqa") == (PREFIX / "bin" / "bertqa").read_bytes()
        assert archive.read("bertqa/lib/libbertqa.so.1") == (PREFIX / "lib" / "libbertqa.so.1").read_bytes()
        [licence] = [name for name in archive.namelist() if name.endswith("LICENSE")]
        assert archive.read(licence) == (ROOT / "LICENSE").read_bytes()


def test_examples_of_the_readmes(python, tmp_path):
    from test_readme import blocks

    for readme in ROOT / "README.md", PACKAGE / "README.md":
        block = next(block for block in blocks(readme) if block.language == "python")
        assert run(python, block.code, tmp_path) == block.output


def test_library_and_model_are_the_wheels_own(python, tmp_path):
    code = """
import bertqa, os, sys
package = os.path.dirname(bertqa.__file__)
directory = os.path.realpath(bertqa.Context().info.directory)
loaded = {line.split()[-1] for line in open("/proc/self/maps") if "libbertqa" in line}
print(os.path.relpath(directory, package), [os.path.relpath(path, package) for path in loaded])
print("site-packages" in package)
"""
    expected = "lib/models/qa-minilm-l6 ['lib/libbertqa.so.1']\nTrue\n"
    assert run(python, code, tmp_path) == expected


def tool(command, *arguments, directory, **environment):
    """The tool as a user of the environment of `python` runs it."""
    return subprocess.run(
        [*command, *arguments], input=FOX, capture_output=True, text=True, cwd=directory, timeout=300,
        env={**clean_environment(), "PATH": f"{command[0].parent}:/usr/bin:/bin", **environment},
    )  # fmt: skip


def test_the_tool_is_the_wheels_own(python, tmp_path):
    """As `python -m bertqa` and as `bertqa`, with the wheel's models, from any directory."""
    script = python.with_name("bertqa")
    for command in ([python, "-m", "bertqa"], [script]):
        result = tool(command, "answer", "-q", WHO, directory=tmp_path)
        assert (result.returncode, result.stdout, result.stderr) == (0, f"{ANSWER}\n", "")
        version = tool(command, "--version", directory=tmp_path).stdout
        assert (
            version == subprocess.run([PREFIX / "bin/bertqa", "--version"], capture_output=True, text=True).stdout
        )
        assert tool(command, "no-such-command", directory=tmp_path).returncode == 2
        for task in "classify", "embed":
            assert tool(command, task, directory=tmp_path).returncode == 0
        shown = tool(command, "info", directory=tmp_path)
        assert "site-packages/bertqa/lib/models/qa-minilm-l6" in shown.stdout


def test_the_tool_runs_where_modes_were_lost(wheel, tmp_path):
    """Python's zipfile unpacks without them, as some installers do."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    result = tool(
        [pathlib.Path(sys.executable), "-m", "bertqa"], "answer", "-q", WHO,
        directory=tmp_path, PYTHONPATH=str(tmp_path),
    )  # fmt: skip
    assert (result.returncode, result.stdout) == (0, f"{ANSWER}\n")


def test_the_script_does_not_run_itself(python, tmp_path):
    """Without the packaged tool, only `bertqa` in the PATH is left: the script."""
    package = tmp_path / "bertqa"
    shutil.copytree(PACKAGE / "bertqa", package, ignore=shutil.ignore_patterns("__pycache__"))
    result = tool([python.with_name("bertqa")], "--help", directory=tmp_path, PYTHONPATH=str(tmp_path))
    assert result.returncode == 1 and "the bertqa tool is not installed" in result.stderr


def test_import_brings_in_nothing_heavy(python, tmp_path):
    code = """
import sys
before = set(sys.modules)
import bertqa
print(*sorted({name.partition(".")[0] for name in set(sys.modules) - before}))
"""
    modules = set(run(python, code, tmp_path).split())
    assert "bertqa" in modules and modules - {"bertqa"} <= set(sys.stdlib_module_names)
    assert not modules & {"asyncio", "multiprocessing", "http", "email", "typing_extensions"}


def test_a_missing_library_is_named(tmp_path):
    source = tmp_path / "source"
    shutil.copytree(PACKAGE, source)
    command = [sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "-w", tmp_path, source]
    result = subprocess.run(
        command, env=clean_environment() | {"BERTQA_PREFIX": "/nowhere"}, capture_output=True, text=True
    )
    assert result.returncode != 0
    assert "/nowhere/lib/libbertqa.so.1 is missing" in result.stderr and "run `make` first" in result.stderr
