"""Texts with other names in the places of theirs: labelled texts have names of few countries."""

import collections
import random
from typing import Dict, List, Optional, Sequence

import numpy as np
from tokenizers import Tokenizer

from common.files import records
from common.forms import Pieces

from .examples import IGNORED, Window

# Of the entities that a text has, so many get another value.
SHARE = 0.85
# Where a text has no labels, a teacher's count if it gives each token's at least this probability.
SURE = 0.8


class Values:
    """Names by label, as word pieces."""

    def __init__(self, path: str, tokenizer: Tokenizer, labels: Sequence[str]):
        """path: JSON lines {"label", "text"}; also .xz. labels: of the windows, by number."""
        self._labels = list(labels)
        self._continues = Pieces(tokenizer).continues
        # "@name" and "#name" stay.
        self._marks = {tokenizer.token_to_id(mark) for mark in "@#"}
        self._values: Dict[str, List[List[int]]] = collections.defaultdict(list)
        for record in records(path):
            ids = tokenizer.encode(record["text"], add_special_tokens=False).ids
            self._values[record["label"]].append(ids)
        unknown = {label for label in self._values if f"I-{label}" not in labels}
        if unknown:
            raise SystemExit(f"--values: {path} has other labels than --data: {', '.join(sorted(unknown))}")

    def in_places_of(self, window: Window, draw: random.Random) -> Optional[Window]:
        """Returns the window with random values in the places of its own; None if none changed.

        The labels of a value are certain: teachers may not know it. Other tokens keep what is known of them.
        """
        tags = self._tags(window)
        ids, labels, known = window.ids[:1], window.labels[:1], [window.known[:1]]
        first, changed = 1, False
        while first <= len(tags):
            label = tags[first - 1][2:]
            end = first + 1
            while end <= len(tags) and (
                self._continues[window.ids[end]] or (label and tags[end - 1] == f"I-{label}")
            ):
                end += 1
            part = slice(first, end)
            if label in self._values and window.ids[first] not in self._marks and draw.random() < SHARE:
                value = draw.choice(self._values[label])
                inside = self._labels.index(f"I-{label}")
                targets = [self._labels.index(f"B-{label}"), *[inside] * (len(value) - 1)]
                ids, labels = ids + value, labels + targets
                known.append(np.eye(len(self._labels), dtype=np.float16)[targets])
                changed = True
            else:
                ids, labels = ids + window.ids[part], labels + window.labels[part]
                known.append(window.known[part])
            first = end
        if not changed:
            return None
        return Window(
            [*ids, window.ids[-1]], [*labels, window.labels[-1]], np.concatenate([*known, window.known[-1:]])
        )

    def _tags(self, window: Window) -> List[str]:
        """The label of each token between the special ones; none if they are unknown and the teacher is not sure."""
        numbers = window.labels[1:-1]
        if IGNORED in numbers:
            if window.known[1:-1].max(1).min() < SURE:
                return []
            numbers = window.known[1:-1].argmax(1).tolist()
        return [self._labels[number] for number in numbers]
