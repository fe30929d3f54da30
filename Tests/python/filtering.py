"""Shared by the tests of `bertqa filter` and of files that runs write: running the tool, also with faults, and an
independent computation of the expected output."""

import fcntl
import json
import os
import subprocess
import sys
import termios
import time

import pytest

from conftest import PREFIX, ROOT, TOOL
from samples import TINY, processor_time

# Splits text into tokens, without a network: the cheapest task there is.
TOKENS = [
    "filter",
    "--task",
    "tokenize",
    "--ids",
    "--model",
    PREFIX / "share/bertqa/models/qa-minilm-l6/vocab.txt",
]

# Personal data by rule, which needs no model.
PATTERNS_OF_ALL = ["filter", "--task=entities", "--patterns=all"]

RECORD = b'{"text":"a b"}\n'
DONE = b'{"text":"a b","bertqa":[1037,1038]}\n'
# Slow enough to be interrupted.
SLOW = ["filter", "-m", TINY, "--threads=1", "--isa=portable", "-q", "what?", "--batch-size=4"]
# `make kills` has more.
KILLS = int(os.environ.get("BERTQA_KILLS", "24"))


def environment():
    return {k: v for k, v in os.environ.items() if k not in ("BERTQA_MODEL", "POSIXLY_CORRECT")}


def start(*arguments, **options):
    """Starts the tool with unbuffered pipes."""
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([TOOL, *arguments], **({"env": environment(), "bufsize": 0} | streams | options))


def run(*arguments, input=b"", code=0, **options):
    """Runs the tool, checks its exit code (None: 0 or 1), and returns its standard output and the lines of its
    errors."""
    result = subprocess.run(
        [TOOL, *arguments], input=input, capture_output=True, env=environment(), timeout=300, **options
    )
    expected = (0, 1) if code is None else (code,)
    assert result.returncode in expected, (result.returncode, result.stdout[-1000:], result.stderr[-1000:])
    return result.stdout, result.stderr.decode().splitlines()


@pytest.fixture(name="faults", scope="module")
def fault_library(tmp_path_factory):
    """A library to preload: Tests/c/faults/output_faults.c."""
    library = tmp_path_factory.mktemp("faults") / "output_faults.so"
    source = ROOT / "Tests" / "c" / "faults" / "output_faults.c"
    subprocess.run(
        ["cc", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", source, "-o", library, "-ldl"], check=True
    )
    return library


def run_with(faults, arguments, **settings):
    """Runs with faults. Returns the exit code and the lines of the errors."""
    variables = {**environment(), "LD_PRELOAD": str(faults), **{k: str(v) for k, v in settings.items()}}
    result = subprocess.run(
        [TOOL, *arguments], stdin=subprocess.DEVNULL, capture_output=True, env=variables, timeout=300
    )
    return result.returncode, result.stderr.decode().splitlines()


def summary(path):
    """Returns the summary that --stats wrote, after a check that its numbers add up."""
    numbers = json.loads(path.read_text())
    assert numbers["records"] == numbers["succeeded"] + numbers["failed"]
    assert sum(numbers["failed_by_kind"].values()) == numbers["failed"]
    assert numbers["succeeded"] <= numbers["written"] <= numbers["records"]
    return numbers


def compact(value):
    return json.dumps(value, separators=(",", ":")).encode()


def text_of(string):
    """Returns a string of Python's JSON module as the filter reads it: unpaired surrogates are U+FFFD."""
    return string.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def refuse(constant):
    raise ValueError(constant)


def parse(record, errors="surrogateescape"):
    """Returns the object of a record by RFC 8259, else None; UTF-8 need not be valid."""
    try:
        value = json.loads(record.decode("utf-8", errors).lstrip("\ufeff"), parse_constant=refuse)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def messages_of(errors):
    """Returns the lines of the errors without the note that --follow writes if a rotation leaves the name free for
    0.2 s, which depends on the machine."""
    return [line for line in errors.splitlines() if not line.endswith(" is not there: waiting for it")]


def finish(process, code=0):
    """Closes the input, reads the rest of the output, and returns it with the messages."""
    output, errors = process.communicate(timeout=120)
    assert process.returncode == code, (process.returncode, errors)
    return output, messages_of(errors.decode())


def wait_for(condition, story=None):
    """Waits until the condition holds; if it never does, the failure tells the story."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, story and story()
        time.sleep(0.01)


def has_computed(process):
    """Waits until the process has used half a second of processor time: far more than it needs to start and to read."""
    wait_for(lambda: processor_time(process.pid) >= os.sysconf("SC_CLK_TCK") / 2)


def unread(pipe):
    """Returns the number of bytes in a pipe."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


def feed(stream, data):
    """Writes until nobody reads."""
    try:
        while True:
            stream.write(data)
    except BrokenPipeError:
        stream.close()


def wait_for_a_full_pipe(pipe):
    wait_for(lambda: unread(pipe) >= 1 << 15)
