"""ModernBERT against transformers in fp32 with eager attention, on the same ids: at most 1e-4 apart, at any length."""

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import (
    BertTokenizer,
    ModernBertConfig,
    ModernBertForQuestionAnswering,
    ModernBertForSequenceClassification,
    ModernBertModel,
)

import bertqa
from conftest import VOCABULARY, randomise, text_of, write_tokenizer
from test_classify import logits_of
from test_logits import logits, reference, require_same_bits, windows_of

TOLERANCE = 1e-4
SPECIAL = {
    "vocab_size": VOCABULARY,
    "pad_token_id": 0,
    "cls_token_id": 2,
    "bos_token_id": 2,
    "sep_token_id": 3,
    "eos_token_id": 3,
}
# The scores of eager attention are tokens² for each head at once: four heads for the longest windows.
NARROW = {"hidden_size": 256, "num_attention_heads": 4, "intermediate_size": 384}
READERS = {
    "base": ({"num_hidden_layers": 22}, torch.float32, [8, 9, 17, 64, 130, 384, 31, 512]),
    "base, long": ({"num_hidden_layers": 4}, torch.bfloat16, [2048, 1025, 300]),
    "narrow, longest": (NARROW | {"num_hidden_layers": 4}, torch.float32, [8192]),
    "narrow, biases, other thetas": (
        NARROW
        | {
            "num_hidden_layers": 5,
            "global_attn_every_n_layers": 2,
            "local_attention": 48,
            "attention_bias": True,
            "mlp_bias": True,
            "norm_bias": True,
            "classifier_bias": True,
            "hidden_activation": "silu",
            "rope_parameters": {
                "full_attention": {"rope_type": "default", "rope_theta": 10000.0},
                "sliding_attention": {"rope_type": "default", "rope_theta": 500.0},
            },
        },
        torch.float16,
        [8, 700, 21, 22, 23, 24, 25, 26, 49, 51, 1000],
    ),
}


def save(kind, config, dtype, directory, seed):
    """The same model in transformers, computing in f32 from the file's numbers."""
    model = kind._from_config(config, attn_implementation="eager").eval()
    randomise(model, seed)
    model.to(dtype).save_pretrained(directory)
    write_tokenizer(directory)
    return kind.from_pretrained(directory, dtype=torch.float32, attn_implementation="eager").eval()


@pytest.fixture(scope="module", params=READERS)
def reader(request, tmp_path_factory):
    """(directory, model in transformers, windows)"""
    settings, dtype, lengths = READERS[request.param]
    directory = tmp_path_factory.mktemp("modernbert")
    model = save(
        ModernBertForQuestionAnswering,
        ModernBertConfig(**SPECIAL, **settings),
        dtype,
        directory,
        len(request.param),
    )
    yield directory, model, windows_of(lengths)


def test_logits(reader):
    directory, model, windows = reader
    with bertqa.Context(directory, precision="f32") as context:
        assert context.info.max_position_embeddings == 8192
        got = logits(context, windows)
    for (ids, second), ours in zip(windows, got, strict=True):
        theirs = reference(model, ids, second)
        assert ours.shape == theirs.shape
        assert np.abs(theirs).max() > 0.1, "the reference must not be trivial"
        assert np.abs(ours - theirs).max() <= TOLERANCE, len(ids)


@pytest.mark.parametrize("precision", ["f32", "auto", "int8"])
def test_bits_do_not_depend_on_company_or_threads(reader, precision):
    directory, _, windows = reader
    require_same_bits(directory, windows, precision)


def test_without_prefix_and_sharded(reader, tmp_path):
    directory, model, windows = reader
    tensors = {
        key.removeprefix("model."): value for key, value in load_file(directory / "model.safetensors").items()
    }
    bare, sharded = tmp_path / "bare", tmp_path / "sharded"
    bare.mkdir()
    model.save_pretrained(sharded, max_shard_size="20MB")
    assert len(list(sharded.glob("*.safetensors"))) > 1
    for name in ("config.json", "vocab.txt", "tokenizer_config.json"):
        (bare / name).write_bytes((directory / name).read_bytes())
        (sharded / name).write_bytes((directory / name).read_bytes())
    save_file(tensors, bare / "model.safetensors")
    results = []
    for path in (directory, bare, sharded):
        with bertqa.Context(path, precision="f32") as context:
            results.append(logits(context, windows[:2])[0])
    assert all(np.array_equal(result, results[0]) for result in results)


def relative_error(ours, theirs):
    return np.sqrt(np.mean((ours - theirs) ** 2)) / np.std(theirs)


def test_int8_form(reader, tmp_path):
    """Random layers without norms between them add up errors: weights rounded to bytes alone give 0.1."""
    directory, model, windows = reader
    bertqa.quantize(directory, tmp_path / "int8")
    with bertqa.Context(tmp_path / "int8") as context:
        assert context.info.precision == "int8"
        got = logits(context, windows[:3])
    for (ids, second), ours in zip(windows[:3], got, strict=True):
        assert relative_error(ours, reference(model, ids, second)) < 0.25, len(ids)


@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_classifier(pooling, tmp_path):
    config = ModernBertConfig(
        **SPECIAL, num_hidden_layers=6, classifier_pooling=pooling, num_labels=5, classifier_activation="relu"
    )
    model = save(ModernBertForSequenceClassification, config, torch.float16, tmp_path, 3)
    tokenizer = BertTokenizer.from_pretrained(tmp_path)
    texts = [text_of(words, words) for words in (1, 9, 80, 300)] + [(text_of(5, 1), text_of(250, 2))]
    with bertqa.Context(tmp_path, precision="f32") as context:
        results = context.classify_batch(texts)
    for text, result in zip(texts, results, strict=True):
        pair = [text] if isinstance(text, str) else list(text)
        ids = tokenizer(*pair, return_tensors="pt")["input_ids"]
        with torch.no_grad():
            theirs = model(input_ids=ids).logits[0].numpy()
        assert np.abs(logits_of(result) - theirs).max() <= TOLERANCE


def test_embedder(tmp_path):
    model = save(ModernBertModel, ModernBertConfig(**SPECIAL, num_hidden_layers=6), torch.bfloat16, tmp_path, 4)
    tokenizer = BertTokenizer.from_pretrained(tmp_path)
    texts = [text_of(words, words) for words in (1, 9, 80, 300)]
    with bertqa.Context(tmp_path, precision="f32") as context:
        vectors = np.asarray(context.embed(texts))
    for text, ours in zip(texts, vectors, strict=True):
        with torch.no_grad():
            hidden = model(input_ids=tokenizer(text, return_tensors="pt")["input_ids"]).last_hidden_state
        assert np.abs(ours - hidden[0].mean(dim=0).numpy()).max() <= TOLERANCE
