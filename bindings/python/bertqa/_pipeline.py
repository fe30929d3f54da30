"""pipeline(): imports the pipelines on the first call."""

from typing import TYPE_CHECKING, Any, Optional

if TYPE_CHECKING:
    from .pipelines import Pipeline


def pipeline(task: Optional[str] = None, model: Any = None, **options: Any) -> "Pipeline":
    """Returns a pipeline with the calls and the result dictionaries of transformers 4.57.

        reader = bertqa.pipeline("question-answering")
        reader(question="Who fell?", context="Ann fell.")

    docs/hosts.md lists the differences.

    task: "question-answering", "text-classification" or "sentiment-analysis", "token-classification" or "ner",
        "feature-extraction" or "zero-shot-classification"; default: the task that the model was trained for.
    model: a Context, or a model as for Context; default: the task's default model.
    compat: "strict": as transformers does where the default deliberately differs; default None.
    precision, threads: as in Context; the default precision is "f32", or "int8" for a model stored in int8.
    device: None, -1 or "cpu"; others raise ValueError.
    options: other arguments of transformers' pipeline, and of its call, for which they are the defaults.
    """
    from .pipelines import pipeline

    return pipeline(task, model, **options)
