"""Context.embed_tokens on tiny models with random weights, and ColBERT models made of them."""

import copy
import json
import pickle
import shutil

import numpy
import pytest
from safetensors.numpy import load_file, save_file

import bertqa
from conftest import FIXTURES
from samples import colbert

EMBEDDER = FIXTURES / "tiny-bert-embedder"
TEXTS = ["the dog", "", "a king , a dog .", "the dog " * 40]


@pytest.fixture(scope="module")
def embedder():
    with bertqa.Context(EMBEDDER, precision="f32") as context:
        yield context


def test_what_comes_back(embedder):
    vectors = embedder.embed_tokens("the dog")
    assert repr(vectors) == f"<TokenVectors of {len(vectors)} tokens, 16 floats each>"
    assert [embedder.piece(id) for id in (vectors.ids[0], vectors.ids[-1])] == ["[CLS]", "[SEP]"]
    assert vectors.ids[1:-1] == embedder.tokenize("the dog").ids
    assert numpy.asarray(vectors).shape == (len(vectors.ids), 16) and vectors[-1] == vectors[len(vectors) - 1]
    assert vectors[1:3] == [vectors[1], vectors[2]] and list(vectors) == vectors[:]
    assert embedder.embed_tokens([]) == [] and len(embedder.embed_tokens("")) == 2
    with pytest.raises(IndexError):
        vectors[len(vectors)]


@pytest.mark.parametrize("threads", [1, 3])
def test_their_mean_is_the_vector(threads):
    texts = [*TEXTS, ("the dog", "a king")]
    with bertqa.Context(EMBEDDER, precision="f32", threads=threads) as context:
        together = context.embed_tokens(texts)
        for text, vectors in zip(texts, together, strict=True):
            mean = numpy.asarray(context.embed(text, pooling="mean", normalize=False))
            assert numpy.abs(numpy.asarray(vectors).mean(axis=0) - mean).max() < 1e-5
            assert numpy.array_equal(numpy.asarray(context.embed_tokens(text)), numpy.asarray(vectors))
        unit = numpy.asarray(context.embed_tokens("the dog", normalize=True))
        assert numpy.allclose(numpy.linalg.norm(unit, axis=1), 1)


def test_long_texts(embedder):
    """The windows follow one another, each with its special tokens."""
    ids = embedder.embed_tokens(TEXTS[3], max_seq_len=12).ids
    first, last = ids[0], ids[-1]
    assert ids.count(first) == ids.count(last) > 1
    assert [id for id in ids if id not in (first, last)] == embedder.tokenize(TEXTS[3]).ids
    assert len(embedder.embed_tokens(TEXTS[3], max_seq_len=12, truncate=True)) == 12


def test_failures(embedder):
    found = embedder.embed_tokens(["the dog", "the dog " * 40], max_document_tokens=20, return_exceptions=True)
    assert len(found[0]) == 4 and isinstance(found[1], bertqa.TooLarge)
    with pytest.raises(bertqa.TooLarge) as caught:
        embedder.embed_tokens(["the dog", "the dog " * 40], max_document_tokens=20)
    assert caught.value.item == 1
    with pytest.raises(bertqa.InvalidArgument, match="pooling"):
        embedder.embed_tokens("the dog", pooling="cls")
    with pytest.raises(bertqa.WrongModel), bertqa.Context(FIXTURES / "tiny-bert") as context:
        context.embed_tokens("the dog")


def test_they_can_be_stored(embedder):
    together = embedder.embed_tokens(TEXTS)
    for stored in pickle.loads(pickle.dumps(together)), copy.deepcopy(together):
        for mine, other in zip(together, stored, strict=True):
            assert mine.ids == other.ids and numpy.array_equal(numpy.asarray(mine), numpy.asarray(other))
            assert mine.max_sim(other) == mine.max_sim(mine)
    texts = pickle.loads(
        pickle.dumps(embedder.embed(["the dog", "a"], max_document_tokens=1, return_exceptions=True))
    )
    assert texts.shape == (2, 16) and isinstance(texts.failures[0], bertqa.TooLarge)
    assert numpy.array_equal(numpy.asarray(texts)[1], numpy.asarray(embedder.embed("a")))


