"""Question answering, with the spans and scores of transformers' pipeline."""

import types
from typing import Any, Dict, List, Optional, Tuple

from .._errors import InvalidArgument
from ._answers import Window, answers_of
from ._base import Pipeline, unknown
from ._model import Tokens

#: Tokens of all windows per call of the library.
CALL_TOKENS = 1 << 16
OPTIONS = (
    "top_k", "doc_stride", "max_answer_len", "max_seq_len", "max_question_len", "handle_impossible_answer",
    "align_to_words",
)  # fmt: skip
DEFAULTS: Dict[str, Any] = {
    "top_k": 1,
    "max_answer_len": 15,
    "max_question_len": 64,
    "handle_impossible_answer": False,
    "align_to_words": True,
}


class QuestionAnsweringPipeline(Pipeline):
    """reader(question=…, context=…), each a text or a list of texts; or a dictionary of both, or a list or generator of
    dictionaries. The result is a dictionary of score, start, end and answer, or a list of several."""

    model_task = "answer"

    def __call__(self, *inputs: Any, **options: Any) -> Any:
        names: Tuple[str, ...] = ("question", "context", "X", "data")
        given = {name: options.pop(name) for name in names if name in options}
        examples = _examples(inputs, given)
        if isinstance(examples, list) and len(examples) == 1:
            examples = examples[0]
        return self._called(examples, **options)

    def _settings(self, options: Dict[str, Any]) -> Dict[str, Any]:
        options = dict(options)
        options.pop("padding", None)
        top_k = options.pop("topk", None)
        options.setdefault("top_k", top_k)
        found = {name: options.pop(name) for name in OPTIONS if options.get(name) is not None}
        for name in "top_k", "max_answer_len":
            if found.get(name, 1) < 1:
                raise ValueError(f"{name} parameter should be >= 1 (got {found[name]})")
        unknown({name: value for name, value in options.items() if value is not None})
        return found

    def _results(self, inputs: List[Any], settings: Dict[str, Any]) -> List[Any]:
        settings = {**DEFAULTS, **settings}
        length, stride = self._length(settings)
        known: Dict[str, Tokens] = {}
        windows: List[List[Window]] = []
        for item in inputs:
            question, context = _texts(item)
            for text in question, context:
                if text not in known:
                    known[text] = self.model.tokens(text, parse=self.is_strict)
            windows.append(self._windows(known[question], known[context], length, stride, settings))
        self._run([window for those in windows for window in those])
        return [answers_of(self.model, those, settings, self.is_strict) for those in windows]

    def _length(self, settings: Dict[str, Any]) -> Tuple[int, int]:
        """Returns max_seq_len and doc_stride."""
        length = settings.get("max_seq_len")
        length = min(self.model.tokenizer_length, 384) if length is None else length
        stride, used = settings.get("doc_stride"), min(length, self.model.maximum)
        if stride is None:
            return used, min(used // 2, 128)
        if stride > length:
            raise ValueError(f"`doc_stride` ({stride}) is larger than `max_seq_len` ({length})")
        if stride < 0:
            raise OverflowError("doc_stride is negative")
        return used, stride

    def _windows(
        self, question: Tokens, context: Tokens, length: int, stride: int, settings: Dict[str, Any]
    ) -> List[Window]:
        ids = question.ids if self.is_strict else question.ids[: settings["max_question_len"]]
        before = [self.model.first, *ids, *[self.model.last] * self.model.separators]
        room = length - len(before) - 1
        if len(context) <= room:
            spans = [(0, len(context))]
        elif room < 1:
            raise InvalidArgument(
                f"the question has {len(ids)} tokens, which leaves no room for the context in max_seq_len {length}"
            )
        elif stride >= room and settings.get("doc_stride") is not None:
            raise InvalidArgument.of(
                "doc_stride", f"is {stride}, but a window has room for {room} tokens of the context"
            )
        else:
            spans, stride = [(0, room)], stride if stride < room else room // 2
            while spans[-1][1] < len(context):
                first = spans[-1][0] + room - stride
                spans.append((first, min(first + room, len(context))))
        return [
            Window(context, first, len(before), [*before, *context.ids[first:end], self.model.last])
            for first, end in spans
        ]

    def _run(self, windows: List[Window]) -> None:
        """Computes the logits of the windows."""
        first = 0
        while first < len(windows):
            last, size = first, 0
            while last < len(windows) and (last == first or size + len(windows[last].ids) <= CALL_TOKENS):
                size += len(windows[last].ids)
                last += 1
            part = windows[first:last]
            segments = [window.begin for window in part] if self.model.has_types else None
            for window, logits in zip(part, self.context.logits([window.ids for window in part], segments)):
                window.logits = logits
            first = last


def _examples(inputs: Tuple[Any, ...], given: Dict[str, Any]) -> Any:
    """Returns one list of examples, or a generator unchanged."""
    question, context = given.get("question"), given.get("context")
    if len(inputs) == 2 and all(isinstance(text, str) for text in inputs):
        found: Any = [{"question": inputs[0], "context": inputs[1]}]
    elif inputs:
        found = inputs[0] if len(inputs) == 1 else list(inputs)
    elif "X" in given or "data" in given:
        found = given.get("X", given.get("data"))
    elif "question" not in given or "context" not in given:
        raise ValueError(f"Unknown arguments {given}")
    elif isinstance(question, list) and isinstance(context, str):
        found = [{"question": text, "context": context} for text in question]
    elif isinstance(question, list) and isinstance(context, list):
        if len(question) != len(context):
            raise ValueError("Questions and contexts don't have the same lengths")
        found = [{"question": one, "context": other} for one, other in zip(question, context)]
    elif isinstance(question, str) and isinstance(context, str):
        found = [{"question": question, "context": context}]
    else:
        raise ValueError("Arguments can't be understood")
    if isinstance(found, types.GeneratorType):
        return found
    if isinstance(found, dict):
        found = [found]
    try:
        items = list(found)
    except TypeError:
        raise ValueError(f"Invalid arguments {given}") from None
    for item in items:
        _check(item)
    return items


def _check(item: Any) -> None:
    if not isinstance(item, dict):
        if hasattr(item, "question_text") and hasattr(item, "context_text"):
            return
        raise ValueError(f"{item} argument needs to be of type (SquadExample, dict)")
    for name in "question", "context":
        if name not in item:
            raise KeyError("You need to provide a dictionary with keys {question:..., context:...}")
        if item[name] is None:
            raise ValueError(f"`{name}` cannot be None")
        if item[name] == "":
            raise ValueError(f"`{name}` cannot be empty")
    for name in item:
        if name not in ("question", "context"):
            raise TypeError(f"got an unexpected keyword argument {name!r}")


def _texts(item: Any) -> Tuple[str, str]:
    """Returns question and context of a dictionary or of transformers' SquadExample."""
    texts: Optional[Tuple[Any, Any]]
    if isinstance(item, dict):
        texts = item["question"], item["context"]
    else:
        texts = item.question_text, item.context_text
    for text in texts:
        if not isinstance(text, str):
            raise ValueError(f"question and context must be texts, not {type(text).__name__}")
    return texts
