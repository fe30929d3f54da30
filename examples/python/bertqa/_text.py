"""Between Python's texts and paths and the library's bytes."""

import os
from typing import Any, List, Sequence, Tuple

from ._errors import InvalidArgument
from ._value import Text


def encoded(text: Text) -> bytes:
    """UTF-8. A lone surrogate, which has no UTF-8, becomes "?": one byte for one code point."""
    if isinstance(text, bytes):
        return text
    if isinstance(text, str):
        return text.encode("utf-8", "replace")
    raise TypeError(f"expected str or bytes, got {type(text).__name__}")


def question_and_document(pair: Any) -> Any:
    """The pair, if it is one; a text of two characters, which can be unpacked too, is none."""
    if isinstance(pair, (str, bytes)) or not hasattr(pair, "__len__") or len(pair) != 2:
        raise TypeError(f"expected (question, document), got {pair!r:.80}")
    return pair


def path_bytes(path: Any, name: str) -> bytes:
    """A path for the library, which takes strings that end with a NUL."""
    data = os.fsencode(path)
    if b"\0" in data:
        raise InvalidArgument(f"{name} is {path!r}: a path cannot hold a null character")
    return data


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
