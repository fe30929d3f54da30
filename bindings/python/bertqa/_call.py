"""One call of the library: its options from keyword arguments, and the Python code that runs during it.

The library calls back in two ways, and no exception may pass through it:

- The caller's code (cancel, progress, on_word) runs in a generator, whose `send` is the callback. The generator
  stores exceptions for `Call.check`. Python runs pending signal handlers when it enters Python code. At the start
  of a function this would be outside its `try`, whereas a generator resumes inside it.
- Values that are only recorded (progress, log) are recorded by Python's own C code, such as list.append, so that
  no Python code runs. The next poll reports the progress to the caller.

Calls on the main thread have such a generator even without a callback, so that Python handles Ctrl-C and other
signals within about 10 ms, the time between two polls.
"""

import ctypes
import functools
import operator
import threading
from array import array
from types import GeneratorType
from typing import Any, Callable, Dict, Generator, Iterable, List, Mapping, Optional, Sequence, Tuple

from . import _abi
from ._abi_types import Options, Switch, pointer_to
from ._errors import InvalidArgument
from ._native import check, library
from ._text import is_text, text_array, text_list

#: The options of every call.
COMMON = ("cancel", "progress", "timeout", "max_bytes", "max_document_tokens")
#: Fields that are not options by themselves.
_INTERNAL = (
    "struct_size", "call", "reserved", "on_word", "on_word_user", "use_no_answer_threshold", "label_count",
    "ignore_label_count", "thresholds", "region_count", "default_model", "log", "log_user",
)  # fmt: skip
_NO_CHOICES: Mapping[str, Sequence[str]] = {}
_NO_ZEROS: Mapping[str, int] = {}
_NO_LISTS: Mapping[str, str] = {}

#: progress(user, stage, fraction): user[stage] = fraction.
ON_PROGRESS = _abi.PROGRESS(operator.setitem)
#: log(user, message): user.append(message).
ON_LOG = _abi.LOG(list.append)
#: on_word(user, word): user.send(word), where user is a generator.
ON_WORD = _abi.WORD(GeneratorType.send)


class Call:
    """values: the caller's keyword arguments; None selects the default.

    struct: the task's options, if it has any.
    choices: the names of each enumeration's values, in the order of their numbers.
    zeros: the options for which 0 is a value, with the library's number for it, since its 0 is the default.
    lists: the options that are lists of texts, each with the field for its length.
    """

    def __init__(
        self,
        values: Mapping[str, Any],
        struct: Optional[Options] = None,
        *,
        choices: Mapping[str, Sequence[str]] = _NO_CHOICES,
        zeros: Mapping[str, int] = _NO_ZEROS,
        lists: Mapping[str, str] = _NO_LISTS,
    ):
        self.common, self.struct = _abi.CallOptions(), struct
        self.errors: List[BaseException] = []
        self._stages: Dict[bytes, float] = {}
        self._progress = function(values.get("progress"), "progress")
        self._set_common(function(values.get("cancel"), "cancel"), values)
        kind: Any = type(struct)
        kinds = _kinds(kind)
        for name, value in values.items():
            if name not in kinds and name not in COMMON:
                raise TypeError(f"unknown option {name!r}; known: {', '.join([*kinds, *COMMON])}")
            if struct is None or name not in kinds or value is None:
                continue
            if name in lists:
                _set_list(struct, name, lists[name], value)
            elif getattr(kinds[name], "_type_", None) is _abi.Text:
                if not is_text(value):
                    raise TypeError(f"{name} is {value!r:.80}, but must be a text")
                setattr(struct, name, text_array([value]))
            else:
                setattr(struct, name, _number(name, kinds[name], value, choices, zeros))
                if name == "no_answer_threshold":
                    struct.use_no_answer_threshold = 1
        if struct is not None and hasattr(type(struct), "call"):
            struct.call = pointer_to(self.common)

    def _set_common(self, cancel: Optional[Callable[[], Any]], values: Mapping[str, Any]) -> None:
        common, timeout = self.common, values.get("timeout")
        is_main = threading.get_ident() == threading.main_thread().ident
        if is_main or cancel is not None or self._progress is not None:
            common.user = self._stages
            # A method would create a reference cycle for the garbage collector.
            poll = functools.partial(_poll, cancel, self._progress, self._stages)
            common.cancel = _abi.CANCEL(guarded(poll, self.errors).send)
        if self._progress is not None:
            common.progress = ON_PROGRESS
        if timeout is not None:
            nanoseconds = min(seconds(timeout, "timeout") * 1e9, 2.0**63)
            common.deadline_ns = library().deadline_after(int(nanoseconds))
        for name in "max_bytes", "max_document_tokens":
            value = values.get(name)
            if value is not None:
                setattr(common, name, _number(name, ctypes.c_uint64, value, _NO_CHOICES, _NO_ZEROS))

    @property
    def pointer(self) -> Any:
        return ctypes.byref(self.struct) if self.struct is not None else self.common_pointer

    @property
    def common_pointer(self) -> Any:
        return ctypes.byref(self.common)

    def check(self, status: int) -> None:
        """Raises the exception of a callback, else the one of the status."""
        if self.errors:
            raise self.errors.pop(0)
        check(status)
        _tell(self._progress, self._stages)


