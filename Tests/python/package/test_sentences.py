"""SentenceEncoder and CrossEncoder on tiny models; Tests/parity4 compares them with sentence-transformers."""

import json
import os
import pickle
import shutil
import tracemalloc

import numpy
import pytest

import bertqa
from bertqa._hosts import scores
from conftest import FIXTURES

MODEL = FIXTURES / "tiny-bert-embedder"
TEXT = "The quick fox jumps over the lazy dog. "


@pytest.fixture(scope="module")
def encoder():
    return bertqa.SentenceEncoder(MODEL)


@pytest.mark.parametrize("name", ["tiny-bert-embedder", "tiny-distilbert-embedder"])
def test_vectors_are_those_of_sentence_transformers(name):
    expected = json.loads((FIXTURES / name / "expected.json").read_text())
    vectors = bertqa.SentenceEncoder(FIXTURES / name).encode([first for first, _ in expected["texts"]])
    assert vectors.dtype == numpy.float32
    assert numpy.abs(vectors - numpy.array(expected["outputs"])).max() < 1e-4


def test_forms(encoder):
    assert encoder.encode(TEXT).shape == (16,) and encoder.encode([TEXT]).shape == (1, 16)
    assert encoder.encode([]).shape == (0,)
    rows = encoder.encode([TEXT, "a"], convert_to_numpy=False, show_progress_bar=True)
    assert isinstance(rows, list) and numpy.allclose(rows, encoder.encode([TEXT, "a"], batch_size=1))
    unit = encoder.encode(TEXT, normalize_embeddings=True)
    assert abs(numpy.linalg.norm(unit) - 1) < 1e-6
    short = encoder.encode(TEXT, normalize_embeddings=True, truncate_dim=4)
    assert short.shape == (4,) and abs(numpy.linalg.norm(short) - 1) < 1e-6
    many = encoder.encode([str(number) for number in range(300)])
    assert many.shape == (300, 16) and numpy.array_equal(many[299], encoder.encode("299"))


def test_rankers_of_hosts_use_the_prompts(tmp_path):
    """As query and documents of retrieval have them."""
    shutil.copytree(MODEL, tmp_path / "model")
    prompts = {"query": "the king asks ", "document": "a dog "}
    (tmp_path / "model" / "config_sentence_transformers.json").write_text(json.dumps({"prompts": prompts}))
    texts = ["the dog", "a king", TEXT]
    with bertqa.Context(tmp_path / "model", precision="f32") as context:
        query = numpy.asarray(context.embed("fox", prompt=prompts["query"], normalize=True))
        documents = numpy.asarray(context.embed(texts, prompt=prompts["document"], normalize=True))
        assert scores(context, "fox", texts) == pytest.approx((documents @ query).tolist(), abs=1e-5)


@pytest.mark.parametrize("dimension", [0, -1])
def test_no_dimensions(encoder, dimension):
    for call in (
        lambda: encoder.encode(TEXT, truncate_dim=dimension),
        lambda: bertqa.SentenceEncoder(encoder.context, truncate_dim=dimension),
    ):
        with pytest.raises(ValueError, match=f"truncate_dim is {dimension}, but must be at least 1"):
            call()


def test_long_texts(encoder):
    """By default a text is cut; on request it is read whole."""
    whole = bertqa.SentenceEncoder(encoder.context, truncate=False)
    assert numpy.array_equal(encoder.encode(TEXT * 50), encoder.encode(TEXT * 60))
    assert not numpy.allclose(whole.encode(TEXT * 50 + "a king"), encoder.encode(TEXT * 50))


@pytest.mark.parametrize("as_files", [False, True])
def test_prompts(encoder, tmp_path, as_files):
    directory = tmp_path / "model"
    shutil.copytree(MODEL, directory)
    settings = {"prompts": {"query": "find: ", "passage": "a "}, "default_prompt_name": "passage"}
    (directory / "config_sentence_transformers.json").write_text(json.dumps(settings))
    model = directory
    if as_files:
        paths = [path for path in directory.rglob("*") if path.is_file()]
        model = {str(path.relative_to(directory)): path.read_bytes() for path in paths}
    prompted = bertqa.SentenceEncoder(model)
    assert numpy.array_equal(prompted.encode("fox"), encoder.encode("a fox"))
    assert numpy.array_equal(prompted.encode_query("fox"), encoder.encode("find: fox"))
    assert numpy.array_equal(prompted.encode_document("fox"), encoder.encode("fox"))
    assert numpy.array_equal(prompted.encode("fox", prompt="the "), encoder.encode("the fox"))
    again = pickle.loads(pickle.dumps(prompted))
    assert numpy.array_equal(again.encode("fox"), prompted.encode("fox"))
    with pytest.raises(ValueError, match="not found in the configured prompts"):
        prompted.encode("fox", prompt_name="other")
    with pytest.raises(ValueError, match="not found in the configured prompts"):
        bertqa.SentenceEncoder(model, default_prompt_name="other")


