"""Documents for the components of hosts. Without BERTQA_HOSTS a missing host is skipped; make test-hosts has all."""

import os

import pytest

from conftest import FIXTURES

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"

TEXTS = [
    "The quick brown fox jumps over the lazy dog.",
    "Ann Smith moved from Oslo to Paris in 2019.",
    "The river floods the valley every spring.",
]
QUESTION = "Where did Ann Smith move?"


def in_memory(name):
    """The files of a fixture's model, for a Context without a directory."""
    files = [path for path in (FIXTURES / name).rglob("*") if path.is_file()]
    return {str(path.relative_to(FIXTURES / name)): path.read_bytes() for path in files}


def host(name):
    """The module of a host; skips the test's file if it is not installed."""
    if os.environ.get("BERTQA_HOSTS") == "1":
        return __import__(name)
    return pytest.importorskip(name, reason=f"{name} is not installed: make test-hosts")
