"""Contexts: cancellation, log, models, errors, closing, vocabulary."""

import copy
import errno
import gc
import os
import pickle
import re
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pandas
import pytest

import bertqa
from bertqa import _errors
from bertqa._context import INSTRUCTION_SETS
from conftest import FIXTURES, PREFIX
from samples import ANSWER, FOX, PIECES, WHO, run_python, words


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

    for error in Mine, KeyboardInterrupt:

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


def test_signals_are_polled_for_many_times_a_second(tiny):
    """Every poll can handle a pending signal; a call of n polls takes about n times 10 ms."""
    polls = []
    before = time.monotonic()
    tiny.answer("who", words(1000) * 20, max_windows=-1, cancel=lambda: polls.append(0))
    assert len(polls) >= (time.monotonic() - before) / 0.2


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


def test_log():
    lines = []
    with bertqa.Context(FIXTURES / "tiny-bert", log=lines.append, precision="f32"):
        pass
    assert lines and all("\n" not in line for line in lines)
    assert "BertForQuestionAnswering" in lines[-1] and "f32" in lines[-1] and len(lines) == 1
    with bertqa.Context(FIXTURES / "tiny-bert", log=lines.append, precision="int8"):
        pass
    assert "bertqa quantize" in lines[1] and "int8" in lines[2] and len(lines) == 3
    with bertqa.Context(log=lines.append):  # stored as int8
        pass
    assert len(lines) == 4

    def fails(line):
        raise RuntimeError("from log")

    with pytest.raises(RuntimeError, match="from log"):
        bertqa.Context(FIXTURES / "tiny-bert", log=fails)


def test_nothing_is_printed():
    code = f"""
import bertqa, os
os.close(0)
c = bertqa.Context()
assert c.answer({WHO!r}, {FOX!r}).answer.text == {ANSWER!r}
for wrong in [lambda: bertqa.Context("/no/such/model"), lambda: c.answer("a", "b", top_k=0)]:
    try: wrong()
    except bertqa.BertQAError: pass
    else: raise AssertionError
"""
    result = run_python(code)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


# Contexts


def test_info(context):
    info = context.info
    assert isinstance(info, bertqa.ModelInfo)
    assert os.path.samefile(info.directory, PREFIX / "share" / "bertqa" / "models" / "qa-minilm-l6")
    assert info.architecture == "BertForQuestionAnswering" and info.is_lowercase is True
    assert info.precision in ("f32", "bf16", "int8")
    assert info.isa in INSTRUCTION_SETS[1:]
    dimensions = (
        info.vocabulary_size, info.hidden_size, info.num_hidden_layers, info.num_attention_heads, info.intermediate_size,
        info.max_position_embeddings,
    )  # fmt: skip
    assert dimensions == (30522, 384, 6, 12, 1536, 512)
    with bertqa.Context(FIXTURES / "tiny-distilbert", threads=3, precision="f32", isa="portable") as other:
        info = other.info
    assert info.sequence is None
    assert info.architecture == "DistilBertForQuestionAnswering" and info.hidden_size == 32
    assert (info.threads, info.precision, info.isa) == (3, "f32", "portable")
    with bertqa.Context(FIXTURES / "tiny-bert-cased", tokenizer_only=True) as other:
        assert other.info.is_lowercase is False


