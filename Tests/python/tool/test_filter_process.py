"""`bertqa filter` as a process: flushing, back-pressure, signals, memory, summaries, and continued runs."""

import contextlib
import fcntl
import gzip
import json
import os
import pty
import re
import select
import signal
import subprocess
import threading
import time

import pytest

from filtering import (
    DONE,
    RECORD,
    SLOW,
    TOKENS,
    compact,
    environment,
    feed,
    finish,
    run,
    start,
    summary,
    wait_for,
    wait_for_a_full_pipe,
)
from samples import peak_memory

# One record in, one out


def test_each_record_is_answered_before_the_next_is_sent():
    process = start(*TOKENS)
    for number in range(50):
        process.stdin.write(b'{"n":%d,"text":"a b"}\n' % number)
        assert process.stdout.readline() == b'{"n":%d,"text":"a b","bertqa":[1037,1038]}\n' % number
        if number % 10 == 0:
            process.stdin.write(b"\nbad\n")
            assert process.stdout.readline() == b"\n"
            assert json.loads(process.stdout.readline())["bertqa"] is None
    assert len(finish(process, code=1)[1]) == 5


@pytest.mark.parametrize("options, answers", [(["--on-error=drop"], "error"), (["--quiet"], "null")])
def test_a_host_that_takes_a_line_from_either_stream_for_the_answer(options, answers):
    """Like Redpanda Connect's subprocess processor: each message gets one line, of output or of errors."""
    process = start(*TOKENS, *options)
    for number in range(20):
        bad = number % 3 == 1
        process.stdin.write(b'{"n":%d}\n' % number if bad else b'{"n":%d,"text":"a"}\n' % number)
        [stream], _, _ = select.select([process.stdout, process.stderr], [], [])
        line = stream.readline()
        if bad and answers == "error":
            assert stream is process.stderr and b"line %d:" % (number + 1) in line
        else:
            assert json.loads(line) == {
                "n": number,
                **(
                    {"bertqa": None, "bertqa_error": "there is no field 'text'"}
                    if bad
                    else {"text": "a", "bertqa": [1037]}
                ),
            }
        assert not select.select([process.stdout, process.stderr], [], [], 0.01)[0]
    assert finish(process, code=1) == (b"", [])


def test_answers_come_at_once_on_a_terminal():
    controller, terminal = pty.openpty()
    process = start(*TOKENS, stdout=terminal)
    os.close(terminal)
    process.stdin.write(RECORD)
    received = b""
    while b"\n" not in received:
        received += os.read(controller, 1000)
    assert received.replace(b"\r\n", b"\n") == DONE
    finish(process)
    os.close(controller)


def test_a_file_is_written_after_a_second(tmp_path):
    target = tmp_path / "out"
    process = start(*TOKENS, "--output", target)
    process.stdin.write(RECORD)
    wait_for(lambda: target.exists() and target.read_bytes() == DONE)
    assert process.poll() is None
    finish(process)


def test_records_in_small_pieces():
    process = start(*TOKENS)
    for byte in RECORD * 3:
        process.stdin.write(bytes([byte]))
        time.sleep(0.001)
    assert finish(process) == (DONE * 3, [])


def test_pipes_that_do_not_block():
    """Some hosts leave their pipes in this mode."""
    reader, writer = os.pipe()
    fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 4096)
    results, results_end = os.pipe()
    fcntl.fcntl(results_end, fcntl.F_SETPIPE_SZ, 4096)
    os.set_blocking(reader, False)
    os.set_blocking(results_end, False)
    process = start(*TOKENS, stdin=reader, stdout=results_end)
    os.close(reader)
    os.close(results_end)

    def feed():
        for _ in range(2000):
            os.write(writer, RECORD)
        os.close(writer)

    feeder = threading.Thread(target=feed)
    feeder.start()
    time.sleep(0.2)
    with open(results, "rb") as stream:
        assert stream.read() == DONE * 2000
    feeder.join()
    assert process.wait(60) == 0
    process.stderr.close()


# Back-pressure and memory


