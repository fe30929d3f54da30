"""The calibration in config.json: the threshold's rise with the windows, and calibrated probabilities."""

import json
import math
import shutil
import subprocess

import pytest

import bertqa
from conftest import PREFIX
from samples import ANSWER, FOX, TINY, WHO, words

OWN = {
    "no_answer_threshold": -0.01,
    "threshold_rise": 0.02,
    "calibration": {"slope": 30.0, "midpoint": 0.015, "span_temperature": 0.05},
}
# A text of several windows.
LONG = words(300)
SHORT_WINDOWS = {"max_seq_len": 32, "doc_stride": 8}


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """A model with random weights that is calibrated."""
    path = tmp_path_factory.mktemp("models") / "calibrated"
    shutil.copytree(TINY, path)
    config = json.loads((path / "config.json").read_text())
    (path / "config.json").write_text(json.dumps({**config, "bertqa": OWN}))
    return path


@pytest.fixture(scope="module")
def calibrated(directory):
    with bertqa.Context(directory, precision="f32") as context:
        yield context


def rise(result):
    return OWN["threshold_rise"] * math.log(result.window_count)


def check(result):
    """Checks the numbers by the formulas of docs/answers.md."""
    assert result.no_answer_threshold == pytest.approx(OWN["no_answer_threshold"] + rise(result), abs=1e-6)
    assert result.is_impossible == (result.gap < result.no_answer_threshold)
    slope, midpoint = OWN["calibration"]["slope"], OWN["calibration"]["midpoint"]
    expected = 1 / (1 + math.exp(slope * (result.gap - midpoint - rise(result))))
    assert result.no_answer_probability == pytest.approx(expected, abs=1e-5)
    scale = result.answer.probability / math.exp(result.answer.score / OWN["calibration"]["span_temperature"])
    for answer in result.answers:
        share = scale * math.exp(answer.score / OWN["calibration"]["span_temperature"])
        assert answer.probability == pytest.approx(share, rel=1e-3)
        assert answer.gap == pytest.approx(answer.score - result.null_score, abs=1e-5)
    probabilities = [answer.probability for answer in result.answers]
    assert probabilities == sorted(probabilities, reverse=True)
    assert sum(probabilities) + result.no_answer_probability <= 1 + 1e-5


@pytest.mark.parametrize("document, options", [(FOX, {}), (LONG, SHORT_WINDOWS)])
def test_chances_and_threshold_follow_gap_and_windows(calibrated, tiny, document, options):
    result = calibrated.answer(WHO, document, top_k=5, **options)
    check(result)
    assert (result.window_count > 10) == bool(options)
    # The model's numbers are not touched.
    plain = tiny.answer(WHO, document, top_k=5, **options)
    assert [a.score for a in plain.answers] == [a.score for a in result.answers]
    assert (plain.gap, plain.null_score) == (result.gap, result.null_score)
    assert plain.no_answer_threshold == 0 and plain.no_answer_probability != result.no_answer_probability


def test_shares_are_of_all_spans(calibrated):
    """The probability that is not "no answer" is divided among all spans of the document."""
    result = calibrated.answer("who", words(6), top_k=1000, align_to_words=False, max_answer_len=1)
    assert len(result.answers) == len(calibrated.tokenize(words(6)).ids)
    total = sum(answer.probability for answer in result.answers)
    assert total == pytest.approx(1 - result.no_answer_probability, abs=1e-5)


def test_windows_left_out_count_nothing(calibrated):
    result = calibrated.answer(WHO, LONG, max_windows=3, **SHORT_WINDOWS)
    assert result.window_count == 3 and result.skipped_window_count > 0
    check(result)


def test_the_callers_threshold_does_not_rise(calibrated):
    result = calibrated.answer(WHO, LONG, no_answer_threshold=0.25, **SHORT_WINDOWS)
    assert result.no_answer_threshold == 0.25 and result.window_count > 10
    assert calibrated.info.no_answer_threshold == pytest.approx(-0.01)


def test_every_way_of_asking_agrees(calibrated, directory, tmp_path):
    result = calibrated.answer(WHO, LONG, **SHORT_WINDOWS)
    with calibrated.prepare(LONG) as prepared:
        assert prepared.answer(WHO, **SHORT_WINDOWS) == result
    pairs = [(WHO, FOX), (WHO, LONG), (WHO, LONG)]
    assert calibrated.answer_batch(pairs, **SHORT_WINDOWS)[1:] == [result] * 2
    assert list(calibrated.answer_stream(pairs, **SHORT_WINDOWS))[1:] == [result] * 2
    (tmp_path / "long.txt").write_text(LONG)
    options = ["--model", directory, "--precision", "f32", "--max-seq-len", "32", "--doc-stride", "8", "-q", WHO]
    outputs = [
        subprocess.run([PREFIX / "bin" / "bertqa", *command], input=line, capture_output=True, check=True).stdout
        for command, line in (
            (["answer", *options, "--json", tmp_path / "long.txt"], b""),
            (["filter", *options], json.dumps({"text": LONG}).encode() + b"\n"),
        )
    ]
    for output in outputs:
        [found] = [json.loads(line) for line in output.splitlines()]
        found = found.get("bertqa", found)
        assert found["no_answer_probability"] == pytest.approx(result.no_answer_probability, rel=1e-5)
        assert found["answers"][0]["probability"] == pytest.approx(result.answer.probability, rel=1e-5)
        assert found["is_impossible"] == result.is_impossible and found["gap"] == pytest.approx(
            result.gap, rel=1e-5
        )


def test_empty_texts(calibrated):
    for question, document in ((WHO, ""), ("", FOX), (WHO, " ... ")):
        result = calibrated.answer(question, document)
        assert not result.answers and result.is_impossible and result.no_answer_probability == 1


def test_quantizing_keeps_the_calibration(directory, tmp_path):
    bertqa.quantize(directory, tmp_path / "int8")
    own = json.loads((tmp_path / "int8" / "config.json").read_text())["bertqa"]
    assert own == {**OWN, "weight_format": "int8"}


@pytest.mark.parametrize(
    "change, message",
    [
        ({"threshold_rise": -1}, '"threshold_rise" is -1.0, expected 0.0 to'),
        ({"calibration": {"slope": 1}}, '"calibration" has no "midpoint"'),
        ({"calibration": {**OWN["calibration"], "span_temperature": 0}}, '"span_temperature" is 0.0, expected'),
    ],
)
def test_bad_numbers_are_refused(tmp_path, change, message):
    shutil.copytree(TINY, tmp_path / "model")
    config = json.loads((TINY / "config.json").read_text())
    (tmp_path / "model" / "config.json").write_text(json.dumps({**config, "bertqa": {**OWN, **change}}))
    with pytest.raises(bertqa.InvalidModel, match=message):
        bertqa.Context(tmp_path / "model")


# The default model


def test_the_default_model_is_calibrated(context):
    sure = context.answer(WHO, FOX)
    assert sure.answer.text == ANSWER and not sure.is_impossible
    # With and without its article the answer is nearly all.
    assert 0.9 > sure.answer.probability > 0.4 > 0.1 > sure.no_answer_probability
    unsure = context.answer("What is the capital of Bolivia?", FOX)
    assert unsure.no_answer_probability > 0.5 and unsure.is_impossible
    text = "\n\n".join([FOX, *["Nothing else happened on that day in the village."] * 200])
    long = context.answer(WHO, text, doc_stride=128)
    assert long.window_count > 3 and long.no_answer_threshold > context.info.no_answer_threshold
    assert context.answer(WHO, text, max_windows=-1).no_answer_threshold == context.info.no_answer_threshold
