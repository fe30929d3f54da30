"""Continued runs of `bertqa filter`: with --resume after a kill, with --follow at the end of a file."""

import os
import random
import re
import shutil
import signal
import subprocess
import time

import pytest

from conftest import FIXTURES
from filtering import DONE, RECORD, SLOW, TOKENS, compact, finish, run, start, summary, wait_for

# After a kill


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
        """True if a checkpoint covers at least this many bytes."""
        text = checkpoint.read_text() if checkpoint.exists() else ""
        return text != "" and int(re.search(r"input_bytes (\d+)", text)[1]) >= count

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
    # The undisturbed run has all of the last run's messages, line numbers included.
    assert set(told) < set(errors)
    first, second = summary(tmp_path / "whole.stats"), summary(tmp_path / "killed.stats")
    for name in set(first) - {"batches", "seconds", "records_per_second"}:
        assert first[name] == second[name], name


@pytest.mark.parametrize("format, end", [("csv", b"\n"), ("csv", b"\r"), ("tsv", b"\n"), ("length-prefixed", b"")])
def test_other_formats_go_on_too(format, end, tmp_path):
    source, target, checkpoint = tmp_path / "in", tmp_path / "out", tmp_path / "checkpoint"
    if format == "length-prefixed":
        records = [len(r).to_bytes(4, "big") + r for r in (b'{"text":"a %d"}' % n for n in range(300))]
    else:
        records = [(b"%d,a" if format == "csv" else b"%d\ta") % n + end for n in range(300)]
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


