"""The wheels: their contents, and that they work without anything else."""

import json
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import venv
import zipfile

import packaging.metadata
import pytest

from conftest import PACKAGE, PREFIX, ROOT, clean_environment
from samples import ANSWER, FOX, VERSION, WHO


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    """Made as by `make wheel`, with the installed setuptools."""
    if not (PREFIX / "lib" / "bertqa_sqlite.so").exists():
        pytest.skip("the wheels: make sqlite")
    directory = tmp_path_factory.mktemp("wheel")
    command = [ROOT / "Scripts" / "wheel.sh", directory, sys.executable, "--no-build-isolation", "--no-index"]
    subprocess.run(command, check=True, env=clean_environment() | {"BERTQA_PREFIX": str(PREFIX)})
    return directory


@pytest.fixture(scope="module")
def wheel(wheels):
    [wheel] = wheels.glob("bertqa-*.whl")
    return wheel


@pytest.fixture(scope="module")
def models_wheel(wheels):
    [wheel] = wheels.glob("bertqa_models-*.whl")
    return wheel


def environment_with(wheels, directory, requirement):
    """The interpreter of a fresh environment with only these packages."""
    venv.create(directory, with_pip=False, symlinks=True)
    python = directory / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-index", "--find-links", wheels]
    subprocess.run([*pip, requirement], check=True, env=clean_environment())
    return python


@pytest.fixture(scope="module")
def python(wheels, tmp_path_factory):
    return environment_with(wheels, tmp_path_factory.mktemp("venv"), "bertqa")


@pytest.fixture(scope="module")
def python_with_models(wheels, tmp_path_factory):
    return environment_with(wheels, tmp_path_factory.mktemp("venv"), "bertqa[models]")


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


def metadata(wheel):
    """The wheel's metadata, each field checked as PyPI does."""
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return packaging.metadata.Metadata.from_email(archive.read(name), validate=True)


@pytest.mark.parametrize("name", ["wheel", "models_wheel"])
def test_metadata(name, request):
    found = metadata(request.getfixturevalue(name))
    assert {"Homepage", "Documentation", "Source", "Issues", "Changelog"} <= found.project_urls.keys()
    assert found.author_email and found.keywords and found.summary and len(found.summary) < 120
    assert {"Operating System :: POSIX :: Linux", "Programming Language :: Python :: 3 :: Only"} <= set(
        found.classifiers
    )
    assert not [each for each in found.classifiers if each.startswith("License ::")], "the expression says it"
    assert found.license_files == ["LICENSE", "NOTICE"] and found.description_content_type == "text/markdown"
    # The page on PyPI cannot link to files of the repository.
    links = re.findall(r"\]\(([^)]+)\)", found.description)
    assert not [link for link in links if not link.startswith(("https://", "#"))]


def test_licences(wheel, models_wheel):
    """The licences of the package and of its models agree with the bill of materials."""
    sys.path.insert(0, str(ROOT / "Scripts"))
    from sbom import licence_of

    cards = {card.parent.name: licence_of(card) for card in (ROOT / "models").glob("*/MODEL_CARD.md")}
    inside = {"Apache-2.0", cards.pop("qa-minilm-l6")}
    for file, licences in (wheel, inside), (models_wheel, {"Apache-2.0", *cards.values()}):
        assert set(metadata(file).license_expression.split(" AND ")) == licences


def test_versions(wheel, models_wheel):
    version = str(metadata(wheel).version)
    assert str(metadata(models_wheel).version) == version
    [needed] = metadata(wheel).requires_dist
    assert str(needed) == f'bertqa-models=={version}; extra == "models"'
    assert models_wheel.name == f"bertqa_models-{version}-py3-none-any.whl"


def test_sizes(wheel):
    """Most of the size is the weights of the answering model."""
    assert wheel.stat().st_size < 40e6


def test_tag(wheel):
    tag = f"py3-none-manylinux_2_{needed_glibc()}_{platform.machine()}"
    version = re.search(r'^version = "(.*)"', (PACKAGE / "pyproject.toml").read_text(), re.M)[1]
    assert wheel.name == f"bertqa-{version}-{tag}.whl"
    with zipfile.ZipFile(wheel) as archive:
        about = archive.read(f"bertqa-{version}.dist-info/WHEEL").decode()
        assert "Root-Is-Purelib: false" in about and f"Tag: {tag}\n" in about
    assert version == VERSION


def test_auditwheel_finds_the_same_tag(wheel):
    command = [sys.executable, "-m", "auditwheel", "show", "--json", wheel]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert wheel.name.endswith(f"-{found['overall_tag']}.whl")
    assert found["external_libs"] == {}, "needs a library that manylinux does not promise"


