#!/usr/bin/env python3
"""Rows a second of bertqa.spark with one and two executors, beside `RDD.pipe` of the filter. docs/scale.md quotes it.

usage: spark_rows.py TEXTS... [--rows N] [--rounds N]

TEXTS: as for corpus.py, cut into passages of up to 300 characters; N of them, and a quarter of these, are asked one
question. A standalone cluster on this machine has executors of one core. In each round the ways take turns: the
column (Parquet in, nothing out), the pipe (JSON lines in, counted), and answer_column with one thread on the same rows
in memory. Told are medians by the clock, and by the processor time of the workers, executors and their children, which
other programs on the machine disturb less. What a job costs whatever its size is told apart from what a row costs, by
the two sizes; then what a task that does nothing costs the driver, what the start of a worker costs, and the memory.

Needs pyspark, pyarrow and pandas, Java 17, BERTQA_PREFIX and PYTHONPATH=bindings/python.
"""

import argparse
import itertools
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from staged import ROOT, TOOL

QUESTION = "When was it built?"
PARTITIONS = 4
EMPTY_TASKS = 200
SIZES = "quarter", "all"


def processes(sessions):
    """(pid, command, processor seconds with those of ended children) of all processes of the sessions."""
    for directory in pathlib.Path("/proc").iterdir():
        try:
            if directory.name.isdigit():
                fields = (directory / "stat").read_text().rpartition(")")[2].split()
                if int(fields[3]) in sessions:
                    command = (directory / "cmdline").read_bytes().decode(errors="replace").replace("\0", " ")
                    seconds = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
                    yield int(directory.name), command, seconds
        except (FileNotFoundError, ProcessLookupError):
            continue


def used(sessions):
    return sum(seconds for _, _, seconds in processes(sessions))


def proportional_share(pid):
    """Mebibytes of memory, pages that are shared counted in part."""
    for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    return 0.0


class MemoryWatch(threading.Thread):
    """The most that a worker of Python and a JVM of an executor have had."""

    def __init__(self, sessions):
        super().__init__(daemon=True)
        self.sessions, self.most = sessions, {"python": 0.0, "executor": 0.0}

    def run(self):
        while True:
            for pid, command, _ in processes(self.sessions):
                kind = "python" if "pyspark" in command and "java" not in command else None
                kind = "executor" if "CoarseGrainedExecutorBackend" in command else kind
                if kind:
                    try:
                        self.most[kind] = max(self.most[kind], proportional_share(pid))
                    except OSError:
                        pass
            time.sleep(0.5)


def job(directory, rounds, sessions):
    """Runs in the driver, started by spark-submit."""
    import pyarrow.parquet
    from pyspark.sql import SparkSession

    import bertqa
    import bertqa.spark

    spark = SparkSession.builder.getOrCreate()
    watch = MemoryWatch(sessions)
    watch.start()
    texts = {name: pyarrow.parquet.read_table(f"{directory}/{name}.parquet")["text"] for name in SIZES}
    context = bertqa.Context(threads=1)
    command = f"{TOOL} filter --threads 1 --question '{QUESTION}' --exit-zero-on-record-errors --quiet"

    def column(name):
        table = spark.read.parquet(f"{directory}/{name}.parquet").repartition(PARTITIONS)
        bertqa.spark.answer(table, question=QUESTION).write.format("noop").mode("overwrite").save()

    def pipe(name):
        lines = spark.sparkContext.textFile(f"{directory}/{name}.jsonl", PARTITIONS)
        assert lines.pipe(command, checkCode=True).count() == len(texts[name])

    def direct(name):
        bertqa.answer_column(context, QUESTION, texts[name])

    ways = {"column": column, "pipe": pipe, "direct": direct}
    times = {way: {name: [] for name in SIZES} for way in ways}
    for number in range(rounds + 1):
        for way, function in ways.items():
            for name in SIZES:
                clock, before, own = time.perf_counter(), used(sessions), time.process_time()
                function(name)
                work = time.process_time() - own if way == "direct" else used(sessions) - before
                if number:  # the first is to warm up
                    times[way][name].append((time.perf_counter() - clock, work))
    driver = {os.getsid(0)}
    before = used(driver)
    spark.sparkContext.parallelize(range(EMPTY_TASKS), EMPTY_TASKS).foreach(lambda _: None)
    empty = (used(driver) - before) / EMPTY_TASKS
    out = bertqa.spark.answer(spark.read.parquet(f"{directory}/all.parquet"), question=QUESTION)
    out.drop("text").write.parquet(f"{directory}/answers", mode="overwrite")
    size = sum(path.stat().st_size for path in pathlib.Path(directory, "answers").glob("*.parquet"))
    result = {"times": times, "empty": empty, "memory": watch.most, "answer_bytes": size / len(texts["all"])}
    print("\n" + json.dumps(result))
    spark.stop()


