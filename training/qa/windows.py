"""Model inputs from a question's and a passage's tokens, with the labels of the answer."""

import bisect
from dataclasses import dataclass
from typing import List, Optional, Sequence, Tuple

MAX_QUESTION_LENGTH = 64


@dataclass(frozen=True)
class Window:
    """`[CLS] question [SEP] part of the passage [SEP]`; start and end are token indices, both 0 for no answer."""

    ids: List[int]
    context_start: int
    start: int
    end: int


def token_range(offsets: Sequence[Tuple[int, int]], answer: Tuple[int, int]) -> Optional[Tuple[int, int]]:
    """First and last token that overlap the code points `answer`; None if no token does."""
    starts = [start for start, _ in offsets]
    last = bisect.bisect_left(starts, answer[1]) - 1
    first = bisect.bisect_right(starts, answer[0]) - 1
    if first < 0 or offsets[first][1] <= answer[0]:
        first += 1
    return (first, last) if first <= last else None


def windows(
    question: Sequence[int],
    context: Sequence[int],
    answer: Optional[Tuple[int, int]],
    cls: int,
    sep: int,
    max_length: int = 384,
    overlap: int = 128,
) -> List[Window]:
    """The windows over a passage. A window that does not hold the whole answer has the label [CLS].

    answer: its first and last token in `context`. overlap: tokens of the passage that neighbours share.
    """
    question = list(question)[:MAX_QUESTION_LENGTH]
    room = max_length - len(question) - 3
    if room <= overlap:
        raise ValueError(f"windows of {max_length} tokens leave {room} for the passage, not more than the overlap")
    context_start = len(question) + 2
    result = []
    first = 0
    while True:
        part = list(context[first : first + room])
        start = end = 0
        if answer is not None and first <= answer[0] and answer[1] < first + len(part):
            start, end = (context_start + token - first for token in answer)
        result.append(Window([cls, *question, sep, *part, sep], context_start, start, end))
        if first + room >= len(context):
            return result
        first += room - overlap
