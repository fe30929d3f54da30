"""Process-wide functions: the library's threads, and the int8 form of models."""

import ctypes
import os
from typing import TYPE_CHECKING, Optional, Union

from . import _abi
from ._call import Call, int32
from ._native import check, library
from ._text import path_bytes
from ._training_results import QuantizeReport

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import CallOptions


def set_threads(threads: int) -> None:
    """Sets the maximum number of threads that work at the same time in this process, including callers: 1...1024, or 0
    (the initial value) for the number of CPUs available to the process. Contexts loaded later use it as their
    default."""
    check(library().pool_set_threads(int32(threads, "threads")))


def start_threads() -> None:
    """Starts the library's threads now instead of with the first call that needs them."""
    check(library().pool_start())


def stop_threads() -> None:
    """Ends the library's threads and waits for them. The next call that needs them starts them again.

    Forked children can use the library in any case. os.fork of Python 3.12 and later warns of other threads."""
    check(library().pool_shutdown())


def quantize(
    directory: "Union[str, os.PathLike[str]]",
    output: "Union[str, os.PathLike[str]]",
    *,
    no_answer_threshold: Optional[float] = None,
    **options: "Unpack[CallOptions]",
) -> QuantizeReport:
    """Writes the int8 form of an encoder: a quarter of the size, and faster.

    directory: the model, F32, F16 or BF16. output: a directory that does not exist or is empty.
    no_answer_threshold: of the new model, which must answer questions; any number; default: the model's own.
    options: see help(bertqa.CallOptions).
    """
    call = Call(
        {**options, "no_answer_threshold": no_answer_threshold},
        _abi.QuantizeOptions(),
        zeros={"no_answer_threshold": 0},
    )
    report = _abi.QuantizeReport()
    paths = path_bytes(directory, "directory"), path_bytes(output, "output")
    call.check(library().quantize(*paths, call.pointer, ctypes.byref(report)))
    return QuantizeReport(*(getattr(report, field[0]) for field in report._fields_[1:]))
