"""What a host has in its environment reaches only the documented variables of the library."""

import sys

from conftest import FIXTURES
from samples import run_python

LOAD = f"bertqa.Context({str(FIXTURES / 'tiny-bert')!r}).close()"


def test_settings_of_swifts_runtime_do_nothing():
    """SWIFT_BACKTRACE would install signal handlers, and is set in images of Swift's servers; the other prints."""
    result = run_python(
        f"""
caught = lambda: [line for line in open("/proc/self/status") if line.startswith("SigCgt")]
before = caught()
import bertqa
{LOAD}
after = caught()
# The C library needs a signal of its own for threads.
difference = int(before[0].split()[1], 16) ^ int(after[0].split()[1], 16)
print(difference & 0x7fffffff)
""",
        SWIFT_BACKTRACE=f"enable=yes,swift-backtrace={sys.executable}",
        SWIFT_DEBUG_HELP="YES",
    )
    assert (result.stdout, result.stderr, result.returncode) == ("0\n", "", 0)


def test_a_host_that_has_cleared_its_environment():
    result = run_python(f"""
import ctypes
assert ctypes.CDLL(None).clearenv() == 0
import bertqa
{LOAD}
print("fine")
""")
    assert (result.stdout, result.stderr, result.returncode) == ("fine\n", "", 0)


def test_an_interpreter_that_drops_docstrings():
    """As programs packed with optimization do."""
    result = run_python(f"import bertqa\n{LOAD}\nprint('fine')", PYTHONOPTIMIZE="2")
    assert (result.stdout, result.stderr, result.returncode) == ("fine\n", "", 0)


def test_an_interpreter_other_than_cpython():
    """PyPy's ctypes has no pythonapi."""
    result = run_python("import ctypes\ndel ctypes.pythonapi\nimport bertqa")
    assert result.stderr.endswith(
        "ImportError: bertqa needs CPython: the ctypes of this interpreter has no pythonapi\n"
    )
