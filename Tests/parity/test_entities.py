"""Entities against transformers in fp32: logits at most 1e-4 apart, and what its token-classification pipeline
makes of them, by every strategy; long texts by the rule of docs/entities.md, with the pipeline's own aggregation."""

import random

import numpy as np
import pytest
import torch
from transformers import (
    AutoTokenizer,
    BertConfig,
    BertForTokenClassification,
    DistilBertConfig,
    DistilBertForTokenClassification,
    pipeline,
)
from transformers.pipelines.token_classification import AggregationStrategy

import bertqa
from conftest import ENDINGS, TINY, WORDS, randomise, write_tokenizer

TAGS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC", "B-A-B", "I-A-B"]
MODELS = {
    "bert, BIO": (BertForTokenClassification, BertConfig(**TINY, id2label=dict(enumerate(TAGS))), torch.float32),
    "bert, no prefixes": (
        BertForTokenClassification,
        BertConfig(**TINY, id2label={0: "PER", 1: "O", 2: "LOC", 3: "X-Y"}),
        torch.float16,
    ),
    "distilbert-base, BIO": (
        DistilBertForTokenClassification,
        DistilBertConfig(id2label=dict(enumerate(TAGS))),
        torch.bfloat16,
    ),
}
STRATEGIES = ["none", "simple", "first", "average", "max"]
#: Probabilities closer than this may be ordered differently by the two: such texts say nothing of the rules.
NEAR = 1e-5


def made_text(words, seed):
    """Words with endings, names of several pieces, punctuation and unknown characters."""
    rng = random.Random(seed)
    kinds = [
        lambda: rng.choice(WORDS),
        lambda: rng.choice(WORDS) + "".join(ending[2:] for ending in rng.choices(ENDINGS, k=rng.randint(1, 3))),
        lambda: rng.choice(WORDS) + rng.choice(",.;:!?-") + rng.choice(["", rng.choice(WORDS)]),
        lambda: rng.choice(["\u4e2d", "\U0001f98a", "xyz1", "\n", "\t"]),
    ]
    return " ".join(rng.choice(kinds)() for _ in range(words))


TEXTS = [made_text(words, words) for words in (1, 2, 3, 8, 20, 60, 100, 120)] + ["", " \n"]


@pytest.fixture(scope="module", params=MODELS)
def model(request, tmp_path_factory):
    """(context, transformers' pipeline of the same model)"""
    kind, config, dtype = MODELS[request.param]
    model = kind._from_config(config, attn_implementation="eager").eval()
    randomise(model, seed=len(request.param))
    model.to(dtype)
    directory = tmp_path_factory.mktemp("tagger")
    model.save_pretrained(directory)
    write_tokenizer(directory)
    tagger = pipeline(
        "token-classification",
        model=model.float(),
        tokenizer=AutoTokenizer.from_pretrained(directory),
        device="cpu",
    )
    with bertqa.Context(directory, precision="f32") as context:
        yield context, tagger


def compare(found, expected, text):
    """Compares without the white space that transformers leaves at the ends of entities; WordPiece has none."""
    spelled = [(one["start"], one["end"], one.get("entity", one.get("entity_group"))) for one in expected]
    assert [(e.start, e.end, e.label) for e in found] == spelled, text
    for entity, one in zip(found, expected, strict=True):
        assert abs(entity.score - float(one["score"])) < 1e-5
        assert entity.text == text[one["start"] : one["end"]]


def windows(count, room, overlap):
    """(first token, end) of each window."""
    spans = [(0, min(room, count))]
    while spans[-1][1] < count:
        first = spans[-1][0] + room - overlap
        spans.append((first, min(first + room, count)))
    return spans


def probabilities_of(tagger, text, length, overlap):
    """Returns the probabilities of each token, from the window with the most tokens on the poorer side; ids and
    offsets."""
    encoded = tagger.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, truncation=False)
    ids, offsets = encoded["input_ids"], encoded["offset_mapping"]
    room = length - 2
    spans = windows(len(ids), room, min(overlap, length // 3, room // 2))
    rows = []
    for first, end in spans:
        inputs = torch.tensor([[tagger.tokenizer.cls_token_id, *ids[first:end], tagger.tokenizer.sep_token_id]])
        with torch.no_grad():
            logits = tagger.model(input_ids=inputs).logits[0, 1:-1].numpy()
        shifted = np.exp(logits - logits.max(-1, keepdims=True))
        rows.append(shifted / shifted.sum(-1, keepdims=True))

    def context(window, token):
        first, end = spans[window]
        before = token - first if first > 0 else len(ids)
        after = end - 1 - token if end < len(ids) else len(ids)
        return min(before, after)

    scores = []
    for token in range(len(ids)):
        holding = [w for w, (first, end) in enumerate(spans) if first <= token < end]
        best = max(holding, key=lambda w: (context(w, token), -w))
        scores.append(rows[best][token - spans[best][0]])
    return ids, offsets, np.array(scores).reshape(len(ids), -1), len(spans)


def is_near_tie(scores):
    if len(scores) == 0:
        return False
    ordered = np.sort(scores, axis=-1)
    return (ordered[:, -1] - ordered[:, -2]).min() < NEAR


def aggregated(tagger, text, ids, offsets, scores, strategy):
    """The result of the pipeline's own code for given probabilities."""
    kind = AggregationStrategy[strategy.upper()]
    pre_entities = tagger.gather_pre_entities(
        text, np.array(ids), scores, [tuple(map(np.int64, pair)) for pair in offsets], np.zeros(len(ids)), kind
    )
    entities = tagger.aggregate(pre_entities, kind)
    return [e for e in entities if e.get("entity", e.get("entity_group")) != "O"]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_pipeline(model, strategy):
    context, tagger = model
    count = 0
    for text, found in zip(TEXTS, context.entities_batch(TEXTS, aggregation=strategy), strict=True):
        if not text.strip():
            assert len(found) == 0
            continue
        assert found.window_count == 1
        _, _, scores, _ = probabilities_of(tagger, text, 512, 0)
        if is_near_tie(scores):
            continue
        compare(found, tagger(text, aggregation_strategy=strategy), text)
        ignored = ["PER", "B-PER"]
        others = context.entities(text, aggregation=strategy, ignore_labels=ignored)
        compare(others, tagger(text, aggregation_strategy=strategy, ignore_labels=ignored), text)
        count += len(found)
    assert count >= 5


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("length, overlap", [(16, 0), (24, 5), (64, 16), (512, 128)])
def test_long_texts(model, strategy, length, overlap):
    context, tagger = model
    text = made_text(700 if length == 512 else 150, length)
    ids, offsets, scores, count = probabilities_of(tagger, text, length, overlap)
    assert count > 2 or length == 512
    if is_near_tie(scores):
        pytest.skip("two labels are as good as equally probable")
    found = context.entities(text, aggregation=strategy, max_seq_len=length, doc_stride=overlap)
    assert found.window_count == count > 1
    compare(found, aggregated(tagger, text, ids, offsets, scores, strategy), text)
