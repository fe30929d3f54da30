"""bertqa.spark on a standalone cluster of two workers, whose processes get the package only from Spark."""

import json
import os
import pathlib
import pickle
import re
import shutil
import signal
import subprocess
import sys
import time
import zipfile

import pyarrow
import pytest

import bertqa
import bertqa.spark
import spark_cluster
from bertqa import _spark
from code_blocks import blocks
from conftest import FIXTURES, PREFIX, ROOT, clean_environment
from samples import FOX, WHO

JOBS = ROOT / "Tests" / "python" / "spark" / "spark_jobs.py"
PARTS = {"labelled": "tiny-bert-classifier", "embedder": "tiny-bert-embedder", "found": "tiny-bert-entities"}
MISSING = spark_cluster.missing()
needs_cluster = pytest.mark.skipif(MISSING is not None, reason=f"Spark: {MISSING}")


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The wheel with the answering model, under a name that Spark accepts."""
    directory = tmp_path_factory.mktemp("wheel")
    command = [ROOT / "Scripts" / "wheel.sh", directory, sys.executable, "--no-build-isolation", "--no-index"]
    subprocess.run(
        command, check=True, env=clean_environment() | {"BERTQA_PREFIX": str(PREFIX)}, capture_output=True
    )
    [wheel] = directory.glob("bertqa-*.whl")
    return wheel.rename(directory / "bertqa.zip")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    # Its ten short processes spend half of their time in the optimising compiler otherwise.
    quick = {"JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
    cluster = spark_cluster.Cluster(tmp_path_factory.mktemp("cluster"), clean_environment() | quick)
    yield cluster
    cluster.close()


def last_line(output):
    return json.loads(output.splitlines()[-1])


# Without a cluster


def test_rows_that_fail_are_found_one_by_one():
    """Whichever rows fail, the others have their results, and no row is processed more than log2 times."""
    for bad in set(), {0}, {7}, {0, 1, 2}, {3, 9, 31}, set(range(32)), set(range(1, 32, 2)):
        asked = [0] * 32

        def run(start, end):
            for row in range(start, end):
                asked[row] += 1
            for row in range(start, end):
                if row in bad:
                    raise bertqa.TooLarge(f"documents[{row - start}]: too large: {row}", item=row - start)
            return list(range(start, end))

        failed = {}
        parts = _spark.run_rows(run, 32, failed)
        assert failed == {row: f"too large: {row}" for row in bad}
        assert sorted(row for _, part in parts for row in part) == sorted(set(range(32)) - bad)
        assert all(part == list(range(start, start + len(part))) for start, part in parts)
        assert max(asked) <= 12


@pytest.mark.parametrize("item", [4, None])
def test_a_row_that_fails_with_others_only_has_not_failed(item):
    def run(start, end):
        if end - start > 4:
            raise bertqa.TooLarge("documents[5]: too large", item=item)
        return list(range(start, end))

    failed = {}
    parts = _spark.run_rows(run, 30, failed)
    assert failed == {} and sorted(row for _, part in parts for row in part) == list(range(30))


@pytest.mark.parametrize("error", [bertqa.OutOfMemory("none left", item=1), bertqa.WrongModel("of another task")])
def test_what_is_no_row_s_fault_ends_the_task(error):
    def run(start, end):
        raise error

    with pytest.raises(type(error)):
        _spark.run_rows(run, 3, {})


@pytest.mark.parametrize(
    "task, options, expected",
    [
        ("redact", {"kinds": ["email"], "mask": 3}, ["***@*.org 10.0.0.1", None, ""]),
        ("redact", {"max_bytes": 1}, [None, None, ""]),
        ("redact", {"allow": ["ann@x.org"], "deny": ["0.1"]}, ["ann@x.org [IP]", None, ""]),
        ("patterns", {}, [["EMAIL", "IP"], None, []]),
        (
            "redact",
            {"rules": bertqa.Rules([{"name": "ANN", "expression": r"\bann\b"}]), "kinds": ["ip"]},
            ["[ANN]@x.org [IP]", None, ""],
        ),
    ],
)
def test_rules_need_no_model(monkeypatch, task, options, expected):
    monkeypatch.setattr(_spark, "opened", lambda *_, **__: None)
    work = _spark.Work(
        task=task, text=0, question=None, question_column=None, keep=[], names=["column0", "column1"],
        has_errors=True, model={"model": None, "precision": None, "isa": None}, options=options, counts=None,
    )  # fmt: skip
    texts = pyarrow.array(["ann@x.org 10.0.0.1", None, ""], pyarrow.string())
    # As Spark sends it to the workers.
    work = pickle.loads(pickle.dumps(work))
    [batch] = work(iter([pyarrow.RecordBatch.from_arrays([texts], ["text"])]))
    assert batch.schema.types == [_spark.result_type(task), pyarrow.string()]
    rows = batch.column(0).to_pylist()
    assert [[one["label"] for one in row] if isinstance(row, list) else row for row in rows] == expected
    assert [error is None for error in batch.column(1).to_pylist()] == ["max_bytes" not in options, True, True]


def test_counts_need_a_spark_context():
    """A session of Spark Connect has none."""
    with pytest.raises(TypeError, match="Counts needs a SparkContext, which a builtins.object lacks"):
        bertqa.spark.Counts(object())


def test_redaction_with_labels_opens_the_model_of_entities(monkeypatch):
    tasks = []
    with bertqa.Context(task="entities") as context:
        monkeypatch.setattr(_spark, "opened", lambda task, **_: tasks.append(task) or context)
        work = _spark.Work(
            task="redact", text=0, question=None, question_column=None, keep=[], names=["column0", "column1"],
            has_errors=True, model={"model": None, "precision": None, "isa": None},
            options={"labels": ["person"], "regions": ["DK"]}, counts=None,
        )  # fmt: skip
        texts = pyarrow.array(["Ada Lovelace, 80991098", None], pyarrow.string())
        [batch] = work(iter([pyarrow.RecordBatch.from_arrays([texts], ["text"])]))
    assert tasks == ["entities"] and batch.column(0).to_pylist() == ["[person], [PHONE]", None]


def test_a_zipped_package_unpacks_its_library_once(package, tmp_path):
    """Even in processes that start at the same time."""
    code = f"""
