"""`bertqa filter` as a process: flushing, back-pressure, signals, memory, summaries, and runs that go on."""

import fcntl
import json
import os
import pty
import random
import re
import select
import signal
import subprocess
import threading
import time

import pytest
from filtering import TINY, TOKENS, compact, environment, run, start, summary

RECORD = b'{"text":"a b"}\n'
DONE = b'{"text":"a b","bertqa":[1037,1038]}\n'
# Slow enough to be interrupted.
SLOW = ["filter", "-m", TINY, "--threads=1", "--isa=portable", "-q", "what?", "--batch-size=4"]


def finish(process, code=0):
    """Closes the input, reads what is left, and returns it with the errors."""
    output, errors = process.communicate(timeout=120)
    assert process.returncode == code, (process.returncode, errors)
    return output, errors.decode().splitlines()


def wait_for(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


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
    """As Redpanda Connect's subprocess processor: each message gets one line, of output or of errors."""
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
                **({"bertqa": None} if bad else {"text": "a", "bertqa": [1037]}),
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
    """As some hosts leave them behind."""
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


def peak_memory(process):
    """Of a running process, in bytes."""
    status = open(f"/proc/{process.pid}/status").read()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024


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


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_end_the_run_behind_what_was_read(number, tmp_path):
    stats = tmp_path / "stats"
    process = start(*SLOW, "--stats", stats)
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


def test_a_record_that_does_not_end_after_a_signal_is_not_lost(tmp_path):
    letters = tmp_path / "letters"
    process = start(*TOKENS, f"--on-error=dead-letter={letters}")
    process.stdin.write(RECORD + RECORD[:5])
    assert process.stdout.readline() == DONE
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == -signal.SIGTERM
    assert finish(process, code=-signal.SIGTERM)[1] == ["bertqa: line 2: stopped inside the record"]
    assert letters.read_bytes() == RECORD[:5] + b"\n"


def test_a_second_signal_ends_it_at_once():
    process = start(*SLOW)
    feeder = threading.Thread(
        target=lambda: write_quietly(process.stdin, compact({"text": "a b " * 20000}) + b"\n")
    )
    feeder.start()
    process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    time.sleep(0.3)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == -signal.SIGTERM
    feeder.join()
    process.stdout.close()
    process.stderr.close()


def write_quietly(stream, record):
    try:
        while True:
            stream.write(record)
    except BrokenPipeError:
        pass


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
        "refused": 0, "truncated": 0,
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
    assert values["bertqa_filter_records_total"] in (0, 1, 2)
    wait_for(lambda: metrics.stat().st_ino != first)
    finish(process, code=1)
    values = read_metrics(metrics)
    assert values["bertqa_filter_records_total"] == 2 == values["bertqa_filter_written_records_total"]
    assert values['bertqa_filter_failed_records_total{kind="invalid_record"}'] == 1
    assert values["bertqa_filter_input_bytes_total"] == len(RECORD) + 4
    assert [*tmp_path.iterdir()] == [metrics]


def read_metrics(path):
    """Prometheus' text format, checked line by line."""
    values, known = {}, set()
    for line in path.read_text().splitlines():
        if match := re.fullmatch(r"# (HELP|TYPE) ([a-z_]+) (.+)", line):
            known.add(match[2])
            assert match[1] == "HELP" or match[3] in ("counter", "gauge")
        else:
            name, value = re.fullmatch(r'([a-z_]+(?:\{kind="[a-z_]+"\})?) ([0-9.e+-]+)', line).groups()
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


# Runs that go on where they were killed


def records_to(path, count, seed):
    generator = random.Random(seed)
    words = "who jumped over the dog fox quick brown lazy".split()
    with path.open("wb") as file:
        for number in range(count):
            if generator.random() < 0.05:
                file.write(generator.choice([b"bad\n", b"\n", b'{"id":7}\n', b"x" * 3000 + b"\n"]))
            text = " ".join(generator.choices(words, k=generator.randrange(1, 60)))
            file.write(compact({"id": number, "text": text}) + b"\n")


@pytest.mark.parametrize("seed", range(3))
def test_a_killed_run_goes_on(seed, tmp_path):
    source = tmp_path / "in"
    records_to(source, 1500, seed)
    generator = random.Random(seed)

    def arguments(name):
        return [
            *SLOW, source, "--output", tmp_path / f"{name}.out", "--resume", tmp_path / f"{name}.checkpoint",
            "--on-error=pass", "--on-error", f"dead-letter={tmp_path / 'letters'}", "--max-record-bytes=2000",
            "--stats", tmp_path / f"{name}.stats",
        ]  # fmt: skip

    letters = tmp_path / "letters"
    letters.write_bytes(b"from before\n")
    errors = run(*arguments("whole"), code=1)[1]
    expected = (tmp_path / "whole.out").read_bytes(), letters.read_bytes()
    letters.write_bytes(b"from before\n")
    checkpoint = tmp_path / "killed.checkpoint"

    def is_done(count):
        """Whether a checkpoint says so of this many bytes."""
        return checkpoint.exists() and int(re.search(r"input_bytes (\d+)", checkpoint.read_text())[1]) >= count

    size = source.stat().st_size
    kills = 0
    for goal in sorted(generator.choices(range(size * 7 // 10), k=6)):
        process = start(*arguments("killed"), "--checkpoint-interval=0.01")
        wait_for(lambda: is_done(goal))
        time.sleep(generator.uniform(0, 0.05))
        process.kill()
        process.communicate(timeout=60)
        kills += process.returncode == -signal.SIGKILL and not is_done(size)
    assert kills > 3
    process = start(*arguments("killed"))
    told = finish(process, code=1)[1]
    assert ((tmp_path / "killed.out").read_bytes(), letters.read_bytes()) == expected
    # What was told last was told by the undisturbed run, too, line numbers included.
    assert set(told) < set(errors)
    first, second = summary(tmp_path / "whole.stats"), summary(tmp_path / "killed.stats")
    for name in set(first) - {"batches", "seconds", "records_per_second"}:
        assert first[name] == second[name], name


@pytest.mark.parametrize("format", ["csv", "tsv", "length-prefixed"])
def test_other_formats_go_on_too(format, tmp_path):
    source, target, checkpoint = tmp_path / "in", tmp_path / "out", tmp_path / "checkpoint"
    if format == "length-prefixed":
        records = [len(r).to_bytes(4, "big") + r for r in (b'{"text":"a %d"}' % n for n in range(300))]
    else:
        records = [b"%d,a\n" % n if format == "csv" else b"%d\ta\n" % n for n in range(300)]
        records.insert(0, records[0].replace(b"0", b"id").replace(b"a", b"text"))
    data = b"".join(records)
    options = [*TOKENS, "--format", format]
    expected, _ = run(*options, input=data)
    resumable = [*options, source, "-o", target, "--resume", checkpoint]
    # A checkpoint in the middle: of the first records, as if the run had been killed behind them.
    source.write_bytes(b"".join(records[:100]))
    run(*resumable)
    target.write_bytes(target.read_bytes() + b"written after the checkpoint")
    source.write_bytes(data)
    run(*resumable)
    assert target.read_bytes() == expected
    run(*resumable)
    assert target.read_bytes() == expected


def test_a_stopped_or_failed_run_goes_on(tmp_path):
    source, target, checkpoint = tmp_path / "in", tmp_path / "out", tmp_path / "checkpoint"
    arguments = [*TOKENS, source, "-o", target, "--resume", checkpoint, "--on-error=fail"]
    source.write_bytes(RECORD * 3 + b"bad  \n" + RECORD)
    run(*arguments, code=3)
    assert target.read_bytes() == DONE * 3
    assert "line 4:" in run(*arguments, code=3)[1][0]
    source.write_bytes(RECORD * 3 + b"     \n" + RECORD)
    run(*arguments)
    assert target.read_bytes() == DONE * 3 + b"     \n" + DONE


def test_a_run_ended_by_a_signal_goes_on(tmp_path):
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_bytes(
        b"".join(compact({"n": n, "text": "who " * (n % 50), "x": "x" * 5000}) + b"\n" for n in range(600))
    )
    options = [*SLOW, source, "--quiet", "--output"]
    run(*options, target)
    arguments = [*options, tmp_path / "stopped", "--resume", tmp_path / "checkpoint", "--checkpoint-interval=0"]
    process = start(*arguments)
    wait_for(lambda: (tmp_path / "stopped").exists() and (tmp_path / "stopped").stat().st_size > 10_000)
    process.send_signal(signal.SIGTERM)
    finish(process, code=-signal.SIGTERM)
    assert (tmp_path / "stopped").stat().st_size < target.stat().st_size
    run(*arguments)
    assert (tmp_path / "stopped").read_bytes() == target.read_bytes()


def test_checkpoints_of_something_else(tmp_path):
    source, target, checkpoint = tmp_path / "in", tmp_path / "out", tmp_path / "checkpoint"
    source.write_bytes(RECORD * 3)
    arguments = [*TOKENS, source, "-o", target, "--resume", checkpoint]
    run(*arguments)
    written = target.read_bytes(), checkpoint.read_bytes()
    for options in (["--output-field=x"], ["--on-error=drop"], ["--parse-special-tokens"]):
        assert "other arguments" in run(*arguments, *options, code=3)[1][0]
    run(*arguments, "--batch-size=3", "--progress")
    source.write_bytes(RECORD * 2 + b'{"text":"a c"}\n')
    assert "another input" in run(*arguments, code=3)[1][0]
    source.write_bytes(RECORD)
    assert "another input" in run(*arguments, code=3)[1][0]
    source.write_bytes(RECORD * 3)
    target.write_bytes(b"short")
    assert "changed meanwhile" in run(*arguments, code=3)[1][0]
    target.write_bytes(written[0])
    for content in (
        b"",
        b"bertqa filter checkpoint 1\n",
        written[1][:-6],
        b"\xff" * 100,
        written[1].replace(b"output", b""),
    ):
        checkpoint.write_bytes(content)
        assert "is not a checkpoint" in run(*arguments, code=3)[1][0]
    checkpoint.write_bytes(written[1])
    run(*arguments)
    assert target.read_bytes() == written[0] == DONE * 3


def test_resume_needs_files(tmp_path):
    source = tmp_path / "in"
    source.write_bytes(RECORD)
    for arguments in (["-", "-o", tmp_path / "out"], [source, "-o", "/dev/null"]):
        assert "--resume needs" in run(*TOKENS, *arguments, "--resume", tmp_path / "c", code=2)[1][0]
