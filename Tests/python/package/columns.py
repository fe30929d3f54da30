"""Random columns of texts, and the rows that answering them gives."""

import random

from samples import SOME_WORDS

QUESTION = "who has seen the river"
FIELDS = ["answer", "start", "end", "probability", "score", "gap", "sentence", "is_impossible"]


def texts(count, seed=0):
    """Documents of every kind: null, empty, longer than a string view's inline text, not ASCII."""
    rng = random.Random(seed)
    kinds = [lambda: None, lambda: "", lambda: rng.choice(SOME_WORDS), lambda: "é😀 " + rng.choice(SOME_WORDS)]
    kinds += [lambda: " ".join(rng.choices(SOME_WORDS, k=rng.randint(1, 60)))] * 6
    return [rng.choice(kinds)() for _ in range(count)]


def expected(context, questions, documents, **options):
    rows = []
    for question, document in zip(questions, documents):
        if question is None or document is None:
            rows.append(None)
            continue
        result = context.answer(question, document, **options)
        best = result.answer
        row = dict.fromkeys(FIELDS)
        if best:
            row = {
                "answer": best.text, "start": best.start, "end": best.end, "probability": best.probability,
                "score": best.score, "gap": best.gap, "sentence": best.sentence,
            }  # fmt: skip
        rows.append({**row, "is_impossible": result.is_impossible})
    return rows
