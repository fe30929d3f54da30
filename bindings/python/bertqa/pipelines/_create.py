"""pipeline(): selects a task's class and checks the other arguments of transformers' pipeline()."""

from typing import Any, Dict, Optional, Tuple, Type

from .._context import Context
from .._hosts import check_device, exact
from ._base import Pipeline
from ._feature_extraction import FeatureExtractionPipeline
from ._question_answering import QuestionAnsweringPipeline
from ._text_classification import TextClassificationPipeline
from ._token_classification import TokenClassificationPipeline
from ._zero_shot import ZeroShotClassificationPipeline

#: The class of each task, and the task of its default model.
TASKS: Dict[str, Tuple[Type[Pipeline], Optional[str]]] = {
    "question-answering": (QuestionAnsweringPipeline, "answer"),
    "text-classification": (TextClassificationPipeline, "classify"),
    "token-classification": (TokenClassificationPipeline, "entities"),
    "feature-extraction": (FeatureExtractionPipeline, "embed"),
    "zero-shot-classification": (ZeroShotClassificationPipeline, None),
}
ALIASES = {"ner": "token-classification", "sentiment-analysis": "text-classification"}
#: The pipeline of a model if no task is named.
BY_MODEL = {default: task for task, (_, default) in TASKS.items() if default is not None}
#: Arguments of transformers that have no effect here.
IGNORED = ("use_fast", "token", "trust_remote_code")
#: Arguments of transformers that must keep their default, and the values that mean the default.
FIXED: Dict[str, Tuple[Any, ...]] = {
    "framework": (None, "pt"),
    "device_map": (None, "auto", "cpu"),
    "config": (None,),
    "feature_extractor": (None,),
    "image_processor": (None,),
    "processor": (None,),
    "revision": (None, "main"),
    "pipeline_class": (None,),
    "model_kwargs": (None, {}),
}
PRECISIONS = {"float32": "f32", "bfloat16": "bf16"}


def pipeline(
    task: Optional[str] = None,
    model: Any = None,
    *,
    tokenizer: Any = None,
    device: Any = None,
    compat: Optional[str] = None,
    precision: Optional[str] = None,
    threads: Optional[int] = None,
    dtype: Any = None,
    torch_dtype: Any = None,
    **options: Any,
) -> Pipeline:
    """Implements bertqa.pipeline, which describes the arguments."""
    if task is None and model is None:
        raise RuntimeError(
            "Impossible to instantiate a pipeline without either a task or a model being specified."
        )
    name = None if task is None else ALIASES.get(task, task)
    if name is not None and name not in TASKS:
        raise KeyError(f"Unknown task {task}, available tasks are {sorted([*TASKS, *ALIASES])}")
    check_device(None if device == -1 else device)
    for argument, values in FIXED.items():
        if options.pop(argument, None) not in values:
            raise ValueError(f"{argument} is not available: bertqa reads the model's own files on the CPU")
    for argument in IGNORED:
        options.pop(argument, None)
    if tokenizer is not None and tokenizer != model:
        raise ValueError(
            "tokenizer must be None or equal to model: bertqa reads the tokenizer of the model's directory"
        )
    context = _load(name, model, precision, threads, dtype or torch_dtype)
    kind = TASKS[name or _task_of(context)][0]
    return kind(context, task=task or _task_of(context), compat=compat, **options)


def _load(
    task: Optional[str], model: Any, precision: Optional[str], threads: Optional[int], dtype: Any
) -> Context:
    default = None if task is None else TASKS[task][1]
    if model is None and default is None:
        raise ValueError(f"{task} has no default model: name a directory")
    if precision is None and not isinstance(model, Context):
        name = str(dtype).rpartition(".")[2]
        precision = PRECISIONS.get(name)
    return exact(model, task=None if model is not None else default, precision=precision, threads=threads)


def _task_of(context: Context) -> str:
    if context.info.task not in BY_MODEL:
        raise KeyError(f"{context.info.architecture} has no pipeline, available tasks are {sorted(TASKS)}")
    return BY_MODEL[context.info.task]
