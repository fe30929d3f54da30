"""One exception per status of the library."""


class BertQAError(Exception):
    """A call of libbertqa failed; `status` is its bertqa_status, the text its message."""

    status = 9

    def __init__(self, message: str, status: "int | None" = None):
        super().__init__(message)
        if status is not None:
            self.status = status


class InvalidArgument(BertQAError, ValueError):
    """An argument is outside what the library allows."""

    status = 1


class ModelIOError(BertQAError, OSError):
    """A file or directory is missing or cannot be read."""

    status = 2


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
    """A text or batch above the library's limits."""

    status = 8


BY_STATUS = {
    error.status: error
    for error in (
        InvalidArgument, ModelIOError, InvalidModel, Unsupported, WrongModel, OutOfMemory, Cancelled, TooLarge
    )
}
