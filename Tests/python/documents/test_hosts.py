"""Hosts that own their threads and processes: the examples and their promises. Timeouts guard against hangs."""

import multiprocessing
import os
import pathlib
import shlex
import signal
import socket
import subprocess
import sys
import time

import pyarrow
import pyarrow.parquet
import pytest

import bertqa
from conftest import PREFIX, ROOT
from samples import FOX, TINY, WHO, check_shared, processor_time

APOLLO = ROOT / "examples" / "documents" / "apollo.txt"
TIMEOUT = 300


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """Compiles an example as examples/c/README.md says."""
    directory = tmp_path_factory.mktemp("examples")
    environment = os.environ | {"PKG_CONFIG_PATH": str(PREFIX / "lib" / "pkgconfig")}
    command = ["pkg-config", "--cflags", "--libs", "bertqa"]
    flags = shlex.split(
        subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
    )

    def compiled(name):
        source = ROOT / "examples" / "c" / f"{name}.c"
        warnings = ["-Wall", "-Wextra", "-Werror", "-O1", "-g"]
        subprocess.run(["cc", *warnings, "-o", directory / name, source, *flags, "-pthread"], check=True)
        return directory / name

    os.environ["LD_LIBRARY_PATH"] = str(PREFIX / "lib")
    yield compiled
    del os.environ["LD_LIBRARY_PATH"]


# A host with its own threads


def test_pool_host(build, tmp_path):
    """Calls past their deadline end; the others return the answers of one thread."""
    questions = [
        "When was Skylab launched?", "What killed the crew of Apollo 1?", "Who walked on the Moon?",
        "How much did the program cost?", WHO,
    ]  # fmt: skip
    lines, expected = [], []
    (tmp_path / "text.txt").write_text(APOLLO.read_text()[:4000])
    with bertqa.Context(threads=1) as context, context.prepare(APOLLO.read_text()[:4000]) as document:
        answers = {question: document.answer(question).answer.text.replace("\n", " ") for question in questions}
    for i in range(24):
        question = questions[i % len(questions)]
        late = i % 3 == 1
        # A deadline of 0 has passed before the call; the other is in an hour.
        lines.append(f"{0 if late else 3600000} {question}")
        expected.append(f"{question}\t" + ("late" if late else f"answer: {answers[question]}"))
    program = build("pool_host")
    for threads in 1, 4, 16:
        result = subprocess.run(
            [program, str(threads), tmp_path / "text.txt"],
            input="\n".join(lines),
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
        )
        assert (result.returncode, result.stderr) == (0, "")
        assert sorted(result.stdout.splitlines()) == sorted(expected)
        if threads == 1:
            assert result.stdout.splitlines() == expected
    for arguments, code in (
        ([], 2),
        (["0", tmp_path / "text.txt"], 2),
        (["1", tmp_path / "none.txt"], 1),
        (["1", tmp_path], 1),
    ):
        result = subprocess.run([program, *arguments], stdin=subprocess.DEVNULL, capture_output=True)
        assert result.returncode == code and result.stderr
    # So long a deadline that its nanoseconds have no number.
    line = f"{2**64 // 10**6 + 1} {questions[0]}\n"
    command = [program, "1", tmp_path / "text.txt"]
    result = subprocess.run(command, input=line, capture_output=True, text=True, timeout=TIMEOUT)
    assert result.stdout == f"{questions[0]}\tanswer: {answers[questions[0]]}\n"


def test_deadline_within_a_call(build, tmp_path):
    """A running call also ends at its deadline: this text takes far more than 20 ms."""
    (tmp_path / "long.txt").write_text(APOLLO.read_text() * 3)
    lines = f"20 {WHO}\n3600000 When was Skylab launched?\n"
    command = [build("pool_host"), "2", tmp_path / "long.txt"]
    result = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=TIMEOUT)
    assert result.returncode == 0
    assert result.stdout.splitlines() == [f"{WHO}\tlate", "When was Skylab launched?\tanswer: 1973"]


