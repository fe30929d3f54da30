#!/usr/bin/env python3
"""Keeps what this version writes, for later versions to read or refuse: see Tests/python/packages/test_formats.py.

usage: Tests/formats/generate.py DIRECTORY    (a new one, named by the version: Tests/formats/0.1.0)
Environment: BERTQA_PREFIX, the installation of that version; PYTHONPATH with its Python package.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import bertqa

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "Tests" / "BertQACoreTests" / "Fixtures"
TOOL = pathlib.Path(os.environ.get("BERTQA_PREFIX", ROOT / "build")) / "bin" / "bertqa"

TRAINING = [
    ("the striker scored a goal in the second half of the match", "sport"),
    ("a late goal won the match for the home team", "sport"),
    ("the keeper saved a penalty and the team drew the match", "sport"),
    ("shares fell as the bank cut its forecast for growth", "business"),
    ("the bank said profits and shares rose in the quarter", "business"),
    ("investors sold shares when the company missed its forecast", "business"),
]
TEXTS = [
    "the team won the match with a goal",
    "the company said shares fell in the quarter",
    "goal shares match bank",
]
TRAINERS = {
    "naive-bayes": {"algorithm": "naive_bayes"},
    "logistic-regression": {"algorithm": "logistic_regression", "max_ngram": 2, "tf_idf": True},
}


def main():
    directory = pathlib.Path(sys.argv[1])
    directory.mkdir()
    texts, labels = zip(*TRAINING)
    expected = {"version": bertqa.version()}

    # Word-count models.
    for name, options in TRAINERS.items():
        bertqa.train_classifier(texts, labels, directory / name, folds=0, **options)
        with bertqa.Context(directory / name) as context:
            expected[name] = [
                {score.label: score.probability for score in context.classify(text).scores} for text in TEXTS
            ]

    # The int8 form of an encoder.
    subprocess.run(
        [TOOL, "quantize", FIXTURES / "tiny-bert", directory / "int8"], check=True, stdout=subprocess.DEVNULL
    )
    with bertqa.Context(directory / "int8", isa="portable") as context:
        start, end = context.logits([[3, 120, 3]], [1])[0]
        expected["int8"] = {"start": list(start), "end": list(end)}

    # The bytes of a sequence's state, with its model, which they name by a hash.
    (directory / "lstm").mkdir()
    for name in "config.json", "model.safetensors", "vocab.txt":
        shutil.copyfile(FIXTURES / "tiny-lstm" / name, directory / "lstm" / name)
    with bertqa.Context(directory / "lstm", isa="portable") as context:
        state = None
        for id in 5, 9, 17:
            [state], _ = context.step([id], None if state is None else [state])
        (directory / "state.bin").write_bytes(state.to_bytes())
        expected["state"] = {"values": list(state.values), "logits": context.step([7], [state])[1].tolist()[0]}

    # A run of the filter with its checkpoint, which has the output's path: one that says nothing of this machine.
    run = pathlib.Path("/tmp/bertqa-formats")
    run.mkdir()
    try:
        records = [json.dumps({"n": n, "text": "the quick fox"}) + "\n" for n in range(20)]
        (run / "in.jsonl").write_text("".join(records))
        command = [TOOL, "filter", "--task", "tokenize", "-m", FIXTURES / "tiny-bert", "-o", "out.jsonl"]
        subprocess.run([*command, "--resume", "checkpoint", "in.jsonl"], cwd=run, check=True, capture_output=True)
        shutil.copytree(run, directory / "filter")
    finally:
        shutil.rmtree(run)
    (directory / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
