"""Vectors of a column of texts, as pyarrow has them."""

from typing import TYPE_CHECKING, Any

from ._context import Context

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import EmbedOptions


def vectors(context: Context, texts: Any, **options: "Unpack[EmbedOptions]") -> Any:
    """A FixedSizeListArray of float32, one list for each row of a pyarrow Array or ChunkedArray; a null for a null."""
    import pyarrow

    rows = texts.to_pylist()
    found = context.embed(["" if text is None else text for text in rows], **options)
    values = pyarrow.Array.from_buffers(
        pyarrow.float32(), found.shape[0] * found.shape[1], [None, pyarrow.py_buffer(found._values)]
    )
    mask = pyarrow.array([text is None for text in rows], pyarrow.bool_())
    return pyarrow.FixedSizeListArray.from_arrays(values, found.shape[1], mask=mask)
