"""Static models of model2vec and of sentence-transformers, beside the same means computed here.

make test-parity compares with both packages themselves.
"""

import json
import random
import subprocess
import threading

import numpy as np
import pytest
from safetensors.numpy import save_file
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

import bertqa
from conftest import TOOL

WIDTHS = [1, 3, 8, 64, 100, 256, 259]
LETTERS = ["ab", "ba", "ce", "ed", "é", "ñu", "x"]


def text_of(words, seed):
    choice = random.Random(seed)
    return " ".join("".join(choice.choices(LETTERS, k=choice.randint(1, 4))) for _ in range(words))


TEXTS = [text_of(words, words) for words in (1, 2, 5, 17, 60, 511, 513, 3000)]
TEXTS += ["", " ", "☃ ☃", "AB ☃ Ab. [UNK] ab", "a" * 5000, "ñu " * 2000]


def tokenizer(kind):
    pieces = ["[PAD]", "[UNK]", ".", "☺"] + LETTERS + ["##" + piece for piece in LETTERS] + ["a", "##a"]
    if kind == "WordPiece":
        made = Tokenizer(models.WordPiece({piece: id for id, piece in enumerate(pieces)}, unk_token="[UNK]"))
        made.normalizer = normalizers.BertNormalizer(lowercase=True)
        made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    elif kind == "Unigram":
        pieces = ["<unk>", "▁"] + LETTERS + ["▁" + piece for piece in LETTERS] + ["a", "."]
        made = Tokenizer(models.Unigram([(piece, -float(id)) for id, piece in enumerate(pieces)], unk_id=0))
        made.pre_tokenizer = pre_tokenizers.Metaspace()
        made.decoder = decoders.Metaspace()
    else:
        pieces = sorted(pre_tokenizers.ByteLevel.alphabet())
        made = Tokenizer(models.BPE({piece: id for id, piece in enumerate(pieces + ["ab"])}, [("a", "b")]))
        made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.add_tokens(["<tweet>"])
    return made


class Static:
    """A static model and its vectors."""

    def __init__(self, kind, width=64, dtype="float32", *, mapped=False, weighted=False):
        self.tokenizer = tokenizer(kind)
        self.rng = np.random.default_rng(0)
        count = self.tokenizer.get_vocab_size()
        rows = count // 2 if mapped else count
        table = self.rng.standard_normal((rows, width))
        self.table = (table * 40).astype(dtype) if dtype == "int8" else table.astype(dtype)
        self.mapping = self.rng.integers(0, rows, count) if mapped else None
        self.weights = self.rng.random(count) if weighted else None
        self.unknown = {"WordPiece": 1, "Unigram": 0}.get(kind)

    def save(self, directory, **config):
        """As model2vec does."""
        directory.mkdir(parents=True, exist_ok=True)
        tensors = {"embeddings": self.table, "mapping": self.mapping, "weights": self.weights}
        save_file(
            {name: tensor for name, tensor in tensors.items() if tensor is not None},
            directory / "model.safetensors",
        )
        self.tokenizer.save(str(directory / "tokenizer.json"))
        config = {"model_type": "model2vec", "architectures": ["StaticModel"], **config}
        (directory / "config.json").write_text(json.dumps(config))
        return directory

    def save_module(self, directory, folder="0_StaticEmbedding", normalizes=1):
        """As sentence-transformers does."""
        (directory / folder).mkdir(parents=True, exist_ok=True)
        save_file({"embedding.weight": self.table}, directory / folder / "model.safetensors")
        self.tokenizer.save(str(directory / folder / "tokenizer.json"))
        package = "sentence_transformers.models."
        modules = [{"idx": 0, "name": "0", "path": folder, "type": package + "StaticEmbedding"}]
        for index in range(1, normalizes + 1):
            modules.append(
                {"idx": index, "name": str(index), "path": f"{index}_Normalize", "type": package + "Normalize"}
            )
        (directory / "modules.json").write_text(json.dumps(modules))
        return directory

    def vector(self, text, *, normalizes=False, tokens=None, drops=True):
        if tokens is not None and drops:
            lengths = [len(piece) for piece in self.tokenizer.get_vocab()]
            text = text[: tokens * int(np.median(lengths))]
        ids = self.tokenizer.encode(text, add_special_tokens=False).ids[:tokens]
        ids = [id for id in ids if not drops or id != self.unknown]
        rows = self.table.astype(np.float64)[ids if self.mapping is None else self.mapping[ids]]
        if self.weights is not None:
            rows = rows * self.weights[ids][:, None]
        vector = rows.sum(axis=0) / max(1, len(ids))
        return vector / max(1e-12, np.linalg.norm(vector)) if normalizes else vector


def matches(ours, theirs):
    theirs = np.asarray(theirs)
    assert np.abs(np.asarray(ours) - theirs).max() <= 1e-6 * max(1, np.abs(theirs).max())


