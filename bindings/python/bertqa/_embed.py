"""Text embeddings: methods of Context, and Embeddings."""

import ctypes
import sys
from array import array
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Mapping, Sequence, Tuple, Union, overload

from . import _abi
from ._answer import each_result, each_status
from ._call import Call
from ._classify import listed, text_pairs
from ._errors import InvalidArgument
from ._handle import Closable, Results
from ._native import check, failures, library
from ._text import is_text
from ._value import Text

if TYPE_CHECKING:
    from typing import Literal

    from typing_extensions import Unpack

    from ._classify import TextOrPair
    from ._errors import BertQAError
    from ._options import EmbedOptions

POOLINGS = ("model", "mean", "cls")


class EmbedMethods(Closable):
    """The methods of a Context with an embedding model."""

    # A str is also an iterable of texts; the first overload that matches counts.
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
        """Returns Embeddings for many texts in one call, or an array of floats for one text.

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

    @overload
    def embed_tokens(  # type: ignore[overload-overlap]
        self, texts: "Union[Text, Tuple[Text, Text]]", **options: "Unpack[EmbedOptions]"
    ) -> "TokenVectors": ...

    @overload
    def embed_tokens(
        self,
        texts: "Iterable[TextOrPair]",
        *,
        return_exceptions: "Literal[False]" = ...,
        **options: "Unpack[EmbedOptions]",
    ) -> "List[TokenVectors]": ...

    @overload
    def embed_tokens(
        self,
        texts: "Iterable[TextOrPair]",
        *,
        return_exceptions: bool,
        **options: "Unpack[EmbedOptions]",
    ) -> "List[Union[TokenVectors, BertQAError]]": ...

    def embed_tokens(
        self, texts: Any, *, return_exceptions: bool = False, **options: "Unpack[EmbedOptions]"
    ) -> Any:
        """Returns a list of TokenVectors, one for each of many texts, or the TokenVectors of one text.

        The vectors are those of the last layer, special tokens included, as in transformers. ColBERT projects them
        and scales them to length 1; prompt_name="query" reads the texts as queries, "document" or no name as
        documents. A sparse model (SPLADE) has weights of vocabulary pieces instead: TokenVectors.weights. The
        windows of a long text follow one another; truncate=True reads only the first.

        texts, options: as in embed.
        return_exceptions: False: the first text that fails ends the call, and the exception's `item` is its index.
            True: the list contains an exception instead of TokenVectors for each text that fails.
        """
        handle, lib = self._opened(), library()
        is_one = isinstance(texts, tuple) or is_text(texts)
        texts = [texts] if is_one else listed(texts)
        pairs = text_pairs(texts)
        call = embed_call(options)
        statuses = each_status(len(texts), return_exceptions and not is_one)
        with Results(len(texts), lib.token_vectors_free) as results:
            call.check(lib.embed_tokens(handle.pointer, pairs, len(texts), call.pointer, results, statuses))
            vectors = each_result(results, statuses, texts, lambda pointer, _: token_vectors(pointer))
        return vectors[0] if is_one else vectors


class FloatRows(Sequence["array[float]"]):
    """Rows of floats that NumPy and libraries based on it read without a copy."""

    def __init__(self, values: "ctypes.Array[ctypes.c_float]", shape: Tuple[int, int]):
        self.shape = shape
        self._values = values

    def __len__(self) -> int:
        return self.shape[0]

    def _key(self) -> Tuple[Any, ...]:
        return type(self), self.shape, bytes(self._values)

    def __eq__(self, other: object) -> bool:
        """True for rows of the same bits."""
        return self._key() == other._key() if isinstance(other, FloatRows) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __getstate__(self) -> Dict[str, Any]:
        """Pickles the floats as bytes: arrays of ctypes cannot be pickled."""
        return {**self.__dict__, "_values": bytes(self._values)}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._values = (ctypes.c_float * (self.shape[0] * self.shape[1])).from_buffer_copy(self._values)

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

    @property
    def __array_interface__(self) -> Dict[str, Any]:
        order = "<" if sys.byteorder == "little" else ">"
        return {
            "version": 3,
            "shape": self.shape,
            "typestr": f"{order}f4",
            "data": (ctypes.addressof(self._values), False),
        }


class Embeddings(FloatRows):
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
        super().__init__(values, shape)
        self.failures = failures

    def tolist(self) -> List[List[float]]:
        """Returns a list of floats for each text."""
        return [vector.tolist() for vector in self]

    def __repr__(self) -> str:
        return f"<Embeddings of {self.shape[0]} texts, {self.shape[1]} floats each>"


class TokenVectors(FloatRows):
    """Vectors of a text's tokens: vectors[i] is an array of the floats of token i.

    numpy.asarray(vectors) has the shape (tokens, floats) and does not copy.
    ids: the tokens' ids, special tokens included.
    """

    def __init__(self, ids: List[int], values: "ctypes.Array[ctypes.c_float]", shape: Tuple[int, int]):
        super().__init__(values, shape)
        self.ids = ids

    def _key(self) -> Tuple[Any, ...]:
        return (*super()._key(), tuple(self.ids))

    @property
    def weights(self) -> Dict[int, float]:
        """The weights of a sparse model (SPLADE) by vocabulary id."""
        if self.shape[1] != 1:
            raise ValueError(f"these are vectors of {self.shape[1]} floats, not weights")
        return dict(zip(self.ids, self._values))

    def max_sim(self, document: "TokenVectors") -> float:
        """Returns ColBERT's similarity of this query and a document: the sum, over the query's vectors, of the largest
        dot product with a document's vector."""
        if not isinstance(document, TokenVectors):
            raise TypeError(
                f"document must be TokenVectors, not {type(document).__name__}; of two arrays the similarity is "
                "(query @ document.T).max(axis=1).sum()"
            )
        if self.shape[1] == 1:
            raise InvalidArgument(
                "these are weights of a sparse model: their similarity is the sum of the products of equal pieces"
            )
        if self.shape[1] != document.shape[1]:
            raise InvalidArgument.of(
                "document",
                f"has vectors of {document.shape[1]} floats, but those of the query have {self.shape[1]}",
            )
        similarity = ctypes.c_float()
        check(
            library().max_sim(
                self._values, len(self), document._values, len(document), self.shape[1], ctypes.byref(similarity)
            )
        )
        return similarity.value

    def __repr__(self) -> str:
        return f"<TokenVectors of {self.shape[0]} tokens, {self.shape[1]} floats each>"


def token_vectors(pointer: Any) -> TokenVectors:
    """Returns a copy of the library's vectors."""
    lib = library()
    count, width = lib.token_vectors_count(pointer), lib.token_vectors_width(pointer)
    values = (ctypes.c_float * (count * width))()
    if values:
        ctypes.memmove(values, lib.token_vectors_values(pointer), ctypes.sizeof(values))
    return TokenVectors(lib.token_vectors_ids(pointer)[:count] if count else [], values, (count, width))


def embed_call(values: Any) -> Call:
    return Call(values, _abi.EmbedOptions(), choices={"pooling": POOLINGS})
