"""When to answer, and what a probability is worth: chosen on development questions.

Rows have `gap` (best span's score minus the null score), `f1` and `exact` of the best span, `answerable`,
`probability` of the best span and `no_answer_probability`: see `Measured` of Benchmarks/accuracy.py.
"""

import math
from typing import Callable, List, Optional, Sequence, Tuple

# Nats; a probability of 0 or 1 that is wrong costs this much.
WORST_LOSS = 20.0
# Of the expected calibration error.
BINS = 15
# The steps in which a temperature is looked for.
RATIO, LIMIT = 1.15, 12


def balanced_threshold(rows: Sequence) -> Tuple[float, float]:
    """(threshold, score): the threshold on the gap with the highest mean of F1 over answerable questions and the
    share of unanswerable ones rejected, both counting one half.

    The threshold is half way between two gaps, so that it is not on an answer's own.
    """
    answerable = sum(row.answerable for row in rows)
    others = len(rows) - answerable
    if not answerable or not others:
        raise ValueError("a threshold is chosen on answerable and unanswerable questions, one kind is missing")
    ordered = sorted((row for row in rows), key=lambda row: -row.gap)
    score = best = 0.5
    place = 0
    for index, row in enumerate(ordered):
        score += 0.5 * row.f1 / answerable if row.answerable else -0.5 / others
        at_end_of_ties = index + 1 == len(ordered) or ordered[index + 1].gap < row.gap
        if at_end_of_ties and score > best:
            best, place = score, index + 1
    if place == 0:
        return ordered[0].gap + 1, best
    if place == len(ordered):
        return ordered[-1].gap - 1, best
    return (ordered[place - 1].gap + ordered[place].gap) / 2, best


def chosen_threshold(rows: Sequence, max_loss: float) -> float:
    """The balanced threshold, lowered until no source's F1 over answerable questions is more than `max_loss` below
    what it is when all are answered.

    Development sets are harder than most users' unanswerable questions: alone, the balanced mean throws away a third of
    the right answers for them.
    """
    threshold, _ = balanced_threshold(rows)
    for source in {row.source for row in rows}:
        part = sorted((row for row in rows if row.source == source and row.answerable), key=lambda row: row.gap)
        lost = 0.0
        for row in part:
            lost += row.f1 / len(part)
            if lost > max_loss:
                threshold = min(threshold, row.gap)
                break
    return threshold


def at_threshold(rows: Sequence, threshold: float) -> Tuple[float, float, float]:
    """(F1 over all, share of the answerable that is answered, share of the unanswerable that is rejected).

    A share is NaN if there are no such questions.
    """
    answerable = [row for row in rows if row.answerable]
    others = [row for row in rows if not row.answerable]
    kept = sum(row.gap >= threshold for row in answerable)
    rejected = sum(row.gap < threshold for row in others)
    f1 = (sum(row.f1 for row in answerable if row.gap >= threshold) + rejected) / len(rows)
    return f1, kept / len(answerable) if answerable else math.nan, rejected / len(others) if others else math.nan


def calibration_error(
    probabilities: Sequence[float],
    outcomes: Sequence[float],
    weights: Optional[Sequence[float]] = None,
) -> float:
    """Expected calibration error: the mean distance of probability and frequency over bins of equal width."""
    weights = weights or [1.0] * len(probabilities)
    sums = [0.0] * BINS
    for probability, outcome, weight in zip(probabilities, outcomes, weights):
        sums[min(BINS - 1, int(probability * BINS))] += weight * (probability - outcome)
    return sum(map(abs, sums)) / sum(weights)


def answer_calibration(rows: Sequence) -> Tuple[List[float], List[float]]:
    """Probability of the best span, and whether it is exactly right."""
    return [row.probability for row in rows], [row.exact if row.answerable else 0.0 for row in rows]


def no_answer_calibration(rows: Sequence) -> Tuple[List[float], List[float]]:
    """Probability of no answer, and whether there is none."""
    return [row.no_answer_probability for row in rows], [float(not row.answerable) for row in rows]


def log_loss(probabilities: Sequence[float], outcomes: Sequence[float]) -> float:
    """Mean negative log-likelihood of binary outcomes, in nats."""
    total = 0.0
    for probability, outcome in zip(probabilities, outcomes):
        right = probability if outcome else 1 - probability
        total += min(WORST_LOSS, -math.log(right)) if right > 0 else WORST_LOSS
    return total / len(probabilities)


def best_temperature(loss: Callable[[float], float]) -> float:
    """The temperature with the lowest loss, from 1 in up to LIMIT steps of RATIO; `loss` is called once for each."""
    known = {0: loss(1.0)}

    def at(step: int) -> float:
        if step not in known:
            known[step] = loss(RATIO**step)
        return known[step]

    step = 0
    direction = 1 if at(1) < at(0) else -1
    while abs(step) < LIMIT and at(step + direction) < at(step):
        step += direction
    return RATIO**step


def risk_coverage(rows: Sequence) -> List[Tuple[float, float]]:
    """(coverage, risk) as the threshold falls: the share of questions answered, and the share of the answers given
    that are not exactly right."""
    points = []
    wrong = 0.0
    for count, row in enumerate(sorted(rows, key=lambda row: -row.gap), 1):
        wrong += 1 - (row.exact if row.answerable else 0.0)
        points.append((count / len(rows), wrong / count))
    return points
