#!/usr/bin/env python3
"""Measures collections: indexing, how often a search finds the passage with the answer, and right answers.
docs/collections.md quotes it.

usage: collection.py make DATABASE FILE... [-- OPTION...]
           indexes the contexts of FILEs with `bertqa index OPTION...`
       collection.py cut FILE...
           prints the passages that corpus.py cuts FILEs into as JSON lines, which `bertqa index --id-field id` reads
           and `hits` takes as its only FILE, before those with the questions
       collection.py static DIRECTORY
           writes a static model: the default model's vector of each token; needs NumPy and safetensors
       collection.py limit DATABASE
           indexes the words of a collection's passages by FTS5 alone
       collection.py rows COUNT
           compares COUNT random vectors in memory with a question's
       collection.py hits DATABASE COUNT FILE...
           asks COUNT questions of each source that has so many, evenly spread
       collection.py fusion DATABASE COUNT FILE...
           compares ways to put both orders together, on each half of the questions: choose by the first, report the
           second; needs NumPy

FILE: JSON lines with "context" and either "qas" or "question", "answers" and "source"; .xz too; or with "text". Needs
the tool of `make` and PYTHONPATH=bindings/python.
"""

import collections
import itertools
import json
import pathlib
import re
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

import corpus
from accuracy import records
from staged import ROOT, TOOL

try:
    import numpy
except ImportError:  # only `fusion` and `static` need it
    numpy = None


def contexts(paths):
    """Returns the number of each context."""
    texts = dict.fromkeys(
        record.get("context") or record.get("text")
        for record in itertools.chain.from_iterable(map(records, paths))
    )
    return {text: number for number, text in enumerate(texts)}


def documents(database, paths):
    """Returns the numbers of the contexts that are documents of the database: the first ones."""
    count = sqlite3.connect(database).execute("SELECT count(*) FROM documents").fetchone()[0]
    return {text: number for text, number in contexts(paths).items() if number < count}


def questions(paths, count):
    """Returns COUNT answerable questions of each source that has so many: (question, context, answers)."""
    found = collections.defaultdict(list)
    for record in itertools.chain.from_iterable(map(records, paths)):
        for question in record.get("qas") or ([record] if "question" in record else []):
            if question["answers"]:
                found[question["source"]].append((question["question"], record["context"], question["answers"]))
    for source, every in found.items():
        if len(every) < count:
            print(f"left out: {source} has {len(every)} answerable questions", file=sys.stderr)
    return {
        source: every[:: len(every) // count][:count] for source, every in found.items() if len(every) >= count
    }


def cut(*paths):
    texts = itertools.chain.from_iterable(corpus.texts(pathlib.Path(path)) for path in paths)
    for number, text in enumerate(dict.fromkeys(itertools.chain.from_iterable(map(corpus.passages, texts)))):
        print(json.dumps({"id": str(number), "text": text}))


def static(directory):
    from safetensors.numpy import save_file

    import bertqa

    vocabulary = (ROOT / "models" / "embed-minilm-l6" / "vocab.txt").read_text(encoding="utf-8").split("\n")[:-1]
    with bertqa.Context(task="embed") as context:
        table = numpy.array(context.embed([token.removeprefix("##") for token in vocabulary]), numpy.float32)
    # As model2vec makes them: without what all have in common, and frequent tokens, which come first, weigh less.
    table -= table.mean(0)
    table *= (
        numpy.log1p(numpy.arange(len(table), dtype=numpy.float32))[:, None]
        / numpy.linalg.norm(table, axis=1)[:, None]
    )
    model = {
        "type": "WordPiece",
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
    }
    model["vocab"] = {token: id for id, token in enumerate(vocabulary)}
    tokenizer = {
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "model": model,
    }
    path = pathlib.Path(directory)
    path.mkdir(exist_ok=True)
    save_file({"embeddings": table}, path / "model.safetensors")
    path.joinpath("config.json").write_text(json.dumps({"model_type": "model2vec", "normalize": True}))
    path.joinpath("tokenizer.json").write_text(json.dumps(tokenizer))


def places(numbers, context, answers):
    """Returns where the answers begin: (document, byte)."""
    found = set()
    for answer in answers:
        before = context[: answer["answer_start"]]
        if context in numbers:
            found.add((str(numbers[context]), len(before.encode())))
            continue
        # In corpus.py's passages, whose sentences are joined by single spaces.
        start = len(" ".join(f"{before}.".split())) - 1
        first = 0
        for passage in corpus.passages(context):
            if 0 <= start - first < len(passage):
                found.add((str(numbers[passage]), len(passage[: start - first].encode())))
            first += len(passage) + 1
    return found


def make(database, *arguments):
    split = arguments.index("--") if "--" in arguments else len(arguments)
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        size = 0
        for text, number in contexts(arguments[:split]).items():
            size += len(text.encode())
            file.write(json.dumps({"id": str(number), "text": text}) + "\n")
        file.flush()
        begin = time.perf_counter()
        command = [TOOL, "index", "--id-field", "id", *arguments[split + 1 :], database, file.name]
        process, resident = subprocess.Popen(command, stdout=subprocess.PIPE, text=True), 0
        while process.poll() is None:
            # The maximum of getrusage would be at least this program's own, of which the child was a copy.
            found = re.search(r"VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{process.pid}/status").read_text())
            resident = int(found[1]) if found else resident
            time.sleep(0.02)
        seconds, output = time.perf_counter() - begin, process.stdout.read()
        if process.returncode:
            sys.exit(process.returncode)
    passages = int(re.search(r"passages: (\d+) read", output)[1])
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"{passages} passages, {size} bytes in {seconds:.1f} s ({usage.ru_utime + usage.ru_stime:.1f} s of processors): "
        f"{passages / seconds:.0f} passages/s, {size / seconds / 1e6:.1f} MB/s; "
        f"{pathlib.Path(database).stat().st_size} bytes; resident at most {resident // 1024} MiB"
    )


