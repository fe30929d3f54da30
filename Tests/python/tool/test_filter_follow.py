"""`bertqa filter --follow`: files that are renamed, copied and cut, compressed, removed and recreated, with and
without a run. Each record is written once and in order, or reported as lost."""

import os
import pathlib
import shutil
import signal
import tempfile
import time

import pytest

from filtering import compact, finish, run, start, summary, wait_for
from following import PATTERNS, Follower, compress, numbers, records


@pytest.fixture
def follower(tmp_path):
    follower = Follower(tmp_path)
    yield follower
    if follower.process:
        follower.down()


# Down


def test_down_for_several_rotations(follower):
    follower.append(*range(5))
    follower.up()
    follower.has(range(5))
    follower.down()
    follower.append(*range(5, 10))
    for first in range(10, 50, 10):
        follower.rotate()
        follower.append(*range(first, first + 10))
    compress(follower.rotated()[1])
    compress(follower.rotated()[-1])
    follower.up()
    follower.has(range(50))
    follower.down(signal.SIGTERM)
    assert follower.messages() == []


def test_a_stop_inside_a_line_is_no_reason_for_a_message(follower):
    with follower.log.open("wb", buffering=0) as file:
        file.write(records(0) + records(1)[:9])
        follower.up()
        follower.has([0])
        follower.down(signal.SIGTERM)
        assert follower.messages() == []
        file.write(records(1)[9:])
    follower.up()
    follower.has([0, 1])


@pytest.mark.parametrize(
    "form", ["app.jsonl-2026112{}", "app.jsonl.2026-11-2{}_03:00:01", "app-2026112{}.jsonl", "app.{}.jsonl"]
)
def test_names_of_rotated_files(form, follower):
    """Beside files with other names, which are not read."""
    for name in ["app-2.jsonl", "app.jsonl.bak", "app.jsonl.lock", "app2.jsonl", "other.jsonl.1"]:
        (follower.directory / name).write_bytes(records(99))
    follower.append(0)
    follower.up()
    follower.has([0])
    follower.down()
    for number in range(1, 4):
        # In app.N.jsonl the largest number is the oldest file.
        day = 5 - number if form == "app.{}.jsonl" else number
        follower.log.rename(follower.directory / form.format(day))
        follower.append(number)
    for name in ["app-2.jsonl", "app.jsonl.bak", "app.jsonl.lock", "app2.jsonl", "other.jsonl.1"]:
        (follower.directory / name).write_bytes(records(99))
    follower.up()
    follower.has(range(4))
    assert follower.messages() == []


def test_a_copy_that_was_made_while_down(follower):
    """A second copy is compressed. The file itself was cut each time and has grown beyond the part that was
    read."""
    follower.append(0, 1)
    follower.up()
    follower.has([0, 1])
    follower.down()
    follower.append(2)
    follower.copy_and_cut()
    follower.append(3)
    follower.copy_and_cut()
    compress(follower.rotated()[1])
    follower.append(*range(4, 10))
    follower.up()
    follower.has(range(10))
    assert follower.messages() == []


def test_what_is_gone_is_said(follower):
    follower.append(*range(4))
    follower.up()
    follower.has(range(4))
    follower.down()
    follower.append(4, 5)
    follower.log.unlink()
    follower.append(6)
    follower.rotate()
    follower.append(7)
    follower.up()
    follower.has([0, 1, 2, 3, 6, 7])
    follower.down()
    [message] = follower.messages()
    length = len(records(*range(4)))
    assert message.startswith(
        f"bertqa: {follower.log}: the file that was read up to byte {length} was removed or cut"
    )
    assert "lost" in message
    # It was said, and is done with.
    follower.append(8)
    follower.up()
    follower.has([0, 1, 2, 3, 6, 7, 8])
    assert follower.messages() == [message]


def rotate_between_runs(follower):
    """One record is read before three rotations, after each of which one is written."""
    follower.append(0)
    follower.up()
    follower.has([0])
    follower.down()
    for number in range(1, 4):
        follower.rotate()
        follower.append(number)


