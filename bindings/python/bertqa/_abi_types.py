"""The base classes of the structs in _abi.py."""

from ctypes import Structure, c_int32, sizeof
from typing import Any


class Switch(c_int32):
    """bertqa_switch: 1 on, -1 off, 0 the field's default."""


class Options(Structure):
    """A struct whose size the caller sets; zeros are the defaults."""

    def __init__(self, **fields: Any):
        super().__init__(struct_size=sizeof(self), **fields)
