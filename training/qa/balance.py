"""How often each kind of text is answered, in the data and in a prefix of the training order."""

from typing import Iterable, List, Sequence, Tuple

# Sources that share text differ in these endings only.
ENDINGS = (
    "-crossparagraph-synthetic",
    "-crosspassage-synthetic",
    "-unanswerable",
    "-train",
    "-dev",
    "-answerable",
)
MIN_SHARE = 0.1


def kind(source: str) -> str:
    """The kind of text a source's questions are about: `squad-v2.0-train-unanswerable` is `squad`."""
    shorter = True
    while shorter:
        shorter = False
        for ending in ENDINGS:
            if source.endswith(ending):
                source, shorter = source[: -len(ending)], True
    return source.split("-v1.")[0].split("-v2.")[0]


def balance(rows: Iterable[Tuple[str, bool]]) -> List[Tuple[str, int, int]]:
    """(kind, answerable, unanswerable) by kind; rows: (source, is answerable)."""
    counts: dict = {}
    for source, answerable in rows:
        counts.setdefault(kind(source), [0, 0])[0 if answerable else 1] += 1
    return [(name, *counts[name]) for name in sorted(counts)]


def one_sided(table: Sequence[Tuple[str, int, int]]) -> List[str]:
    """Kinds of which less than MIN_SHARE is answerable, or unanswerable: a model would learn the kind, not to
    read."""
    return [
        name
        for name, answerable, unanswerable in table
        if min(answerable, unanswerable) < MIN_SHARE * (answerable + unanswerable)
    ]


def report(table: Sequence[Tuple[str, int, int]]) -> str:
    """The table as text, with a warning for one-sided kinds."""
    width = max(len(name) for name, _, _ in table)
    lines = [f"{'kind of text':{width}}  answerable  unanswerable"]
    lines += [f"{name:{width}}  {answerable:10}  {unanswerable:12}" for name, answerable, unanswerable in table]
    lines += [f"warning: {name} is nearly always of one kind" for name in one_sided(table)]
    return "\n".join(lines)
