"""Our logits against transformers in fp32, on the same ids: at most 1e-4 apart."""

import random

import numpy as np
import pytest
import torch

import bertqa

TOLERANCE = 1e-4
BATCHES = {
    "shortest": [8],
    "short": [16, 33],
    "one of each length": [64, 128, 256, 384],
    "longest": [512],
    "ragged": [17, 300, 8, 45, 512, 9, 10, 33, 128, 64, 384, 11, 12, 13, 500, 511],
}


def windows_of(lengths):
    """(ids, second segment's start) of random windows: [CLS] question [SEP] context [SEP]."""
    rng = random.Random(0)
    windows = []
    for length in lengths:
        second = max(2, length // 5)
        ids = [rng.randrange(5, 30522) for _ in range(length)]
        ids[0], ids[second - 1], ids[-1] = 2, 3, 3
        windows.append((ids, second))
    return windows


def reference(model, ids, second):
    """[start, end] logits of one window."""
    inputs = {"input_ids": torch.tensor([ids])}
    if model.config.model_type in ("bert", "deberta-v2"):
        inputs["token_type_ids"] = (torch.arange(len(ids)) >= second).long()[None]
    with torch.no_grad():
        output = model(**inputs)
    return np.stack([output.start_logits[0].numpy(), output.end_logits[0].numpy()])


def logits(context, windows):
    """[start, end] logits of each window."""
    got = context.logits([ids for ids, _ in windows], [second for _, second in windows])
    return [np.asarray(window, dtype=np.float32) for window in got]


def require_same_bits(directory, windows, precision):
    """Neither the windows in a call nor its threads change a window's logits."""
    results = []
    for threads in (1, 2, 5):
        with bertqa.Context(directory, precision=precision, threads=threads) as context:
            results.append(logits(context, windows))
            results.append([logits(context, [window])[0] for window in windows])
    for result in results[1:]:
        for window, expected in zip(result, results[0], strict=True):
            assert np.array_equal(window, expected)


@pytest.mark.parametrize("name", BATCHES)
def test_logits(checkpoint, name):
    directory, model = checkpoint
    windows = windows_of(BATCHES[name])
    with bertqa.Context(directory, precision="f32") as context:
        got = logits(context, windows)
    for (ids, second), ours in zip(windows, got, strict=True):
        theirs = reference(model, ids, second)
        assert ours.shape == theirs.shape
        assert np.abs(theirs).max() > 0.1, "the reference must not be trivial"
        assert np.abs(ours - theirs).max() <= TOLERANCE


def test_bits_do_not_depend_on_company_or_threads(checkpoint):
    directory, _ = checkpoint
    windows = windows_of(BATCHES["ragged"])
    require_same_bits(directory, windows, "f32")
