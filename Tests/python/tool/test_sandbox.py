"""The filter with no more than docs/security.md lists: under bubblewrap, and under a seccomp filter.

Where one of the two cannot run, the other still does.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import pytest

from conftest import FIXTURES, ROOT, TOOL, clean_environment

COUNT = 200


def listed():
    """The system calls of the table in docs/security.md."""
    text = (ROOT / "docs" / "security.md").read_text()
    [section] = re.findall(r"^## Least capabilities\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    table = section.partition("| system calls ")[2].partition("\n\n")[0]
    calls = [name for row in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[1])]
    assert len(calls) > 40 and len(set(calls)) == len(calls)
    return [name for name in calls if name != "clone3"]


def compile_launcher(directory, calls):
    lines = [f"#ifdef SYS_{name}\nALLOW(SYS_{name})\n#endif\n" for name in calls]
    (directory / "allowed.inc").write_text("".join(lines))
    # Static: what it needs itself is in the sandbox.
    command = ["cc", "-static", "-Wall", "-Wextra", "-Werror", "-O1", f"-I{directory}"]
    subprocess.run([*command, "-o", directory / "allow", ROOT / "Tests/sandbox/allow.c"], check=True)
    return directory / "allow"


@pytest.fixture(scope="module")
def launcher(tmp_path_factory):
    launcher = compile_launcher(tmp_path_factory.mktemp("launcher"), listed())
    tried = subprocess.run([launcher, TOOL, "--version"], capture_output=True, text=True)
    if tried.returncode == 125:
        pytest.skip(f"the filter under seccomp: {tried.stderr.strip()}")
    return launcher


def libraries():
    """The libraries that the dynamic loader loads for the tool, and those that the tool loads for compressed
    files."""
    text = subprocess.run(["ldd", TOOL], check=True, capture_output=True, text=True).stdout
    loaded = set(re.findall(r"(/\S+) \(0x", text))
    [libc] = [path for path in loaded if path.endswith("/libc.so.6")]
    beside = [pathlib.Path(libc).parent / name for name in ("libz.so.1", "libzstd.so.1")]
    return sorted(loaded | {str(path) for path in beside if path.exists()})


@pytest.fixture(scope="module")
def bubblewrap():
    """The command up to the program: a root that has the tool, its libraries and nothing else."""
    command = shutil.which("bwrap")
    if command is None:
        pytest.skip("the filter under bubblewrap: needs bubblewrap")
    binds = []
    for path in [*libraries(), TOOL]:
        binds += ["--ro-bind", os.path.realpath(path), path]
    options = [command, "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    options += ["--proc", "/proc", "--tmpfs", "/tmp", *binds]
    tried = subprocess.run([*options, TOOL, "--version"], capture_output=True, text=True)
    if tried.returncode != 0 and tried.stderr.startswith("bwrap: "):
        pytest.skip(f"the filter under bubblewrap: {tried.stderr.strip()}")
    return options


class Sandbox:
    """A way to run the tool. `inside` is the path of the files' directories inside it."""

    def __init__(self, prefix):
        self.prefix = prefix

    def run(self, *arguments, code=0, **options):
        result = subprocess.run(
            [*self.prefix, TOOL, "filter", *arguments],
            capture_output=True,
            env=clean_environment(),
            timeout=300,
            **options,
        )
        assert result.returncode == code, (result.returncode, result.stderr[-2000:])
        return result.stdout


def test_without_proc(bubblewrap):
    result = subprocess.run(
        [*bubblewrap, "--tmpfs", "/proc", TOOL, "--version"], capture_output=True, text=True, timeout=60
    )
    assert (result.returncode, result.stdout) == (3, "")
    assert result.stderr == "bertqa: cannot read the arguments from /proc/self/cmdline: /proc must be mounted\n"


def test_arguments_beside_a_preloaded_library(tmp_path):
    """One that changes the environment before the tool begins, as libfaketime and fakechroot do."""
    library, source = tmp_path / "change.so", tmp_path / "change.c"
    source.write_text(
        "#include <stdlib.h>\n"
        '__attribute__((constructor)) static void change(void) { setenv("CHANGED", "1", 1); }\n'
    )
    subprocess.run(["cc", "-shared", "-fPIC", source, "-o", library], check=True)
    for arguments in ["--version"], ["tokenize", "--", "", "a b", b"\xff", "x" * 100_000]:
        outputs = [
            subprocess.run(
                [TOOL, *arguments], capture_output=True, check=True, timeout=60, env=clean_environment() | more
            ).stdout
            for more in ({}, {"LD_PRELOAD": str(library)})
        ]
        assert outputs[0] == outputs[1] != b""


@pytest.fixture(params=["seccomp", "bubblewrap", "both"])
def sandbox(request, tmp_path):
    (tmp_path / "files").mkdir()
    prefix = []
    if request.param != "seccomp":
        # The root is read-only, /tmp the sandbox's own; only the directory of the files can be written.
        prefix += [*request.getfixturevalue("bubblewrap"), "--ro-bind", FIXTURES, FIXTURES]
        prefix += ["--bind", tmp_path / "files", tmp_path / "files"]
    if request.param != "bubblewrap":
        launcher = request.getfixturevalue("launcher")
        if prefix:
            prefix += ["--ro-bind", launcher, "/allow", "--remount-ro", "/", "/allow"]
        else:
            prefix = [launcher]
    else:
        prefix += ["--remount-ro", "/"]
    return Sandbox(prefix)


def records(count=COUNT):
    line = {"text": "The striker scored twice in London.", "question": "Who scored?"}
    return "".join(json.dumps(line | {"n": n}) + "\n" for n in range(count)).encode()


