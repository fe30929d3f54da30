"""Long documents: time and quality of reading sections by rank, and of reading all windows as the peer does."""

import random

from accuracy import mean, read, scores
from long_documents import article_questions

from . import data
from .end_to_end import STRIDE, Libbertqa, TokenizersAndONNXRuntime
from .workers import Worker, measure, note

CHARACTERS = 37_500


class LibbertqaAll(Libbertqa):
    options = {"doc_stride": STRIDE}


SUBJECTS = {
    "libbertqa int8": Libbertqa,
    "libbertqa int8, all windows": LibbertqaAll,
    "tokenizers + ONNX Runtime int8 + NumPy, all windows": TokenizersAndONNXRuntime,
}


def articles(path, count):
    """Questions with answers about documents of neighbouring passages; none if the data has no answers."""
    path = path or (data.SHARED if data.SHARED.exists() else None)
    questions = [question for question in read(path) if question.get("answers")] if path else []
    return article_questions(questions, CHARACTERS, count, random.Random(1))["answerable"] if questions else []


def measured(pairs, path, document, count, threads, rounds):
    """Rows {engine, document seconds, article seconds, EM, F1}: one question about `document`, and those about
    articles, of which the time of one is given."""
    questions = articles(path, count)
    note(f"long documents: {len(document)} characters, and {len(questions)} questions about {CHARACTERS}")
    asked = [(question["question"], question["context"]) for question in questions]
    workers = [Worker(name, make, ("int8", threads, 1), threads) for name, make in SUBJECTS.items()]
    for worker in workers:
        worker.ask("prepare", "document", ([(pairs[0][0], document)],))
        worker.ask("prepare", "articles", (asked,))
    rows = {worker.name: {"engine": worker.name, "articles": len(questions)} for worker in workers}
    for name, seconds in measure(workers, "document", rounds, 1, warm_up=False).items():
        rows[name]["document seconds"] = seconds
    if questions:
        for name, seconds in measure(workers, "articles", 1, 1, warm_up=False).items():
            rows[name]["article seconds"] = seconds / len(questions)
        for worker in workers:
            found = [
                scores(text, [answer["text"] for answer in question["answers"]])
                for text, question in zip(worker.ask("answers", "articles"), questions)
            ]
            rows[worker.name]["EM"] = 100 * mean(exact for exact, _ in found)
            rows[worker.name]["F1"] = 100 * mean(f1 for _, f1 in found)
    for worker in workers:
        worker.close()
    return list(rows.values())
