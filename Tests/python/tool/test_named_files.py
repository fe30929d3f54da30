"""Files named on a command line: no command overwrites its input or writes one file for two purposes. The
commands, their inputs and their outputs come from the tool's own tables."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest

from conftest import FIXTURES, TOOL
from filtering import DONE, RECORD, TOKENS, environment, run, start, wait_for
from samples import TINY

INPUTS = {"read", "model"}
OUTPUTS = {"output", "append", "replace", "page", "state", "directory"}
TABLES = {table["command"]: table for table in map(json.loads, run("manual", "--json")[0].decode().splitlines())}
CONTENT = b"precious " * 100


def arguments_of(option, path):
    return [f"--{option['name']}={option['file_prefix']}{path}"]


def options_of(command, uses):
    """Each option once, although several sections explain it."""
    options = {option["name"]: option for option in TABLES[command]["options"] if option["use"] in uses}
    return list(options.values())


def inputs_of(command):
    """{name: (use, arguments for a path)}; a path of None is standard input."""
    inputs = {}
    for option in options_of(command, INPUTS):
        inputs[f"--{option['name']}"] = (
            option["use"],
            lambda path, option=option: arguments_of(option, path or "-"),
        )
    operands = TABLES[command]["operands"]
    if operands in ("files", "filesAndStandardInput"):
        inputs["operand"] = ("read", lambda path: [path or "-"])
    elif operands == "models":
        inputs["operand"] = ("model", lambda path: [path])
    elif operands == "modelAndDirectory":
        inputs["operand"] = ("model", lambda path: [path, "new"])
    if operands in ("texts", "files", "filesAndStandardInput"):
        inputs["standard input"] = ("standard input", lambda path: [])
    return inputs


def outputs_of(command):
    """{name: (use, arguments for a path)}; None in place of a function is standard output."""
    outputs = {
        f"--{option['name']}": (option["use"], lambda path, option=option: arguments_of(option, path))
        for option in options_of(command, OUTPUTS)
    }
    if TABLES[command]["operands"] == "modelAndDirectory":
        outputs["operand"] = ("directory", lambda path: ["model", path])
    return outputs | {"standard output": ("standard output", None)}


CASES = [
    (command, output, source)
    for command in TABLES
    for output in outputs_of(command)
    for source in inputs_of(command)
    # call() passes all operands of a command at once.
    if not output == source == "operand"
]


def call(arguments, directory, **options):
    """Returns the exit code and the errors of a run that must not wait for anything."""
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE} | options
    result = subprocess.run(
        [TOOL, *arguments], stderr=subprocess.PIPE, cwd=directory, env=environment(), timeout=60, **streams
    )
    return result.returncode, result.stderr.decode()


def snapshot(*directories):
    return {
        path: path.read_bytes() if path.is_file() else None
        for directory in directories
        for path in directory.rglob("*")
    }


@pytest.fixture
def memory():
    """A directory under /dev/shm."""
    if not os.access("/dev/shm", os.W_OK):
        pytest.skip("/dev/shm is not there")
    path = pathlib.Path(tempfile.mkdtemp(dir="/dev/shm"))
    yield path
    shutil.rmtree(path)


def names_of(directory):
    """Names of the file "file" in the directory."""
    (directory / "symbolic").symlink_to("file")
    os.link(directory / "file", directory / "hard")
    (directory / "beside").symlink_to(".")
    return [
        directory / "file",
        "./file",
        directory / "symbolic",
        directory / "hard",
        directory / "beside" / "file",
    ]


def test_every_file_of_a_command_line_is_known():
    for command, table in TABLES.items():
        for option in table["options"]:
            names_file = set(re.findall(r"[A-Z]+", option["value"])) & {"FILE", "DIR", "CHECKPOINT"}
            assert option["use"] in INPUTS | OUTPUTS | {""}
            assert not names_file or option["use"], (command, option)
        usages = re.findall(
            rf"^(?:Usage:|  or:) +bertqa {command} (.*)$", run(command, "--help")[0].decode(), re.M
        )
        operands = " ".join(re.sub(r"--[a-z]+ [A-Z]+", "", usage) for usage in usages)
        assert table["operands"] in (
            "none",
            "texts",
            "files",
            "filesAndStandardInput",
            "collectionAndFiles",
            "collectionAndText",
            "models",
            "modelAndDirectory",
        )
        assert bool(re.search("FILE|DIR", operands)) == (
            table["operands"] not in ("none", "texts", "collectionAndText")
        ), command
    outputs = {(command, name) for command in TABLES for name in outputs_of(command)}
    assert {("answer", "--html"), ("train-classifier", "--html"), ("filter", "--on-error")} < outputs


@pytest.mark.parametrize("command, output, source", CASES)
def test_no_output_is_an_input(command, output, source, tmp_path, memory):
    kind, give = inputs_of(command)[source]
    use, write = outputs_of(command)[output]
    roots = tmp_path, memory
    for directory in roots:
        if kind == "model":
            model = directory / "file"
            model.mkdir()
            (model / "config.json").write_bytes(CONTENT)
            (directory / "link").symlink_to("file")
            given = model
            # The names of a model's files, and of those that it could have.
            names = [
                model / "config.json",
                "file/config.json",
                directory / "link" / "config.json",
                model / "new.txt",
            ]
            if use == "directory":
                names = [model, "file", directory / "link", "file/"]
            if write is None:
                names.remove(model / "new.txt")
        else:
            given = directory / "file"
            given.write_bytes(CONTENT)
            names = names_of(directory)
        before = snapshot(*roots)
        for name in names:
            for options in ways_of(kind, given, directory / name if write is None else None):
                given_arguments = give(None if options.pop("by_dash", False) else given)
                with contextlib.ExitStack() as files:
                    streams = {key: files.enter_context(open(*file)) for key, file in options.items()}
                    output_arguments = write(name) if write else []
                    check_refusal(
                        [command, *output_arguments, *given_arguments], directory, streams, before, roots
                    )
        if write is None:
            continue
        if kind != "model":
            with given.open("r+b") as file:
                descriptor = f"/proc/self/fd/{file.fileno()}"
                options = {"pass_fds": [file.fileno()]} | ({"stdin": file} if kind == "standard input" else {})
                check_refusal([command, *write(descriptor), *give(given)], directory, options, before, roots)
        # Another file is none of these.
        code, errors = call([command, *write(directory / "other"), *give(given)], directory)
        assert "read and written" not in errors


def ways_of(kind, given, output):
    """The ways to pass the input and standard output: streams and the arguments of open()."""
    inputs = [{}]
    if kind == "standard input":
        inputs = [{"stdin": (given, "rb")}]
    elif kind == "read":
        inputs.append({"stdin": (given, "rb"), "by_dash": True})
    outputs = [{"stdout": (output, mode)} for mode in ("r+b", "ab")] if output else [{}]
    return [one | other for one in inputs for other in outputs]


def check_refusal(arguments, directory, options, before, roots):
    code, errors = call(arguments, directory, **options)
    assert (code, "cannot be both read and written" in errors) == (2, True), (arguments, code, errors)
    assert snapshot(*roots) == before, arguments


PAIRS = [
    (command, first, second)
    for command in TABLES
    for number, first in enumerate(outputs_of(command))
    for second in list(outputs_of(command))[number + 1 :]
    # With a file in its place standard output is not written.
    if not (second == "standard output" and outputs_of(command)[first][0] == "output")
]


def test_names_that_are_not_utf8(tmp_path):
    """Only a file that is opened by the bytes of its name is written."""
    (tmp_path / "in").write_bytes(RECORD)
    name = os.fsdecode(b"\xff.gz")
    calls = [["index", name, "in"]]
    for command in TABLES:
        calls += [
            [command, *make(name)] for use, make in outputs_of(command).values() if use in OUTPUTS - {"output"}
        ]
    assert len(calls) > 8
    for arguments in calls:
        code, errors = call(arguments, tmp_path)
        assert (code, "\ufffd.gz: the name is not valid UTF-8" in errors) == (2, True), (arguments, errors)
    assert os.listdir(tmp_path) == ["in"]
    run(*TOKENS, "in", "-o", name, cwd=tmp_path)
    assert sorted(os.listdir(tmp_path)) == ["in", name]


@pytest.mark.parametrize("name", ["pytorch_model.bin", "1_Pooling/config.json", "bpe.codes", "model.safetensors"])
def test_no_output_is_a_file_of_the_model(tmp_path, name):
    model = tmp_path / "model"
    shutil.copytree(FIXTURES / "tiny-bert-embedder", model)
    (tmp_path / "in").write_bytes(RECORD)
    for is_there in False, True:
        if is_there:
            (model / name).parent.mkdir(exist_ok=True)
            (model / name).touch()
        elif not (model / name).parent.exists():
            continue
        code, errors = call(["filter", "--task=embed", "-m", model, "in", "-o", model / name], tmp_path)
        assert (code, "a part of the model" in errors) == (2, True), errors


def test_private_files_stay_private(tmp_path):
    page = tmp_path / "page.html"
    page.touch(0o600)
    (tmp_path / "in").write_text("Ann fell.")
    call(["answer", "-q", "Who fell?", "--html", page, "in"], tmp_path)
    assert page.stat().st_mode & 0o777 == 0o600 and page.stat().st_size > 0


def test_no_output_is_a_dash(tmp_path):
    for command in TABLES:
        for option, (_, write) in outputs_of(command).items():
            if write:
                code, errors = call([command, *write("-")], tmp_path)
                assert (code, "cannot be standard output; for a" in errors) == (2, True), (command, option, errors)
                assert not (tmp_path / "-").exists()


@pytest.mark.parametrize("command, first, second", PAIRS)
def test_no_two_outputs_are_one_file(command, first, second, tmp_path):
    (_, write), (_, write_other) = outputs_of(command)[first], outputs_of(command)[second]
    (tmp_path / "file").write_bytes(CONTENT)
    existing = names_of(tmp_path)
    (tmp_path / "dangling").symlink_to("new")
    new = [tmp_path / "new", "new", "./new", tmp_path / "dangling", tmp_path / "beside" / "new", "beside//new"]
    before = snapshot(tmp_path)
    for base, names in ("new", new), ("file", existing):
        for name in names:
            if write_other is None:
                if base == "new":
                    continue
                with open(tmp_path / name, "ab") as stream:
                    code, errors = call([command, *write(base)], tmp_path, stdout=stream)
            else:
                code, errors = call([command, *write(base), *write_other(name)], tmp_path)
            assert (code, "cannot be written for two purposes" in errors) == (2, True), (name, errors)
            assert snapshot(tmp_path) == before


def test_no_file_is_written_in_a_directory_that_is_made(tmp_path):
    for command in TABLES:
        for directory in options_of(command, {"directory"}):
            for option in options_of(command, OUTPUTS - {"directory"}):
                (tmp_path / "new").mkdir(exist_ok=True)
                code, errors = call(
                    [command, *arguments_of(directory, "new"), *arguments_of(option, "new/config.json")], tmp_path
                )
                assert code == 2 and "new/config.json cannot be in new" in errors
                assert list((tmp_path / "new").iterdir()) == []


def test_a_directory_cannot_be_replaced(tmp_path):
    for command in TABLES:
        for option in options_of(command, {"replace", "page"}):
            code, errors = call([command, *arguments_of(option, tmp_path)], tmp_path)
            assert code == 4 and errors == f"bertqa: cannot write {tmp_path}: Is a directory\n"


@pytest.mark.parametrize("content", [CONTENT, b"<!DOCTYPE html>\n<html>\n", b"<"])
def test_a_page_replaces_pages_only(content, tmp_path):
    """'--html *.txt' names a document, although not as an input."""
    documents = [tmp_path / name for name in ("a.txt", "b.txt", "c.txt")]
    for document in documents:
        document.write_bytes(content)
    cases = [(command, option) for command in TABLES for option in options_of(command, {"page"})]
    assert {command for command, _ in cases} >= {"answer", "train-classifier"}
    for command, option in cases:
        code, errors = call([command, f"--{option['name']}", *documents], tmp_path)
        assert code == 2 and f"{documents[0]} is not a page of bertqa" in errors
    assert snapshot(tmp_path) == {document: content for document in documents}
    page, text = tmp_path / "page.html", tmp_path / "text"
    page.touch()
    text.write_text("Ada wrote it.")
    for _ in range(2):
        run("answer", "-q", "Who wrote it?", "--html", page, text, "-m", TINY)
        assert page.read_text().startswith("<!DOCTYPE html>") and page.read_text().endswith("</html>\n")


def test_the_model_and_the_directory_of_one_command(tmp_path):
    for command in TABLES:
        if TABLES[command]["operands"] != "modelAndDirectory":
            continue
        model = tmp_path / "model"
        model.mkdir()
        (model / "config.json").write_bytes(CONTENT)
        (tmp_path / "link").symlink_to("model")
        for name in model, "model/", "./model", "link", "model/config.json":
            code, errors = call([command, "model", name], tmp_path)
            assert code == 2 and ("read and written" in errors or "is not empty" in errors), errors
            assert snapshot(model) == {model / "config.json": CONTENT}
        code, errors = call([command, "model", "model/new"], tmp_path)
        assert "read and written" not in errors


def test_the_model_of_the_environment_is_read(tmp_path):
    model = tmp_path / "model"
    model.mkdir()
    (model / "config.json").write_bytes(CONTENT)
    for name in "config.json", "vocab.txt":
        result = subprocess.run(
            [TOOL, "answer", "-q", "What?", "--html", model / name], input=b"", capture_output=True,
            env=environment() | {"BERTQA_MODEL": str(model)},
        )  # fmt: skip
        assert result.returncode == 2 and b"cannot be both read and written" in result.stderr
    assert snapshot(model) == {model / "config.json": CONTENT}


def test_an_input_that_is_not_there_and_would_be_written(tmp_path):
    for command, output in ("filter", "--output"), ("answer", "--html"):
        code, errors = call([command, "new", output, "./new"], tmp_path)
        assert code == 3 and "cannot read new: No such file or directory; --" in errors
        assert list(tmp_path.iterdir()) == []


def test_what_is_held_out_is_not_standard_input(tmp_path):
    texts = tmp_path / "texts.jsonl"
    texts.write_bytes(b'{"text":"a","label":"b"}\n')
    with texts.open() as stream:
        code, errors = call(["train-classifier", "-o", "new", "--holdout", texts], tmp_path, stdin=stream)
    assert code == 2 and "is also a training file" in errors


# Paths that are not separate files


def test_files_in_memory_are_replaced(memory):
    """The file's type decides, not its name."""
    for _ in range(2):
        run(*TOKENS, "--stats", memory / "stats", "--metrics", memory / "metrics.prom", input=RECORD)
    assert json.loads((memory / "stats").read_text())["records"] == 1
    assert (memory / "metrics.prom").read_text().count("bertqa_filter_records_total{") == 1