def test_a_run_that_failed_behind_the_names_of_columns_goes_on(tmp_path):
    sources, target = (tmp_path / "a.csv", tmp_path / "b.csv"), tmp_path / "out"
    arguments = [*TOKENS, *sources, "-o", target, "--resume", tmp_path / "checkpoint"]
    sources[0].write_bytes(b"text\n")
    sources[1].write_bytes(b"other\na b\n")
    for _ in range(2):
        assert "names other columns" in run(*arguments, code=3)[1][0]
    sources[1].write_bytes(b"text\na b\n")
    run(*arguments)
    assert target.read_bytes() == b"text,bertqa_ids,bertqa_error\na b,1037 1038,\n"


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
    for options in (
        ["--output-field=x"],
        ["--on-error=drop"],
        ["--parse-special-tokens"],
        ["--max-record-bytes=9M"],
    ):
        assert "other arguments" in run(*arguments, *options, code=3)[1][0]
    # Arguments with the same meaning, or that do not change the output.
    same = [
        "--format=ndjson",
        "--max-record-bytes=65536K",
        "--text-field=/text",
        "--on-error=pass",
        "--on-error=null",
    ]
    run(*arguments, *same, "--batch-size=3", "--progress", "--id-field=id")
    source.write_bytes(RECORD * 2 + b'{"text":"a c"}\n')
    assert "another input" in run(*arguments, code=3)[1][0]
    source.write_bytes(RECORD)
    assert "another input" in run(*arguments, code=3)[1][0]
    source.write_bytes(RECORD * 3)
    target.write_bytes(b"short")
    assert "out was changed since the checkpoint: restore it" in run(*arguments, code=3)[1][0]
    target.write_bytes(written[0])
    for content in (
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
    for arguments, code in ((["-", "-o", tmp_path / "out"], 2), ([source, "-o", "/dev/null"], 3)):
        assert "--resume needs" in run(*TOKENS, *arguments, "--resume", tmp_path / "c", code=code)[1][0]
    assert {path.name for path in tmp_path.iterdir()} == {"in"}


# One run at a time, of one output


def test_a_second_run_says_who_holds_the_checkpoint(tmp_path):
    source, target, checkpoint = tmp_path / "in", tmp_path / "out", tmp_path / "checkpoint"
    source.write_bytes(b"".join(compact({"text": "who " * 200}) + b"\n" for _ in range(2000)))
    arguments = [*SLOW, source, "--checkpoint-interval=0.01", "--output"]
    first = start(*arguments, target, "--resume", checkpoint)
    # Also after the checkpoint was replaced.
    wait_for(lambda: target.exists() and target.stat().st_size > 0)
    for output, other, shown in [
        (target, checkpoint, checkpoint), (tmp_path / "other", checkpoint, checkpoint), (target, tmp_path / "c", target)
    ]:  # fmt: skip
        [error] = run(*arguments, output, "--resume", other, code=3)[1]
        assert f"{shown} is in use: process {first.pid} is" in error
    first.kill()
    first.communicate(timeout=60)
    assert target.read_bytes().count(b"\0") == 0
    assert {path.name for path in tmp_path.iterdir()} - {f"checkpoint.{first.pid}.tmp"} == {
        "in",
        "out",
        "checkpoint",
    }
    second = start(*arguments, target, "--resume", checkpoint)
    second.send_signal(signal.SIGTERM)
    finish(second, code=-signal.SIGTERM)


def test_dead_letters_of_a_run_that_goes_on_are_its_own(tmp_path):
    letters = tmp_path / "letters"
    shared = start(*TOKENS, f"--on-error=dead-letter={letters}")
    shared.stdin.write(b"bad\n")
    wait_for(lambda: letters.exists() and letters.stat().st_size > 0)
    source = tmp_path / "in"
    source.write_bytes(RECORD)
    alone = [
        *TOKENS,
        source,
        "-o",
        tmp_path / "out",
        "--resume",
        tmp_path / "c",
        f"--on-error=dead-letter={letters}",
    ]
    [error] = run(*alone, code=3)[1]
    assert f"{letters} is in use by process {shared.pid}" in error
    finish(shared, code=1)
    run(*alone)


def test_outputs_are_not_cut_for_arguments_that_are_wrong(tmp_path):
    source, precious = tmp_path / "in", tmp_path / "precious"
    source.write_bytes(b"text\na\n")
    precious.write_bytes(b"precious " * 1000)
    csv = [*TOKENS, "--format=csv", source]
    cases = [
        ([*csv, "--text-field=no-such-column", "-o", precious], 3, "no column"),
        ([*csv, "--output-field=bertqa", "--text-field=bertqa_ids", "-o", precious], 3, "no column"),
        ([*csv, "-o", precious, "--resume", tmp_path / "none" / "c"], 4, "none/c: No such file"),
        ([*csv, "-o", precious, "--stats", tmp_path / "none" / "s"], 4, "none/s: No such file"),
        ([*csv, "-o", precious, "--on-error", f"dead-letter={tmp_path}/none/d"], 4, "none/d: No such file"),
        ([*csv, "-o", precious, "--resume", tmp_path / "c"], 3, "is not empty, but"),
        ([*csv, "-o", precious, "--resume", source], 2, "cannot be both read and written"),
        ([*csv, "--resume", precious, "-o", tmp_path / "out"], 3, "is not a checkpoint"),
    ]
    for arguments, code, complaint in cases:
        [error] = run(*arguments, code=code)[1]
        assert complaint in error
        assert precious.read_bytes() == b"precious " * 1000
        assert {path.name for path in tmp_path.iterdir()} == {"in", "precious"}, arguments
    run(*csv, "-o", tmp_path / "out", "--resume", tmp_path / "c")
    [error] = run(*csv, "-o", precious, "--resume", tmp_path / "c", code=3)[1]
    assert f"the checkpoint of the output {tmp_path / 'out'}, not of {precious}" in error
    assert precious.read_bytes() == b"precious " * 1000
    (tmp_path / "out").unlink()
    [error] = run(*csv, "-o", tmp_path / "out", "--resume", tmp_path / "c", code=3)[1]
    assert f"the checkpoint of an output {tmp_path / 'out'} that was removed or replaced" in error
    [error] = run(*csv, "-o", "out", "--resume", "c", cwd=tmp_path, code=3)[1]
    assert "the checkpoint of an output out that was removed or replaced" in error


def test_failed_runs_remove_only_what_they_made(tmp_path):
    source, precious, link, fifo = (tmp_path / name for name in ("in", "precious", "link", "fifo"))
    source.write_bytes(RECORD)
    precious.write_bytes(b"precious")
    link.symlink_to("absent")
    os.mkfifo(fifo)

    def files():
        return {
            path.name: path.read_bytes() if path.is_file() else (path.lstat().st_mode, path.lstat().st_ino)
            for path in tmp_path.iterdir()
        }

    before = files()
    for output, checkpoint, complaint in [
        ("/dev/null", precious, "--output to be a regular file"),
        (tmp_path / "out", fifo, "fifo is not a regular file, which --resume needs"),
        (link, precious, "is not a checkpoint"),
        (precious, link, "is not empty, but"),
    ]:
        assert complaint in run(*TOKENS, source, "-o", output, "--resume", checkpoint, code=3)[1][0]
        assert files() == before, complaint


@pytest.mark.parametrize("offset", [2, 40_000, -2])
def test_edits_of_what_is_done_are_noticed(offset, tmp_path):
    source, target, checkpoint = tmp_path / "in", tmp_path / "out", tmp_path / "checkpoint"
    letters = tmp_path / "letters"
    source.write_bytes((RECORD * 9 + b"bad\n") * 3000)
    arguments = [
        *TOKENS,
        source,
        "-o",
        target,
        "--resume",
        checkpoint,
        f"--on-error=dead-letter={letters}",
        "--quiet",
    ]
    run(*arguments, code=1)
    for path, complaint in (
        (source, "another input"),
        (target, "out was changed"),
        (letters, "letters was changed"),
    ):
        whole = path.read_bytes()
        place = min(offset, len(whole) // 2)
        with path.open("r+b") as file:
            file.seek(place, 0 if place > 0 else 2)
            byte = file.read(1)
            file.seek(-1, 1)
            file.write(bytes([byte[0] ^ 1]))
        assert complaint in run(*arguments, code=3)[1][0]
        with path.open("r+b") as file:
            file.write(whole)
    run(*arguments, code=1)


def test_a_model_that_was_changed_in_place_is_noticed(tmp_path):
    model = tmp_path / "model"
    shutil.copytree(FIXTURES / "tiny-bert-classifier", model)
    source = tmp_path / "in"
    source.write_bytes(RECORD)
    arguments = ["filter", "--task=classify", source, "-o", tmp_path / "out", "--resume", tmp_path / "c"]
    (model / "head").mkdir()
    # The hub's cache has links to files of other names.
    weights = [model / "head" / "model.safetensors", tmp_path / "blob"]
    (model / "pytorch_model.bin").symlink_to(weights[1])
    for file in weights:
        file.write_bytes(b"1")
    run(*arguments, "-m", model)
    shutil.copytree(model, tmp_path / "moved")
    run(*arguments, "-m", tmp_path / "moved")
    config = (model / "config.json").read_text()
    (model / "config.json").write_text(config.replace("glad", "gald"))
    assert "another model" in run(*arguments, "-m", model, code=3)[1][0]
    (model / "config.json").write_text(config)
    run(*arguments, "-m", model)
    for file in weights:
        file.write_bytes(b"2")
        assert "another model" in run(*arguments, "-m", model, code=3)[1][0]
        file.write_bytes(b"1")


def test_leftovers_of_killed_runs_are_removed(tmp_path):
    process = subprocess.Popen(["true"])
    process.wait()
    source = tmp_path / "in"
    source.write_bytes(RECORD)
    for name in "c", "stats", "m\u00e9trique":
        for number in process.pid, os.getpid():
            (tmp_path / f"{name}.{number}.tmp").touch()
        (tmp_path / f"{name}.x.tmp").touch()
    run(
        *TOKENS, source, "-o", tmp_path / "out", "--resume", tmp_path / "c", "--stats", tmp_path / "stats",
        "--metrics", tmp_path / "m\u00e9trique",
    )  # fmt: skip
    left = {path.name for path in tmp_path.glob("*.tmp")}
    assert left == {f"{name}.{end}.tmp" for name in ("c", "stats", "m\u00e9trique") for end in (os.getpid(), "x")}


# Input that grows


@pytest.mark.parametrize(
    "format, first, second, whole",
    [
        ("jsonl", RECORD + RECORD[:7], RECORD[7:], DONE * 2),
        ("jsonl", RECORD + RECORD[:-1], RECORD[-1:], DONE * 2),
        (
            "csv",
            b'text\na b\n"a\n',
            b' b"\n',
            b'text,bertqa_ids,bertqa_error\na b,1037 1038,\n"a\n b",1037 1038,\n',
        ),
        ("length-prefixed", b"\0\0\0\x0e" + RECORD[:4], RECORD[4:-1], b"\0\0\0\x23" + DONE[:-1]),
    ],
)
def test_an_unfinished_record_waits_for_the_next_run(format, first, second, whole, tmp_path):
    source, target = tmp_path / "in", tmp_path / "out"
    arguments = [*TOKENS, "--format", format, source, "-o", target, "--resume", tmp_path / "c"]
    source.write_bytes(first)
    [note] = run(*arguments)[1]
    assert "they wait for the next run" in note and whole.startswith(target.read_bytes())
    assert target.read_bytes() != whole
    with source.open("ab") as file:
        file.write(second)
    assert run(*arguments) == (b"", [])
    assert target.read_bytes() == whole


def test_follow_reads_on(tmp_path):
    source = tmp_path / "in"
    source.write_bytes(RECORD)
    process = start(*TOKENS, "--follow", source)
    assert process.stdout.readline() == DONE
    for _ in range(3):
        with source.open("ab", buffering=0) as file:
            file.write(RECORD[:6])
            time.sleep(0.05)
            file.write(RECORD[6:])
        assert process.stdout.readline() == DONE
    # Renamed, with a rest that comes after that, and a last line without an end.
    old = source.open("ab", buffering=0)
    source.rename(tmp_path / "in.1")
    old.write(RECORD + RECORD[:-1])
    assert process.stdout.readline() == DONE
    source.write_bytes(RECORD * 2)
    for _ in range(3):
        assert process.stdout.readline() == DONE
    # Cut.
    os.truncate(source, 0)
    with source.open("ab") as file:
        file.write(RECORD)
    assert process.stdout.readline() == DONE
    process.send_signal(signal.SIGTERM)
    assert finish(process, code=-signal.SIGTERM) == (
        b"",
        [
            f"bertqa: {source} was cut, and there is no copy of it: anything written behind byte {2 * len(RECORD)} "
            "before that is lost; it is read from its beginning"
        ],
    )


def test_follow_of_a_table_names_the_columns_once(tmp_path):
    source = tmp_path / "in"
    source.write_bytes(b"text\na b\n")
    process = start(*TOKENS, "--format=csv", "--follow", source)
    assert process.stdout.readline() == b"text,bertqa_ids,bertqa_error\n"
    assert process.stdout.readline() == b"a b,1037 1038,\n"
    source.rename(tmp_path / "in.1")
    source.write_bytes(b"text\na\n")
    assert process.stdout.readline() == b"a,1037,\n"
    source.rename(tmp_path / "in.2")
    source.write_bytes(b"other\na\n")
    assert finish(process, code=3)[1] == [
        f"bertqa: {source}: its first line names other columns than the file before it"
    ]


def test_follow_and_resume_across_a_rotation(tmp_path):
    source, target = tmp_path / "in", tmp_path / "out"
    records = [b'{"n":%d,"text":"a b"}\n' % number for number in range(40)]
    done = [record.replace(b"}", b',"bertqa":[1037,1038]}') for record in records]
    arguments = [
        *TOKENS, source, "-o", target, "--follow", "--resume", tmp_path / "c", "--checkpoint-interval=0.01"
    ]  # fmt: skip

    def run_until(count):
        process = start(*arguments)
        wait_for(lambda: target.exists() and target.read_bytes() == b"".join(done[:count]))
        time.sleep(0.7)  # The checkpoint follows.
        process.kill()
        process.communicate(timeout=60)

    source.write_bytes(b"".join(records[:10]))
    run_until(10)
    with source.open("ab") as file:
        file.write(b"".join(records[10:20]))
    source.rename(tmp_path / "in.1")
    source.write_bytes(b"".join(records[20:30]))
    # The rest of the file that has another name now comes first.
    run_until(30)
    with source.open("ab") as file:
        file.write(b"".join(records[30:]))
    run_until(40)
    assert target.read_bytes() == b"".join(done)


def test_follow_needs_a_file(tmp_path):
    assert "--follow needs" in run(*TOKENS, "--follow", code=2)[1][0]
    assert "--follow needs" in run(*TOKENS, "--follow", "/dev/null", code=2)[1][0]
    assert "0 seconds or more" in run(*TOKENS, "--checkpoint-interval=-1", code=2)[1][0]
    assert "0 seconds or more" in run(*TOKENS, "--stop-timeout=-0.5", code=2)[1][0]
    assert "at most 1000000000" in run(*TOKENS, "--stop-timeout=1e18", code=2)[1][0]
