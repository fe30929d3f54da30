"""`bertqa filter` in a faulty environment: descriptors, disks, other processes, time and memory."""

import json
import os
import re
import signal
import subprocess
import tempfile
import threading
import time

import pytest

from conftest import FIXTURES, TOOL
from filtering import (
    DONE,
    PATTERNS_OF_ALL,
    RECORD,
    SLOW,
    TOKENS,
    compact,
    environment,
    feed,
    finish,
    has_computed,
    run,
    start,
    summary,
    unread,
    wait_for,
    wait_for_a_full_pipe,
)
from samples import peak_memory

# Several runs at once


def test_runs_that_share_a_file_of_dead_letters_lose_none(tmp_path):
    letters = tmp_path / "letters"
    letters.write_bytes(b"from before\n")
    expected = []
    processes = []
    for run_number in range(4):
        # Larger than a pipe, and, in parts, larger than what is kept in memory.
        records = [b"%d %d %s\n" % (run_number, n, b"x" * (n * 37 % 3000)) for n in range(3000)]
        records += [b"%d %d %s\n" % (run_number, n, b"y" * 300_000) for n in range(5)]
        expected += records
        source = tmp_path / f"in{run_number}"
        source.write_bytes(b"".join(records))
        processes.append(
            start(*TOKENS, "--quiet", "--max-record-bytes=100K", f"--on-error=dead-letter={letters}", source)
        )
    for process in processes:
        assert finish(process, code=1) == (b"", [])
    found = letters.read_bytes().splitlines(keepends=True)
    assert found[0] == b"from before\n" and sorted(found[1:]) == sorted(expected)


def test_tables_that_share_a_file_of_dead_letters_name_the_columns_once(tmp_path):
    letters = tmp_path / "letters"
    source = tmp_path / "in"
    source.write_bytes(b"text,n\n" + b"only one\n" * 500)
    arguments = [*TOKENS, "--format=csv", "--quiet", f"--on-error=dead-letter={letters}", source]
    for process in [start(*arguments) for _ in range(4)]:
        finish(process, code=1)
    assert letters.read_bytes() == b"text,n\n" + b"only one\n" * 2000


# Descriptors


def run_with_closed(closed, arguments):
    """Runs the tool in a shell that closes descriptors, such as "<&-"; returns code, output and errors."""
    command = ["sh", "-c", f'"$@" {closed}', "sh", TOOL, *arguments]
    result = subprocess.run(command, capture_output=True, timeout=60, env=environment())
    return result.returncode, result.stdout, result.stderr


@pytest.mark.parametrize("change", ["remove", "replace", "rotate"])
@pytest.mark.parametrize("kind", ["output", "letters"])
def test_a_file_that_is_removed_while_it_is_written(kind, change, tmp_path):
    """What is written to it afterwards would be lost without a word."""
    target, other = tmp_path / "target", tmp_path / "other"
    other.touch()
    options = ["-o", target] if kind == "output" else ["--on-error", f"dead-letter={target}", "--quiet"]
    record = RECORD if kind == "output" else b"bad\n"
    process = start(*TOKENS, *options)
    process.stdin.write(record)
    wait_for(lambda: target.exists() and target.stat().st_size > 0)
    if change == "rotate":
        target.rename(tmp_path / "target.1")
    target.unlink(missing_ok=True) if change == "remove" else other.rename(target)
    process.stdin.write(record)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 4
    assert errors.decode() == (
        f"bertqa: {target} was removed or replaced by another program while it was written\n"
    )


def test_files_without_a_name_are_written(tmp_path):
    with tempfile.TemporaryFile(dir=tmp_path) as output, tempfile.TemporaryFile(dir=tmp_path) as letters:
        descriptors = output.fileno(), letters.fileno()
        paths = [f"/dev/fd/{descriptor}" for descriptor in descriptors]
        arguments = [*TOKENS, "-o", paths[0], f"--on-error=dead-letter={paths[1]}", "--quiet"]
        run(*arguments, input=(RECORD + b"bad\n") * 3, code=1, pass_fds=descriptors)
        output.seek(0)
        letters.seek(0)
        assert output.read() == DONE * 3 and letters.read() == b"bad\n" * 3


