"""Shared by the components for other frameworks: models that are opened once, and rankers."""

import functools
import math
import os
from typing import Any, Iterable, List, Sequence

from ._context import Context
from ._text import check_texts, is_text


def opened(model: Any, task: str) -> Context:
    """Returns a Context unchanged, or opens the model with this name or directory once in this process. None is the
    task's default model."""
    if isinstance(model, Context):
        return model
    # A relative path means another model after a change of the working directory.
    if model is not None:
        model = os.path.abspath(model) if os.path.exists(model) else os.fspath(model)
    return _open(model, task)


@functools.lru_cache(maxsize=16)
def _open(model: Any, task: str) -> Context:
    return Context(model, task=None if model is not None else task)


def exact(model: Any, **options: Any) -> Context:
    """Opens a model in f32, which gives the results of the original implementations, or in int8 if it is stored so.
    Returns a Context unchanged."""
    if isinstance(model, Context):
        given = [name for name, value in options.items() if value is not None]
        if given:
            raise TypeError(
                f"{', '.join(given)}: a Context has its own options; pass them to it, or pass the model's directory or name"
            )
        return model
    if options.get("precision") is not None:
        return Context(model, **options)
    context = Context(model, **options)
    if context.info.precision != "bf16":
        return context
    context.close()
    return Context(model, **{**options, "precision": "f32"})


def check_device(device: Any) -> None:
    """Accepts None, "cpu" and torch's device of that name."""
    if device is not None and str(device) != "cpu":
        raise ValueError(f"device is {device!r}, but bertqa computes on the CPU: leave it out, or pass 'cpu'")


def scores(context: Context, query: str, texts: Sequence[str]) -> List[float]:
    """Returns a score of each text for the query: a cross-encoder's sigmoid or probability of the last label, or an
    embedding model's cosine, with the prompts of its files."""
    if context.info.task == "embed":
        from ._sentences import SentenceEncoder

        encoder = SentenceEncoder(context, truncate=False)
        [first] = encoder.encode_query([query], normalize_embeddings=True, convert_to_numpy=False)
        others = encoder.encode_document(list(texts), normalize_embeddings=True, convert_to_numpy=False)
        return [sum(one * other for one, other in zip(first, vector)) for vector in others]
    results = context.classify_batch([(query, text) for text in texts])
    if len(context.info.labels) == 1:
        return [sigmoid(result.scores[0].logit) for result in results]
    last = len(context.info.labels) - 1
    return [next(score.probability for score in result.scores if score.id == last) for result in results]


def sigmoid(logit: float) -> float:
    return 1 / (1 + math.exp(-logit)) if logit > -700 else 0.0


def untagged(label: str) -> str:
    """Returns the label of an entity for that of one of its tokens: "PER" for "B-PER"."""
    return label[2:] if label.startswith(("B-", "I-")) else label


def texts_of(values: Iterable[Any]) -> List[Any]:
    """Returns a list of texts. Hosts pass missing values, such as None and NaN, which must not become texts."""
    check_texts(values, "the input", "pass a list: [text]")
    texts = list(values)
    for index, text in enumerate(texts):
        if not is_text(text):
            raise ValueError(
                f"text {index} is of type {type(text).__name__}, not str or bytes: replace or leave out what is missing"
            )
    return texts


def serializable(model: Any) -> Any:
    """Returns the name or directory of a model for a file."""
    if isinstance(model, Context):
        if not model.info.directory or model._is_relative:
            raise ValueError(
                f"{model!r} cannot be named in a file, because it was opened from memory or with dir_fd: open it by the path "
                "of its directory"
            )
        return model._directory
    return None if model is None else os.fspath(model)
