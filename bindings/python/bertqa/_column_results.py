"""Converts batch results to columns. The row of a null text is None."""

import itertools
from typing import Any, List, Optional, Sequence, Tuple

from ._arrow_build import Buffers, booleans, lists, scalars, struct, texts, vectors
from ._results import LabelScore


def answers(rows: Sequence[Any]) -> Buffers:
    """A struct of a list of answers and is_impossible."""
    found = [None if row is None else row.answers for row in rows]
    every = [answer for row in found for answer in row or ()]
    fields = [
        texts("answer", [answer.text for answer in every]),
        scalars("start", "l", [answer.start for answer in every]),
        scalars("end", "l", [answer.end for answer in every]),
        scalars("probability", "f", [answer.probability for answer in every]),
        scalars("score", "f", [answer.score for answer in every]),
        scalars("gap", "f", [answer.gap for answer in every]),
        texts("sentence", [answer.sentence for answer in every]),
    ]
    impossible = booleans("is_impossible", [None if row is None else row.is_impossible for row in rows])
    return struct("", rows, [lists("answers", found, struct("item", every, fields)), impossible])


def classifications(rows: Sequence[Any], label_count: int) -> Buffers:
    """The columns that bertqa_classify_arrow returns."""
    said = [row if row is not None and row.scores else None for row in rows]
    best = [None if row is None else row.scores[0] for row in said]
    # NaN, which regression returns, is null there.
    chances = [
        None if score is None or score.probability != score.probability else score.probability for score in best
    ]
    values: List[float] = []
    for row in said:
        of_labels = [0.0] * label_count
        if row is not None:
            is_regression = row.problem_type == "regression"
            for score in row.scores:
                of_labels[score.id] = score.logit if is_regression else score.probability
        values += of_labels
    valid = "".join("0" if row is None else "1" for row in said)
    fields = [
        texts("label", [None if row is None else row.label for row in said]),
        scalars("probability", "f", chances),
        vectors("probabilities", valid, label_count, scalars("", "f", values).data),
    ]
    return struct("", rows, fields)


def labels(rows: "Sequence[Optional[List[LabelScore]]]") -> Buffers:
    """A list of labels with their probabilities."""
    every = [score for row in rows for score in row or ()]
    chances = [None if score.probability != score.probability else score.probability for score in every]
    fields = [texts("label", [score.label for score in every]), scalars("probability", "f", chances)]
    return lists("", rows, struct("item", every, fields))


def entities(rows: Sequence[Any]) -> Buffers:
    """The column that bertqa_entities_arrow returns."""
    every = [entity for row in rows for entity in row or ()]
    fields = [
        texts("label", [entity.label for entity in every]),
        texts("text", [entity.text for entity in every]),
        scalars("start", "l", [entity.start for entity in every]),
        scalars("end", "l", [entity.end for entity in every]),
        scalars("score", "f", [entity.score for entity in every]),
    ]
    return lists("", rows, struct("item", every, fields))


def vectors_of(rows: Sequence[Any], size: int) -> Buffers:
    nothing = bytes(4 * size)
    data = b"".join(nothing if row is None else row.tobytes() for row in rows)
    return vectors("", "".join("0" if row is None else "1" for row in rows), size, data)


def tokens(rows: "Sequence[Optional[Tuple[List[int], List[Tuple[int, int]]]]]") -> Buffers:
    """A struct of lists: ids, starts, ends. rows: ids and ranges."""
    fields = []
    for name, kind, of in (
        ("ids", "i", lambda row: row[0]),
        ("starts", "l", lambda row: [start for start, _ in row[1]]),
        ("ends", "l", lambda row: [end for _, end in row[1]]),
    ):
        found = [None if row is None else of(row) for row in rows]
        every = list(itertools.chain.from_iterable(row or () for row in found))
        fields.append(lists(name, found, scalars("item", kind, every)))
    return struct("", rows, fields)
