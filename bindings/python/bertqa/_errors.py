"""One exception per status of the library."""

import errno
import os
import re
from typing import Dict, Optional, Tuple, Type


class BertQAError(Exception):
    """A call of libbertqa failed. The text is the library's message.

    status: the call's bertqa_status.
    item: the index of the text, pair, row or document at fault, or None.
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

    def _move(self, item: int) -> None:
        """Changes the index of what is at fault, with which messages begin: "texts[3]: ..."."""
        self.item = item
        self.args = (re.sub(r"^(\w+)\[\d+\]", rf"\1[{item}]", self.args[0]), *self.args[1:])


class InvalidArgument(BertQAError, ValueError):
    """An argument is outside its allowed range."""

    status = 1

    @classmethod
    def of(cls, name: str, problem: str) -> "InvalidArgument":
        """name: the argument as the message begins, also with what is at fault in it: "windows[3]"."""
        return cls(f"{name} {problem}", argument=re.split(r"\W", name)[0])


class ModelIOError(BertQAError, OSError):
    """A file or directory cannot be read or written.

    filename, errno: the file and the reason, if the message contains them; otherwise None.
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
        # The library's message format: "FILE: cannot ACTION: REASON"
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
    """A model file is truncated, malicious or inconsistent."""

    status = 3


class Unsupported(BertQAError):
    """The model or option is valid, but this version or this CPU does not support it."""

    status = 4


class WrongModel(BertQAError):
    """The context's model does not support the requested task."""

    status = 5


class OutOfMemory(BertQAError, MemoryError):
    """Memory or another system resource ran out."""

    status = 6


class Cancelled(BertQAError):
    """`cancel` returned true."""

    status = 7


class TooLarge(BertQAError, ValueError):
    """A text, a batch or the required memory exceeds a limit."""

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
