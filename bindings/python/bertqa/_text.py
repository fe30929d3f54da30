"""Conversions between Python's texts and paths and the library's bytes."""

import os
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List, Mapping, Sequence, Tuple

from . import _abi
from ._errors import InvalidArgument
from ._value import Text

if TYPE_CHECKING:
    from typing_extensions import TypeIs


def is_text(value: Any) -> "TypeIs[Text]":
    """True for a str, and for bytes or another bytes-like object, such as a bytearray, a memoryview or an mmap."""
    return isinstance(value, (str, bytes)) or _is_bytes_like(value)


def _is_bytes_like(value: Any) -> bool:
    try:
        view = memoryview(value)
    except (TypeError, ValueError, BufferError):  # ValueError: for a closed mmap or a released memoryview
        return False
    # A date of numpy, which has no dimensions, also has bytes.
    is_row = view.ndim == getattr(value, "ndim", 1) == 1
    return is_row and view.format.lstrip("@=<>!") in ("B", "b", "c")


def check_kind(value: Any, kind: type, name: str) -> None:
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be of type {kind.__name__}, not {type(value).__name__}")


def check_texts(values: Any, name: str, one: str = "") -> None:
    """Rejects what does not iterate; tables and mappings, which iterate over the names of their columns or their keys;
    and sets, which have no order. one: what to do with one text, which iterates over its characters and is rejected, too; "" allows it."""
    if one and is_text(values):
        raise TypeError(f"{name} is one text; {one}")
    iterates = hasattr(values, "__iter__") or hasattr(values, "__getitem__")
    if not iterates or isinstance(values, (Mapping, set, frozenset)) or hasattr(values, "columns"):
        raise TypeError(f"{name} is of type {type(values).__name__}, but must be a list or one column")


def byte_offsets(text: Any, places: Iterable[int], encode: Callable[[Any], bytes]) -> Dict[int, int]:
    """Returns the byte offset of each place of a text."""
    offsets: Dict[int, int] = {}
    offset = previous = 0
    for place in sorted(places):
        offset += len(encode(text[previous:place]))
        offsets[place] = offset
        previous = place
    return offsets


def text_list(values: Any, name: str) -> List[Any]:
    """Returns the texts of an argument that is one text or several."""
    return [values] if is_text(values) else elements(values, name, "a list of texts", is_text)


def elements(values: Any, name: str, what: str, is_one: Callable[[Any], bool]) -> List[Any]:
    """Returns the elements of an argument, each of which must satisfy `is_one`. what: the argument, for messages."""
    if not isinstance(values, Iterable):
        raise TypeError(f"{name} is {values!r:.80}, but must be {what}")
    found = list(values)
    for one in found:
        if not is_one(one):
            raise TypeError(f"{name} has {one!r:.80}, but must be {what}")
    return found


def as_text(value: Any, name: str = "text") -> Any:
    """Returns a str or bytes unchanged, and a copy of another bytes-like object, which could change later. name: the
    argument, for the message."""
    if isinstance(value, (str, bytes)):
        return value
    if _is_bytes_like(value):
        return _copied(value)
    raise not_a_text(value, name)


def not_a_text(value: Any, name: str) -> TypeError:
    if getattr(value, "is_valid", True) is False:  # a scalar of pyarrow
        return TypeError(f"{name} is null: leave it out, or use a function for columns, such as embed_column")
    return TypeError(f"{name}: expected str or bytes, got {type(value).__name__}")


def as_bytes(data: Any, name: str) -> bytes:
    """Returns bytes, or another bytes-like object as bytes."""
    if isinstance(data, bytes):
        return data
    if not _is_bytes_like(data):
        raise TypeError(f"{name}: expected bytes, got {type(data).__name__}")
    return _copied(data)


def _copied(data: Any) -> bytes:
    # By its buffer: a text of an Arrow column also has __bytes__, which fails.
    return bytes(memoryview(data))


def encoded(text: Text, name: str = "text") -> bytes:
    """Returns UTF-8. A lone surrogate, which UTF-8 lacks, becomes "?": one byte for one code point."""
    text = as_text(text, name)
    return text if isinstance(text, bytes) else text.encode("utf-8", "replace")


def text_array(texts: "Sequence[Any]") -> Any:
    """Returns checked texts as an array for the library, which keeps their bytes alive."""
    array = (_abi.Text * len(texts))()
    for entry, text in zip(array, texts):
        data = encoded(text)
        entry.text, entry.length = data, len(data)
    return array


def two_texts(pair: Any, what: str, name: str) -> Tuple[Any, Any]:
    """Returns a pair, or rejects another value, even one that could also be unpacked: a text of two characters, or a
    dict, whose keys would be the texts. what, name: the texts and the argument, for messages."""
    is_ordered = not isinstance(pair, (Mapping, set, frozenset)) and not is_text(pair)
    if not is_ordered or not hasattr(pair, "__len__") or len(pair) != 2:
        raise TypeError(f"{name}: expected {what}, got {pair!r:.80}")
    first, second = pair
    return as_text(first, f"{name}[0]"), as_text(second, f"{name}[1]")


def question_and_document(pair: Any, item: int) -> Tuple[Any, Any]:
    return two_texts(pair, "(question, document)", f"pairs[{item}]")


def path_bytes(path: Any, name: str) -> bytes:
    """Returns a path for the library, whose strings end with a NUL."""
    try:
        data = os.fsencode(path)
    except TypeError:
        raise TypeError(f"{name} is {path!r:.80}, but must be a path") from None
    except UnicodeEncodeError:
        raise InvalidArgument.of(name, f"is {path!r}: a path cannot hold a lone surrogate") from None
    if b"\0" in data:
        raise InvalidArgument.of(name, f"is {path!r}: a path cannot hold a null character")
    return data


def spans(text: Text, data: bytes, ranges: Sequence[Tuple[int, int]]) -> List[Tuple[int, int]]:
    """Converts ranges of `data`, the encoded `text`, to ranges of `text`."""
    if len(data) == len(text):
        return list(ranges)
    code_points = {}
    count = previous = 0
    for offset in sorted({offset for pair in ranges for offset in pair}):
        count += len(data[previous:offset].decode())
        code_points[offset] = count
        previous = offset
    return [(code_points[start], code_points[end]) for start, end in ranges]