def test_closed_descriptors_are_not_reused(tmp_path):
    source = tmp_path / "in"
    source.write_bytes((RECORD * 9 + b"bad\n") * 500)
    code, output, errors = run_with_closed("<&-", TOKENS)
    assert (code, output) == (3, b"") and b"cannot read standard input: Bad file descriptor" in errors
    code, _, errors = run_with_closed(">&-", [*TOKENS, source])
    assert code == 4 and b"cannot write standard output: Bad file descriptor" in errors
    # Messages go nowhere, and into no file of the run.
    target = tmp_path / "out"
    code, _, _ = run_with_closed("<&- >&- 2>&-", [*TOKENS, "--on-error=drop", source, "-o", target])
    assert code == 1 and target.read_bytes() == DONE * 4500
    for command in ["answer", "-q", "Who?"], ["tokenize"]:
        code, output, errors = run_with_closed("<&-", command)
        assert (code, output) == (3, b"") and b"cannot read standard input" in errors
    assert run_with_closed("<&- 2>&-", ["tokenize", "--ids", "a"])[:2] == (0, b"1037\n")


def test_input_that_does_not_block():
    """For every command that reads standard input."""
    for command in ["tokenize", "--ids"], TOKENS:
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        process = start(*command, stdin=reader)
        os.close(reader)
        time.sleep(0.1)
        os.write(writer, RECORD)
        os.close(writer)
        assert finish(process)[0]


def test_the_output_is_not_read_as_input(tmp_path):
    source = tmp_path / "app"
    source.write_bytes(RECORD)
    with source.open("ab") as output:
        process = start(*TOKENS, source, stdout=output)
        assert b"cannot be both read and written" in process.stderr.read()
    assert process.wait(60) == 2 and source.read_bytes() == RECORD
    process.stdin.close()
    process.stderr.close()


# Signals and time


LONG = [*SLOW, "--batch-size=64", "--precision=f32"]


def test_what_is_not_done_in_time_is_given_up(tmp_path):
    """A run that would take minutes ends at the stop timeout and accounts for every record."""
    letters, stats = tmp_path / "letters", tmp_path / "stats"
    records = [compact({"n": n, "text": "a b c " * 300_000}) + b"\n" for n in range(3)]
    source = tmp_path / "in"
    source.write_bytes(b"".join(records))
    process = start(*LONG, source, "--stats", stats, "--stop-timeout=0.3", "--on-error=null",
                    f"--on-error=dead-letter={letters}")  # fmt: skip
    has_computed(process)
    process.send_signal(signal.SIGTERM)
    output, errors = finish(process, code=-signal.SIGTERM)
    lines = output.splitlines()
    numbers = summary(stats)
    # The records that the reader had taken from the file; the rest was never started.
    assert numbers["records"] == len(lines) > 0 and numbers["ended_by"] == "SIGTERM"
    kinds = numbers["failed_by_kind"]
    assert kinds["stopped"] + kinds["truncated"] == numbers["failed"] == len(errors)
    assert kinds["stopped"] > 0
    assert "stopped before the record was done" in json.loads(lines[0])["bertqa_error"]
    assert letters.read_bytes().startswith(records[0])


def test_a_run_with_a_checkpoint_ends_at_once(tmp_path):
    """The run does not drain its records: none fails, and a rerun does the rest."""
    source, target = tmp_path / "in", tmp_path / "out"
    records = [compact({"n": n, "text": "a b c " * 100_000}) + b"\n" for n in range(3)]
    source.write_bytes(b"".join(records))
    stats = tmp_path / "stats"
    process = start(*LONG, source, "-o", target, "--resume", tmp_path / "c", "--stop-timeout=1000",
                    "--stats", stats)  # fmt: skip
    has_computed(process)
    process.send_signal(signal.SIGTERM)
    assert finish(process, code=-signal.SIGTERM) == (b"", [])
    numbers = summary(stats)
    assert numbers["failed"] == 0 and numbers["records"] < 3
    assert target.read_bytes().count(b"\n") == numbers["records"]


def test_a_reader_that_is_stuck_does_not_hold_the_run_for_ever():
    process = start(*TOKENS, "--stop-timeout=0.2")
    feeder = threading.Thread(target=feed, args=(process.stdin, RECORD * 1000))
    feeder.start()
    # Nobody reads the output, so the run is stuck in writing.
    wait_for_a_full_pipe(process.stdout)
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == -signal.SIGTERM
    feeder.join()
    assert b"the output was not written within" in process.stderr.read()
    process.stdout.close()
    process.stderr.close()


# Many files


@pytest.mark.parametrize("has_checkpoint", [False, True])
def test_inputs_are_open_only_while_they_are_read(has_checkpoint, tmp_path):
    """Even if many of them wait to be finished at once."""
    sources = [tmp_path / f"in{number}" for number in range(300)]
    for number, source in enumerate(sources):
        # Some without a record.
        source.write_bytes(RECORD if number % 7 else b"")
    expected = DONE * sum(source.stat().st_size > 0 for source in sources)
    arguments = [*TOKENS, "--batch-size=10000", *sources, "-o", tmp_path / "out"]
    if has_checkpoint:
        arguments += ["--resume", tmp_path / "checkpoint"]
    for _ in range(2):
        result = subprocess.run(
            ["bash", "-c", 'ulimit -n 64; exec "$@"', "bash", TOOL, *arguments],
            capture_output=True, env=environment(),
        )  # fmt: skip
        assert (result.returncode, result.stderr) == (0, b"")
        assert (tmp_path / "out").read_bytes() == expected


