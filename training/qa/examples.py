"""Questions from files: SQuAD's JSON, or JSON lines with one passage or one question a line; .xz is unpacked."""

import collections
import itertools
import json
from dataclasses import dataclass
from typing import Any, Callable, Iterator, List, Optional, Tuple

from common.files import errors_at, opened, records, texts_only

ARTICLES = ("a ", "an ", "the ")


@dataclass(frozen=True)
class Example:
    """A question about a passage; `answer` is a half-open range of code points, None if there is no answer."""

    id: str
    source: str
    question: str
    context: str
    answer: Optional[Tuple[int, int]]


def read_examples(path: str, articles: bool = True) -> List[Example]:
    """Every question of a file. articles: see `with_article`."""
    numbers = itertools.count()

    def made(question):
        context, number = question["context"], next(numbers)
        answer = chosen_answer(context, question["answers"], f"question {question.get('id')!r}")
        if answer is not None and articles:
            answer = with_article(context, answer)
        source = question["source"] or path
        return Example(str(question.get("id", number)), source, question["question"], context, answer)

    return read_questions(path, made)


def read_questions(path, made: Callable[[dict], Any] = dict) -> list:
    """What `made` makes of each question of a file, with its "context", "source" ("" if it has none) and "answers", a list.

    SystemExit names the line of an error.
    """

    def all_of(paragraph):
        return [made(question) for question in _questions(paragraph)]

    if str(path).removesuffix(".xz").endswith(".json"):
        with errors_at(path), opened(path) as file:
            articles = json.load(file)["data"]
            found = [all_of(paragraph) for article in articles for paragraph in article["paragraphs"]]
    else:
        found = records(path, all_of)
    questions = [*itertools.chain.from_iterable(found)]
    if not questions:
        raise SystemExit(f"{path}: no questions")
    return questions


def chosen_answer(context: str, answers: list, name: str) -> Optional[Tuple[int, int]]:
    """The answer that most annotators gave, the first of equals; None if there are none."""
    if not answers:
        return None
    counts = collections.Counter((answer["answer_start"], answer["text"]) for answer in answers)
    start, text = max(counts, key=lambda answer: counts[answer])
    if not text or start < 0 or context[start : start + len(text)] != text:
        raise ValueError(f"{name}: the answer {text!r} is not at answer_start {start} of the passage")
    return start, start + len(text)


def with_article(context: str, answer: Tuple[int, int]) -> Tuple[int, int]:
    """The answer with the article in front of it, if it has several words and starts with a letter.

    Annotators take or leave the article at random and SQuAD's scores drop it: one convention leaves the model less
    to guess, and readers a noun phrase.
    """
    start, end = answer
    if not context[start].isalpha() or " " not in context[start:end]:
        return answer
    before = context[:start].lower()
    for article in ARTICLES:
        first = start - len(article)
        if before.endswith(article) and (first == 0 or not context[first - 1].isalnum()):
            return first, end
    return answer


def _questions(paragraph: dict) -> Iterator[dict]:
    """The questions about a passage, or the one that is with it."""
    for question in paragraph.get("qas", [paragraph]):
        answers = [] if question.get("is_impossible") else question["answers"]
        if isinstance(answers, dict):  # of Hugging Face's data sets: a list for each member
            answers = [dict(zip(answers, values)) for values in zip(*answers.values())]
        source = question.get("source") or paragraph.get("source") or ""
        texts_only(paragraph["context"], question["question"], source, *(answer["text"] for answer in answers))
        yield {**question, "context": paragraph["context"], "source": source, "answers": answers}
