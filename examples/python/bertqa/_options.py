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
                value = CANCEL(guarded(lambda _, cancel=value: cancel(), self._errors).send)
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


def guarded(call: Callable[[Any], Any], errors: List[BaseException]) -> Generator[int, Any, None]:
    """A generator whose `send` is `call` as a callback for the library, true or false as 1 or 0. An exception cannot
    pass through C: it is kept in `errors`, and gives 1.

    Signals that came in during the call are handled where Python code begins to run. That would be outside
    of a function's `try`, but it is inside of this generator's: it stands at its `yield`.
    """

    def calls() -> Generator[int, Any, None]:
        result = 0
        while True:
            try:
                argument = yield result
                result = int(bool(call(argument)))
            except GeneratorExit:
                return
            except BaseException as error:  # KeyboardInterrupt included
                errors.append(error)
                result = 1

    generator = calls()
    next(generator)
    return generator


def index(names: Sequence[str], name: str, what: str) -> int:
    if name not in names:
        raise InvalidArgument(f"{what} is {name!r}, but must be one of {', '.join(names)}")
    return names.index(name)
