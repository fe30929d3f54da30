"""Labelled texts, passages without a label, and how often each of their words occurs."""

import collections
import pathlib
import re
from typing import Iterable, List

from common.files import records, split_sentences, texts_only

Text = collections.namedtuple("Text", "text label source")
Passages = collections.namedtuple("Passages", "texts licences")
Passages.__doc__ = "Different texts, and how many of them are under which licence."

#: The characters of a passage that an embedding reads. They suffice to tell passages apart.
PASSAGE_LENGTH = 1500
#: Sentences of these lengths, in characters, are used as headlines: the first four of each text.
SENTENCE_LENGTHS = range(26, 300)
SENTENCES = 4
#: About what docs/classification.md calls a word: letters and digits, and between them an apostrophe or a full stop.
WORD = re.compile(r"[^\W_]+(?:['’.][^\W_]+)*")
MIN_WORD_LENGTH = 3


def cleaned(text: str) -> str:
    """Without the marks around title and abstract that DBpedia's texts carry: no article has them."""
    return re.sub(r"^Title: (.*?) Text: ", r"\1. ", text, count=1, flags=re.S)


def read_topics(path: "pathlib.Path") -> List[Text]:
    """JSON lines of text, label and source."""

    def made(record):
        text = Text(record["text"], record["label"], record.get("source") or "")
        texts_only(*text)
        return text._replace(text=cleaned(text.text))

    return list(records(path, made))


def read_passages(path: "pathlib.Path") -> Passages:
    """JSON lines {"context", ...}; each passage once. The first of its "qas" may name source and licence."""

    def made(record):
        first = record["qas"][0] if record.get("qas") else {}
        known = ": ".join(first[name] for name in ("source", "license") if name in first)
        return record["context"][:PASSAGE_LENGTH], known or "of unknown source"

    licences = {}
    for passage, licence in records(path, made):
        licences.setdefault(passage, licence)
    return Passages(list(licences), collections.Counter(licences.values()))


def sentences(texts: Iterable[Text]) -> List[Text]:
    """The first sentences of each text, with its label."""
    return [
        Text(sentence, text.label, text.source)
        for text in texts
        for sentence in split_sentences(text.text)[:SENTENCES]
        if len(sentence) in SENTENCE_LENGTHS
    ]


def openings(sentences: Iterable[Text]) -> List[Text]:
    """The first six words of each sentence, which say about as much as a headline."""
    return [sentence._replace(text=" ".join(sentence.text.split()[:6])) for sentence in sentences]


def documents(texts: Iterable[Text], places: dict, length: int = 2000) -> List[Text]:
    """Texts of one source and label joined until they have `length` characters.

    places: the places of texts in a collection. Only neighbours are joined, because they are of one article. Texts
    without a place are joined in their own order.
    """
    # The growing document of each source and label: its parts, and the place of the last one.
    found, current = [], {}
    placed = [(places.get(text.text[:PASSAGE_LENGTH]), text) for text in texts]
    for place, text in sorted(placed, key=lambda item: -1 if item[0] is None else item[0]):
        key = text.source, text.label
        parts, last = current.get(key, ([], None))
        if place is not None and last is not None and place - last > 6:
            parts = []
        parts = [*parts, text.text]
        if sum(len(part) + 1 for part in parts) >= length:
            found.append(Text("\n".join(parts), text.label, text.source))
            parts = []
        current[key] = parts, place
    return found


def words(text: str) -> List[str]:
    return [word for word in WORD.findall(text.lower()) if len(word) >= MIN_WORD_LENGTH]
