"""Model files that change while a model is in use, and limits of one call."""

import json
import os
import shutil
import subprocess
import sys

import pytest

import bertqa
from conftest import FIXTURES
from filtering import RECORD, compact, run

#: A model of each kind of weights, and what is asked of it.
MODELS = {
    "tiny-bert": lambda context: context.answer("who", "the king of france"),
    "tiny-bert-classifier": lambda context: context.classify("the king of france"),
    "tiny-bert-embedder": lambda context: list(context.embed("the king of france")),
    "tiny-bert-entities": lambda context: context.entities("the king of france"),
    "tiny-lstm": lambda context: context.likelihood("the king of france"),
    "tiny-gru": lambda context: context.predict("the king"),
    "tiny-modernbert": lambda context: context.answer("who", "the king of france"),
}


def ask(name, directory, load, change):
    """The model's results before and after its files are changed, or the error: in a separate process."""
    script = """
import sys
import bertqa
import test_model_files as tests

name, directory, load, change = sys.argv[1:]
ask = tests.MODELS[name]
context = bertqa.Context(directory, load=load, precision="f32")
before = repr(ask(context))
for _ in range(2):
    tests.CHANGES[change](directory)
    try:
        print("same" if repr(ask(context)) == before else "other")
    except bertqa.ModelIOError as error:
        print(error)
    tests.restore(directory)
print("same" if repr(ask(context)) == before else "other")
"""
    command = [sys.executable, "-c", script, name, directory, load, change]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    result = subprocess.run(command, capture_output=True, env=environment, timeout=120)
    assert result.returncode == 0, (result.returncode, result.stderr.decode()[-2000:])
    return result.stdout.decode().splitlines()


def files(directory):
    """The model's files that are changed. `restore` has a copy of each beside it."""
    return [entry.path for entry in os.scandir(directory) if entry.is_file() and not entry.name.endswith(".kept")]


def truncate(size):
    def change(directory):
        for path in files(directory):
            os.truncate(path, min(size, os.path.getsize(path)))

    return change


def scribble(directory):
    """Overwrites every file with zeros, in place."""
    for path in files(directory):
        with open(path, "r+b") as target:
            target.write(bytes(os.path.getsize(path)))


CHANGES = {"emptied": truncate(0), "cut": truncate(4096), "scribbled": scribble}


def restore(directory):
    """Writes the files again, in place."""
    for path in files(directory):
        with open(f"{path}.kept", "rb") as source, open(path, "r+b") as target:
            target.write(source.read())


@pytest.fixture
def model(request, tmp_path):
    """A fixture's name and a copy of it, with a second copy of each file for `restore`."""
    name = request.param
    directory = tmp_path / name
    shutil.copytree(FIXTURES / name, directory)
    for path in files(directory):
        shutil.copy(path, f"{path}.kept")
    return name, directory


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("model", MODELS, indirect=True)
def test_copies_stay_as_they_were(model, change):
    assert ask(*model, "copy", change) == ["same"] * 3


def populate_read_is_known():
    """MADV_POPULATE_READ exists since Linux 5.14."""
    return tuple(int(part) for part in os.uname().release.split(".")[:2]) >= (5, 14)


@pytest.mark.skipif(not populate_read_is_known(), reason="needs Linux 5.14")
@pytest.mark.parametrize("change", ["emptied", "cut"])
@pytest.mark.parametrize("model", MODELS, indirect=True)
def test_a_mapped_file_that_was_cut_is_an_error(model, change):
    """Without a signal. The context works again when the file is whole."""
    first, second, last = ask(*model, "mmap", change)
    assert "model.safetensors: was truncated or became unreadable" in first
    assert (second, last) == (first, "same")


def test_loads(tmp_path):
    for load in "mmap", "copy":
        for model in FIXTURES / "tiny-bert", FIXTURES / "tiny-bert" / "vocab.txt":
            with bertqa.Context(model, tokenizer_only=True, load=load) as context:
                assert len(context.tokenize("the king").ids) == 2
        directory = os.open(FIXTURES, os.O_RDONLY)
        with bertqa.Context("tiny-bert", dir_fd=directory, load=load) as context:
            assert context.answer("who", "the king of france").answers
        os.close(directory)
    with pytest.raises(bertqa.InvalidArgument, match="load is 'read', but must be one of mmap, copy"):
        bertqa.Context(FIXTURES / "tiny-bert", load="read")


