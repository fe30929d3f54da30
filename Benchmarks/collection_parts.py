#!/usr/bin/env python3
"""A collection in parts by Spark: docs/scale.md's program, on copies of passages. That page quotes it.

usage: collection_parts.py index FOLDER MODEL PASSAGES COPIES PARTS
                                        makes PARTS collections of COPIES copies of each passage, with embeddings of MODEL
       collection_parts.py ask FOLDER MODEL PASSAGES COUNT FILE...
                                        asks COUNT questions of each source, with parts and models kept open, then ten
                                        of each with parts and models opened for each question

PASSAGES: of `collection.py cut`. MODEL: of `collection.py static`. FILE: JSON lines with the questions. A copy has its
number at its end. Processor time is that of all processes of the session, Spark's included: start it with setsid. Needs
pyspark, Java 17, and PYTHONPATH=Benchmarks:bindings/python, also for the workers.
"""

import functools
import os
import pathlib
import resource
import statistics
import sys
import time

import bertqa
from collection import contexts, places, questions, rank
from corpus import is_right
from spark_rows import used

READ = 20  # passages, of each part and of all


@functools.cache
def embedder(model):
    return bertqa.Context(model, task="embed")


@functools.cache
def opened(part, model):
    return bertqa.Collection(part, embedder=embedder(model))


@functools.cache
def context():
    return bertqa.Context()


def index(folder, model, number, rows):
    from pyspark import TaskContext

    begin = time.process_time()
    part, unfinished = folder / f"{number}.db", folder / f"{number}.{TaskContext.get().taskAttemptId()}"
    with bertqa.Collection(unfinished, embedder=embedder(model)) as collection:
        count = 0
        for row in rows:
            collection.add(row.name, row.body)
            count += 1
    os.replace(unfinished, part)
    yield count, time.process_time() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def search(question, model, is_kept, part):
    begin = time.process_time()
    collection = (
        opened(part, model) if is_kept else bertqa.Collection(part, embedder=bertqa.Context(model, task="embed"))
    )
    found = [(hit.score, hit.name, hit.start, hit.end, hit.text) for hit in collection.search(question, k=READ)]
    if not is_kept:
        collection.close()
    return [(found, time.process_time() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)]


def answer(question, is_kept, texts):
    best = (context() if is_kept else bertqa.Context()).answer_documents(question, texts).answer
    return None if best is None else best.text


def make(spark, folder, model, passages, copies, parts):
    folder.mkdir()
    rows = spark.read.json(passages).crossJoin(spark.range(int(copies)).withColumnRenamed("id", "copy"))
    rows = rows.selectExpr("concat(id, '-', copy) AS name", "concat(text, ' ', copy) AS body")
    before = used({os.getsid(0)})
    begin = time.perf_counter()
    made = rows.repartition(int(parts), "name").rdd.mapPartitionsWithIndex(functools.partial(index, folder, model))
    counts, own, resident = zip(*made.collect())
    work = used({os.getsid(0)}) - before
    size = sum(path.stat().st_size for path in folder.glob("*.db"))
    print(
        f"{sum(counts)} passages, {min(counts)} to {max(counts)} a part, in {time.perf_counter() - begin:.0f} s: "
        f"{work:.0f} s of processors, of which {sum(own):.0f} s in the tasks; {size} bytes; "
        f"a worker is resident with {max(resident) // 1024} MiB at most"
    )


def ask(spark, folder, model, passages, count, *paths):
    numbers, parts = contexts([passages]), sorted(map(str, folder.glob("*.db")))
    asked = questions(paths, int(count))
    context = spark.sparkContext

    def one(question, is_kept):
        searches = context.parallelize(parts, len(parts))
        searches = searches.flatMap(functools.partial(search, question, model, is_kept)).collect()
        hits = sorted((hit for found, _, _ in searches for hit in found), key=lambda hit: -hit[0])[:READ]
        texts = [text for *_, text in hits]
        text = context.parallelize([texts], 1).map(functools.partial(answer, question, is_kept)).collect()[0]
        return hits, text, sum(work for _, work, _ in searches), max(resident for *_, resident in searches)

    for is_kept in True, False:
        for _ in parts:  # opens all parts in each worker, if they are kept
            one("Who?", is_kept)
        for source, each in asked.items():
            each = each if is_kept else each[:: max(1, len(each) // 10)][:10]
            ranks, right, clocks, own, resident, before = [], 0, [], 0.0, 0, used({os.getsid(0)})
            for question, text, answers in each:
                begin = time.perf_counter()
                hits, found, work, memory = one(question, is_kept)
                clocks.append(time.perf_counter() - begin)
                own, resident = own + work, max(resident, memory)
                right += found is not None and is_right(found, answers)
                originals = [(name.partition("-")[0], start, end) for _, name, start, end, _ in hits]
                ranks.append(rank(originals, places(numbers, text, answers)))
            work = used({os.getsid(0)}) - before
            shares = " ".join(f"{sum(r < most for r in ranks) / len(ranks):.3f}" for most in (1, 5, READ))
            print(
                f"{source}, {'kept open' if is_kept else 'opened each time'}: {len(each)} questions, "
                f"{statistics.median(clocks):.2f} s each (median); of processors {work / len(each):.2f} s, "
                f"{own / len(each):.2f} s of it the searches; a worker is resident with {resident // 1024} MiB at most; "
                f"{right} exactly right; among 1, 5, {READ}: {shares}",
                flush=True,
            )


def main():
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    command, folder, model, *arguments = sys.argv[1:]
    {"index": make, "ask": ask}[command](
        spark, pathlib.Path(folder).absolute(), os.path.abspath(model), *arguments
    )
    spark.stop()


if __name__ == "__main__":
    if len(sys.argv) < 6 or sys.argv[1] not in ("index", "ask"):
        sys.exit(__doc__)
    # Spark sends the functions of a module by name, so that a worker keeps what they cache from one task to the next.
    import collection_parts

    collection_parts.main()
