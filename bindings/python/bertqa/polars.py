"""A namespace of Polars expressions, registered on import: pl.col("body").bertqa.answer("Who?"). Needs polars."""

from typing import Any, Callable

import polars

from ._call import integer
from ._columns import answer_column, classify_column, embed_column, entities_column
from ._hosts import opened
from ._run import repeatable
from ._text import is_text

_ANSWER = polars.Struct(
    {
        "answer": polars.String, "start": polars.Int64, "end": polars.Int64, "probability": polars.Float32,
        "score": polars.Float32, "gap": polars.Float32, "sentence": polars.String, "is_impossible": polars.Boolean,
    }
)  # fmt: skip
#: With top_k above 1.
_ANSWERS = polars.Struct(
    {
        "answers": polars.List(
            polars.Struct([field for field in _ANSWER.fields if field.name != "is_impossible"])
        ),
        "is_impossible": polars.Boolean,
    }
)
_LABELS = polars.List(polars.Struct({"label": polars.String, "probability": polars.Float32}))
_ENTITY = polars.Struct(
    {
        "label": polars.String, "text": polars.String, "start": polars.Int64, "end": polars.Int64,
        "score": polars.Float32,
    }
)  # fmt: skip


@polars.api.register_expr_namespace("bertqa")
class Expressions:
    """Result columns for a column of texts. model: a Context, or a model's directory or name; default: the task's
    default model. options: those of the task's column function."""

    def __init__(self, expression: Any):
        self._expression = expression

    def answer(self, question: Any, model: Any = None, **options: Any) -> Any:
        """A struct of the answer to a question, which is a text or an expression, such as pl.col("question")."""
        context = opened(model, "answer")
        kind = _ANSWERS if integer(options.get("top_k") or 1, "top_k") > 1 else _ANSWER
        if is_text(question):
            return self._mapped(lambda texts: answer_column(context, question, texts, **options), kind)
        if question is None:
            raise TypeError("question is None, but must be a text or an expression")

        def answered(columns: Any) -> Any:
            texts, questions = _broadcast(columns)
            return answer_column(context, questions, texts, **options)

        return polars.map_batches([self._expression, question], answered, return_dtype=kind)

    def classify(self, model: Any = None, **options: Any) -> Any:
        """A struct of label, probability and probabilities; with top_k a list of structs of label and probability."""
        context, options = opened(model, "classify"), repeatable(options)
        labels = options.get("labels") or context.info.labels
        kind: Any = _LABELS
        if options.get("top_k") is None:
            kind = polars.Struct(
                {
                    "label": polars.String,
                    "probability": polars.Float32,
                    "probabilities": polars.Array(polars.Float32, len(labels)),
                }
            )
        return self._mapped(lambda texts: classify_column(context, texts, **options), kind)

    def entities(self, model: Any = None, **options: Any) -> Any:
        """A list of structs of label, text, start, end and score."""
        context, options = opened(model, "entities"), repeatable(options)
        return self._mapped(lambda texts: entities_column(context, texts, **options), polars.List(_ENTITY))

    def embed(self, model: Any = None, **options: Any) -> Any:
        """An array of floats."""
        context = opened(model, "embed")
        kind = polars.Array(polars.Float32, context.info.embedding_length)
        return self._mapped(lambda texts: embed_column(context, texts, **options), kind)

    def _mapped(self, function: "Callable[[Any], Any]", kind: Any) -> Any:
        return self._expression.map_batches(function, return_dtype=kind, is_elementwise=True)


def _broadcast(columns: Any) -> Any:
    """Repeats the row of a literal or an aggregate, as Polars does."""
    count = next((len(column) for column in columns if len(column) != 1), 1)
    return [column.new_from_index(0, count) if len(column) == 1 else column for column in columns]