def _poll(
    cancel: Optional[Callable[[], Any]],
    progress: Optional[Callable[[str, float], Any]],
    stages: Dict[bytes, float],
    _user: Any,
) -> Any:
    _tell(progress, stages)
    return cancel is not None and cancel()


def _tell(progress: Optional[Callable[[str, float], Any]], stages: Dict[bytes, float]) -> None:
    """Reports the recorded progress to the caller, by stage."""
    while progress is not None and stages:
        stage = next(iter(stages))
        progress(stage.decode(), stages.pop(stage))


def guarded(call: Callable[[Any], Any], errors: List[BaseException]) -> "Generator[int, Any, None]":
    """Returns a generator whose `send` is the callback for `call`. True and false become 1 and 0.

    Exceptions, even of signal handlers, are stored in `errors`. After one the result is always 1.
    """

    def calls() -> "Generator[int, Any, None]":
        result = 0
        while True:
            try:
                # A signal may come where a loop begins again, so this one is inside.
                while True:
                    try:
                        argument = yield result
                    except GeneratorExit:
                        return
                    result = 1 if errors else int(bool(call(argument)))
            except BaseException as error:  # including KeyboardInterrupt
                errors.append(error)
                result = 1

    generator = calls()
    next(generator)
    return generator


def index(names: Sequence[str], name: str, what: str) -> int:
    """Returns the number of an enumeration's value."""
    if not isinstance(name, str) or name not in names:
        raise InvalidArgument.of(what, f"is {name!r:.80}, but must be one of {', '.join(names)}")
    return names.index(name)


def integer(value: Any, name: str) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r:.80}, but must be an integer") from None


def real(value: Any, name: str) -> float:
    try:
        return ctypes.c_double(value).value
    except TypeError:
        raise TypeError(f"{name} is {value!r:.80}, but must be a number") from None
    except OverflowError:
        raise InvalidArgument.of(name, f"is {value!r:.80}, which is too large") from None


def seconds(value: Any, name: str) -> float:
    number = real(value, name)
    if not number >= 0:  # or NaN
        raise InvalidArgument.of(name, f"is {value!r}, but must be at least 0 seconds")
    return number


def int32(value: Any, name: str) -> int:
    """Returns `value` if it fits; ctypes would silently truncate it to 32 bits."""
    number = integer(value, name)
    if not -(2**31) <= number < 2**31:
        raise InvalidArgument.of(name, f"is {number}, which does not fit in 32 bits")
    return number


def switch(value: Any, name: str) -> int:
    """Returns a bertqa_switch; None is its default."""
    if value is None:
        return 0
    if value not in (True, False):
        raise InvalidArgument.of(name, f"is {value!r}, but must be True or False")
    return 1 if value else -1


def function(value: Any, name: str) -> Optional[Callable[..., Any]]:
    if value is not None and not callable(value):
        raise TypeError(f"{name} must be a function, not {type(value).__name__}")
    return value  # type: ignore[no-any-return]


@functools.lru_cache(maxsize=None)
def _kinds(struct: Any) -> Dict[str, Any]:
    fields: Sequence[Tuple[Any, ...]] = getattr(struct, "_fields_", ())
    return {field[0]: field[1] for field in fields if field[0] not in _INTERNAL}


def _set_list(struct: Options, name: str, count: str, values: Any) -> None:
    if is_text(values):
        raise TypeError(f"{name} must be a list: pass [text]")
    values = text_list(values, name)
    setattr(struct, name, text_array(values or [""]))  # NULL would be the default
    setattr(struct, count, len(values))


def _number(
    name: str, kind: Any, value: Any, choices: Mapping[str, Sequence[str]], zeros: Mapping[str, int]
) -> Any:
    """Converts an option to the library's form, in which 0 is the default."""
    if name in choices:
        return index(choices[name], value, name)
    if kind is Switch:
        return switch(value, name)
    if kind is ctypes.c_int32:
        value = int32(value, name)
    elif kind is ctypes.c_uint64:
        value = integer(value, name)
        if not 0 <= value < 2**64:
            raise InvalidArgument.of(name, f"is {value}, but must be 0 to 2**64 - 1")
    elif kind in (ctypes.c_float, ctypes.c_double):
        value = real(value, name)
    if zeros.get(name) == value == -1:
        raise InvalidArgument.of(name, "is -1, but must be at least 0")
    if value == 0:
        if name not in zeros:
            raise InvalidArgument.of(name, f"is {value}, which is outside of its range; pass None for the default")
        value = zeros[name]
    return value


def numbers(values: Iterable[Any], typecode: str, name: str, what: str) -> "array[Any]":
    """Returns the numbers of an argument as an array. what: the argument, for messages."""
    try:
        # Of an iterator: of bytes themselves, an array takes each group of four as one number.
        return array(typecode, iter(values))
    except TypeError as error:
        raise TypeError(f"{name} is {values!r:.80}, but must be {what}: {error}") from None
    except OverflowError as error:
        raise InvalidArgument.of(name, f"is {values!r:.80}, which has a number out of range: {error}") from None