# Telemetry


def test_metrics_that_cannot_be_written_do_not_end_the_run(tmp_path):
    """The summary is a result of the run, so that it fails without it; but the output is complete."""
    directory = tmp_path / "metrics"
    directory.mkdir()
    target = tmp_path / "out"
    process = start(
        *TOKENS, "-o", target, "--metrics", directory / "m.prom", "--stats", directory / "stats"
    )  # fmt: skip
    process.stdin.write(RECORD)
    wait_for((directory / "m.prom").exists)
    (directory / "m.prom").unlink()
    directory.rmdir()
    process.stdin.write(RECORD * 9)
    _, errors = finish(process, code=4)
    assert target.read_bytes() == DONE * 10
    reason = f"{process.pid}.tmp: No such file or directory"
    assert [re.sub(r"/[^:]*/", "", error) for error in errors] == [
        f"bertqa: warning: cannot write m.prom.{reason}; the run goes on",
        f"bertqa: cannot write stats.{reason}",
    ]
    errors = run(*PATTERNS_OF_ALL, "--redact", "--report=/dev/full", "--stats=/dev/full", input=RECORD, code=4)[1]
    assert errors == ["bertqa: cannot write /dev/full: No space left on device"] * 2


def test_metrics_of_two_runs_differ(tmp_path):
    series = []
    for name in "first", "second":
        run(*TOKENS, "--metrics", tmp_path / f"{name}.prom", "--metrics-label", 'job=a "b"\\', input=RECORD)
        text = (tmp_path / f"{name}.prom").read_text()
        names = {line.rpartition(" ")[0] for line in text.splitlines() if not line.startswith("#")}
        assert f'bertqa_filter_records_total{{run="{name}",job="a \\"b\\"\\\\"}}' in names
        series.append(names)
    assert not series[0] & series[1]
    labels = ["--metrics-label=run=mine"], ["--metrics-label=run=yours", "--metrics-label=run=mine"]
    for options in labels:
        run(*TOKENS, "--metrics", tmp_path / "x.prom", *options, input=RECORD)
        assert 'bertqa_filter_records_total{run="mine"} 1\n' in (tmp_path / "x.prom").read_text()
    for label in "no value", "1=x", "a-b=x", "=x", "__a=x", "kind=x":
        [error] = run(*TOKENS, "--metrics", tmp_path / "x.prom", "--metrics-label", label, code=2)[1]
        assert "--metrics-label takes NAME=VALUE" in error
    assert "needs --metrics" in run(*TOKENS, "--metrics-label=a=b", code=2)[1][0]


def test_windows_of_vectors_are_counted(tmp_path):
    stats = tmp_path / "stats"
    texts = b"".join(compact({"text": "the dog " * count}) + b"\n" for count in (1, 100))
    run("filter", "--task=embed", "-m", FIXTURES / "tiny-bert-embedder", "--max-seq-len=32", "--stats", stats,
        input=texts)  # fmt: skip
    assert summary(stats)["windows"] > 4


# Records that fail


def test_failed_records_need_not_fail_the_run(tmp_path):
    data = RECORD * 3 + b"bad\n"
    assert len(run(*TOKENS, "--exit-zero-on-record-errors", input=data)[1]) == 1
    assert run(*TOKENS, "--exit-zero-on-record-errors", "--on-error=fail", input=data, code=3)


@pytest.mark.parametrize(
    "limit, bad, good, code",
    [
        ("0", 1, 5, 3), ("0", 0, 5, 0), ("2", 2, 5, 1), ("2", 3, 5, 3),
        ("1%", 1, 99, 1), ("1%", 2, 98, 3), ("0%", 1, 5, 3), ("50%", 3, 3, 1), ("50%", 4, 3, 3),
    ],
)  # fmt: skip
def test_a_run_ends_above_the_limit_of_errors(limit, bad, good, code, tmp_path):
    output, errors = run(*TOKENS, "--max-errors", limit, input=RECORD * good + b"bad\n" * bad, code=code)
    assert output.count(DONE) == good
    assert (f"of {bad + good} records failed: above --max-errors" in errors[-1] if errors else False) == (
        code == 3
    )


def test_a_stop_is_not_the_end_at_which_a_share_of_errors_counts():
    process = start(*TOKENS, "--max-errors=1%")
    process.stdin.write(b"bad\n")
    process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    assert len(finish(process, code=-signal.SIGTERM)[1]) == 1