def test_what_has_no_similarity(embedder):
    vectors = embedder.embed_tokens("the dog")
    for other in numpy.asarray(vectors), [1.0], None:
        with pytest.raises(TypeError, match="must be TokenVectors, not"):
            vectors.max_sim(other)


def test_late_interaction(tmp_path, embedder):
    """A document's vectors are those of the marker and the text, projected; punctuation is left out."""
    projection = colbert(tmp_path / "model")
    with bertqa.Context(tmp_path / "model", precision="f32") as context:
        for text in ("the fox", "the , king ."):
            plain = embedder.embed_tokens(f"dog {text}", normalize=False)
            kept = [place for place, id in enumerate(plain.ids) if embedder.piece(id) not in (",", ".")]
            expected = numpy.asarray(plain)[kept] @ projection.T
            expected /= numpy.linalg.norm(expected, axis=1, keepdims=True)
            ours = context.embed_tokens(text, prompt_name="document")
            assert ours.ids == [plain.ids[place] for place in kept]
            assert numpy.abs(numpy.asarray(ours) - expected).max() < 1e-4
            assert numpy.array_equal(numpy.asarray(context.embed_tokens(text)), numpy.asarray(ours))
        query = context.embed_tokens("the fox", prompt_name="query")
        mask = context.piece_id("[MASK]")
        assert len(query) == 10 and query.ids[1] == context.piece_id("king") and query.ids[-1] == mask
        # What fills up the query changes no other token's vector.
        alone = numpy.asarray(embedder.embed_tokens("king the fox")) @ projection.T
        alone /= numpy.linalg.norm(alone, axis=1, keepdims=True)
        assert numpy.abs(numpy.asarray(query)[: len(alone)] - alone).max() < 1e-4
        assert len(context.embed_tokens("the fox " * 20, prompt_name="query")) == 10
        assert query.max_sim(query) == pytest.approx(10, abs=1e-4)
        products = numpy.asarray(query) @ numpy.asarray(ours).T
        assert query.max_sim(ours) == pytest.approx(products.max(axis=1).sum(), abs=1e-4)
        with pytest.raises(bertqa.InvalidArgument, match="16 floats"):
            query.max_sim(embedder.embed_tokens("the dog"))
        with pytest.raises(bertqa.Unsupported, match="no vectors of texts, only vectors of tokens"):
            context.embed("the fox")


@pytest.mark.parametrize(
    "activation, function",
    [
        ("torch.nn.modules.linear.Identity", lambda x: x),
        ("torch.nn.modules.activation.Tanh", numpy.tanh),
        ("torch.nn.modules.activation.ReLU", lambda x: numpy.maximum(x, 0)),
    ],
)
def test_layers_that_add_their_input(tmp_path, embedder, activation, function):
    """PyLate's `use_residual`: the input itself where the sizes are equal, else its product with a matrix."""
    model, source = tmp_path / "model", numpy.random.default_rng(3)
    shutil.copytree(EMBEDDER, model, ignore=shutil.ignore_patterns("1_Pooling", "2_Normalize"))
    modules, layers = [{"path": "", "type": "sentence_transformers.models.Transformer"}], []
    for outs in 16, 4:
        folder = model / f"{len(modules)}_Dense"
        folder.mkdir()
        modules.append({"path": folder.name, "type": "pylate.models.Dense.Dense"})
        weights = {"linear.weight": source.normal(size=(outs, 16)).astype(numpy.float32)}
        if outs != 16:
            weights["residual.weight"] = source.normal(size=(outs, 16)).astype(numpy.float16)
        save_file(weights, folder / "model.safetensors")
        settings = {"in_features": 16, "out_features": outs, "bias": False, "use_residual": True}
        settings["activation_function"] = activation
        (folder / "config.json").write_text(json.dumps(settings))
        layers.append(weights)
    (model / "modules.json").write_text(json.dumps(modules))
    settings = {
        "query_prefix": "king",
        "document_prefix": "dog",
        "skiplist_words": [],
        "similarity_fn_name": "dot",
    }
    (model / "config_sentence_transformers.json").write_text(json.dumps(settings))
    with pytest.raises(bertqa.InvalidModel, match='"similarity_fn_name" is "dot"'):
        bertqa.Context(model)
    settings["similarity_fn_name"] = "MaxSim"
    (model / "config_sentence_transformers.json").write_text(json.dumps(settings))
    first, second = layers
    with bertqa.Context(model, precision="f32") as context:
        ours = numpy.asarray(context.embed_tokens("the fox", prompt_name="document"))
    expected = numpy.asarray(embedder.embed_tokens("dog the fox", normalize=False))
    expected = function(expected @ first["linear.weight"].T) + expected
    expected = function(expected @ second["linear.weight"].T) + expected @ second["residual.weight"].T
    expected /= numpy.linalg.norm(expected, axis=1, keepdims=True)
    assert numpy.abs(ours - expected).max() < 1e-4
    bertqa.quantize(model, tmp_path / "int8")
    with bertqa.Context(tmp_path / "int8") as context:
        again = numpy.asarray(context.embed_tokens("the fox", prompt_name="document"))
    assert numpy.abs(again - expected).max() < 0.1