import sys, os
sys.path.insert(0, {str(package)!r})
import bertqa
from bertqa._unpacked import unpack_library
unpack_library({str(tmp_path)!r})
print(bertqa.Context().answer({WHO!r}, {FOX!r}).answer.text, os.environ["BERTQA_LIBRARY"])
"""
    command = [sys.executable, "-c", code]
    processes = [
        subprocess.Popen(command, env=clean_environment(), stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]
    outputs = {process.communicate(timeout=300)[0] for process in processes}
    [output] = outputs
    answer, _, library = output.strip().rpartition(" ")
    assert answer == "The quick brown fox"
    [unpacked] = tmp_path.iterdir()
    assert pathlib.Path(library).is_relative_to(unpacked) and pathlib.Path(library).exists()
    before = unpacked.stat().st_mtime_ns
    assert subprocess.run(command, env=clean_environment(), capture_output=True, text=True).stdout == output
    assert unpacked.stat().st_mtime_ns == before


def test_a_zip_of_both_wheels_has_all_models(package, tmp_path):
    [models] = package.parent.glob("bertqa_models-*.whl")
    archive = str(tmp_path / "both.zip")
    with zipfile.ZipFile(archive, "w") as both:  # not compressed again
        for wheel in package, models:
            with zipfile.ZipFile(wheel) as one:
                for name in one.namelist():
                    both.writestr(name, one.read(name))
    code = f"""
import sys
sys.path.insert(0, {archive!r})
import bertqa
from bertqa._unpacked import unpack_library
unpack_library({str(tmp_path)!r})
for task in "answer", "classify", "embed", "entities", "predict":
    print(bertqa.Context(task=task).info.directory)
