"""Text classification: methods of Context."""

from typing import TYPE_CHECKING, Any, Iterable, List, Sequence, Tuple, Union, cast, overload

from . import _abi
from ._answer import each_result, each_status
from ._call import Call
from ._handle import Closable, Results
from ._native import library, text_at
from ._results import Classification, Contribution, LabelScore
from ._text import as_text, check_texts, encoded, two_texts
from ._value import T, Text

if TYPE_CHECKING:
    from typing import Literal

    from typing_extensions import Unpack

    from ._errors import BertQAError
    from ._options import ClassifyOptions

    TextOrPair = Union[Text, Tuple[Text, Text]]

WINDOW_POOLINGS = ("mean", "max")
PROBLEM_TYPES = ("", "single_label_classification", "multi_label_classification", "regression")


class ClassifyMethods(Closable):
    """The methods of a Context with a classification model."""

    @overload
    def classify(self, text: T, **options: "Unpack[ClassifyOptions]") -> Classification[T]: ...

    @overload
    def classify(self, text: Tuple[Text, Text], **options: "Unpack[ClassifyOptions]") -> Classification[Any]: ...

    def classify(self, text: Any, **options: "Unpack[ClassifyOptions]") -> Any:
        """Classifies a text of any length, or a pair of texts for models of pairs.

        options: see help(bertqa.ClassifyOptions).
        """
        handle, lib = self._opened(), library()
        if isinstance(text, tuple):
            return self.classify_batch([text], **options)[0]
        text = as_text(text)
        data = encoded(text)
        call = classify_call(options)
        with Results(1, lib.classification_free) as results:
            call.check(lib.classify(handle.pointer, data, len(data), call.pointer, results))
            return classification(results[0], text)

    @overload
    def classify_batch(
        self,
        texts: Iterable[T],
        *,
        return_exceptions: "Literal[False]" = ...,
        **options: "Unpack[ClassifyOptions]",
    ) -> List[Classification[T]]: ...

    @overload
    def classify_batch(
        self,
        texts: "Iterable[TextOrPair]",
        *,
        return_exceptions: "Literal[False]" = ...,
        **options: "Unpack[ClassifyOptions]",
    ) -> List[Classification[Any]]: ...

    @overload
    def classify_batch(
        self,
        texts: "Iterable[TextOrPair]",
        *,
        return_exceptions: bool,
        **options: "Unpack[ClassifyOptions]",
    ) -> "List[Union[Classification[Any], BertQAError]]": ...

    def classify_batch(
        self, texts: Any, *, return_exceptions: bool = False, **options: "Unpack[ClassifyOptions]"
    ) -> Any:
        """Classifies many texts or pairs in one call.

        return_exceptions: False: the first text that fails ends the call, and the exception's `item` is its index.
            True: the list contains an exception instead of a Classification for each text that fails.
        options: see help(bertqa.ClassifyOptions).
        """
        handle, lib = self._opened(), library()
        texts = listed(texts)
        array = text_pairs(texts)
        call = classify_call(options)
        with Results(len(texts), lib.classification_free) as results:
            statuses = each_status(len(texts), return_exceptions)
            call.check(lib.classify_batch(handle.pointer, array, len(texts), call.pointer, results, statuses))
            return each_result(results, statuses, texts, classification)


def classify_call(values: Any) -> Call:
    choices = {"window_pooling": WINDOW_POOLINGS}
    return Call(
        values,
        _abi.ClassifyOptions(),
        choices=choices,
        zeros={"contributions": 0, "doc_stride": -1, "min_probability": 0},
        lists={"labels": "label_count"},
    )


def listed(texts: "Iterable[TextOrPair]") -> "List[TextOrPair]":
    """Returns the texts of a batch. Rejects a str or bytes, which would be a batch of its characters."""
    check_texts(texts, "texts", "a batch of one is [text]")
    return [
        text if isinstance(text, (str, bytes, tuple)) else as_text(text, f"texts[{item}]")
        for item, text in enumerate(texts)
    ]


def text_pairs(texts: "Sequence[TextOrPair]") -> Any:
    """Returns texts and pairs of texts as an array for the library, which keeps their bytes alive."""
    array = (_abi.TextPair * len(texts))()
    for item, (entry, text) in enumerate(zip(array, texts)):
        first: Any = text
        if isinstance(text, tuple):
            if len(text) != 2:
                raise TypeError(
                    f"a tuple is a pair of texts, but one has {len(text)}: pass several texts as a list"
                )
            first, second = two_texts(text, "a pair of texts", f"texts[{item}]")
            data = encoded(second)
            entry.second, entry.second_length = data, len(data)
        data = encoded(first)
        entry.text, entry.length = data, len(data)
    return array


def classification(pointer: Any, text: "TextOrPair") -> Classification[Any]:
    """Converts the library's result for `text` to a plain value."""
    lib = library()
    summary = lib.classification_summary(pointer).contents
    scores = [lib.classification_get(pointer, rank).contents for rank in range(lib.classification_count(pointer))]
    found = [
        lib.classification_contribution_get(pointer, rank).contents
        for rank in range(lib.classification_contribution_count(pointer))
    ]
    return Classification(
        scores=[
            LabelScore(text_at(score.label, score.label_length), score.id, score.probability, score.logit)
            for score in scores
        ],
        contributions=[_contribution(item, text) for item in found],
        problem_type=PROBLEM_TYPES[summary.problem_type],
        is_too_short=bool(summary.is_too_short),
        distinct_word_count=summary.distinct_word_count,
        window_count=summary.window_count,
        is_none=bool(summary.is_none),
    )


def _contribution(item: _abi.Contribution, text: T) -> Contribution[T]:
    own = item.bytes if isinstance(text, bytes) else item.code_points
    return Contribution(
        text=cast(T, text[own.start : own.end]),
        start=own.start,
        end=own.end,
        byte_range=(item.bytes.start, item.bytes.end),
        utf16_range=(item.utf16.start, item.utf16.end),
        weight=item.weight,
    )