def test_a_layer_that_occurs_twice(tmp_path):
    """The two have one folder, and the int8 form has its tensors once."""
    projection, activation = numpy.random.default_rng(4).normal(size=(16, 16)), "torch.nn.modules.linear.Identity"
    for name, count, matrix in ("twice", 2, projection), ("once", 1, projection @ projection):
        model = tmp_path / name
        shutil.copytree(EMBEDDER, model, ignore=shutil.ignore_patterns("1_Pooling", "2_Normalize"))
        (model / "1_Dense").mkdir()
        save_file({"linear.weight": matrix.astype(numpy.float32)}, model / "1_Dense" / "model.safetensors")
        settings = {"in_features": 16, "out_features": 16, "bias": False, "activation_function": activation}
        (model / "1_Dense" / "config.json").write_text(json.dumps(settings))
        modules = [{"path": "", "type": "sentence_transformers.models.Transformer"}]
        modules += count * [{"path": "1_Dense", "type": "pylate.models.Dense.Dense"}]
        (model / "modules.json").write_text(json.dumps(modules))
        settings = {"query_prefix": "king", "document_prefix": "dog", "skiplist_words": []}
        (model / "config_sentence_transformers.json").write_text(json.dumps(settings))
        bertqa.quantize(model, tmp_path / f"{name}.int8")
    for form in "", ".int8":
        vectors = []
        for name in "twice", "once":
            with bertqa.Context(tmp_path / f"{name}{form}", precision="int8" if form else "f32") as context:
                vectors.append(numpy.asarray(context.embed_tokens("the fox")))
        assert numpy.abs(vectors[0] - vectors[1]).max() < 1e-5


def test_late_interaction_that_cannot_be(tmp_path):
    colbert(tmp_path / "marker", query_token_id="[unused7]")
    with pytest.raises(bertqa.InvalidModel, match="unused7"):
        bertqa.Context(tmp_path / "marker")
    colbert(tmp_path / "similarity", similarity="l2")
    with pytest.raises(bertqa.InvalidModel, match="similarity"):
        bertqa.Context(tmp_path / "similarity")
    colbert(tmp_path / "width", dim=9)
    with pytest.raises(bertqa.InvalidModel, match="linear.weight"):
        bertqa.Context(tmp_path / "width")
    colbert(tmp_path / "length", doc_maxlen=5)
    with bertqa.Context(tmp_path / "length") as context:
        with pytest.raises(
            bertqa.InvalidArgument, match="max_seq_len is 5 in the model's files, but must be at least 8"
        ):
            context.embed_tokens("the dog")
        assert len(context.embed_tokens("the dog", max_seq_len=12)) == 5
        with pytest.raises(bertqa.InvalidArgument, match="max_seq_len is 7, but"):
            context.embed_tokens("the dog", max_seq_len=7)


