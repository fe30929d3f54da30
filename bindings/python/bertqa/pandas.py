"""A pandas accessor, registered on import: frame.bertqa.answer("body", question=…). Needs pandas and pyarrow."""

from typing import Any

import pandas

from ._columns import answer_column, classify_column, embed_column, entities_column
from ._hosts import opened


@pandas.api.extensions.register_dataframe_accessor("bertqa")
class Frame:
    """Result columns for a column of texts, with the frame's index. model: a Context, or a model's directory or name;
    default: the task's default model. options: those of the task's column function."""

    def __init__(self, frame: Any):
        self._frame = frame

    def answer(self, column: str, question: Any, model: Any = None, **options: Any) -> Any:
        """Returns a frame of answer, start, end, probability, score, gap, sentence and is_impossible; with top_k above
        1 of answers and is_impossible. question: a text for all rows, or a series with the frame's index."""
        return _frame(answer_column(opened(model, "answer"), question, self._frame[column], **options))

    def classify(self, column: str, model: Any = None, **options: Any) -> Any:
        """Returns a frame of label, probability and probabilities; with top_k a series of lists of labels."""
        labels = classify_column(opened(model, "classify"), self._frame[column], **options)
        return labels if options.get("top_k") is not None else _frame(labels)

    def entities(self, column: str, model: Any = None, **options: Any) -> Any:
        """Returns a series of lists of entities."""
        return entities_column(opened(model, "entities"), self._frame[column], **options)

    def embed(self, column: str, model: Any = None, **options: Any) -> Any:
        """Returns a series of vectors."""
        return embed_column(opened(model, "embed"), self._frame[column], **options)


def _frame(series: Any) -> Any:
    return series.struct.explode()
