"""SentenceEncoder: an embedding model with the interface of sentence-transformers' SentenceTransformer."""

import json
from typing import Any, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple

from ._call import integer
from ._context import Context
from ._hosts import check_device, exact
from ._text import check_texts, is_text

#: Texts per call of the library.
AT_ONCE = 256
CONFIG = "config_sentence_transformers.json"
SIMILARITIES = ("cosine", "dot", "euclidean", "manhattan")


class SentenceEncoder:
    """Returns the vectors of sentence-transformers, with its truncation of texts unless truncate is False.

    model: a Context, or a model as for Context; default: the installed default model.
    prompts, default_prompt_name: override those of the model's files.
    similarity_fn_name: "cosine", "dot", "euclidean" or "manhattan"; default: as the model's files say.
    truncate_dim: the number of floats of each vector to keep; default: all.
    truncate: False: longer texts are read whole, in windows; default True.
    options: those of Context; the default precision is "f32", or "int8" for a model stored in int8.
    """

    def __init__(
        self,
        model: Any = None,
        *,
        prompts: Optional[Dict[str, str]] = None,
        default_prompt_name: Optional[str] = None,
        similarity_fn_name: Optional[str] = None,
        truncate_dim: Optional[int] = None,
        truncate: bool = True,
        device: Any = None,
        **options: Any,
    ):
        check_device(device)
        self.context, config = _opened(model, options)
        self.prompts: Dict[str, str] = {
            "query": "",
            "document": "",
            **(config.get("prompts") or {}),
            **(prompts or {}),
        }
        self.default_prompt_name = default_prompt_name or config.get("default_prompt_name")
        self._prompt(None, None)
        check_dimension(truncate_dim)
        self.similarity_fn_name = similarity_fn_name or config.get("similarity_fn_name") or "cosine"
        if self.similarity_fn_name not in SIMILARITIES:
            raise ValueError(f"similarity_fn_name is {self.similarity_fn_name!r}, not one of {SIMILARITIES}")
        self.truncate_dim, self.truncate = truncate_dim, truncate

    def __repr__(self) -> str:
        return f"<SentenceEncoder of {self.context!r}>"

    def get_sentence_embedding_dimension(self) -> int:
        """The number of floats of a vector."""
        length = self.context.info.embedding_length
        return length if self.truncate_dim is None else min(length, self.truncate_dim)

    def encode(
        self,
        sentences: Any,
        prompt_name: Optional[str] = None,
        prompt: Optional[str] = None,
        batch_size: int = 32,
        show_progress_bar: Optional[bool] = None,
        *,
        precision: str = "float32",
        convert_to_numpy: bool = True,
        convert_to_tensor: bool = False,
        device: Any = None,
        normalize_embeddings: bool = False,
        truncate_dim: Optional[int] = None,
    ) -> Any:
        """Returns a vector for one text, or a matrix with a row for each text of a list.

        prompt, prompt_name: the text before each text, or its name in prompts; default: that of default_prompt_name.
        batch_size: has no effect; the library distributes all texts over its threads.
        show_progress_bar: shows a progress bar, if tqdm is installed.
        convert_to_numpy: False: a list of arrays of floats. convert_to_tensor: True: a tensor of torch.
        normalize_embeddings: scale vectors to length 1; default: as the model's files say.
        """
        check_device(device)
        check_dimension(truncate_dim)
        if precision != "float32":
            raise ValueError(f"precision is {precision!r}, but vectors are float32")
        before = self._prompt(prompt_name, prompt)
        is_one = is_text(sentences)
        check_texts(sentences, "sentences")
        # A list of two is a pair, too.
        texts = [sentences] if is_one else [tuple(one) if isinstance(one, list) else one for one in sentences]
        dimension = truncate_dim or self.truncate_dim
        options: Dict[str, Any] = {"truncate": self.truncate, "prompt": before}
        if normalize_embeddings:
            options["normalize"] = True
        rows: List[Any] = []
        for first in shown(range(0, len(texts), AT_ONCE), show_progress_bar):
            rows += _cut(
                self.context.embed(texts[first : first + AT_ONCE], **options), dimension, normalize_embeddings
            )
        if not convert_to_numpy and not convert_to_tensor:
            return rows[0] if is_one else rows
        import numpy

        result: Any = numpy.array(rows, dtype=numpy.float32) if rows else numpy.asarray([])
        if convert_to_tensor:
            import torch

            result = torch.from_numpy(result).float()
        return result[0] if is_one else result

    def encode_query(self, sentences: Any, prompt_name: Optional[str] = None, **options: Any) -> Any:
        """Encodes with the prompt "query"."""
        if prompt_name is None and options.get("prompt") is None:
            prompt_name = "query"
        return self.encode(sentences, prompt_name, **options)

    def encode_document(self, sentences: Any, prompt_name: Optional[str] = None, **options: Any) -> Any:
        """Encodes with the first prompt of "document", "passage" and "corpus" that the model has."""
        if prompt_name is None and options.get("prompt") is None:
            names = ("document", "passage", "corpus")
            prompt_name = next((name for name in names if name in self.prompts), None)
        return self.encode(sentences, prompt_name, **options)

    def similarity(self, embeddings1: Any, embeddings2: Any) -> Any:
        """Returns the matrix of the similarities between the vectors of two lists."""
        return similarity(self.similarity_fn_name, embeddings1, embeddings2)

    def _prompt(self, name: Optional[str], prompt: Optional[str]) -> str:
        if prompt is not None:
            return prompt
        name = self.default_prompt_name if name is None else name
        if name is None:
            return ""
        if name not in self.prompts:
            raise ValueError(
                f"Prompt name '{name}' not found in the configured prompts dictionary: {self.prompts}"
            )
        return self.prompts[name]