@pytest.mark.parametrize("kind", ["WordPiece", "Unigram", "BPE"])
@pytest.mark.parametrize("normalizes", [True, False])
def test_vectors(kind, normalizes, tmp_path):
    model = Static(kind)
    with bertqa.Context(model.save(tmp_path, normalize=normalizes)) as context:
        assert (context.info.architecture, context.info.task) == ("StaticModel", "embed")
        assert context.info.embedding_length == 64
        matches(context.embed(TEXTS), [model.vector(text, normalizes=normalizes) for text in TEXTS])
        matches(context.embed("ab", normalize=not normalizes), model.vector("ab", normalizes=not normalizes))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dtype", ["float32", "float16", "int8"])
@pytest.mark.parametrize("isa", ["auto", "portable", "avx2", "avx512"])
def test_tables(width, dtype, isa, tmp_path):
    model = Static("WordPiece", width, dtype, mapped=width > 64, weighted=width > 8)
    try:
        context = bertqa.Context(model.save(tmp_path), isa=isa)
    except bertqa.Unsupported:
        pytest.skip(f"static models: this machine has no {isa}")
    with context:
        matches(context.embed(TEXTS), [model.vector(text) for text in TEXTS])


@pytest.mark.parametrize("length", [None, 40])
def test_truncated_as_model2vec(length, tmp_path):
    model = Static("WordPiece")
    config = {} if length is None else {"max_length": length}
    with bertqa.Context(model.save(tmp_path, **config)) as context:
        theirs = [model.vector(text, tokens=length or 512) for text in TEXTS]
        matches(context.embed(TEXTS, truncate=True), theirs)
        shorter = [model.vector(text, tokens=9) for text in TEXTS]
        matches(context.embed(TEXTS, truncate=True, max_seq_len=9), shorter)
        matches(context.embed(TEXTS, max_seq_len=9), [model.vector(text) for text in TEXTS])


def test_no_limit(tmp_path):
    model = Static("WordPiece")
    with bertqa.Context(model.save(tmp_path, max_length=None)) as context:
        matches(context.embed(TEXTS, truncate=True), [model.vector(text) for text in TEXTS])


@pytest.mark.parametrize("folder", ["", "0_StaticEmbedding", ".", "./0_StaticEmbedding/"])
@pytest.mark.parametrize("normalizes", [0, 1, 2])
def test_a_module_of_sentence_transformers(folder, normalizes, tmp_path):
    model = Static("WordPiece")
    model.tokenizer.enable_truncation(30)
    model.save_module(tmp_path, folder, normalizes)
    model.tokenizer.no_truncation()
    with bertqa.Context(tmp_path) as context:
        assert context.info.architecture == "StaticEmbedding"
        settings = {"normalizes": normalizes, "drops": False}
        matches(context.embed(TEXTS), [model.vector(text, **settings) for text in TEXTS])
        cut = [model.vector(text, tokens=30, **settings) for text in TEXTS]
        matches(context.embed(TEXTS, truncate=True), cut)
    with bertqa.Context(tmp_path, tokenizer_only=True) as context:
        assert context.tokenize("ab ce").ids == model.tokenizer.encode("ab ce").ids


def test_the_same_bits(tmp_path):
    """In every batch, by any number of threads, and from several threads."""
    model = Static("Unigram")
    texts = [text_of(index % 70, index) for index in range(3000)] + TEXTS
    model.save(tmp_path)
    with bertqa.Context(tmp_path, threads=1) as one, bertqa.Context(tmp_path, threads=4) as many:
        expected = np.asarray(one.embed(texts))
        assert np.array_equal(np.asarray(many.embed(texts)), expected)
        for index in (0, 1, 69, 3005, 3007):
            assert np.array_equal(np.asarray(many.embed(texts[index])), expected[index])
        same = []
        threads = [
            threading.Thread(target=lambda: same.append(np.array_equal(np.asarray(many.embed(texts)), expected)))
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert same == [True] * 4


def test_failures(tmp_path):
    model = Static("WordPiece")
    with bertqa.Context(model.save(tmp_path)) as context:
        results = context.embed(["ab", ("ab", "ce"), "ce"], return_exceptions=True)
        assert "single texts" in str(results.failures[1]) and list(results.failures) == [1]
        assert not np.asarray(results)[1].any()
        matches(np.asarray(results)[2], model.vector("ce"))
        with pytest.raises(bertqa.InvalidArgument, match="single texts"):
            context.embed([("ab", "ce")])
        with pytest.raises(bertqa.Unsupported, match="pooling"):
            context.embed("ab", pooling="cls")
        with pytest.raises(bertqa.TooLarge, match="max_document_tokens"):
            context.embed(["ab", "ab " * 1000], max_document_tokens=999)
        with pytest.raises(bertqa.TooLarge, match="max_bytes"):
            context.embed(["ab ce " * 100_000], max_bytes=100_000)
        with pytest.raises(bertqa.Cancelled):
            context.embed(["ab ce " * 10_000] * 500, cancel=lambda: True)
        with pytest.raises(bertqa.DeadlineExceeded):
            context.embed(["ab ce " * 10_000] * 500, timeout=1e-9)
        with pytest.raises(bertqa.InvalidArgument, match="max_seq_len is 7, but must be at least 8$"):
            context.embed("ab", max_seq_len=7)
    with pytest.raises(bertqa.Unsupported, match="runs only in f32"):
        bertqa.Context(tmp_path, precision="int8")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"table": np.zeros((3, 4), np.float32)}, "belongs to another model"),
        ({"table": np.full((30, 4), np.nan, np.float32)}, "infinity or NaN"),
        ({"table": np.zeros((30, 4, 2), np.float32)}, "expected F32 or F16"),
        ({"table": np.zeros((30, 4), np.int32)}, "expected F32 or F16"),
        ({"mapping": np.full(30, 30)}, "expected 0 to"),
        ({"mapping": np.full(30, -1)}, "expected 0 to"),
        ({"mapping": np.zeros(4, np.int64)}, "at least"),
        ({"weights": np.full(30, np.inf)}, "infinity or NaN"),
        ({"weights": np.zeros(4)}, "at least"),
    ],
)
def test_damaged_files(change, message, tmp_path):
    model = Static("WordPiece")
    for name, value in change.items():
        setattr(model, name, value)
    with pytest.raises((bertqa.InvalidModel, bertqa.Unsupported), match=message):
        bertqa.Context(model.save(tmp_path))


