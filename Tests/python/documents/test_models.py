"""docs/models.md: its tables are those of the library and of make test-parity."""

import ast
import re

import pytest

import bertqa
from conftest import FIXTURES, ROOT

MODELS = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
TASKS = {
    "ForQuestionAnswering": "answering",
    "ForSequenceClassification": "classifying",
    "ForTokenClassification": "entities",
    "Model": "embedding",
    "ForMaskedLM": "embedding",
    "ForPreTraining": "embedding",
}


def variants():
    """A row for each directory of Tests/parity/test_variants.py: checkpoints, task, form."""
    tree = ast.parse((ROOT / "Tests" / "parity" / "test_variants.py").read_text(encoding="utf-8"))
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    [names] = [
        [element.id for element in node.value.elts]
        for node in tree.body
        if isinstance(node, ast.Assign) and node.targets[0].id == "VARIANTS"
    ]

    def task(name):
        calls = [node for node in ast.walk(functions[name]) if isinstance(node, ast.Call)]
        called = {call.func.id: call for call in calls if isinstance(call.func, ast.Name)}
        if "model" not in called:
            base = [each for each in called if each in names]
            return (
                task(base[0])
                if base
                else {"stanford": "vectors of tokens", "splade": "weights of pieces"}[min(called)]
            )
        kind = called["model"].args[1].value
        return next(task for suffix, task in TASKS.items() if kind.endswith(suffix))

    rows = []
    for name in names:
        checkpoints, form = " ".join(ast.get_docstring(functions[name]).split()).split(": ", 1)
        rows.append(f"| {checkpoints} | {task(name)} | {form} |")
    return rows


def test_the_table_of_variants_is_that_of_the_parity_tests():
    table = MODELS.partition("| checkpoints | task | loads in this form |\n|---|---|---|\n")[2].partition("\n\n")[
        0
    ]
    assert table.splitlines() == variants(), "write:\n" + "\n".join(variants())


def test_the_table_of_families_is_that_of_the_library(tmp_path):
    for path in (FIXTURES / "tiny-bert").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    config = (tmp_path / "config.json").read_text().replace("BertForQuestionAnswering", "NoSuchModel")
    (tmp_path / "config.json").write_text(config)
    with pytest.raises(bertqa.Unsupported) as refusal:
        bertqa.Context(tmp_path)
    supported = re.search(r"supported: \{([\w,]+)\}", str(refusal.value))[1].split(",")
    rows = MODELS.partition("| family | `…` |")[2].partition("\n\n")[0].splitlines()[2:]
    # Families that share a name stand in rows of their own.
    assert {re.search(r"`(\w+)`", row.split("|")[2])[1] for row in rows} == set(supported)
