"""Text embeddings: methods of Context, and Embeddings."""

import ctypes
import sys
from array import array
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Mapping, Sequence, Tuple, Union, overload

from . import _abi
from ._answer import each_status
from ._call import Call
from ._classify import listed, text_pairs
from ._handle import Closable
from ._native import failures, library
from ._text import is_text
from ._value import Text

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._classify import TextOrPair
    from ._errors import BertQAError
    from ._options import EmbedOptions

POOLINGS = ("model", "mean", "cls")


class EmbedMethods(Closable):
    """The methods of a Context with an embedding model."""

    # A str is also an iterable of texts; the first matching overload counts.
    @overload
    def embed(  # type: ignore[overload-overlap]
        self, texts: "Union[Text, Tuple[Text, Text]]", **options: "Unpack[EmbedOptions]"
    ) -> "array[float]": ...

    @overload
    def embed(
        self,
        texts: "Iterable[TextOrPair]",
        *,
        return_exceptions: bool = ...,
        **options: "Unpack[EmbedOptions]",
    ) -> "Embeddings": ...

    def embed(self, texts: Any, *, return_exceptions: bool = False, **options: "Unpack[EmbedOptions]") -> Any:
        """Returns the vectors of many texts in one call, as Embeddings, or that of one text, as an array of
        floats.

        texts: texts or, for models that take pairs, tuples of two texts.
        return_exceptions: False: the first text that fails ends the call, and the exception's `item` is its index.
            True: a text that fails has a zero vector, and Embeddings.failures has its exception.
        options: see help(bertqa.EmbedOptions).
        """
        handle, lib = self._opened(), library()
        is_one = isinstance(texts, tuple) or is_text(texts)
        texts = [texts] if is_one else listed(texts)
        length = lib.context_info(handle.pointer).contents.embedding_length
        values = (ctypes.c_float * (len(texts) * length))()
        pairs = text_pairs(texts)
        call = embed_call(options)
        statuses = each_status(len(texts), return_exceptions and not is_one)
        call.check(lib.embed(handle.pointer, pairs, len(texts), call.pointer, values, len(values), statuses))
        failed = {} if statuses is None else failures(statuses)
        embeddings = Embeddings(values, (len(texts), length), failed)
        return embeddings[0] if is_one else embeddings


class Embeddings(Sequence["array[float]"]):
    """Vectors of texts: embeddings[i] is an array of the floats of text i.

    numpy.asarray(embeddings) has the shape (texts, floats) and does not copy.
    failures: the exceptions of failed texts by index, with return_exceptions.
    """

    def __init__(
        self,
        values: "ctypes.Array[ctypes.c_float]",
        shape: Tuple[int, int],
        failures: "Mapping[int, BertQAError]",
    ):
        self.shape = shape
        self.failures = failures
        self._values = values

    def __len__(self) -> int:
        return self.shape[0]

    @overload
    def __getitem__(self, index: int) -> "array[float]": ...

    @overload
    def __getitem__(self, index: "slice[Any, Any, Any]") -> "List[array[float]]": ...

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self._row(row) for row in range(*index.indices(len(self)))]
        return self._row(range(len(self))[index])

    def _row(self, row: int) -> "array[float]":
        size = self.shape[1] * ctypes.sizeof(ctypes.c_float)
        vector = array("f")
        vector.frombytes(memoryview(self._values).cast("B")[row * size : (row + 1) * size])
        return vector

    def tolist(self) -> List[List[float]]:
        """Returns a list of floats for each text."""
        return [vector.tolist() for vector in self]

    @property
    def __array_interface__(self) -> Dict[str, Any]:
        """The floats for NumPy and libraries based on it."""
        order = "<" if sys.byteorder == "little" else ">"
        return {
            "version": 3,
            "shape": self.shape,
            "typestr": f"{order}f4",
            "data": (ctypes.addressof(self._values), False),
        }

    def __repr__(self) -> str:
        return f"<Embeddings of {self.shape[0]} texts, {self.shape[1]} floats each>"


def embed_call(values: Any) -> Call:
    return Call(values, _abi.EmbedOptions(), choices={"pooling": POOLINGS})