def similarity(name: str, one: Any, other: Any) -> Any:
    import numpy

    first, second = (numpy.atleast_2d(numpy.asarray(vectors, dtype=numpy.float32)) for vectors in (one, other))
    if first.ndim > 2 or first.shape[1:] != second.shape[1:]:
        raise ValueError(
            f"embeddings of shapes {first.shape} and {second.shape} cannot be compared: give two lists of vectors with "
            "the same number of floats"
        )
    if name in ("cosine", "dot"):
        if name == "cosine":
            first, second = _unit(first), _unit(second)
        return first @ second.T
    order = 2 if name == "euclidean" else 1
    found = numpy.empty((len(first), len(second)), dtype=numpy.float32)
    # One vector at a time: the differences of all pairs are as many times larger than the matrix as a vector has floats.
    for row, vector in zip(found, first):
        row[:] = -numpy.linalg.norm(second - vector, ord=order, axis=-1)
    return found


def _unit(vectors: Any) -> Any:
    import numpy

    return vectors / numpy.maximum(numpy.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12)


def _cut(vectors: Iterable[Any], dimension: Optional[int], is_unit: bool) -> Iterator[Any]:
    """Yields the first floats of each vector, scaled to length 1 again if is_unit."""
    for vector in vectors:
        if dimension is not None and dimension < len(vector):
            vector = vector[:dimension]
            if is_unit:
                length = max(sum(value * value for value in vector) ** 0.5, 1e-12)
                vector = type(vector)("f", (value / length for value in vector))
        yield vector


def check_dimension(dimension: Optional[int]) -> None:
    if dimension is not None and integer(dimension, "truncate_dim") < 1:
        raise ValueError(f"truncate_dim is {dimension!r}, but must be at least 1")


def shown(items: Sequence[int], is_shown: Optional[bool]) -> Iterable[int]:
    """Returns the items, with a progress bar if wanted and if tqdm is installed."""
    if not is_shown:
        return items
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return items
    return tqdm(items, desc="Batches")  # type: ignore[no-any-return]


def _opened(model: Any, options: Dict[str, Any]) -> Tuple[Context, Dict[str, Any]]:
    """Returns a model's context and the settings of sentence-transformers in its files."""
    context = exact(model, **{"task": None if model is not None else "embed", **options})
    return context, _config(context)


def _config(context: Context) -> Dict[str, Any]:
    """Returns the settings of sentence-transformers in a model's files."""
    return dict(json.loads(context._file(CONFIG) or b"{}"))
