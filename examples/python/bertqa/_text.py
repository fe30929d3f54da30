"""Between Python's texts and the library's bytes."""

import bisect
from typing import List, Sequence, Tuple

from ._types import Text


def encoded(text: Text) -> bytes:
    """UTF-8. A lone surrogate, which has no UTF-8, becomes "?": one byte for one code point."""
    if isinstance(text, bytes):
        return text
    if isinstance(text, str):
        return text.encode("utf-8", "replace")
    raise TypeError(f"expected str or bytes, got {type(text).__name__}")


class Positions:
    """Code points before given bytes of a text; the bytes are asked for all at once."""

    def __init__(self, data: bytes, offsets: Sequence[int], ascii_only: bool):
        self._identity = ascii_only
        if ascii_only:
            return
        self._offsets = sorted(set(offsets))
        self._counts: List[int] = []
        count = start = 0
        for offset in self._offsets:
            count += len(data[start:offset].decode("utf-8", "replace"))
            start = offset
            self._counts.append(count)

    def __getitem__(self, offset: int) -> int:
        return offset if self._identity else self._counts[bisect.bisect_left(self._offsets, offset)]


def spans(text: Text, data: bytes, ranges: Sequence[Tuple[int, int]]) -> List[Tuple[int, int]]:
    """Byte ranges of `data` as ranges of `text`."""
    if isinstance(text, bytes):
        return list(ranges)
    positions = Positions(data, [offset for pair in ranges for offset in pair], len(data) == len(text))
    return [(positions[start], positions[end]) for start, end in ranges]
