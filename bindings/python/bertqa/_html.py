"""Results as HTML for notebooks, on light and dark pages: no style sheet, no script, all text escaped."""

import html
import re
from typing import TYPE_CHECKING, Any, List, Optional, Sequence, Tuple

if TYPE_CHECKING:
    from ._results import Answer

#: Of a longer document only AROUND code points or bytes before and after each answer are shown.
LONG, AROUND = 2000, 300
#: A longer word is cut.
_WORD = 30
#: The maximum number of answers shown for one document.
MOST_ANSWERS = 20

_TEXT = "white-space:pre-wrap;overflow-wrap:anywhere;line-height:1.6;max-width:60em;text-align:left"
_MARK = "color:inherit;border-radius:3px;padding:0 1px;unicode-bidi:isolate;background:rgba({})"
_BEST, _OTHER, _GUESS = (_MARK.format(color) for color in ("255,196,0,.55", "255,196,0,.22", "127,127,127,.25"))
_GREY = "opacity:.65"
#: HTML does not allow control characters and noncharacters, the last two of each plane among them; UTF-8 does not allow
#: lone surrogates. The tool's pages have the same rule (HTMLText.swift).
_UNPRINTABLE = re.compile(
    "[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef"
    + "".join(chr(plane + last) for plane in range(0, 0x110000, 0x10000) for last in (0xFFFE, 0xFFFF))
    + "]"
)


def escaped(text: Any) -> str:
    """Escapes a str or bytes for HTML, including attributes."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    return html.escape(_UNPRINTABLE.sub("\ufffd", text))


def answers_html(document: Any, first: int, answers: "Sequence[Answer[Any]]", is_impossible: bool) -> str:
    """Returns a document with its answers highlighted, then the answers with their probabilities.

    document: None if it is not known.
    first: the position of its start, in the units of the answers' ranges.
    """
    shown = answers[:MOST_ANSWERS]
    parts: List[str] = []
    if is_impossible or not answers:
        guess = " The best guess:" if answers else ""
        parts.append(f"<div><strong>This document does not seem to say.</strong>{guess}</div>")
    if document is not None:
        body = _highlighted(document, first, shown, is_impossible)
        parts.append(f'<div dir="auto" style="{_TEXT}">{body}</div>')
    lines = [_line(answer, document is None) for answer in shown]
    if len(answers) > len(shown):
        lines.append(f'<li style="{_GREY}">and {len(answers) - len(shown):,} more</li>')
    if lines:
        style = f' style="{_GREY}"' if is_impossible else ""
        parts.append(f"<ol{style}>{''.join(lines)}</ol>")
    return f"<div>{''.join(parts)}</div>"


def _line(answer: "Answer[Any]", with_sentence: bool) -> str:
    percent = f"{100 * answer.probability:.1f} %"
    surroundings = _cut(answer.sentence, answer.start - answer.sentence_start) if with_sentence else ""
    sentence = f' <span style="{_GREY}">– {surroundings}</span>' if with_sentence else ""
    return f'<li><bdi>{_cut(answer.text, 0)}</bdi> <span style="{_GREY}">{percent}</span>{sentence}</li>'


def _cut(text: Any, place: int) -> str:
    """Returns a text, of a longer one only the surroundings of a place, escaped."""
    begin, end = _boundary(text, place - AROUND), _boundary(text, place + AROUND)
    return f"{'…' if begin else ''}{escaped(text[begin:end])}{'…' if end < len(text) else ''}"


def _highlighted(document: Any, first: int, answers: "Sequence[Answer[Any]]", is_impossible: bool) -> str:
    ranked = {answer.start - first: (rank, answer) for rank, answer in enumerate(answers, 1)}
    starts = sorted(ranked)
    parts: List[str] = []
    position = 0
    for start, end in _excerpts(document, [(at, ranked[at][1].end - first) for at in starts]):
        parts.append(_gap(start - position))
        position = start
        for at in starts:
            if not start <= at < end:
                continue
            rank, answer = ranked[at]
            parts.append(escaped(document[position:at]))
            position = answer.end - first
            style = _GUESS if is_impossible else _BEST if rank == 1 else _OTHER
            title = f"answer {rank}: probability {answer.probability:.3f}, score {answer.score:.2f}"
            parts.append(f'<mark style="{style}" title="{title}">{escaped(document[at:position])}</mark>')
        parts.append(escaped(document[position:end]))
        position = end
    parts.append(_gap(len(document) - position))
    return "".join(parts)


def _excerpts(document: Any, ranges: Sequence[Tuple[int, int]]) -> List[Tuple[int, int]]:
    """Returns parts of a document that contain all ranges, which are sorted; or all of a short document."""
    if len(document) <= LONG:
        return [(0, len(document))]
    found: List[Tuple[int, int]] = []
    for start, end in ranges or [(0, 0)]:
        begin, stop = _boundary(document, start - AROUND), _boundary(document, end + AROUND)
        if found and begin <= found[-1][1]:
            found[-1] = found[-1][0], max(stop, found[-1][1])
        else:
            found.append((begin, stop))
    return found


def _boundary(document: Any, position: int) -> int:
    """Returns the next white space if it is near, otherwise the next position that does not split a character."""
    if position <= 0:
        return 0
    position = min(position, len(document))
    near = document[position : position + _WORD]
    space = next((at for at in range(len(near)) if near[at : at + 1].isspace()), 0)
    position += space
    while isinstance(document, bytes) and position < len(document) and document[position] & 0xC0 == 0x80:
        position += 1
    return position


def _gap(length: int) -> str:
    return f'<span style="{_GREY}"> [… {length:,} …] </span>' if length > 0 else ""


def table_html(head: Sequence[str], rows: Sequence[Sequence[str]], caption: Optional[str] = None) -> str:
    """Returns a table whose cells are HTML. The first column has names; the others have numbers."""
    number = ' style="text-align:right;font-variant-numeric:tabular-nums"'

    def line(kind: str, cells: Sequence[str]) -> str:
        style = (' style="text-align:left"' if column == 0 else number for column in range(len(cells)))
        return f"<tr>{''.join(f'<{kind}{s}>{cell}</{kind}>' for s, cell in zip(style, cells))}</tr>"

    title = f"<caption>{caption}</caption>" if caption else ""
    body = "".join(line("td", row) for row in rows)
    return f"<table>{title}<thead>{line('th', head)}</thead><tbody>{body}</tbody></table>"
