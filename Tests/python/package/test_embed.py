"""Context.embed and Labeler, on tiny models with random weights."""

import array
import copy
import json
import math
import pickle
import shutil
import threading

import numpy
import pytest

import bertqa
from conftest import FIXTURES

NAMES = ["tiny-bert-embedder", "tiny-distilbert-embedder"]


@pytest.fixture(scope="module")
def embedder():
    with bertqa.Context(FIXTURES / NAMES[0], precision="f32") as context:
        yield context


@pytest.mark.parametrize("name", NAMES)
def test_vectors_are_those_of_sentence_transformers(name):
    expected = json.loads((FIXTURES / name / "expected.json").read_text())
    texts = [first for first, _ in expected["texts"]]
    with bertqa.Context(FIXTURES / name, precision="f32") as context:
        assert context.info.task == "embed" and context.info.embedding_length == 16
        vectors = numpy.asarray(context.embed(texts, truncate=True))
        assert numpy.abs(vectors - numpy.array(expected["outputs"])).max() < 1e-4
        for text, vector in zip(texts, vectors, strict=True):
            assert context.embed(text, truncate=True).tobytes() == vector.tobytes()


def test_what_comes_back(embedder):
    texts = ["the dog", b"a king", ("the dog", "a king"), "", "the dog"]
    vectors = embedder.embed(texts)
    assert isinstance(vectors, bertqa.Embeddings) and len(vectors) == 5 and vectors.shape == (5, 16)
    assert repr(vectors) == "<Embeddings of 5 texts, 16 floats each>"
    assert all(isinstance(vector, array.array) and len(vector) == 16 for vector in vectors)
    assert vectors[0] == vectors[4] == vectors[-1] == embedder.embed("the dog")
    assert vectors[2] == embedder.embed(("the dog", "a king")) != vectors[0]
    assert vectors[1:3] == [vectors[1], vectors[2]] and vectors.tolist()[1] == list(vectors[1])
    with pytest.raises(IndexError):
        vectors[5]
    empty = embedder.embed([])
    assert len(empty) == 0 and list(empty) == [] and numpy.asarray(empty).shape == (0, 16)
    assert len(embedder.embed(text for text in ["a", "b"])) == 2


def test_numpy_shares_the_floats(embedder):
    vectors = embedder.embed(["the dog", "a king"])
    shared = numpy.asarray(vectors)
    assert shared.dtype == numpy.float32 and shared.shape == (2, 16)
    shared[0, 0] = 7
    assert vectors[0][0] == 7
    del vectors
    assert shared[0, 0] == 7  # the array keeps them


def test_options(embedder):
    long = "the king of france " * 30
    plain = numpy.asarray(embedder.embed(long, normalize=False))
    unit = numpy.asarray(embedder.embed(long, normalize=True))
    assert math.isclose(numpy.linalg.norm(unit), 1, rel_tol=1e-5)
    assert numpy.abs(plain / numpy.linalg.norm(plain) - unit).max() < 1e-6
    vectors = {
        embedder.embed(long, **options).tobytes()
        for options in [{}, {"truncate": True}, {"pooling": "cls"}, {"max_seq_len": 64}]
    }
    assert len(vectors) == 4
    assert embedder.embed(long, pooling="mean") == embedder.embed(long, pooling=None) == embedder.embed(long)
    for wrong in [{"pooling": "max"}, {"normalize": 2}, {"max_seq_len": 7}, {"max_seq_len": 2**31}]:
        with pytest.raises(bertqa.InvalidArgument):
            embedder.embed("a", **wrong)
    with pytest.raises(TypeError, match="unknown option 'size'"):
        embedder.embed("a", size=3)
    with pytest.raises(TypeError, match="int"):
        embedder.embed([3])


@pytest.fixture(scope="module")
def prompted(tmp_path_factory):
    directory = tmp_path_factory.mktemp("prompted") / "model"
    shutil.copytree(FIXTURES / NAMES[0], directory)
    settings = {"prompts": {"query": "a king: ", "passage": "the "}, "default_prompt_name": "passage"}
    (directory / "config_sentence_transformers.json").write_text(json.dumps(settings))
    return directory


