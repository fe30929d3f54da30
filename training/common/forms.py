"""Other forms of a text, made of its word pieces: without punctuation, as transcripts are, in lines that begin with a
mark, as logs, comments and quoted mails are, and with marks around words, as in Markdown and HTML."""

import string
from typing import List, Tuple

import numpy as np
from tokenizers import Tokenizer

# Words that people leave out where they type keywords.
FUNCTION_WORDS = (
    "a an and are as at be been by can could did do does for from had has have how in is it its may might of on or "
    "should that the there these this those to was were what when where which who whom whose why will with would"
).split()

# What stands around words: emphasis, quotation marks, brackets, dashes, tags and links.
AROUND = [
    *((mark, mark) for mark in ("_", "__", "*", "**", "~~", "`", "/", "|", "-", "–", "—", '"', "'")),
    *(("“", "”"), ("‘", "’"), ("«", "»"), ("(", ")"), ("[", "]"), ("[[", "]]"), ("{", "}"), ("<", ">")),
    *((f"<{tag}>", f"</{tag}>") for tag in ("b", "i", "em", "strong", "span", "a")),
    ("[", "](link)"),
]


class Pieces:
    """What the word pieces of a WordPiece vocabulary are: bool [vocabulary] and ids."""

    def __init__(self, tokenizer: Tokenizer):
        vocabulary = tokenizer.get_vocab()
        size = max(vocabulary.values()) + 1

        def mask(test):
            result = np.zeros(size, bool)
            result[[number for piece, number in vocabulary.items() if test(piece)]] = True
            return result

        self.continues = mask(lambda piece: piece.startswith("##"))
        if not self.continues.any():
            raise SystemExit("--keywords, --other-forms and --values: the model's vocabulary is not WordPiece's")
        self.digits = mask(lambda piece: piece.removeprefix("##").isdigit())
        self.function_words = mask(FUNCTION_WORDS.__contains__)
        # Transcripts keep "don't" and "well-known".
        self.punctuation = mask(lambda piece: piece in string.punctuation and piece not in "'-")
        self.ends = mask(lambda piece: piece in ".!?")
        self.separators = mask(lambda piece: piece in ".,:")
        self.mark = vocabulary["?"]
        self.marks = np.array([vocabulary[mark] for mark in string.punctuation if mark in vocabulary])
        self.numbers = np.flatnonzero(self.digits & ~self.continues)
        self.around = [[tokenizer.encode(mark, add_special_tokens=False).ids for mark in pair] for pair in AROUND]


def without_punctuation(text: np.ndarray, pieces: Pieces) -> np.ndarray:
    """Returns the places of the tokens that a transcript has. "3.5" and "10:30" stay."""
    digits = np.concatenate([[False], pieces.digits[text], [False]])
    inside = pieces.separators[text] & digits[:-2] & digits[2:]
    return np.flatnonzero(~pieces.punctuation[text] | inside)


def with_line_marks(text: np.ndarray, pieces: Pieces, generator) -> Tuple[np.ndarray, np.ndarray]:
    """Returns the tokens in lines that begin with a mark, as in logs, and the place of each, -1 for an added one.

    A line is a sentence, or 6 to 24 tokens. A mark is one to eight pieces, random punctuation and numbers, which differ
    from line to line. Words are left out: students would learn that a mark has no names.
    """
    starts = ~pieces.continues[text]
    if generator.random() < 0.3:
        before = np.concatenate([[True], pieces.ends[text[:-1]]])
    else:
        before = np.arange(len(text)) % generator.integers(6, 25) == 0
    is_number = generator.random(generator.integers(1, 9)) < 0.3
    mark = generator.choice(pieces.marks, len(is_number))
    ids: List[int] = []
    places: List[int] = []
    due = False
    for place, token in enumerate(text):
        due |= bool(before[place])
        if due and starts[place]:
            mark[is_number] = generator.choice(pieces.numbers, is_number.sum())
            ids += mark.tolist()
            places += [-1] * len(mark)
            due = False
        ids.append(token)
        places.append(place)
    return np.array(ids, np.uint32), np.array(places)


def with_word_marks(text: np.ndarray, pieces: Pieces, generator) -> Tuple[np.ndarray, np.ndarray]:
    """Returns the tokens with marks around every fifth run of 1 to 4 words, on average, and the place of each, -1 for an
    added one."""
    # A window may begin inside a word.
    starts = np.append(np.union1d([0], np.flatnonzero(~pieces.continues[text])), len(text)).astype(int)
    ids: List[int] = []
    places: List[int] = []
    first = 0
    while first < len(starts) - 1:
        last = min(first + generator.integers(1, 5), len(starts) - 1)
        start, end = starts[first], starts[last]
        first = last
        marked = generator.random() < 0.2
        opening, closing = pieces.around[generator.integers(len(pieces.around))] if marked else ([], [])
        ids += [*opening, *text[start:end].tolist(), *closing]
        places += [*[-1] * len(opening), *range(start, end), *[-1] * len(closing)]
    return np.array(ids, np.uint32), np.array(places)


def in_form(text: np.ndarray, pieces: Pieces, generator) -> Tuple[np.ndarray, np.ndarray]:
    """Returns a text in one or two random forms, and the place of each of its tokens in `text`, -1 for an added one."""
    kind = generator.random()
    places = np.arange(len(text)) if kind >= 0.25 else without_punctuation(text, pieces)
    ids = text[places]
    for low, high, marked in ((0.15, 0.65, with_line_marks), (0.6, 1, with_word_marks)):
        if low <= kind < high and len(ids):
            ids, inner = marked(ids, pieces, generator)
            places = np.where(inner < 0, -1, places[inner])
    return ids, places
