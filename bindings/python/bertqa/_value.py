"""Common features of all results: a one-line repr and a hash."""

import reprlib
from dataclasses import fields
from typing import Any, Tuple, TypeVar, Union

Text = Union[str, bytes]
T = TypeVar("T", bound=Text)

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 60
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxarray = 4
_WIDTH = 1000


class Value:
    """The base of the dataclasses of results."""

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        # @dataclass keeps the methods that the class itself has. The generated hash would fail for lists, and by the
        # generated comparison an object with a NaN would differ from its copy.
        cls.__eq__, cls.__hash__ = Value.__eq__, Value.__hash__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        values = (f"{field.name}={_brief(getattr(self, field.name))}" for field in fields(self))  # type: ignore[arg-type]
        text = f"{type(self).__name__}({', '.join(values)})"
        return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 4]}...)"

    def __eq__(self, other: object) -> bool:
        """True if all values are equal; a NaN equals a NaN."""
        if type(self) is not type(other):
            return NotImplemented
        return self is other or _values(self) == _values(other)

    def __hash__(self) -> int:
        """Hashes the values, also those in lists and dicts. Equal objects have equal hashes while these do not change."""
        return hash((type(self), _values(self)))


def _values(value: Any) -> Tuple[Any, ...]:
    return tuple(_fixed(getattr(value, field.name)) for field in fields(value))


def _brief(value: object) -> str:
    if isinstance(value, list) and value and isinstance(value[0], Value):
        return f"[{value[0]!r}{', ...' if len(value) > 1 else ''}]"
    return repr(value) if isinstance(value, Value) else _SHORT.repr(value)


def _fixed(value: Any) -> Any:
    """Returns a hashable form of a field: tuples instead of lists and arrays, sets instead of dicts, ... instead of
    NaN."""
    if isinstance(value, float) and value != value:
        return ...
    if isinstance(value, list):
        return tuple(map(_fixed, value))
    if isinstance(value, dict):
        return frozenset((key, _fixed(item)) for key, item in value.items())
    return tuple(value) if hasattr(value, "typecode") else value