# Hosts that fork


class Server:
    def __init__(self, program, directory, workers):
        self.path, self.workers = directory / "socket", workers
        self.process = subprocess.Popen([program, self.path, str(workers)], stderr=subprocess.PIPE)
        end = time.monotonic() + TIMEOUT
        while not self.path.exists():
            assert self.process.poll() is None and time.monotonic() < end
            time.sleep(0.01)

    def connect(self):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(TIMEOUT)
        while True:
            try:
                connection.connect(str(self.path))
                return connection
            except ConnectionRefusedError:  # bound, but not yet listening
                time.sleep(0.01)

    def stop(self):
        """Sends SIGTERM. The server exits cleanly and leaves nothing behind."""
        self.process.send_signal(signal.SIGTERM)
        errors = self.process.communicate(timeout=TIMEOUT)[1]
        assert (self.process.returncode, errors) == (0, b"")
        assert not self.path.exists()


@pytest.fixture
def server(build, tmp_path):
    server = Server(build("prefork_server"), tmp_path, 4)
    yield server
    if server.process.poll() is None:
        server.stop()


def ask(connection, question=WHO, document=FOX):
    connection.sendall(f"{question}\t{document}\n".encode())
    return response(connection)


def response(connection):
    received = b""
    while not received.endswith(b"\n"):
        part = connection.recv(1)  # no more than this line
        assert part, "the server has closed the connection"
        received += part
    process, answer = received.decode().rstrip("\n").split("\t")
    return int(process), answer


def test_every_worker_answers_and_the_weights_are_shared(server):
    # A worker has one connection at a time: as many connections as workers are one each.
    connections = [server.connect() for _ in range(server.workers)]
    for document in FOX, " ".join(APOLLO.read_text().split()):
        with bertqa.Context(threads=1) as context:
            expected = context.answer(WHO, document).answer.text
        answers = [ask(connection, WHO, document) for connection in connections]
        assert [answer for _, answer in answers] == [expected] * server.workers
        processes = {process for process, _ in answers}
        assert len(processes) == server.workers and server.process.pid not in processes
    check_shared(processes)
    server.stop()
    for process in processes:
        assert not pathlib.Path(f"/proc/{process}").exists()


def test_lines_of_the_protocol(server):
    connection = server.connect()
    assert [ask(connection, *pair)[1] for pair in [(WHO, ""), ("", FOX), ("", ""), (WHO, FOX)]] == [
        "", "", "", "The quick brown fox",
    ]  # fmt: skip
    connection.sendall(b"no tab\n" + f"{WHO}\t{FOX}\n".encode() * 2 + b"a part of a")
    assert [response(connection)[1] for _ in range(3)] == ["", "The quick brown fox", "The quick brown fox"]
    # A client that leaves in the middle, and one that asks too much, are no reason to end.
    connection.close()
    flood = server.connect()
    with pytest.raises((BrokenPipeError, ConnectionResetError)):
        for _ in range(1 << 12):
            flood.sendall(b"x" * 4096)
    for _ in range(2 * server.workers):
        with server.connect() as other:
            assert ask(other)[1] == "The quick brown fox"


def test_a_killed_worker_is_replaced(server):
    seen = set()
    for _ in range(3):
        with server.connect() as connection:
            process = ask(connection)[0]
            assert process not in seen
            seen.add(process)
            os.kill(process, signal.SIGKILL)
            assert connection.recv(1) == b""
    connections = [server.connect() for _ in range(server.workers)]
    assert len({ask(connection)[0] for connection in connections} - seen) == server.workers


