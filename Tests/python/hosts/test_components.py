"""The components that docs/hosts.md names: short files, which load no host before they are imported."""

import ast
import re
import subprocess
import sys

import pytest

from conftest import PACKAGE, ROOT

#: Lines that a component has at most.
LINES = 120


def sources(name):
    file = PACKAGE / "bertqa" / f"{name}.py"
    return [file] if file.exists() else sorted((PACKAGE / "bertqa" / name).glob("*.py"))


def imports(file):
    """The packages that a file imports when it is imported, without those of Python."""
    found = set()
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.add(node.module.partition(".")[0])
    return found - sys.stdlib_module_names


PAGE = (ROOT / "docs" / "hosts.md").read_text()
NAMES = sorted(name for name in set(re.findall(r"\bbertqa\.(\w+)", PAGE)) if sources(name))
HOSTS = {host for name in NAMES for file in sources(name) for host in imports(file)}


@pytest.mark.parametrize("name", NAMES)
def test_size(name):
    for file in sources(name):
        assert file.read_text().count("\n") < LINES, file


def test_every_component_is_in_the_document():
    """A file that imports a host belongs to a component, and docs/hosts.md names it. Spark and DuckDB have documents of
    their own."""
    files = {file for file in (PACKAGE / "bertqa").rglob("*.py") if imports(file) & HOSTS}
    assert {file.relative_to(PACKAGE / "bertqa").parts[0].removesuffix(".py") for file in files} <= {*NAMES}
    assert HOSTS == {
        "haystack", "langchain_core", "llama_index", "numpy", "pandas", "polars", "presidio_analyzer", "sklearn", "spacy"
    }  # fmt: skip


def test_hosts_are_imported_by_their_components_alone():
    """The package, a pipeline and a whole answer work where no host is installed."""
    program = f"""
import sys

class Nothing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {HOSTS!r}:
            raise ImportError(f"{{name}} was imported")

sys.meta_path.insert(0, Nothing())
import bertqa

for name in bertqa.__all__:
    getattr(bertqa, name)
assert bertqa.pipeline("question-answering")(question="Who fell?", context="Ann fell.")["answer"] == "Ann"
for name in {NAMES!r}:
    assert "bertqa." + name not in sys.modules, name
"""
    subprocess.run([sys.executable, "-c", program], check=True)
