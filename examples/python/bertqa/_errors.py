"""One exception per status of the library."""


class BertQAError(Exception):
    """A call of libbertqa failed; `status` is its bertqa_status, the text its message."""

    status = 9

    def __init__(self, message: str, status: "int | None" = None):
        super().__init__(message)
        if status is not None:
            self.status = status


class InvalidArgument(BertQAError, ValueError):
    status = 1


class ModelIOError(BertQAError, OSError):
    status = 2


class InvalidModel(BertQAError, ValueError):
    status = 3


class Unsupported(BertQAError):
    status = 4


class WrongModel(BertQAError):
    status = 5


class OutOfMemory(BertQAError, MemoryError):
    status = 6


class Cancelled(BertQAError):
    status = 7


class TooLarge(BertQAError, ValueError):
    status = 8


BY_STATUS = {
    error.status: error
    for error in (
        InvalidArgument, ModelIOError, InvalidModel, Unsupported, WrongModel, OutOfMemory, Cancelled, TooLarge
    )
}
