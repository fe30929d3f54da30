#!/usr/bin/env python3
"""Adds a column of answers to a table of questions and documents.

usage: answer_csv.py < in.csv > out.csv

in.csv has the columns "question" and "document". out.csv also has "answer" and "probability", which are
empty if the document does not seem to contain an answer.
"""

import csv
import sys

import bertqa


def main():
    csv.field_size_limit(sys.maxsize)  # documents may be long
    sys.stdin.reconfigure(encoding="utf-8-sig", newline="")  # spreadsheets write a byte order mark
    reader = csv.DictReader(sys.stdin)
    missing = {"question", "document"} - set(reader.fieldnames or [])
    if missing:
        sys.exit(f"answer_csv.py: no column {' and no column '.join(sorted(missing))} in the first line")
    rows = []
    for row in reader:
        if None in row:
            sys.exit(
                f"answer_csv.py: line {reader.line_num} has more fields than the first line: quote those with commas"
            )
        rows.append(row)
    with bertqa.Context() as context:
        # One call for all rows distributes their windows over the processors.
        results = context.answer_batch(
            [(row["question"] or "", row["document"] or "") for row in rows], handle_impossible_answer=True
        )
    columns = dict.fromkeys([*reader.fieldnames, "answer", "probability"])
    writer = csv.DictWriter(sys.stdout, columns, lineterminator="\n")
    writer.writeheader()
    for row, result in zip(rows, results):
        best = result.answer
        found = {"answer": best.text, "probability": f"{best.probability:.3f}"} if best else {}
        writer.writerow({**row, "answer": "", "probability": "", **found})


if __name__ == "__main__":
    main()
