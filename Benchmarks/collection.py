#!/usr/bin/env python3
"""Measures collections: indexing, how often a search finds the passage with the answer, and right answers.
docs/collections.md quotes it.

usage: collection.py make DATABASE FILE... [-- OPTION...]
                                        indexes the contexts of FILEs with `bertqa index OPTION...`
       collection.py hits DATABASE COUNT FILE...
                                        asks COUNT questions of each source, evenly spread

FILE: JSON lines with "context" and either "qas" or "question", "answers" and "source"; .xz too; or with "text". Needs
build/bin/bertqa and PYTHONPATH=bindings/python.
"""

import collections
import json
import lzma
import pathlib
import resource
import statistics
import string
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
TOOL = ROOT / "build" / "bin" / "bertqa"


def records(paths):
    for path in map(pathlib.Path, paths):
        opener = lzma.open if path.suffix == ".xz" else open
        with opener(path, "rt", encoding="utf-8") as file:
            yield from map(json.loads, file)


def contexts(paths):
    """Returns the number of each context."""
    texts = dict.fromkeys(record.get("context") or record.get("text") for record in records(paths))
    return {text: number for number, text in enumerate(texts)}


def questions(paths, count):
    """Returns COUNT answerable questions of each source: (question, context, answers)."""
    found = collections.defaultdict(list)
    for record in records(paths):
        for question in record.get("qas") or ([record] if "question" in record else []):
            if question["answers"]:
                found[question["source"]].append((question["question"], record["context"], question["answers"]))
    return {
        source: every[:: max(1, len(every) // count)][:count]
        for source, every in found.items()
        if len(every) >= count
    }


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
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        seconds = time.perf_counter() - begin
    passages = int(output.split(";")[1].split()[0])
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"{passages} passages, {size} bytes in {seconds:.1f} s ({usage.ru_utime + usage.ru_stime:.1f} s of processors): "
        f"{passages / seconds:.0f} passages/s, {size / seconds / 1e6:.1f} MB/s; "
        f"{pathlib.Path(database).stat().st_size} bytes; resident at most {usage.ru_maxrss // 1024} MiB"
    )


def normal(answer):
    """As SQuAD's evaluation compares."""
    words = "".join(c for c in answer.lower() if c not in string.punctuation).split()
    return [word for word in words if word not in ("a", "an", "the")]


def rank(passages, document, starts):
    """The first of 20 passages that has the answer; 99 if none has it."""
    for position, (name, start, end) in enumerate(passages[:20]):
        if name == document and any(start <= byte < end for byte in starts):
            return position
    return 99


def hits(database, count, *paths):
    import bertqa

    numbers = contexts(paths)
    asked = questions(paths, int(count))
    with bertqa.Collection(database) as notes, bertqa.Collection(database) as by_words:
        by_words._fingerprint = None
        by_meaning = bertqa.Collection(database)
        by_meaning._words = lambda *_: []
        notes.ask("Who?")
        for source, each in asked.items():
            found, right, search_times, ask_times = collections.defaultdict(list), 0, [], []
            for question, context, answers in each:
                document = str(numbers[context])
                starts = {len(context[: answer["answer_start"]].encode()) for answer in answers}
                for name, collection in (("words", by_words), ("vectors", by_meaning), ("both", notes)):
                    begin = time.perf_counter()
                    passages = collection.search(question, k=20)
                    if name == "both":
                        search_times.append(1000 * (time.perf_counter() - begin))
                    found[name].append(rank([(p.name, p.start, p.end) for p in passages], document, starts))
                begin = time.perf_counter()
                answer = notes.ask(question).answer
                ask_times.append(1000 * (time.perf_counter() - begin))
                right += answer is not None and normal(answer.text) in [normal(a["text"]) for a in answers]
            print(f"{source}: {len(each)} questions, {right} exactly right,", end=" ")
            print(f"search {statistics.median(search_times):.0f} ms, ask {statistics.median(ask_times):.0f} ms")
            for name, ranks in found.items():
                shares = (f"{sum(r < most for r in ranks) / len(ranks):.3f}" for most in (1, 5, 20))
                print(f"  {name}: among 1, 5, 20:", *shares, flush=True)


if __name__ == "__main__":
    commands = {"make": make, "hits": hits}
    if len(sys.argv) < 4 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](*sys.argv[2:])