def start_of_a_worker():
    """Processor seconds until a new process has its first answer."""
    code = "import pyspark.worker, pyarrow, bertqa.spark; bertqa.Context(threads=1).answer('Who?', 'Ann.')"
    seconds = []
    for _ in range(5):
        before = os.times()
        subprocess.run([sys.executable, "-c", code], check=True)
        after = os.times()
        seconds.append(after.children_user + after.children_system - before.children_user - before.children_system)
    return statistics.median(seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", nargs="+")
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()

    import pyarrow
    import pyarrow.parquet

    sys.path[:0] = [str(ROOT / "Tests" / "python" / "spark"), str(ROOT / "Benchmarks")]
    import corpus
    import spark_cluster

    cut = (p for path in arguments.texts for t in corpus.texts(pathlib.Path(path)) for p in corpus.passages(t))
    rows = list(itertools.islice(dict.fromkeys(cut), arguments.rows))
    with tempfile.TemporaryDirectory() as directory:
        for name, part in ("quarter", rows[: len(rows) // 4]), ("all", rows):
            pyarrow.parquet.write_table(pyarrow.table({"text": part}), f"{directory}/{name}.parquet")
            with open(f"{directory}/{name}.jsonl", "w", encoding="utf-8") as file:
                file.writelines(json.dumps({"text": row}) + "\n" for row in part)
        characters = sum(map(len, rows)) / len(rows)
        print(f"{len(rows)} rows of {characters:.0f} characters, {arguments.rounds} rounds; medians", flush=True)
        print(f"the start of a worker: {start_of_a_worker():.2f} s", flush=True)
        cluster = spark_cluster.Cluster(directory, os.environ)
        try:
            for executors in 1, 2:
                sessions = ",".join(str(process.pid) for process in cluster.processes[1:])
                output = cluster.run(
                    __file__, "--job", directory, arguments.rounds, sessions, timeout=None,
                    conf={"spark.cores.max": str(executors), "spark.executorEnv.PYTHONPATH": os.environ["PYTHONPATH"]},
                )  # fmt: skip
                tell(executors, len(rows), json.loads(output.splitlines()[-1]))
        finally:
            cluster.close()


def tell(executors, rows, result):
    print(f"{executors} executor(s):")
    base = None
    for way, each in result["times"].items():
        (_, few_work), (clock, work) = (
            [statistics.median(part) for part in zip(*each[name])] for name in ("quarter", "all")
        )
        more = rows - rows // 4
        row = (work - few_work) / more
        base = base or statistics.median(part[1] for part in result["times"]["direct"]["all"]) / rows
        print(
            f"  {way}: {rows / clock:.0f} rows/s; of processors {1000 * row:.2f} ms a row, {row / base:.2f} of direct, "
            f"and {work - row * rows:.1f} s a job"
        )
    memory = ", ".join(f"{name} {most:.0f} MiB" for name, most in result["memory"].items())
    print(
        f"  an empty task {1000 * result['empty']:.1f} ms of the driver; {result['answer_bytes']:.0f} bytes of Parquet an answer"
    )
    print(f"  memory at most (PSS): {memory}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] == "--job":
        job(sys.argv[2], int(sys.argv[3]), set(map(int, sys.argv[4].split(","))))
    else:
        main()
