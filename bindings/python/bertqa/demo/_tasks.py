"""The page's requests, as JSON values. Ranges count UTF-16 code units, like JavaScript's strings."""

import collections
import pathlib
import re
import threading
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Type, TypeVar, Union

from .._answer import Document
from .._collection import Collection, Passage
from .._context import Context
from .._errors import BertQAError, Cancelled, InvalidArgument
from .._results import Answer

Request = Mapping[str, Any]
Chosen = TypeVar("Chosen", str, pathlib.Path)

#: The maximum size of a text in bytes; browsers cannot display much more comfortably.
LARGEST = 8 << 20
#: The number of documents that stay tokenized.
PREPARED = 4
#: The numbers of answers and next words shown, and of characters that predict the next word.
ANSWERS, NEXT_WORDS, LAST_TEXT = 5, 8, 3000
#: The number of passages shown from a collection.
HITS = 10
#: The maximum number of highlighted words.
CONTRIBUTIONS = 1000


class Tasks:
    """One context for each task, loaded on first use and shared by all requests."""

    TASKS = ("answer", "classify", "predict", "embed")
    REQUESTS = ("documents", "document", "answer", "suggest", "collection", "passage", "classify", "next")

    def __init__(
        self, documents: Sequence[Tuple[str, Union[str, pathlib.Path]]], models: Mapping[str, Optional[str]]
    ):
        """documents: (name, text or path of a collection); models: directories by task, None for the default."""
        example = pathlib.Path(__file__).with_name("example.txt").read_text(encoding="utf-8")
        self._given = list(documents) or [("Halley's Comet (an example)", example)]
        self._models = models
        self._contexts: Dict[str, Context] = {}
        self._prepared: "collections.OrderedDict[str, Document[str]]" = collections.OrderedDict()
        #: By page and name: the request's number and the event that cancels it.
        self._running: Dict[Tuple[str, str], Tuple[int, threading.Event]] = {}
        # _loading is held while a model loads, _preparing while a text is tokenized; _lock only briefly.
        self._loading, self._preparing, self._lock = threading.Lock(), threading.Lock(), threading.Lock()

    def run(self, name: str, request: Request) -> Any:
        """Returns the answer to one request. A new request cancels the previous one of the same page and name.

        The page numbers its requests, because threads may process them in another order.
        """
        task: Callable[[Request, Callable[[], bool]], Any] = getattr(self, f"_{name}")
        key, number, ours = (_string(request, "page")[:64], name), request.get("number", 0), threading.Event()
        if not isinstance(number, int):
            raise InvalidArgument("number must be an integer")
        with self._lock:
            before = self._running.get(key)
            if before is not None and before[0] > number:
                raise Cancelled("a newer request is being answered")
            self._running[key] = number, ours
        if before is not None:
            before[1].set()
        try:
            return task(request, ours.is_set)
        finally:
            with self._lock:
                if self._running.get(key) == (number, ours):
                    del self._running[key]

    def cancel_all(self) -> None:
        """Cancels all running calls."""
        with self._lock:
            for _, event in self._running.values():
                event.set()

    def context(self, task: str) -> Context:
        with self._loading:
            if task not in self._contexts:
                model = self._models.get(task)
                self._contexts[task] = Context(model) if model else Context(task=task)
            return self._contexts[task]

    def _documents(self, request: Request, cancel: Callable[[], bool]) -> Any:
        return {
            "names": [name for name, _ in self._given],
            "largest": LARGEST,
            "collections": [index for index, (_, given) in enumerate(self._given) if not isinstance(given, str)],
        }

    def _document(self, request: Request, cancel: Callable[[], bool]) -> Any:
        return {"text": self._chosen(request, str)}

    def _chosen(self, request: Request, kind: "Type[Chosen]") -> "Chosen":
        index = request.get("index")
        if isinstance(index, int) and 0 <= index < len(self._given):
            given = self._given[index][1]
            if isinstance(given, kind):
                return given
        raise InvalidArgument(f"there is no document {index!r} of this kind")

    def _opened(self, request: Request) -> Collection:
        """Opens a collection for one request, because threads that share one wait for each other."""
        path = self._chosen(request, pathlib.Path)
        if not path.is_file() or path.stat().st_size == 0:
            raise FileNotFoundError(f"{path} is no longer there")  # Collection would make a new one
        return Collection(path)

    def _collection(self, request: Request, cancel: Callable[[], bool]) -> Any:
        """Returns the passages that match a question best, with the answers in them."""
        with self._opened(request) as collection:
            collection._context = self.context("answer")
            # A collection without vectors is asked without the embedding model, which may not be installed.
            if collection._fingerprint() is not None:
                collection._embedder = self.context("embed")
            result = collection.ask(_string(request, "question"), k=ANSWERS, cancel=cancel)
        read = result.passages[:HITS] + [result.passage(a) for a in result.answers if a.document_index >= HITS]
        hits = [_hit(passage) for passage in {passage.id: passage for passage in read}.values()]
        for answer in result.answers:
            passage = result.passage(answer)
            hit = next(hit for hit in hits if hit["id"] == passage.id)
            hit["answers"].append(_range(answer))
        return {
            "impossible": result.is_impossible,
            "best": result.passage(result.answer).id if result.answer else None,
            "hits": hits,
        }

    def _passage(self, request: Request, cancel: Callable[[], bool]) -> Any:
        """Returns the text of a passage's document, joined from its passages, and the passage's place."""
        id = request.get("id")
        if not isinstance(id, int):
            raise InvalidArgument("id must be an integer")
        with self._opened(request) as collection:
            passages = collection.document(id)
        text, end, place = "", 0, None
        for passage in passages:
            if text:
                text += "\n\n" if passage.start > end + 1 else " " if passage.start > end else ""
            # Passages overlap only within a sentence longer than a passage.
            added = passage.text.encode()[max(0, end - passage.start) :].decode(errors="replace")
            if passage.id == id:
                place = _units(text) - _units(passage.text) + _units(added)
                shown = place, place + _units(passage.text)
            text += added
            end = passage.end
        if place is None:
            raise InvalidArgument("this passage is no longer in the collection: ask again")
        return {"text": text, "start": shown[0], "end": shown[1]}

    def _answer(self, request: Request, cancel: Callable[[], bool]) -> Any:
        question = _string(request, "question")
        result = self._prepare(_string(request, "text"), cancel).answer(question, top_k=ANSWERS, cancel=cancel)
        return {
            "impossible": result.is_impossible,
            "answers": [_range(answer) for answer in result.answers],
        }

    def _suggest(self, request: Request, cancel: Callable[[], bool]) -> Any:
        """Returns questions that the document seems to answer, the surest first."""
        text = _string(request, "text")
        candidates = candidate_questions(text)
        if not candidates:
            return {"questions": []}
        document = self._prepare(text, cancel)
        results = document.answer_batch(candidates, max_windows=1, cancel=cancel)
        questions: Dict[str, str] = {}  # by answer
        for result, question in sorted(zip(results, candidates), key=lambda pair: -pair[0].gap):
            if result.answer and not result.is_impossible and result.answer.text not in question:
                questions.setdefault(result.answer.text, question)
        return {"questions": list(questions.values())[:ANSWERS]}

    def _classify(self, request: Request, cancel: Callable[[], bool]) -> Any:
        text, context = _string(request, "text"), self.context("classify")
        try:
            found = context.classify(text, contributions=CONTRIBUTIONS, cancel=cancel)
        except BertQAError as error:
            if error.argument != "contributions":
                raise
            found = context.classify(text, cancel=cancel)  # the model lacks the option
        if found.problem_type == "regression":
            raise InvalidArgument("this model computes numbers, not labels: choose another with --classify-model")
        return {
            "tooShort": found.is_too_short,
            "labels": [{"label": score.label, "probability": score.probability} for score in found.scores],
            "words": [
                {"start": word.utf16_range[0], "end": word.utf16_range[1], "weight": word.weight}
                for word in found.contributions
            ],
        }

    def _next(self, request: Request, cancel: Callable[[], bool]) -> Any:
        context = self.context("predict")
        info = context.info.sequence
        separator = info.separator if info else " "
        text = _string(request, "text")
        if len(text) > LAST_TEXT:
            text = re.sub(r"^\S*", "", text[-LAST_TEXT:])  # without the partial first word
        try:
            prediction = context.predict_text(text, top_k=NEXT_WORDS, cancel=cancel)
        except InvalidArgument:
            prediction = None  # the text has no word
        end = info.end if info else None
        return {
            "separator": separator,
            "unknown": prediction is not None and prediction.is_unknown,
            "words": [
                {"word": word.text, "end": word.text == end, "probability": word.probability}
                for word in (prediction.words if prediction else [])
            ],
        }

    def _prepare(self, text: str, cancel: Callable[[], bool]) -> "Document[str]":
        # A question waits for the suggestions' tokenization of the same text.
        with self._preparing:
            document = self._prepared.get(text)
            if document is None:
                document = self.context("answer").prepare(text, cancel=cancel)
            self._prepared[text] = document
            self._prepared.move_to_end(text)
            while len(self._prepared) > PREPARED:
                self._prepared.popitem(last=False)
        return document