def limit(database):
    texts = sqlite3.connect(database).execute("SELECT id, text FROM passages").fetchall()
    size = sum(len(text.encode()) for _, text in texts)
    with tempfile.TemporaryDirectory() as scratch:
        connection = sqlite3.connect(pathlib.Path(scratch, "words.db"), isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE VIRTUAL TABLE words USING fts5(text, content='', tokenize='porter unicode61')")
        begin = time.process_time()
        connection.execute("BEGIN")
        connection.executemany("INSERT INTO words(rowid, text) VALUES (?, ?)", texts)
        connection.execute("COMMIT")
        seconds = time.process_time() - begin
    print(
        f"{len(texts)} passages, {size} bytes in {seconds:.2f} s of a processor: {size / seconds / 1e6:.1f} MB/s"
    )


def rows(count):
    import ctypes
    import os

    import bertqa
    from bertqa._native import check, library

    block, length, count = 1024, 384, int(count)
    context, lib = bertqa.Context(task="embed"), library()
    handle, question = context._opened().pointer, b"Who signed the lease?"
    fingerprint, size = ctypes.create_string_buffer(4 + length), ctypes.c_size_t()
    check(lib.vectors_fingerprint(handle, None, ctypes.addressof(fingerprint), 4 + length, ctypes.byref(size)))
    blocks = [
        (ctypes.c_int8 * (block * length)).from_buffer_copy(os.urandom(block * length))
        for _ in range(count // block)
    ]
    scales = (ctypes.c_float * block)(*[0.01] * block)
    times = []
    for _ in range(7):
        search = ctypes.c_void_p()
        check(
            lib.search_create(
                handle, question, len(question), fingerprint.raw, size.value, None, ctypes.byref(search)
            )
        )
        begin, processors = time.perf_counter(), time.process_time()
        for number, data in enumerate(blocks):
            check(lib.search_add_vectors(search, number * block + 1, block, data, block * length, scales))
        times.append((time.perf_counter() - begin, time.process_time() - processors))
        lib.search_free(search)
    clock, processors = (1000 * statistics.median(each) for each in zip(*times))
    print(f"{len(blocks) * block} rows: {clock:.0f} ms, {processors:.0f} ms of processors")


def rank(passages, answers):
    """The first of 20 passages in which one of the answers begins; 99 if none does. answers: as `places` returns."""
    for position, (name, start, end) in enumerate(passages[:20]):
        if any(name == document and start <= byte < end for document, byte in answers):
            return position
    return 99


def hits(database, count, *paths):
    import bertqa

    numbers = documents(database, paths)
    asked = questions(paths, int(count))
    with bertqa.Collection(database) as notes, bertqa.Collection(database) as by_words:
        by_words._fingerprint = lambda: None
        by_meaning = bertqa.Collection(database)
        by_meaning._set_words = lambda *_: None
        notes.ask("Who?")
        for source, each in asked.items():
            found, right = collections.defaultdict(list), 0
            search_times, ask_times, processors = [], [], 0.0
            for question, context, answers in each:
                right_places = places(numbers, context, answers)
                for name, collection in (("words", by_words), ("vectors", by_meaning), ("both", notes)):
                    begin = time.perf_counter()
                    passages = collection.search(question, k=20)
                    if name == "both":
                        search_times.append(1000 * (time.perf_counter() - begin))
                    found[name].append(rank([(p.name, p.start, p.end) for p in passages], right_places))
                begin, used = time.perf_counter(), time.process_time()
                answer = notes.ask(question).answer
                ask_times.append(1000 * (time.perf_counter() - begin))
                processors += 1000 * (time.process_time() - used) / len(each)
                right += answer is not None and corpus.is_right(answer.text, answers)
            print(f"{source}: {len(each)} questions, {right} exactly right,", end=" ")
            print(
                f"search {statistics.median(search_times):.0f} ms, ask {statistics.median(ask_times):.0f} ms",
                end=" ",
            )
            print(f"({processors:.0f} ms of processors, mean)")
            found["in either"] = list(map(min, found["words"], found["vectors"]))
            for name, ranks in found.items():
                shares = (f"{sum(r < most for r in ranks) / len(ranks):.3f}" for most in (1, 5, 20))
                print(f"  {name}: among 1, 5, 20:", *shares, flush=True)


def reciprocal(flatness):
    def score(cosines, bm25, *_):
        by_cosine, by_words = cosines.argsort()[::-1].argsort(), bm25.argsort(kind="stable")[::-1].argsort()
        return 1 / (flatness + by_cosine) + (bm25 > 0) / (flatness + by_words)

    return score


def share_of_best(weight, power):
    return lambda cosines, bm25, *_: cosines + weight * (bm25 / max(bm25.max(), 1e-9)) ** power


def coverage(weight, power):
    return lambda cosines, _, coverages, __: cosines + weight * coverages**power


FUSIONS = {
    "BM25": lambda cosines, bm25, *_: bm25,
    "words": lambda cosines, bm25, coverages, _: coverages + bm25,
    "vectors": lambda cosines, *_: cosines,
    "reciprocal ranks, 10": reciprocal(10),
    "reciprocal ranks, 60": reciprocal(60),
    "cosine + 0.25 BM25's share^2": share_of_best(0.25, 2),
    "in 10 parts": lambda cosines, bm25, _, in_parts: cosines + 0.4 * in_parts**2,
    **{
        f"cosine + {weight} coverage^{power}": coverage(weight, power)
        for weight in (0.2, 0.3, 0.4, 0.5, 0.6)
        for power in (1, 1.5, 2, 3)
    },
}


def covered(rows, words, count):
    """The share of a question's words that each of COUNT rows has, by inverse document frequency, and the sum of these.
    rows, words: the row and the word of each match."""
    words = numpy.unique(words, return_inverse=True)[1]
    found = numpy.bincount(words)
    weights = numpy.log(1 + (count - found + 0.5) / (found + 0.5))
    whole = max(weights.sum(), 1e-9)
    return numpy.bincount(rows, weights[words], count) / whole, whole


def fusion(database, count, *paths):
    import bertqa
    from bertqa import _collection

    numbers, asked = documents(database, paths), questions(paths, int(count))
    with bertqa.Collection(database) as notes:
        connection = notes._opened()
        place = {
            id: (name, start, end)
            for id, name, start, end in connection.execute(
                "SELECT p.id, d.name, p.start, p.end FROM passages p JOIN documents d ON d.id = p.document"
            )
        }
        ids, rows = [], []
        for first, number, data, scales in connection.execute("SELECT first, count, rows, scales FROM vectors"):
            ids += range(first, first + number)
            block = numpy.frombuffer(data, numpy.int8).reshape(number, -1).astype(numpy.float32)
            rows.append(block * numpy.frombuffer(scales, "<f4")[:, None])
        ids, vectors = numpy.array(ids), numpy.concatenate(rows)
        for source, each in asked.items():
            found = collections.defaultdict(list)
            for question, context, answers in each:
                right_places = places(numbers, context, answers)
                query = notes._embedding().embed(question, prompt_name="query")
                cosines = vectors @ numpy.array(query, numpy.float32)
                in_parts = numpy.zeros(len(ids))
                matches = connection.execute(
                    _collection._sql(_collection._WORDS), (match(question), True)
                ).fetchall()
                matches = numpy.array(matches).reshape(-1, 3)
                row, words = numpy.searchsorted(ids, matches[:, 0]), matches[:, 1].astype(int)
                for part in range(10):
                    here = row % 10 == part
                    in_parts[part::10] = covered(row[here] // 10, words[here], len(in_parts[part::10]))[0]
                coverages, whole = covered(row, words, len(ids))
                # FTS5's k1 is 1.2: a word's score is at most 2.2 times its weight.
                bm25 = numpy.bincount(row, matches[:, 2], len(ids)) / (2.2 * whole)
                for name, score in FUSIONS.items():
                    scores = score(cosines, bm25, coverages, in_parts)
                    order = numpy.argpartition(-scores, 20)[:20]
                    order = order[numpy.argsort(-scores[order], kind="stable")]
                    best = [place[id] for id in ids[order].tolist()]
                    found[name].append(rank(best, right_places))
            print(f"{source}: {len(each)} questions, every other one; among 1, 5, 20, then those of the others")
            for name, ranks in found.items():
                halves = (ranks[::2], ranks[1::2])
                shares = (
                    f"{sum(r < most for r in half) / len(half):.3f}" for half in halves for most in (1, 5, 20)
                )
                print(f"  {name:28}", *shares, flush=True)


def match(question):
    """Returns the question's query for the full-text search."""
    import ctypes

    from bertqa._native import check, library

    search, data = ctypes.c_void_p(), question.encode()
    check(library().search_create(None, data, len(data), None, 0, None, ctypes.byref(search)))
    query = library().search_query(search).decode()
    library().search_free(search)
    return query


if __name__ == "__main__":
    commands = {
        "make": make,
        "cut": cut,
        "static": static,
        "limit": limit,
        "rows": rows,
        "hits": hits,
        "fusion": fusion,
    }
    if len(sys.argv) < 3 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](*sys.argv[2:])
