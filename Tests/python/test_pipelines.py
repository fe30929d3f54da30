"""The recipes for the shell in docs/pipelines.md, run as they stand, one after the other in one directory."""

import json
import os
import re
import shlex
import shutil
import subprocess
import threading

import pytest
from test_readme import blocks

from conftest import PREFIX, ROOT

DOCUMENT = ROOT / "docs" / "pipelines.md"


def test_recipes(tmp_path):
    recipes = [block for block in blocks(DOCUMENT) if block.language == "sh"]
    assert len(recipes) >= 6
    environment = os.environ | {"PATH": f"{PREFIX / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    # GNU parallel would ask for a citation once.
    environment["PARALLEL_HOME"] = str(tmp_path / "parallel")
    (tmp_path / "parallel").mkdir()
    (tmp_path / "parallel" / "will-cite").touch()
    for recipe in recipes:
        result = subprocess.run(
            ["sh", "-e", "-c", recipe.code],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert result.returncode == 0, (recipe.code, result.stderr)
        assert recipe.output == result.stdout, recipe.code
        assert re.fullmatch(r"(bertqa: line 3 \(3\): there is no field 'text'\n)?", result.stderr), recipe.code


def test_the_command_of_spark(tmp_path):
    """As Spark's pipe runs it on the first recipe's file: words split at spaces but for quotes, no environment."""
    text = DOCUMENT.read_text()
    [line] = re.findall(r'^command = "(/usr/local/bin/bertqa filter .*)"$', text, re.M)
    records = re.search(r"cat > reports.jsonl <<'END'\n(.*?)END\n", text, re.S)[1]
    command = [str(PREFIX / "bin" / "bertqa"), *shlex.split(line)[1:]]
    result = subprocess.run(
        command, input=records, capture_output=True, text=True, env={}, cwd=tmp_path, timeout=300
    )
    assert result.returncode == 0, result.stderr
    answered = [json.loads(record) for record in result.stdout.splitlines()]
    assert [record["id"] for record in answered] == [1, 2, 3]
    assert answered[0]["bertqa"]["answers"][0]["text"] == "its bearing had run dry"
    assert answered[2]["bertqa"] is None and answered[2]["bertqa_error"] == "there is no field 'text'"


@pytest.mark.skipif(not shutil.which("kcat"), reason="the recipe for Kafka: needs kcat")
def test_kafka(tmp_path):
    """As it stands, between two topics of the broker that librdkafka plays, inside a kcat that waits for input."""
    mock = subprocess.Popen(
        ["kcat", "-P", "-b", "unused:1", "-X", "test.mock.num.brokers=1", "-d", "mock", "-t", "unused"],
        stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        address = next(filter(None, (re.search(r"bootstrap.servers=(127\S+)", line) for line in mock.stderr)))[1]
        # What else it says is read, so that it never waits.
        threading.Thread(target=mock.stderr.read, daemon=True).start()
        kcat = ["kcat", "-q", "-b", address]
        records = '{"id": 1, "text": "The pump failed as its bearing had run dry."}\n{"id": 2}\n{"id": 3, "text": "Ann slept."}\n'
        subprocess.run([*kcat, "-P", "-t", "reports"], input=records, text=True, check=True, timeout=300)
        # Producing makes a topic there; a consumer alone does not.
        subprocess.run([*kcat, "-P", "-t", "answered"], input="", text=True, check=True, timeout=300)
        [recipe] = [block for block in blocks(DOCUMENT) if block.language == "bash"]
        environment = os.environ | {
            "PATH": f"{PREFIX / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "BROKERS": address,
        }
        subprocess.run(["sh", "-e", "-c", recipe.code], env=environment, check=True, timeout=300)
        command = [*kcat, "-C", "-t", "answered", "-o", "beginning", "-e"]
        result = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    finally:
        mock.kill()
        mock.wait()
    answered = [json.loads(line) for line in result.stdout.splitlines()]
    assert sorted(record["id"] for record in answered) == [1, 3]
    answers = {record["id"]: record["bertqa"]["answers"][0]["text"] for record in answered}
    assert answers[1] == "its bearing had run dry"


def test_options_in_the_document_exist():
    text = DOCUMENT.read_text()
    known = set(re.findall(r"--[a-z][a-z-]+", subprocess.run(
        [PREFIX / "bin" / "bertqa", "filter", "--help"], capture_output=True, text=True, check=True
    ).stdout))  # fmt: skip
    # Of the recipes' other programs.
    others = {"--json", "--keep-order", "--pipepart", "--block"}
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) <= known | others
