"""A log that `bertqa filter --follow` reads, with and without a run."""

import contextlib
import gzip
import os
import pathlib
import re
import shutil
import signal
import subprocess

from filtering import messages_of, start, wait_for

# Needs no model.
PATTERNS = ["filter", "--task=entities", "--patterns=email", "--checkpoint-interval=0"]


def records(*numbers):
    return b"".join(b'{"n":%d,"text":"a@b.de"}\n' % number for number in numbers)


def numbers(output):
    return [int(number) for number in re.findall(rb'"n":(\d+)', output)]


class Follower:
    """A log, the runs that follow it, and their messages."""

    def __init__(self, directory, *options, name="app.jsonl"):
        directory.mkdir(exist_ok=True)
        self.directory = directory
        self.log = directory / name
        self.output = directory / "out"
        self.checkpoint = directory / "checkpoint"
        self.arguments = [
            *PATTERNS, "--follow", self.log, "-o", self.output, "--resume", self.checkpoint, *options
        ]  # fmt: skip
        self.process = None
        self.errors = directory / "errors"

    def up(self):
        with self.errors.open("ab") as errors:
            self.process = start(*self.arguments, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors)

    def down(self, how=signal.SIGKILL):
        self.process.send_signal(how)
        assert self.process.wait(timeout=60) == -how, self.errors.read_text()
        self.process = None

    def has(self, wanted):
        """Waits until exactly these records are in the output and in the checkpoint."""

        def is_there():
            assert self.process.poll() is None, self.errors.read_text()
            return self.done() == list(wanted) and self.is_saved(len(wanted))

        wait_for(is_there, self.story)

    def story(self):
        saved = self.checkpoint.exists() and self.checkpoint.read_text()
        return self.done(), saved, self.errors.read_text(), os.listdir(self.directory)

    def is_saved(self, count):
        return f"\nsucceeded {count}\n" in self.checkpoint.read_text()

    def descriptors(self):
        """The status and the fdinfo of each file that the run has open; one that it closes meanwhile is left out."""
        process = pathlib.Path(f"/proc/{self.process.pid}")
        for entry in (process / "fd").iterdir():
            with contextlib.suppress(FileNotFoundError):
                yield entry.stat(), (process / "fdinfo" / entry.name).read_text()

    def has_read(self, size):
        """Waits until the run has read so many bytes of the log."""

        def is_there():
            log = self.log.stat()
            return any(
                os.path.samestat(status, log) and information.startswith(f"pos:\t{size}\n")
                for status, information in self.descriptors()
            )

        wait_for(is_there)

    def watches(self, directory):
        """Waits until the run receives the events of this directory and of no other."""

        def inodes():
            text = "".join(information for _, information in self.descriptors())
            return re.findall(r"^inotify wd:\S+ ino:(\S+)", text, re.MULTILINE)

        wait_for(lambda: inodes() == [f"{directory.stat().st_ino:x}"])

    @contextlib.contextmanager
    def halted(self):
        """What happens meanwhile happens between two looks of the run."""
        self.process.send_signal(signal.SIGSTOP)
        # Its threads run on for a moment.
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        yield
        self.process.send_signal(signal.SIGCONT)

    def done(self):
        return numbers(self.output.read_bytes()) if self.output.exists() else []

    def append(self, *numbers):
        with self.log.open("ab") as file:
            file.write(records(*numbers))

    def rotated(self):
        """Files named app.jsonl.N, newest first."""
        found = [path for path in self.directory.iterdir() if path.name.startswith(self.log.name + ".")]
        return sorted(found, key=generation)

    def shift(self):
        for path in reversed(self.rotated()):
            ending = ".gz" if path.suffix == ".gz" else ""
            path.rename(f"{self.log}.{generation(path) + 1}{ending}")

    def rotate(self):
        self.shift()
        self.log.rename(f"{self.log}.1")

    def copy_and_cut(self):
        self.shift()
        shutil.copyfile(self.log, f"{self.log}.1")
        os.truncate(self.log, 0)

    def messages(self):
        return messages_of(self.errors.read_text())

    def waits(self):
        """Returns how often the run reported that the file is missing."""
        return self.errors.read_text().count(f"bertqa: {self.log} is not there: waiting for it\n")


def generation(path):
    return int(re.search(r"\.(\d+)(\.gz)?$", path.name)[1])


def compress(path):
    """Compresses like gzip, which keeps the file's time."""
    status = path.stat()
    whole = path.with_name(path.name + ".gz")
    whole.write_bytes(gzip.compress(path.read_bytes()))
    os.utime(whole, ns=(status.st_atime_ns, status.st_mtime_ns))
    path.unlink()