def test_what_is_missing_between_is_named(follower):
    rotate_between_runs(follower)
    follower.rotated()[1].unlink()
    follower.up()
    follower.has([0, 2, 3])
    [message] = follower.messages()
    assert f"{follower.log}.2 is not there" in message and "lost" in message


def test_a_file_whose_time_is_too_early_is_said(follower):
    rotate_between_runs(follower)
    os.utime(follower.rotated()[1], (0, 0))
    follower.up()
    follower.has([0, 2, 3])
    follower.down(signal.SIGTERM)
    [message] = follower.messages()
    assert f"{follower.log}.2 has the name of a later file than {follower.log}.3" in message and "lost" in message


def test_a_file_that_is_removed_before_its_turn_is_said(follower):
    follower.append(0)
    follower.up()
    follower.has([0])
    follower.down()
    # Enough to be busy with.
    follower.append(*range(1, 12_000))
    for number in range(12_000, 12_003):
        follower.rotate()
        follower.append(number)
    follower.up()
    wait_for(lambda: len(follower.done()) > 1)
    with follower.halted():
        assert follower.done()[-1] < 6_000
        follower.rotate()
        follower.append(12_003)
        follower.rotated()[2].unlink()
        compress(follower.rotated()[1])
    follower.has([*range(12_000), 12_001, 12_002, 12_003])
    assert follower.messages() == [f"bertqa: {follower.log}.2 was removed before it was read: it is lost"]


def test_the_earliest_time_of_an_unread_file():
    """In the memory file system: others do not keep it. The next run resumes and reads the whole file."""
    memory = pathlib.Path("/dev/shm")
    if not memory.is_dir():
        pytest.skip("no file system that keeps the time")
    with tempfile.TemporaryDirectory(dir=memory) as directory:
        follower = Follower(pathlib.Path(directory))
        record = records(0)
        follower.log.write_bytes(record[:-5])
        os.utime(follower.log, ns=(-(2**63), -(2**63)))
        if follower.log.stat().st_mtime_ns != -(2**63):
            pytest.skip("the file system does not keep the time")
        for _ in range(2):
            follower.up()
            try:
                follower.has_read(len(record) - 5)
                follower.has([])
            finally:
                follower.down(signal.SIGTERM)
        with follower.log.open("ab") as log:
            log.write(record[-5:])
        follower.up()
        try:
            follower.has([0])
        finally:
            follower.down(signal.SIGTERM)


def test_losses_of_all_runs_are_counted(tmp_path):
    stats, metrics = tmp_path / "stats", tmp_path / "app.prom"
    follower = Follower(tmp_path / "logs", "--stats", stats, "--metrics", metrics)
    follower.append(0)
    follower.up()
    follower.has([0])
    os.truncate(follower.log, 0)
    follower.append(1)
    follower.has([0, 1])
    follower.down(signal.SIGTERM)
    assert summary(stats)["losses"] == 1
    follower.log.unlink()
    follower.append(2)
    follower.up()
    follower.has([0, 1, 2])
    follower.down(signal.SIGTERM)
    assert summary(stats)["losses"] == 2
    assert 'bertqa_filter_losses_total{run="app"} 2\n' in metrics.read_text()
    assert sum("lost" in message for message in follower.messages()) == 2


@pytest.mark.parametrize("kind", ["xz", "denied"])
def test_what_cannot_be_read_is_refused(kind, follower):
    """A rerun loses nothing once the cause is removed."""
    if kind == "denied" and os.geteuid() == 0:
        pytest.skip("root may read all files")
    follower.append(0)
    follower.up()
    follower.has([0])
    follower.down()
    follower.rotate()
    follower.append(1)
    follower.rotate()
    follower.append(2)
    middle = follower.rotated()[0]
    if kind == "xz":
        middle.rename(f"{middle}.xz")
    else:
        middle.chmod(0)
    [message] = run(*follower.arguments, code=3)[1]
    assert str(middle) in message and ("decompress it" in message or "Permission denied" in message)
    if kind == "xz":
        middle.with_name(middle.name + ".xz").rename(middle)
    else:
        middle.chmod(0o644)
    follower.up()
    follower.has(range(3))


