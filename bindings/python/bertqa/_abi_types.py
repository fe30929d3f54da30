"""The base classes of the structs in _abi.py."""

from ctypes import Structure, c_int32, sizeof
from typing import Any


class Switch(c_int32):
    """bertqa_switch: 1 on, -1 off, 0 the field's default."""


class Options(Structure):
    """A struct whose size the caller sets; zeros are the defaults."""

    def __init__(self, **fields: Any):
        super().__init__(struct_size=sizeof(self), **fields)


def pointer_to(struct: Structure) -> Any:
    """Returns a value for a field that points to the struct. It is an array of one, whose type depends only on the
    struct's. ctypes.pointer may return another type than the field's: until Python 3.12, all sub-interpreters share
    the cache of these types, and each import of ctypes empties it."""
    return (type(struct) * 1).from_buffer(struct)
