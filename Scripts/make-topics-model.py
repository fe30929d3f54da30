#!/usr/bin/env python3
"""Trains models/topics-words: see its MODEL_CARD.md for the data, the settings and why they are these.

usage: Scripts/make-topics-model.py TOOL DATA OUT
TOOL: bin/bertqa. DATA: JSON lines of text, label and source. OUT: the directory to write.
"""

import json
import re
import subprocess
import sys

SETTINGS = ["--algorithm", "naive_bayes", "--max-document-fraction", "0.2"]


def cleaned(text):
    """Without the marks around title and abstract that DBpedia's texts carry: no article has them."""
    return re.sub(r"^Title: (.*?) Text: ", r"\1. ", text, count=1, flags=re.S)


def main():
    tool, data, out = sys.argv[1:]
    with open(data, encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    prepared = "".join(
        json.dumps({"text": cleaned(record["text"]), "label": record["label"]}) + "\n" for record in records
    )
    command = [tool, "train-classifier", "--output", out, *SETTINGS]
    subprocess.run(command, input=prepared.encode(), check=True)


if __name__ == "__main__":
    main()
