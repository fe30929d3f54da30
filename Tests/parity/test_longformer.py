"""Longformer against transformers in fp32, on the same ids: at most 1e-4 apart, at any length."""

import numpy as np
import pytest
import torch
from transformers import (
    BertTokenizer,
    LongformerConfig,
    LongformerForQuestionAnswering,
    LongformerForSequenceClassification,
    LongformerForTokenClassification,
    LongformerModel,
)

import bertqa
from conftest import ROUNDING, VOCABULARY, randomise, reduced_precisions, text_of, write_tokenizer
from test_classify import logits_of
from test_logits import logits, require_same_bits, windows_of

TOLERANCE = 1e-4
CONFIG = {
    "vocab_size": VOCABULARY,
    "pad_token_id": 0,
    "sep_token_id": 3,
    "max_position_embeddings": 4097,
    "type_vocab_size": 1,
    "layer_norm_eps": 1e-5,
}
SMALL = {"hidden_size": 256, "num_attention_heads": 4, "intermediate_size": 512, "num_hidden_layers": 3}
READERS = {
    "base, two layers": ({"num_hidden_layers": 2}, torch.float32, [8, 17, 384, 700, 2050]),
    "small, longest": (SMALL, torch.bfloat16, [4096, 515, 300]),
    "small, narrow windows": (
        SMALL | {"attention_window": [64, 16, 128], "hidden_act": "relu"},
        torch.float16,
        [1000, 21, 22, 23, 66, 129, 131, 1025, 517],
    ),
}


def save(kind, config, dtype, directory, seed):
    """The same model in transformers, computing in f32 from the file's numbers."""
    model = kind(config).eval()
    randomise(model, seed)
    model.to(dtype).save_pretrained(directory)
    write_tokenizer(directory, model_max_length=4096)
    return kind.from_pretrained(directory, dtype=torch.float32).eval()


@pytest.fixture(scope="module", params=READERS)
def reader(request, tmp_path_factory):
    """(directory, windows, transformers' logits)"""
    settings, dtype, lengths = READERS[request.param]
    directory = tmp_path_factory.mktemp("longformer")
    config = LongformerConfig(**CONFIG, **settings)
    model = save(LongformerForQuestionAnswering, config, dtype, directory, len(request.param))
    windows = windows_of(lengths)
    yield directory, windows, [reference(model, ids) for ids, _ in windows]


def reference(model, ids):
    """[start, end] logits of one window. The tokens before the first separator are global."""
    ids = torch.tensor(ids)
    is_global = (torch.cumsum(ids == model.config.sep_token_id, 0) == 0).long()
    with torch.no_grad():
        output = model(ids[None], torch.ones_like(ids)[None], is_global[None])
    return np.stack([output.start_logits[0].numpy(), output.end_logits[0].numpy()])


def test_logits(reader):
    directory, windows, expected = reader
    with bertqa.Context(directory, precision="f32") as context:
        assert context.info.max_position_embeddings == 4096
        got = logits(context, windows)
    for ours, theirs in zip(got, expected, strict=True):
        assert np.abs(theirs).max() > 0.1, "the reference must not be trivial"
        assert np.abs(ours - theirs).max() <= TOLERANCE, theirs.shape


@pytest.mark.parametrize("precision", ["f32", "auto", "int8"])
def test_bits_do_not_depend_on_company_or_threads(reader, precision):
    directory, windows, _ = reader
    require_same_bits(directory, windows, precision)


def test_other_precisions(reader, tmp_path):
    directory, windows, expected = reader
    for precision, context in reduced_precisions(directory, tmp_path / "int8"):
        for ours, theirs in zip(logits(context, windows), expected, strict=True):
            error = np.sqrt(((ours - theirs) ** 2).mean()) / theirs.std()
            assert 0 < error < ROUNDING[precision], (precision, theirs.shape)


