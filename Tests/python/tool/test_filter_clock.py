"""`bertqa filter` while the system's clock is set: nothing depends on the time of day."""

import os
import signal
import subprocess
import sys

import pytest

from conftest import ROOT, TOOL
from filtering import SLOW, compact, environment, run, start, summary, wait_for


@pytest.fixture(scope="module")
def clock(tmp_path_factory):
    """Settings that make the time of day jump by days: Tests/c/faults/clock.c."""
    directory = tmp_path_factory.mktemp("clock")
    library = directory / "clock.so"
    source = ROOT / "Tests" / "c" / "faults" / "clock.c"
    subprocess.run(
        ["cc", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", source, "-o", library, "-ldl"], check=True
    )
    return {**environment(), "LD_PRELOAD": str(library), "CLOCK_COUNT": str(directory / "count")}


def looks(clock):
    """Returns the numbers of reads of the time of day, of waits with a time, and of wrong ones."""
    with open(clock["CLOCK_COUNT"]) as file:
        return [int(number) for number in file.read().split()]


def test_the_clock_is_one_that_jumps(clock):
    """Without jumps the other tests would prove nothing."""
    program = "import time; print(len({time.time() for _ in range(5)}))"
    result = subprocess.run([sys.executable, "-c", program], env=clock, capture_output=True)
    assert int(result.stdout) > 1 and looks(clock)[0] > 0


def test_metrics_and_checkpoints_by_interval(clock, tmp_path):
    source = tmp_path / "in"
    source.write_bytes(b"".join(compact({"n": n, "text": "who " * (n % 50)}) + b"\n" for n in range(400)))
    run(*SLOW, source, "-o", tmp_path / "whole")
    arguments = [
        TOOL, *SLOW, source, "-o", tmp_path / "out", "--resume", tmp_path / "c", "--checkpoint-interval=0.01",
        "--stats", tmp_path / "stats", "--metrics", tmp_path / "metrics", "--timeout=600", "--progress",
    ]  # fmt: skip
    result = subprocess.run(arguments, env=clock, capture_output=True, timeout=300)
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "out").read_bytes() == (tmp_path / "whole").read_bytes()
    assert 0 < summary(tmp_path / "stats")["seconds"] < 300
    assert "bertqa_filter_records_total" in (tmp_path / "metrics").read_text()
    day, _, wrong = looks(clock)
    assert day == 0 and wrong == 0


def test_following_and_stopping(clock, tmp_path):
    """The waits for records, and for the end of a grace period, end on time."""
    source = tmp_path / "in"
    source.write_bytes(compact({"text": "the king"}) + b"\n")
    process = start(*SLOW, "--follow", source, "--stop-timeout=5", env=clock)
    first = process.stdout.readline()
    for _ in range(3):
        with source.open("ab") as file:
            file.write(compact({"text": "the king"}) + b"\n")
        assert process.stdout.readline() == first
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == -signal.SIGTERM
    assert process.stderr.read() == b""


def test_a_checkpoint_from_the_future_is_used(clock, tmp_path):
    """Files have times that are days ahead, as after a clock was set back."""
    source = tmp_path / "in"
    source.write_bytes(b"".join(compact({"n": n, "text": "who " * 40}) + b"\n" for n in range(400)))
    arguments = [*SLOW, source, "-o", tmp_path / "out", "--resume", tmp_path / "c", "--checkpoint-interval=0"]
    process = start(*arguments)
    wait_for(lambda: (tmp_path / "out").exists() and (tmp_path / "out").stat().st_size > 5000)
    process.kill()
    process.wait()
    for path in tmp_path.iterdir():
        os.utime(path, (2**32, 2**32))
    result = subprocess.run([TOOL, *arguments], env=clock, capture_output=True, timeout=300)
    assert result.returncode == 0, result.stderr
    run(*SLOW, source, "-o", tmp_path / "whole")
    assert (tmp_path / "out").read_bytes() == (tmp_path / "whole").read_bytes()
