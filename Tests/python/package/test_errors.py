"""Exceptions: of models, of arguments, and what they carry."""

import errno
import pickle
import re

import numpy
import pandas
import pyarrow
import pytest

import bertqa
from bertqa import _errors
from conftest import FIXTURES
from samples import FOX, TINY, entailment_model


def test_errors_of_models(tmp_path):
    with pytest.raises(bertqa.ModelIOError, match="no-model.*No such file") as caught:
        bertqa.Context(tmp_path / "no-model")
    error = caught.value
    assert isinstance(error, FileNotFoundError) and error.status == 2
    assert error.errno == errno.ENOENT and error.filename == str(tmp_path / "no-model")
    assert str(error) == f"{error.filename}: cannot open: No such file or directory"
    copied = pickle.loads(pickle.dumps(error))
    assert (type(copied), str(copied), copied.errno, copied.filename, copied.status) == (
        type(error), str(error), error.errno, error.filename, 2,
    )  # fmt: skip
    for name, hint in (
        ("embed-minilm", "no model of this name is installed"),
        ("org/model", "hf download org/model"),
    ):
        with pytest.raises(bertqa.ModelNotFoundError, match=hint) as caught:
            bertqa.Context(name)
        assert caught.value.filename == name
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
        ({"dir_fd": 1 << 32}, "does not fit in 32 bits"),
        ({"model": {"config.json": b"{}"}, "dir_fd": 3}, "dir_fd is set, but model is a mapping"),
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
        ("no_answer_threshold", pandas.NA, "a number"),
    ]:
        with pytest.raises(TypeError, match=re.escape(f"{name} is {value!r}, but must be {kind}")):
            tiny.answer("who", FOX, **{name: value})
    with pytest.raises(bertqa.InvalidArgument, match="timeout is 1000.*, which is too large"):
        tiny.answer("who", FOX, timeout=10**400)
    with pytest.raises(bertqa.InvalidArgument, match="precision is <NA>, but must be one of"):
        bertqa.Context(precision=pandas.NA)
    # The library's own fields are no options.
    for name in "default_model", "log_user":
        with pytest.raises(TypeError, match=f"unknown option '{name}'"):
            bertqa.Context(**{name: 1})


@pytest.mark.parametrize("wrong", [5, [None], True])
def test_lists_of_texts_are_named(tiny, wrong):
    with bertqa.Context(FIXTURES / "tiny-bert-embedder") as embedder:
        for name, call in {
            "entities": lambda: bertqa.redact(FOX, wrong),
            "entities ": lambda: bertqa.everywhere(FOX, wrong),
            "entities  ": lambda: bertqa.apply_lists(FOX, wrong),
            "allow": lambda: bertqa.apply_lists(FOX, [], allow=wrong),
            "deny": lambda: bertqa.redact_column([FOX], deny=wrong),
            "patterns": lambda: bertqa.patterns(FOX, wrong),
            "kinds": lambda: bertqa.patterns_column([FOX], wrong),
            "regions": lambda: bertqa.patterns(FOX, regions=wrong),
            "labels": lambda: bertqa.entities_column(tiny, [FOX], labels=wrong),
            "examples: the label 'a'": lambda: bertqa.Labeler(embedder, {"a": wrong}),
        }.items():
            with pytest.raises(
                TypeError, match=f"^{name.strip()} (is|has) {re.escape(repr(wrong).strip('[]'))}, but"
            ):
                call()


def test_functions_and_paths_are_named(tiny, tmp_path):
    for name, call in {
        "log": lambda: bertqa.Context(FIXTURES / "tiny-bert", log=5),
        "progress": lambda: bertqa.patterns_column([FOX], progress=5),
        "timeout": lambda: bertqa.patterns_column([FOX], timeout="5"),
        "model": lambda: bertqa.Context(5),
        "directory": lambda: bertqa.quantize(None, tmp_path),
        "windows": lambda: tiny.logits([5]),
    }.items():
        with pytest.raises(TypeError, match=f"^{name} .*must be"):
            call()
    with pytest.raises(bertqa.InvalidArgument, match="timeout is nan"):
        bertqa.patterns_column([FOX], timeout=float("nan"))
    with pytest.raises(bertqa.InvalidArgument, match="model is .*lone surrogate"):
        bertqa.Context("\ud800")


