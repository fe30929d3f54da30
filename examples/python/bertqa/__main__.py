"""python -m bertqa: the command-line tool of the same installation, or of the PATH."""

import os
import pathlib
import shutil
import sys

from ._native import path


def tool() -> "str | None":
    """Beside the library, as `make install` lays them out, else in the PATH."""
    beside = pathlib.Path(path()).resolve().parents
    places = [parent / "bin" / "bertqa" for parent in beside[1:3]]
    return next((str(file) for file in places if os.access(file, os.X_OK)), shutil.which("bertqa"))


def main() -> None:
    """Becomes the tool."""
    program = tool()
    if program is None:
        sys.exit(
            "python -m bertqa: the bertqa tool is not installed; it comes with the Debian package and with "
            "`make install`. This package is used from Python: help(bertqa)"
        )
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    main()
