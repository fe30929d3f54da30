"""The cost of `bertqa filter` besides the model, and the rate at which records pass through it.

usage: filter.py [DATA.jsonl] [--records N] [--rounds N]

Answering: records a second of the filter, and of a loop over `Context.answer_batch` with 64 pairs a call in one
process that has the pairs in memory; they take turns, and the medians of the rounds are compared, also by
processor time, which other programs on the machine disturb less. DATA has a question and a context a line;
without it, paragraphs of the example document are asked.

Passing through: megabytes a second of --task tokenize, on records of which a short field is tokenized and the
rest only passes through, and on records that are tokenized as a whole.
"""

import argparse
import itertools
import json
import os
import pathlib
import resource
import statistics
import subprocess
import tempfile
import time

import bertqa
from accuracy import records
from staged import ROOT, TOOL

BATCH = 64


def pairs(data, count):
    if data:
        return [(each["question"], each["context"]) for each in itertools.islice(records(data), count)]
    words = (ROOT / "examples/documents/apollo.txt").read_text(encoding="utf-8").split()
    paragraphs = [" ".join(words[start : start + 120]) for start in range(0, len(words) - 120, 7)]
    questions = ["Who landed on the Moon?", "When was it launched?", "What killed the crew?"]
    return list(itertools.islice(zip(itertools.cycle(questions), itertools.cycle(paragraphs)), count))


def run_filter(source, *options):
    """Seconds of the run, and of processors, without the time to start."""
    with tempfile.NamedTemporaryFile() as stats:
        used = []
        for file in (os.devnull, source):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(
                [TOOL, "filter", *options, "--stats", stats.name, file], stdout=subprocess.DEVNULL, check=True
            )
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            used.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        with open(stats.name) as file:
            return json.load(file)["seconds"], used[1] - used[0]


def run_loop(context, asked):
    start, used = time.perf_counter(), time.process_time()
    for first in range(0, len(asked), BATCH):
        context.answer_batch(asked[first : first + BATCH])
    return time.perf_counter() - start, time.process_time() - used


def compare_answering(asked, rounds, directory):
    source = directory / "pairs.ndjson"
    with source.open("w") as file:
        for question, text in asked:
            file.write(json.dumps({"question": question, "text": text}) + "\n")
    with bertqa.Context() as context:
        run_loop(context, asked[:BATCH])
        turns = [(run_loop(context, asked), run_filter(source)) for _ in range(rounds)]
    for index, name in enumerate(("seconds", "processor seconds")):
        loop = statistics.median(turn[0][index] for turn in turns)
        filtered = statistics.median(turn[1][index] for turn in turns)
        print(
            f"{name}: loop {len(asked) / loop:.1f} records/s, filter {len(asked) / filtered:.1f} records/s, "
            f"filter / loop {filtered / loop:.3f}"
        )


def measure_passing(asked, rounds, directory):
    source = directory / "records.ndjson"
    with source.open("w") as file:
        for number, (question, text) in zip(range(100_000), itertools.cycle(asked)):
            record = {"id": number, "tags": ["a", "b"], "size": number * 1.5, "question": question, "text": text}
            file.write(json.dumps(record) + "\n")
    size = source.stat().st_size / 1e6
    for field in ("question", "text"):
        options = ["--task", "tokenize", "--ids", "--text-field", field]
        seconds = min(run_filter(source, *options)[0] for _ in range(rounds))
        print(f"--text-field {field}: {size / seconds:.0f} MB/s, {100_000 / seconds:.0f} records/s")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?")
    parser.add_argument("--records", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    asked = pairs(arguments.data, arguments.records)
    with tempfile.TemporaryDirectory() as directory:
        compare_answering(asked, arguments.rounds, pathlib.Path(directory))
        measure_passing(asked, arguments.rounds, pathlib.Path(directory))


if __name__ == "__main__":
    main()