def _string(request: Request, name: str) -> str:
    value = request.get(name)
    if not isinstance(value, str):
        raise InvalidArgument(f"{name} must be a text")
    return value


def _units(text: str) -> int:
    """Returns the number of UTF-16 code units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _hit(passage: Passage) -> Dict[str, Any]:
    place = passage.path or passage.name or ""
    if passage.path and passage.name:
        place += f": {passage.name}"
    return {
        "id": passage.id, "place": place, "title": passage.title, "text": passage.text, "score": passage.score,
        "answers": [],
    }  # fmt: skip


def _range(answer: Answer[str]) -> Dict[str, Any]:
    start, end = answer.utf16_range
    return {"start": start, "end": end, "text": answer.text, "probability": answer.probability}


_SUBJECT = r"(?P<subject>[A-Z][\w'’-]*(?: [\w'’–-]+){0,7}?)"
_NO_SUBJECT = re.compile(r"(?:It|He|She|They|We|I|You|This|That|These|Those|There|[A-Z]\w*ing|\w+ly|After|As|At|By|For|"
                         r"From|If|In|On|Since|To|When|While|With|But|And|Of|However|Its|His|Her|Their|Both)\b")  # fmt: skip
_BE = r"(?P<be>is|are|was|were)"
#: Statements, and the questions that they answer.
_STATEMENTS = [
    (re.compile(rf"{_SUBJECT} {_BE}(?P<rest>(?: [a-z]+){{0,4}}?) in (?:[A-Z]\w+ )?[12]\d\d\d\b"), "When {be} {subject}{rest}?"),
    (re.compile(rf"{_SUBJECT} {_BE} (?P<rest>\w+(?:ed|wn|lt|en) (?:by|after|as|for|from))\b"), "What {be} {subject} {rest}?"),
    (re.compile(rf"{_SUBJECT} {_BE} (?:the|an?|one of) "), "What {be} {subject}?"),
]  # fmt: skip


def candidate_questions(text: str) -> List[str]:
    """Returns at most 40 questions made from the first statements of an English text."""
    questions: List[str] = []
    for sentence in re.split(r"(?<=[.!?])\s+", text[:50_000]):
        sentence = " ".join(sentence[:300].split())
        for statement, form in _STATEMENTS:
            match = statement.match(sentence)
            if match and not _NO_SUBJECT.match(sentence):
                parts = match.groupdict()
                parts["subject"] = re.sub(
                    r"^(The|An?|All|Two|Some|Most|Many)\b", lambda word: word[0].lower(), parts["subject"]
                )
                questions.append(form.format(**parts))
                break
    return list(dict.fromkeys(questions))[:40]
