"""Classifying texts: methods of Context."""

import ctypes
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Tuple, Union

from . import _native
from ._handle import Closable, Results
from ._native import library
from ._options import CallOptions
from ._text import encoded
from ._types import Classification, Contribution, LabelScore, Text

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._types import ClassifyOptions

WINDOW_POOLINGS = ("mean", "max")
PROBLEM_TYPES = ("", "single_label", "multi_label", "regression")


class ClassifyMethods(Closable):
    """What a Context of a classification model does."""

    def classify(
        self, text: "Union[Text, Tuple[Text, Text]]", **options: "Unpack[ClassifyOptions]"
    ) -> Classification:
        """Classifies a text of any length, or a pair of texts for models of pairs. options: see ClassifyOptions."""
        return self.classify_batch([text], **options)[0]

    def classify_batch(
        self, texts: "Iterable[Union[Text, Tuple[Text, Text]]]", **options: "Unpack[ClassifyOptions]"
    ) -> List[Classification]:
        """Classifies many texts, or pairs, in one call."""
        handle, lib = self._opened(), library()
        texts = list(texts)
        array = text_pairs(texts)
        call = classify_options(options)
        with Results(len(texts), lib.classification_free) as results:
            call.check(lib.classify_batch(handle.pointer, array, len(texts), call.pointer, results))
            return [classification(pointer, text) for pointer, text in zip(results, texts)]


def classify_options(values: Dict[str, Any]) -> CallOptions:
    return CallOptions(
        _native.ClassifyOptions(), library().classify_options_init, values, window_pooling=WINDOW_POOLINGS
    )


def text_pairs(texts: "List[Union[Text, Tuple[Text, Text]]]") -> "ctypes.Array[_native.TextPair]":
    """Texts and pairs of texts as the library takes them; the array keeps their bytes alive."""
    array = (_native.TextPair * len(texts))()
    for entry, text in zip(array, texts):
        first, second = text if isinstance(text, tuple) else (text, None)
        data = encoded(first)
        entry.text, entry.length = data, len(data)
        if second is not None:
            data = encoded(second)
            entry.second, entry.second_length = data, len(data)
    return array


def classification(pointer: Any, text: "Union[Text, Tuple[Text, Text]]") -> Classification:
    """The library's result for `text` as a plain value."""
    lib = library()
    summary = lib.classification_summary(pointer).contents
    scores = [lib.classification_get(pointer, rank).contents for rank in range(lib.classification_count(pointer))]
    found = [
        lib.classification_contribution(pointer, rank).contents
        for rank in range(lib.classification_contributions_count(pointer))
    ]
    return Classification(
        scores=[
            LabelScore(score.label.decode("utf-8", "replace"), score.id, score.probability, score.logit)
            for score in scores
        ],
        contributions=[_contribution(item, text) for item in found if not isinstance(text, tuple)],
        problem_type=PROBLEM_TYPES[summary.problem_type],
        not_enough_text=bool(summary.not_enough_text),
        distinct_words=summary.distinct_words,
        window_count=summary.window_count,
    )


def _contribution(item: _native.Contribution, text: Text) -> Contribution:
    own = item.bytes if isinstance(text, bytes) else item.code_points
    return Contribution(
        text=text[own.start : own.end],
        start=own.start,
        end=own.end,
        byte_range=(item.bytes.start, item.bytes.end),
        utf16_range=(item.utf16.start, item.utf16.end),
        weight=item.weight,
    )
