"""`bertqa filter --resume` that is killed, or whose files fail, at random points of the calls that change them.

BERTQA_KILLS is how many kills there are, by default 24; `make test-long` has 400."""

import random
import signal
import subprocess

import pytest

from conftest import FIXTURES, TOOL
from filtering import DONE, KILLS, RECORD, TOKENS, environment, fault_library, run, run_with  # noqa: F401


class Job:
    """A run on records of a format that succeed and fail, and the files that it writes."""

    def __init__(self, directory, format, generator):
        directory.mkdir()
        self.directory = directory
        self.source = directory / "in"
        records = []
        for number in range(generator.randrange(40, 120)):
            text = " ".join(generator.choices("who jumped over the quick dog".split(), k=generator.randrange(30)))
            good = b'{"id":%d,"text":"%s"}' % (number, text.encode())
            if format == "csv":
                good = b'%d,"%s"' % (number, text.encode())
            records.append(generator.choice([b"bad", good, good, good, good]))
        if format == "length-prefixed":
            records = [len(record).to_bytes(4, "big") + record for record in records]
        else:
            records = [record + b"\n" for record in [b"id,text"] * (format == "csv") + records]
        self.source.write_bytes(b"".join(records))
        self.options = [*TOKENS, "--format", format, "--batch-size=3", "--checkpoint-interval=0", "--quiet"]

    def arguments(self, name):
        """A run whose files' names start with `name`."""
        path = self.directory
        return [
            *self.options, self.source, "-o", path / f"{name}.out", "--resume", path / f"{name}.checkpoint",
            f"--on-error=dead-letter={path / f'{name}.letters'}", "--stats", path / f"{name}.stats",
        ]  # fmt: skip

    def written(self, name):
        return [(self.directory / f"{name}.{end}").read_bytes() for end in ("out", "letters")]


def test_a_run_that_is_killed_anywhere_goes_on(faults, tmp_path):
    generator = random.Random(KILLS)
    formats = ["jsonl", "csv", "length-prefixed"]
    kills = jobs = 0
    while kills < KILLS:
        job = Job(tmp_path / str(jobs), formats[jobs % 3], generator)
        jobs += 1
        count = job.directory / "count"
        assert run_with(faults, job.arguments("whole"), FAULT_COUNT=count) == (1, [])
        calls = int(count.read_text())
        assert calls > 60
        while kills < KILLS:
            # Later calls are there only while there is much to do.
            point = generator.randrange(1, calls + 1) // generator.choice([1, 2, 8]) + 1
            fault = generator.choice(["kill", "torn", "killed"])
            code, errors = run_with(faults, job.arguments("killed"), FAULT=fault, FAULT_AT=point)
            assert errors == []
            if code == 1:
                break
            assert code == -signal.SIGKILL, (code, fault, point)
            kills += 1
        run(*job.arguments("killed"), code=1)
        assert job.written("killed") == job.written("whole"), (jobs, kills)
        names = {path.name for path in job.directory.iterdir()} - {"in", "count"}
        assert {name.partition(".")[0] + name[-4:] for name in names if name.endswith(".tmp")} <= {"killed.tmp"}


def test_dead_letters_that_begin_behind_a_checkpoint_name_the_columns(tmp_path):
    source, letters = tmp_path / "in", tmp_path / "letters"
    arguments = [
        *TOKENS, "--format=csv", source, "-o", tmp_path / "out", "--resume", tmp_path / "checkpoint",
        f"--on-error=dead-letter={letters}", "--quiet",
    ]  # fmt: skip
    source.write_bytes(b"text,n\na b,1\n")
    run(*arguments)
    assert letters.read_bytes() == b""
    with source.open("ab") as file:
        file.write(b"bad\n")
    run(*arguments, code=1)
    assert letters.read_bytes() == b"text,n\nbad\n"


