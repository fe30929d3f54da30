"""The package of bindings/python with the library of $BERTQA_PREFIX, by default of build/."""

import collections
import gc
import os
import pathlib
import signal
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PREFIX = pathlib.Path(os.environ.get("BERTQA_PREFIX", ROOT / "build"))
TOOL = PREFIX / "bin" / "bertqa"
PACKAGE = ROOT / "bindings" / "python"
FIXTURES = ROOT / "Tests" / "BertQACoreTests" / "Fixtures"
# Texts with what a model makes of them.
SAMPLE = pathlib.Path(__file__).resolve().parent / "sample"
# `make test-python-long` runs the tests marked `long` and all cases of the others; `make test` one case of so many.
LONG = os.environ.get("BERTQA_LONG") == "1"
FEWER = 1 if LONG else 10

# Also for the processes that tests start.
os.environ["BERTQA_PREFIX"] = str(PREFIX)
os.environ["BERTQA_LIBRARY"] = str(PREFIX / "lib" / "libbertqa.so.1")
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(PACKAGE), os.environ.get("PYTHONPATH")]))
os.environ.pop("BERTQA_MODEL", None)
sys.path.insert(0, str(PACKAGE))
# A shell starts programs in the background with SIGINT ignored, and so would their children.
signal.signal(signal.SIGINT, signal.default_int_handler)
# What Tests/python/training tests.
sys.path += [str(ROOT / "training"), str(ROOT / "Benchmarks")]


def clean_environment():
    """The environment without variables that lead to the checkout or another library."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("BERTQA_", "PYTHON", "LD_")) and name != "VIRTUAL_ENV"
    }


def available_isas():
    """The instruction sets of this machine."""
    import bertqa
    from bertqa._context import INSTRUCTION_SETS

    found = []
    for isa in INSTRUCTION_SETS[1:]:
        try:
            bertqa.Context(FIXTURES / "tiny-bert", isa=isa).close()
        except bertqa.Unsupported:
            continue
        found.append(isa)
    return found


def pytest_configure(config):
    gc.disable()  # until the tests are collected
    config.addinivalue_line("markers", "long: takes minutes; only with BERTQA_LONG=1, make test-python-long")


def pytest_collection_modifyitems(config, items):
    """Runs the longest files first, so that no process is left with one at the end."""
    if not LONG:
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("long")])
        items[:] = [item for item in items if not item.get_closest_marker("long")]
    longest = ["test_spark", "test_tokenizer_kinds", "test_packages", "test_processes", "test_tarball"]
    items.sort(key=lambda item: longest.index(item.path.stem) if item.path.stem in longest else len(longest))


def pytest_collection_finish():
    """Leaves the tests themselves, millions of objects, out of every later collection of garbage."""
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_terminal_summary(terminalreporter):
    """Passes the skipped tests to Tests/skipped.sh, which lists them at the end of `make test`."""
    reports = terminalreporter.stats.get("skipped", [])
    reasons = collections.Counter(report.longrepr[2].removeprefix("Skipped: ") for report in reports)
    lines = "\n".join(f"{reason} (tests: {count})" for reason, count in reasons.items())
    # `pytest -rs` prints the same with files and lines.
    command = [ROOT / "Tests" / "skipped.sh", "python"]
    subprocess.run(command, input=lines, text=True, stdout=subprocess.DEVNULL, check=True)


@pytest.fixture(scope="session")
def context():
    """The default model."""
    import bertqa

    with bertqa.Context() as context:
        yield context


@pytest.fixture(scope="session")
def tiny():
    """A tiny model with random weights, for speed."""
    import bertqa

    with bertqa.Context(FIXTURES / "tiny-bert", precision="f32") as context:
        yield context
