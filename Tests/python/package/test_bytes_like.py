"""Texts as any bytes-like object: every public function that takes bytes returns the same for all kinds."""

import array
import ctypes
import inspect
import mmap
import pickle
import re

import numpy
import pyarrow
import pytest

import bertqa
from conftest import FIXTURES
from samples import FOX, LOVELACE, WHO


def mapped(data):
    memory = mmap.mmap(-1, max(1, len(data)))
    memory[: len(data)] = data
    return memory


KINDS = {
    "bytearray": bytearray,
    "memoryview": memoryview,
    "memoryview with a step": lambda data: memoryview(b"".join(bytes([byte, 0]) for byte in data))[::2],
    "array": lambda data: array.array("B", data),
    "ctypes": lambda data: (ctypes.c_char * len(data)).from_buffer_copy(data),
    "mmap": mapped,
    "Arrow": lambda data: pyarrow.array([bytes(data)]).view(pyarrow.string())[0],
}
TEXT = "Zoë 🦊 met a@b.de. ".encode() + FOX.encode()
NAMES = LOVELACE.encode()
SPORT = b"The team won the match after the striker scored two goals in the last minutes of the championship."


@pytest.fixture(scope="module")
def contexts():
    """The default models, and a model that predicts, by task."""
    found = {task: bertqa.Context(task=task) for task in ("answer", "classify", "embed", "entities", "predict")}
    yield found
    for context in found.values():
        context.close()


def trained(given, directory, of):
    """Returns the bytes of a classifier that is trained on texts, labels and groups."""
    texts = [
        of(b"a good film it was"),
        of(b"a bad film it was"),
        of(b"the very good one"),
        of(b"the very bad one"),
    ]
    labels, groups = [of(b"yes"), of(b"no"), of(b"yes"), of(b"no")], [of(b"1"), of(b"1"), of(b"2"), of(b"2")]
    bertqa.train_classifier(texts, labels, directory / given, groups=groups, folds=2)
    return (directory / given / "model.safetensors").read_bytes()


def column(function, *arguments):
    return lambda contexts, of: list(function(contexts[arguments[0]], *([of(text)] for text in arguments[1:])))


FILES = {path.name: path.read_bytes() for path in (FIXTURES / "tiny-bert").iterdir() if path.is_file()}
# The functions that take texts, by their qualified names.
CALLS = {
    "Context": lambda c, of: bertqa.Context({name: of(data) for name, data in FILES.items()}).answer(WHO, FOX),
    "Context.answer": lambda c, of: c["answer"].answer(of(WHO.encode()), of(TEXT)),
    "Context.answer_documents": lambda c, of: c["answer"].answer_documents(of(WHO.encode()), [of(TEXT)] * 2),
    "Context.answer_batch": lambda c, of: c["answer"].answer_batch([(of(WHO.encode()), of(TEXT))] * 2),
    "Context.answer_stream": lambda c, of: list(c["answer"].answer_stream([(of(WHO.encode()), of(TEXT))] * 2)),
    "Context.prepare": lambda c, of: c["answer"].prepare(of(TEXT)).answer(WHO),
    "Document": lambda c, of: bertqa.Document(c["answer"], of(TEXT)).text,
    "Document.answer": lambda c, of: c["answer"].prepare(TEXT).answer(of(WHO.encode())),
    "Document.answer_batch": lambda c, of: c["answer"].prepare(TEXT).answer_batch([of(WHO.encode())]),
    "Context.tokenize": lambda c, of: c["answer"].tokenize(of(TEXT)),
    "Context.piece_id": lambda c, of: c["answer"].piece_id(of(b"fox")),
    "Context.classify": lambda c, of: c["classify"].classify(of(SPORT), contributions=3),
    "Context.classify_batch": lambda c, of: c["classify"].classify_batch([of(SPORT)], contributions=3),
    "Context.embed": lambda c, of: [
        list(c["embed"].embed(of(TEXT))), c["embed"].embed([of(TEXT), (of(TEXT), of(NAMES))][:1]).tolist()
    ],
    "Context.entities": lambda c, of: c["entities"].entities(of(NAMES), labels=[of(b"person")]),
    "Context.entities_batch": lambda c, of: c["entities"].entities_batch([of(NAMES)]),
    "Labeler": lambda c, of: bertqa.Labeler(c["embed"], {"a": of(TEXT), "b": [of(NAMES)]}).classify(SPORT),
    "Labeler.classify": lambda c, of: bertqa.Labeler(c["embed"], {"a": TEXT, "b": NAMES}).classify(of(SPORT)),
    "Labeler.classify_batch": lambda c, of: bertqa.Labeler(
        c["embed"], {"a": TEXT, "b": NAMES}
    ).classify_batch([of(SPORT)]),
    "Context.predict": lambda c, of: c["predict"].predict(of(b"king")).words,
    "Context.predict_text": lambda c, of: c["predict"].predict_text(of(b"the king")).words,
    "Context.generate": lambda c, of: c["predict"].generate(of(b"the king"), max_words=3).text,
    "Context.likelihood": lambda c, of: c["predict"].likelihood(of(b"the king is dead")),
    "Context.rank": lambda c, of: c["predict"].rank(of(b"the"), [of(b"king"), of(b"queen")]),
    "Context.state_from_bytes": lambda c, of: c["predict"].state_from_bytes(
        of(c["predict"].predict(b"king").state.to_bytes())
    ).values,
    "patterns": lambda c, of: bertqa.patterns(of(TEXT)),
    "redact": lambda c, of: bertqa.redact(of(TEXT), bertqa.patterns(TEXT), of(b"?")),
    "everywhere": lambda c, of: bertqa.everywhere(of(TEXT), bertqa.patterns(TEXT)),
    "apply_lists": lambda c, of: bertqa.apply_lists(of(TEXT), bertqa.patterns(TEXT), deny=[of(b"a")]),
    "Rules.entities": lambda c, of: bertqa.Rules([{"name": "A", "expression": "a"}]).entities(of(TEXT)),
    "Pseudonyms.restore": lambda c, of: bertqa.Pseudonyms({"[A_1]": "Zoë"}).restore(of(b"[A_1] met")),
    "patterns_column": lambda c, of: list(bertqa.patterns_column([of(TEXT)])),
    "redact_column": lambda c, of: list(bertqa.redact_column([of(TEXT)], key=of(b"0123456789abcdef"))),
    "word_counts": lambda c, of: bertqa.word_counts(of(TEXT)),
    "answer_column": column(bertqa.answer_column, "answer", WHO.encode(), TEXT),
    "classify_column": column(bertqa.classify_column, "classify", SPORT),
    "embed_column": column(bertqa.embed_column, "embed", TEXT),
    "entities_column": column(bertqa.entities_column, "entities", NAMES),
    "tokenize_column": column(bertqa.tokenize_column, "answer", TEXT),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CALLS)
