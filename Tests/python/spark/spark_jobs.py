"""Programs for spark-submit that test_spark.py starts: what they print at last is JSON.

usage: spark_jobs.py values LABELLED EMBEDDER ENTITIES
       spark_jobs.py killed DIRECTORY
"""

import datetime
import decimal
import json
import os
import pathlib
import sys
import time

from pyspark import TaskContext
from pyspark.sql import SparkSession

import bertqa.spark

#: (question, text); a row of too many words, a null and an empty text are among them.
PAIRS = [
    ("Who jumped over the dog?", "The quick brown fox jumps over the lethargic dog."),
    ("Who jumped over the dog?", "Zoë 🦊: the fox jumped over the dog."),
    ("Who was on duty?", "Nothing to report. Ann was on duty."),
    ("Who was on duty?", None),
    (None, "Ann was on duty."),
    ("Who was on duty?", ""),
    ("Who was on duty?", "Bob was. " * 20_000),
    ("Why?", "It failed due to dust."),
]
#: Of one call; the long text needs more, and so would all others together with it.
MAX_BYTES = 500_000
ROWS = 60


def rows_of(df):
    return [row.asDict(recursive=True) for row in sorted(df.collect(), key=lambda row: row["id"])]


def message(call, *arguments, **options):
    try:
        call(*arguments, **options)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def probe(batches):
    """The models that a worker process has loaded."""
    import pyarrow

    import bertqa
    from bertqa._spark import opened

    for _ in batches:
        pass
    context = opened("answer", None, None, None)
    is_same = opened("answer", None, None, None) is context
    mapped = sorted({line.split()[-1] for line in open("/proc/self/maps") if "/libbertqa.so" in line})
    found = {
        "package": bertqa.__file__, "library": mapped, "threads": context.info.threads, "is_same": is_same,
        "model": context.info.directory, "files": os.path.realpath("."),
    }  # fmt: skip
    yield pyarrow.RecordBatch.from_pylist([{"found": json.dumps(found)}])