def test_a_file_in_the_socket_s_place_stays(build, tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("notes")
    result = subprocess.run([build("prefork_server"), path, "1"], capture_output=True, timeout=TIMEOUT)
    assert result.returncode == 1 and b"Address already in use" in result.stderr
    assert path.read_text() == "notes"


def test_a_server_without_processes_ends(build, tmp_path):
    """fork fails, as it does at a limit of processes."""
    source, failing = tmp_path / "fork.c", tmp_path / "fork.so"
    source.write_text("#include <errno.h>\nint fork(void) { errno = EAGAIN; return -1; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", failing, source], check=True)
    result = subprocess.run(
        [build("prefork_server"), tmp_path / "socket", "2"],
        env=os.environ | {"LD_PRELOAD": str(failing)},
        capture_output=True,
        timeout=TIMEOUT,
    )
    assert result.returncode == 1 and b"fork: Resource temporarily unavailable" in result.stderr
    assert not (tmp_path / "socket").exists()


def test_requests_under_way_are_answered_before_the_end(server):
    connection = server.connect()
    process, _ = ask(connection)
    document = " ".join(APOLLO.read_text().split())
    with bertqa.Context(threads=1) as context:
        expected = context.answer(WHO, document).answer.text
    before = processor_time(process)  # A clock tick is a small part of the awaited call.
    connection.sendall(f"{WHO}\t{document}\n".encode())
    while processor_time(process) == before:
        time.sleep(0.001)
    server.process.send_signal(signal.SIGTERM)
    assert response(connection) == (process, expected)
    assert connection.recv(1) == b""
    server.stop()


def work(context, pairs, connection):
    """A worker process, which answers until it is told to end."""
    results = context.answer_batch(pairs)
    connection.send((os.getpid(), results))
    connection.recv()
    context.close()


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(method):
    pairs = [(WHO, FOX), ("When was Skylab launched?", APOLLO.read_text()[-9000:])]
    start = multiprocessing.get_context(method)
    with bertqa.Context(threads=2) as context:
        expected = context.answer_batch(pairs)
        workers = []
        for _ in range(4):
            ours, theirs = start.Pipe()
            process = start.Process(target=work, args=(context, pairs, theirs))
            process.start()
            workers.append((process, ours))
        for process, connection in workers:
            assert connection.poll(TIMEOUT)
            assert connection.recv() == (process.pid, expected)
        check_shared([process.pid for process, _ in workers])
        for _, connection in workers:
            connection.send("end")
        for process, _ in workers:
            process.join(TIMEOUT)
            assert process.exitcode == 0


# A file of many rows


def peak_memory(script, *arguments):
    """The peak memory of a script in kilobytes."""
    code = "import runpy, sys; sys.argv.pop(0); runpy.run_path(sys.argv[0], run_name='__main__'); "
    code += "print(open('/proc/self/status').read())"
    command = [sys.executable, "-c", code, script, *arguments]
    # With Arrow's own allocator, peaks of the same run differ by up to 40 MB.
    environment = os.environ | {"ARROW_DEFAULT_MEMORY_POOL": "system"}
    status = subprocess.run(
        command, env=environment, check=True, capture_output=True, text=True, timeout=TIMEOUT
    ).stdout
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:"))


def test_memory_does_not_grow_with_the_file(tmp_path):
    """Sixteen times the rows, 190 MB of text instead of 12, need hardly more memory."""
    document = "the quick brown fox jumped over the river " * 12
    peaks = []
    for rows in 24_000, 384_000:
        # One row in 64 is asked: reading and writing are what is tested.
        table = pyarrow.table(
            {
                "id": range(rows),
                "question": ["who jumped?" if i % 64 == 0 else None for i in range(rows)],
                "document": [f"{document}{i}" for i in range(rows)],
            }
        )
        source, target = tmp_path / f"{rows}.parquet", tmp_path / f"{rows}-answered.parquet"
        pyarrow.parquet.write_table(table, source, row_group_size=rows, use_dictionary=False, compression="none")
        script = ROOT / "examples" / "python" / "answer_parquet.py"
        peaks.append(peak_memory(script, "--model", TINY, source, target))
        answered = pyarrow.parquet.read_table(target)
        assert answered.column("id").equals(table.column("id")) and answered.num_rows == rows
        assert answered.column("answer").null_count == rows - rows // 64
        size = table.get_total_buffer_size() // 1024
    assert peaks[1] - peaks[0] < size / 4
