"""Checks the Arrow structs of a column of texts before its rows are read, as the library checks them.

Arrow's structs do not contain the lengths of most buffers, so these cannot be checked.
"""

from typing import Tuple

from ._arrow import ArrowArray, ArrowSchema, Chunk
from ._errors import InvalidArgument

#: Arrow's types of texts and bytes, and of columns of nulls.
TEXT_TYPES = ("u", "U", "vu", "z", "Z", "vz", "n")
_INDEX_TYPES = ("c", "C", "s", "S", "i", "I", "l", "L")
#: The most rows of 16 bytes that fit in the 2^56 bytes of the largest address space.
_MOST_OFFSET = 1 << 52


def check_layout(chunk: Chunk, name: str) -> None:
    """Rejects structs of another type than texts, and structs that contradict themselves.

    name: the argument that the column is.
    """
    array, schema = chunk.array, chunk.schema
    if not array.release or not schema.release:
        raise InvalidArgument.of(name, "was released before the call")
    if bool(schema.dictionary) != bool(array.dictionary):
        raise InvalidArgument.of(name, "has a dictionary in only one of its structs")
    if schema.dictionary:
        _check(array, schema, name, _INDEX_TYPES)
        array, schema = array.dictionary.contents, schema.dictionary.contents
    if schema.dictionary or array.dictionary:
        raise InvalidArgument.of(
            name, "has a dictionary of a dictionary; cast it to utf8, large_utf8 or utf8_view"
        )
    _check(array, schema, name, TEXT_TYPES)


def _check(array: ArrowArray, schema: ArrowSchema, name: str, types: Tuple[str, ...]) -> None:
    kind = (schema.format or b"").decode("utf-8", "replace")
    if kind not in types:
        raise InvalidArgument.of(name, f'is of Arrow type "{kind}"; cast it to utf8, large_utf8 or utf8_view')
    if array.length < 0 or not 0 <= array.offset <= _MOST_OFFSET:
        raise InvalidArgument.of(name, f"has {array.length} rows from {array.offset} on")
    if not -1 <= array.null_count <= array.length:
        raise InvalidArgument.of(name, f"has {array.null_count} nulls in {array.length} rows")
    if array.n_children or schema.n_children:
        raise InvalidArgument.of(name, "has children")
    if kind == "n" or array.length == 0:
        return
    needed = 2 if types is _INDEX_TYPES else 3
    has_needed = array.n_buffers >= needed if kind in ("vu", "vz") else array.n_buffers == needed
    if not has_needed or not array.buffers or not array.buffers[1]:
        raise InvalidArgument.of(name, "does not have the buffers of its type")
    # The last buffer of views contains the lengths of the data buffers.
    if array.n_buffers > 3 and not array.buffers[array.n_buffers - 1]:
        raise InvalidArgument.of(name, "does not have the buffer of its buffers' lengths")
    if array.null_count > 0 and not array.buffers[0]:
        raise InvalidArgument.of(name, f"has {array.null_count} nulls, but no buffer that says which")