def test_the_checkpoint_of_another_log(follower, tmp_path):
    follower.append(0)
    follower.up()
    follower.has([0])
    follower.down()
    follower.log.unlink()
    other = tmp_path / "other.jsonl"
    other.write_bytes(records(1))
    arguments = [other if argument == follower.log else argument for argument in follower.arguments]
    [message] = run(*arguments, code=3)[1]
    assert "is the checkpoint of another input" in message
    assert follower.done() == [0]


def test_a_table_whose_first_file_is_gone(tmp_path):
    """The columns are named once, even if dead letters start later."""
    letters = tmp_path / "letters"
    follower = Follower(tmp_path, f"--on-error=dead-letter={letters}", "--coerce", name="app.csv")
    follower.log.write_bytes(b"n,text\n0,a@b.de\n")
    follower.up()
    wait_for(lambda: follower.output.exists() and follower.is_saved(1))
    follower.down()
    follower.log.unlink()
    follower.log.write_bytes(b"n,text\n1,a@b.de\n2\n")
    follower.up()
    wait_for(lambda: letters.read_bytes().count(b"\n") == 2)
    follower.down(signal.SIGTERM)
    assert [line.split(b",")[0] for line in follower.output.read_bytes().splitlines()] == [b"n", b"0", b"1"]
    assert letters.read_bytes() == b"n,text\n2\n"
    follower.log.unlink()
    follower.log.write_bytes(b"other,text\n3,a@b.de\n")
    assert "names other columns" in run(*follower.arguments, code=3)[1][-1]


# Up


def test_rotations_faster_than_any_look(follower):
    """Each file is renamed, and most are removed, before the filter leaves the previous one."""
    follower.append(0)
    follower.up()
    follower.has([0])
    for number in range(1, 30):
        follower.rotate()
        follower.append(number)
        for path in follower.rotated()[2:]:
            path.unlink()
        time.sleep(0.01)
    wait_for(lambda: follower.done()[-1:] == [29])
    # The filter reports what was removed before it was read: nothing else is missing.
    missing = 30 - len(follower.done())
    assert follower.done() == sorted(set(follower.done()))
    assert sum("lost" in message for message in follower.messages()) >= missing


def test_files_behind_removed_ones_are_read_once(follower):
    """They are found as rotated files while the filter still looks for the removed ones."""
    follower.append(0)
    follower.up()
    follower.has([0])
    with follower.halted():
        for number in range(1, 12):
            follower.rotate()
            follower.append(number)
        for path in follower.rotated()[5:-1]:
            path.unlink()
    follower.has([0, *range(6, 12)])
    follower.append(12)
    follower.has([0, *range(6, 13)])


def test_rotations_while_the_output_is_not_read(tmp_path):
    """The reader is slow: files that appear meanwhile are read later, although they have been renamed or
    removed."""
    follower = Follower(tmp_path)
    follower.append(-1)
    process = start(*PATTERNS, "--follow", follower.log, bufsize=1 << 16)
    process.stdout.readline()
    text = "word " * 4000
    for number in range(150):
        with follower.log.open("ab") as file:
            file.write(compact({"n": number, "text": text}) + b"\n")
        if number % 10 == 9:
            follower.rotate()
            follower.log.touch()
            time.sleep(0.02)
            for path in follower.rotated()[4:]:
                path.unlink()
    found = [numbers(process.stdout.readline())[0] for _ in range(150)]
    process.send_signal(signal.SIGTERM)
    assert finish(process, code=-signal.SIGTERM) == (b"", [])
    assert found == list(range(150))


def test_the_file_is_missing_at_first(follower):
    follower.up()
    wait_for(lambda: follower.waits() == 1)
    follower.append(0)
    follower.has([0])
    assert follower.waits() == 1 and follower.messages() == []


