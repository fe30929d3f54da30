"""Text files as they come, or packed by xz, their sentences, and what a run keeps of its inputs: names, whole files."""

import contextlib
import hashlib
import json
import lzma
import os
import pathlib
import re
from typing import Any, Callable, Iterator, List


def opened(path):
    """The lines of a file in UTF-8, which may begin with a byte order mark; .xz is unpacked."""
    return (lzma.open if str(path).endswith(".xz") else open)(path, "rt", encoding="utf-8-sig")


@contextlib.contextmanager
def errors_at(place):
    """SystemExit that names the place of what cannot be read."""
    try:
        yield
    except KeyError as error:
        raise SystemExit(f"{place}: no {error}") from None
    except (AttributeError, TypeError, ValueError) as error:
        raise SystemExit(f"{place}: {error}") from None


def records(path, made: Callable[[dict], Any] = dict) -> Iterator:
    """What `made` makes of each object of JSON lines, some of which may be blank. SystemExit names the line of an error."""
    with errors_at(path), opened(path) as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                with errors_at(f"{path}:{number}"):
                    record = json.loads(line)
                    if not isinstance(record, dict):
                        raise ValueError("not an object")
                    found = made(record)
                yield found


def texts_only(*values) -> None:
    """ValueError if one is not a text."""
    for value in values:
        if not isinstance(value, str):
            raise ValueError(f"{value!r} is not a text")


def contexts(path) -> List[str]:
    """The different passages of JSON lines {"context", ...}, in their order."""
    return list(dict.fromkeys(records(path, lambda record: record["context"])))


def split_sentences(text: str) -> List[str]:
    """English sentences, about: they end before white space and a capital letter."""
    return re.split(r"(?<=[.!?])\s+(?=[A-Z])", text)


@contextlib.contextmanager
def whole(path):
    """A name to write a file under. It takes the place of `path` at the end, so that all of the file is there or none."""
    part = f"{path}.part"
    yield part
    os.replace(part, path)


def digest(*parts) -> str:
    """Twelve hexadecimal digits for the name of a file with what was computed from `parts`: other parts have others.

    parts: paths of files or directories, whose contents count; bytes; values, whose representations count.
    """
    found = hashlib.sha256()
    for part in parts:
        if isinstance(part, pathlib.Path) and part.is_dir():
            data = digest(*(path for path in sorted(part.iterdir()) if path.is_file())).encode()
        elif isinstance(part, pathlib.Path):
            data = part.read_bytes()
        else:
            data = part if isinstance(part, bytes) else repr(part).encode()
        found.update(hashlib.sha256(data).digest())
    return found.hexdigest()[:12]
