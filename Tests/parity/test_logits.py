"""Our logits against transformers in fp32, on the same ids: at most 1e-4 apart (DESIGN's contract)."""
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


def windows_of(lengths, seed=0):
    """(ids, second segment's start) of random windows: [CLS] question [SEP] context [SEP]."""
    rng = random.Random(seed)
    windows = []
    for length in lengths:
        second = max(2, length // 5)
        ids = [rng.randrange(5, 30522) for _ in range(length)]
        ids[0], ids[second - 1], ids[-1] = 2, 3, 3
        windows.append((ids, second))
    return windows


def reference(model, windows):
    start, end = [], []
    for ids, second in windows:
        inputs = {"input_ids": torch.tensor([ids])}
        if model.config.model_type == "bert":
            inputs["token_type_ids"] = (torch.arange(len(ids)) >= second).long()[None]
        with torch.no_grad():
            output = model(**inputs)
        start.append(output.start_logits[0].numpy())
        end.append(output.end_logits[0].numpy())
    return np.concatenate(start), np.concatenate(end)


@pytest.mark.parametrize("name", BATCHES)
def test_logits(checkpoint, name):
    directory, model = checkpoint
    windows = windows_of(BATCHES[name])
    expected = reference(model, windows)
    with bertqa.Context(directory, precision="f32") as context:
        got = context.logits([ids for ids, _ in windows], [second for _, second in windows])
    for ours, theirs in zip(got, expected):
        ours = np.asarray(ours, dtype=np.float32)
        assert ours.shape == theirs.shape
        assert np.abs(theirs).max() > 0.1, "the reference must not be trivial"
        assert np.abs(ours - theirs).max() <= TOLERANCE


def test_bits_do_not_depend_on_company_or_threads(checkpoint):
    directory, _ = checkpoint
    windows = windows_of(BATCHES["ragged"])
    ids, seconds = [ids for ids, _ in windows], [second for _, second in windows]
    results = []
    for threads in (1, 2, 5):
        with bertqa.Context(directory, precision="f32", threads=threads) as context:
            together = context.logits(ids, seconds)
            singly = [context.logits([one], [second]) for one, second in zip(ids, seconds)]
        results += [together, [np.concatenate([np.asarray(one[side]) for one in singly]) for side in (0, 1)]]
    for result in results[1:]:
        for side in (0, 1):
            assert np.array_equal(np.asarray(result[side]), np.asarray(results[0][side]))
