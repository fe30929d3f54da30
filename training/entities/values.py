"""Texts with other names in the places of theirs: labelled texts have names of few countries."""

import collections
import itertools
import random
from typing import Dict, List, Optional, Sequence

import numpy as np

from common.files import records

from .examples import Entity, Example, Window

# Of the entities that a text has, so many get another value.
SHARE = 0.85
# A teacher's labels count where it gives each token's at least this probability.
SURE = 0.8


def read_values(path: str) -> Dict[str, List[str]]:
    """JSON lines {"label", "text"}; also .xz. Returns the texts of each label."""
    result = collections.defaultdict(list)
    for record in records(path):
        result[record["label"]].append(record["text"])
    return dict(result)


def with_other_values(
    example: Example, values: Dict[str, Sequence[str]], draw: random.Random
) -> Optional[Example]:
    """Returns the example with random values for entities of these labels, or None if it has no such entity.

    "@name" and "#name" stay.
    """

    def can_change(entity):
        return entity.label in values and example.text[entity.start] not in "@#"

    if not any(map(can_change, example.entities)):
        return None
    parts, entities, end, length = [], [], 0, 0
    for entity in example.entities:
        value = example.text[entity.start : entity.end]
        if can_change(entity) and draw.random() < SHARE:
            value = draw.choice(values[entity.label])
        parts += [example.text[end : entity.start], value]
        start = length + entity.start - end
        length = start + len(value)
        entities.append(Entity(start, length, entity.label))
        end = entity.end
    return Example("".join([*parts, example.text[end:]]), entities, "values")


def labelled_by(windows: Sequence[Window], example: Example, encoding, labels: Sequence[str]) -> Example:
    """Returns the example with the entities that a teacher finds; without any if it is not sure of all tokens.

    A word has the label of its first token. windows: the example's. encoding: of `tokenizers`, offsets in code points.
    """
    known = np.concatenate([window.known[1:-1] for window in windows])
    entities: List[Entity] = []
    if known.max(1).min() < SURE:
        return example._replace(entities=entities)
    tokens = zip(encoding.word_ids, encoding.offsets, known.argmax(1).tolist(), strict=True)
    for _, word in itertools.groupby(tokens, key=lambda token: token[0]):
        (_, (start, end), number), *others = word
        end = others[-1][1][1] if others else end
        tag, _, label = labels[number].partition("-")
        if tag == "I" and entities and entities[-1].label == label:
            entities[-1] = entities[-1]._replace(end=end)
        elif label:
            entities.append(Entity(start, end, label))
    return example._replace(entities=entities)


def certain(window: Window, labels: Sequence[str]) -> Window:
    """The window with its labels as a teacher's probabilities: the teacher may not know these names."""
    known = np.zeros((len(window.ids), len(labels)), np.float16)
    known[np.arange(len(known)), np.maximum(window.labels, 0)] = 1
    return window._replace(known=known)
