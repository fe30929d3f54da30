"""Vectors against sentence-transformers in fp32, from the same texts: at most 1e-4 apart."""

import json
import random
import shutil

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
from transformers import AutoTokenizer, BertConfig, BertModel, DistilBertConfig, DistilBertModel

import bertqa
from conftest import WORDS, randomise, text_of, write_tokenizer

TOLERANCE = 1e-4
MINILM = BertConfig(hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536)
# kind, configuration, stored as, pooling, normalised, longest text
MODELS = {
    "minilm, mean, normalised": (BertModel, MINILM, torch.float32, "mean", True, 128),
    "bert-base, cls": (BertModel, BertConfig(), torch.float16, "cls", False, 512),
    "distilbert, mean": (DistilBertModel, DistilBertConfig(), torch.float32, "mean", False, 256),
    "distilbert, cls, normalised": (
        DistilBertModel,
        DistilBertConfig(n_layers=2),
        torch.bfloat16,
        "cls",
        True,
        64,
    ),
}
TEXTS = [text_of(words, words) for words in (1, 2, 3, 7, 8, 20, 55, 61, 100, 300, 700)] + ["", "Bacedi? ☃"]


@pytest.fixture(scope="module", params=MODELS)
def model(request, tmp_path_factory):
    """(directory as sentence-transformers saves it, the same model there)"""
    kind, config, dtype, pooling, normalises, length = MODELS[request.param]
    encoder = kind._from_config(config, attn_implementation="eager").eval()
    randomise(encoder, seed=len(request.param))
    encoder.to(dtype)
    bare = tmp_path_factory.mktemp("bare")
    encoder.save_pretrained(bare)
    write_tokenizer(bare)
    transformer = Transformer(str(bare), max_seq_length=length, model_kwargs={"dtype": torch.float32})
    modules = [transformer, Pooling(config.hidden_size, pooling)] + [Normalize()] * normalises
    reference = SentenceTransformer(modules=modules, device="cpu")
    directory = tmp_path_factory.mktemp("embedder") / "saved"
    reference.save_pretrained(str(directory))
    yield directory, reference


def theirs_of(reference, texts):
    return reference.encode(texts, batch_size=4, convert_to_numpy=True)


@pytest.mark.parametrize("threads", [1, 3])
def test_vectors(model, threads):
    directory, reference = model
    theirs = theirs_of(reference, TEXTS)
    with bertqa.Context(directory, precision="f32", threads=threads) as context:
        ours = np.asarray(context.embed(TEXTS, truncate=True))
        assert context.info.embedding_length == theirs.shape[1]
        for row in (0, 5, 11):
            assert np.array_equal(np.asarray(context.embed(TEXTS[row], truncate=True)), ours[row])
    assert np.abs(theirs).max() > 0.05, "the reference must not be trivial"
    assert np.abs(ours - theirs).max() <= TOLERANCE


def test_a_ragged_batch(model):
    directory, reference = model
    texts = [text_of(random.Random(i).randint(0, 40), i) for i in range(100)]
    with bertqa.Context(directory, precision="f32") as context:
        ours = np.asarray(context.embed(texts, truncate=True))
    assert np.abs(ours - theirs_of(reference, texts)).max() <= TOLERANCE


def test_poolings_asked_for(model):
    """The poolings equal those of transformers' last hidden states, whatever the files say."""
    directory, reference = model
    encoder = reference[0].model
    tokenizer = AutoTokenizer.from_pretrained(directory)
    with bertqa.Context(directory, precision="f32") as context:
        for text in TEXTS[:7]:
            with torch.no_grad():
                hidden = encoder(**tokenizer(text, return_tensors="pt")).last_hidden_state[0].numpy()
            for pooling, plain in (("mean", hidden.mean(axis=0)), ("cls", hidden[0])):
                options = {"pooling": pooling, "max_seq_len": 512}
                ours = np.asarray(context.embed(text, normalize=False, **options))
                assert np.abs(ours - plain).max() <= TOLERANCE
                unit = np.asarray(context.embed(text, normalize=True, **options))
                assert np.abs(unit - plain / np.linalg.norm(plain)).max() <= TOLERANCE