def test_the_files_of_a_relative_path(tmp_path, monkeypatch):
    """They are found wherever the process is, and those beside dir_fd, which is not kept, are not taken for missing."""
    directory = tmp_path / "model"
    shutil.copytree(MODEL, directory)
    (directory / "config_sentence_transformers.json").write_text(json.dumps({"prompts": {"query": "find: "}}))
    monkeypatch.chdir(tmp_path)
    relative = bertqa.Context("model")
    monkeypatch.chdir("/")
    assert bertqa.SentenceEncoder(relative).prompts["query"] == "find: "
    for parent, name, opened in (
        (tmp_path, "model", bertqa.SentenceEncoder),
        (FIXTURES, "tiny-bert", lambda context: bertqa.pipeline("question-answering", context)),
    ):
        descriptor = os.open(parent, os.O_RDONLY)
        try:
            context = bertqa.Context(name, dir_fd=descriptor)
        finally:
            os.close(descriptor)
        with pytest.raises(TypeError, match="dir_fd cannot be read: open the Context by its path"):
            opened(context)


def test_similarity(encoder):
    vectors = encoder.encode([TEXT, "a king"])
    found = encoder.similarity(vectors, vectors)
    assert found.shape == (2, 2) and numpy.allclose(numpy.diag(found), 1, atol=1e-6)
    for name, expected in ("dot", vectors @ vectors.T), ("euclidean", None), ("manhattan", None):
        other = bertqa.SentenceEncoder(encoder.context, similarity_fn_name=name)
        found = other.similarity(vectors, vectors)
        assert numpy.allclose(found, expected) if expected is not None else found[0, 0] == 0 > found[0, 1]
    with pytest.raises(ValueError, match="similarity_fn_name"):
        bertqa.SentenceEncoder(encoder.context, similarity_fn_name="hamming")


@pytest.mark.parametrize("name", ["cosine", "dot", "euclidean", "manhattan"])
def test_similarity_of_many_or_unlike_vectors(encoder, name):
    encoder = bertqa.SentenceEncoder(encoder.context, similarity_fn_name=name)
    many = numpy.random.default_rng(0).standard_normal((500, 1000), dtype=numpy.float32)
    tracemalloc.start()
    found = encoder.similarity(many, many[::-1])
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # The differences of all pairs would take 1 GB.
    assert most < 20e6
    for one, other in (0, 0), (0, 499), (17, 321):
        assert found[one, other] == pytest.approx(encoder.similarity(many[one], many[::-1][other])[0, 0], abs=1e-2)
    for one, other in ((2, 3), (2, 1)), ((2, 1), (2, 3)), ((0,), (2, 3)), ((1, 2, 3), (2, 3)):
        with pytest.raises(ValueError, match="cannot be compared: give two lists of vectors"):
            encoder.similarity(numpy.ones(one), numpy.ones(other))


def test_pairs():
    ranker = bertqa.CrossEncoder(FIXTURES / "tiny-bert-regression")
    pairs = [("a fox", TEXT), ("a king", "the river")]
    scores = ranker.predict(pairs)
    logits = [one.scores[0].logit for one in ranker.context.classify_batch(pairs)]
    assert scores.shape == (2,) and numpy.allclose(scores, 1 / (1 + numpy.exp(-numpy.array(logits))))
    assert ranker.predict(pairs[0]) == scores[0]
    assert numpy.allclose(ranker.predict(pairs, activation_fn=lambda logits: logits), logits)
    ranked = ranker.rank("a fox", [TEXT, "a king", "a fox"], top_k=2, return_documents=True)
    assert len(ranked) == 2 and ranked[0]["score"] >= ranked[1]["score"]
    assert [list(one) for one in ranked] == [["corpus_id", "score", "text"]] * 2
    assert ranker.predict([("a", TEXT * 50)]) == ranker.predict([("a", TEXT * 60)])
    several = bertqa.CrossEncoder(FIXTURES / "tiny-bert-classifier")
    assert several.predict(pairs).shape == (2, 3)
    assert numpy.allclose(several.predict(pairs, apply_softmax=True).sum(-1), 1)
    with pytest.raises(ValueError, match="num_labels=1"):
        several.rank("a", ["b"])


