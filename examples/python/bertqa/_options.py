"""The options of one call, from Python's keyword arguments."""

import ctypes
from typing import Any, Callable, Dict, Generator, List, Sequence

from ._errors import InvalidArgument
from ._native import CANCEL, check, initialized, int32


class CallOptions:
    """An options struct filled from keyword arguments; keeps what `cancel` raises.

    choices: names of the values of options that are enumerations, in the order of their numbers.
    """

    def __init__(
        self, struct: ctypes.Structure, init: Any, values: Dict[str, Any], **choices: Sequence[str]
    ):
        self.struct = initialized(struct, init)
        self._errors: List[BaseException] = []
        kinds = {field[0]: field[1] for field in struct._fields_[1:] if not field[0].endswith("_user")}
        for name, value in values.items():
            if name not in kinds:
                raise TypeError(f"unknown option {name!r}; known: {', '.join(kinds)}")
            if value is None:
                continue
            if kinds[name] is CANCEL:
                value = CANCEL(_poll(value, self._errors))
            elif name in choices:
                value = index(choices[name], value, name)
            elif kinds[name] is ctypes.c_int32:
                value = int32(value, name)
            setattr(self.struct, name, value)

    @property
    def pointer(self) -> Any:
        return ctypes.byref(self.struct)

    def check(self, status: int) -> None:
        """Raises what `cancel` has raised, else the exception of the status."""
        if self._errors:
            raise self._errors[0]
        check(status)


def _poll(cancel: Callable[[], Any], errors: List[BaseException]) -> Any:
    """`cancel` as a callback for the library. An exception cannot pass through C: it is kept in `errors`.

    Signals that came in during the call are handled where Python code begins to run. That would be outside
    of a function's `try`, but it is inside of this generator's: it stands at its `yield`.
    """

    def polls() -> Generator[int, Any, None]:
        result = 0
        while True:
            try:
                yield result
                result = int(bool(cancel()))
            except GeneratorExit:
                return
            except BaseException as error:  # KeyboardInterrupt included
                errors.append(error)
                result = 1

    generator = polls()
    next(generator)
    return generator.send


def index(names: Sequence[str], name: str, what: str) -> int:
    if name not in names:
        raise InvalidArgument(f"{what} is {name!r}, but must be one of {', '.join(names)}")
    return names.index(name)