def test_long_texts_in_windows(model):
    directory, reference = model
    words = [random.Random(i).choice(WORDS) for i in range(300)]
    with bertqa.Context(directory, precision="f32") as context:
        ours = np.asarray(context.embed(" ".join(words), pooling="mean", normalize=False, max_seq_len=64))
        parts = [" ".join(words[i : i + 62]) for i in range(0, 300, 62)]
        rows = np.asarray(context.embed(parts, pooling="mean", normalize=False))
    weights = [62 + 2] * 4 + [300 - 4 * 62 + 2]
    assert np.abs(ours - np.average(rows, axis=0, weights=weights)).max() <= TOLERANCE


def test_pairs(model):
    """The vectors of transformers, encoded and cut as sentence-transformers does for single texts."""
    directory, reference = model
    encoder = reference[0].model
    tokenizer = AutoTokenizer.from_pretrained(directory)
    pairs = [(text_of(a, a), text_of(b, b)) for a, b in ((3, 9), (9, 3), (40, 10), (10, 40), (40, 41), (31, 30))]
    with bertqa.Context(directory, precision="f32") as context:
        ours = np.asarray(context.embed(pairs, truncate=True, max_seq_len=48, pooling="cls", normalize=False))
    for (first, second), vector in zip(pairs, ours, strict=True):
        inputs = tokenizer(first, second, truncation=True, max_length=48, return_tensors="pt")
        with torch.no_grad():
            hidden = encoder(**inputs).last_hidden_state[0, 0].numpy()
        assert np.abs(vector - hidden).max() <= TOLERANCE


def test_old_files_say_the_same(model, tmp_path):
    """Directories as sentence-transformers wrote them for years."""
    directory, reference = model
    old = tmp_path / "old"
    shutil.copytree(directory, old)
    pooling = reference[1].pooling_mode
    length = reference.max_seq_length
    (old / "1_Pooling" / "config.json").write_text(
        json.dumps(
            {
                "word_embedding_dimension": reference[0].model.config.hidden_size,
                "pooling_mode_cls_token": pooling == "cls",
                "pooling_mode_mean_tokens": pooling == "mean",
                "pooling_mode_max_tokens": False,
                "pooling_mode_mean_sqrt_len_tokens": False,
            }
        )
    )
    (old / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": length, "do_lower_case": False}))
    modules = json.loads((old / "modules.json").read_text())
    for module in modules:
        module["type"] = "sentence_transformers.models." + module["type"].rpartition(".")[2]
    (old / "modules.json").write_text(json.dumps(modules))
    with bertqa.Context(directory, precision="f32") as context, bertqa.Context(old, precision="f32") as same:
        for text in TEXTS:
            assert context.embed(text, truncate=True) == same.embed(text, truncate=True)


def test_a_labeler_is_the_nearest_mean(model):
    directory, reference = model
    examples = {"one": [TEXTS[3], TEXTS[5]], "two": [TEXTS[6]], "three": [TEXTS[4], TEXTS[0], TEXTS[12]]}
    means = []
    for texts in examples.values():
        vectors = reference.encode(texts, normalize_embeddings=True)
        means.append(vectors.mean(axis=0) / np.linalg.norm(vectors.mean(axis=0)))
    text = text_of(30, 99)
    logits = 20 * np.array(means) @ reference.encode(text, normalize_embeddings=True)
    theirs = np.exp(logits) / np.exp(logits).sum()
    with bertqa.Context(directory, precision="f32") as context:
        labeler = bertqa.Labeler(context, examples, truncate=True)
    ours = labeler.classify(text).probabilities
    assert [ours[label] for label in examples] == pytest.approx(theirs, abs=2e-3)
