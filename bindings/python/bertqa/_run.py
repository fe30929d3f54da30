"""Several library calls that form one: their remaining time and their total progress."""

import time
from typing import Any, Dict, Iterator, Mapping, Optional

from ._call import function, seconds
from ._errors import Cancelled, DeadlineExceeded


def repeatable(options: Mapping[str, Any]) -> Dict[str, Any]:
    """Returns the options of several calls, with lists instead of iterators, of which only the first call would see the
    elements."""
    return {name: list(value) if isinstance(value, Iterator) else value for name, value in options.items()}


class Run:
    """Provides the options for each part. Parts run one after another.

    total: the number of items of all parts; if it is None, progress is that of each part.
    stage: the name of the stage in progress reports.
    """

    def __init__(self, options: Any, total: Optional[int], stage: str):
        self._options = repeatable(options)
        self._progress = function(self._options.get("progress"), "progress")
        timeout = self._options.get("timeout")
        self._deadline = None if timeout is None else time.monotonic() + seconds(timeout, "timeout")
        self._total, self._stage = total, stage
        self._told = -1.0
        self.first = self._count = 0

    def options(self) -> Dict[str, Any]:
        """Returns the options for the next call."""
        found = dict(self._options)
        if self._progress is not None and self._total is not None:
            found["progress"] = lambda stage, fraction: self._tell(fraction * self._count)
        if self._deadline is not None:
            found["timeout"] = max(0.0, self._deadline - time.monotonic())
        return found

    def check(self) -> None:
        """Raises what a call of the library would raise now."""
        cancel = self._options.get("cancel")
        if cancel is not None and cancel():
            raise Cancelled("cancelled by the caller's hook")
        if self._deadline is not None and time.monotonic() >= self._deadline:
            raise DeadlineExceeded("the call's deadline has passed")

    def begin(self, count: int) -> None:
        self._count = count

    def end(self) -> None:
        self.first += self._count
        self._count = 0
        if self._progress is not None and self._total is not None:
            self._tell(0)

    def _tell(self, done: float) -> None:
        fraction = min(1.0, (self.first + done) / self._total) if self._total else 1.0
        if fraction > self._told and self._progress is not None:
            self._told = fraction
            self._progress(self._stage, fraction)