def test_other_modules_are_refused(tmp_path):
    Static("WordPiece").save_module(tmp_path)
    modules = json.loads((tmp_path / "modules.json").read_text())
    modules[1]["type"] = "sentence_transformers.models.Dense"
    (tmp_path / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(bertqa.Unsupported, match='"Dense"'):
        bertqa.Context(tmp_path)


def test_there_is_no_int8_form(tmp_path):
    Static("WordPiece").save(tmp_path / "model2vec")
    # As model2vec 0.10 does.
    Static("WordPiece").save(tmp_path / "latest", model_type=None, architectures=None)
    Static("WordPiece").save_module(tmp_path / "latest", "")
    Static("WordPiece").save_module(tmp_path / "module")
    for name in "model2vec", "latest", "module":
        with pytest.raises(bertqa.Unsupported, match="is a static model, which has no int8 form"):
            bertqa.quantize(tmp_path / name, tmp_path / "int8")
        assert not (tmp_path / "int8").exists()


def test_a_labeler_and_the_tool(tmp_path):
    model = Static("WordPiece")
    model.save(tmp_path)
    with bertqa.Context(tmp_path) as context:
        labeler = bertqa.Labeler(context, {"one": ["ab ab"], "two": ["ce ed"]})
        assert labeler.classify("ce ed").label == "two"
    done = subprocess.run([TOOL, "embed", "-m", tmp_path, "ab ce"], capture_output=True, check=True, text=True)
    matches(json.loads(done.stdout)["embedding"], model.vector("ab ce"))


def test_a_collection_of_a_model_that_knows_no_english_word(tmp_path):
    """The vector by which a collection knows its model, of an English text, is then zeros."""
    model, path = Static("WordPiece").save(tmp_path / "model"), tmp_path / "some.db"
    other = Static("WordPiece", width=8).save(tmp_path / "other")
    texts = tmp_path / "texts"
    texts.mkdir()
    (texts / "one.txt").write_text("ñu ñu. é x")
    subprocess.run([TOOL, "index", "-m", model, path, texts], check=True)
    (texts / "two.txt").write_text("ed ed. ce ab")
    subprocess.run([TOOL, "index", "-m", model, path, texts], check=True)
    found = subprocess.run([TOOL, "search", "-m", model, path, "ed ce"], capture_output=True, check=True)
    assert b"ed ed. ce ab" in found.stdout.partition(b"\n\n")[0]
    with bertqa.Context(model) as embedder, bertqa.Collection(path, embedder=embedder) as collection:
        assert collection.search("ñu é", k=1)[0].text == "ñu ñu. é x"
    with bertqa.Context(other) as embedder, bertqa.Collection(path, embedder=embedder) as collection:
        with pytest.raises(bertqa.WrongModel, match="another model than"):
            collection.search("ñu é")


def test_vectors_that_cannot_be_searched(tmp_path):
    model = Static("WordPiece", width=3).save(tmp_path / "model")
    (tmp_path / "one.txt").write_text("ñu")
    result = subprocess.run(
        [TOOL, "index", "-m", model, tmp_path / "some.db", tmp_path / "one.txt"], capture_output=True
    )
    assert result.returncode == 3
    assert (
        f"{model}: its vectors have 3 numbers, but vectors to search have a multiple of 4"
        in result.stderr.decode()
    )
