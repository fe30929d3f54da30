"""pipeline(): imports the pipelines on the first call."""

from typing import TYPE_CHECKING, Any, Optional

if TYPE_CHECKING:
    from .pipelines import Pipeline


def pipeline(task: Optional[str] = None, model: Any = None, **options: Any) -> "Pipeline":
    """Returns a pipeline that is called like that of transformers 4.57, and returns the same dictionaries.

        reader = bertqa.pipeline("question-answering")
        reader(question="Who fell?", context="Ann fell.")

    docs/hosts.md has the table of differences.

    task: "question-answering", "text-classification" or "sentiment-analysis", "token-classification" or "ner", or
        "feature-extraction" or "zero-shot-classification"; default: the one that the model was trained for.
    model: a Context, or what Context takes as its model; default: the default model of the task.
    compat: "strict": as transformers does where the default is deliberately different; default None.
    precision, threads: those of Context; the default precision is "f32", or "int8" for a model that is stored so.
    device: None, -1 or "cpu"; others raise ValueError.
    options: other arguments of transformers' pipeline, and of its call, whose defaults they become.
    """
    from .pipelines import pipeline

    return pipeline(task, model, **options)
