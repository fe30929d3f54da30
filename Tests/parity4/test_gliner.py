"""Entities by any label against the package gliner in f32: the same spans and labels, scores at most 1e-4 apart."""

import importlib
import random
import sys

import pytest

import bertqa
from conftest import FIXTURES

sys.path.insert(0, str(FIXTURES))
made = importlib.import_module("generate-tiny-gliner")
tiny = made.tiny
TOLERANCE = 1e-4
MODELS = {
    "deberta, projected": {},
    "deberta, not projected": {"width": 24},
    "bert": {"encoder": "bert"},
    # A smaller scale: scores that round to 1 have no order.
    "without LSTM": {"num_rnn_layers": 0, "scale": 0.03},
    "two layers of LSTM": {"num_rnn_layers": 2},
    "labels' first tokens": {"embed_ent_token": False},
    "short spans": {"max_width": 3},
    "long spans": {"max_width": 40, "width": 128, "encoder_width": 64},
    "tokens": {"tokens": True},
    "tokens, without LSTM": {"tokens": True, "num_rnn_layers": 0},
    "tokens, not projected": {"tokens": True, "width": 64, "encoder_width": 64, "encoder": "bert"},
}
LABELS = [["person"], made.LABELS, [f"kind {number} of it" for number in range(20)]]


def text(rng, words):
    kinds = [
        *tiny.WORDS,
        *tiny.CAPITALISED,
        ",",
        ".",
        "semi-x",
        "a--b",
        "x_y",
        "Rivi\u00e8re",
        "\u4e2d\u56fd",
        "(a)",
        "\u0301",
    ]
    return " ".join(rng.choice(kinds) for _ in range(words))


@pytest.fixture(scope="module", params=MODELS)
def models(request, tmp_path_factory):
    """(context, the package's model)"""
    directory = tmp_path_factory.mktemp("gliner") / "model"
    model = made.make(directory, **MODELS[request.param])
    return bertqa.Context(directory, precision="f32"), model


@pytest.mark.parametrize("labels", LABELS, ids=len)
@pytest.mark.parametrize("flat", [True, False])
@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.7])
def test_entities_are_those_of_the_package(models, labels, flat, threshold):
    context, model = models
    rng = random.Random(len(labels))
    texts = [text(rng, words) for words in (1, 2, 3, 5, 12, 16, 17, 31, 33, 64, 100, 180)] + tiny.SENTENCES
    found = 0
    for one, wanted in zip(texts, made.found(model, texts, labels, threshold, flat)):
        entities = context.entities(one, labels=labels, threshold=threshold, nested=not flat)
        wanted.sort(key=lambda entity: (entity[0], -entity[1]))
        assert [[entity.start, entity.end, entity.label] for entity in entities] == [
            entity[:3] for entity in wanted
        ]
        for entity, (*_, score) in zip(entities, wanted):
            assert abs(entity.score - score) < TOLERANCE
        assert entities.window_count == 1
        found += len(wanted)
    assert found > 0 or threshold > 0.3


def test_all_forms_of_checkpoints_have_the_same_entities(models, tmp_path):
    context, model = models
    model.save_pretrained(tmp_path / "torch", safe_serialization=False)
    model.save_pretrained(tmp_path / "safetensors", safe_serialization=True)
    assert (tmp_path / "torch" / "pytorch_model.bin").exists()
    for name in "torch", "safetensors":
        other = bertqa.Context(tmp_path / name, precision="f32")
        for one in tiny.SENTENCES:
            assert other.entities(one, labels=made.LABELS) == context.entities(one, labels=made.LABELS)
