"""SentenceEncoder and CrossEncoder against sentence-transformers on tiny models of every family."""

import copy
import json
import random
import shutil

import numpy as np
import pytest
import torch
from sentence_transformers import CrossEncoder, SentenceTransformer
from sentence_transformers.models import Pooling, Transformer

import bertqa
from cases import text
from conftest import FIXTURES, directories, theirs

TOLERANCE = 1e-4
PROMPTS = {"query": "find: ", "document": "text: ", "other": "the king "}


def texts(name, count=60):
    rng = random.Random(name)
    return [text(rng, rng.choice([1, 3, 8, 20, 60])) for _ in range(count)]


@pytest.fixture(
    scope="module", params=[name for name in directories("Model") if (FIXTURES / name / "modules.json").exists()]
)
def encoders(request, tmp_path_factory):
    """(bertqa's, the same model in sentence-transformers), with prompts, one of them the default"""
    directory = tmp_path_factory.mktemp("encoder") / "model"
    shutil.copytree(FIXTURES / request.param, directory)
    settings = {"prompts": PROMPTS, "default_prompt_name": "other", "similarity_fn_name": "dot"}
    (directory / "config_sentence_transformers.json").write_text(json.dumps(settings))
    transformer = Transformer(str(directory), max_seq_length=64, model_args={"dtype": torch.float32})
    if "distil" in request.param:
        transformer.tokenizer.model_input_names = ["input_ids", "attention_mask"]
    other = SentenceTransformer(str(directory), device="cpu", model_kwargs={"dtype": torch.float32})
    other[0].tokenizer = transformer.tokenizer
    assert isinstance(other[1], Pooling)
    return bertqa.SentenceEncoder(directory), other


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"prompt_name": "query"},
        {"prompt": "a fox "},
        {"normalize_embeddings": True, "batch_size": 7},
        {"truncate_dim": 5, "show_progress_bar": True},
        {"truncate_dim": 5, "normalize_embeddings": True},
        {"convert_to_tensor": True},
    ],
)
def test_encode(encoders, options):
    ours, other = encoders
    sentences = texts(str(options))
    mine, expected = ours.encode(sentences, **options), other.encode(sentences, **options)
    assert type(mine) is type(expected) and mine.shape == expected.shape and mine.dtype == expected.dtype
    assert abs(np.asarray(mine) - np.asarray(expected)).max() < TOLERANCE
    one = ours.encode(sentences[0], **options)
    assert one.shape == other.encode(sentences[0], **options).shape
    assert ours.encode([]).shape == other.encode([]).shape


def test_other_methods(encoders):
    ours, other = encoders
    sentences = texts("others", 5)
    for method in "encode_query", "encode_document":
        assert abs(getattr(ours, method)(sentences) - getattr(other, method)(sentences)).max() < TOLERANCE
    vectors = ours.encode(sentences)
    assert ours.get_sentence_embedding_dimension() == other.get_sentence_embedding_dimension() == vectors.shape[1]
    for name in "cosine", "dot", "euclidean", "manhattan":
        ours.similarity_fn_name = other.similarity_fn_name = name
        found = ours.similarity(vectors, vectors[:2])
        assert abs(found - other.similarity(vectors, vectors[:2]).numpy()).max() < 1e-3
    for model in ours, other:
        with pytest.raises(ValueError):
            model.encode(sentences, prompt_name="nothing")


@pytest.mark.parametrize("name", directories("ForSequenceClassification"))
@pytest.mark.parametrize("side", ["right", "left"])
def test_pairs(name, side, tmp_path):
    pipe = theirs(name, "text-classification")
    other = CrossEncoder(str(FIXTURES / name), device="cpu")
    other.model, other.tokenizer = pipe.model, copy.deepcopy(pipe.tokenizer)
    other.tokenizer.truncation_side = side
    shutil.copytree(FIXTURES / name, tmp_path / name)
    settings = json.loads((FIXTURES / name / "tokenizer_config.json").read_text())
    (tmp_path / name / "tokenizer_config.json").write_text(json.dumps(settings | {"truncation_side": side}))
    ours = bertqa.CrossEncoder(tmp_path / name)
    words = texts(name, 80)
    pairs = list(zip(words[:40], words[40:]))
    for options in {}, {"apply_softmax": True}, {"activation_fn": torch.nn.Sigmoid()}:
        # One at a time: MobileBERT's last token sees the padding of a batch.
        mine, expected = ours.predict(pairs, **options), other.predict(pairs, batch_size=1, **options)
        assert mine.shape == expected.shape and mine.dtype == expected.dtype
        near = np.abs(mine - expected).reshape(len(pairs), -1).max(-1) < TOLERANCE
        # A text that no place cuts into the same tokens loses one more: at its end if words have no pieces with ##.
        assert near.mean() > (0.99 if ours._model.kind == "pieces" and side == "right" else 0.5), near.mean()
    assert ours.predict(pairs[0]).shape == other.predict(pairs[0]).shape
    if other.config.num_labels == 1:
        mine, expected = (
            model.rank("a fox", words[:5], top_k=3, return_documents=True) for model in (ours, other)
        )
        assert [one["corpus_id"] for one in mine] == [one["corpus_id"] for one in expected]
        assert list(mine[0]) == list(expected[0])
    else:
        for model in ours, other:
            with pytest.raises(ValueError):
                model.rank("a", ["b"])
