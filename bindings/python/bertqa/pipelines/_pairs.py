"""Texts and pairs of texts for a classifier, and their truncation."""

from math import log
from typing import Any, Callable, List, Optional, Tuple

from .._context import Context
from ._model import NO_MAXIMUM, Model

Pair = Tuple[str, Optional[str]]


class TooLong(RuntimeError, IndexError):
    """A text is too long for the model. transformers raises either base, by the model's family and the excess."""


def logits_of(context: Context, texts: List[Pair]) -> List[List[float]]:
    """Returns the logits of each text by label id. For classifiers that this library trains, they are logarithms of the
    probabilities, which may be calibrated; a text that is too short has equal ones."""
    given: List[Any] = [first if second is None else (first, second) for first, second in texts]
    found = context.classify_batch(given)
    is_trained = context.info.architecture in ("WordCountClassifier", "EmbeddingClassifier")
    rows = []
    for one in found:
        scores = sorted(one.scores, key=lambda score: score.id)
        row = [log(max(score.probability, 1e-45)) if is_trained else score.logit for score in scores]
        rows.append(row or [0.0] * len(context.info.labels))
    return rows


class Cutter:
    """Cuts texts as the tokenizers of transformers do.

    is_on: texts are cut. Else strict mode refuses a text that is too long for the model, and the default reads it in
    windows.
    length: the maximum number of tokens, special ones included; default: the tokenizer's.
    first_only: only the first text of a pair is cut; else the longer one.
    """

    def __init__(
        self, model: Model, is_strict: bool, is_on: bool, length: Optional[int] = None, first_only: bool = False
    ):
        self.model, self.is_strict, self.is_on, self.first_only = model, is_strict, is_on, first_only
        longest = model.maximum or NO_MAXIMUM
        self.length = min(length or model.tokenizer_length, longest) if is_on else longest

    def cut(self, pair: Pair) -> Pair:
        if not self.is_on and not self.is_strict:
            return pair
        model, (first, second) = self.model, pair
        special = 2 if second is None else 2 + model.separators
        tokens = model.tokens(first)
        others = model.tokens(second) if second is not None else None
        excess = len(tokens) + (len(others) if others else 0) + special - self.length
        if excess <= 0:
            return pair
        if not self.is_on:
            raise TooLong(f"the text has {excess} tokens more than the {self.length} that the model reads at once")
        counts = (len(tokens), len(others) if others else 0)
        rule: Callable[[int, int, int], Tuple[int, int]] = _first_only if self.first_only else _longest_first
        kept = rule(*counts, self.length - special)
        first = model.cut(first, tokens, kept[0])
        return first, None if second is None or others is None else model.cut(second, others, kept[1])


def _first_only(first: int, second: int, room: int) -> Tuple[int, int]:
    # transformers does not cut at all if the second text alone is too long.
    return (room - second, second) if room > second else (first, second)


def _longest_first(first: int, second: int, room: int) -> Tuple[int, int]:
    """The tokenizers library's rule: the shorter text stays whole, or each has half."""
    short, long = min(first, second), max(first, second)
    if room < 2 * short:
        short, long = room // 2, room - room // 2
    else:
        long = room - short
    return (short, long) if first <= second else (long, short)