def test_devices_and_pipes_may_be_written_for_several_purposes(tmp_path):
    names = [
        "-o",
        "/dev/null",
        "--stats",
        "/dev/null",
        "--metrics",
        "/dev/null",
        "--on-error=dead-letter=/dev/null",
    ]
    assert run(*TOKENS, *names, input=RECORD) == (b"", [])
    names = ["-o", "/dev/stdout", "--stats", "/dev/stdout", "--on-error=dead-letter=/dev/stdout"]
    output, _ = run(*TOKENS, *names, input=RECORD + b"bad\n", code=1)
    lines = output.splitlines(keepends=True)
    assert sorted(lines[:2]) == sorted([DONE, b"bad\n"]) and json.loads(lines[2])["records"] == 2


@pytest.mark.parametrize("mode", ["ab", "r+b"])
def test_the_file_of_a_standard_stream_is_not_begun_afresh(mode, tmp_path):
    """A second descriptor of it would overwrite the output of the first."""
    log = tmp_path / "log"
    log.write_bytes(CONTENT)
    data = RECORD + b"bad\n"
    arguments = [*TOKENS, "-o", "/dev/stdout", "--stats", "/dev/stderr", "--on-error=dead-letter=/dev/stderr"]
    with log.open(mode) as stream:
        stream.seek(0, os.SEEK_END)
        result = subprocess.run([TOOL, *arguments], input=data, stdout=stream, stderr=stream, env=environment())
    assert result.returncode == 1
    text = log.read_bytes()
    assert text.startswith(CONTENT)
    lines = text.removeprefix(CONTENT).splitlines(keepends=True)
    message, *others = [line for line in lines if line != DONE]
    assert message.startswith(b"bertqa: line 2: ") and others[0] == b"bad\n"
    assert json.loads(others[1])["records"] == 2 and len(lines) == 4
    # A run that goes on needs to know what is its own.
    (tmp_path / "in").write_bytes(RECORD)
    with log.open("ab") as stream:
        code, errors = call([*TOKENS, "in", "-o", log, "--resume", "cp"], tmp_path, stdout=stream)
    assert code == 3 and "needs --output to be a file of its own" in errors and log.read_bytes() == text