def values(spark, labelled, embedder, entities):
    ask = bertqa.spark.answer
    texts = spark.createDataFrame(
        [(id, *pair) for id, pair in enumerate(PAIRS)], "id long, question string, text string"
    ).repartition(2)
    counts = bertqa.spark.Counts(spark)
    found = {"pairs": PAIRS}
    one = bertqa.spark.answer(texts, question=PAIRS[0][0], counts=counts, max_bytes=MAX_BYTES)
    found["schema"], found["one"] = one.schema.simpleString(), rows_of(one.drop("text"))
    found["counts"] = [counts.rows, counts.nulls, counts.failed]
    each = bertqa.spark.answer(texts, question_col="question", output_col="text", max_bytes=MAX_BYTES)
    found["each"] = rows_of(each)
    short = texts.where("id < 6").drop("question")
    for task, model in ("classify", labelled), ("embed", embedder), ("entities", entities):
        found[task] = rows_of(getattr(bertqa.spark, task)(short, output_col=task, model=model, precision="f32"))
    mails = spark.createDataFrame([(0, "Write to ann@x.org"), (1, None)], "id long, text string")
    found["patterns"] = rows_of(bertqa.spark.patterns(mails, output_col="found"))
    found["redacted"] = rows_of(bertqa.spark.redact(mails, output_col="text", kinds=["email"], mask=3))
    # Columns of all types that Spark can pass to Python.
    moment = datetime.datetime(2026, 2, 28, 23, 59, 59, 123456)
    row = (1, "Ann fell.", decimal.Decimal("1.50"), moment, [1, None], {"a": None}, b"\0\xff", (2.5, None), True)
    kinds = (
        "id long, text string, price decimal(10,2), at timestamp, list array<int>, map map<string,int>, data binary, "
        "pair struct<x:double,y:date>, flag boolean"
    )
    many = spark.createDataFrame([row, (2,) + (None,) * 8], kinds)
    answered = bertqa.spark.answer(many, question="Who fell?", output_col="r")
    found["types"] = answered.drop("r", "r_error").schema == many.schema
    found["same"] = [r[:9] for r in sorted(answered.collect())] == sorted(map(tuple, many.collect()))
    binary = many.selectExpr("id", "encode(text, 'UTF-8') AS text")
    found["binary"] = rows_of(bertqa.spark.answer(binary, question="Who fell?", output_col="r").select("id", "r"))
    collated = many.selectExpr("id", "text COLLATE UNICODE_CI AS text")
    found["collated"] = rows_of(
        bertqa.spark.answer(collated, question="Who fell?", output_col="r").select("id", "r")
    )
    # Spark finds columns in any case, unless it is told to distinguish case.
    redacted = bertqa.spark.redact(mails, text_col="TEXT", output_col="Text", on_error="fail")
    found["any case"] = [redacted.columns, rows_of(redacted)]
    spark.conf.set("spark.sql.caseSensitive", True)
    found["exact case"] = [
        bertqa.spark.redact(mails, output_col="Text").columns,
        message(ask, mails, question="a", text_col="TEXT"),
    ]
    spark.conf.unset("spark.sql.caseSensitive")
    labels = (label for label in ["email"])
    found["iterator"] = rows_of(bertqa.spark.patterns(mails, kinds=labels, output_col="found"))
    # Names that SQL would read as something else, and one that two other columns have.
    odd = texts.where("id < 2").selectExpr(
        "id AS `a.b`", "id AS `a.b`", "question AS `q u.e'?`", 'text AS `bö.dy "🦊```'
    )
    answered = bertqa.spark.answer(odd, question_col="q u.e'?", text_col='bö.dy "🦊`', output_col="r.`e")
    named = answered.toDF("a", "b", "question", "text", "result", "error")
    found["odd"] = [answered.columns, [row.asDict(recursive=True) for row in named.collect()]]
    # The driver reports an error that it can detect.
    found["messages"] = {
        "neither": message(ask, texts),
        "both": message(ask, texts, question="a", question_col="question"),
        "kind": message(ask, texts, question=7),
        "column": message(ask, texts, question="a", text_col="body"),
        "type": message(ask, texts, question="a", text_col="id"),
        "twice": message(ask, texts.select("text", "text"), question="a"),
        "no name": message(ask, texts, question="a", text_col=None),
        "column object": message(ask, texts, question="a", text_col=texts["text"]),
        "output": message(ask, texts, question="a", output_col=3),
        "counts": message(ask, texts, question="a", counts=True),
        "option": message(bertqa.spark.classify, texts, top_k=2),
        "on_error": message(ask, texts, question="a", on_error="drop"),
        "fail": message(ask(texts, question="a", on_error="fail", max_bytes=MAX_BYTES).collect),
        "model": message(ask(texts, question="a", model="nowhere").collect),
        "task": message(ask(texts, question="a", model=embedder).collect),
    }
    found["probe"] = [json.loads(row["found"]) for row in texts.mapInArrow(probe, "found string").collect()]
    return found


def held_up(directory):
    """Lets all batches through, with two exceptions. In partition 0 the first attempt reports its executor's
    process and waits to be killed. In partition 1 the first attempt waits for a speculative copy to replace it."""
    directory = pathlib.Path(directory)

    def held(batches):
        task = TaskContext.get()
        partition, attempt = task.partitionId(), task.attemptNumber()
        (directory / f"attempt-{partition}-{attempt}").touch()
        for number, batch in enumerate(batches):
            if number == 1 and partition < 2 and attempt == 0:
                if partition == 0:
                    daemon = pathlib.Path(f"/proc/{os.getppid()}/stat").read_text()
                    (directory / "pid.part").write_text(daemon.rpartition(")")[2].split()[1])
                    (directory / "pid.part").rename(directory / "pid")
                time.sleep(600)
            yield batch

    return held


def killed(spark, directory):
    texts = spark.range(0, ROWS, 1, 6).selectExpr(
        "id", "concat('The pump in hall ', id, ' failed at noon because its bearing had run dry.') AS text"
    )
    counts = bertqa.spark.Counts(spark)
    held = texts.mapInArrow(held_up(directory), texts.schema)
    answered = bertqa.spark.answer(held, question="Which pump failed?", output_col="r", counts=counts)
    rows = rows_of(answered.selectExpr("id", "r.answer", "r.start", "r.score", "r_error"))
    return {"rows": rows, "counts": [counts.rows, counts.nulls, counts.failed]}


if __name__ == "__main__":
    session = SparkSession.builder.getOrCreate()
    print("\n" + json.dumps({"values": values, "killed": killed}[sys.argv[1]](session, *sys.argv[2:])))
    session.stop()