"""
    result = subprocess.run([sys.executable, "-c", code], env=clean_environment(), capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert len(set(result.stdout.splitlines())) == 5 and all(
        pathlib.Path(line).is_relative_to(tmp_path) for line in result.stdout.splitlines()
    )


def test_an_archive_of_the_sources_says_what_is_missing(tmp_path):
    archive = shutil.make_archive(tmp_path / "sources", "zip", ROOT / "bindings" / "python", "bertqa")
    code = f"import sys; sys.path.insert(0, {archive!r}); import bertqa._unpacked as u; u.unpack_library({str(tmp_path)!r})"
    result = subprocess.run([sys.executable, "-c", code], env=clean_environment(), capture_output=True, text=True)
    assert "ImportError" in result.stderr and "has no library" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["sources.zip"]


# On the cluster


@pytest.fixture(scope="module")
def found(cluster, package, tmp_path_factory):
    """The output of the job `values`, with the package in --py-files and three models in --archives."""
    directory = tmp_path_factory.mktemp("models")
    archives = []
    for name, fixture in PARTS.items():
        archives.append(f"{shutil.make_archive(directory / name, 'zip', FIXTURES / fixture)}#{name}")
    options = ["--py-files", package, "--archives", ",".join(archives)]
    # Each failed task counts; the jobs that are to fail shall do so at once.
    conf = {"spark.task.maxFailures": "1", "spark.sql.execution.arrow.maxRecordsPerBatch": "3"}
    return last_line(cluster.run(JOBS, "values", *PARTS, options=options, conf=conf))


def answer_row(context, question, text):
    [row] = pyarrow.array(bertqa.answer_column(context, [question], [text])).to_pylist()
    return row


@needs_cluster
def test_answers_are_the_library_s(found, context):
    struct = "struct<answer:string,start:bigint,end:bigint,probability:float,score:float,gap:float,sentence:string,is_impossible:boolean>"
    assert found["schema"] == f"struct<id:bigint,question:string,text:string,bertqa:{struct},bertqa_error:string>"
    for row, (_, text) in zip(found["one"], found["pairs"], strict=True):
        if text is not None and len(text) > 10_000:
            assert row["bertqa"] is None and row["bertqa_error"].startswith(
                "max_bytes is 500000, but the call already needs"
            )
        else:
            assert row["bertqa_error"] is None
            assert row["bertqa"] == answer_row(context, found["pairs"][0][0], text)
    assert found["counts"] == [len(found["pairs"]), 1, 1]


@needs_cluster
def test_a_question_of_each_row(found, context):
    """The result takes the place of the text."""
    for row, (question, text) in zip(found["each"], found["pairs"], strict=True):
        assert list(row) == ["id", "question", "text", "text_error"] and row["question"] == question
        if text is not None and len(text) > 10_000:
            assert row["text"] is None and row["text_error"].startswith("max_bytes is ")
        else:
            assert row["text_error"] is None and row["text"] == answer_row(context, question, text)


@needs_cluster
def test_other_tasks(found):
    texts = [text for _, text in found["pairs"][:6]]
    for task, name in ("classify", "labelled"), ("embed", "embedder"), ("entities", "found"):
        with bertqa.Context(FIXTURES / PARTS[name], precision="f32") as context:
            if task == "embed":
                expected = [None if text is None else context.embed(text).tolist() for text in texts]
            else:
                column = {"classify": bertqa.classify_column, "entities": bertqa.entities_column}[task]
                expected = pyarrow.array(column(context, texts)).to_pylist()
        assert [row[task] for row in found[task]] == expected and any(expected)
        assert [row[f"{task}_error"] for row in found[task]] == [None] * 6


@needs_cluster
def test_other_columns_come_through(found):
    assert [row["found"] and [one["text"] for one in row["found"]] for row in found["patterns"]] == [
        ["ann@x.org"],
        None,
    ]
    assert found["iterator"] == found["patterns"]
    assert [row["text"] for row in found["redacted"]] == ["Write to ***@*.org", None]
    assert found["types"] and found["same"]
    for kind in "binary", "collated":
        assert found[kind][0]["r"]["answer"] == "Ann" and found[kind][1]["r"] is None


@needs_cluster
def test_columns_of_any_name(found, context):
    names, rows = found["odd"]
    assert names == ["a.b", "a.b", "q u.e'?", 'bö.dy "🦊`', "r.`e", "r.`e_error"]
    assert len(rows) == 2
    results = {(row["question"], row["text"]): row["result"] for row in rows}
    assert results == {tuple(pair): answer_row(context, *pair) for pair in found["pairs"][:2]}
    assert [row["error"] for row in rows] == [None, None]


@needs_cluster
def test_columns_in_any_case(found):
    """Redaction leaves no original, whatever the case of the column's name."""
    columns, rows = found["any case"]
    assert columns == ["id", "Text"] and rows[0]["Text"] == "Write to [EMAIL]"
    columns, message = found["exact case"]
    assert columns == ["id", "text", "Text", "Text_error"] and "'TEXT', of which there are 0" in message


@needs_cluster
def test_messages(found):
    expected = {
        "neither": "TypeError: give either question or question_col",
        "both": "TypeError: give either question or question_col",
        "kind": "TypeError: question is a int, but must be a str",
        "column": "ValueError: text_col is 'body', of which there are 0; columns: id, question, text",
        "type": "TypeError: text_col is 'id', a column of bigint, but must be one of string or binary: cast it",
        "twice": "ValueError: text_col is 'text', of which there are 2",
        "no name": "TypeError: text_col must be of type str, not NoneType",
        "column object": "TypeError: text_col must be of type str, not Column",
        "output": "TypeError: output_col must be of type str, not int",
        "counts": "TypeError: counts must be of type Counts, not bool",
        "option": "TypeError: unknown option 'top_k'; known: text_col",
        "on_error": "ValueError: on_error is 'drop', but must be 'null' or 'fail'",
        "fail": "of the partition: max_bytes is 500000, but the call already needs",
        "model": "nowhere: cannot open, and no model of this name is installed",
        "task": "which is made for embed, not for answer",
    }
    assert set(found["messages"]) == set(expected)
    for name, text in expected.items():
        assert text in found["messages"][name], name


