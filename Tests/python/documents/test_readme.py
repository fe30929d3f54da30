"""Runs the examples of the documents: each must succeed and print the text below it."""

import os
import re
import shlex
import subprocess
import sys
import textwrap

import pytest

from code_blocks import blocks
from conftest import PACKAGE, PREFIX, ROOT

DOCUMENTS = [
    ROOT / "README.md",
    *(
        ROOT / "docs" / name
        for name in ("models.md", "classification.md", "embeddings.md", "sequences.md", "entities.md", "hosts.md")
    ),
    PACKAGE / "README.md",
    ROOT / "packaging" / "python-models" / "README.md",
]
SWIFT_TEST = ROOT / "Tests" / "BertQACoreTests" / "Context" / "PublicAPITests.swift"


def run(command, **options):
    result = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=300, **options)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    return result.stdout


def compile_c(code, directory):
    """Compiles as the README says, and returns the command that runs it."""
    (directory / "program.c").write_text(code)
    environment = os.environ | {"PKG_CONFIG_PATH": str(PREFIX / "lib" / "pkgconfig")}
    flags = shlex.split(run(["pkg-config", "--cflags", "--libs", "bertqa"], env=environment))
    warnings = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    run(["cc", *warnings, directory / "program.c", "-o", directory / "program", *flags])
    return [directory / "program"]


def run_block(block, directory):
    environment = os.environ.copy()
    if block.language == "c":
        environment["LD_LIBRARY_PATH"] = str(PREFIX / "lib")
        return run(compile_c(block.code, directory), env=environment)
    if block.language == "python":
        return run([sys.executable, "-c", block.code], env=environment)
    environment["PATH"] = f"{PREFIX / 'bin'}{os.pathsep}{environment['PATH']}"
    return run(["sh", "-e", "-c", block.code], env=environment)


RUNNABLE = [
    block for document in DOCUMENTS for block in blocks(document) if block.language in ("c", "python", "sh")
]


@pytest.mark.parametrize("block", RUNNABLE, ids=str)
def test_example(block, tmp_path):
    output = run_block(block, tmp_path)
    if block.output is not None:
        assert output == block.output


def test_nothing_is_left_out():
    languages = {block.language for block in RUNNABLE if block.document.name == "README.md"}
    assert languages == {"c", "python", "sh"}
    for document in DOCUMENTS:
        found = blocks(document)
        assert document.read_text(encoding="utf-8").count("```") % 2 == 0
        assert {block.language for block in found} <= {"", "c", "diff", "python", "sh", "swift"}, (
            "text without its program"
        )
        assert [block for block in found if block.language == "python"], document


def test_header_has_the_readmes_program():
    header = (ROOT / "include" / "bertqa.h").read_text()
    comment = header[header.index("A whole program:") : header.index("cc program.c")]
    lines = [line.removeprefix(" *") for line in comment.splitlines()[1:-1]]
    [program] = [block.code for block in blocks(ROOT / "README.md") if block.language == "c"]
    assert textwrap.dedent("\n".join(lines)).strip() == program.strip()


def test_first_swift_example_is_compiled_by_the_swift_tests():
    guide = ROOT / "Sources" / "BertQACore" / "BertQACore.docc" / "AnsweringQuestions.md"
    program = next(block.code for block in blocks(guide) if block.language == "swift")
    test = SWIFT_TEST.read_text()
    assert "@testable" not in test
    body = textwrap.dedent(re.search(r"// guide\n(.*?)// guide ends\n", test, re.S)[1])
    program = program.replace('"models/qa-minilm-l6"', "modelDirectory")
    expected = [line for line in program.splitlines() if line and not line.startswith("import ")]
    assert body.splitlines() == expected
    assert set(re.findall(r"^import .*", program, re.M)) <= set(re.findall(r"^import .*", test, re.M))


def test_commands_named_in_the_readme_exist():
    readme = (ROOT / "README.md").read_text()
    targets = set(re.findall(r"^([a-z0-9-]+):.*##", (ROOT / "Makefile").read_text(), re.M))
    named = set(re.findall(r"(?:^|`)make ([a-z][a-z0-9-]*)", readme, re.M))
    assert named and named <= targets
    for link in re.findall(r"\]\(([^)#:]+)\)", readme):
        assert (ROOT / link).exists(), link
