"""python -m bertqa.demo: prints the page's address and serves the page until Ctrl-C."""

import argparse
import itertools
import os
import pathlib
import re
import signal
import sqlite3
import sys
import threading
import webbrowser
from typing import List, NoReturn, Optional, Tuple, Union

from .._collection import Collection
from .._errors import BertQAError
from ._server import Server
from ._tasks import LARGEST, Tasks

#: What SQLite's databases begin with.
DATABASE = b"SQLite format 3\0"


def main(arguments: Optional[List[str]] = None) -> int:
    parser = _Parser(prog="python -m bertqa.demo", description=(__doc__ or "").partition(": ")[2])
    parser.add_argument(
        "files", metavar="FILE", nargs="*", help="a text in UTF-8, or a collection, to ask; -: standard input"
    )
    parser.add_argument(
        "--texts", metavar="FD,...", type=_descriptors, default=[],
        help="descriptors of the FILEs' texts, for a program that has read them; -: the FILE is read",
    )  # fmt: skip
    parser.add_argument("--port", type=_port, default=0, help="port of 127.0.0.1; default: any free one")
    parser.add_argument("--browser", action="store_true", help="open the page in the browser")
    for task in Tasks.TASKS:
        parser.add_argument(f"--{task}-model", metavar="DIR", help="default: the package's own")
    given = parser.parse_args(arguments)
    try:
        descriptors = itertools.chain(given.texts, itertools.repeat(None))
        documents = [_document(path, descriptor) for path, descriptor in zip(given.files, descriptors)]
        names = [name for name, _ in documents]
        documents = [
            (path if names.count(name) > 1 else name, text) for path, (name, text) in zip(given.files, documents)
        ]
        tasks = Tasks(documents, {task: getattr(given, f"{task}_model") for task in Tasks.TASKS})
        # A named model is loaded now, so that a wrong name is reported before the page opens.
        for task in Tasks.TASKS:
            if task == "answer" or getattr(given, f"{task}_model"):
                tasks.context(task)
        server = Server(tasks, given.port)
    except (ImportError, OSError, ValueError, sqlite3.Error, BertQAError) as error:
        print(f"bertqa.demo: {_line(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with server:
        try:
            print(f"{server.url}\nCtrl-C ends it.", flush=True)
        except OSError as error:
            print(f"bertqa.demo: cannot write standard output: {error.strerror}", file=sys.stderr)
            return 1
        if given.browser:
            # Some browsers end before this returns, and the page is served only then.
            threading.Thread(target=webbrowser.open, args=(server.url,), daemon=True).start()
        try:
            server.serve_forever(poll_interval=0.1)
        except KeyboardInterrupt:
            tasks.cancel_all()
    return 0


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        super().error(_line(message))


def _line(message: object) -> str:
    """Returns a message for a terminal. As in the tool's, a space replaces white space and control characters."""
    return re.sub(r"[\s\0-\x1f\x7f-\x9f]+", " ", str(message))


def _document(path: str, descriptor: Optional[int] = None) -> "Tuple[str, Union[str, pathlib.Path]]":
    """Returns a file's name and its text, or its path if it is a collection.

    descriptor: of the text, if it is not the file's.
    """
    if path == "-" and descriptor is None:
        descriptor = 0
    # It is opened once, because a pipe has its text only once.
    with open(path if descriptor is None else descriptor, "rb", closefd=descriptor != 0) as file:
        data = file.read(len(DATABASE))
        if data == DATABASE and descriptor is None:
            Collection(path).close()
            return os.path.basename(path), pathlib.Path(path)
        data += file.read(LARGEST + 1 - len(data))
    if len(data) > LARGEST:
        raise ValueError(f"{path}: larger than {LARGEST >> 20} MiB")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not a text in UTF-8: {error.reason} at byte {error.start}") from None
    return "Standard input" if path == "-" else os.path.basename(path), text


def _descriptors(text: str) -> List[Optional[int]]:
    return [None if number == "-" else int(number) for number in text.split(",")]


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 6 and int(text) < 1 << 16):
        raise argparse.ArgumentTypeError(f"{text} is not a port: 0 to 65535")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