def test_results_are_those_of_bytes(contexts, name, kind):
    expected, found = (CALLS[name](contexts, of) for of in (bytes, KINDS[kind]))
    assert found == expected
    # Plain bytes, which can be hashed and sent to other processes.
    assert pickle.loads(pickle.dumps(found)) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_training(tmp_path, kind):
    assert trained("given", tmp_path, KINDS[kind]) == trained("expected", tmp_path, bytes)


@pytest.mark.parametrize("kind", KINDS)
def test_one_text_for_all_rows(contexts, kind):
    question, documents = KINDS[kind](WHO.encode()), [TEXT, NAMES]
    expected = list(bertqa.answer_column(contexts["answer"], WHO, documents))
    assert list(bertqa.answer_column(contexts["answer"], question, documents)) == expected


def test_every_function_that_takes_texts_is_tried():
    """The list comes from the annotations of the public functions."""
    functions = {name: getattr(bertqa, name) for name in bertqa.__all__}
    for name in "Context", "Document", "Labeler", "Pseudonyms", "Rules", "SequenceState":
        members = inspect.getmembers(functions[name], inspect.isfunction)
        functions |= {f"{name}.{member}": function for member, function in members if member[0] != "_"}
    pattern = re.compile(r"\bText\b|\bTextOrPair\b|~T\b|\bT\b|\bstr, bytes\b|\bbytes\b")
    taking = {
        name
        for name, function in functions.items()
        if callable(function)
        and not (inspect.isclass(function) and name not in ("Context", "Document", "Labeler"))
        and any(
            pattern.search(str(parameter.annotation))
            for parameter in inspect.signature(function).parameters.values()
        )
    }
    columns = {name for name in bertqa.__all__ if name.endswith("_column")}
    assert taking | columns - {"train_classifier"} <= CALLS.keys() | {"train_classifier"}
    assert len(taking) > 15


@pytest.mark.parametrize("kind", KINDS)
def test_one_text_is_no_list(contexts, kind, tmp_path):
    """Iterating over one text, in place of a list of texts, would yield numbers."""
    text = KINDS[kind](TEXT)
    for call in (
        lambda: contexts["answer"].answer_batch([text]),
        lambda: contexts["answer"].answer_stream(text),
        lambda: contexts["answer"].prepare(TEXT).answer_batch(text),
        lambda: contexts["classify"].classify_batch(text),
        lambda: contexts["entities"].entities_batch(text),
        lambda: contexts["entities"].entities(NAMES, labels=text),
        lambda: contexts["predict"].rank("the", text),
        lambda: bertqa.embed_column(contexts["embed"], text),
        lambda: bertqa.train_classifier(text, text, tmp_path / "model"),
    ):
        with pytest.raises(
            TypeError, match=r"is one text|must be a list|must be a column|expected \(question, document\)"
        ):
            call()


def test_buffers_that_are_reused(contexts):
    """A buffer that the caller refills is read when it is passed."""
    pairs = [(WHO.encode(), TEXT), (b"Who met?", NAMES), (WHO.encode(), b"")]

    def given():
        question, document = bytearray(), bytearray()
        for pair in pairs:
            question[:], document[:] = pair
            yield question, document

    context = contexts["answer"]
    expected = context.answer_batch(pairs)
    assert context.answer_batch(given()) == expected
    assert list(context.answer_stream(given())) == expected
    texts = [text for _, text in pairs]
    assert contexts["embed"].embed(text for _, text in given()).tolist() == contexts["embed"].embed(texts).tolist()
    document = bytearray(TEXT)
    prepared = context.prepare(document)
    document[:] = b" " * len(document)
    assert prepared.answer(WHO) == expected[0]


@pytest.mark.parametrize(
    "value",
    [array.array("i", [1]), memoryview(b"abcd").cast("B", (2, 2)), numpy.datetime64(0, "s"), 1, [b"a"], None],
)
def test_what_is_no_text(contexts, value):
    with pytest.raises(TypeError, match="expected str or bytes, got"):
        contexts["answer"].answer(WHO, value)
    with pytest.raises(TypeError, match="expected bytes, got"):
        bertqa.Context({"config.json": value})
