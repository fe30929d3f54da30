"""Between Python's texts and the library's bytes."""

from typing import List, Sequence, Tuple

from ._types import Text


def encoded(text: Text) -> bytes:
    """UTF-8. A lone surrogate, which has no UTF-8, becomes "?": one byte for one code point."""
    if isinstance(text, bytes):
        return text
    if isinstance(text, str):
        return text.encode("utf-8", "replace")
    raise TypeError(f"expected str or bytes, got {type(text).__name__}")


def spans(text: Text, data: bytes, ranges: Sequence[Tuple[int, int]]) -> List[Tuple[int, int]]:
    """Ranges of `data`, which is `text` encoded, as ranges of `text`."""
    if len(data) == len(text):
        return list(ranges)
    code_points = {}
    count = previous = 0
    for offset in sorted({offset for pair in ranges for offset in pair}):
        count += len(data[previous:offset].decode())
        code_points[offset] = count
        previous = offset
    return [(code_points[start], code_points[end]) for start, end in ranges]
