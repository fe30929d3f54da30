#!/usr/bin/env python3
"""Trains a classifier on a CSV file and labels the rows of another.

usage: train_csv.py LABELLED.csv MODEL_DIRECTORY < MORE.csv > MORE_LABELLED.csv

Both files have a column "text"; the first also has "label". An existing model is used without training.
"""

import csv
import os
import sys

import bertqa

BATCH = 256


def train(path, directory):
    with open(path, newline="", encoding="utf-8-sig") as file:  # spreadsheets write a byte order mark
        rows = list(csv.DictReader(file))
    report = bertqa.train_classifier((row["text"] for row in rows), (row["label"] for row in rows), directory)
    print(f"{report.text_count} texts, accuracy {report.accuracy:.3f} when not seen before", file=sys.stderr)


def label_rows(context, reader, writer):
    rows = []

    def flush():
        for row, result in zip(rows, context.classify_batch([row["text"] or "" for row in rows])):
            probability = f"{result.probability:.4f}" if result.label else ""
            writer.writerow({**row, "label": result.label or "", "probability": probability})
        rows.clear()

    for row in reader:
        rows.append(row)
        if len(rows) == BATCH:
            flush()
    flush()


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.split("\n\n")[1])
    labelled, directory = sys.argv[1:]
    csv.field_size_limit(sys.maxsize)  # texts may be long
    if not os.path.exists(directory):
        train(labelled, directory)
    sys.stdin.reconfigure(encoding="utf-8-sig", newline="")
    reader = csv.DictReader(sys.stdin)
    columns = [name for name in reader.fieldnames or [] if name not in ("label", "probability")]
    writer = csv.DictWriter(sys.stdout, [*columns, "label", "probability"], extrasaction="ignore")
    writer.writeheader()
    with bertqa.Context(directory) as context:
        label_rows(context, reader, writer)


if __name__ == "__main__":
    main()