def test_load_of_the_tool(tmp_path):
    texts = compact({"text": "the king of france"}) + b"\n"
    task = ["filter", "--task=classify", "-m", FIXTURES / "tiny-bert-classifier"]
    assert (
        run(*task, "--load=copy", input=texts) == run(*task, "--load=mmap", input=texts) == run(*task, input=texts)
    )
    assert "--load" in run(*task, "--load=read", input=RECORD, code=2)[1][0]


# Limits of one call


TEXT = "the king of france " * 50


@pytest.mark.parametrize(
    "name, call",
    [
        ("tiny-bert", lambda context, **options: context.answer("who", TEXT, **options)),
        ("tiny-bert", lambda context, **options: context.answer_batch([("who", TEXT)], **options)),
        ("tiny-bert", lambda context, **options: context.prepare(TEXT, **options)),
        ("tiny-bert", lambda context, **options: context.tokenize(TEXT, **options)),
        ("tiny-modernbert", lambda context, **options: context.tokenize(TEXT, **options)),
        ("tiny-bert-classifier", lambda context, **options: context.classify(TEXT, **options)),
        ("tiny-bert-embedder", lambda context, **options: context.embed(TEXT, **options)),
        ("tiny-bert-entities", lambda context, **options: context.entities(TEXT, **options)),
        ("tiny-lstm", lambda context, **options: context.likelihood(TEXT, **options)),
        ("tiny-lstm", lambda context, **options: context.generate(TEXT, max_words=1, **options)),
        ("tiny-lstm-characters", lambda context, **options: context.likelihood(TEXT, **options)),
        (None, lambda context, **options: context.classify(TEXT, **options)),
    ],
)
def test_limits_of_a_call(name, call):
    with bertqa.Context(FIXTURES / name if name else None, task=None if name else "classify") as context:
        for options, error in [
            ({"max_document_tokens": 30}, bertqa.TooLarge),
            ({"timeout": 0}, bertqa.DeadlineExceeded),
            ({"max_bytes": 1}, bertqa.TooLarge),
        ]:
            with pytest.raises(error) as caught:
                call(context, **options)
            if error is bertqa.TooLarge:
                assert caught.value.argument in options
        with pytest.raises(bertqa.InvalidArgument, match="max_document_tokens is 0"):
            call(context, max_document_tokens=0)
        call(context, max_document_tokens=100_000, timeout=3600, max_bytes=1 << 30)


def test_the_limit_of_tokens_is_exact(tiny):
    count = len(tiny.tokenize(TEXT).ids)
    assert tiny.tokenize(TEXT, max_document_tokens=count).ids == tiny.tokenize(TEXT).ids
    with pytest.raises(bertqa.TooLarge, match=f"max_document_tokens is {count - 1}, but a text has more"):
        tiny.tokenize(TEXT, max_document_tokens=count - 1)


def test_a_long_text_of_a_batch_fails_alone(tiny):
    results = tiny.answer_batch(
        [("who", "the king"), ("who", TEXT), ("who", "the king")], return_exceptions=True, max_document_tokens=30
    )
    assert [isinstance(result, bertqa.TooLarge) for result in results] == [False, True, False]
    assert results[1].argument == "max_document_tokens" and results[1].item == 1


def test_the_limit_of_tokens_of_the_tool(tmp_path):
    texts = b"".join(compact({"text": text}) + b"\n" for text in ("the king", TEXT, "the king"))
    options = ["--quiet", "--max-document-tokens=30", "--on-error=null"]
    for task, model in (
        ("classify", "tiny-bert-classifier"),
        ("tokenize", "tiny-bert"),
        ("embed", "tiny-bert-embedder"),
    ):
        output, _ = run("filter", f"--task={task}", "-m", FIXTURES / model, *options, input=texts, code=1)
        results = [json.loads(line) for line in output.splitlines()]
        assert [result["bertqa"] is None for result in results] == [False, True, False]
        assert "--max-document-tokens is 30, but a text has more tokens" in results[1]["bertqa_error"]
    assert "must be at least 1" in run("filter", "--max-document-tokens=0", code=2)[1][0]
