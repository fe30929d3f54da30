"""Windows changed at random, so that a run does not learn its questions by heart.

Three changes, each to a share of the windows. Labels stay true: the answer's own sentence stays, and a window without an
answer gets none.
- Sentences of the passage are left out.
- Tokens, but those of the answer, become [MASK].
- An answer becomes that of another question of its kind (who, when ...), wherever the passage has it: it must be read, not
  remembered (Longpre et al. 2021, Entity-Based Knowledge Conflicts in Question Answering).
"""

import random
from typing import Dict, List, Optional, Sequence, Tuple

from .windows import Window

# What a changed window loses, at most; how much is drawn for each.
SENTENCES_LEFT_OUT = 0.5
TOKENS_MASKED = 0.15
# In tokens. Shorter pieces between full stops are no sentences of their own: "u . s .", "3 . 5".
SENTENCE_LENGTH = 8
SWAPPED_LENGTH = 8
KINDS = "how many", "how much", "what year", "when", "where", "who", "whom", "whose"


class Augmentation:
    """Changes `share` of windows, by each of the three changes. tokenizer: of the windows' ids."""

    def __init__(self, share: float, tokenizer, windows):
        self.share = share
        self.longest = max(windows.lengths)
        number = tokenizer.token_to_id
        self.mask = number("[MASK]")
        self.stops = {number(stop) for stop in ".!?"} - {None}
        self.kinds = [tuple(map(number, kind.split())) for kind in KINDS]
        # kind -> the answers to its questions
        self.answers: Dict[Tuple[int, ...], List[List[int]]] = {}
        for index in range(len(windows)):
            window = windows.window(index)
            kind = self.kind(window)
            if kind and window.end - window.start < SWAPPED_LENGTH:
                self.answers.setdefault(kind, []).append(window.ids[window.start : window.end + 1])

    def kind(self, window: Window) -> Optional[Tuple[int, ...]]:
        """What the question asks for, if the answers to such questions can stand for each other."""
        if not window.start:
            return None
        question = window.ids[1 : window.context_start - 1]
        return next((kind for kind in self.kinds if found(question, kind)), None)

    def changed(self, window: Window, generator: random.Random) -> Window:
        """The window, or what has become of it: never longer than the longest of all windows."""
        if generator.random() < self.share:
            window = self.shortened(window, generator)
        if generator.random() < self.share:
            window = self.swapped(window, generator)
        if generator.random() < self.share:
            window = self.masked(window, generator)
        return window

    def shortened(self, window: Window, generator: random.Random) -> Window:
        """Without some of the passage's sentences."""
        left_out = SENTENCES_LEFT_OUT * generator.random()
        ids, start, end = window.ids[: window.context_start], 0, 0
        for first, last in self.sentences(window):
            if first <= window.start < last:
                start, end = (len(ids) + place - first for place in (window.start, window.end))
            elif generator.random() < left_out:
                continue
            ids += window.ids[first:last]
        return Window([*ids, window.ids[-1]], window.context_start, start, end)

    def sentences(self, window: Window) -> List[Tuple[int, int]]:
        """[first, last) of the passage's sentences; one holds the whole answer."""
        result, first, last = [], window.context_start, len(window.ids) - 1
        for place in range(first, last):
            after = place + 1
            if (
                window.ids[place] in self.stops
                and after - first >= SENTENCE_LENGTH
                and not window.start <= place < window.end
            ):
                result.append((first, after))
                first = after
        return [*result, (first, last)] if first < last else result

    def swapped(self, window: Window, generator: random.Random) -> Window:
        """With another answer of its kind in the place of every mention of the answer."""
        kind = self.kind(window)
        if kind is None or kind not in self.answers:
            return window
        old, new = window.ids[window.start : window.end + 1], generator.choice(self.answers[kind])
        ids, place, start = window.ids[: window.context_start], window.context_start, 0
        while place < len(window.ids):
            if place == window.start:
                start = len(ids)
            after = place + len(old)
            if window.ids[place:after] == old and (after <= window.start or window.start <= place):
                ids += new
                place = after
            else:
                ids.append(window.ids[place])
                place += 1
        swapped = Window(ids, window.context_start, start, start + len(new) - 1)
        return swapped if len(ids) <= self.longest else window

    def masked(self, window: Window, generator: random.Random) -> Window:
        """With [MASK] in the place of some tokens, but those of the answer, [CLS] and [SEP]."""
        rate = TOKENS_MASKED * generator.random()
        ids = list(window.ids)
        for place in range(1, len(ids) - 1):
            own = window.start and window.start <= place <= window.end
            if generator.random() < rate and not own and place != window.context_start - 1:
                ids[place] = self.mask
        return Window(ids, window.context_start, window.start, window.end)


def found(ids: Sequence[int], part: Sequence[int]) -> bool:
    """Whether `part` is in `ids`, in one piece."""
    return any(tuple(ids[place : place + len(part)]) == tuple(part) for place in range(len(ids)))
