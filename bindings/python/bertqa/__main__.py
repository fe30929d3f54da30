"""The command-line tool, as python -m bertqa and as the wheel's command bertqa."""

import os
import pathlib
import signal
import stat
import sys
from typing import Iterator, Optional

from ._native import path


def tool() -> Optional[str]:
    """Returns the tool in the package or installed with the library, else the first in the PATH."""
    return next((str(file) for file in _places() if _is_program(file)), None)


def _places() -> Iterator[pathlib.Path]:
    library = pathlib.Path(path()).resolve()
    yield library.parent / "bertqa"  # the wheel's layout
    for parent in library.parents[1:3]:
        yield parent / "bin" / "bertqa"  # the layout of `make install`, with lib/ or lib/ARCHITECTURE/
    yield pathlib.Path(__file__).resolve().parent / "lib" / "bertqa"
    for directory in os.get_exec_path():
        yield pathlib.Path(directory) / "bertqa"


def _is_program(file: pathlib.Path) -> bool:
    """True if the file can be run. The wheel's own script in the PATH, which calls this module, does not count."""
    try:
        with open(file, "rb") as content:
            if content.read(4) != b"\x7fELF":
                return False
        if not os.access(file, os.X_OK):
            # Some programs that unpack wheels or archives lose the executable bit.
            os.chmod(file, stat.S_IMODE(os.stat(file).st_mode) | 0o111)
    except OSError:
        return False
    return True


def main() -> None:
    """Replaces this process with the tool."""
    program = tool()
    if program is None:
        sys.exit(
            "python -m bertqa: the bertqa tool is not installed; it comes with the wheel, with the Debian package and "
            "with `make install`. This package is used from Python: help(bertqa)"
        )
    # Python ignores SIGPIPE, and the tool would inherit that.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    main()
