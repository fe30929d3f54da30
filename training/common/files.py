"""Text files as they come, or packed by xz."""

import json
import lzma
from typing import List


def opened(path):
    """The lines of a file in UTF-8; .xz is unpacked."""
    return (lzma.open if str(path).endswith(".xz") else open)(path, "rt", encoding="utf-8")


def contexts(path) -> List[str]:
    """The different passages of JSON lines {"context", ...}, in their order."""
    with opened(path) as lines:
        return list(dict.fromkeys(json.loads(line)["context"] for line in lines))
