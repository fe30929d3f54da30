"""Classification against transformers in fp32, from the same texts: logits at most 1e-4 apart."""

import numpy as np
import pytest
import torch
from transformers import (
    AutoTokenizer,
    BertConfig,
    BertForSequenceClassification,
    DistilBertConfig,
    DistilBertForSequenceClassification,
    pipeline,
)

import bertqa
from conftest import PAIRS, TEXTS, randomise, text_of, write_tokenizer

TOLERANCE = 1e-4
MINILM = {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 1536}
NAMES = {"id2label": {0: "negative", 1: "neutral", 2: "positive"}}
MODELS = {
    "bert-base, three labels": (
        BertForSequenceClassification,
        BertConfig(**NAMES),
        torch.float32,
        "single_label_classification",
    ),
    "minilm, many of 28 labels": (
        BertForSequenceClassification,
        BertConfig(**MINILM, num_labels=28, problem_type="multi_label_classification"),
        torch.float16,
        "multi_label_classification",
    ),
    "minilm, a number": (
        BertForSequenceClassification,
        BertConfig(**MINILM, num_labels=1),
        torch.bfloat16,
        "regression",
    ),
    "distilbert-base, two labels": (
        DistilBertForSequenceClassification,
        DistilBertConfig(),
        torch.bfloat16,
        "single_label_classification",
    ),
    "distilbert, three numbers": (
        DistilBertForSequenceClassification,
        DistilBertConfig(n_layers=2, num_labels=3, problem_type="regression"),
        torch.float32,
        "regression",
    ),
}


@pytest.fixture(scope="module", params=MODELS)
def model(request, tmp_path_factory):
    """(directory, the same model in transformers, its tokenizer, what its outputs mean)"""
    kind, config, dtype, problem_type = MODELS[request.param]
    model = kind._from_config(config, attn_implementation="eager").eval()
    randomise(model, seed=len(request.param))
    model.to(dtype)
    directory = tmp_path_factory.mktemp("classifier")
    model.save_pretrained(directory)
    write_tokenizer(directory)
    yield directory, model.float(), AutoTokenizer.from_pretrained(directory), problem_type


def logits_of(result):
    return np.array([score.logit for score in sorted(result.scores, key=lambda score: score.id)])


def run(model, **inputs):
    with torch.no_grad():
        return model(**{name: torch.as_tensor(value)[None] for name, value in inputs.items()}).logits[0].numpy()


@pytest.mark.parametrize("threads", [1, 3])
def test_logits(model, threads):
    directory, reference, tokenizer, problem_type = model
    texts = TEXTS + PAIRS
    with bertqa.Context(directory, precision="f32", threads=threads) as context:
        results = context.classify_batch(texts)
        assert context.info.labels == tuple(reference.config.id2label.values())
    assert np.ptp([logits_of(result) for result in results], axis=0).max() > 0.05, "not all the same"
    for text, result in zip(texts, results, strict=True):
        # Lists, because transformers takes an empty second text alone for none.
        inputs = tokenizer([text]) if isinstance(text, str) else tokenizer([text[0]], [text[1]])
        theirs = run(reference, **{name: values[0] for name, values in inputs.items()})
        assert np.abs(logits_of(result) - theirs).max() <= TOLERANCE
        assert (result.window_count, result.problem_type) == (1, problem_type)


def test_probabilities_are_the_pipelines(model):
    directory, reference, tokenizer, problem_type = model
    classifier = pipeline("text-classification", model=reference, tokenizer=tokenizer, top_k=None)
    with bertqa.Context(directory, precision="f32") as context:
        for text in TEXTS[:5]:
            theirs = {entry["label"]: entry["score"] for entry in classifier([text])[0]}
            ours = context.classify(text).probabilities
            if problem_type == "regression":  # numbers; the pipeline may give a sigmoid of one
                assert all(np.isnan(value) for value in ours.values())
                continue
            assert list(ours) == sorted(ours, key=ours.get, reverse=True)
            assert ours == pytest.approx(theirs, abs=1e-4)


@pytest.mark.parametrize("pooling", ["mean", "max"])
def test_long_texts(model, pooling):
    """The windows are those of transformers' tokenizer with a stride."""
    directory, reference, tokenizer, _ = model
    text = text_of(900, 7)
    windows = tokenizer(text, truncation=True, max_length=200, stride=50, return_overflowing_tokens=True)
    rows = [
        run(reference, **{name: windows[name][row] for name in tokenizer.model_input_names})
        for row in range(len(windows["input_ids"]))
    ]
    theirs = np.mean(rows, axis=0) if pooling == "mean" else np.max(rows, axis=0)
    with bertqa.Context(directory, precision="f32") as context:
        result = context.classify(text, max_seq_len=200, doc_stride=50, window_pooling=pooling)
    assert result.window_count == len(rows) > 4
    assert np.abs(logits_of(result) - theirs).max() <= TOLERANCE


def test_a_long_second_text(model):
    """The windows are those of transformers' tokenizer that cuts the second text only."""
    directory, reference, tokenizer, _ = model
    first, second = text_of(20, 8), text_of(400, 9)
    windows = tokenizer(
        first, second, truncation="only_second", max_length=128, stride=30, return_overflowing_tokens=True
    )
    rows = [
        run(reference, **{name: windows[name][row] for name in tokenizer.model_input_names})
        for row in range(len(windows["input_ids"]))
    ]
    with bertqa.Context(directory, precision="f32") as context:
        result = context.classify((first, second), max_seq_len=128, doc_stride=30)
    assert result.window_count == len(rows) > 3
    assert np.abs(logits_of(result) - np.mean(rows, axis=0)).max() <= TOLERANCE


def test_without_a_pooler(model, tmp_path):
    """Some exporters write such checkpoints: the classifier takes the vector of [CLS]."""
    from safetensors.torch import load_file, save_file

    directory, reference, tokenizer, _ = model
    if reference.config.model_type != "bert":
        return  # DistilBERT has none to leave out
    for name in ("config.json", "vocab.txt", "tokenizer_config.json"):
        (tmp_path / name).write_bytes((directory / name).read_bytes())
    tensors = load_file(directory / "model.safetensors")
    save_file(
        {key: value for key, value in tensors.items() if "pooler" not in key}, tmp_path / "model.safetensors"
    )
    with torch.no_grad():
        hidden = reference.bert(**tokenizer(TEXTS[3], return_tensors="pt")).last_hidden_state
        theirs = reference.classifier(hidden[:, 0])[0].numpy()
    with bertqa.Context(tmp_path, precision="f32") as context:
        assert np.abs(logits_of(context.classify(TEXTS[3])) - theirs).max() <= TOLERANCE
