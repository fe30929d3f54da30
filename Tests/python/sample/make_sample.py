#!/usr/bin/env python3
"""Writes a sample of SQuAD questions with the default model's answers, for test_sample.py.

usage: make_sample.py DATA.jsonl > squad_sample.jsonl     (needs the Python package)

DATA has one question a line: {"id", "source", "context", "question", "answers": [{"text", "answer_start"}]}.
Chosen at random with a fixed seed are 140 answerable and 60 unanswerable questions whose result rounding
cannot change: the document fits into one window, the best answer is at least MARGIN ahead of every other
in f32, and the gap is as far from the model's threshold. To each line the result is added:
"best": [start, end] in bytes, and "is_impossible".
"""

import json
import random
import sys

import bertqa

ANSWERABLE, UNANSWERABLE = 140, 60
MARGIN = 0.05
MAX_SEQ_LEN, MAX_ANSWER_LEN = 384, 30
CLS, SEP = "[CLS]", "[SEP]"


def whole_words(tokens, first, last):
    """Returns the span of tokens, widened to whole words as `align_to_words` does."""
    while tokens[first].startswith("##"):
        first -= 1
    while last + 1 < len(tokens) and tokens[last + 1].startswith("##"):
        last += 1
    return first, last


def lead(context, question, document):
    """Returns the lead of the best answer's score over any other; None if there are several windows."""
    q, d = context.tokenize(question), context.tokenize(document)
    ids = [context.piece_id(CLS), *q.ids, context.piece_id(SEP), *d.ids, context.piece_id(SEP)]
    if len(ids) > MAX_SEQ_LEN:
        return None
    shift = len(q.ids) + 2
    [(start, end)] = context.logits([ids], [shift])
    best = {}
    for first in range(len(d.ids)):
        for last in range(first, min(first + MAX_ANSWER_LEN, len(d.ids))):
            words = whole_words(d.tokens, first, last)
            best[words] = max(best.get(words, -1e9), start[first + shift] + end[last + shift])
    scores = sorted(best.values())
    return scores[-1] - scores[-2] if len(scores) > 1 else float("inf")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        questions = [json.loads(line) for line in file]
    random.Random(200).shuffle(questions)
    wanted = {True: ANSWERABLE, False: UNANSWERABLE}
    chosen = []
    with bertqa.Context(precision="f32") as context:
        for item in questions:
            answerable = bool(item["answers"])
            if not wanted[answerable]:
                continue
            margin = lead(context, item["question"], item["context"])
            if margin is None or margin <= MARGIN:
                continue
            result = context.answer(item["question"], item["context"])
            if abs(result.gap - result.no_answer_threshold) <= MARGIN:
                continue
            wanted[answerable] -= 1
            kept = {name: item[name] for name in ("id", "source", "question", "context", "answers")}
            chosen.append(kept | {"best": list(result.answer.byte_range), "is_impossible": result.is_impossible})
    for item in sorted(chosen, key=lambda item: item["id"]):
        print(json.dumps(item, ensure_ascii=False))


if __name__ == "__main__":
    main()
