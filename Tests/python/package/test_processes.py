"""Threads, processes and memory."""

import gc
import multiprocessing
import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

import bertqa
from conftest import FIXTURES, ROOT
from samples import APOLLO, DOCUMENTS, FOX, WHO, run_python, words


def test_threads(context):
    questions = [WHO, "What did the fox jump over?", "Which colour is the fox?", "How is the dog?"]
    documents = [FOX, APOLLO[:3000], DOCUMENTS["emoji"]]
    pairs = [(question, document) for question in questions for document in documents]
    expected = context.answer_batch(pairs)
    jobs = random.Random(5).choices(range(len(pairs)), k=160)
    with ThreadPoolExecutor(16) as pool:
        results = pool.map(lambda i: context.answer(*pairs[i]), jobs)
        assert all(result == expected[i] for i, result in zip(jobs, results))


def test_number_of_threads_changes_no_bit():
    document = APOLLO[:8000]
    results = []
    for threads in 1, 2, 7:
        with bertqa.Context(threads=threads) as context:
            results.append(context.answer(WHO, document, top_k=5))
            results.append(context.answer_batch([(WHO, FOX), (WHO, document)], top_k=5)[1])
    assert all(result == results[0] for result in results)


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


def test_gil_is_released_during_calls():
    """The library's call waits in C for a semaphore that another Python thread posts."""
    code = f"""
import ctypes, threading, bertqa
from bertqa import _abi
libc = ctypes.CDLL(None)
semaphore = ctypes.create_string_buffer(64)
assert libc.sem_init(semaphore, 0, 0) == 0
context = bertqa.Context({str(FIXTURES / "tiny-bert")!r})
call = bertqa._answer.answer_call({{}})
call.common.cancel = ctypes.cast(libc.sem_wait, _abi.CANCEL)
ctypes.c_void_p.from_buffer(call.common, type(call.common).user.offset).value = ctypes.addressof(semaphore)
answers, done, posts = ctypes.c_void_p(), False, 0

def post():
    global posts
    while not done:
        libc.sem_post(semaphore)
        posts += 1

thread = threading.Thread(target=post, daemon=True)
inside = bertqa._native.library().answer
thread.start()
status = inside(context._handle.pointer, b"who", 3, b"the river", 9, call.pointer, ctypes.byref(answers))
done = True
assert status == 0 and posts > 0
"""
    blocked = code.replace(
        "inside = bertqa._native.library().answer",
        "inside = ctypes.PyDLL(bertqa._native.path()).bertqa_answer\n"
        "inside.argtypes = bertqa._native.library().answer.argtypes",
    ).replace("    global posts\n", "    global posts\n    import time; time.sleep(1)\n")
    assert run_python(code).returncode == 0
    with pytest.raises(subprocess.TimeoutExpired):  # the proof that holding the GIL would be noticed
        subprocess.run([sys.executable, "-c", blocked], timeout=10, capture_output=True)


def test_a_sub_interpreter_that_imports_ctypes():
    """mod_wsgi has one for each application. Its import empties a cache of types that all interpreters share."""
    pytest.importorskip("_xxsubinterpreters", reason="since Python 3.13, each interpreter has its own cache")
    result = run_python(f"""
import bertqa, _xxsubinterpreters as interpreters
context = bertqa.Context({str(FIXTURES / "tiny-bert")!r})
embedding = bertqa.Context({str(FIXTURES / "tiny-bert-embedder")!r})
interpreters.run_string(interpreters.create(isolated=False), "import ctypes")
assert context.answer("who", "the river").answers
assert embedding.embed(["the river"], prompt="the").shape[0] == 1
assert bertqa.Labeler(embedding, {{"a": "the river", "b": "who"}}).classify("the river").label == "a"
assert bertqa.redact("a@b.org", bertqa.patterns("a@b.org"), replacement="X") == "X"
column = bertqa.answer_column(context, "who", ["the river", None])
assert column[0]["answer"]
schema, rows = column.__arrow_c_array__()
print("fine")
""")
    assert (result.stdout, result.stderr) == ("fine\n", "")


def ask_inherited(pair):
    return inherited.answer(*pair)


def ask_pickled(arguments):
    context, pair = arguments
    return context.answer(*pair)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes(method):
    global inherited
    pairs = [(WHO, FOX), ("When was Skylab launched?", APOLLO[-9000:]), (WHO, DOCUMENTS["emoji"])]
    with bertqa.Context(threads=2) as inherited:
        expected = inherited.answer_batch(pairs)
        with multiprocessing.get_context(method).Pool(2) as pool:
            if method == "fork":
                results = pool.map(ask_inherited, pairs * 2)
            else:
                results = pool.map(ask_pickled, [(inherited, pair) for pair in pairs * 2])
        assert results == expected * 2
        assert inherited.answer_batch(pairs) == expected


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_memory_is_flat(tiny):
    """2,000 calls of each kind after 500 to warm up: at most 400 KiB more, 200 bytes for each round of calls."""
    document, prepared = words(40), tiny.prepare(words(40))

    def calls(count):
        for _ in range(count):
            tiny.answer("who", document, top_k=3)
            tiny.answer("who", document, cancel=lambda: False)
            prepared.answer("what river")
            tiny.tokenize(document)
            tiny.prepare(document)
            tiny.logits([[2, 5, 3, 6, 3]], [3])
            tiny.answer_batch([("who", "the river"), ("what", "")])
            for wrong in (lambda: tiny.answer("who", document, top_k=0), lambda: bertqa.Context("/no/model")):
                with pytest.raises(bertqa.BertQAError):
                    wrong()
        gc.collect()

    calls(500)
    before = resident_bytes()
    calls(2000)
    assert resident_bytes() - before < 400 << 10


def test_contexts_come_and_go(tiny):
    """300 contexts after 30 to warm up: at most 2 MiB more."""

    def create(count):
        for _ in range(count):
            with bertqa.Context(FIXTURES / "tiny-bert", precision="f32") as context:
                context.answer("who", "the river")

    create(30)
    before = resident_bytes()
    create(300)
    assert resident_bytes() - before < 2 << 20


def test_daemon_threads_at_exit():
    """The interpreter ends while a thread is inside the library."""
    code = f"""
import bertqa, threading
context = bertqa.Context()
document = context.prepare(open({str(ROOT / "examples/documents/apollo.txt")!r}).read())
inside = threading.Event()
def ask():
    while True:
        document.answer("When was Skylab launched?", cancel=lambda: inside.set())
threading.Thread(target=ask, daemon=True).start()
inside.wait()
"""
    for _ in range(5):
        result = run_python(code)
        assert result.returncode == 0, result.stderr