@pytest.mark.parametrize("is_quantized", [False, True])
def test_prompts(prompted, is_quantized, tmp_path):
    if is_quantized:
        bertqa.quantize(prompted, tmp_path / "int8")
        prompted = tmp_path / "int8"
    with bertqa.Context(prompted, precision="f32") as context:
        plain = {text: context.embed(text, prompt="") for text in ("dog", "the dog", "a king: dog", "a dog")}
        assert context.embed("dog") == context.embed("dog", prompt_name="passage") == plain["the dog"]
        assert context.embed(["dog", "dog"], prompt_name="query")[1] == plain["a king: dog"]
        assert context.embed("dog", prompt_name="document") == plain["dog"]
        assert context.embed("dog", prompt_name="query", prompt="a ") == plain["a dog"]
        pair = context.embed([("dog", "a king")], prompt_name="query")[0]
        assert pair == context.embed([("a king: dog", "a king")], prompt="")[0]
        with pytest.raises(bertqa.InvalidArgument, match='"query", "passage", "document"') as caught:
            context.embed("dog", prompt_name="other")
        assert caught.value.argument == "prompt_name"
        with pytest.raises(bertqa.InvalidArgument, match="prompt_name is empty"):
            context.embed("dog", prompt_name="")
        with pytest.raises(bertqa.TooLarge, match="max_bytes"):
            context.embed("dog " * 100_000, max_bytes=100_000)
        labeler = bertqa.Labeler(context, {"one": "dog", "two": "a king"}, prompt_name="query")
        assert labeler.classify("dog").label == "one"


def test_prompts_of_the_model(prompted):
    with bertqa.Context(prompted) as context, bertqa.Context(FIXTURES / NAMES[0]) as plain:
        assert dict(context.info.prompts)["query"] == "a king: " and plain.info.prompts == ()


def test_a_prompt_that_is_not_pooled(prompted, tmp_path):
    """As sentence-transformers' Pooling: the prompt and [CLS] are left out of the mean."""
    shutil.copytree(prompted, tmp_path / "model")
    path = tmp_path / "model" / "1_Pooling" / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"include_prompt": False}))
    texts = ["dog", "", "the king of france " * 40]
    with bertqa.Context(tmp_path / "model", precision="f32") as context:
        for options in {}, {"pooling": "cls"}, {"truncate": True}:
            assert context.embed("dog", prompt="", **options) != context.embed("dog", **options)
            ours = context.embed(texts, **options)
            assert [ours[0], ours[2]] == [context.embed(texts[0], **options), context.embed(texts[2], **options)]
        with bertqa.Context(prompted, precision="f32") as other:
            assert other.embed("dog", prompt="") == context.embed("dog", prompt="")
            assert other.embed("dog") != context.embed("dog")


def test_a_prompt_that_is_lower_cased_and_not_pooled(tmp_path):
    """The tokens left out are those of the prompt as the model reads it: "foxed" has two, "FOXED" would have one."""
    model = tmp_path / "model"
    shutil.copytree(FIXTURES / NAMES[0], model)
    for name, settings in [
        ("tokenizer_config.json", {"do_lower_case": False}),
        ("sentence_bert_config.json", {"do_lower_case": True}),
        ("1_Pooling/config.json", {"include_prompt": False}),
    ]:
        (model / name).write_text(json.dumps(json.loads((model / name).read_text()) | settings))
    with bertqa.Context(model, precision="f32") as context:
        assert context.embed("dog", prompt="FOXED ") == context.embed("dog", prompt="foxed ")


