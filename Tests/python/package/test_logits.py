"""Logits through the package: the fixtures' expected values, on every instruction set of this machine."""

import json
import re

import numpy
import pytest

import bertqa
from conftest import FIXTURES, available_isas

MODELS = [
    "tiny-bert",
    "tiny-bert-cased",
    "tiny-distilbert",
    "tiny-roberta",
    "tiny-electra",
    "tiny-albert",
    "tiny-mpnet",
    "tiny-deberta",
    "tiny-deberta-v1",
    "tiny-modernbert",
    "tiny-mobilebert",
    "tiny-longformer",
]
# f32: the largest error. Others: the rms error as a share of the logits' rms. The models are random, with 32
# hidden units.
TOLERANCES = {"f32": 1e-4, "bf16": 0.012, "int8": 0.04}
# Rounding grows more if no norm follows each addition.
PRE_NORM = {"tiny-modernbert": 3}
# Without VNNI activations have half as many steps; weights have as many as elsewhere.
FEW_STEPS = {"avx2": 1.5, "avx512": 1.5}


def logits_of(context, windows):
    results = context.logits([w["ids"] for w in windows], [w["second_segment"] for w in windows])
    assert [(len(start), len(end)) for start, end in results] == [(len(w["ids"]),) * 2 for w in windows]
    return results


@pytest.mark.parametrize("precision", TOLERANCES)
@pytest.mark.parametrize("isa", available_isas())
@pytest.mark.parametrize("name", MODELS)
def test_logits(name, isa, precision):
    sets = json.loads((FIXTURES / name / "expected.json").read_text())["sets"]
    try:
        context = bertqa.Context(FIXTURES / name, precision=precision, isa=isa)
    except bertqa.Unsupported:
        assert precision == "bf16" and not isa.endswith(("bf16", "amx"))
        pytest.skip(f"no {precision} with {isa}")
    errors, scale = [], []
    with context:
        assert (context.info.precision, context.info.isa) == (precision, isa)
        for group in sets:
            windows = group["windows"]
            together = logits_of(context, windows)
            for window, (start, end) in zip(windows, together, strict=True):
                assert logits_of(context, [window]) == [(start, end)]
                for side, values in ("start", start), ("end", end):
                    errors.append(numpy.abs(numpy.subtract(values, window[side])))
                    scale.append(numpy.abs(window[side]))
    errors, scale = numpy.concatenate(errors), numpy.concatenate(scale)
    assert scale.mean() > 0.5, "the reference must not be trivial"
    if precision == "f32":
        assert errors.max() <= TOLERANCES[precision]
    else:
        error = numpy.sqrt((errors**2).mean() / (scale**2).mean())
        steps = FEW_STEPS.get(isa, 1) if precision == "int8" else 1
        assert 0 < error <= TOLERANCES[precision] * steps * PRE_NORM.get(name, 1)


def test_segments_default_to_none(tiny):
    window = [2, 5, 3, 6, 7, 3]
    assert tiny.logits([window]) == tiny.logits([window], [len(window)]) != tiny.logits([window], [3])


def test_wrong_windows(tiny):
    for arguments, message in [
        (([[1, 2], []],), "window_lengths has 0 at 1"),
        (([[1] * 129],), "window_lengths has 129 at 0, but must have 1 to 128"),
        (([[1, 197]],), "ids has 197 at 1, but must have 0 to 196"),
        (([[1, -1]],), "ids has -1 at 1"),
        (([[1], [1 << 32]],), "windows[1] is [4294967296], which has a number out of range"),
        (([[1]], [2]), "second_segments has 2 at 0"),
        (([[1]], [-1]), "second_segments is [-1], which has a number out of range"),
        (([[1]], []), "second_segments must have one entry per window"),
    ]:
        with pytest.raises(bertqa.InvalidArgument, match=re.escape(message)) as caught:
            tiny.logits(*arguments)
        assert caught.value.argument == re.match(r"\w+", message)[0]
    assert tiny.logits([bytes([2, 5, 3])], bytes([2])) == tiny.logits([[2, 5, 3]], [2])
    assert tiny.logits([]) == tiny.logits([], []) == []
    for arguments, message in [
        ((5,), "windows is 5, but must be a list of lists"),
        (([5],), "windows has 5, but must be a list of lists"),
        (([[1], ["a"]],), "windows[1] is ['a'], but must be a list of token ids"),
        (([[1]], 5), "second_segments is 5, but must be a list of indices"),
    ]:
        with pytest.raises(TypeError, match=re.escape(message)):
            tiny.logits(*arguments)