@pytest.mark.parametrize("fault", ["ENOSPC", "EIO"])
def test_a_full_or_broken_disk_ends_the_run_which_goes_on(fault, faults, tmp_path):
    generator = random.Random(KILLS)
    job = Job(tmp_path / "job", "jsonl", generator)
    count = tmp_path / "count"
    assert run_with(faults, job.arguments("whole"), FAULT_COUNT=count) == (1, [])
    calls = int(count.read_text())
    failed = 0
    for point in generator.sample(range(1, calls), min(calls - 1, KILLS // 4)):
        code, errors = run_with(faults, job.arguments("failed"), FAULT=fault, FAULT_AT=point)
        # No loss is silent: the run reports the failure, even if only telemetry failed.
        reason = "No space left on device" if fault == "ENOSPC" else "Input/output error"
        assert code in (1, 4) and errors and all(reason in error for error in errors), (code, errors, point)
        failed += code == 4
        assert run(*job.arguments("failed"), code=1)[1] == []
        assert job.written("failed") == job.written("whole"), point
        for end in "out", "letters", "checkpoint", "stats":
            (job.directory / f"failed.{end}").unlink()
    assert failed > 0


@pytest.mark.parametrize("fault", ["EINTR", "short"])
def test_interrupted_and_short_transfers_change_nothing(fault, faults, tmp_path):
    job = Job(tmp_path / "job", "jsonl", random.Random(1))
    run(*job.arguments("whole"), code=1)
    assert run_with(faults, job.arguments("slow"), FAULT=fault) == (1, [])
    assert job.written("slow") == job.written("whole")


def test_full_device_without_a_checkpoint(tmp_path):
    source = tmp_path / "in"
    source.write_bytes(RECORD * 5000)
    [error] = run(*TOKENS, source, "-o", "/dev/full", code=4)[1]
    assert "/dev/full: No space left on device" in error


def limited(command, size, before="", **options):
    """The command with files of at most `size` KiB, after another command of the shell."""
    script = f'{before} ulimit -f {size}; exec "$@"'
    streams = {"stdout": subprocess.PIPE} | options
    return subprocess.run(
        ["bash", "-c", script, "bash", *command], stderr=subprocess.PIPE, env=environment(), **streams
    )


@pytest.mark.parametrize("before", ["", 'trap "" XFSZ;'])
def test_a_limit_of_file_size_is_an_error(before, tmp_path):
    """RLIMIT_FSIZE: service managers ignore its signal, shells do not."""
    source, target, checkpoint = tmp_path / "in", tmp_path / "out", tmp_path / "checkpoint"
    source.write_bytes(RECORD * 5000)
    arguments = [*TOKENS, source, "-o", target, "--resume", checkpoint]
    result = limited([TOOL, *arguments], 16, before)
    assert result.returncode == 4 and b"out: File too large" in result.stderr
    assert target.stat().st_size <= 16 * 1024
    run(*arguments)
    assert target.read_bytes() == DONE * 5000
    with (tmp_path / "listing").open("wb") as stream:
        result = limited([TOOL, "tokenize", "-f", source], 16, before, stdout=stream)
    assert result.returncode == 4 and b"standard output: File too large" in result.stderr
    result = limited([TOOL, "quantize", FIXTURES / "tiny-bert", tmp_path / "new"], 4, before)
    assert result.returncode == 3 and b"File too large" in result.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"in", "out", "checkpoint", "listing"}


def test_a_dead_letter_of_which_a_part_was_written_does_not_continue_in_the_next(tmp_path):
    letters = tmp_path / "letters"
    arguments = [*TOKENS, "--quiet", f"--on-error=dead-letter={letters}"]
    record = b"x" * 299 + b"\n"
    for size in 299, 200_000:
        source = tmp_path / "in"
        source.write_bytes(record * 3 + b"y" * size + b"\n" + record * 3)
        result = limited([TOOL, *arguments, "--max-record-bytes=1000", source], 1)
        assert result.returncode == 4 and b"letters: File too large" in result.stderr
        # No part of the record that did not fit, whether it was written in one piece or in several.
        assert letters.read_bytes() == record * 3
        letters.unlink()
    # A killed run cannot clean up.
    letters.write_bytes(b"a part")
    for _ in range(2):
        run(*arguments, input=b"bad\n", code=1)
    assert letters.read_bytes() == b"a part\nbad\nbad\n"
    for end in "\n", "\r":
        letters.unlink()
        for _ in range(2):
            run(*arguments, "--format=csv", input=f"\ufefftext{end}a,b{end}".encode("utf-16-le"), code=1)
        assert letters.read_bytes().decode("utf-16-le") == f"\ufefftext{end}a,b{end}a,b{end}"


# Checkpoints that are not what the last run wrote: more in test_filter_checkpoints.py


def test_an_older_checkpoint_is_right_and_a_newer_one_refused(faults, tmp_path):
    """As in backups of the files from different times."""
    generator = random.Random(7)
    job = Job(tmp_path / "job", "jsonl", generator)
    count = tmp_path / "count"
    run_with(faults, job.arguments("whole"), FAULT_COUNT=count)
    calls = int(count.read_text())
    ends = "out", "letters", "checkpoint"
    states = []
    for part in 3, 2:  # The second kill is behind the first.
        code, _ = run_with(faults, job.arguments("killed"), FAULT="kill", FAULT_AT=calls // part)
        assert code == -signal.SIGKILL
        states.append([(job.directory / f"killed.{end}").read_bytes() for end in ends])
    older, newer = states
    assert older != newer
    for out, letters, checkpoint, is_right in [
        (newer[0], newer[1], older[2], True),
        (older[0], older[1], newer[2], False),
        (newer[0], older[1], newer[2], False),
        (older[0], newer[1], newer[2], False),
    ]:
        for end, content in zip(ends, (out, letters, checkpoint)):
            (job.directory / f"killed.{end}").write_bytes(content)
        code = 1 if is_right else 3
        errors = run(*job.arguments("killed"), code=code)[1]
        if is_right:
            assert job.written("killed") == job.written("whole")
        else:
            assert "was changed since the checkpoint: restore it" in errors[0]
            assert job.written("killed") == [out, letters]
