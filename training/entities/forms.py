"""Windows in other forms (common/forms.py). Students read them, and teachers the text as it is."""

from typing import List, Sequence, Tuple

import numpy as np
from tokenizers import Tokenizer

from common.forms import Pieces, in_form

from .examples import IGNORED, Window


def other_forms(
    windows: Sequence[Window], tokenizer: Tokenizer, labels: Sequence[str], share: float, longest: int, seed: int
) -> List[Window]:
    """Returns the windows, of which this share has another form.

    A window that would be longer than `longest` tokens does not change.
    """
    result = list(windows)
    if not share:
        return result
    pieces, generator = Pieces(tokenizer), np.random.default_rng(seed)
    for index in np.flatnonzero(generator.random(len(result)) < share):
        window = result[index]
        cls, *text, sep = window.ids
        ids, order = in_form(np.array(text, np.uint32), pieces, generator)
        if len(ids) and len(ids) + 2 <= longest:
            order = np.concatenate([[0], np.where(order < 0, -1, order + 1), [len(text) + 1]])
            result[index] = Window(
                [cls, *ids.tolist(), sep],
                labels_at(order, np.array(window.labels), labels).tolist(),
                None if window.known is None else probabilities_at(order, window.known, labels),
            )
    return result


def labels_at(order: np.ndarray, targets: np.ndarray, labels: Sequence[str]) -> np.ndarray:
    """Returns the labels of the tokens at these places. An added token is inside an entity if the next one is.

    `order` begins and ends with the special tokens' places.
    """
    following, is_last = _following(order)
    result = targets[following]
    outside = [number for number, label in enumerate(labels) if not label.startswith("I-")]
    result[(order < 0) & np.isin(result, outside)] = 0
    result[is_last] = IGNORED if targets[-2] == IGNORED else 0
    return result


def probabilities_at(order: np.ndarray, probabilities: np.ndarray, labels: Sequence[str]) -> np.ndarray:
    """Returns the same of a teacher's probabilities [tokens, labels]."""
    following, is_last = _following(order)
    result = probabilities[following]
    result[is_last] = 0
    inside = np.array([label.startswith("I-") for label in labels])
    added = result[order < 0] * inside
    added[:, 0] = 1 - added.sum(1)
    result[order < 0] = added
    return result


def _following(order: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    """The places, those of added tokens replaced by the next token's; true for tokens added behind the last one."""
    following = np.minimum.accumulate(np.where(order < 0, order[-1], order)[::-1])[::-1]
    return following, (order < 0) & (following == order[-1])
