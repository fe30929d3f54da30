"""word_counts against another implementation of Unicode's word boundaries and against the classifier."""

import collections
import pydoc
import random

import pytest

import bertqa
from samples import APOLLO, DOCUMENTS, FOX
from unicode_words import unicode_words


def expected(text, length=3):
    # Emoji are no words, whatever joins them to their neighbours.
    found = (word.lower() for word in unicode_words(text))
    return collections.Counter(word for word in found if len(word) >= length and len(word.encode()) < 256)


@pytest.mark.parametrize("text", [FOX, APOLLO, DOCUMENTS["composed"], DOCUMENTS["right to left"]], ids=len)
def test_words_are_unicodes(text):
    counts = bertqa.word_counts(text)
    wanted = expected(text)
    assert counts == wanted and list(counts) == list(wanted)
    assert bertqa.word_counts(text, 1) == expected(text, 1)


def test_counts():
    counts = bertqa.word_counts("The fox saw the FOX; don't.")
    assert isinstance(counts, collections.Counter)
    assert list(counts.items()) == [("the", 2), ("fox", 2), ("saw", 1), ("don't", 1)]
    assert counts.most_common(1) == [("the", 2)] and counts["dog"] == 0
    assert bertqa.word_counts(b"one \xff two\0two", max_ngram=2) == {
        "one": 1,
        "two": 2,
        "one two": 1,
        "two two": 1,
    }
    assert list(bertqa.word_counts("__init__: «\u202fça_va\u202f!\u202f» _e_")) == ["init", "ça_va"]
    assert bertqa.word_counts("") == bertqa.word_counts("\ud800 😀 a") == {}


def test_counts_are_the_classifiers():
    texts = [FOX, APOLLO[:500], "é É e\u0301", "no", *DOCUMENTS.values()]
    with bertqa.Context(task="classify") as topics:
        for text in texts:
            assert len(bertqa.word_counts(text)) == topics.classify(text).distinct_word_count


def test_contributions_are_ranges_of_the_text():
    text = "Élan, café — 😀 the café's goal was scored"
    with bertqa.Context(task="classify") as topics:
        found = [topics.classify(given, contributions=100).contributions for given in (text, text.encode())]
    assert len(found[0]) == len(found[1]) > 2
    for one, other in zip(*found):
        assert one.text == text[one.start : one.end] == other.text.decode() != ""
        assert other.text == text.encode()[other.start : other.end]
    assert any(one.start < other.start for one, other in zip(*found))


def test_options():
    for options, argument in [
        ({"min_word_length": 256}, "min_word_length"),
        ({"max_ngram": 3}, "max_ngram"),
        ({"max_bytes": 100}, "max_bytes"),
    ]:
        with pytest.raises((bertqa.InvalidArgument, bertqa.TooLarge)) as caught:
            bertqa.word_counts(APOLLO, **options)
        assert caught.value.argument == argument
    with pytest.raises(bertqa.InvalidArgument, match="min_word_length is 0"):
        bertqa.word_counts(FOX, 0)
    with pytest.raises(bertqa.DeadlineExceeded):
        bertqa.word_counts(FOX, timeout=0)
    with pytest.raises(TypeError, match="unknown option"):
        bertqa.word_counts(FOX, top_k=3)
    assert "min_word_length: " in pydoc.render_doc(bertqa.word_counts, renderer=pydoc.plaintext)


def test_many_words():
    words = [f"word{i}" for i in range(50_000)]
    random.Random(1).shuffle(words)
    assert list(bertqa.word_counts(" ".join(words))) == words