def test_a_text_that_fails_does_not_lose_the_others(embedder):
    plain = embedder.embed(["a", "b"])
    assert plain.failures == {} == embedder.embed(["a"], return_exceptions=True).failures
    too_long = bytes(1 << 31)
    vectors = embedder.embed(["a", too_long, "b"], return_exceptions=True)
    assert [vectors[0], vectors[2]] == [plain[0], plain[1]] and not any(vectors[1])
    assert set(vectors.failures) == {1} and isinstance(vectors.failures[1], bertqa.TooLarge)
    labeler = bertqa.Labeler(embedder, EXAMPLES)
    with bertqa.Context(FIXTURES / "tiny-bert-classifier") as classifier:
        for model in labeler, classifier:
            first, second, third = model.classify_batch(["a", too_long, "b"], return_exceptions=True)
            assert [first, third] == model.classify_batch(["a", "b"])
            assert isinstance(second, bertqa.TooLarge) and second.item == 1
            with pytest.raises(bertqa.TooLarge) as caught:
                model.classify_batch(["a", too_long, "b"])
            assert caught.value.item == 1
            with pytest.raises(TypeError, match="one text"):
                model.classify_batch("a")
    with pytest.raises(bertqa.TooLarge):
        embedder.embed(too_long, return_exceptions=True)
    with pytest.raises(TypeError):
        embedder.embed(["a", 3], return_exceptions=True)


def test_wrong_arguments(embedder):
    for texts in ("a", "b", "c"), ("a",), [("a", "b", "c")]:
        for call in embedder.embed, embedder.embed_tokens:
            with pytest.raises(TypeError, match="a tuple is a pair of texts, but one has [13]"):
                call(texts)
    with pytest.raises(bertqa.InvalidArgument, match="timeout is nan"):
        embedder.embed("a", timeout=float("nan"))
    with pytest.raises(TypeError, match="must be a Context, not str"):
        bertqa.Labeler("embed-minilm-l6", EXAMPLES)
    with pytest.raises(TypeError, match="must be a dictionary of labels and texts, not list"):
        bertqa.Labeler(embedder, ["a", "b"])
    with pytest.raises(bertqa.InvalidArgument, match="the label 'none' has none"):
        bertqa.Labeler(embedder, {"none": [], "one": ["a"]})
    for copied in copy.deepcopy, pickle.dumps:
        with pytest.raises(
            TypeError, match="a Labeler cannot be pickled or deep-copied: make it from its Context"
        ):
            copied(bertqa.Labeler(embedder, EXAMPLES))


def test_cancel(embedder):
    with pytest.raises(bertqa.Cancelled):
        embedder.embed("a", cancel=lambda: True)
    with pytest.raises(ZeroDivisionError):
        embedder.embed("a", cancel=lambda: 1 / 0)
    assert embedder.embed("a", cancel=lambda: False) == embedder.embed("a")


def test_wrong_models(embedder, tiny):
    with pytest.raises(bertqa.WrongModel, match="…Model"):
        tiny.embed("a")
    with pytest.raises(bertqa.WrongModel, match="…ForQuestionAnswering"):
        embedder.answer("a", "b")
    with pytest.raises(bertqa.WrongModel, match="…ForSequenceClassification"):
        embedder.classify("a")
    with bertqa.Context(FIXTURES / "tiny-bert-classifier") as classifier:
        for call in (classifier.embed, lambda text: classifier.answer(text, text)):
            with pytest.raises(bertqa.WrongModel):
                call("a")
        with pytest.raises(bertqa.WrongModel):
            bertqa.Labeler(classifier, {"a": "a"})


@pytest.fixture(scope="module")
def default():
    with bertqa.Context(task="embed") as context:
        yield context


def test_default_model(default):
    assert (default.info.task, default.info.embedding_length) == ("embed", 384)
    texts = ["A man is eating food.", "A man is eating a piece of bread.", "A cheetah chases its prey.", ""]
    vectors = numpy.asarray(default.embed(texts), dtype="f8")
    assert numpy.abs(numpy.linalg.norm(vectors, axis=1) - 1).max() < 1e-5
    assert vectors[0] @ vectors[1] > 0.6 > 0.3 > vectors[0] @ vectors[2]


