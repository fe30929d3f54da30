"""Windows in other forms: questions with other marks or as keywords, passages without punctuation or in marked lines.

Students read the other form, and teachers the text as it is.
"""

import string
from typing import List, Optional, Tuple

import numpy as np
from tokenizers import Tokenizer

from .tokenized import Windows, flat
from .windows import MAX_QUESTION_LENGTH

# Words that people leave out where they type keywords.
FUNCTION_WORDS = (
    "a an and are as at be been by can could did do does for from had has have how in is it its may might of on or "
    "should that the there these this those to was were what when where which who whom whose why will with would"
).split()


def other_marks(windows: Windows, share: float, mark: int, seed: int) -> Windows:
    """Windows of which this share of the questions lack their last token if it is `mark`, or else have it.

    A question of the greatest length stays as it is: it may be a part.
    """
    generator = np.random.default_rng(seed)
    questions = _split("question", windows.arrays)
    changed = generator.random(len(questions)) < share
    others = []
    for question, is_changed in zip(questions, changed, strict=True):
        if is_changed and 1 < len(question) < MAX_QUESTION_LENGTH:
            question = question[:-1] if question[-1] == mark else np.append(question, np.uint32(mark))
        others.append(question)
    return Windows({**windows.arrays, **flat("question", others)})


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


def keywords(question: np.ndarray, pieces: Pieces) -> np.ndarray:
    """Returns a question without function words and marks, or as it is if fewer than two pieces are left."""
    whole = ~np.append(pieces.continues[question[1:]], False)
    kept = question[~((pieces.function_words[question] & whole) | (question == pieces.mark))]
    return kept if len(kept) > 1 else question


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


def other_forms(
    windows: Windows, tokenizer: Tokenizer, passages: float, questions: float, longest: int, seed: int
) -> Tuple[Windows, List[Optional[np.ndarray]]]:
    """Returns windows with the share `passages` of passages in other forms, and `questions` of questions as keywords.

    Returns, too, for each window the place of each token of its passage in the window as it was, -1 for an added token;
    None for a passage that did not change. A window that would be longer than `longest` tokens does not change.
    """
    pieces, generator = Pieces(tokenizer), np.random.default_rng(seed)
    arrays = {name: array.copy() for name, array in windows.arrays.items()}
    asked = [
        keywords(text, pieces) if generator.random() < questions else text for text in _split("question", arrays)
    ]
    held = _split("passage", arrays)
    places: List[Optional[np.ndarray]] = [None] * len(windows)
    for index in np.flatnonzero(generator.random(len(windows)) < passages):
        first, count = arrays["firsts"][index], arrays["counts"][index]
        ids, order = in_form(held[arrays["passages"][index]][first : first + count], pieces, generator)
        answer = _answer(order, arrays["starts"][index], arrays["ends"][index])
        room = longest - len(asked[arrays["questions"][index]]) - windows.layout.specials
        if len(ids) and len(ids) <= room and answer:
            places[index] = order
            arrays["passages"][index], arrays["firsts"][index], arrays["counts"][index] = len(held), 0, len(ids)
            arrays["starts"][index], arrays["ends"][index] = answer
            held.append(ids)
    return Windows({**arrays, **flat("question", asked), **flat("passage", held)}), places


def _answer(order: np.ndarray, start: int, end: int) -> Optional[Tuple[int, int]]:
    """The first and last token of the answer; both -1 where there was none, None where nothing of it is left."""
    if start < 0:
        return -1, -1
    inside = np.flatnonzero((order >= start) & (order <= end))
    return (inside[0], inside[-1]) if len(inside) else None


def _split(name: str, arrays) -> List[np.ndarray]:
    return np.split(arrays[f"{name}_ids"], arrays[f"{name}_offsets"][1:-1])
