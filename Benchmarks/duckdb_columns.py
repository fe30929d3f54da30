#!/usr/bin/env python3
"""The cost of bertqa.duckdb besides the model, and the best numbers of threads. docs/sql.md quotes it.

usage: duckdb_columns.py [TEXTS.jsonl] [--rows N] [--rounds N]

A question is asked of N different passages of about 40 words, of TEXTS ("text" or "context" in each line) or the
example document, in a Parquet file with row groups of 1024 rows, so that DuckDB has work for all its threads. The
ways take turns; medians of the rounds, by the clock and by processor time, over those of bertqa.answer_column on the
same rows in memory. Needs duckdb, pyarrow and PYTHONPATH=bindings/python.
"""

import argparse
import itertools
import pathlib
import statistics
import tempfile
import time

import duckdb
import pyarrow
import pyarrow.parquet

import bertqa
import bertqa.duckdb
from accuracy import records

ROOT = pathlib.Path(__file__).resolve().parents[1]
QUESTION = "When was the first crew launched?"
WORDS = 40


def passages(path, count):
    """Different ones, as they come."""
    if path:
        words = [word for record in records(path) for word in (record.get("text") or record["context"]).split()]
    else:
        words = (ROOT / "examples/documents/apollo.txt").read_text(encoding="utf-8").split()
    step = max(1, (len(words) - WORDS) // count)
    cut = (" ".join(words[start : start + WORDS]) for start in range(0, len(words) - WORDS, step))
    return list(itertools.islice(cut, count))


def column(context, texts):
    for start in range(0, len(texts), 2048):
        bertqa.answer_column(context, QUESTION, texts.slice(start, 2048))


def column_of_questions(context, texts):
    for start in range(0, len(texts), 2048):
        part = texts.slice(start, 2048)
        bertqa.answer_column(context, pyarrow.array([QUESTION] * len(part)), part)


def query(path, context, threads):
    connection = duckdb.connect()
    connection.execute(f"SET threads = {threads}")
    bertqa.duckdb.register(connection, answer=context)
    sql = f"SELECT count(a.answer), max(a.score) FROM '{path}', bertqa_answers(?, body) AS a"
    return lambda: connection.execute(sql, [QUESTION]).fetchall()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", nargs="?")
    parser.add_argument("--rows", type=int, default=2048)
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    rows = passages(arguments.texts, arguments.rows)
    texts = pyarrow.array(rows)
    everything, one = bertqa.Context(), bertqa.Context(threads=1)
    cores = everything.info.threads
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory) / "texts.parquet"
        pyarrow.parquet.write_table(pyarrow.table({"body": texts}), path, row_group_size=1024)
        ways = {
            "answer_column, all cores": lambda: column(everything, texts),
            "answer_column, one thread": lambda: column(one, texts),
            "answer_column, a question in each row": lambda: column_of_questions(everything, texts),
            f"DuckDB {cores} threads, library {cores}": query(path, everything, cores),
            f"DuckDB {cores} threads, library 1": query(path, one, cores),
            f"DuckDB 1 thread, library {cores}": query(path, everything, 1),
            "DuckDB 1 thread, library 1": query(path, one, 1),
        }
        times = {name: [] for name in ways}
        for _ in range(arguments.rounds):
            for name, way in ways.items():
                begin, used = time.perf_counter(), time.process_time()
                way()
                times[name].append((time.perf_counter() - begin, time.process_time() - used))
    medians = {name: [statistics.median(part) for part in zip(*each)] for name, each in times.items()}
    base = next(iter(medians.values()))
    print(f"{len(rows)} rows, {arguments.rounds} rounds, {cores} cores; medians")
    for name, (clock, used) in medians.items():
        print(
            f"{name}: {len(rows) / clock:.0f} rows/s; over the first: clock {clock / base[0]:.2f}, processors {used / base[1]:.2f}"
        )


if __name__ == "__main__":
    main()
