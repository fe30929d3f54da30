"""Calls: cancellation, signals, progress and limits."""

import gc
import os
import re
import subprocess
import sys
import threading

import pytest

import bertqa
from conftest import FIXTURES
from samples import FOX, run_python, words


def test_cancel(tiny):
    polls = []

    def after_three():
        polls.append(threading.get_ident())
        return len(polls) > 3

    document = words(50000)
    with pytest.raises(bertqa.Cancelled, match="cancelled") as caught:
        tiny.answer("who", document, max_windows=-1, cancel=after_three)
    assert caught.value.status == 7
    assert len(polls) >= 4 and set(polls) == {threading.get_ident()}
    for call in (
        lambda: tiny.answer_batch([("who", document)] * 2, cancel=lambda: True),
        lambda: tiny.prepare(document).answer("who", cancel=lambda: True),
    ):
        with pytest.raises(bertqa.Cancelled):
            call()
    assert tiny.answer("who", document[:2000], cancel=lambda: None) == tiny.answer("who", document[:2000])


def test_exceptions_of_cancel_come_out(tiny):
    class Mine(Exception):
        pass

    for error in Mine, KeyboardInterrupt, GeneratorExit, StopIteration:

        def fails():
            raise error("stop")

        with pytest.raises(error, match="stop"):
            tiny.answer("who", words(5000), cancel=fails)
    assert tiny.answer("who", words(10)).answer


def test_signals_end_a_call_that_can_be_cancelled():
    code = f"""
import bertqa, os, signal
context = bertqa.Context({str(FIXTURES / "tiny-bert")!r}, threads=1)
polls = 0
def cancel():
    global polls
    polls += 1
    if polls == 3:
        signal.raise_signal(signal.SIGINT)
    return polls > 4
document = {words(1000)!r} * 300
try:
    context.answer("who", document, max_windows=-1, cancel=cancel)
except KeyboardInterrupt:
    print("interrupted inside of cancel")
signal.signal(signal.SIGALRM, signal.default_int_handler)
try:
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    while True:
        context.answer("who", document, max_windows=-1, cancel=lambda: False)
except KeyboardInterrupt:
    print("interrupted anywhere")
"""
    result = run_python(code)
    assert (result.stdout, result.stderr) == ("interrupted inside of cancel\ninterrupted anywhere\n", "")


INTERRUPTED = f"""
import bertqa, signal, sys
from samples import APOLLO, words
fixtures = {str(FIXTURES)!r}
document = words(1000) * 3000
tiny = bertqa.Context(fixtures + "/tiny-bert")
embedder = bertqa.Context(fixtures + "/tiny-bert-embedder")
topics, play = bertqa.Context(task="classify"), bertqa.Context(fixtures + "/tiny-gru")
calls = {{
    "answer": lambda: tiny.answer("who", document * 4),
    "answer_batch": lambda: tiny.answer_batch([("who", document)] * 100),
    "prepare": lambda: tiny.prepare(document * 20),
    "tokenize": lambda: tiny.tokenize(document * 20),
    "logits": lambda: tiny.logits([[1] * 128] * 300000),
    "embed": lambda: embedder.embed([document] * 30),
    "classify": lambda: topics.classify("one two three " * 30000000),
    "classify_batch": lambda: topics.classify_batch(["one two three " * 10000] * 20000),
    "labeler": lambda: bertqa.Labeler(embedder, {{"a": "a"}}).classify_batch([document] * 30),
    "answer_column": lambda: bertqa.answer_column(tiny, "who", [document] * 10),
    "classify_column": lambda: bertqa.classify_column(topics, ["one two three " * 10000] * 20000),
    "train": lambda: bertqa.train_classifier(
        (" ".join(f"w{{i * j % 9973}}" for j in range(40)) for i in range(4000)),
        (str(i % 97) for i in range(4000)), sys.argv[3], tolerance=1e-300, c=1e6, max_iterations=10**8),
    "generate": lambda: play.generate("O", max_words=10**6),
    "likelihood": lambda: play.likelihood("O Romeo " * 10**7),
    "rank": lambda: play.rank("O", ["O Romeo " * 10**6] * 10),
}}
class Ended(KeyboardInterrupt): pass
def handler(*_):
    raise Ended
signal.signal(signal.SIGALRM, handler)
name = sys.argv[1]
signal.setitimer(signal.ITIMER_REAL, float(sys.argv[2]))
try:
    calls[name]()
except Ended:
    print("interrupted", name)
else:
    print("not interrupted", name)
"""


@pytest.mark.parametrize("name", re.findall(r'^    "(\w+)": lambda', INTERRUPTED, re.M))
def test_signals_end_every_call(name, tmp_path):
    """Without a `cancel` hook. Each call takes far longer than the signal, and longer than the time limit if the
    signal is lost."""
    command = [sys.executable, "-c", INTERRUPTED, name, "0.2", tmp_path / "model"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert (result.stdout, result.stderr) == (f"interrupted {name}\n", "")


def test_no_cycle_is_left_for_the_garbage_collector(tiny):
    gc.collect()
    gc.disable()
    try:
        before = len(gc.get_objects())
        for _ in range(100):
            tiny.answer("who", FOX, cancel=lambda: False, progress=lambda *_: None)
        assert len(gc.get_objects()) - before < 50
    finally:
        gc.enable()


def test_timeout_and_max_bytes(tiny):
    document = words(5000)
    for call in (
        lambda **options: tiny.answer("who", document, **options),
        lambda **options: tiny.answer_batch([("who", document)] * 2, **options),
        lambda **options: tiny.prepare(document, **options),
        lambda **options: tiny.tokenize(document, **options),
        lambda **options: tiny.logits([[1, 2]], **options),
    ):
        with pytest.raises(bertqa.DeadlineExceeded, match="deadline") as caught:
            call(timeout=0)
        assert isinstance(caught.value, TimeoutError) and caught.value.status == 10
        call(timeout=3600, max_bytes=1 << 40)
        call(timeout=1e300)
        for wrong in -1, float("nan"):
            with pytest.raises(
                bertqa.InvalidArgument, match=f"timeout is {wrong}, but must be at least 0 seconds"
            ):
                call(timeout=wrong)
    with pytest.raises(bertqa.TooLarge) as caught:
        tiny.answer("who", document, max_bytes=1)
    assert caught.value.argument == "max_bytes"
    with pytest.raises(bertqa.InvalidArgument, match="max_bytes is 0"):
        tiny.answer("who", document, max_bytes=0)
    with pytest.raises(bertqa.DeadlineExceeded):
        bertqa.Context(FIXTURES / "tiny-bert", timeout=0)


def test_progress(tiny):
    calls = []
    tiny.answer("who", words(20000), progress=lambda stage, fraction: calls.append((stage, fraction)))
    assert calls and all(isinstance(stage, str) and 0 <= fraction <= 1 for stage, fraction in calls)
    assert calls[-1][1] == 1

    def fails(stage, fraction):
        raise ZeroDivisionError(stage)

    with pytest.raises(ZeroDivisionError):
        tiny.answer("who", words(20000), progress=fails)
