"""A teacher for topics: a logistic regression on embeddings, with probabilities of topics and of none of them."""

import os
import pathlib
from typing import Sequence

import numpy as np

from common.files import digest, whole

OTHER = "other"
#: Inverse strength of the penalty; the weight of "other" beside a topic.
C = 0.3
OTHER_WEIGHT = 0.5
BATCH = 512


def vectors(context, texts: Sequence[str], path: str) -> "np.ndarray":
    """Embeddings [text, dimension], f32, kept in a file for the next run."""
    key = digest(texts, pathlib.Path(context.info.directory))
    if os.path.exists(path):
        with np.load(path) as kept:
            if str(kept["key"]) == key:
                return kept["vectors"]
    parts = [
        np.asarray(context.embed(list(texts[i : i + BATCH])), np.float32) for i in range(0, len(texts), BATCH)
    ]
    found = np.concatenate(parts)
    with whole(path) as part, open(part, "wb") as file:
        np.savez(file, vectors=found, key=key)
    return found


class Teacher:
    """Trained on labelled texts, and on passages as examples of "other".

    The passages hold texts about the topics too, so "other" is a matter of degree: its weight says how readily.
    """

    def __init__(self, features, labels, sources, passages):
        from sklearn.linear_model import LogisticRegression

        self.names = sorted(set(labels))
        features = np.concatenate([features, passages])
        labels = np.array([*labels, *[OTHER] * len(passages)])
        sources = np.array([*sources, *[OTHER] * len(passages)])
        weights = cell_weights(labels, sources)
        weights[labels == OTHER] *= OTHER_WEIGHT
        self.model = LogisticRegression(C=C, max_iter=300).fit(features, labels, sample_weight=weights)

    def probabilities(self, features) -> "np.ndarray":
        """[text, topic]: what is "other" is of all topics alike."""
        found = self.model.predict_proba(features)
        classes = list(self.model.classes_)
        other = found[:, classes.index(OTHER)]
        topics = found[:, [classes.index(name) for name in self.names]]
        return topics + other[:, None] / len(self.names)


def cell_weights(labels, sources) -> "np.ndarray":
    """[text]: labels weigh the same; within a label a source weighs as the square root of its number of texts."""
    cells = np.char.add(np.char.add(sources.astype(str), "\0"), labels.astype(str))
    _, cell, count = np.unique(cells, return_inverse=True, return_counts=True)
    weights = count[cell] ** -0.5
    for label in np.unique(labels):
        own = labels == label
        weights[own] *= len(labels) / len(np.unique(labels)) / weights[own].sum()
    return weights
