"""One exception per status of the library."""

import errno
import os
from typing import Dict, Optional, Tuple, Type


class BertQAError(Exception):
    """A call of libbertqa failed. The text is the library's message.

    status: its bertqa_status.
    item: the index of the text, pair or row at fault in a batch, or None.
    argument: the option or argument at fault, such as "top_k", or None.
    """

    status = 9
    item: Optional[int] = None
    argument: Optional[str] = None

    def __init__(
        self,
        message: str,
        status: Optional[int] = None,
        item: Optional[int] = None,
        argument: Optional[str] = None,
    ):
        super().__init__(message)
        if status is not None:
            self.status = status
        self.item, self.argument = item, argument


class InvalidArgument(BertQAError, ValueError):
    """An argument is outside what the library allows."""

    status = 1


class ModelIOError(BertQAError, OSError):
    """A file or directory cannot be read or written.

    filename, errno: the file's, and why, as the message says them; None where it does not.
    """

    status = 2

    def __init__(
        self,
        message: str,
        status: Optional[int] = None,
        item: Optional[int] = None,
        argument: Optional[str] = None,
    ):
        super().__init__(message, status, item, argument)
        # The library's form: "FILE: cannot ACTION: REASON"
        filename, found, rest = message.rpartition(": cannot ")
        reason = rest.rpartition(": ")[2]
        number = next((number for number in errno.errorcode if os.strerror(number) == reason), None)
        if found and number is not None:
            self.filename, self.errno = filename, number

    def __str__(self) -> str:
        return str(self.args[0])


class ModelNotFoundError(ModelIOError, FileNotFoundError):
    """A file or directory is missing."""


class InvalidModel(BertQAError, ValueError):
    """A model file is truncated, hostile or contradicts itself."""

    status = 3


class Unsupported(BertQAError):
    """A valid model or option that this version, or this CPU, does not support."""

    status = 4


class WrongModel(BertQAError):
    """The context's model cannot do what was asked."""

    status = 5


class OutOfMemory(BertQAError, MemoryError):
    """Memory or another system resource ran out."""

    status = 6


class Cancelled(BertQAError):
    """`cancel` asked to stop."""

    status = 7


class TooLarge(BertQAError, ValueError):
    """A text, a batch or the need of memory is above the limits."""

    status = 8


class DeadlineExceeded(BertQAError, TimeoutError):
    """The call took longer than its `timeout`."""

    status = 10


_EACH: Tuple[Type[BertQAError], ...] = (
    InvalidArgument,
    ModelIOError,
    InvalidModel,
    Unsupported,
    WrongModel,
    OutOfMemory,
    Cancelled,
    TooLarge,
    DeadlineExceeded,
)

BY_STATUS: Dict[int, Type[BertQAError]] = {error.status: error for error in _EACH}