def test_exceptions_have_the_argument(tiny, tmp_path):
    embedder = bertqa.Context(FIXTURES / "tiny-bert-embedder")
    notes = bertqa.Collection(":memory:", embedder=embedder)
    for name, call in {
        **{
            name: lambda value=value, name=name: tiny.answer("who", FOX, **{name: value})
            for name, value in {
                "top_k": 0,
                "max_windows": 2**40,
                "doc_stride": -1,
                "max_seq_len": 1,
                "max_bytes": 0,
                "max_document_tokens": -1,
                "no_answer_threshold": 10**400,
                "timeout": -1,
                "partial": 2,
            }.items()
        },
        **{
            name: lambda value=value, name=name: bertqa.Context(TINY, **{name: value})
            for name, value in {
                "isa": "x",
                "precision": "x",
                "load": "x",
                "task": "x",
                "threads": 2**40,
                "tokenizer_only": 2,
            }.items()
        },
        "model": lambda: bertqa.Context("\0"),
        "model ": lambda: bertqa.Context({"\0": b""}),
        "dir_fd": lambda: bertqa.Context({"config.json": b""}, dir_fd=3),
        "batch_size": lambda: tiny.answer_stream([], batch_size=0),
        "windows": lambda: tiny.logits([[2**40]]),
        "second_segments": lambda: tiny.logits([[1]], [1, 2]),
        "pooling": lambda: embedder.embed(FOX, pooling="x"),
        "aggregation": lambda: tiny.entities(FOX, aggregation="x"),
        "labels": lambda: tiny.entities(FOX, labels={"a": 10**400}),
        "window_pooling": lambda: tiny.classify(FOX, window_pooling="x"),
        "patterns": lambda: bertqa.patterns(FOX, "x"),
        "patterns ": lambda: bertqa.patterns(FOX, []),
        "mask": lambda: bertqa.redact(FOX, [], mask=-1),
        "entities": lambda: bertqa.redact("", bertqa.patterns("a@example.org")),
        "scale": lambda: bertqa.Labeler(embedder, {"a": "b"}, scale=0),
        "examples": lambda: bertqa.Labeler(embedder, {"a": []}),
        "c": lambda: bertqa.train_classifier([], [], tmp_path / "a", c=0),
        "top_k ": lambda: bertqa.classify_column(tiny, [FOX], top_k=0),
        "contributions": lambda: bertqa.classify_column(tiny, [FOX], [FOX], contributions=1),
        "labels ": lambda: bertqa.redact_column([FOX], labels=["a"]),
        "questions": lambda: bertqa.answer_column(tiny, ["a"], ["b", "c"]),
        "documents": lambda: bertqa.answer_column(tiny, "who", pyarrow.array([1])),
        "name": lambda: notes.add("\ud800", FOX),
        "text": lambda: notes.add("a", b"\xff"),
        "fields": lambda: notes.add("a", FOX, fields={"a": float("nan")}),
        "k": lambda: notes.search("a", k=0),
        "passages": lambda: notes.ask("a", passages=1001),
    }.items():
        with pytest.raises(bertqa.InvalidArgument, match=".") as caught:
            call()
        assert caught.value.argument == name.strip(), caught.value


def test_a_null_of_pyarrow_is_no_text():
    embedder = bertqa.Context(FIXTURES / "tiny-bert-embedder")
    with pytest.raises(
        TypeError, match=re.escape("texts[1] is null: leave it out, or use a function for columns")
    ):
        embedder.embed(pyarrow.array([FOX, None]))


def test_what_is_no_list_of_texts(tiny):
    """Iterating over a table gives the names of its columns, and over a dict its keys; a set has no order; None and
    numbers do not iterate."""
    document = tiny.prepare(FOX)
    for wrong in pandas.DataFrame({"body": ["a"]}), {"body": ["a"]}, {"a", "b"}, None, 3:
        for call in (
            lambda texts: tiny.classify_batch(texts),
            lambda texts: tiny.embed(texts),
            lambda texts: tiny.entities_batch(texts),
            lambda texts: tiny.answer_documents("who", texts),
            lambda texts: tiny.answer_batch(texts),
            lambda texts: tiny.answer_stream(texts),
            lambda texts: tiny.rank("who", texts),
            lambda texts: document.answer_batch(texts),
            lambda texts: bertqa.train_classifier(texts, ["a"], "nowhere"),
            lambda texts: bertqa.SentenceEncoder().encode(texts),
        ):
            with pytest.raises(TypeError, match="but must be a list or one column"):
                call(wrong)


def test_a_text_that_fails_leaves_the_one_before_it(tmp_path):
    """A long text takes many slices of windows. The next text is refused before the last of them is read."""
    long, refused = "the fox " * 150 + "king dog " * 170, "the " * 1000
    limits = {"max_seq_len": 16, "max_document_tokens": 900, "max_bytes": 1 << 20}
    for model, task, options in [
        (FIXTURES / "tiny-bert-classifier", bertqa.Context.classify_batch, {}),
        (entailment_model(tmp_path / "entailment"), bertqa.Context.classify_batch, {"labels": ["king", "dog"]}),
        (FIXTURES / "tiny-bert-embedder", bertqa.Context.embed, {}),
        (FIXTURES / "tiny-bert-embedder", bertqa.Context.embed_tokens, {}),
    ]:
        with bertqa.Context(model) as context:
            alone = task(context, [long], **limits, **options)
            both = task(context, [long, refused, long], return_exceptions=True, **limits, **options)
        for index in 0, 2:
            if task is bertqa.Context.classify_batch:
                assert both[index] == alone[0]
            else:
                assert numpy.array_equal(both[index], alone[0])


@pytest.mark.parametrize("error", [*_errors.BY_STATUS.values(), bertqa.BertQAError])
def test_exceptions(error):
    made = error("what was wrong")
    assert isinstance(made, bertqa.BertQAError) and str(made) == "what was wrong"
    again = pickle.loads(pickle.dumps(made))
    assert type(again) is error and again.args == made.args and again.status == made.status
    assert repr(error).startswith("<class 'bertqa.") and hasattr(bertqa, error.__name__)
    assert bertqa.BertQAError("later", 77).status == 77
