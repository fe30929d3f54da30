#!/usr/bin/env python3
"""Ranks the paragraphs of files by how well they answer a question, with a cross-encoder.

usage: rank_passages.py MODEL QUESTION FILE...

MODEL is a classifier of pairs with one label, such as cross-encoder/ms-marco-MiniLM-L6-v2. It reads a question and a
passage together and returns a score; higher is better. Prints the five best paragraphs, each with its score and
file. A cross-encoder reads every pair. With many thousands of passages, first select some hundred by embeddings
(docs/embeddings.md).
"""

import pathlib
import sys

import bertqa

SHOWN = 5


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__.split("\n\n")[1])
    model, question, *files = sys.argv[1:]
    passages = []
    for file in files:
        for paragraph in pathlib.Path(file).read_text(encoding="utf-8").split("\n\n"):
            text = " ".join(paragraph.split())
            if text:
                passages.append((file, text))
    with bertqa.Context(model) as context:
        if len(context.info.labels) != 1:
            sys.exit(
                f"rank_passages.py: {model} has {len(context.info.labels)} labels, but a cross-encoder has one"
            )
        # One call for all pairs distributes them over the processors.
        results = context.classify_batch([(question, text) for _, text in passages])
    scores = [result.scores[0].logit for result in results]
    for rank in sorted(range(len(passages)), key=lambda index: -scores[index])[:SHOWN]:
        file, text = passages[rank]
        print(f"{scores[rank]:.3f}\t{file}\t{text}")


if __name__ == "__main__":
    main()
