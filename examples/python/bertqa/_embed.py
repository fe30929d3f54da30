"""Vectors of texts: methods of Context, and Embeddings."""

import ctypes
import sys
from array import array
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Sequence, Tuple, Union, overload

from . import _native
from ._classify import text_pairs
from ._handle import Closable
from ._native import library
from ._options import CallOptions
from ._types import Text

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._types import EmbedOptions

POOLINGS = ("model", "mean", "cls")


class EmbedMethods(Closable):
    """What a Context of an embedding model does."""

    @overload
    def embed(
        self, texts: "Union[Text, Tuple[Text, Text]]", **options: "Unpack[EmbedOptions]"
    ) -> "array[float]": ...

    @overload
    def embed(
        self, texts: "Iterable[Union[Text, Tuple[Text, Text]]]", **options: "Unpack[EmbedOptions]"
    ) -> "Embeddings": ...

    def embed(self, texts: Any, **options: Any) -> Any:
        """Vectors of many texts in one call, as Embeddings; of one text, as an array of floats.

        A tuple is a pair of texts, for models that take pairs. options: see EmbedOptions.
        """
        handle, lib = self._opened(), library()
        is_one = isinstance(texts, (str, bytes, tuple))
        texts = [texts] if is_one else list(texts)
        length = lib.context_info(handle.pointer).contents.embedding_length
        values = (ctypes.c_float * (len(texts) * length))()
        call = embed_options(options)
        pairs = text_pairs(texts)
        call.check(lib.embed(handle.pointer, pairs, len(texts), call.pointer, values))
        embeddings = Embeddings(values, (len(texts), length))
        return embeddings[0] if is_one else embeddings


class Embeddings(Sequence["array[float]"]):
    """Vectors of texts: embeddings[i] is an array of the floats of text i's.

    numpy.asarray(embeddings) has the shape (texts, floats) and is no copy.
    """

    def __init__(self, values: "ctypes.Array[ctypes.c_float]", shape: Tuple[int, int]):
        self.shape = shape
        self._values = values

    def __len__(self) -> int:
        return self.shape[0]

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
        return [vector.tolist() for vector in self]

    @property
    def __array_interface__(self) -> Dict[str, Any]:
        """How NumPy and what builds on it find the floats."""
        order = "<" if sys.byteorder == "little" else ">"
        return {
            "version": 3,
            "shape": self.shape,
            "typestr": f"{order}f4",
            "data": (ctypes.addressof(self._values), False),
        }

    def __repr__(self) -> str:
        return f"<Embeddings of {self.shape[0]} texts, {self.shape[1]} floats each>"


def embed_options(options: Dict[str, Any]) -> CallOptions:
    return CallOptions(_native.EmbedOptions(), library().embed_options_init, options, pooling=POOLINGS)
