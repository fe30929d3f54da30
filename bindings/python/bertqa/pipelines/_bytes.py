"""Byte-level tokenizers: the characters that represent bytes, and GPT-2's division of text into words."""

import unicodedata
from typing import Dict, List


def _characters() -> Dict[int, str]:
    """Returns the character of each byte: itself if it is printable, else one from U+0100 on."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    return {byte: chr(byte) for byte in printable} | {byte: chr(256 + n) for n, byte in enumerate(others)}


CHARACTERS = {byte: character for byte, character in _characters().items() if ord(character) > 255}
BYTES = {character: byte for byte, character in _characters().items()}
_ENDINGS = ("'s", "'t", "'re", "'ve", "'m", "'ll", "'d")


def words_of(pieces: List[str]) -> List[int]:
    """Returns the number of each piece's word. A piece of not only byte characters is its own word."""
    words: List[int] = []
    run: List[bytes] = []
    first = 0

    def close() -> None:
        nonlocal first, run
        numbers = _word_of_bytes(b"".join(run))
        position = 0
        for data in run:
            words.append(first + numbers[position])
            position += len(data)
        if run:
            first = words[-1] + 1
        run = []

    for piece in pieces:
        if piece and all(character in BYTES for character in piece) and not _is_special(piece):
            run.append(bytes(BYTES[character] for character in piece))
        else:
            close()
            words.append(first)
            first += 1
    close()
    return words


def _is_special(piece: str) -> bool:
    return len(piece) > 2 and piece[0] + piece[-1] in ("<>", "[]") and piece[1:-1].isalpha()


def _word_of_bytes(data: bytes) -> List[int]:
    """Returns the number of each byte's word."""
    text = data.decode("utf-8", "replace")
    if len(text.encode()) != len(data):
        return [0] * len(data)
    numbers: List[int] = []
    position = word = 0
    while position < len(text):
        end = _end(text, position)
        numbers += [word] * len(text[position:end].encode())
        word += 1
        position = end
    return numbers


def _end(text: str, start: int) -> int:
    r"""Returns the end of the word at `start`:
    's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
    """
    for ending in _ENDINGS:
        if text.startswith(ending, start):
            return start + len(ending)
    first = start + 1 if text[start] == " " and start + 1 < len(text) else start
    kind = _kind(text[first])
    if kind != "space":
        return _run(text, first, kind)
    end = _run(text, start, "space")
    # The last white space belongs to the next word.
    return end - 1 if end < len(text) and end - 1 > start else end


def _run(text: str, start: int, kind: str) -> int:
    end = start
    while end < len(text) and _kind(text[end]) == kind:
        end += 1
    return end


def _kind(character: str) -> str:
    category = unicodedata.category(character)[0]
    if category in "LN":
        return category
    return "space" if character.isspace() and character not in "\x1c\x1d\x1e\x1f" else "other"