def test_models_in_memory_and_of_open_directories(tiny, tmp_path):
    files = {path.name: path.read_bytes() for path in (FIXTURES / "tiny-bert").iterdir() if path.is_file()}
    expected = tiny.answer("who", FOX)
    with bertqa.Context(files, precision="f32") as context:
        del files
        gc.collect()
        assert context.info.directory == "" and context.answer("who", FOX) == expected
        assert pickle.loads(pickle.dumps(context)).answer("who", FOX) == expected
    directory = os.open(FIXTURES, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with bertqa.Context("tiny-bert", dir_fd=directory, precision="f32") as context:
            assert context.answer("who", FOX) == expected
            with pytest.raises(TypeError, match="dir_fd"):
                pickle.dumps(context)
        with pytest.raises(bertqa.InvalidArgument):
            bertqa.Context("/tiny-bert", dir_fd=directory)
    finally:
        os.close(directory)
    with pytest.raises(bertqa.Unsupported, match="in memory"):
        bertqa.Context({"config.json": b"{}"})
    with pytest.raises(bertqa.InvalidArgument):
        bertqa.Context({})
    with pytest.raises(TypeError, match="expected bytes"):
        bertqa.Context({"config.json": "{}"})


def test_quantize(tiny, tmp_path):
    report = bertqa.quantize(FIXTURES / "tiny-bert", tmp_path / "int8", no_answer_threshold=1.5)
    assert isinstance(report, bertqa.QuantizeReport) and 0 < report.rms_error < report.rms_weight
    assert report.bytes_written == (tmp_path / "int8" / "model.safetensors").stat().st_size
    with bertqa.Context(tmp_path / "int8") as context:
        assert context.info.precision == "int8" and context.info.no_answer_threshold == 1.5
    with pytest.raises(bertqa.InvalidArgument):
        bertqa.quantize(tmp_path / "int8", tmp_path / "again")
    with pytest.raises(FileNotFoundError):
        bertqa.quantize(tmp_path / "none", tmp_path / "again")


def test_the_librarys_threads():
    result = run_python(f"""
import bertqa, os
threads = lambda: len(os.listdir("/proc/self/task"))
bertqa.set_threads(4)
before = threads()
context = bertqa.Context({str(FIXTURES / "tiny-bert")!r})
assert context.info.threads == 4
bertqa.start_threads()
assert threads() == before + 3
bertqa.stop_threads()
assert threads() == before
assert context.answer("who", "the river").answers
try:
    bertqa.set_threads(2000)
except bertqa.InvalidArgument:
    print("fine")
""")
    assert (result.stdout, result.stderr) == ("fine\n", "")


def test_tokenizer_only(tmp_path):
    with bertqa.Context(FIXTURES / "tiny-bert" / "vocab.txt", tokenizer_only=True) as context:
        assert context.tokenize("the river").tokens == ["the", "river"]
        info = context.info
        assert (info.architecture, info.precision, info.isa, info.hidden_size) == ("", "", "", 0)
        for call in (
            lambda: context.answer("who", FOX), lambda: context.prepare(FOX), lambda: context.logits([[1]]),
        ):  # fmt: skip
            with pytest.raises(bertqa.WrongModel, match="tokenizer_only"):
                call()


def test_errors_of_models(tmp_path):
    with pytest.raises(bertqa.ModelIOError, match="no-model.*No such file") as caught:
        bertqa.Context(tmp_path / "no-model")
    error = caught.value
    assert isinstance(error, FileNotFoundError) and error.status == 2
    assert error.errno == errno.ENOENT and error.filename == str(tmp_path / "no-model" / "config.json")
    assert str(error) == f"{error.filename}: cannot open: No such file or directory"
    copied = pickle.loads(pickle.dumps(error))
    assert (type(copied), str(copied), copied.errno, copied.filename, copied.status) == (
        type(error), str(error), error.errno, error.filename, 2,
    )  # fmt: skip
    with pytest.raises(FileNotFoundError):
        bertqa.Context(FIXTURES)  # has no config.json
    (tmp_path / "file").touch()
    with pytest.raises(bertqa.ModelIOError) as caught:
        bertqa.Context(tmp_path / "file" / "model")
    assert isinstance(caught.value, OSError) and not isinstance(caught.value, FileNotFoundError)
    assert caught.value.errno == errno.ENOTDIR
    model = tmp_path / "model"
    model.mkdir()
    for file in (FIXTURES / "tiny-bert").iterdir():
        (model / file.name).write_bytes(file.read_bytes())
    (model / "model.safetensors").write_bytes(b"\xff" * 100)
    with pytest.raises(bertqa.InvalidModel, match="model.safetensors") as caught:
        bertqa.Context(model)
    assert isinstance(caught.value, ValueError)
    config = (model / "config.json").read_text()
    (model / "config.json").write_text(config.replace("BertForQuestionAnswering", "GPT2LMHeadModel"))
    with pytest.raises(bertqa.Unsupported, match="GPT2LMHeadModel"):
        bertqa.Context(str(model))


def test_errors_of_arguments(tiny):
    for arguments, message in [
        ({"threads": -1}, "threads is -1, but must be 0 to 1024"),
        ({"threads": 1 << 32}, "does not fit in 32 bits"),
        ({"precision": "f16"}, "precision is 'f16', but must be one of auto, f32, bf16, int8"),
        ({"isa": "mmx"}, "isa is 'mmx', but must be one of auto, portable"),
        ({"model": "a\0b"}, "null character"),
    ]:
        with pytest.raises(bertqa.InvalidArgument, match=re.escape(message)):
            bertqa.Context(**arguments)
    with pytest.raises(bertqa.TooLarge, match="2147483647"):
        tiny.tokenize(bytes(1 << 31))
    for name, value, kind in [
        ("top_k", 2.0, "an integer"),
        ("top_k", "2", "an integer"),
        ("max_bytes", 1.5, "an integer"),
        ("timeout", "5", "a number"),
        ("no_answer_threshold", "0", "a number"),
    ]:
        with pytest.raises(TypeError, match=re.escape(f"{name} is {value!r}, but must be {kind}")):
            tiny.answer("who", FOX, **{name: value})
    # The library's own fields are no options.
    for name in "default_model", "log_user":
        with pytest.raises(TypeError, match=f"unknown option '{name}'"):
            bertqa.Context(**{name: 1})
    # The names of columns and the keys of a dict are no texts.
    frame = pandas.DataFrame({"body": ["a"]})
    for wrong in frame, {"body": ["a"]}:
        for call in (
            lambda texts: tiny.classify_batch(texts),
            lambda texts: tiny.embed(texts),
            lambda texts: tiny.entities_batch(texts),
            lambda texts: tiny.answer_documents("who", texts),
            lambda texts: bertqa.train_classifier(texts, ["a"], "nowhere"),
            lambda texts: bertqa.SentenceEncoder().encode(texts),
        ):
            with pytest.raises(TypeError, match="but must be a list or one column of texts"):
                call(wrong)


@pytest.mark.parametrize("error", [*_errors.BY_STATUS.values(), bertqa.BertQAError])
def test_exceptions(error):
    made = error("what was wrong")
    assert isinstance(made, bertqa.BertQAError) and str(made) == "what was wrong"
    again = pickle.loads(pickle.dumps(made))
    assert type(again) is error and again.args == made.args and again.status == made.status
    assert repr(error).startswith("<class 'bertqa.") and hasattr(bertqa, error.__name__)
    assert bertqa.BertQAError("later", 77).status == 77


def test_closing(tmp_path):
    context = bertqa.Context(FIXTURES / "tiny-bert")
    document = context.prepare(FOX)
    result = context.answer("who", FOX)
    tokens = context.tokenize(FOX)
    info = context.info
    with context as same:
        assert same is context
    context.close()
    for call in (
        lambda: context.answer("who", FOX), lambda: context.answer_batch([]), lambda: context.prepare(FOX),
        lambda: context.tokenize(FOX), lambda: context.piece(1), lambda: context.piece_id("the"),
        lambda: context.logits([[1]]), lambda: context.info, lambda: document.answer("who"),
        lambda: context.__enter__(), lambda: pickle.dumps(context),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="this Context was closed"):
            call()
    document.close()
    document.close()
    with pytest.raises(ValueError, match="this Document was closed"):
        document.answer("who")
    assert result.answer.text in FOX and tokens.tokens and info.hidden_size == 32


def test_document_outlives_the_variable_of_its_context():
    document = bertqa.Context(FIXTURES / "tiny-bert").prepare(FOX)
    gc.collect()
    assert document.answer("who").answer


def test_closing_under_running_calls():
    for _ in range(20):
        context = bertqa.Context(FIXTURES / "tiny-bert", precision="f32")
        document = context.prepare(words(3000))
        expected = document.answer("who")
        started = threading.Barrier(5)

        def ask():
            started.wait()
            results = []
            try:
                while True:
                    results.append(document.answer("who"))
            except ValueError as error:
                assert "closed" in str(error)
            return results

        with ThreadPoolExecutor(4) as pool:
            futures = [pool.submit(ask) for _ in range(4)]
            started.wait()
            document.close()
            context.close()
            for future in futures:
                assert all(result == expected for result in future.result())


def test_pickling(tmp_path, monkeypatch):
    monkeypatch.chdir(FIXTURES)
    context = bertqa.Context("tiny-bert", precision="f32", threads=2)
    document = context.prepare(FOX)
    expected = context.answer("who", FOX)
    assert pickle.loads(pickle.dumps(expected)) == expected
    assert pickle.loads(pickle.dumps(context.tokenize(FOX))) == context.tokenize(FOX)
    monkeypatch.chdir(tmp_path)
    again = pickle.loads(pickle.dumps(context))
    assert again.answer("who", FOX) == expected and again.info.threads == 2
    for _ in range(2):
        with copy.copy(context) as copied:
            assert copied.answer("who", FOX) == expected
    assert pickle.loads(pickle.dumps(document)).answer("who") == expected


# Vocabulary and tokens (test_tokenizer.py compares them with the reference)


def test_tokenize(tiny):
    tokens = tiny.tokenize("The rivers 🦊 éa")
    assert isinstance(tokens, bertqa.Tokens)
    assert tokens.tokens == ["the", "river", "##s", "[UNK]", "e", "##a"]
    assert tokens.offsets == [(0, 3), (4, 9), (9, 10), (11, 12), (13, 14), (14, 15)]
    assert tokens.byte_offsets == [(0, 3), (4, 9), (9, 10), (11, 15), (16, 18), (18, 19)]
    assert [tiny.piece_id(piece) for piece in tokens.tokens] == tokens.ids
    in_bytes = tiny.tokenize("The rivers 🦊 éa".encode())
    assert in_bytes.offsets == in_bytes.byte_offsets == tokens.byte_offsets and in_bytes.ids == tokens.ids
    assert len(tiny.tokenize("[SEP]").ids) > 1
    assert tiny.tokenize("[SEP]", parse_special_tokens=True).ids == [3]
    assert tiny.tokenize("") == bertqa.Tokens([], [], [], [])
    assert tiny.tokenize("\ud800a").offsets == [(0, 1), (1, 2)]


def test_vocabulary(tiny):
    assert [tiny.piece(id) for id in range(tiny.info.vocabulary_size)] == PIECES
    assert [tiny.piece_id(piece) for piece in PIECES] == list(range(len(PIECES)))
    assert tiny.piece_id("国".encode()) == PIECES.index("国")
    for unknown in "", "the ", "theriver", "The":
        assert tiny.piece_id(unknown) is None
    for id in -1, len(PIECES), 1 << 32:
        with pytest.raises(IndexError, match=f"id {id} is not in the vocabulary"):
            tiny.piece(id)


def test_wrong_windows(tiny):
    for arguments, message in [
        (([[1, 2], []],), "window_lengths[1] is 0"),
        (([[1] * 129],), "window_lengths[0] is 129, but must be 1 to 128"),
        (([[1, 197]],), "ids[1] is 197, but must be 0 to 196"),
        (([[1, -1]],), "ids[1] is -1"),
        (([[1 << 32]],), "out of range"),
        (([[1]], [2]), "second_segments[0] is 2"),
        (([[1]], [-1]), "out of range"),
        (([[1]], []), "second_segments must have one entry per window"),
    ]:
        with pytest.raises(bertqa.InvalidArgument, match=re.escape(message)):
            tiny.logits(*arguments)
    assert tiny.logits([]) == []
