"""training/qa/augmentation.py: windows changed at random, whose labels stay true."""

import random
import sys

import pytest

from conftest import ROOT

sys.path[:0] = [str(ROOT / "training")]

from qa.augmentation import SENTENCES_LEFT_OUT, TOKENS_MASKED, Augmentation  # noqa: E402
from qa.windows import Window  # noqa: E402

GENERATORS = [random.Random(seed) for seed in range(200)]


class Words:
    """A tokenizer of words, and windows of them."""

    def __init__(self, *windows):
        self.words = ["[PAD]", "[MASK]", "[CLS]", "[SEP]", ".", "!", "?"]
        self.windows = [self.encoded(*window) for window in windows]

    def token_to_id(self, word):
        return self.words.index(word) if word in self.words else None

    def encoded(self, question, passage, answer=None):
        def ids(text):
            self.words += [word for word in text.split() if word not in self.words]
            return [self.words.index(word) for word in text.split()]

        start = end = 0
        begin, context = len(question.split()) + 2, passage.split()
        if answer:
            span = answer.split()
            start = begin + next(i for i in range(len(context)) if context[i : i + len(span)] == span)
            end = start + len(span) - 1
        return Window(ids(f"[CLS] {question} [SEP] {passage} [SEP]"), begin, start, end)

    def text(self, window, first=0, last=None):
        return " ".join(self.words[id] for id in window.ids[first : len(window.ids) if last is None else last])

    def answer(self, window):
        return self.text(window, window.start, window.end + 1)

    def __len__(self):
        return len(self.windows)

    def window(self, index):
        return self.windows[index]

    @property
    def lengths(self):
        return [len(window.ids) for window in self.windows]


FOX = "who jumps ?", "a b c d e f g . the fox jumps over the dog at 3 . 5 . h i j k l m n ! o p q .", "the fox"
COMET = "by whom , who found it ?", "in may georg found it ; they said that georg was old and so he was .", "georg"
NONE = "who sings ?", "a b c d e f g . the fox jumps over the dog at 3 . 5 . h i j k l m n ! o p q ."
STOP = "what is it ?", "a b c d e f g . u s . army of the united states of old . h i j k l m n .", "s . army"


def made(*windows, share=1.0):
    words = Words(*windows)
    return words, Augmentation(share, words, words)


@pytest.mark.parametrize("question", [FOX, STOP, NONE])
def test_sentences_are_left_out_but_the_answers(question):
    words, augmentation = made(question)
    window = words.window(0)
    pieces = [words.text(window, *piece) for piece in augmentation.sentences(window)]
    assert " ".join(pieces) == question[1]
    assert pieces[0] == "a b c d e f g ." and len(pieces) == (3 if question is STOP else 4)
    results = [augmentation.shortened(window, generator) for generator in GENERATORS]
    left_out = 0
    for result in results:
        kept = words.text(result, result.context_start, -1)
        assert words.text(result, 0, window.context_start) == words.text(window, 0, window.context_start)
        assert kept == " ".join(piece for piece in pieces if piece in kept)
        left_out += len(pieces) - sum(piece in kept for piece in pieces)
        assert words.text(result, -1) == "[SEP]"
        if len(question) > 2:
            assert words.answer(result) == question[2]
        else:
            assert result.start == result.end == 0
    droppable = len(GENERATORS) * (len(pieces) - (len(question) > 2))
    assert left_out == pytest.approx(droppable * SENTENCES_LEFT_OUT / 2, rel=0.25)


def test_every_mention_of_an_answer_is_swapped_and_the_question_is_not():
    words, augmentation = made(FOX, COMET, STOP)
    fox, comet, stop = words.windows
    assert [augmentation.kind(w) is not None for w in (fox, comet, stop)] == [True, True, False]
    results = [augmentation.swapped(comet, generator) for generator in GENERATORS]
    passage = COMET[1].replace("georg", "the fox")
    assert {words.text(result, comet.context_start, -1) for result in results} == {COMET[1], passage}
    for result in results:
        assert words.text(result, 0, comet.context_start) == words.text(comet, 0, comet.context_start)
        assert words.answer(result) in ("georg", "the fox")
    assert augmentation.swapped(stop, GENERATORS[0]) == stop


def test_windows_get_no_longer_than_the_longest():
    words, augmentation = made(COMET, ("who is it ?", "it is the quick brown fox", "the quick brown fox"))
    comet = words.window(0)
    assert len(comet.ids) == max(words.lengths)
    assert all(augmentation.swapped(comet, generator) == comet for generator in GENERATORS)


def test_a_label_within_repeated_words_is_kept():
    words = Words(("who ?", "no no no no", "no no"), ("who ?", "yes and many more words in this one", "yes"))
    words.windows[0] = Window(words.windows[0].ids, 4, 5, 6)
    result = next(
        r
        for r in (Augmentation(1.0, words, words).swapped(words.window(0), g) for g in GENERATORS)
        if words.answer(r) == "yes"
    )
    assert words.text(result) == "[CLS] who ? [SEP] no yes no [SEP]"


def test_masked_tokens_are_not_the_answers():
    words, augmentation = made(FOX, NONE)
    masks = total = 0
    for window in words.windows:
        for generator in GENERATORS:
            result = augmentation.masked(window, generator)
            assert words.answer(result) == words.answer(window)
            changed = [i for i, (a, b) in enumerate(zip(window.ids, result.ids)) if a != b]
            assert all(words.words[result.ids[i]] == "[MASK]" for i in changed)
            assert not {words.words[window.ids[i]] for i in changed} & {"[CLS]", "[SEP]"}
            assert (result.context_start, result.start, result.end) == (
                window.context_start, window.start, window.end)  # fmt: skip
            masks, total = masks + len(changed), total + len(window.ids)
    assert masks / total == pytest.approx(TOKENS_MASKED / 2, rel=0.25)


def test_the_share_of_changed_windows():
    for share, expected in ((0.0, 0.0), (0.5, 0.5), (1.0, 1.0)):
        words, augmentation = made(FOX, NONE, share=share)
        window, generator = words.window(1), random.Random(1)
        shorter = sum(len(augmentation.changed(window, generator).ids) < len(window.ids) for _ in range(2000))
        # Of the four sentences, each is left out of a window that is chosen by u/2, u uniform: 1 - E[(1 - u/2)^4].
        assert shorter / 2000 == pytest.approx(expected * (1 - 2 * (1 - 0.5**5) / 5), abs=0.04)