TASKS = {
    "answer": ["-m", FIXTURES / "tiny-bert", "--question-field", "question"],
    "classify": ["-m", FIXTURES / "tiny-bert-classifier"],
    "embed": ["-m", FIXTURES / "tiny-bert-embedder"],
    "entities": ["-m", FIXTURES / "tiny-bert-entities"],
    "tokenize": ["-m", FIXTURES / "tiny-bert"],
}


@pytest.mark.parametrize("task", TASKS)
def test_from_pipe_to_pipe(sandbox, task):
    output = sandbox.run("--task", task, *TASKS[task], input=records())
    assert [json.loads(line)["n"] for line in output.splitlines()] == list(range(COUNT))
    assert all(json.loads(line)["bertqa"] is not None for line in output.splitlines())


def test_files_and_all_that_is_written_beside(sandbox, tmp_path):
    """Twice, with records that fail; the second run continues from the checkpoint."""
    files = tmp_path / "files"
    options = ["--task", "tokenize", "-m", FIXTURES / "tiny-bert", "--threads", "2"]
    options += ["--on-error", f"dead-letter={files}/dead", "-o", files / "out", "--resume", files / "checkpoint"]
    options += ["--stats", files / "stats", "--metrics", files / "metrics", files / "in"]
    (files / "in").write_bytes(records() + b"bad\n")
    sandbox.run(*options, code=1)
    with open(files / "in", "ab") as file:
        file.write(records())
    sandbox.run(*options, code=1)
    assert len((files / "out").read_bytes().splitlines()) == 2 * COUNT
    assert (files / "dead").read_bytes().count(b"bad") == 1
    assert json.loads((files / "stats").read_text())["records"] > 0
    assert "bertqa_" in (files / "metrics").read_text()
    assert sorted(path.name for path in files.iterdir()) == ["checkpoint", "dead", "in", "metrics", "out", "stats"]


@pytest.mark.parametrize("suffix, library", [(".gz", "libz.so.1"), (".zst", "libzstd.so.1")])
def test_compressed_files(sandbox, tmp_path, suffix, library):
    if not any(path.endswith(library) for path in libraries()):
        pytest.skip(f"the filter in a sandbox with {suffix} files: needs {library}")
    files = tmp_path / "files"
    options = ["--task", "tokenize", "-m", FIXTURES / "tiny-bert"]
    expected = sandbox.run(*options, input=records())
    # Written by the filter itself, read again as it would read any other.
    sandbox.run(*options, "-o", files / f"first{suffix}", input=records())
    again = sandbox.run(*options, "--output-field", "bertqa", files / f"first{suffix}")
    assert again == expected


def test_follow_until_a_signal(sandbox, tmp_path):
    """The run reads on as the file grows and is rotated; then SIGTERM ends it cleanly."""
    files = tmp_path / "files"
    (files / "in").write_bytes(records(3))
    options = ["--task", "tokenize", "-m", FIXTURES / "tiny-bert", "--follow", "-o", files / "out", files / "in"]
    process = subprocess.Popen(
        [*sandbox.prefix, TOOL, "filter", *options], env=clean_environment(), stderr=subprocess.PIPE
    )

    def wait_for(count):
        while not (files / "out").exists() or len((files / "out").read_bytes().splitlines()) < count:
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.02)

    try:
        wait_for(3)
        with open(files / "in", "ab") as file:
            file.write(records(3))
        wait_for(6)
        (files / "in").rename(files / "old")
        (files / "in").write_bytes(records(3))
        wait_for(9)
        # bubblewrap's own process does not hand signals on: the tool's is its last descendant.
        os.kill(descendant(process.pid), signal.SIGTERM)
        process.wait(60)
    finally:
        process.kill()
        process.wait()
    # It ends itself by the signal when all is written; bubblewrap says so by its own status.
    assert process.returncode in (-signal.SIGTERM, 128 + signal.SIGTERM), process.stderr.read()
    assert len((files / "out").read_bytes().splitlines()) == 9


def descendant(pid):
    """Returns the innermost descendant of a process."""
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return descendant(int(children[0])) if children else pid


def test_the_list_is_what_is_needed(tmp_path):
    """Without one of the indispensable calls the same runs end: the filter has an effect."""
    for missing in "openat", "read", "write":
        launcher = compile_launcher(tmp_path, [name for name in listed() if name != missing])
        options = ["--task", "tokenize", *TASKS["tokenize"]]
        result = subprocess.run([launcher, TOOL, "filter", *options], input=records(), capture_output=True)
        if result.returncode == 125:
            pytest.skip("the filter under seccomp: not possible here")
        assert result.returncode == -signal.SIGSYS, missing


def test_a_sandbox_stops_what_is_not_listed(launcher, tmp_path):
    """Programs that start a process, open a socket or make memory executable end with SIGSYS."""
    for name, code in {
        "process": "#include <unistd.h>\nint main(void) { return fork() < 0; }",
        "program": '#include <unistd.h>\nint main(void) { return execl("/bin/true", "true", (char *)0); }',
        "network": "#include <sys/socket.h>\nint main(void) { return socket(AF_INET, SOCK_STREAM, 0) < 0; }",
        "code": "#include <sys/mman.h>\nint main(void) { void *p = mmap(0, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);"
        " return mprotect(p, 4096, PROT_READ | PROT_EXEC); }",
        "nothing": "int main(void) { return 0; }",
    }.items():
        (tmp_path / "code.c").write_text(code)
        subprocess.run(["cc", "-static", "-o", tmp_path / name, tmp_path / "code.c"], check=True)
        result = subprocess.run([launcher, tmp_path / name])
        assert result.returncode == (0 if name == "nothing" else -signal.SIGSYS), name
