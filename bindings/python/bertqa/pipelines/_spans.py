"""The best spans of a window, as transformers chooses them."""

from heapq import heappush, heapreplace
from math import exp
from typing import List, Sequence, Tuple

#: (score, first token, last token)
Span = Tuple[float, int, int]


def powers(logits: Sequence[float], allowed: Sequence[int], top: float) -> List[float]:
    """Returns exp(logit - top) of the allowed tokens, and 0 for the others."""
    values = [0.0] * len(logits)
    for token in allowed:
        values[token] = exp(logits[token] - top)
    return values


def best_spans(starts: Sequence[float], ends: Sequence[float], count: int, length: int) -> List[Span]:
    """Returns the `count` spans of up to `length` tokens with the highest products, best first. Spans with a product
    of 0 are ignored."""
    highest = max(ends)
    heap: List[Tuple[float, int, int]] = []
    for start in sorted(range(len(starts)), key=lambda token: -starts[token]):
        begin = starts[start]
        if begin == 0 or (len(heap) == count and begin * highest <= heap[0][0]):
            break
        for end in range(start, min(start + length, len(ends))):
            score = begin * ends[end]
            if score <= 0:
                continue
            # The first of equal ones wins.
            item = (score, -start, -end)
            if len(heap) < count:
                heappush(heap, item)
            elif item > heap[0]:
                heapreplace(heap, item)
    return [(score, -start, -end) for score, start, end in sorted(heap, reverse=True)]
