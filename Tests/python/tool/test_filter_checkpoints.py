"""Checkpoints of `bertqa filter --resume` that the last run did not write: truncated, garbage, of another version,
or with impossible numbers. Either they are refused without a loss, or the run continues correctly."""

import os
import random
import string
import subprocess

import pytest

from conftest import TOOL
from filtering import DONE, KILLS, RECORD, TOKENS, environment, run

# `make kills` tries all of what is tried in part where KILLS is small.
# Needs no model, so that hundreds of runs take seconds.
PATTERNS = ["filter", "--task=entities", "--patterns=email"]


class Run:
    """A run with a checkpoint, and the contents of its files when it is done."""

    def __init__(self, directory):
        self.source, self.target, self.checkpoint = (directory / name for name in ("in", "out", "checkpoint"))
        self.source.write_bytes(b'{"text":"a@b.de"}\n' * 3 + b"bad\n")
        self.letters = directory / "letters"
        self.arguments = [
            *PATTERNS, self.source, "-o", self.target, "--resume", self.checkpoint, "--quiet",
            f"--on-error=dead-letter={self.letters}",
        ]  # fmt: skip
        run(*self.arguments, code=1)
        self.whole = self.checkpoint.read_bytes()
        self.written = self.contents()

    def contents(self):
        return self.target.read_bytes(), self.letters.read_bytes()

    def refuses(self, content, complaint):
        """Checks that with this checkpoint the run ends with a message and all files stay unchanged."""
        self.checkpoint.write_bytes(content)
        [error] = run(*self.arguments, code=3)[1]
        assert complaint in error, (content, error)
        assert self.contents() == self.written
        assert content == b"" or self.checkpoint.read_bytes() == content


@pytest.fixture
def done(tmp_path):
    return Run(tmp_path)


def some(places):
    """All of them in the long tier; else the first, the last and some between."""
    places = list(places)
    if KILLS > 100:
        return places
    return [places[0], *random.Random(len(places)).sample(places[1:-1], KILLS), places[-1]]


def test_a_checkpoint_cut_at_every_byte_is_refused(done):
    # An empty file is that of a run which has not come to its first checkpoint: its output was empty.
    done.refuses(b"", "is not empty, but")
    for length in some(range(1, len(done.whole))):
        done.refuses(done.whole[:length], "is not a checkpoint")
    done.checkpoint.write_bytes(done.whole)
    run(*done.arguments, code=1)
    assert done.contents() == done.written


def test_a_checkpoint_with_any_byte_changed_is_refused(done):
    generator = random.Random(1)
    for place in some(range(len(done.whole))):
        damaged = bytearray(done.whole)
        damaged[place] ^= 1 << generator.randrange(8)
        done.refuses(bytes(damaged), "is not a checkpoint")


def test_garbage_is_refused(done):
    generator = random.Random(2)
    letters = (string.ascii_lowercase + string.digits + " \n_-").encode()
    for number in range(min(KILLS, 100)):
        length = generator.choice([1, 2, generator.randrange(1, 100), generator.randrange(1, 5000)])
        content = bytes(generator.choices(letters, k=length)) if number % 2 else generator.randbytes(length)
        done.refuses(content, "is not a checkpoint")
        done.refuses(done.whole + content, "is not a checkpoint")
        start = generator.randrange(len(done.whole))
        done.refuses(done.whole[:start] + content + done.whole[start:], "is not a checkpoint")
    done.refuses(done.whole * 2, "is not a checkpoint")
    done.refuses(b"\0" * len(done.whole), "is not a checkpoint")
    done.refuses(done.whole[:100] + b"\0" * (len(done.whole) - 100), "is not a checkpoint")
    # Larger than any checkpoint: not read.
    done.checkpoint.write_bytes(done.whole)
    os.truncate(done.checkpoint, 1 << 40)
    assert "is not a checkpoint" in run(*done.arguments, code=3)[1][0]
    assert done.contents() == done.written


def test_no_number_in_a_checkpoint_ends_the_process(done):
    """With a correct checksum, which damage does not have, and one more record to process."""
    with done.source.open("ab") as file:
        file.write(b'{"text":"c@d.de"}\n')
    lines = done.whole.decode().splitlines(keepends=True)[:-1]
    names = [line.split()[0] for line in lines]
    refused = 0
    far = [0, 1, 10**6, 2**31, 2**53, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 2**64, "x", ""]
    numbers = [index for index, line in enumerate(lines[1:], 1) if line.split()[-1].isdigit()]
    for index in numbers:
        old = int(lines[index].split()[1])
        for value in (old - 1, old + 1, *(far if KILLS > 100 else [2**63 - 1, "x"])):
            text = "".join(lines[:index] + [f"{names[index]} {value}\n"] + lines[index + 1 :]).encode()
            done.checkpoint.write_bytes(text + f"end {checksum(text)}\n".encode())
            result = subprocess.run([TOOL, *done.arguments], capture_output=True, env=environment(), timeout=60)
            what = (names[index], value, result.returncode, result.stderr)
            assert result.returncode in (0, 1, 3), what
            if result.returncode == 3:
                refused += 1
                assert done.contents() == done.written and result.stderr.count(b"\n") == 1, what
                continue
            output = done.target.read_bytes()
            assert output.startswith(done.written[0]) and output.count(b"\n") == 4, what
            for path, content in zip((done.target, done.letters), done.written):
                path.write_bytes(content)
    assert refused > len(numbers) > 30


def test_checkpoints_of_other_versions_are_refused(tmp_path):
    """With a correct checksum, so the version is refused, not damage."""
    source, target, checkpoint = tmp_path / "in", tmp_path / "out", tmp_path / "checkpoint"
    source.write_bytes(RECORD)
    arguments = [*TOKENS, source, "-o", target, "--resume", checkpoint]
    run(*arguments)
    text, _, end = checkpoint.read_text().rpartition("end ")
    assert int(end) == checksum(text.encode())
    heading, _, rest = text.partition("\n")
    assert heading == "bertqa filter checkpoint 1"
    for other in "0", "2", "10", "", "1 ", "x":
        changed = f"bertqa filter checkpoint {other}\n{rest}"
        checkpoint.write_text(f"{changed}end {checksum(changed.encode())}\n")
        message = f"is a checkpoint of version {other}; this bertqa reads version 1: resume with"
        assert message in run(*arguments, code=3)[1][0]
    checkpoint.write_text(f"{text}end {checksum(text.encode())}\n")
    run(*arguments)
    assert target.read_bytes() == DONE


MASK = 2**64 - 1


def checksum(content):
    """An independent version of the filter's hash (Sources/bertqa/Records/ContentHash.swift)."""

    def mix(first, second):
        product = (first ^ 0xA0761D6478BD642F) * (second ^ 0xE7037ED1A0B428DB)
        return (product >> 64) ^ (product & MASK) ^ ((first << 23 | first >> 41) & MASK)

    words = [int.from_bytes(content[at : at + 8], "little") for at in range(0, len(content), 8)]
    rest = words.pop() if len(content) % 8 else 0
    state = 0x9E3779B97F4A7C15
    for word in words:
        state = mix(state, word)
    return mix(mix(state, rest ^ 0xE7037ED1A0B428DB), len(content) ^ 0x8EBC6AF09C88C6E3)
