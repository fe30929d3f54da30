"""Converts the logits of windows to dictionaries of answers."""

from typing import Any, Dict, List, Optional, Sequence, Tuple

from ._model import Model, Tokens
from ._spans import Span, best_spans, powers


class Window:
    """A part of a context that the model reads with the question.

    first: the part's first token in the context; begin: its index in the window.
    ids: the tokens of the whole window.
    """

    def __init__(self, context: Tokens, first: int, begin: int, ids: List[int]):
        self.context, self.first, self.begin, self.ids = context, first, begin, ids
        self.logits: Tuple[Sequence[float], Sequence[float]] = ((), ())

    def allowed(self) -> List[int]:
        """Returns the tokens in the softmax: the first, which means "no answer", and the part's."""
        return [0, *range(self.begin, len(self.ids) - 1)]


def answers_of(model: Model, windows: List[Window], settings: Dict[str, Any], is_strict: bool) -> Any:
    """Returns one dictionary if there is one answer, else a list of them."""
    top_k, aligned = settings["top_k"], settings["align_to_words"]
    count = top_k * 2 + 10 if aligned else top_k
    scored, null_score = _scored(windows, count, settings["max_answer_len"], is_strict)
    answers: List[Dict[str, Any]] = []
    by_text: Dict[str, Dict[str, Any]] = {}
    for score, window, first, last in scored:
        start, end = _range(model, window, first, last, aligned)
        text = window.context.text[start:end]
        # Equal texts are one answer.
        answer = by_text.get(text.lower())
        if answer is None:
            answer = {"score": score, "start": start, "end": end, "answer": text}
            answers.append(answer)
            by_text[text.lower()] = answer
        else:
            answer["score"] += score
    if settings["handle_impossible_answer"]:
        answers.append({"score": null_score, "start": 0, "end": 0, "answer": ""})
    answers = sorted(answers, key=lambda answer: -answer["score"])[:top_k]
    return answers[0] if len(answers) == 1 else answers


def _scored(
    windows: List[Window], count: int, length: int, is_strict: bool
) -> Tuple[List[Tuple[float, Window, int, int]], float]:
    """Returns spans with their scores, in the order of windows, and the score of "no answer".

    Strict: each window has its own softmax, and a span that two windows share counts twice. Else all windows share one
    softmax, only the better of two equal spans counts, and "no answer" has the share of all first tokens.
    """
    groups = [[window] for window in windows] if is_strict else [windows]
    scored: List[Tuple[float, Window, int, int]] = []
    null_score = 1e6
    for group in groups:
        tops = [max(max(window.logits[side][t] for t in window.allowed()) for window in group) for side in (0, 1)]
        both = [[powers(window.logits[side], window.allowed(), tops[side]) for side in (0, 1)] for window in group]
        totals = [sum(sum(sides[side]) for sides in both) for side in (0, 1)]
        scale = totals[0] * totals[1]
        nulls = [sum(sides[side][0] for sides in both) for side in (0, 1)]
        null_score = min(null_score, nulls[0] * nulls[1] / scale)
        best: Dict[Tuple[int, int], Tuple[float, Window, int, int]] = {}
        for window, (starts, ends) in zip(group, both):
            starts[0] = ends[0] = 0.0
            for score, first, last in _spans(starts, ends, count, length):
                move = window.first - window.begin
                key = (first + move, last + move)
                if key not in best or score / scale > best[key][0]:
                    best[key] = (score / scale, window, first, last)
        scored += best.values()
    return scored, null_score


def _spans(starts: Sequence[float], ends: Sequence[float], count: int, length: int) -> List[Span]:
    return best_spans(starts, ends, count, length) if any(starts) else []


def _range(model: Model, window: Window, first: int, last: int, aligned: bool) -> Tuple[int, int]:
    """Returns the range of a span in the context. Aligned: the range of its words within the window."""
    context = window.context
    move = window.first - window.begin
    start, end = first + move, last + move
    words: Optional[List[int]] = model.words(context) if aligned else None
    if words is not None:
        low, high = window.first, window.first + len(window.ids) - 1 - window.begin
        while start > low and words[start - 1] == words[start]:
            start -= 1
        while end + 1 < high and words[end + 1] == words[end]:
            end += 1
    return context.offsets[start][0], context.offsets[end][1]