def test_contents(wheel, models_wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        modules = {
            str(path.relative_to(PACKAGE))
            for path in (PACKAGE / "bertqa").rglob("*")
            if path.suffix in (".py", ".css", ".html", ".js", ".txt")
        }
        binaries = {f"bertqa/lib/{name}" for name in ("libbertqa.so.1", "bertqa_sqlite.so", "bertqa")}
        files = {f"bertqa/lib/models/{path}" for path in model_files() if path.parts[0] == "qa-minilm-l6"}
        assert "bertqa/lib/models/qa-minilm-l6/model.safetensors" in files
        assert names == modules | files | binaries | {"bertqa/py.typed"}
        assert archive.read("bertqa/lib/bertqa") == (PREFIX / "bin" / "bertqa").read_bytes()
        assert archive.read("bertqa/lib/libbertqa.so.1") == (PREFIX / "lib" / "libbertqa.so.1").read_bytes()
        [licence] = [name for name in archive.namelist() if name.endswith("LICENSE")]
        assert archive.read(licence) == (ROOT / "LICENSE").read_bytes()
    with zipfile.ZipFile(models_wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        files = {f"bertqa_models/{path}" for path in model_files() if path.parts[0] != "qa-minilm-l6"}
        assert names == files | {"bertqa_models/__init__.py"} and len(files) > 20


def model_files():
    models = PREFIX / "share" / "bertqa" / "models"
    return {path.relative_to(models) for path in models.rglob("*") if path.is_file()}


TASKS = {"classify": "topics-words", "embed": "embed-minilm-l6", "entities": "entities-minilm-l6",
         "predict": "shakespeare-lstm"}  # fmt: skip


@pytest.mark.parametrize("task", TASKS)
def test_models_of_their_own(python, python_with_models, task, tmp_path):
    """Python, the tool and SQLite's extension find the models of bertqa-models, or say where to get them."""
    code = f"import bertqa, os; print(os.path.realpath(bertqa.Context(task={task!r}).info.directory))"
    [site] = python_with_models.parents[1].glob("lib/python*/site-packages")
    assert run(python_with_models, code, tmp_path) == f"{site / 'bertqa_models' / TASKS[task]}\n"
    failed = subprocess.run(
        [python, "-c", code], capture_output=True, text=True, cwd=tmp_path, env=clean_environment()
    )
    assert failed.returncode == 1 and "pip install 'bertqa[models]'" in failed.stderr
    assert "ModelIOError" in failed.stderr
    if task != "predict":
        assert tool([python_with_models.with_name("bertqa")], task, directory=tmp_path).stderr == ""
        failed = tool([python.with_name("bertqa")], task, directory=tmp_path)
        assert failed.returncode == 3 and "pip install 'bertqa[models]'" in failed.stderr


SQL = f"""
import bertqa.sqlite, sqlite3
connection = sqlite3.connect(":memory:")
bertqa.sqlite.load(connection)
print(connection.execute("SELECT bertqa_answer(?, ?)", ({WHO!r}, {FOX!r})).fetchone()[0])
print(connection.execute("SELECT count(*) FROM bertqa_entities('Ann met Zoë in London.')").fetchone()[0] > 0)
try:
    connection.load_extension("libc.so.6")
except sqlite3.OperationalError as error:
    print(error)
"""


def test_sqlite(python_with_models, tmp_path):
    """The wheel's own extension, in the first Python here whose sqlite3 loads extensions."""
    able = "import sqlite3; sqlite3.Connection.enable_load_extension"
    for interpreter in python_with_models, pathlib.Path("/usr/bin/python3"):
        if interpreter.exists() and subprocess.run([interpreter, "-c", able], capture_output=True).returncode == 0:
            break
    else:
        pytest.skip("bertqa.sqlite: needs a Python whose sqlite3 loads extensions")
    [site] = python_with_models.parents[1].glob("lib/python*/site-packages")
    code = f"import sys; sys.path.insert(0, {str(site)!r})" + SQL
    assert run(interpreter, code, tmp_path) == f"{ANSWER}\nTrue\nnot authorized\n"


def test_sqlite_without_extensions(python, tmp_path):
    """If sqlite3 was built without extension loading, the error says what to do."""
    code = """
import bertqa.sqlite
class Connection: pass
try:
    bertqa.sqlite.load(Connection())
except bertqa.sqlite.sqlite3.NotSupportedError as error:
    print(error)
"""
    said = run(python, code, tmp_path)
    assert "without loading of extensions" in said and "Debian's python3" in said and "pysqlite3" in said


def test_examples_of_the_readmes(python, tmp_path):
    from code_blocks import blocks

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
    """Runs the tool as a user of the environment of `python` does."""
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
        shown = tool(command, "info", directory=tmp_path)
        assert "site-packages/bertqa/lib/models/qa-minilm-l6" in shown.stdout


def test_the_tool_runs_where_modes_were_lost(wheel, tmp_path):
    """Python's zipfile unpacks without file modes, and so do some installers."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    result = tool(
        [pathlib.Path(sys.executable), "-m", "bertqa"], "answer", "-q", WHO,
        directory=tmp_path, PYTHONPATH=str(tmp_path),
    )  # fmt: skip
    assert (result.returncode, result.stdout) == (0, f"{ANSWER}\n")


def test_the_script_does_not_run_itself(python, tmp_path):
    """Without the packaged tool, only the script `bertqa` in PATH is left."""
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
