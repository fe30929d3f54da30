"""The callables for txtai, which they do not import."""

import numpy
import pytest

import bertqa
from bertqa.txtai import Questions, vectors
from hosts import QUESTION, TEXTS


def test_vectors():
    assert numpy.array_equal(vectors()(TEXTS), bertqa.SentenceEncoder().encode(TEXTS))
    with pytest.raises(TypeError, match="the input is one text"):
        vectors()(TEXTS[0])


def test_questions():
    questions = Questions()
    assert questions([QUESTION, QUESTION, "", None], [TEXTS[1], None, "a", "a"]) == ["Paris", None, None, None]
    assert questions([], []) == []
    with pytest.raises(ValueError, match="there are 2 questions and 1 contexts"):
        questions([QUESTION] * 2, [TEXTS[1]])
    with pytest.raises(TypeError, match="must be lists"):
        questions(QUESTION, TEXTS[1])