# Files that another run writes


ENTITIES = ["filter", "--task=entities", "--patterns=all", "--redact", "--in-place"]


def attempts(target, tmp_path):
    """Runs that would write the target: their arguments, and the mode if standard output is the target."""
    source = tmp_path / "other"
    source.write_bytes(RECORD)
    tokens, entities = [*TOKENS, source], [*ENTITIES, source]
    return [
        ([*tokens, "-o", target], None),
        ([*entities, "-o", target], None),
        ([*tokens, "-o", target, "--resume", tmp_path / "another"], None),
        ([*tokens, "--stats", target], None),
        ([*tokens, "--metrics", target], None),
        ([*tokens, f"--on-error=dead-letter={target}"], None),
        ([*tokens, "-o", tmp_path / "output", "--resume", target], None),
        (["answer", "-q", "Who?", source, "--html", target], None),
        (tokens, "ab"),
        (["tokenize", "a"], "ab"),
    ]


@pytest.mark.parametrize("way", ["plain", "resume", "in place", "standard output"])
def test_a_file_that_a_run_writes_is_its_own(way, tmp_path):
    target, source = tmp_path / "target", tmp_path / "in"
    if way == "resume":
        # It reads on until it is told to stop.
        source.touch()
        first = start(*TOKENS, source, "--follow", "-o", target, "--resume", tmp_path / "cp")
    elif way == "standard output":
        with target.open("wb") as stream:
            first = start(*TOKENS, stdout=stream)
    else:
        first = start(*(ENTITIES if way == "in place" else TOKENS), "-o", target)
    feed(first, source, way)
    wait_for(lambda: target.exists() and target.read_bytes().count(b"\n") == 2)
    written = target.read_bytes()
    for arguments, mode in attempts(target, tmp_path):
        if mode and way == "standard output":
            continue  # They share it.
        stream = target.open(mode) if mode else subprocess.PIPE
        code, errors = call(arguments, tmp_path, stdout=stream)
        if mode:
            stream.close()
        assert code == 3 and re.search(rf"in use(: | by )process {first.pid}", errors), (arguments, errors)
        assert "standard output" in errors if mode else str(target) in errors
        assert target.read_bytes() == written and not (tmp_path / "output").exists()
    feed(first, source, way)
    if way == "resume":
        wait_for(lambda: target.stat().st_size == 2 * len(written))
        first.terminate()
    first.communicate(timeout=60)
    assert target.read_bytes() == written * 2


def feed(process, source, way):
    if way == "resume":
        with source.open("ab") as file:
            file.write(RECORD * 2)
    else:
        process.stdin.write(RECORD * 2)


def test_runs_share_standard_output(tmp_path):
    target = tmp_path / "target"
    with target.open("ab") as stream:
        processes = [start(*TOKENS, stdout=stream) for _ in range(3)]
    for process in processes:
        process.stdin.write(RECORD * 9)
    for process in processes:
        assert process.communicate(timeout=60)[1] == b"" and process.returncode == 0
    assert target.read_bytes() == DONE * 27


@pytest.mark.parametrize("change", ["cut", "append"])
def test_an_output_that_others_change_is_an_error(change, tmp_path):
    target = tmp_path / "target"
    process = start(*TOKENS, "-o", target)
    process.stdin.write(RECORD)
    wait_for(lambda: target.exists() and target.stat().st_size > 0)
    if change == "cut":
        os.truncate(target, 0)
    else:
        with target.open("ab") as file:
            file.write(b"other\n")
    process.stdin.write(RECORD)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 4
    assert errors.decode() == f"bertqa: {target} was changed by another program while it was written\n"
    assert b"\0" not in target.read_bytes()