def splade(directory):
    """Makes a sparse model: the embeddings are the last layer of a head for masked words."""
    shutil.copytree(EMBEDDER, directory, ignore=shutil.ignore_patterns("modules.json", "1_Pooling", "2_Normalize"))
    path = directory / "model.safetensors"
    weights = {
        name if name.startswith("bert.") else f"bert.{name}": each for name, each in load_file(path).items()
    }
    head = {"dense.weight": numpy.eye(16), "dense.bias": numpy.zeros(16)}
    head |= {"LayerNorm.weight": numpy.ones(16), "LayerNorm.bias": numpy.zeros(16)}
    weights |= {f"cls.predictions.transform.{name}": each.astype(numpy.float32) for name, each in head.items()}
    table = weights["bert.embeddings.word_embeddings.weight"]
    weights["cls.predictions.bias"] = numpy.zeros(len(table), numpy.float32)
    weights["cls.predictions.decoder.weight"] = table
    save_file(weights, path)
    config = json.loads((directory / "config.json").read_text())
    (directory / "config.json").write_text(json.dumps(config | {"architectures": ["BertForMaskedLM"]}))
    package = "sentence_transformers.sparse_encoder.models."
    modules = [{"path": "", "type": package + "MLMTransformer"}, {"path": "1", "type": package + "SpladePooling"}]
    (directory / "modules.json").write_text(json.dumps(modules))
    (directory / "1").mkdir()
    (directory / "1" / "config.json").write_text(json.dumps({"pooling_strategy": "max"}))


def test_weights_of_pieces(tmp_path):
    """make test-parity compares them with sentence-transformers."""
    splade(tmp_path / "model")
    with bertqa.Context(tmp_path / "model", precision="f32") as context:
        found = context.embed_tokens("the dog")
        assert len(found.weights) == len(found) > 0 and min(found.weights.values()) > 0
        assert (
            found.ids == sorted(found.ids)
            and found.weights == context.embed_tokens("the dog", normalize=False).weights
        )
        with pytest.raises(bertqa.Unsupported, match="normalize must be the default"):
            context.embed_tokens("the dog", normalize=True)
        with pytest.raises(bertqa.InvalidArgument, match="weights of a sparse model"):
            found.max_sim(found)
        with pytest.raises(bertqa.Unsupported, match="no vectors of texts, only weights of vocabulary pieces"):
            context.embed("the dog")
    (tmp_path / "model" / "1" / "config.json").write_text(json.dumps({"pooling_strategy": "sum"}))
    with bertqa.Context(tmp_path / "model", precision="f32") as context:
        summed = context.embed_tokens("the dog").weights
    # Over four tokens.
    ratios = [weight / found.weights[piece] for piece, weight in summed.items()]
    assert summed.keys() == found.weights.keys()
    assert min(ratios) > 0.999 and 1.2 < max(ratios) < 4.001, ratios


def multi_vector(directory, **changes):
    """Makes the same model as colbert, in the form of sentence-transformers' MultiVectorEncoder.

    changes: of the files, by their names, with "_" for "/" and without the suffix.
    """
    projection = colbert(directory)
    (directory / "artifact.metadata").unlink()
    path = directory / "model.safetensors"
    save_file({name: each for name, each in load_file(path).items() if name != "linear.weight"}, path)
    config = json.loads((directory / "config.json").read_text())
    tokens = {"module_input_name": "token_embeddings", "module_output_name": "token_embeddings"}
    package = "sentence_transformers."
    modules = [
        {"path": "", "type": package + "base.modules.transformer.Transformer"},
        {"path": "1_Dense", "type": package + "base.modules.dense.Dense"},
        {"path": "2_Mask", "type": package + "multi_vector_encoder.modules.multi_vector_mask.MultiVectorMask"},
        {"path": "3_Normalize", "type": package + "base.modules.normalize.Normalize"},
    ]
    identity = "torch.nn.modules.linear.Identity"
    expansion = {"strategy": "fixed", "attend": False, "token": None, "length": 10}
    files = {
        "config": config | {"architectures": ["BertModel"]},
        "modules": modules,
        "1_Dense/config": {"in_features": 16, "out_features": 8, "bias": False, "activation_function": identity}
        | tokens,
        "2_Mask/config": {"skiplist_words": [",", ".", "!"], "skiplist_tasks": ["document"]}
        | {"keep_only_token_ids": None},
        "3_Normalize/config": tokens,
        "sentence_bert_config": {"document_length": 20, "query_expansion": expansion},
        # One piece, and one with the white space behind it.
        "config_sentence_transformers": {"prompts": {"query": "king", "document": "dog "}},
    }
    for name, content in files.items():
        if isinstance(content, dict):
            content |= changes.get(name.replace("/", "_"), {})
        file = directory / f"{name}.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(content))
    save_file({"linear.weight": projection}, directory / "1_Dense" / "model.safetensors")


