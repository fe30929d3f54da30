#!/usr/bin/env python3
"""Finds the lines of a file nearest to a query in meaning.

usage: search_lines.py QUERY FILE [MODEL_DIRECTORY]

MODEL_DIRECTORY contains a sentence encoder; default: the library's own. The script needs only the package. With
NumPy one matrix product could replace the products below.
"""

import sys

import bertqa


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit("usage: search_lines.py QUERY FILE [MODEL_DIRECTORY]")
    query, path = sys.argv[1:3]
    model = sys.argv[3] if len(sys.argv) == 4 else None
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = [line.strip() for line in file]
    lines = [line for line in lines if line]
    with bertqa.Context(model, task="embed") as context:
        target = context.embed(query, normalize=True)
        vectors = context.embed(lines, normalize=True)
    cosines = [sum(a * b for a, b in zip(vector, target)) for vector in vectors]
    for cosine, line in sorted(zip(cosines, lines), reverse=True)[:5]:
        print(f"{cosine:6.3f}  {line}")


if __name__ == "__main__":
    main()
