"""Questions from files: SQuAD's JSON, or JSON lines with one passage or one question a line; .xz is unpacked."""

import collections
import json
from dataclasses import dataclass
from typing import Iterator, List, Optional, Tuple

from common.files import opened, records

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
    examples = []
    for context, question, source in _questions(path):
        answers = [] if question.get("is_impossible") else question["answers"]
        answer = chosen_answer(context, answers, f"{path}: question {question.get('id')!r}")
        if answer is not None and articles:
            answer = with_article(context, answer)
        examples.append(
            Example(str(question.get("id", len(examples))), source, question["question"], context, answer)
        )
    if not examples:
        raise ValueError(f"{path}: no questions")
    return examples


def chosen_answer(context: str, answers: list, name: str) -> Optional[Tuple[int, int]]:
    """The answer that most annotators gave, the first of equals; None if there are none."""
    if not answers:
        return None
    counts = collections.Counter((answer["answer_start"], answer["text"]) for answer in answers)
    start, text = max(counts, key=lambda answer: counts[answer])
    if not text or context[start : start + len(text)] != text:
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


def _questions(path: str) -> Iterator[Tuple[str, dict, str]]:
    if path.removesuffix(".xz").endswith(".json"):
        with opened(path) as file:
            paragraphs = [part for article in json.load(file)["data"] for part in article["paragraphs"]]
    else:
        paragraphs = records(path)
    for paragraph in paragraphs:
        for question in paragraph.get("qas", [paragraph]):
            yield paragraph["context"], question, question.get("source", paragraph.get("source", path))