@pytest.mark.parametrize("is_quantized", [False, True])
def test_another_form_of_late_interaction(is_quantized, tmp_path):
    """That of sentence-transformers' MultiVectorEncoder; make test-parity compares with it."""
    directories = [tmp_path / "colbert", tmp_path / "multi-vector"]
    colbert(directories[0])
    multi_vector(directories[1])
    if is_quantized:
        for directory in directories:
            bertqa.quantize(directory, directory.with_suffix(".int8"))
    kinds = [directory.with_suffix(".int8") if is_quantized else directory for directory in directories]
    texts = ["the fox", "", "the , king .", "a dog " * 30]
    with bertqa.Context(kinds[0]) as one, bertqa.Context(kinds[1]) as other:
        assert one.info.embedding_length == other.info.embedding_length == 0
        for options in {"prompt_name": "query"}, {"prompt_name": "document"}, {}, {"truncate": True}:
            for mine, theirs in zip(
                one.embed_tokens(texts, **options), other.embed_tokens(texts, **options), strict=True
            ):
                assert mine.ids == theirs.ids and numpy.array_equal(numpy.asarray(mine), numpy.asarray(theirs))


def test_prompts_that_are_no_pieces(tmp_path):
    prompts = {"query": "the king asks: ", "document": ""}
    multi_vector(tmp_path / "model", config_sentence_transformers={"prompts": prompts})
    with bertqa.Context(tmp_path / "model") as context:
        pieces = [context.piece(id) for id in context.embed_tokens("fox", prompt_name="query").ids]
        # "the" is a piece, and the rest of the prompt is text before the query's.
        assert pieces[:3] == ["[CLS]", "the", "king"] and pieces[-1] == "[MASK]" and len(pieces) == 10
        plain = context.embed_tokens("the dog")
        assert [context.piece(id) for id in plain.ids] == ["[CLS]", "the", "dog", "[SEP]"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sentence_bert_config": {"query_expansion": {"strategy": "min", "length": 10}}}, '"strategy" is "min"'),
        ({"sentence_bert_config": {"query_expansion": {"strategy": "fixed", "length": 0}}}, '"length" is 0'),
        ({"sentence_bert_config": {"document_length": -1}}, '"document_length" is -1'),
        ({"2_Mask_config": {"skiplist_tasks": ["query", "document"]}}, "skiplist_tasks"),
        ({"2_Mask_config": {"keep_only_token_ids": [5]}}, "keep_only_token_ids"),
        ({"1_Dense_config": {"module_input_name": None}}, 'only "token_embeddings" is supported'),
        ({"3_Normalize_config": {"module_output_name": "sentence_embedding"}}, 'only "token_embeddings" is'),
        ({"1_Dense_config": {"out_features": 9}}, "linear.weight"),
    ],
)
def test_forms_that_are_refused(changes, message, tmp_path):
    multi_vector(tmp_path / "model", **changes)
    with pytest.raises((bertqa.Unsupported, bertqa.InvalidModel), match=message):
        bertqa.Context(tmp_path / "model")
