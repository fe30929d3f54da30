"""The library, loaded on first use, and its statuses as exceptions.

ctypes.CDLL releases the GIL around every call.
"""

import ctypes
import errno
import functools
import os
import pathlib
from typing import Any, Dict, Iterable

from ._abi import ABI_VERSION, FUNCTIONS
from ._errors import BY_STATUS, BertQAError, ModelIOError, ModelNotFoundError

NO_ITEM = ctypes.c_size_t(-1).value


def path() -> str:
    """Returns the library's path: named, packaged, staged in this checkout, or found by the loader."""
    here = pathlib.Path(__file__).resolve().parent
    named = os.environ.get("BERTQA_LIBRARY")
    if named:
        return named
    files = [here / "lib" / "libbertqa.so.1"]
    if len(here.parents) > 2:
        files.append(here.parents[2] / "build" / "lib" / "libbertqa.so.1")
    return next((str(file) for file in files if file.exists()), "libbertqa.so.1")


@functools.lru_cache(maxsize=None)
def library() -> Any:
    """Returns the library with typed functions as attributes without their prefix."""
    file = path()
    try:
        loaded = ctypes.CDLL(file)
    except OSError as error:
        raise ImportError(
            f"cannot load libbertqa ({error}); run `make` in the checkout, install the library, or set "
            "BERTQA_LIBRARY to its path"
        ) from error
    functions: Any = type("Library", (), {})()
    try:
        found = loaded.bertqa_abi_version()
        if found != ABI_VERSION:
            raise ImportError(f"{file} has ABI version {found}; this package needs {ABI_VERSION}")
        for name, (result, parameters) in FUNCTIONS.items():
            function = getattr(loaded, "bertqa_" + name)
            function.restype, function.argtypes = result, parameters
            setattr(functions, name, function)
    except AttributeError as error:
        raise ImportError(f"{file} is not libbertqa, or one older than this package: {error}") from error
    return functions


def check(status: int) -> None:
    """Raises an exception if the status is not OK."""
    if status != 0:
        raise failure(status)


def failure(status: int) -> BertQAError:
    """Returns the exception of the last failed call on this thread."""
    lib = library()
    message = lib.last_error().decode("utf-8", "replace")
    item = lib.last_error_item()
    kind = BY_STATUS.get(status, BertQAError)
    argument = lib.last_error_argument().decode("utf-8", "replace")
    arguments = message, status, None if item == NO_ITEM else item, argument or None
    error = kind(*arguments)
    # The status only says that input or output failed.
    if isinstance(error, ModelIOError) and error.errno == errno.ENOENT:
        return ModelNotFoundError(*arguments)
    return error


def failures(statuses: Iterable[int]) -> Dict[int, BertQAError]:
    """Returns the exceptions of a batch's failed items by index. The library has only the first one's message."""
    found: Dict[int, BertQAError] = {}
    for item, status in enumerate(statuses):
        if status == 0:
            continue
        if not found:
            found[item] = failure(status)
        else:
            name = library().status_name(status).decode()
            message = f"item {item} failed with {name}; a call with it alone says why"
            found[item] = BY_STATUS.get(status, BertQAError)(message, status, item)
    return found


def text_at(pointer: Any, length: int) -> str:
    """Returns a string of the library, which may contain NULs; U+FFFD replaces invalid UTF-8."""
    return ctypes.string_at(pointer, length).decode("utf-8", "replace")


def version() -> str:
    """Returns the version of the library."""
    return str(library().version().decode())


def abi_version() -> int:
    """Returns the ABI version, which is the number in the SONAME."""
    return int(library().abi_version())