def test_reading_waits_for_a_reader_of_the_output():
    process = start(*TOKENS)
    os.set_blocking(process.stdin.fileno(), False)
    sent = 0
    idle = 0
    while idle < 20:
        count = process.stdin.write(RECORD * 100)
        sent, idle = (sent + count, 0) if count else (sent, idle + 1)
        if not count:
            time.sleep(0.05)
    # Two pipes of 64 KiB, the queue of 256 KiB, and what is being read and written.
    assert sent < 4 << 20
    assert peak_memory(process) < 100 << 20
    os.set_blocking(process.stdin.fileno(), True)
    missing = -sent % len(RECORD)
    received = []
    reader = threading.Thread(target=lambda: received.append(process.stdout.read()))
    reader.start()
    process.stdin.write(RECORD[len(RECORD) - missing :])
    process.stdin.close()
    reader.join()
    assert received[0] == DONE * ((sent + missing) // len(RECORD))
    assert process.wait(60) == 0
    process.stdout.close()
    process.stderr.close()


def test_memory_does_not_grow_with_the_input(tmp_path):
    def peak(count):
        process = start(*TOKENS, stdout=subprocess.DEVNULL)
        record = compact({"text": "a b " * 100, "x": "y" * 100}) + b"\n"
        for _ in range(count):
            process.stdin.write(record * 2000)
        memory = peak_memory(process)
        finish(process)
        return memory

    assert peak(100) < 1.5 * peak(10) + (8 << 20)


def test_a_record_above_the_limit_is_not_held_in_memory(tmp_path):
    letters = tmp_path / "letters"
    for options, kept in [(["--on-error=null"], False), ([f"--on-error=dead-letter={letters}"], True)]:
        process = start(*TOKENS, *options, "--max-record-bytes=1M")
        process.stdin.write(RECORD)
        assert process.stdout.readline() == DONE
        before = peak_memory(process)
        for _ in range(300):
            process.stdin.write(b"x" * (1 << 20))
        process.stdin.write(b"\n" + RECORD)
        if not kept:
            assert json.loads(process.stdout.readline())["bertqa"] is None
        assert process.stdout.readline() == DONE
        assert peak_memory(process) < before + (40 << 20)
        [error] = finish(process, code=1)[1]
        assert error.startswith("bertqa: line 2: the record has more than 1048576 bytes")
    assert letters.stat().st_size == (300 << 20) + 1


def test_a_record_above_the_limit_passes_through():
    large = b"x" * 3_000_000 + b"\n"
    output, errors = run(
        *TOKENS, "--on-error=pass", "--max-record-bytes=9999", input=RECORD + large + RECORD, code=1
    )
    assert output == DONE + large + DONE and len(errors) == 1


# Signals


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_end_the_run_behind_what_was_read(number, tmp_path):
    stats = tmp_path / "stats"
    # The process inherits what the tests ignore, such as nohup's SIGHUP.
    before = signal.signal(number, signal.SIG_DFL)
    try:
        process = start(*SLOW, "--stats", stats)
    finally:
        signal.signal(number, before)
    record = compact({"text": "a b c " * 500}) + b"\n"
    process.stdin.write(record * 20)
    first = process.stdout.readline()
    process.send_signal(number)
    output, errors = finish(process, code=-number)
    lines = (first + output).splitlines()
    numbers = summary(stats)
    assert numbers["records"] == len(lines) == 20 and errors == []
    assert numbers["ended_by"] == number.name
    assert all(json.loads(line)["bertqa"] for line in lines)


def test_a_signal_while_waiting_for_input():
    process = start(*TOKENS)
    process.stdin.write(RECORD)
    assert process.stdout.readline() == DONE
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == -signal.SIGTERM
    finish(process, code=-signal.SIGTERM)


def test_a_signal_lets_the_record_that_has_begun_end():
    process = start(*TOKENS)
    process.stdin.write(RECORD + RECORD[:5])
    assert process.stdout.readline() == DONE
    process.send_signal(signal.SIGTERM)
    time.sleep(0.2)
    process.stdin.write(RECORD[5:] + RECORD)
    assert process.stdout.read() == DONE
    finish(process, code=-signal.SIGTERM)


def test_a_signal_lets_a_line_that_is_being_appended_end(tmp_path):
    source = tmp_path / "in"
    source.write_bytes(RECORD + RECORD[:5])
    process = start(*TOKENS, "--follow", source)
    assert process.stdout.readline() == DONE
    process.send_signal(signal.SIGTERM)
    time.sleep(0.2)
    with source.open("ab") as file:
        file.write(RECORD[5:] + RECORD)
    assert finish(process, code=-signal.SIGTERM) == (DONE, [])


def test_a_signal_while_nobody_is_at_the_other_end_of_a_fifo(tmp_path):
    fifo, source, target = tmp_path / "fifo", tmp_path / "in", tmp_path / "out.gz"
    os.mkfifo(fifo)
    source.write_bytes(RECORD)
    process = start(*TOKENS, source, fifo, "-o", target, "--stop-timeout=0")
    wait_for(lambda: target.exists() and target.stat().st_size > 0)
    process.send_signal(signal.SIGTERM)
    assert finish(process, code=-signal.SIGTERM) == (b"", [])
    assert gzip.decompress(target.read_bytes()) == DONE
    process = start(*TOKENS, source, "-o", fifo, "--stop-timeout=0")
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    assert finish(process, code=-signal.SIGTERM) == (b"", [])
    # Both ends come later.
    processes = start(*TOKENS, source, "-o", fifo), start(*TOKENS, fifo)
    assert finish(processes[0]) == (b"", [])
    assert json.loads(finish(processes[1])[0])["text"] == "a b"


def test_a_record_that_does_not_end_after_a_signal_is_not_lost(tmp_path):
    letters = tmp_path / "letters"
    process = start(*TOKENS, f"--on-error=dead-letter={letters}")
    process.stdin.write(RECORD + RECORD[:5])
    assert process.stdout.readline() == DONE
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == -signal.SIGTERM
    assert finish(process, code=-signal.SIGTERM)[1] == ["bertqa: line 2: stopped inside the record"]
    assert letters.read_bytes() == RECORD[:5] + b"\n"


@pytest.mark.parametrize("numbers", [[signal.SIGTERM] * 2, [signal.SIGINT] * 3, [signal.SIGTERM, signal.SIGINT]])
def test_signals_that_follow_at_once_are_one(numbers, tmp_path):
    """timeout sends one to the process and one to its group, and so may a terminal."""
    stats = tmp_path / "stats"
    process = start(*SLOW, "--stats", stats)
    process.stdin.write((compact({"text": "a b c " * 500}) + b"\n") * 20)
    first = process.stdout.readline()
    for number in numbers:
        process.send_signal(number)
    output, errors = process.communicate(timeout=120)
    assert -process.returncode in numbers and errors == b""
    assert summary(stats)["records"] == len((first + output).splitlines()) == 20


def test_a_later_signal_ends_it_at_once():
    """Only the signal ends the run, because nobody reads the output."""
    process = start(*TOKENS, "--stop-timeout=100000")
    feeder = threading.Thread(target=feed, args=(process.stdin, RECORD * 1000))
    feeder.start()
    # Once the pipes are full, the run blocks.
    wait_for_a_full_pipe(process.stdout)
    for _ in range(50):
        process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            assert process.wait(1.2) == -signal.SIGTERM
            break
    assert process.returncode == -signal.SIGTERM
    feeder.join()
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()


def test_signals_that_the_parent_ignores_stay_ignored():
    process = start(*TOKENS, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    process.stdin.write(RECORD)
    assert process.stdout.readline() == DONE
    process.send_signal(signal.SIGINT)
    process.stdin.write(RECORD)
    assert process.stdout.readline() == DONE
    finish(process)


@pytest.mark.parametrize("ignored, code", [(False, -signal.SIGPIPE), (True, 4)])
def test_a_closed_output_ends_the_run_quietly(ignored, code, tmp_path):
    stats = tmp_path / "stats"

    def ignore():
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)

    process = start(*TOKENS, "--stats", stats, restore_signals=not ignored, preexec_fn=ignore if ignored else None)
    process.stdin.write(RECORD)
    assert process.stdout.readline() == DONE
    process.stdout.close()
    process.stdin.write(RECORD)
    assert process.wait(60) == code
    assert process.stderr.read() == b""
    assert json.loads(stats.read_text())["ended_by"] == "SIGPIPE"
    process.stdin.close()
    process.stderr.close()


def test_full_disk():
    with open("/dev/full", "wb") as full:
        process = start(*TOKENS, stdout=full)
        process.stdin.write(RECORD)
        assert finish(process, code=4)[1] == ["bertqa: cannot write standard output: No space left on device"]
    errors = run(*TOKENS, "--on-error=dead-letter=/dev/full", input=b"bad", code=4)[1]
    assert errors[-1] == "bertqa: cannot write /dev/full: No space left on device"


def test_a_closed_standard_error():
    process = start(*TOKENS, stderr=None, preexec_fn=lambda: os.close(2))
    output, _ = process.communicate(b"bad\n" + RECORD, timeout=60)
    assert process.returncode == 1 and len(output.splitlines()) == 2


# Summaries, metrics, progress


def test_summary(tmp_path):
    stats = tmp_path / "stats"
    data = RECORD * 150 + b"\nbad\n{}\n"
    output, _ = run(*TOKENS, "--stats", stats, "--batch-size=50", input=data, code=1)
    numbers = summary(stats)
    assert (numbers["records"], numbers["succeeded"], numbers["failed"]) == (152, 150, 2)
    assert (numbers["blank_lines"], numbers["written"], numbers["dead_letters"]) == (1, 152, 0)
    assert numbers["failed_by_kind"] == {
        "invalid_record": 1, "missing_field": 1, "wrong_type": 0, "record_too_large": 0, "document_too_large": 0,
        "refused": 0, "deadline_exceeded": 0, "truncated": 0, "stopped": 0,
    }  # fmt: skip
    assert (numbers["input_bytes"], numbers["output_bytes"]) == (len(data), len(output))
    assert numbers["batches"] >= 3 and numbers["windows"] == 0 and numbers["ended_by"] is None
    assert numbers["seconds"] > 0 and numbers["records_per_second"] > 0
    text = b'{"text":"The fox.","question":"Who?"}\n'
    run("filter", "--stats", stats, input=text * 3)
    assert summary(stats)["windows"] == 3
    assert [*tmp_path.iterdir()] == [stats]


def test_metrics_are_replaced_while_it_runs(tmp_path):
    metrics = tmp_path / "bertqa.prom"
    process = start(*TOKENS, "--metrics", metrics)
    process.stdin.write(RECORD + b"bad\n")
    wait_for(metrics.exists)
    first = metrics.stat().st_ino
    values = read_metrics(metrics)
    assert values['bertqa_filter_records_total{run="bertqa"}'] in (0, 1, 2)
    wait_for(lambda: metrics.stat().st_ino != first)
    finish(process, code=1)
    values = read_metrics(metrics)
    assert values['bertqa_filter_records_total{run="bertqa"}'] == 2
    assert values['bertqa_filter_written_records_total{run="bertqa"}'] == 2
    assert values['bertqa_filter_failed_records_total{run="bertqa",kind="invalid_record"}'] == 1
    assert values['bertqa_filter_input_bytes_total{run="bertqa"}'] == len(RECORD) + 4
    assert [*tmp_path.iterdir()] == [metrics]


def read_metrics(path):
    """Prometheus' text format, checked line by line."""
    values, known = {}, set()
    for line in path.read_text().splitlines():
        if match := re.fullmatch(r"# (HELP|TYPE) ([a-z_]+) (.+)", line):
            known.add(match[2])
            assert match[1] == "HELP" or match[3] in ("counter", "gauge")
        else:
            name, value = re.fullmatch(
                r'([a-z_]+\{[a-z_]+="[^"]*"(?:,[a-z_]+="[^"]*")*\}) ([0-9.e+-]+)', line
            ).groups()
            assert name.split("{")[0] in known
            values[name] = float(value)
    return values


def test_progress_without_a_terminal(tmp_path):
    source = tmp_path / "in"
    source.write_bytes(RECORD * 3)
    output, errors = run(*TOKENS, "--progress", source)
    assert output == DONE * 3
    assert [re.sub(r"\d+ a second", "N a second", error) for error in errors] == [
        "bertqa: 3 records (100 %), N a second, 0 failed"
    ]


def test_progress_on_a_terminal():
    controller, terminal = pty.openpty()
    process = start(*TOKENS, stderr=terminal, env=environment() | {"TERM": "xterm"})
    os.close(terminal)
    process.stdin.write(RECORD)
    received = b""
    while b"1 records, 0 a second, 0 failed\x1b[K" not in received:
        received += os.read(controller, 1000)
    process.stdin.write(b"bad\n")
    while b"byte 0\r\n" not in received:
        received += os.read(controller, 1000)
    assert b"\r\x1b[Kbertqa: line 2: not a JSON object" in received
    process.communicate(timeout=60)
    os.close(controller)