def test_question_as_transformers_finds_it(tmp_path):
    """Without a mask, transformers looks for three separators. By default a window has the model's length."""
    config = LongformerConfig(**CONFIG, **SMALL)
    model = save(LongformerForQuestionAnswering, config, torch.float32, tmp_path, 5)
    question, document = text_of(9, 1), text_of(1500, 2)
    tokenizer = BertTokenizer.from_pretrained(tmp_path)
    parts = [tokenizer(text, add_special_tokens=False)["input_ids"] for text in (question, document)]
    ids = [2, *parts[0], 3, 3, *parts[1], 3]
    with torch.no_grad():
        output = model(torch.tensor([ids]))
    theirs = np.stack([output.start_logits[0].numpy(), output.end_logits[0].numpy()])
    with bertqa.Context(tmp_path, precision="f32") as context:
        ours = logits(context, [(ids, len(parts[0]) + 3)])[0]
        assert np.abs(ours - theirs).max() <= TOLERANCE
        assert context.answer(question, document).window_count == 1
        assert context.answer(question, document, max_seq_len=384, max_windows=-1).window_count > 4


@pytest.mark.parametrize("seed", [6, 7])
def test_classifier(seed, tmp_path):
    config = LongformerConfig(**CONFIG, **SMALL, attention_window=32, num_labels=5)
    model = save(LongformerForSequenceClassification, config, torch.float16, tmp_path, seed)
    tokenizer = BertTokenizer.from_pretrained(tmp_path)
    texts = [text_of(words, words) for words in (1, 9, 80, 300, 1200)] + [(text_of(5, 1), text_of(250, 2))]
    with bertqa.Context(tmp_path, precision="f32") as context:
        results = context.classify_batch(texts)
    for text, result in zip(texts, results, strict=True):
        pair = [text] if isinstance(text, str) else list(text)
        with torch.no_grad():
            theirs = model(tokenizer(*pair, return_tensors="pt")["input_ids"]).logits[0].numpy()
        assert np.abs(logits_of(result) - theirs).max() <= TOLERANCE


def test_vectors(tmp_path):
    """There are no global tokens, for vectors of texts and of tokens."""
    config = LongformerConfig(**CONFIG, **SMALL, attention_window=32)
    model = save(LongformerModel, config, torch.bfloat16, tmp_path, 4)
    tokenizer = BertTokenizer.from_pretrained(tmp_path)
    texts = [text_of(words, words) for words in (1, 9, 80, 300, 1200)]
    with bertqa.Context(tmp_path, precision="f32") as context:
        vectors = np.asarray(context.embed(texts))
        first = np.asarray(context.embed(texts, pooling="cls"))
    for text, ours, ours_first in zip(texts, vectors, first, strict=True):
        with torch.no_grad():
            hidden = model(tokenizer(text, return_tensors="pt")["input_ids"]).last_hidden_state[0].numpy()
        assert np.abs(ours - hidden.mean(axis=0)).max() <= TOLERANCE
        assert np.abs(ours_first - hidden[0]).max() <= TOLERANCE


def test_entities(tmp_path):
    tags = dict(enumerate(["O", "B-X", "I-X", "B-Y", "I-Y"]))
    config = LongformerConfig(**CONFIG, **SMALL, attention_window=32, id2label=tags)
    model = save(LongformerForTokenClassification, config, torch.float32, tmp_path, 8)
    tokenizer = BertTokenizer.from_pretrained(tmp_path)
    text = text_of(600, 4)
    inputs = tokenizer(text, return_tensors="pt")
    with torch.no_grad():
        probabilities = model(inputs["input_ids"]).logits[0].softmax(dim=1).numpy()
    with bertqa.Context(tmp_path, precision="f32") as context:
        found = context.entities(text, aggregation="none")
    scores = [row.max() for row in probabilities[1:-1] if row.argmax() > 0]
    assert len(found) == len(scores) > 50
    assert np.abs([entity.score for entity in found] - np.array(scores)).max() <= TOLERANCE
