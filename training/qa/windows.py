"""Windows over passages: which tokens of the passage they hold, the labels of the answer, and how a model wants them."""

import bisect
from dataclasses import dataclass
from typing import List, Optional, Sequence, Tuple

MAX_QUESTION_LENGTH = 64


@dataclass(frozen=True)
class Layout:
    """A question and a part of a passage as a model's input: `cls question sep ... part sep`.

    separators: how many `sep` stand between the two, 1 for BERT's template, 2 for RoBERTa's. second_type: the token type
    of the part and of the last `sep`. pad: fills up a batch.
    """

    cls: int
    sep: int
    pad: int
    separators: int
    second_type: int

    @classmethod
    def of(cls, tokenizer) -> "Layout":
        """The layout of the template of a `tokenizers.Tokenizer`."""
        pads = (tokenizer.token_to_id(token) for token in ("<pad>", "[PAD]"))
        pad = next(number for number in pads if number is not None)
        pair = tokenizer.encode("a", "a")
        first, second = (pair.sequence_ids.index(number) for number in (0, 1))
        end = len(pair.sequence_ids) - 1 - pair.sequence_ids[::-1].index(0)
        return cls(pair.ids[first - 1], pair.ids[-1], pad, second - end - 1, pair.type_ids[second])

    @property
    def specials(self) -> int:
        """How many special tokens a window has."""
        return self.separators + 2

    def context_start(self, question_length):
        """The place of the passage's first token."""
        return question_length + 1 + self.separators


@dataclass(frozen=True)
class Part:
    """Tokens first ..< first + count of a passage; start and end of the answer count from `first`, both -1 for none."""

    first: int
    count: int
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


def parts(context_length: int, answer: Optional[Tuple[int, int]], room: int, overlap: int) -> List[Part]:
    """The parts of a passage of at most `room` tokens each; neighbours share `overlap`.

    answer: its first and last token. A part that does not hold the whole answer has none.
    """
    if room <= overlap:
        raise SystemExit(
            f"--max-length: windows leave {room} tokens for the passage, not more than the overlap of {overlap}"
        )
    result = []
    first = 0
    while True:
        count = min(room, context_length - first)
        start = end = -1
        if answer is not None and first <= answer[0] and answer[1] < first + count:
            start, end = answer[0] - first, answer[1] - first
        result.append(Part(first, count, start, end))
        if first + room >= context_length:
            return result
        first += room - overlap
