"""The pipelines' common base: single inputs, lists and generators."""

import types
from typing import Any, Dict, Iterable, Iterator, List, Optional, Tuple

from .._context import Context
from .._errors import WrongModel
from ._model import Model

#: Inputs per call of the library.
AT_ONCE = 32
COMPAT = (None, "strict")


class Pipeline:
    """The base of the pipelines. Calls take one input, a list or a generator, whose result is a generator.

    context: the loaded model.
    """

    model_task = ""

    def __init__(
        self,
        context: Context,
        *,
        task: str,
        compat: Optional[str] = None,
        batch_size: Optional[int] = None,
        num_workers: Optional[int] = None,
        **options: Any,
    ):
        if compat not in COMPAT:
            raise ValueError(f"compat is {compat!r}, but must be None or 'strict'")
        if context.info.task != self.model_task:
            raise WrongModel(f"{context.info.architecture} cannot do {task}")
        self.context, self.task = context, task
        self.is_strict = compat == "strict"
        self.batch_size = batch_size
        self.model = Model(context)
        self._options = self._settings(options)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.context!r}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Returns the result of one input, a list of results for a list, or a generator for a generator."""
        return self._called(*args, **kwargs)

    def _called(
        self, inputs: Any, batch_size: Optional[int] = None, num_workers: Optional[int] = None, **options: Any
    ) -> Any:
        settings = {**self._options, **self._settings(options)}
        if isinstance(inputs, list):
            return list(self._each(inputs, AT_ONCE, settings))
        if isinstance(inputs, types.GeneratorType) or _is_dataset(inputs):
            return self._each(inputs, batch_size or self.batch_size or 1, settings)
        return self._results([inputs], settings)[0]

    def _each(self, inputs: Iterable[Any], size: int, settings: Dict[str, Any]) -> Iterator[Any]:
        batch: List[Any] = []
        for item in _items(inputs):
            batch.append(item)
            if len(batch) == size:
                yield from self._results(batch, settings)
                batch = []
        if batch:
            yield from self._results(batch, settings)

    def _settings(self, options: Dict[str, Any]) -> Dict[str, Any]:
        """Checks options of the constructor or a call. The result has only the given ones."""
        raise NotImplementedError

    def _results(self, inputs: List[Any], settings: Dict[str, Any]) -> List[Any]:
        """Returns the result of each input."""
        raise NotImplementedError


def unknown(options: Dict[str, Any]) -> None:
    """Raises TypeError if any option is left."""
    for name in options:
        raise TypeError(f"got an unexpected keyword argument {name!r}")


def _is_dataset(inputs: Any) -> bool:
    """True for a sized sequence that is not built in, such as a torch.utils.data.Dataset."""
    built_in = isinstance(inputs, (str, bytes, dict, tuple))
    return not built_in and hasattr(inputs, "__getitem__") and hasattr(inputs, "__len__")


def _items(inputs: Any) -> Iterable[Any]:
    if hasattr(inputs, "__iter__"):
        return inputs  # type: ignore[no-any-return]
    return (inputs[index] for index in range(len(inputs)))


def softmax(logits: "List[float]") -> List[float]:
    from math import exp

    top = max(logits)
    powers = [exp(logit - top) for logit in logits]
    total = sum(powers)
    return [power / total for power in powers]


def truncated(options: Dict[str, Any]) -> Tuple[bool, Optional[int]]:
    """Takes truncation, max_length and padding out of options: (whether to truncate, the maximum length)."""
    truncation, length = options.pop("truncation", None), options.pop("max_length", None)
    options.pop("padding", None)
    is_on = truncation not in (None, False, "do_not_truncate")
    return is_on, length
