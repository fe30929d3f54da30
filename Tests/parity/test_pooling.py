"""Modules behind the encoder, and prompts, against sentence-transformers."""

import json

import numpy as np
import pytest
import torch
import transformers
from sentence_transformers import SentenceTransformer
from sentence_transformers.models import Dense, Normalize, Pooling, Transformer

import bertqa
from conftest import TINY, randomise, text_of, write_tokenizer
from directories import BERT, TEXTS, TOLERANCE, cosines, distance, edit, save


@pytest.mark.parametrize("kind", ["bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta"])
@pytest.mark.parametrize("side", ["right", "left"])
def test_lengths(kind, side, tmp_path):
    save("BertModel", transformers.BertConfig(**BERT), tmp_path)
    write_tokenizer(tmp_path, model_max_length=16, truncation_side=side)
    SentenceTransformer(str(tmp_path), device="cpu").save(str(tmp_path))
    for path in tmp_path.glob("sentence_*_config.json"):
        path.unlink()
    edit(tmp_path / f"sentence_{kind}_config.json", max_seq_length=24)
    text = text_of(60)
    theirs = SentenceTransformer(str(tmp_path), device="cpu").encode([text])
    with bertqa.Context(tmp_path, precision="f32") as context:
        assert np.abs(np.asarray(context.embed([text], truncate=True)) - theirs).max() < TOLERANCE


MODES = ["cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken"]


def sentence_encoder(directory, modes, *dense, normalizes=False):
    """Writes a sentence encoder of a BERT, these poolings, and linear layers of these (width, activation)."""
    save("BertModel", transformers.BertConfig(**BERT), directory / "plain")
    write_tokenizer(directory / "plain")
    encoder = Transformer(str(directory / "plain"))
    modules = [encoder, Pooling(TINY["hidden_size"], pooling_mode=tuple(modes))]
    width = len(modes) * TINY["hidden_size"]
    for number, (outs, activation) in enumerate(dense):
        modules.append(Dense(width, outs, bias=number == 0, activation_function=activation))
        randomise(modules[-1], seed=number)
        width = outs
    SentenceTransformer(modules=modules + [Normalize()] * normalizes, device="cpu").save(str(directory / "model"))
    return directory / "model"


@pytest.mark.parametrize("modes", [[mode] for mode in MODES] + [["max", "mean"], MODES], ids="+".join)
def test_poolings(modes, tmp_path):
    model = sentence_encoder(tmp_path, modes)
    assert distance(model) < TOLERANCE
    with bertqa.Context(model) as context:
        assert context.info.embedding_length == 64 * len(modes)


@pytest.mark.parametrize("modes", [["cls"], ["mean", "max"]])
@pytest.mark.parametrize("activation", [torch.nn.Tanh(), torch.nn.Identity(), torch.nn.GELU(), torch.nn.ReLU()])
@pytest.mark.parametrize("normalizes", [True, False])
def test_dense(modes, activation, normalizes, tmp_path):
    """LaBSE's and distiluse's form, and two layers."""
    for folder, dense in ("one", [(48, activation)]), ("two", [(96, activation), (32, torch.nn.Identity())]):
        model = sentence_encoder(tmp_path / folder, modes, *dense, normalizes=normalizes)
        assert distance(model) < TOLERANCE
        theirs = SentenceTransformer(str(model), device="cpu").encode(TEXTS)
        bertqa.quantize(model, tmp_path / folder / "int8")
        with bertqa.Context(tmp_path / folder / "int8") as context:
            ours = np.asarray(context.embed(TEXTS))
        assert cosines(ours, theirs).min() > 0.99


@pytest.mark.parametrize("modes", [[mode] for mode in MODES] + [MODES], ids="+".join)
@pytest.mark.parametrize("is_pooled", [True, False])
def test_prompts(modes, is_pooled, tmp_path):
    model = sentence_encoder(tmp_path, modes, normalizes=True)
    prompts = {"query": "find the words: ", "passage": "", "ß": "B"}
    edit(model / "config_sentence_transformers.json", prompts=prompts, default_prompt_name="query")
    edit(model / "1_Pooling" / "config.json", include_prompt=is_pooled)
    reference = SentenceTransformer(str(model), device="cpu")
    with bertqa.Context(model, precision="f32") as context:
        for name in (None, "query", "passage", "document", "ß"):
            theirs = reference.encode(TEXTS, prompt_name=name)
            ours = np.asarray(context.embed(TEXTS, prompt_name=name, truncate=True))
            assert np.abs(ours - theirs).max() < TOLERANCE
        theirs = reference.encode(TEXTS, prompt="said: ")
        assert np.abs(np.asarray(context.embed(TEXTS, prompt="said: ")) - theirs).max() < TOLERANCE


def test_a_folder_of_the_encoder(tmp_path):
    """As sentence-transformers before 1.0 saved it."""
    model = sentence_encoder(tmp_path, ["cls"], normalizes=True)
    theirs = SentenceTransformer(str(model), device="cpu").encode(TEXTS)
    (model / "0_Transformer").mkdir()
    for path in list(model.iterdir()):
        if path.is_file() and path.name not in ("modules.json", "config_sentence_transformers.json"):
            path.rename(model / "0_Transformer" / path.name)
    modules = json.loads((model / "modules.json").read_text())
    modules[0]["path"] = "0_Transformer"
    (model / "modules.json").write_text(json.dumps(modules))
    with bertqa.Context(model, precision="f32") as context:
        assert np.abs(np.asarray(context.embed(TEXTS)) - theirs).max() < TOLERANCE
