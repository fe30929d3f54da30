"""Runs the shell examples of docs/pipelines.md and docs/recipes.md as they are, in order, in one directory."""

import json
import os
import re
import shlex
import shutil
import subprocess
import threading

import pytest

from code_blocks import blocks
from conftest import PREFIX, ROOT

PIPELINES, RECIPES = (ROOT / "docs" / name for name in ("pipelines.md", "recipes.md"))


def test_recipes(tmp_path):
    recipes = [block for page in (PIPELINES, RECIPES) for block in blocks(page) if block.language == "sh"]
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
    """As Spark's pipe runs it on the first recipe's file: split at spaces except in quotes, with an empty
    environment."""
    [line] = re.findall(r'^command = "(/usr/local/bin/bertqa filter .*)"$', RECIPES.read_text(), re.M)
    records = re.search(r"cat > reports.jsonl <<'END'\n(.*?)END\n", PIPELINES.read_text(), re.S)[1]
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
    """Runs the recipe between two topics of librdkafka's mock broker, inside a kcat that waits for input."""
    mock = subprocess.Popen(
        ["kcat", "-P", "-b", "unused:1", "-X", "test.mock.num.brokers=1", "-d", "mock", "-t", "unused"],
        stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        address = next(filter(None, (re.search(r"bootstrap.servers=(127\S+)", line) for line in mock.stderr)))[1]
        # Reads the rest of the output, so that the process never waits.
        threading.Thread(target=mock.stderr.read, daemon=True).start()
        kcat = ["kcat", "-q", "-b", address]
        records = '{"id": 1, "text": "The pump failed as its bearing had run dry."}\n{"id": 2}\n{"id": 3, "text": "Ann slept."}\n'
        subprocess.run([*kcat, "-P", "-t", "reports"], input=records, text=True, check=True, timeout=300)
        # Producing makes a topic there; a consumer alone does not.
        subprocess.run([*kcat, "-P", "-t", "answered"], input="", text=True, check=True, timeout=300)
        [recipe] = [block for block in blocks(RECIPES) if block.language == "bash"]
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


@pytest.mark.skipif(not shutil.which("airflow"), reason="the recipe for Airflow: needs airflow")
def test_airflow(tmp_path):
    """Runs the recipe's task twice by `airflow dags test`, with another directory."""
    recipe = re.search(r"## Airflow .*?```text\n(.*?)```", RECIPES.read_text(), re.S)[1]
    (tmp_path / "dags").mkdir()
    (tmp_path / "data").mkdir()
    head = (
        "from datetime import datetime\nfrom airflow import DAG\nfrom airflow.operators.bash import BashOperator\n"
    )
    head += 'with DAG("check", start_date=datetime(2026, 1, 1), schedule="@daily", catchup=False):\n'
    body = recipe.replace("/data/", f"{tmp_path}/data/")
    (tmp_path / "dags" / "check.py").write_text(head + "".join(f"    {line}\n" for line in body.splitlines()))
    environment = os.environ | {
        "AIRFLOW_HOME": str(tmp_path),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "PATH": f"{PREFIX / 'bin'}{os.pathsep}{os.environ['PATH']}",
    }
    airflow = {"env": environment, "cwd": tmp_path, "check": True, "capture_output": True, "timeout": 600}
    subprocess.run(["airflow", "db", "migrate"], **airflow)
    source, target = tmp_path / "data/2026-03-01.jsonl", tmp_path / "data/2026-03-01.answered.jsonl"
    record = '{"id": 1, "text": "The pump failed as its bearing had run dry."}\n'
    for count in (1, 2):
        source.write_text(record * count)
        subprocess.run(["airflow", "dags", "test", "check", "2026-03-01"], **airflow)
        answered = [json.loads(line)["bertqa"]["answers"][0]["text"] for line in target.read_text().splitlines()]
        assert answered == ["its bearing had run dry"] * count


def test_every_recipe_says_whether_it_is_run():
    recipes = RECIPES.read_text().split("\n## ")[1:]
    names = [recipe.split("\n")[0] for recipe in recipes]
    assert {name.split(" — ")[0] for name in names} >= {
        "Kafka, by kcat", "Vector", "Logstash", "Redpanda Connect", "NiFi", "Airflow"
    }  # fmt: skip
    for name, recipe in zip(names, recipes, strict=True):
        assert name.endswith((" — run", " — not run", " — run where it is installed"))
        # The tests look for blocks of these languages.
        assert bool(re.search(r"^```(sh|bash)$", recipe, re.M)) == name.endswith(" — run"), name


def test_the_table_of_statistics(tmp_path):
    stats, metrics = tmp_path / "stats", tmp_path / "metrics"
    command = [PREFIX / "bin" / "bertqa", "filter", "--task=tokenize", "--stats", stats, "--metrics", metrics]
    subprocess.run(command, input=b'{"text":"a"}', check=True, stdout=subprocess.DEVNULL)
    rows = [line.split("|")[1:4] for line in PIPELINES.read_text().splitlines() if line.startswith("  | `")][1:]
    members = [name for row in rows for name in re.findall(r"`(\w+)`", row[0])]
    summary = json.loads(stats.read_text())
    assert sorted(members) == sorted(summary)
    [kinds] = [row[2] for row in rows if "failed_by_kind" in row[0]]
    assert re.findall(r"`(\w+)`", kinds) == list(summary["failed_by_kind"])
    names = [name for row in rows for name in re.findall(r"`(\w+)", row[1])]
    assert sorted(names) == sorted(re.findall(r"# TYPE bertqa_filter_(\w+)", metrics.read_text()))


def test_options_in_the_documents_exist():
    text = PIPELINES.read_text() + RECIPES.read_text()
    known = set(re.findall(r"--[a-z][a-z-]+", subprocess.run(
        [PREFIX / "bin" / "bertqa", "filter", "--help"], capture_output=True, text=True, check=True
    ).stdout))  # fmt: skip
    # Options of the other programs in recipes.
    others = {"--json", "--keep-order", "--pipepart", "--block"}
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) <= known | others
