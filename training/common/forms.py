"""Other forms of a text, made of its word pieces: without punctuation, as transcripts are, and in lines that begin with a
mark, as logs, comments and quoted mails are."""

import string
from typing import List, Tuple

import numpy as np
from tokenizers import Tokenizer

# Words that people leave out where they type keywords.
FUNCTION_WORDS = (
    "a an and are as at be been by can could did do does for from had has have how in is it its may might of on or "
    "should that the there these this those to was were what when where which who whom whose why will with would"
).split()


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
            raise SystemExit("--keywords and --other-forms: the model's vocabulary is not WordPiece's")
        self.digits = mask(lambda piece: piece.removeprefix("##").isdigit())
        self.function_words = mask(FUNCTION_WORDS.__contains__)
        # Transcripts keep "don't" and "well-known".
        self.punctuation = mask(lambda piece: piece in string.punctuation and piece not in "'-")
        self.ends = mask(lambda piece: piece in ".!?")
        self.separators = mask(lambda piece: piece in ".,:")
        self.mark = vocabulary["?"]
        self.marks = np.array([vocabulary[mark] for mark in string.punctuation if mark in vocabulary])
        self.numbers = np.flatnonzero(self.digits & ~self.continues)
        self.words = np.flatnonzero(mask(lambda piece: piece.isascii() and piece.isalpha() and len(piece) > 1))


def without_punctuation(text: np.ndarray, pieces: Pieces) -> np.ndarray:
    """Returns the places of the tokens that a transcript has. "3.5" and "10:30" stay."""
    digits = np.concatenate([[False], pieces.digits[text], [False]])
    inside = pieces.separators[text] & digits[:-2] & digits[2:]
    return np.flatnonzero(~pieces.punctuation[text] | inside)


def with_line_marks(text: np.ndarray, pieces: Pieces, generator) -> Tuple[np.ndarray, np.ndarray]:
    """Returns the tokens in lines that begin with a mark, as in logs, and the place of each, -1 for an added one.

    A line is a sentence, or 6 to 24 tokens. A mark is one to eight random pieces, mostly punctuation and numbers. The
    numbers differ from line to line.
    """
    starts = ~pieces.continues[text]
    if generator.random() < 0.3:
        before = np.concatenate([[True], pieces.ends[text[:-1]]])
    else:
        before = np.arange(len(text)) % generator.integers(6, 25) == 0
    kinds = generator.choice(3, size=generator.integers(1, 9), p=[0.6, 0.25, 0.15])
    sources = [(pieces.marks, pieces.numbers, pieces.words)[kind] for kind in kinds]
    mark = [generator.choice(source) for source in sources]
    ids: List[int] = []
    places: List[int] = []
    due = False
    for place, token in enumerate(text):
        due |= bool(before[place])
        if due and starts[place]:
            mark = [
                generator.choice(pieces.numbers) if kind == 1 else old
                for kind, old in zip(kinds, mark, strict=True)
            ]
            ids += mark
            places += [-1] * len(mark)
            due = False
        ids.append(token)
        places.append(place)
    return np.array(ids, np.uint32), np.array(places)


def in_form(text: np.ndarray, pieces: Pieces, generator) -> Tuple[np.ndarray, np.ndarray]:
    """Returns a text in a random form, and the place of each of its tokens in `text`, -1 for an added one."""
    kind = generator.random()
    places = np.arange(len(text)) if kind >= 0.5 else without_punctuation(text, pieces)
    if kind < 0.35 or not len(places):
        return text[places], places
    ids, inner = with_line_marks(text[places], pieces, generator)
    return ids, np.where(inner < 0, -1, places[inner])
