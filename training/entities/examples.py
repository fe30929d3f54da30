"""Sentences with their entities, and as token ids with a label each."""

import collections
from typing import List, Sequence, Tuple

from common.files import records, texts_only

Entity = collections.namedtuple("Entity", "start end label")
Entity.__doc__ = "A half-open range of code points and what it names."
Example = collections.namedtuple("Example", "text entities source")
Window = collections.namedtuple("Window", "ids labels known", defaults=[None])
Window.__doc__ = """Ids with their special tokens; of each token the label's index, IGNORED for special tokens and where only a
teacher knows; and the teacher's probabilities [tokens, labels], f16, if there is one."""

# torch's cross_entropy leaves it out.
IGNORED = -100


def read_examples(path: str) -> List[Example]:
    """JSON lines {"text", "entities": [{"start", "end", "label"}], "source"}; also .xz.

    SystemExit names the line of an error: also of a range outside its text, and of entities that overlap.
    """
    result = list(records(path, _example))
    if not result:
        raise SystemExit(f"{path}: no examples")
    return result


def _example(record: dict) -> Example:
    text, source = record["text"], record.get("source") or ""
    entities = sorted(Entity(e["start"], e["end"], e["label"]) for e in record["entities"])
    texts_only(text, source, *(entity.label for entity in entities))
    end = 0
    for entity in entities:
        if not end <= entity.start < entity.end <= len(text):
            raise ValueError(f"{entity} is outside its text or overlaps another")
        end = entity.end
    return Example(text, entities, source)


def label_names(examples: Sequence[Example]) -> List[str]:
    """O, then B- and I- of every label there is, by name (IOB2)."""
    kinds = sorted({entity.label for example in examples for entity in example.entities})
    return ["O", *(f"{tag}-{kind}" for kind in kinds for tag in "BI")]


def label_names_of(config) -> List[str]:
    """The names of a model's labels, by number."""
    return [name for _, name in sorted(config.id2label.items())]


def windows(
    example: Example, encoding, labels: Sequence[str], frame: Tuple[int, int], max_length: int
) -> List[Window]:
    """The text in windows of at most `max_length` tokens, none shared. encoding: of `tokenizers`, offsets in code points.

    A token belongs to the entity that it overlaps; the first one of an entity is its B-. Entities that are None are not
    known.
    """
    (cls, sep), room = frame, max_length - 2
    if example.entities is None:
        parts = [encoding.ids[first : first + room] for first in range(0, len(encoding.ids), room)]
        return [Window([cls, *part, sep], [IGNORED] * (len(part) + 2)) for part in parts]
    index = {name: i for i, name in enumerate(labels)}
    result, tags = [], []
    remaining = collections.deque(example.entities)
    begun = False
    for start, end in encoding.offsets:
        while remaining and remaining[0].end <= start:
            remaining.popleft()
            begun = False
        inside = remaining and remaining[0].start < end
        tags.append(index[f"{'I' if begun else 'B'}-{remaining[0].label}"] if inside else 0)
        begun = begun or bool(inside)
    for first in range(0, len(tags), room):
        part = slice(first, first + room)
        result.append(Window([cls, *encoding.ids[part], sep], [IGNORED, *tags[part], IGNORED]))
    return result