@needs_cluster
def test_workers_load_what_was_shipped(found):
    """From the zip, unpacked where Spark keeps the application's files; one context per process."""
    for probe in found["probe"]:
        assert ".zip/bertqa/" in probe["package"]
        [library] = probe["library"]
        assert pathlib.Path(library).is_relative_to(probe["files"])
        assert pathlib.Path(probe["model"]).is_relative_to(probe["files"])
        assert probe["threads"] == 1 and probe["is_same"]


@needs_cluster
@pytest.mark.long
def test_an_executor_is_killed_and_a_task_is_copied(cluster, package, tmp_path, context):
    """With speculative execution, and with the wheel in --archives."""
    conf = {
        "spark.executorEnv.PYTHONPATH": "wheel", "spark.sql.execution.arrow.maxRecordsPerBatch": "4",
        "spark.speculation": "true", "spark.speculation.quantile": "0.1", "spark.speculation.multiplier": "1.1",
        "spark.speculation.minTaskRuntime": "1ms",
    }  # fmt: skip
    cluster.environment["PYTHONPATH"] = str(package)  # of the driver
    job = cluster.start_job(JOBS, "killed", tmp_path, options=["--archives", f"{package}#wheel"], conf=conf)
    del cluster.environment["PYTHONPATH"]
    end = time.monotonic() + spark_cluster.TIMEOUT
    while not (tmp_path / "pid").exists() and job.poll() is None and time.monotonic() < end:
        time.sleep(0.1)
    if (tmp_path / "pid").exists():
        executor = int((tmp_path / "pid").read_text())
        assert b"CoarseGrainedExecutorBackend" in pathlib.Path(f"/proc/{executor}/cmdline").read_bytes()
        os.kill(executor, signal.SIGKILL)
    result = last_line(cluster.finish(job))
    assert (tmp_path / "pid").exists()
    for partition in 0, 1:
        assert (tmp_path / f"attempt-{partition}-1").exists(), f"partition {partition} was not run again"
    texts = [f"The pump in hall {id} failed at noon because its bearing had run dry." for id in range(60)]
    expected = bertqa.answer_column(context, "Which pump failed?", texts)
    expected = pyarrow.array(expected).to_pylist()
    assert [row["id"] for row in result["rows"]] == list(range(60))
    for row, answer in zip(result["rows"], expected, strict=True):
        assert (row["answer"], row["start"], row["score"]) == (answer["answer"], answer["start"], answer["score"])
        assert row["r_error"] is None
    assert result["counts"] == [60, 0, 0]


@needs_cluster
@pytest.mark.long
def test_documentation(cluster, package, tmp_path):
    """The commands in docs/scale.md, run as they are."""
    recipes = [block for block in blocks(ROOT / "docs" / "scale.md") if block.language == "sh"]
    assert recipes
    (tmp_path / "build").mkdir()
    shutil.copy(package, tmp_path / "build" / "bertqa-0.1.0-py3-none-any.whl")
    path = f"{spark_cluster.home() / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment = {**cluster.environment, "MASTER": cluster.master, "PATH": path, "SPARK_LOCAL_IP": "127.0.0.1"}
    environment["PYTHONWARNINGS"] = "ignore"  # PySpark warns of pandas 3, and spark-submit prints that
    for recipe in recipes:
        result = subprocess.run(
            ["sh", "-e", "-c", recipe.code], cwd=tmp_path, env=environment, capture_output=True, text=True,
            timeout=spark_cluster.TIMEOUT,
        )  # fmt: skip
        assert result.returncode == 0, result.stderr[-6000:]
        assert result.stdout == recipe.output


@needs_cluster
@pytest.mark.long
def test_a_collection_in_parts(tmp_path):
    """The program in docs/scale.md, run as it is, on two threads of one process."""
    [program] = [block for block in blocks(ROOT / "docs" / "scale.md") if block.language == "python"]
    settings = {"SPARK_LOCAL_IP": "127.0.0.1", "PYTHONWARNINGS": "ignore"}
    result = subprocess.run(
        [sys.executable, "-c", program.code], cwd=tmp_path, env={**os.environ, **settings}, capture_output=True, text=True,
        timeout=spark_cluster.TIMEOUT,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr[-6000:]
    assert result.stdout == program.output


def test_the_page_has_what_the_simulation_prints():
    command = [sys.executable, ROOT / "Benchmarks" / "scale.py"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    page = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8").splitlines()
    assert len(output.splitlines()) > 20 and set(output.splitlines()) <= set(page)


def test_help_explains_every_argument():
    for name in bertqa.spark.SparkOptions.__annotations__:
        assert re.search(rf"^    (\w+, )*{name}(, \w+)*: ", bertqa.spark.SparkOptions.__doc__, re.M), name
    assert set(bertqa.spark._Answer.__annotations__) >= {"text_col", "max_seq_len", "max_bytes"}
