"""Callables for txtai, which they do not import: vectors for its index, and answers like its pipeline Questions.

import txtai
from bertqa.txtai import Questions, vectors

embeddings = txtai.Embeddings(method="external", transform=vectors(), content=True)
answers = Questions()(["Who fell?"], ["Ann fell. Bob did not."])
"""

from typing import Any, Callable, List, Optional, Sequence

from ._hosts import opened, texts_of
from ._sentences import SentenceEncoder
from ._text import is_text


def vectors(model: Any = None, **options: Any) -> Callable[[Sequence[str]], Any]:
    """Returns a function from texts to an array of their vectors, for the setting transform.

    model, options: those of bertqa.SentenceEncoder.
    """
    encoder = SentenceEncoder(model, **options)

    def transform(texts: Sequence[str]) -> Any:
        return encoder.encode(texts_of(texts))

    return transform


class Questions:
    """Answers each question from the context with the same index. An answer is a part of the context, or None if the
    context does not seem to have one.

    model: a directory or name for bertqa.Context; default: the default model. options: see help(bertqa.AnswerOptions).
    """

    def __init__(self, model: Any = None, **options: Any):
        self.context = opened(model, "answer")
        self.options = {"handle_impossible_answer": True, **options}

    def __call__(
        self, questions: Sequence[str], contexts: Sequence[Optional[str]], workers: int = 0
    ) -> List[Optional[str]]:
        """workers: has no effect; the context's threads count."""
        if is_text(questions) or is_text(contexts):
            raise TypeError("questions and contexts must be lists: pass [text]")
        if len(questions) != len(contexts):
            raise ValueError(f"there are {len(questions)} questions and {len(contexts)} contexts")
        answers: List[Optional[str]] = [None] * len(questions)
        given = [index for index, question in enumerate(questions) if question and contexts[index]]
        documents = texts_of(contexts[index] for index in given)
        found = self.context.answer_batch(
            [(questions[index], document) for index, document in zip(given, documents)], **self.options
        )
        for index, result in zip(given, found):
            if result.answer is not None:
                answers[index] = result.answer.text
        return answers
