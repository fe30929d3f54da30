"""Callables in txtai: its index, its workflow, and its own pipeline Questions."""

import numpy as np
import txtai
from txtai.workflow import Task, Workflow

import bertqa
from bertqa.txtai import Questions, vectors

TEXTS = [
    "The quick brown fox jumps over the lazy dog.",
    "Ann Smith moved from Oslo to Paris.",
    "Shares of the bank fell.",
]


def test_an_index_of_our_vectors(tmp_path):
    embeddings = txtai.Embeddings(method="external", transform=vectors(), content=True)
    embeddings.index(TEXTS)
    [best] = embeddings.search("an animal leaps", 1)
    assert best["text"] == TEXTS[0]
    own = bertqa.SentenceEncoder().encode(["an animal leaps", TEXTS[0]], normalize_embeddings=True)
    assert abs(best["score"] - float(np.dot(*own))) < 1e-4
    assert embeddings.transform(TEXTS[0]).shape == (384,)


def test_answers_in_a_workflow():
    questions = Questions()
    found = questions(["Who moved?", "What fell?", "", "Who moved?"], [TEXTS[1], TEXTS[2], TEXTS[0], None])
    assert found[0] == "Ann Smith" and found[1] in TEXTS[2] and found[2:] == [None, None]
    assert questions(["What is the boiling point of mercury?"], [TEXTS[0]]) == [None]
    workflow = Workflow([Task(lambda texts: questions(["Who moved?"] * len(texts), texts))])
    assert list(workflow([TEXTS[1]])) == ["Ann Smith"]
