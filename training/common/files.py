"""Text files as they come, or packed by xz, their sentences, and what a run keeps of its inputs: names, whole files."""

import contextlib
import hashlib
import json
import lzma
import os
import pathlib
import re
from typing import Iterator, List


def opened(path):
    """The lines of a file in UTF-8; .xz is unpacked."""
    return (lzma.open if str(path).endswith(".xz") else open)(path, "rt", encoding="utf-8")


def records(path) -> Iterator[dict]:
    """The objects of JSON lines, some of which may be blank."""
    with opened(path) as lines:
        yield from (json.loads(line) for line in lines if line.strip())


def contexts(path) -> List[str]:
    """The different passages of JSON lines {"context", ...}, in their order."""
    return list(dict.fromkeys(record["context"] for record in records(path)))


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
