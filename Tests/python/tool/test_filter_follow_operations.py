"""`bertqa filter --follow`: random operations on a log, while it is followed and while it is not."""

import concurrent.futures
import random
import signal
import time

import pytest

from conftest import LONG
from filtering import wait_for
from following import Follower, compress


class World:
    """Random operations on a log, and the output that they must lead to."""

    def __init__(self, directory, seed):
        self.generator = random.Random(seed)
        self.follower = Follower(directory)
        self.count = 0
        # The records of removed files, which may be lost, and those of the present file.
        self.destroyed = set()
        self.in_current = set()
        self.may_remove = False
        self.history = []

    def play(self, count):
        follower = self.follower
        follower.up()
        wait_for(lambda: follower.checkpoint.exists() and follower.checkpoint.stat().st_size > 0)
        for _ in range(count):
            name = self.generator.choice(
                ["append"] * 6 + ["rotate"] * 3 + ["copy", "compress", "remove", "down", "down", "settle", "wait"]
            )
            self.history.append(name)
            getattr(self, name)()
        if not follower.process:
            follower.up()
        self.append()
        self.settle()
        follower.down(self.generator.choice([signal.SIGTERM, signal.SIGKILL]))
        self.check()

    def append(self):
        new = range(self.count, self.count + self.generator.randrange(1, 6))
        self.count = new.stop
        self.in_current |= set(new)
        self.follower.append(*new)

    def rotate(self):
        if self.follower.log.exists():
            self.follower.rotate()
            self.in_current = set()
            self.may_remove = False
            if self.generator.random() < 0.5:
                self.follower.log.touch()

    def copy(self):
        if self.follower.log.exists():
            self.follower.copy_and_cut()
            self.in_current = set()
            self.may_remove = False

    def compress(self):
        plain = [path for path in self.follower.rotated() if path.suffix != ".gz"]
        if plain:
            compress(self.generator.choice(plain))

    def remove(self):
        """Removes only a file that the run has seen: the filter cannot report others."""
        if self.follower.log.exists() and self.may_remove:
            self.follower.log.unlink()
            self.destroyed |= self.in_current
            self.in_current = set()
            self.may_remove = False

    def down(self):
        if not self.follower.process:
            return self.up()
        if self.generator.random() < 0.5:
            self.settle()
        self.follower.down(self.generator.choice([signal.SIGTERM, signal.SIGKILL]))

    def up(self):
        self.follower.up()
        self.may_remove = False

    def wait(self):
        time.sleep(self.generator.random() * 0.3)

    def settle(self):
        """Waits until everything that can arrive is in the output and in the checkpoint."""
        follower = self.follower
        if follower.process:
            wanted = set(range(self.count)) - self.destroyed

            def is_there():
                done = follower.done()
                assert follower.process.poll() is None, (self.history, follower.story())
                return wanted <= set(done) and follower.is_saved(len(done))

            wait_for(is_there, lambda: (wanted - set(follower.done()), self.history, follower.story()))
            self.may_remove = self.follower.log.exists() and self.in_current != set()

    def check(self):
        done = self.follower.done()
        story = (done, self.history, self.follower.messages())
        assert done == sorted(set(done)), story
        lost = set(range(self.count)) - set(done)
        assert lost <= self.destroyed, story
        assert not lost or any("lost" in message for message in self.follower.messages()), story
        if not self.destroyed:
            assert not any("lost" in message for message in self.follower.messages()), story


@pytest.mark.parametrize("part", range(20 if LONG else 1))
def test_any_operations(part, tmp_path):
    """Several worlds run at once, because they mostly wait."""
    worlds = [World(tmp_path / str(seed), seed) for seed in range(16 * part, 16 * (part + 1))]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for world in [pool.submit(world.play, 40 if LONG else 16) for world in worlds]:
            world.result()
