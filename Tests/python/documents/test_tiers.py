"""The tiers of tests: docs/testing.md agrees with the Makefile."""

import re

from conftest import ROOT

MAKEFILE = (ROOT / "Makefile").read_text()
TESTING = (ROOT / "docs" / "testing.md").read_text()


def prerequisites(target):
    [found] = re.findall(rf"^{target}:([^#\n]*)##", MAKEFILE, re.M)
    return set(found.split())


def listed(variable):
    [found] = re.findall(rf"^{variable} := (.*)$", MAKEFILE, re.M)
    return set(found.replace("$(sanitizers)", "sanitize").split())


def documented(target):
    """The targets in the last column of the tier's row."""
    [row] = re.findall(rf"^\| `make {target}` \|.*\| (.*) \|$", TESTING, re.M)
    return {name.removeprefix("make ") for name in re.findall(r"`((?:make )?[a-z-]+)`", row)}


def test_each_tier_runs_what_is_documented():
    assert documented("check") == prerequisites("check") == {"lint", "test-swift"}
    assert documented("test") == listed("test_parts")
    assert documented("test-long") == listed("long_parts")
    assert all(prerequisites(part) <= {"setup", "all"} for part in listed("long_parts") - {"sanitize"})
    for target in ("test", "test-long"):
        rows = TESTING.partition(f"| of `make {target}` |")[2].partition("\n\n")[0]
        described = set(re.findall(r"^\| `make ([a-z-]+)", rows, re.M))
        assert described <= documented(target) and len(described) >= 4
