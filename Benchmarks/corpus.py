#!/usr/bin/env python3
"""Asks a whole collection of passages in SQLite: narrowed by full-text search, and all of it. docs/sql.md quotes it.

usage: corpus.py make DATABASE FILE...          cuts texts into passages and indexes them
       corpus.py narrowed DATABASE QUESTIONS COUNT [FOUND]
                                                asks COUNT questions with 5, 20, 50 and 200 passages read for each
       corpus.py everything DATABASE QUESTIONS COUNT FOUND
                                                reads all passages for each of COUNT questions, and writes what it
                                                found to FOUND, with which `narrowed` then compares

FILE: plain text, or JSON lines with "text" or "context", .xz too. QUESTIONS: JSON lines with "question", "context"
and "answers", of which those with answers are asked, evenly spread. Needs a Python whose sqlite3 can load
extensions (Debian's can), the extension (`make sqlite`), and PYTHONPATH=bindings/python.
"""

import json
import lzma
import pathlib
import re
import sqlite3
import statistics
import sys
import time

from accuracy import records, scores
from staged import PREFIX

EXTENSION = PREFIX / "lib" / "bertqa_sqlite.so"
PASSAGE_CHARACTERS = 300
PASSAGES_READ = 5, 20, 50, 200
ORDERS = "score", "gap", "probability"

ASK = """
SELECT d.id, a.answer, a.score, a.gap, a.probability
FROM (SELECT rowid AS id, body FROM documents WHERE documents MATCH bertqa_match(:question)
      ORDER BY rank LIMIT :passages) AS d,
     bertqa_answers(:question, d.body) AS a
"""


def texts(path):
    if ".jsonl" in path.suffixes:
        for record in records(path):
            yield record.get("text") or record.get("context") or ""
    else:
        opener = lzma.open if path.suffix == ".xz" else open
        with opener(path, "rt", encoding="utf-8") as file:
            yield from re.split(r"\n\s*\n", file.read())


def passages(text):
    """Whole sentences, as many as fit."""
    passage = ""
    for sentence in re.split(r"(?<=[.!?])\s+", " ".join(text.split())):
        if passage and len(passage) + 1 + len(sentence) > PASSAGE_CHARACTERS:
            yield passage
            passage = ""
        passage = f"{passage} {sentence}".strip()
    if passage:
        yield passage


def make(database, *paths):
    found = dict.fromkeys(p for path in paths for text in texts(pathlib.Path(path)) for p in passages(text))
    connection = sqlite3.connect(database)
    connection.execute("CREATE VIRTUAL TABLE documents USING fts5(body, tokenize='porter unicode61')")
    begin = time.perf_counter()
    connection.executemany("INSERT INTO documents(body) VALUES (?)", ((passage,) for passage in found))
    connection.execute("INSERT INTO documents(documents) VALUES ('optimize')")
    connection.commit()
    seconds = time.perf_counter() - begin
    size = pathlib.Path(database).stat().st_size
    characters = sum(map(len, found))
    print(f"{len(found)} passages, {characters} characters, indexed in {seconds:.1f} s, {size} bytes")


def questions(path, count):
    answerable = [record for record in records(path) if record["answers"]]
    return answerable[:: max(1, len(answerable) // count)][:count]


def connect(database):
    connection = sqlite3.connect(database)
    connection.enable_load_extension(True)
    connection.load_extension(str(EXTENSION))
    return connection


def is_right(answer, answers):
    """True if an answer is exactly one of a question's."""
    return scores(answer, [expected["text"] for expected in answers])[0] == 1


def best(rows, order):
    """The (id, answer) of the best row."""
    return max(rows, key=lambda row: row[2 + ORDERS.index(order)])[:2] if rows else None


def status(field):
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) // 1024
    raise ValueError(field)


def narrowed(database, path, count, found=None):
    asked = questions(path, int(count))
    connection = connect(database)
    everything = json.loads(pathlib.Path(found).read_text()) if found else {}
    if everything:
        asked = [record for record in asked if record["id"] in everything]
    connection.execute("SELECT bertqa_answer('Who?', 'Ann.')").fetchall()
    begin, work = time.perf_counter(), time.process_time()
    search = "SELECT count(*) FROM (SELECT body FROM documents WHERE documents MATCH bertqa_match(?) "
    for record in asked:
        connection.execute(search + "ORDER BY rank LIMIT 20)", (record["question"],)).fetchall()
    seconds, work = (
        (end - start) / len(asked) for end, start in ((time.perf_counter(), begin), (time.process_time(), work))
    )
    print(f"{len(asked)} questions; the search alone: {1000 * seconds:.1f} ms, of processors {1000 * work:.1f} ms")
    for read in PASSAGES_READ:
        times, work, right, same = [], time.process_time(), dict.fromkeys(ORDERS, 0), dict.fromkeys(ORDERS, 0)
        for record in asked:
            begin = time.perf_counter()
            rows = connection.execute(ASK, {"question": record["question"], "passages": read}).fetchall()
            times.append(1000 * (time.perf_counter() - begin))
            for order in ORDERS:
                first = best(rows, order)
                right[order] += first is not None and is_right(first[1], record["answers"])
                if everything:
                    same[order] += first is not None and list(first) == everything[record["id"]][order]
        work = 1000 * (time.process_time() - work) / len(asked)
        median, slow = statistics.median(times), sorted(times)[int(0.95 * len(times))]
        print(
            f"{read} passages: {median:.0f} ms, 95 %: {slow:.0f} ms, of processors {work:.0f} ms; right by",
            end=" ",
        )
        print(*(f"{order} {right[order]}" for order in ORDERS), flush=True)
        if everything:
            print("  the same as everything by", *(f"{order} {same[order]}" for order in ORDERS))
    print(f"resident at most {status('VmHWM')} MiB")


def read_everything(database, path, count, found):
    import bertqa

    documents = sqlite3.connect(database).execute("SELECT rowid, body FROM documents").fetchall()
    result, right, begin = {}, dict.fromkeys(ORDERS, 0), time.perf_counter()
    with bertqa.Context() as context:
        for record in questions(path, int(count)):
            rows = []
            for start in range(0, len(documents), 1000):
                part = documents[start : start + 1000]
                answered = context.answer_batch([(record["question"], body) for _, body in part])
                for (id, _), each in zip(part, answered):
                    if each.answer is not None:
                        a = each.answer
                        rows.append((id, a.text, a.score, a.gap, a.probability))
            result[record["id"]] = {order: best(rows, order) for order in ORDERS}
            for order, first in result[record["id"]].items():
                right[order] += first is not None and is_right(first[1], record["answers"])
            pathlib.Path(found).write_text(json.dumps(result))
            seconds = (time.perf_counter() - begin) / len(result)
            print(len(result), f"{seconds:.1f} s each; right by", *(f"{k} {right[k]}" for k in ORDERS), flush=True)


if __name__ == "__main__":
    commands = {"make": make, "narrowed": narrowed, "everything": read_everything}
    if len(sys.argv) < 3 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](*sys.argv[2:])
