#!/usr/bin/env python3
"""Asks one document many questions, one per line of standard input; the document is tokenized once.

usage: ask_document.py FILE < questions.txt
"""

import sys

import bertqa


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: ask_document.py FILE < questions.txt")
    with open(sys.argv[1], encoding="utf-8", errors="replace") as file:
        text = file.read()
    with bertqa.Context() as context, context.prepare(text) as document:
        for question in map(str.strip, sys.stdin):
            if not question:
                continue
            best = document.answer(question).answer
            if best is None:
                print(f"{question}\n  no answer")
                continue
            line = text.count("\n", 0, best.start) + 1
            sentence = (
                text[best.sentence_start : best.start] + f">{best.text}<" + text[best.end : best.sentence_end]
            )
            print(f"{question}\n  line {line}: {' '.join(sentence.split())}", flush=True)


if __name__ == "__main__":
    main()