def test_files_of_sentence_transformers_6(tmp_path):
    directory = shutil.copytree(FIXTURES / "tiny-bert-regression", tmp_path / "model")
    pair = ("a fox", TEXT)
    score = bertqa.CrossEncoder(directory).predict(pair, activation_fn=lambda logits: logits)
    for settings, message in [
        ({"activation_fn": "torch.nn.modules.linear.Identity", "prompts": {}, "default_prompt_name": None}, None),
        ({"activation_fn": "torch.nn.modules.linear.Identity", "prompts": {"q": "query: "}}, None),
        ({"activation_fn": "torch.nn.Tanh"}, "activation_fn torch.nn.Tanh is not known"),
        ({"prompts": {"q": "query: "}, "default_prompt_name": "q"}, "has a default prompt"),
    ]:
        (directory / "config_sentence_transformers.json").write_text(json.dumps(settings))
        if message is None:
            assert bertqa.CrossEncoder(directory).predict(pair) == score
        else:
            with pytest.raises(ValueError, match=message):
                bertqa.CrossEncoder(directory)


@pytest.mark.parametrize("key", ["sentence_transformers", "sbert_ce_default_activation_function"])
def test_unknown_activation(key, tmp_path):
    directory = shutil.copytree(FIXTURES / "tiny-bert-regression", tmp_path / "model")
    config = json.loads((directory / "config.json").read_text())
    config[key] = {"activation_fn": "torch.nn.Tanh"} if key == "sentence_transformers" else "torch.nn.Tanh"
    (directory / "config.json").write_text(json.dumps(config))
    with pytest.raises(ValueError, match="activation_fn torch.nn.Tanh is not known"):
        bertqa.CrossEncoder(directory)


def test_what_is_no_pair():
    ranker = bertqa.CrossEncoder(FIXTURES / "tiny-bert-regression")
    documents = [TEXT, "a king"]
    assert ranker.rank("a fox", iter(documents), return_documents=True) == ranker.rank(
        "a fox", documents, return_documents=True
    )
    for wrong in "ab", ("a", None), [("a", "b", "c")], [("a", None)], {"a": "b"}, ["ab"], [1]:
        with pytest.raises(TypeError, match="expected |one text|is of type"):
            ranker.predict(wrong)
    for wrong in "ab", [None], {"a": "b"}, {"a", "b"}:
        with pytest.raises(TypeError, match="expected |one text|is of type"):
            ranker.rank("a fox", wrong)
    # A missing text is not an absent one.
    with pytest.raises(TypeError, match="expected str or bytes, got NoneType"):
        ranker.context.classify(("a", None))


def test_one_text_may_be_bytes(encoder):
    assert encoder.encode(TEXT.encode()).tolist() == encoder.encode(TEXT).tolist()


def test_a_context_takes_no_options_of_its_opening(encoder):
    """They would have no effect, and neither would a misspelt option of the encoder."""
    with bertqa.Context(FIXTURES / "tiny-bert-regression") as context:
        for make in bertqa.SentenceEncoder, bertqa.CrossEncoder:
            assert make(context, precision=None).context is context
            with pytest.raises(TypeError, match="^precision, nope: a Context has its own options"):
                make(context, precision="f32", nope=1)
        assert bertqa.pipeline("text-classification", context, dtype="float32").context is context
        with pytest.raises(TypeError, match="^threads: a Context has its own options"):
            bertqa.pipeline("text-classification", context, threads=1)


def test_devices(encoder):
    for make in bertqa.SentenceEncoder, bertqa.CrossEncoder:
        with pytest.raises(ValueError, match="device"):
            make(MODEL, device="cuda")
    with pytest.raises(ValueError, match="precision"):
        encoder.encode("a", precision="int8")


def test_a_list_of_two_is_a_pair():
    with bertqa.Context(FIXTURES / "tiny-bert-embedder") as context:
        encoder = bertqa.SentenceEncoder(context)
        wanted = encoder.encode([("the fox", "the river")])
        assert (encoder.encode([["the fox", "the river"]]) == wanted).all()
