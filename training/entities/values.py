"""Texts with other names in the places of theirs: labelled texts have names of few countries."""

import collections
import itertools
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
        for label, text in records(path, lambda record: (record["label"], record["text"])):
            ids = tokenizer.encode(text, add_special_tokens=False).ids
            if not ids:
                raise SystemExit(f"--values: {path} has a value without word pieces: {text!r}")
            self._values[label].append(ids)
        unknown = {label for label in self._values if f"I-{label}" not in labels}
        if unknown:
            raise SystemExit(f"--values: {path} has other labels than --data: {', '.join(sorted(unknown))}")

    def in_places_of(self, window: Window, longest: int, draw: random.Random) -> Optional[Window]:
        """Returns the window with random values in the places of its own.

        Returns None if none changed, or if the window would be longer than `longest` tokens. The labels of a value are
        certain: teachers may not know it. Other tokens keep what is known of them.
        """
        tags = self._tags(window)
        parts = [self._part(window, 0, 1)]
        first, changed = 1, False
        while first <= len(tags):
            label = tags[first - 1][2:]
            end = first + 1
            while end <= len(tags) and (
                self._continues[window.ids[end]] or (label and tags[end - 1] == f"I-{label}")
            ):
                end += 1
            if label in self._values and window.ids[first] not in self._marks and draw.random() < SHARE:
                parts.append(self._value(label, draw))
                changed = True
            else:
                parts.append(self._part(window, first, end))
            first = end
        ids, labels, known = zip(*parts, self._part(window, -1, None), strict=True)
        ids = [*itertools.chain(*ids)]
        if not changed or len(ids) > longest:
            return None
        return Window(ids, [*itertools.chain(*labels)], np.concatenate(known))

    def _value(self, label: str, draw: random.Random) -> Window:
        ids = draw.choice(self._values[label])
        begin, inside = (self._labels.index(f"{tag}-{label}") for tag in "BI")
        labels = [begin, *[inside] * (len(ids) - 1)]
        return Window(ids, labels, np.eye(len(self._labels), dtype=np.float16)[labels])

    @staticmethod
    def _part(window: Window, first: int, end: Optional[int]) -> Window:
        return Window(*(column[first:end] for column in window))

    def _tags(self, window: Window) -> List[str]:
        """The label of each token between the special ones; none if they are unknown and the teacher is not sure."""
        numbers = window.labels[1:-1]
        if IGNORED in numbers:
            if window.known[1:-1].max(1).min() < SURE:
                return []
            numbers = window.known[1:-1].argmax(1).tolist()
        return [self._labels[number] for number in numbers]
