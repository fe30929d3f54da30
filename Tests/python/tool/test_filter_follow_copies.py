"""`bertqa filter --follow`: a file that is copied and cut, or compressed, when the run has read little or nothing of
it."""

import pytest

from filtering import wait_for
from following import Follower, compress, records


@pytest.fixture
def follower(tmp_path):
    follower = Follower(tmp_path / "followed")
    yield follower
    if follower.process:
        follower.process.kill()
        follower.process.wait()


def test_nothing_was_read(follower):
    follower.log.touch()
    follower.up()
    for first in range(0, 15, 5):
        wait_for(
            lambda: (
                follower.checkpoint.exists()
                and f"input_file {follower.log.stat().st_ino}\n" in follower.checkpoint.read_text()
            )
        )
        follower.has_read(0)
        with follower.halted():
            follower.append(first, first + 1)
            follower.copy_and_cut()
            follower.append(first + 2, first + 3)
        follower.has(range(first + 4))
        follower.append(first + 4)
        follower.has(range(first + 5))
        follower.copy_and_cut()
    assert follower.messages() == []


def test_only_the_names_of_columns_were_read(tmp_path):
    """The file that is cut begins with the same line."""
    follower = Follower(tmp_path / "followed", name="app.tsv")
    header = b"id\ttext\n"

    def append(*numbers, header=b""):
        with follower.log.open("ab") as file:
            file.write(header + b"".join(b'"n":%d\ta@b.de\n' % number for number in numbers))

    append(header=header)
    follower.up()
    try:
        for first in range(0, 15, 5):
            follower.has_read(len(header))
            with follower.halted():
                append(first, first + 1)
                follower.copy_and_cut()
                append(first + 2, first + 3, header=header)
            follower.has(range(first + 4))
            append(first + 4)
            follower.has(range(first + 5))
            follower.copy_and_cut()
            append(header=header)
        assert follower.messages() == []
    finally:
        follower.process.kill()
        follower.process.wait()


def test_half_a_record_was_read(follower):
    """The first record of the file ends in the copy."""
    half = records(8)[:-9]
    follower.append(*range(8))
    follower.up()
    follower.has(range(8))
    follower.rotate()
    follower.log.write_bytes(half)
    follower.has_read(len(half))
    with follower.halted():
        with follower.log.open("ab") as file:
            file.write(records(8)[len(half) :])
        follower.append(9)
        follower.copy_and_cut()
        follower.append(10)
    follower.has(range(11))
    follower.down()
    follower.append(11)
    follower.up()
    follower.has(range(12))
    assert follower.messages() == []


def test_the_last_bytes_that_were_read_are_there_again(follower):
    """A row of spaces at the same place of the file's new contents, which is longer than what the run compares."""
    spaces = b'{"n":%d,"text":"a@b.de' + b" " * 2000
    follower.log.write_bytes(spaces % 0)
    follower.up()
    follower.has_read(len(spaces % 0))
    with follower.halted():
        with follower.log.open("ab") as file:
            file.write(b'"}\n')
        follower.append(1)
        follower.copy_and_cut()
        follower.log.write_bytes(spaces % 2 + b'"}\n')
        follower.append(3)
    follower.has(range(4))
    assert follower.messages() == []


@pytest.mark.parametrize("same", ["beginning", "end"])
@pytest.mark.parametrize("is_compressed", [False, True])
def test_another_file_is_like_the_copy(follower, same, is_compressed):
    """Another file, restored meanwhile, which has the same bytes as the copy at one of the two compared places."""
    read, other, middle = range(10, 40), range(60, 90), 15
    beginning, end = (read, other) if same == "beginning" else (other, read)
    follower.append(*read)
    follower.up()
    follower.has(read)
    with follower.halted():
        restored = follower.directory / "app.jsonl.1"
        restored.write_bytes(records(*beginning[:middle], *end[middle:], 99))
        if is_compressed:
            compress(restored)
        follower.append(40)
        follower.copy_and_cut()
        follower.append(41)
    follower.has(range(10, 42))
    assert follower.messages() == []


def test_a_file_that_was_compressed_is_no_copy(follower):
    """An empty file between the two would let the copy be followed by the file from its beginning."""
    follower.up()
    follower.append(0, 1)
    follower.has(range(2))
    with follower.halted():
        follower.append(2)
        follower.rotate()
        follower.log.touch()
        follower.rotate()
        compress(follower.rotated()[-1])
        follower.append(3)
    follower.has(range(4))
    assert follower.messages() == []
