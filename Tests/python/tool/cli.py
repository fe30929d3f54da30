"""Runs the command-line tool as a user does, through pipes or at a terminal."""

import ctypes
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios

import pytest

from conftest import PREFIX, ROOT, TOOL

MODEL = PREFIX / "share" / "bertqa" / "models" / "qa-minilm-l6"
DOCUMENTS = ROOT / "examples" / "documents"
FOX = DOCUMENTS / "fox.txt"
APOLLO = DOCUMENTS / "apollo.txt"
HIGHLIGHT = re.compile(r"\x1b\[[0-9;]+m(.*?)\x1b\[0m")


def environment(**changes):
    clean = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "BERTQA_MODEL", "POSIXLY_CORRECT")}
    return clean | changes


def needs_library(name, package):
    """A mark that skips a test if a shared library, which the tool opens when it needs it, is not installed."""
    try:
        ctypes.CDLL(name)
        is_missing = False
    except OSError:
        is_missing = True
    return pytest.mark.skipif(is_missing, reason=f"{package} is not installed")


needs_gmime = needs_library("libgmime-3.0.so.0", "libgmime-3.0-0")
needs_libxml2 = needs_library("libxml2.so.2", "libxml2")
needs_md4c = needs_library("libmd4c.so.0", "libmd4c0")


def run(*arguments, code=0, input=b"", **options):
    """Runs the tool, checks its exit code, and returns its standard output and error as text."""
    options.setdefault("env", environment())
    result = subprocess.run(
        [TOOL, *arguments], input=input, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300, **options
    )
    assert code is None or result.returncode == code, (result.returncode, result.stdout, result.stderr)
    if code in (None, 0, 1):
        return result.stdout.decode(), result.stderr.decode()
    errors = result.stderr.decode()
    assert errors.startswith("bertqa: ") and errors.endswith("\n"), errors
    return result.stdout.decode(), errors


def run_records(*arguments, **options):
    """Returns the JSON lines of the output."""
    return [json.loads(line) for line in run(*arguments, **options)[0].splitlines()]


def run_json(*arguments, **options):
    return run_records(*arguments, "--json", **options)


def run_on_terminal(*arguments, columns=80, terminal_error=False, code=0, **variables):
    """Runs the tool with a terminal as standard output (or error), and returns the terminal's contents."""
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    streams = {"stdout": terminal, "stderr": subprocess.PIPE}
    if terminal_error:
        streams = {"stdout": subprocess.DEVNULL, "stderr": terminal}
    process = subprocess.Popen(
        [TOOL, *arguments], stdin=subprocess.DEVNULL, env=environment(**{"TERM": "xterm"} | variables), **streams
    )
    os.close(terminal)
    received = b""
    while True:
        try:
            part = os.read(controller, 65536)
        except OSError:  # Linux: the other side is closed
            break
        if not part:
            break
        received += part
    os.close(controller)
    if process.stderr:
        assert process.stderr.read() == b""
        process.stderr.close()
    assert process.wait(timeout=300) == code
    return received.decode()


COMMANDS = re.findall(r"^  ([a-z-]+)  +[a-z]", run("--help")[0], re.M)
_ENTRY = re.compile(r"^  (?:-(\w), |    )--([a-z-]+)(?: ([A-Z_=]+)|\[=([A-Z_]+)\])?(?:  |$)", re.M)
# (command, long name, letter or "", name of the value or "", value is optional)
OPTIONS = [
    (command, name, letter, value or optional, bool(optional))
    for command in COMMANDS
    for letter, name, value, optional in _ENTRY.findall(run(command, "--help")[0])
]
