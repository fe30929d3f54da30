"""Objects of the library that Python owns."""

import ctypes
from typing import TYPE_CHECKING, Any, Callable, Optional

if TYPE_CHECKING:
    from typing_extensions import Self


class Handle:
    """An object of the library, freed with the last reference, after the last call that uses it."""

    def __init__(self, pointer: ctypes.c_void_p, free: Callable[[Any], None], kept: Any = None):
        """kept: objects to keep alive as long as the handle."""
        self._pointer: Optional[ctypes.c_void_p] = pointer
        self._free, self._kept = free, kept

    @property
    def pointer(self) -> ctypes.c_void_p:
        """Raises ValueError once the object is freed."""
        if self._pointer is None:
            raise ValueError("this object was closed by the garbage collector")
        return self._pointer

    def __reduce__(self) -> Any:
        raise TypeError(
            "this object holds memory of the library and cannot be pickled or deep-copied: make it anew"
        )

    def __del__(self) -> None:
        # The garbage collector finalizes the objects of a cycle in any order: one after this may still use it.
        pointer, self._pointer = self._pointer, None
        self._free(pointer)


class Closable:
    """Closing drops this reference to the handle. Calls on other threads hold their own."""

    _handle: Optional[Handle] = None

    def _opened(self) -> Handle:
        handle = self._handle
        if handle is None:
            raise ValueError(f"this {type(self).__name__} was closed")
        return handle

    def close(self) -> None:
        """Frees the object as soon as no call uses it. Closing twice has no effect."""
        self._handle = None

    def __enter__(self) -> "Self":
        self._opened()
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()


class Results:
    """Pointers that one call fills. They are freed at the end of the block."""

    def __init__(self, count: int, free: Callable[[Any], None]):
        self._pointers, self._free = (ctypes.c_void_p * count)(), free

    def __enter__(self) -> Any:
        return self._pointers

    def __exit__(self, *exception: Any) -> None:
        for pointer in self._pointers:
            self._free(pointer)
