"""Fits the parameters of "bertqa" in config.json that turn gaps and shares of the scores into probabilities.

The library says, of a document of n windows whose best span has a gap and a softmax share,

    no_answer_probability = 1 / (1 + exp(slope · (gap − midpoint − rise · ln n)))
    probability           = (1 − no_answer_probability) · share

where the softmax over all spans has a temperature of its own.
"""

import collections
import math
from typing import List, Sequence

Chances = collections.namedtuple("Chances", "slope midpoint rise")

# A ridge, in questions: finite numbers where a few questions are told apart without an error.
RIDGE = 1e-3


def logistic(
    features: Sequence[Sequence[float]], outcomes: Sequence[float], weights: Sequence[float]
) -> List[float]:
    """The weighted logistic regression of 0/1 outcomes, by Newton's method."""
    size = len(features[0])
    beta = [0.0] * size
    for _ in range(50):
        gradient = [-RIDGE * value for value in beta]
        hessian = [[RIDGE * (i == j) for j in range(size)] for i in range(size)]
        for x, outcome, weight in zip(features, outcomes, weights):
            chance = sigmoid(sum(b * value for b, value in zip(beta, x)))
            for i in range(size):
                gradient[i] += weight * (outcome - chance) * x[i]
                for j in range(size):
                    hessian[i][j] += weight * chance * (1 - chance) * x[i] * x[j]
        step = solved(hessian, gradient)
        # No step is longer than 2: where the curve is flat, Newton's leads too far.
        length = max(map(abs, step))
        beta = [b + s * min(1.0, 2 / length if length else 1.0) for b, s in zip(beta, step)]
        if length < 1e-9:
            break
    return beta


def solved(matrix: List[List[float]], vector: List[float]) -> List[float]:
    """x of matrix · x = vector, for a few positive definite equations."""
    rows = [[*row, value] for row, value in zip(matrix, vector)]
    for i, pivot in enumerate(rows):
        for row in rows[i + 1 :]:
            factor = row[i] / pivot[i]
            for j in range(i, len(row)):
                row[j] -= factor * pivot[j]
    x = [0.0] * len(rows)
    for i in reversed(range(len(rows))):
        x[i] = (rows[i][-1] - sum(rows[i][j] * x[j] for j in range(i + 1, len(rows)))) / rows[i][i]
    return x


def sigmoid(x: float) -> float:
    """1 / (1 + e^-x), without overflow."""
    small = math.exp(-abs(x))
    return (1 if x > 0 else small) / (1 + small)


def fitted_rise(sizes: Sequence[Sequence], share: float) -> float:
    """By how much the threshold rises per factor e of windows: what makes a gap worth the same in documents of all
    sizes; 0 or more. sizes: rows of documents of about one size each, with both kinds of questions.

    All sizes count the same, and in each both kinds as if `share` of the questions were answerable.
    """
    weighted = []
    for rows in map(finite, sizes):
        weighted += [(row, weight / len(rows)) for row, weight in zip(rows, weights_of(rows, share))]
    count = sum(map(len, sizes))
    slope, _, windows = logistic(
        [(row.gap + row.rise, 1.0, -math.log(row.windows)) for row, _ in weighted],
        [float(row.answerable) for row, _ in weighted],
        [weight * count / len(sizes) for _, weight in weighted],
    )
    return max(0.0, windows / slope)


def fitted(rows: Sequence, rise: float, share: float) -> Chances:
    """Slope and midpoint for a given rise, as if `share` of the questions were answerable."""
    rows = finite(rows)
    slope, intercept = logistic(
        [(row.gap + row.rise - rise * math.log(row.windows), 1.0) for row in rows],
        [float(row.answerable) for row in rows],
        weights_of(rows, share),
    )
    if slope <= 0:
        raise SystemExit("--dev: the gap does not tell answerable questions from others: nothing to calibrate")
    return Chances(slope, -intercept / slope, rise)


def finite(rows: Sequence) -> list:
    """Without documents in which nothing could be an answer: they have no gap."""
    return [row for row in rows if math.isfinite(row.gap)]


def weights_of(rows: Sequence, share: float) -> List[float]:
    """One weight a row: those of answerable questions sum to `share` of the number of rows."""
    answerable = sum(row.answerable for row in rows)
    others = len(rows) - answerable
    if not answerable or not others:
        raise ValueError("answerable and unanswerable questions are needed, one kind is missing")
    return [len(rows) * (share / answerable if row.answerable else (1 - share) / others) for row in rows]


def answer_chance(chances: Chances, row) -> float:
    """The chance that the document has an answer."""
    gap = row.gap + row.rise - chances.rise * math.log(max(1, row.windows))
    return sigmoid(chances.slope * (gap - chances.midpoint)) if math.isfinite(gap) else 0.0


def with_chances(rows: Sequence, chances: Chances) -> list:
    """Rows as the library gives them with these parameters; of rows whose probability is the share alone."""
    changed = []
    for row in rows:
        chance = answer_chance(chances, row)
        rise = chances.rise * math.log(max(1, row.windows))
        changed.append(row._replace(gap=row.gap + row.rise - rise, rise=rise, probability=chance * row.probability,
                                    no_answer_probability=1 - chance))  # fmt: skip
    return changed


def cross_fitted(rows: Sequence, rise: float, share: float) -> list:
    """Rows with chances that were fitted to the other half of them each: what new questions may expect."""
    kinds = [[place for place, row in enumerate(rows) if row.answerable == kind] for kind in (True, False)]
    # Every other row of a kind: a file may have the kinds in turn.
    halves = [[place for kind in kinds for place in kind[first::2]] for first in (0, 1)]
    mixed = [None] * len(rows)
    for own, other in (halves, halves[::-1]):
        found = fitted([rows[place] for place in other], rise, share)
        for place, row in zip(own, with_chances([rows[place] for place in own], found)):
            mixed[place] = row
    return mixed