def test_a_run_that_saw_no_record_is_gone_on_with(follower):
    """Records written and rotated since are not skipped, whether the file existed or not."""
    for first in range(0, 6, 3):
        follower.up()
        wait_for(lambda: follower.waits() == 1 if first == 0 else follower.done() == [0, 1, 2])
        wait_for(lambda: follower.checkpoint.stat().st_size > 0)
        follower.down()
        for number in range(first, first + 3):
            if follower.log.exists():
                follower.rotate()
            follower.append(number)
    follower.up()
    follower.has(range(6))


def test_a_file_that_is_cut_and_removed_at_once(follower):
    follower.append(0)
    follower.up()
    follower.has([0])
    os.truncate(follower.log, 0)
    follower.log.unlink()
    wait_for(lambda: follower.waits() == 1)
    follower.append(1)
    follower.has([0, 1])


def test_a_file_that_is_cut_and_outgrows_what_was_read(follower):
    follower.append(0)
    follower.up()
    follower.has([0])
    with follower.log.open("r+b") as file:
        file.truncate(0)
        file.write(records(*range(1, 9)))
    follower.has(range(9))
    [message] = follower.messages()
    assert "was cut, and there is no copy of it" in message


def test_a_copy_that_is_made_between_two_looks(follower):
    follower.append(0)
    follower.up()
    follower.has([0])
    for number in range(1, 10, 3):
        follower.append(number)
        follower.copy_and_cut()
        follower.append(number + 1)
        follower.copy_and_cut()
        follower.append(number + 2)
    follower.has(range(10))
    assert follower.messages() == []


def test_a_copy_that_is_made_while_the_run_catches_up(follower):
    """The file is not truncated until the run has seen the copy, which has the same time."""
    follower.append(0)
    follower.up()
    follower.has([0])
    follower.down()
    count = 1
    for _ in range(10):
        follower.append(*range(count, count + 2000))
        follower.rotate()
        count += 2000
    follower.append(count)
    follower.up()
    wait_for(lambda: follower.output.stat().st_size > 1000)
    with follower.halted():
        follower.shift()
        shutil.copy2(follower.log, f"{follower.log}.1")
    follower.has(range(count + 1))
    os.truncate(follower.log, 0)
    follower.append(count + 1)
    follower.has(range(count + 2))
    assert follower.messages() == []


def test_what_comes_behind_the_end_is_said(follower):
    """A program keeps writing to the file it had opened, after others write to the new one."""
    follower.append(0)
    with follower.log.open("ab", buffering=0) as old:
        follower.up()
        follower.has([0])
        follower.rotate()
        old.write(records(1))
        follower.log.touch()
        time.sleep(0.5)
        # The new file is empty, so this one is still read.
        old.write(records(2))
        follower.has([0, 1, 2])
        follower.append(3)
        follower.has([0, 1, 2, 3])
        late = records(4)
        old.write(late)
        wait_for(follower.messages)
    assert f"{len(late)} bytes" in follower.messages()[0] and "lost" in follower.messages()[0]


@pytest.mark.parametrize("kind", ["FIFO", "directory"])
def test_no_file_takes_the_name(kind, follower):
    follower.append(0)
    follower.up()
    follower.has([0])
    follower.log.unlink()
    os.mkfifo(follower.log) if kind == "FIFO" else follower.log.mkdir()
    wanted = f"bertqa: {follower.log} is a {kind}, not a file: waiting for one"
    wait_for(lambda: wanted in follower.messages())
    follower.down(signal.SIGTERM)
    assert follower.messages() == [wanted]
    os.unlink(follower.log) if kind == "FIFO" else follower.log.rmdir()
    follower.append(1)
    follower.up()
    follower.has([0, 1])


