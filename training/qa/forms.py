"""Windows in other forms: questions with other marks or as keywords, passages without punctuation or in marked lines.

Students read the other form, and teachers the text as it is.
"""

from typing import List, Optional, Tuple

import numpy as np
from tokenizers import Tokenizer

from common.forms import Pieces, in_form

from .tokenized import Windows, flat
from .windows import MAX_QUESTION_LENGTH


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


def keywords(question: np.ndarray, pieces: Pieces) -> np.ndarray:
    """Returns a question without function words and marks, or as it is if fewer than two pieces are left."""
    whole = ~np.append(pieces.continues[question[1:]], False)
    kept = question[~((pieces.function_words[question] & whole) | (question == pieces.mark))]
    return kept if len(kept) > 1 else question


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
