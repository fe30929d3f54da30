"""The fenced blocks of a document and their documented outputs."""

import dataclasses
import pathlib
import re
from typing import Optional

from conftest import ROOT

FENCE = re.compile(r"^```(\w*)\n(.*?)^```\n(?:\n?```text\n(.*?)^```\n)?", re.M | re.S)


@dataclasses.dataclass
class Block:
    """A fenced block and its output, if a ```text block follows."""

    document: pathlib.Path
    language: str
    code: str
    output: Optional[str]

    def __str__(self):
        return f"{self.document.relative_to(ROOT)}:{self.document.read_text().count(chr(10), 0, self.start) + 1}"

    @property
    def start(self):
        return self.document.read_text().index(self.code)


def blocks(document):
    return [Block(document, *match.groups()) for match in FENCE.finditer(document.read_text(encoding="utf-8"))]