@pytest.mark.parametrize("link", ["to a file", "to a file by date"])
def test_links(link, follower):
    """Links as for containers' logs, whose rotated files are in another directory; and a link to another file each
    day."""
    place = follower.directory / "elsewhere"
    place.mkdir()
    target = place / "0.log"

    def turn(number):
        nonlocal target
        if link == "to a file":
            target.rename(place / f"0.log.2026112{number}-000000")
            target.write_bytes(records(number))
        else:
            # The log of another process.
            (place / f"app-8-2026112{number}.jsonl").write_bytes(records(99))
            target = place / f"app-7-2026112{number}.jsonl"
            target.write_bytes(records(number))
            new = follower.directory / "new"
            new.symlink_to(target)
            new.rename(follower.log)

    if link != "to a file":
        target = place / "app-7-20261120.jsonl"
    target.write_bytes(records(0))
    follower.log.symlink_to(target)
    follower.up()
    follower.has([0])
    turn(1)
    follower.has([0, 1])
    follower.down()
    turn(2)
    turn(3)
    follower.up()
    follower.has([0, 1, 2, 3])
    assert follower.messages() == []


def test_a_new_file_with_the_number_of_a_removed_one(follower):
    """Compression removes the file of which nothing was read, and most file systems give its inode to the next."""
    follower.log.touch()
    follower.up()
    wait_for(
        lambda: (
            follower.checkpoint.exists()
            and f"input_file {follower.log.stat().st_ino}\n" in follower.checkpoint.read_text()
        )
    )
    follower.down()
    for first in range(0, 8, 4):
        follower.append(*range(first, first + 4))
        follower.rotate()
        if first == 0:
            compress(follower.rotated()[0])
    follower.append(8)
    follower.up()
    follower.has(range(9))
    assert follower.messages() == []


def test_the_directory_is_renamed_and_made_again(tmp_path):
    follower = Follower(tmp_path / "followed", name="logs/app.jsonl")
    logs = follower.log.parent
    logs.mkdir()
    follower.append(0)
    follower.up()
    follower.has([0])
    logs.rename(tmp_path / "old")
    logs.mkdir()
    follower.append(1)
    follower.has([0, 1])
    follower.watches(logs)
    (tmp_path / "old" / "app.jsonl").rename(tmp_path / "old" / "app.jsonl.1")
    follower.rotate()
    follower.append(2)
    follower.has([0, 1, 2])
    follower.down()
    assert follower.messages() == []


@pytest.mark.parametrize("option", ["--output=", "--resume=", "--stats=", "--on-error=dead-letter="])
@pytest.mark.parametrize("name", ["app.jsonl.1", "app.jsonl.old", "app-20261125.jsonl", "app.jsonl.gz"])
def test_outputs_with_names_of_rotated_files(name, option, tmp_path):
    """The run would read what it has written."""
    (tmp_path / "logs").mkdir()
    (tmp_path / "app.jsonl").symlink_to("logs/app.jsonl")
    for directory in ".", "logs":
        output = [] if option == "--output=" else ["--output=out"]
        arguments = [*PATTERNS, "--follow", "app.jsonl", *output, f"{option}{directory}/{name}"]
        [error] = run(*arguments, cwd=tmp_path, code=2)[1]
        assert f"--follow would read {directory}/{name} as a rotated file of app.jsonl" in error
    assert os.listdir(tmp_path / "logs") == [] and sorted(os.listdir(tmp_path)) == ["app.jsonl", "logs"]


@pytest.mark.parametrize("is_there", [True, False])
def test_paths_of_which_no_file_can_be_followed(is_there, tmp_path):
    odd = os.fsdecode(b"a\xff.jsonl")
    (tmp_path / "link.jsonl").symlink_to(odd)
    for name, target, complaint in [
        (odd, odd, "its path is not valid UTF-8"),
        ("link.jsonl", odd, "its path is not valid UTF-8"),
        ("a.jsonl.GZ", "a.jsonl.GZ", "which is compressed with gzip"),
    ]:
        if is_there:
            (tmp_path / target).write_bytes(records(1))
        assert complaint in run(*PATTERNS, "--follow", name, cwd=tmp_path, code=2)[1][0]