def test_default_models_labeler(default):
    labeler = bertqa.Labeler(
        default, {"billing": ["the invoice is wrong", "please refund me"], "login": "I cannot sign in"}
    )
    labels = [
        result.label for result in labeler.classify_batch(["I was charged twice", "my password is rejected"])
    ]
    assert labels == ["billing", "login"]


@pytest.mark.parametrize("name", ["tiny-bert-classifier", "tiny-bert-regression", "tiny-distilbert-classifier"])
def test_logits_are_those_of_transformers(name):
    expected = json.loads((FIXTURES / name / "expected.json").read_text())
    texts = [first if second is None else (first, second) for first, second in expected["texts"]]
    with bertqa.Context(FIXTURES / name, precision="f32") as context:
        results = context.classify_batch(texts)
        assert all(result.window_count == 1 and not result.is_too_short for result in results)
        logits = [
            [score.logit for score in sorted(result.scores, key=lambda score: score.id)] for result in results
        ]
        assert numpy.abs(numpy.array(logits) - numpy.array(expected["outputs"])).max() < 1e-4
        assert context.info.labels == tuple(
            json.loads((FIXTURES / name / "config.json").read_text())["id2label"].values()
        )


EXAMPLES = {"animal": ["the dog", "a quick brown fox"], "person": "the king of france"}


def test_labeler(embedder):
    labeler = bertqa.Labeler(embedder, EXAMPLES)
    result = labeler.classify("the king of france")
    assert result.label == "person" and abs(result.scores[0].logit - 20) < 1e-3
    assert set(result.probabilities) == {"animal", "person"}
    assert math.isclose(sum(result.probabilities.values()), 1, rel_tol=1e-6)
    assert {score.label: score.id for score in result.scores} == {"animal": 0, "person": 1}
    vectors = {text: numpy.asarray(embedder.embed(text)) for text in ["the dog", "a quick brown fox", "a river"]}
    mean = vectors["the dog"] + vectors["a quick brown fox"]
    cosine = vectors["a river"] @ mean / numpy.linalg.norm(mean)
    found = {score.label: score.logit for score in labeler.classify("a river").scores}
    assert abs(found["animal"] - 20 * cosine) < 1e-4
    sharp = bertqa.Labeler(embedder, EXAMPLES, scale=200, pooling="cls")
    assert sharp.classify("the king of france").probability > result.probability
    assert [r.scores for r in labeler.classify_batch(["a", "a river"])] == [
        labeler.classify("a").scores, labeler.classify("a river").scores,
    ]  # fmt: skip
    assert labeler.classify_batch([]) == [] and labeler.labels == ("animal", "person")
    with pytest.raises(bertqa.DeadlineExceeded):
        labeler.classify("a river", timeout=0)


def test_labeler_outlives_its_context():
    context = bertqa.Context(FIXTURES / NAMES[1])
    with bertqa.Labeler(context, EXAMPLES) as labeler:
        context.close()
        del context
        assert labeler.classify("the dog").label in EXAMPLES
    with pytest.raises(ValueError, match="this Labeler was closed"):
        labeler.classify("the dog")


def test_bad_examples(embedder):
    for examples, options in [({}, {}), ({"a": []}, {}), ({"": "a"}, {}), ({"a": "a"}, {"scale": 0})]:
        with pytest.raises(bertqa.InvalidArgument):
            bertqa.Labeler(embedder, examples, **options)
    with pytest.raises(bertqa.Cancelled):
        bertqa.Labeler(embedder, EXAMPLES, cancel=lambda: True)
    with pytest.raises(ZeroDivisionError):
        bertqa.Labeler(embedder, EXAMPLES, cancel=lambda: 1 / 0)


def test_many_threads_share_a_context(embedder):
    texts = [f"the king number {i} of france" for i in range(40)]
    expected = numpy.asarray(embedder.embed(texts)).tobytes()
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(numpy.asarray(embedder.embed(texts)).tobytes()))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 8
