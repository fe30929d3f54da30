"""Encoders of the families that descend from BERT against transformers in fp32: outputs at most 1e-4 apart.

The tokenizer is BERT's for all, as only what follows it is compared here: so in RoBERTa's families padding, id 1, is
a piece of texts too.
"""

import functools

import numpy as np
import pytest
import torch
import transformers
from transformers import (
    AlbertConfig,
    BertTokenizer,
    CamembertConfig,
    ElectraConfig,
    MobileBertConfig,
    RobertaConfig,
    XLMRobertaConfig,
)

import bertqa
from conftest import PAIRS, ROUNDING, TEXTS, randomise, reduced_precisions, write_tokenizer
from test_logits import BATCHES, logits, windows_of

TOLERANCE = 1e-4
ROBERTA = {"vocab_size": 30522, "max_position_embeddings": 514, "type_vocab_size": 1, "layer_norm_eps": 1e-5}
SMALL = {"hidden_size": 384, "num_hidden_layers": 4, "num_attention_heads": 6, "intermediate_size": 1536}
BASE = {"hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 3072}
# what the classes' names begin with, configuration, stored as, in shards of
FAMILIES = {
    "roberta-base": ("Roberta", RobertaConfig(**ROBERTA), torch.float16, "5GB"),
    "xlm-roberta, small": ("XLMRoberta", XLMRobertaConfig(**ROBERTA | SMALL), torch.float32, "20MB"),
    "camembert, two types, silu": (
        "Camembert",
        CamembertConfig(
            **ROBERTA
            | SMALL
            | {"type_vocab_size": 2, "hidden_act": "silu", "pad_token_id": 3, "max_position_embeddings": 516}
        ),
        torch.bfloat16,
        "5GB",
    ),
    "electra-small": ("Electra", ElectraConfig(), torch.float32, "5GB"),
    "electra-base": ("Electra", ElectraConfig(**BASE, embedding_size=768), torch.bfloat16, "5GB"),
    "albert-base": ("Albert", AlbertConfig(**BASE, vocab_size=30522), torch.float32, "5GB"),
    "albert, groups of two": (
        "Albert",
        AlbertConfig(**SMALL, vocab_size=30522, num_hidden_groups=2, inner_group_num=2, hidden_act="relu"),
        torch.float16,
        "10MB",
    ),
    "mobilebert": ("MobileBert", MobileBertConfig(classifier_activation=False), torch.float32, "5GB"),
    "mobilebert, layer norms, attention in bottlenecks": (
        "MobileBert",
        MobileBertConfig(
            num_hidden_layers=6,
            normalization_type="layer_norm",
            use_bottleneck_attention=True,
            num_feedforward_networks=2,
            hidden_act="gelu",
        ),
        torch.bfloat16,
        "5GB",
    ),
}


@functools.cache
def build(name, head, folder):
    """(directory, the same model in transformers in f32, its tokenizer)"""
    prefix, config, dtype, shards = FAMILIES[name]
    kind = getattr(transformers, prefix + head)
    config = type(config)(**config.to_dict() | {"num_labels": 2 if head == "ForQuestionAnswering" else 3})
    model = kind._from_config(config, attn_implementation="eager").eval()
    randomise(model, seed=len(name))
    model.to(dtype)
    directory = folder / f"{prefix}{head}-{len(name)}"
    model.save_pretrained(directory, max_shard_size=shards)
    # Theirs have no types of tokens.
    untyped = config.model_type in ("roberta", "xlm-roberta", "camembert")
    write_tokenizer(directory, **{"model_input_names": ["input_ids", "attention_mask"]} if untyped else {})
    return directory, model.float(), BertTokenizer.from_pretrained(directory)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    yield tmp_path_factory.mktemp("families")
    build.cache_clear()


def reference(model, ids, second):
    """[start, end] logits of one window."""
    inputs = {"input_ids": torch.tensor([ids]), "attention_mask": torch.ones(1, len(ids), dtype=torch.long)}
    if model.config.model_type in ("electra", "albert", "mobilebert"):
        inputs["token_type_ids"] = (torch.arange(len(ids)) >= second).long()[None]
    with torch.no_grad():
        output = model(**inputs)
    return np.stack([output.start_logits[0].numpy(), output.end_logits[0].numpy()])


def encode(tokenizer, text):
    # Lists, because transformers takes an empty second text alone for none.
    return tokenizer(*([part] for part in ([text] if isinstance(text, str) else text)), return_tensors="pt")


@pytest.mark.parametrize("name", FAMILIES)
def test_logits(name, folder):
    directory, model, _ = build(name, "ForQuestionAnswering", folder)
    windows = [window for lengths in BATCHES.values() for window in windows_of(lengths)]
    for ids, _ in windows:
        ids[len(ids) // 2] = model.config.pad_token_id
    with bertqa.Context(directory, precision="f32") as context:
        with pytest.raises(bertqa.InvalidArgument, match="must have 1 to 512"):
            context.logits([[5] * 513])
        got = logits(context, windows)
        assert all(np.array_equal(logits(context, [window])[0], ours) for window, ours in zip(windows, got))
    for (ids, second), ours in zip(windows, got, strict=True):
        theirs = reference(model, ids, second)
        assert np.abs(theirs).max() > 0.1, "the reference must not be trivial"
        assert np.abs(ours - theirs).max() <= TOLERANCE


@pytest.mark.parametrize("name", FAMILIES)
def test_other_precisions(name, folder, tmp_path):
    """Random weights magnify rounding, but less than a wrong computation would."""
    directory, model, _ = build(name, "ForQuestionAnswering", folder)
    windows = windows_of(BATCHES["ragged"])
    theirs = np.concatenate([reference(model, *window) for window in windows], axis=1)
    for precision, context in reduced_precisions(directory, tmp_path / "int8"):
        ours = np.concatenate(logits(context, windows), axis=1)
        error = np.sqrt(((ours - theirs) ** 2).mean()) / theirs.std()
        assert 0 < error < ROUNDING[precision], precision


@pytest.mark.parametrize("name", FAMILIES)
def test_classifier(name, folder):
    directory, model, tokenizer = build(name, "ForSequenceClassification", folder)
    with bertqa.Context(directory, precision="f32") as context:
        results = context.classify_batch(TEXTS + PAIRS)
    for text, result in zip(TEXTS + PAIRS, results, strict=True):
        ours = [score.logit for score in sorted(result.scores, key=lambda score: score.id)]
        with torch.no_grad():
            theirs = model(**encode(tokenizer, text)).logits[0].numpy()
        assert np.abs(ours - theirs).max() <= TOLERANCE


@pytest.mark.parametrize("name", FAMILIES)
def test_vectors(name, folder):
    directory, model, tokenizer = build(name, "Model", folder)
    with bertqa.Context(directory, precision="f32") as context:
        for pooling in ("mean", "cls"):
            vectors = np.asarray(context.embed(TEXTS + PAIRS, pooling=pooling, normalize=False))
            for text, ours in zip(TEXTS + PAIRS, vectors, strict=True):
                with torch.no_grad():
                    hidden = model(**encode(tokenizer, text)).last_hidden_state[0].numpy()
                theirs = hidden[0] if pooling == "cls" else hidden.mean(axis=0)
                assert np.abs(ours - theirs).max() <= TOLERANCE