def test_the_limit_of_errors_ends_a_run_early():
    output, errors = run(*TOKENS, "--max-errors=5", input=b"bad\n" * 50_000, code=3)
    assert len(errors) == 7 and errors[-1] == "bertqa: 6 of 6 records failed: above --max-errors"
    assert len(output.splitlines()) == 6
    output, errors = run(*TOKENS, "--max-errors=5%", input=RECORD + b"bad\n" * 50_000, code=3)
    assert errors[-1] == "bertqa: 99 of 100 records failed: above --max-errors"
    for limit in "-1", "x", "101%", "%", "":
        assert "--max-errors takes a number such as 100" in run(*TOKENS, "--max-errors", limit, code=2)[1][0]


def test_the_reason_of_a_failure_that_is_no_more_goes(tmp_path):
    first, _ = run(*TOKENS, "--text-field=t", "--quiet", input=b'{"text":"a b"}\n[]\n', code=1)
    reason = b'"bertqa_error":"there is no field \'t\'"'
    assert first.splitlines()[0] == b'{"text":"a b","bertqa":null,' + reason + b"}"
    second, errors = run(*TOKENS, input=first.splitlines()[0] + b"\n")
    assert second == b'{"text":"a b","bertqa":[1037,1038],"bertqa_error":null}\n' and errors == []
    third, _ = run(*TOKENS, "--text-field=t", "--quiet", input=second, code=1)
    assert third == first.splitlines(keepends=True)[0]
    # Other members of this name are not the filter's.
    for record in b'{"text":"a","bertqa_error":"E42"}', b'{"text":"a","bertqa":7,"bertqa_error":"E42"}':
        assert b'"bertqa_error":"E42"' in run(*TOKENS, input=record)[0]
    for value, reason in (b'{"x":null}', b"null"), (b"{}", b'"E42"'), (b'{"y":null}', b'"E42"'):
        record = b'{"text":"a","r":%s,"r_error":"E42"}' % value
        assert run(*TOKENS, "--output-field=r.x", input=record)[0].endswith(b'"r_error":%s}\n' % reason)
    nested, _ = run(
        *TOKENS, "--text-field=t", "--quiet", "--output-field=r.x", input=b'{"r":{"x":7} }\n{}\n', code=1
    )
    assert nested == (
        b'{"r":{"x":null} ,"r_error":"there is no field \'t\'"}\n{"r":{"x":null},"r_error":"there is no field \'t\'"}\n'
    )


# Memory, by what the system counts


@pytest.mark.parametrize("format", ["jsonl", "csv", "tsv"])
def test_memory_of_blank_lines(format):
    process = start(*TOKENS, "--format", format, stdout=subprocess.DEVNULL)
    if format != "jsonl":
        process.stdin.write(b"text\n")
    process.stdin.write(b"\n" * 1000)
    wait_for(lambda: unread(process.stdin) == 0)
    before = peak_memory(process)
    for _ in range(16):
        process.stdin.write(b"\n" * (1 << 20))
    after = peak_memory(process)
    finish(process)
    assert after < before + (12 << 20)


def test_memory_of_very_short_records():
    """Each takes hundreds of bytes in memory, so only a few may be there at once."""
    process = start(*TOKENS, "--quiet", "--on-error=drop", stdout=subprocess.DEVNULL)
    for _ in range(8):
        process.stdin.write(b"x\n\n" * (1 << 18))
    after = peak_memory(process)
    finish(process, code=1)
    assert after < 48 << 20


@pytest.mark.parametrize("header", [b"text\n", b"," * (8 << 20) + b"text\n"])
def test_memory_of_a_row_of_delimiters(header):
    """The memory is a few times the row, not a number of bytes per field."""
    process = start(*TOKENS, "--format=csv", "--on-error=drop", stdout=subprocess.DEVNULL)
    process.stdin.write(header)
    process.stdin.write(b"," * (8 << 20) + b"a b\n")
    for number in range(3, 103):
        process.stdin.write(b",x,y\n")
        while b"line %d:" % number not in process.stderr.readline():
            pass
    assert peak_memory(process) < 90 << 20
    finish(process, code=1)


def test_a_byte_order_mark_before_a_quoted_header():
    table = b'\xef\xbb\xbf"te\nxt",n\n"a\nb",1\n'
    output, errors = run(*TOKENS, "--format=csv", "--text-field=te\nxt", input=table)
    assert errors == []
    assert output == b'\xef\xbb\xbf"te\nxt",n,bertqa_ids,bertqa_error\n"a\nb",1,1037 1038,\n'
    for mark in b"\xef", b"\xef\xbb", b"\xef\xbb\xbf":
        assert run(*TOKENS, "--on-error=pass", input=mark, code=None)[0] == mark + b"\n"
