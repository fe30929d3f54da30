"""The SQLite extension in SQLite's library; importing this skips a module's tests if either is missing."""

import os
import pathlib
import sys

import pytest

from conftest import PREFIX
from samples import run_python
from sqlite import Database, library

EXTENSION = PREFIX / "lib" / "bertqa_sqlite.so"
TIMEOUT = 300

if library is None:
    pytest.skip("SQLite: needs libsqlite3", allow_module_level=True)
if not EXTENSION.exists():
    pytest.skip("SQLite: needs the extension (make sqlite)", allow_module_level=True)


def connect(path=":memory:"):
    return Database(path, EXTENSION)


def mappings(process="self"):
    """The number of mappings of weights, which is the number of loaded models."""
    return pathlib.Path(f"/proc/{process}/maps").read_text().count("model.safetensors")


SCRIPT = """
import os, sys, threading
from conftest import FIXTURES
from extension import connect, mappings
from samples import ANSWER, APOLLO, FOX, TINY, WHO
"""


def script(code):
    """Runs code in a process of its own, which must succeed, and returns its output."""
    result = run_python(SCRIPT + code, PYTHONPATH=os.pathsep.join(sys.path))
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout
