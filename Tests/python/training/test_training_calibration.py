"""training/qa/calibrate.py and what it uses: thresholds, probabilities, the card, and the library with them."""

import argparse
import json
import math
import random
import shutil
import subprocess
import sys

import pytest

import accuracy
from conftest import PREFIX, ROOT, SAMPLE
from qa import calibrate, calibration, card, chances
from qa.curve import svg, thinned
from questions import question
from samples import FOX

# Thresholds and probabilities


def row(gap, f1=0.0, answerable=True, probability=0.5, no_answer=0.5, source="s", windows=1, rise=0.0):
    return accuracy.Measured(
        source, answerable, float(f1 == 1), f1, gap, "", gap, 0.0, probability, no_answer, windows, rise
    )


def test_the_threshold_weighs_both_kinds_alike():
    # Nine answerable questions and one unanswerable: overall F1 would answer all, the balanced mean rejects it.
    rows = [row(gap, 1.0) for gap in range(2, 11)] + [row(3.5, answerable=False)]
    threshold, score = calibration.balanced_threshold(rows)
    assert threshold == 3.75 and score == pytest.approx(0.5 * 7 / 9 + 0.5)
    assert accuracy.best_threshold([(r.gap, r.f1, float(not r.answerable)) for r in rows]) == (2, 0.9)
    assert accuracy.best_threshold([(1, 1, 0), (1, 0, 1), (0, 1, 0)]) == (0, 2 / 3)
    f1, kept, rejected = calibration.at_threshold(rows, threshold)
    assert (f1, kept, rejected) == (0.8, 7 / 9, 1.0)
    # One of two unanswerable questions is answered, because two answerable ones have less.
    rows = [row(gap, 1.0) for gap in (3, 1, 0)] + [row(2, answerable=False), row(-1, answerable=False)]
    assert calibration.balanced_threshold(rows) == (-0.5, pytest.approx(0.75))


def test_the_threshold_costs_no_source_more_than_the_limit():
    wiki = [row(gap, 1.0, source="wiki") for gap in range(10, 20)] + [row(9, answerable=False, source="wiki")]
    forum = [row(gap, 1.0, source="forum") for gap in range(10)] + [row(-9, 0.0, source="forum")]
    assert calibration.balanced_threshold(wiki + forum)[0] == 9.5
    # 2 of the forum's 11 answers may be lost: those with the gaps -9 (worth nothing), 0 and 1.
    assert calibration.chosen_threshold(wiki + forum, 0.2) == 2
    assert calibration.chosen_threshold(wiki + forum, 0.0) == 0
    assert calibration.chosen_threshold(wiki + forum, 1.0) == 9.5


def test_thresholds_at_the_ends():
    bad = [row(1, 0.0), row(2, answerable=False)]
    assert calibration.balanced_threshold(bad) == (3, 0.5)
    assert calibration.at_threshold(bad, 3)[1:] == (0, 1)
    good = [row(1, 1.0), row(0, 1.0), row(-5, answerable=False)]
    assert calibration.balanced_threshold(good) == (-2.5, 1.0)
    ties = [row(1, 1.0), row(1, answerable=False)]
    assert calibration.balanced_threshold(ties)[1] == 0.5
    with pytest.raises(ValueError, match="one kind is missing"):
        calibration.balanced_threshold(good[:2])
    assert math.isnan(calibration.at_threshold(good[:2], 0)[2])


def test_calibration_error():
    assert calibration.calibration_error([0.5] * 4, [1, 0, 1, 0]) == 0
    assert calibration.calibration_error([0.9] * 4, [1, 0, 0, 0]) == pytest.approx(0.65)
    assert calibration.calibration_error([1.0, 0.0], [1, 0]) == 0
    # Errors in different bins do not cancel.
    assert calibration.calibration_error([0.1, 0.9], [1, 0]) == pytest.approx(0.9)
    assert calibration.calibration_error([0.5, 0.5], [1, 0], [3, 1]) == pytest.approx(0.25)


def test_log_loss():
    assert calibration.log_loss([0.5, 0.5], [1, 0]) == pytest.approx(math.log(2))
    assert calibration.log_loss([0.0], [1]) == calibration.WORST_LOSS
    rows = [row(1, 1.0, probability=1.0, no_answer=0.0), row(0, answerable=False, probability=0.0, no_answer=1.0)]
    assert calibration.log_loss(*calibration.answer_calibration(rows)) == 0
    assert calibration.log_loss(*calibration.no_answer_calibration(rows)) == 0


@pytest.mark.parametrize("best", [0.4, 1.0, 1.7, 3.0])
def test_the_temperature_search_finds_a_minimum(best):
    tried = []

    def loss(temperature):
        tried.append(temperature)
        return math.log(temperature / best) ** 2

    assert abs(math.log(calibration.best_temperature(loss) / best)) <= math.log(1.15) / 2 + 1e-9
    assert len(tried) == len(set(tried)) <= 13


def test_equations_are_solved():
    assert chances.solved([[4, 1], [1, 3]], [1, 2]) == pytest.approx([1 / 11, 7 / 11])


def drawn(count, slope, midpoint, rise, answerable=0.5, seed=1):
    """Rows of documents of 1 to 100 windows, answerable with the probability of these parameters."""
    generator = random.Random(seed)
    rows = []
    for _ in range(count):
        windows = generator.choice([1, 10, 100])
        gap = generator.uniform(-8, 12)
        chance = chances.sigmoid(slope * (gap - midpoint - rise * math.log(windows)))
        rows.append(row(gap, answerable=generator.random() < chance, windows=windows, probability=0.8))
    return rows


def test_the_regression_finds_what_data_were_drawn_with():
    rows = drawn(6000, 0.6, -1.0, 0.9)
    share = sum(r.answerable for r in rows) / len(rows)
    found = chances.fitted(rows, 0.9, share)
    assert found.slope == pytest.approx(0.6, rel=0.1) and found.midpoint == pytest.approx(-1.0, abs=0.3)
    # A model that raises its threshold already is measured with gaps that are less it.
    less = [r._replace(gap=r.gap - 0.5, rise=0.5) for r in rows]
    assert chances.fitted(less, 0.9, share) == pytest.approx(found)


def test_the_rise_is_that_of_gaps_with_the_windows():
    generator = random.Random(2)
    sizes = [
        [row(generator.gauss(2 if answerable else -2, 2.5) + 0.9 * math.log(windows), answerable=answerable, windows=windows)
         for answerable in (True, False, False) for _ in range(count)]
        for windows, count in ((1, 2000), (10, 1000), (100, 400))
    ]  # fmt: skip
    rise = chances.fitted_rise(sizes, 0.5)
    assert rise == pytest.approx(0.9, abs=0.1)
    # A size counts the same with twice the rows.
    assert chances.fitted_rise([sizes[0] * 2, *sizes[1:]], 0.5) == pytest.approx(rise, abs=1e-4)
    less = [[r._replace(gap=r.gap - 0.5, rise=0.5) for r in rows] for rows in sizes]
    assert chances.fitted_rise(less, 0.5) == pytest.approx(rise)


def test_windows_that_lower_the_gap_do_not_lower_the_threshold():
    sizes = [[row(gap - math.log(windows), answerable=gap > limit, windows=windows)
              for gap in range(-9, 10) for limit in (-2, 2)] for windows in (1, 9)]  # fmt: skip
    assert chances.fitted_rise(sizes, 0.5) == 0


def test_the_share_of_answerable_questions_moves_the_midpoint_alone():
    rows = drawn(4000, 0.6, -1.0, 0)
    even, most = (chances.fitted(rows, 0.0, share) for share in (0.5, 0.8))
    assert most.slope == pytest.approx(even.slope, rel=0.1)
    assert even.slope * (even.midpoint - most.midpoint) == pytest.approx(math.log(4), rel=0.1)


def test_chances_are_those_of_the_library():
    found = chances.Chances(0.5, -1.0, 2.0)
    (one, many) = chances.with_chances([row(3.0, probability=0.8), row(3.0, probability=0.8, windows=10)], found)
    assert one.no_answer_probability == pytest.approx(1 / (1 + math.exp(2)))
    assert one.probability == pytest.approx(0.8 / (1 + math.exp(-2))) and (one.gap, one.rise) == (3.0, 0.0)
    assert many.rise == pytest.approx(2 * math.log(10)) and many.gap == pytest.approx(3 - 2 * math.log(10))
    assert many.no_answer_probability == pytest.approx(1 / (1 + math.exp(0.5 * (many.gap + 1))))
    nothing = row(-math.inf, answerable=False, probability=0.0)
    assert chances.with_chances([nothing], found)[0].no_answer_probability == 1


def test_calibrated_chances_have_little_error():
    rows = drawn(4000, 0.6, -1.0, 0)
    mixed = chances.cross_fitted(rows, 0.0, sum(r.answerable for r in rows) / len(rows))
    assert len(mixed) == len(rows) and all(a.answerable == b.answerable for a, b in zip(mixed, rows))
    assert calibration.calibration_error(*calibration.no_answer_calibration(rows)) > 0.05
    assert calibration.calibration_error(*calibration.no_answer_calibration(mixed)) < 0.05


def test_kinds_that_take_turns_are_in_both_halves():
    rows = [row(gap, answerable=place % 2 == 0) for place, gap in enumerate([3, -2, 2, 0, 2, -1, 1, 1, 4, -3])]
    honest = chances.cross_fitted(rows, 0.0, 0.5)
    assert [(r.gap, r.answerable) for r in honest] == [(r.gap, r.answerable) for r in rows]


def test_both_kinds_of_questions_are_needed():
    with pytest.raises(ValueError, match="one kind is missing"):
        chances.fitted([row(1), row(2)], 0.0, 0.5)
    backwards = [row(gap, answerable=gap < 0) for gap in range(-5, 5)]
    with pytest.raises(SystemExit, match="nothing to calibrate"):
        chances.fitted(backwards, 0.0, 0.5)


def test_separable_questions_give_finite_numbers():
    found = chances.fitted([row(gap, answerable=gap > 0) for gap in range(-5, 6)], 0.0, 0.5)
    assert math.isfinite(found.slope) and -1 < found.midpoint < 2


def test_risk_and_coverage():
    rows = [row(3, 1.0), row(2, 0.5), row(1, answerable=False), row(0, 1.0)]
    assert calibration.risk_coverage(rows) == [(0.25, 0), (0.5, 0.5), (0.75, pytest.approx(2 / 3)), (1, 0.5)]


# The card


def test_the_curve_is_an_image_of_all_curves():
    from xml.etree import ElementTree

    curve = [(i / 1000, 0.5) for i in range(1, 1001)]
    assert len(thinned(curve)) <= 202 and thinned(curve)[-1] == (1, 0.5)
    picture = ElementTree.fromstring(svg({"Q&A <old>": curve, "b": [(0.5, 0.0), (1.0, 1.0)]}))
    assert len(picture.findall("{*}polyline")) == 2 and picture.findall("{*}text")[-2].text == "Q&A <old>"


def card_text(tmp_path):
    arguments = argparse.Namespace(
        out=str(tmp_path), passes=1, learning_rate=5e-5, floor=0.0, warmup_steps=100, dropout=0.1, attention_dropout=0.0,
        weight_decay=0.01, batch_tokens=6144, max_length=384, overlap=128, seed=1, mix=["/somewhere/old=0.25"], max_loss=0.08)  # fmt: skip
    squad = [row(3, 1.0, source="wiki"), row(-2, 0.5, source="wiki"), row(-1, answerable=False, source="wiki-no")]
    reviews = [row(2, 1.0, source="reviews"), row(1, 1.0, source="reviews")]
    sets = [("squad_dev", squad), ("shift_dev", reviews)]
    long = {
        (1, "answerable"): [row(3, 1.0), row(-2, 0.5)], (1, "related"): [row(2, answerable=False)], (1, "absent"): [row(0, answerable=False)],
        (9, "answerable"): [row(0.2, 1.0, windows=9, rise=1.0), row(4, 0.5, windows=9, rise=1.0)],
        (9, "related"): [row(0.2, answerable=False, windows=9, rise=1.0)], (9, "absent"): [],
    }  # fmt: skip
    found = calibrate.Calibrated(0.25, chances.Chances(0.5, -1.0, 0.7), 0.6, 0.75, sets, sets, long)
    card.write(tmp_path, arguments, card.Facts([50, 100], 1.5, found, {"int8": sets, "f32": sets}), accuracy)
    return (tmp_path / "MODEL_CARD.md").read_text(), (tmp_path / card.CURVE).read_text()


def test_the_card_has_every_set_and_threshold(tmp_path):
    text, picture = card_text(tmp_path)
    assert text.count("| squad_dev, all | 3 | 50.00 | 75.00 | 66.67 |") == 2
    assert text.count("| reviews | 2 | 100.00 | 100.00 | 100.00 | – |") == 2
    assert "| 0.25 | 100.0 % kept | 50.0 % kept | 100.0 % rejected |" in text
    assert "steps 50, 100; with 0.25 of old." in text and card.CURVE in text
    assert "It rises by 0.700 · ln(windows)." in text and "as if 75 % of the questions were answerable" in text
    # Right in 3 of 5 cases, said to be so with 0.5; 1 of 5 unanswerable.
    assert "| squad_dev | 0.167 | 0.167 | 0.167 | 0.167 |" in text and "| reviews | 0.500 | 0.500 |" in text
    assert "| all | 0.100 | 0.100 | 0.300 | 0.300 |" in text
    assert "| all, both kinds alike | 0.125 | 0.125 | 0.000 | 0.000 |" in text
    assert "| 1 | 2 + 1 + 1 | fixed | 50.00 | 100.00 | 0.00 | 50.00 | – | – |" in text
    assert "| 9 | 2 + 1 + 0 | fixed | 100.00 | 100.00 | – | 75.00 | – | – |" in text
    assert "| 9 | 2 + 1 + 0 | rising | 50.00 | 0.00 | – | 25.00 | 0.125 | 0.250 |" in text
    assert ">squad_dev<" in picture and ">reviews<" in picture and ">wiki-no<" not in picture


def test_a_set_without_unanswerable_questions_gets_other_passages():
    asked = [
        {"context": f"passage {n // 2}", "source": "s", **question(str(n), "Who?", ("p", 0))} for n in range(6)
    ]
    alone = {"context": "alone", "source": "t", **question("7", "Who?", ("a", 0))}
    sample = calibrate.sampled([*asked, *({**alone, "answers": []} for _ in range(4))], 3, random.Random(1))
    assert [len(q["answers"]) for q in sample] == [1, 1, 1, 0, 0]
    assert calibrate.sampled(asked, 9, random.Random(1)) == asked
    both = calibrate.with_other_passages([*asked, alone], random.Random(1))
    assert both[:7] == [*asked, alone] and len(both) == 13
    for before, after in zip(asked, both[7:]):
        assert after["answers"] == [] and after["question"] == before["question"]
        assert after["context"] != before["context"] and after["source"] == "s" + calibrate.PAIRED
    written = [*asked, {**alone, "answers": []}]
    assert calibrate.with_other_passages(written, random.Random(1)) == written
    rows = [row(0, source=q["source"], answerable=bool(q["answers"])) for q in both]
    named = card.groups([("shift", rows)])
    assert {name: len(part) for name, part in named.items()} == {"s": 12, "t": 1}
    assert {name: len(part) for name, part in card.curve_sets([("shift", rows)]).items()} == {"s": 6, "t": 1}
    assert {
        name: len(part) for name, part in card.groups([("squad", rows[:6] + [row(0, answerable=False)])]).items()
    } == {"squad": 7}


def calibrated_copy(tmp_path, *options):
    """The output of `calibrate_qa.py` for a copy of the default model, and the copy's new config.json."""
    data = SAMPLE / "squad_sample.jsonl"
    result = subprocess.run(
        [sys.executable, ROOT / "training" / "calibrate_qa.py", tmp_path / "model", "--dev", data, "--card", tmp_path / "card",
         "--rows", tmp_path / "rows", "--span-temperature", "0.8", "--long-questions", "3", "--windows", "1", "3", *options],
        capture_output=True, text=True, check=True)  # fmt: skip
    return result.stdout, json.loads((tmp_path / "model" / "config.json").read_text())["bertqa"]


def test_calibrating_a_model_that_is_there(tmp_path):
    shutil.copytree(PREFIX / "share" / "bertqa" / "models" / "qa-minilm-l6", tmp_path / "model")
    calibrate.set_own(tmp_path / "model", threshold_rise=9, calibration=None, no_answer_threshold=5)
    weights = (tmp_path / "model" / "model.safetensors").read_bytes()
    text, own = calibrated_copy(tmp_path)
    assert (tmp_path / "card" / "calibration.md").read_text() == text and (tmp_path / "card" / card.CURVE).exists()
    assert own["weight_format"] == "int8" and (tmp_path / "model" / "model.safetensors").read_bytes() == weights
    assert own["calibration"]["span_temperature"] == 0.8 and 0.1 < own["calibration"]["slope"] < 3
    assert -5 < own["no_answer_threshold"] < 5 and 0 <= own["threshold_rise"] < 3
    assert text.count("\n| 3 | 3 + 3 + 3 | rising |") == 1

    # The model's outputs are stored: the same command reads them, also with other settings of what follows.
    def stored():
        return {path: path.stat().st_mtime_ns for path in (tmp_path / "rows").iterdir()}

    before = stored()
    assert calibrated_copy(tmp_path) == (text, own)
    _, fixed = calibrated_copy(tmp_path, "--rise", "0.5", "--answerable-share", "0.5")
    assert fixed["threshold_rise"] == 0.5 and fixed["calibration"]["midpoint"] > own["calibration"]["midpoint"]
    assert stored() == before and all(path.suffix == ".jsonl" for path in before)
    # Without success, the model stays as it is.
    before_config = (tmp_path / "model" / "config.json").read_bytes()
    (tmp_path / "card" / "calibration.md").unlink()
    (tmp_path / "card" / "calibration.md").mkdir()
    with pytest.raises(subprocess.CalledProcessError):
        calibrated_copy(tmp_path, "--rise", "0.7")
    assert (tmp_path / "model" / "config.json").read_bytes() == before_config
    (tmp_path / "card" / "calibration.md").rmdir()
    # Another model's are others.
    (tmp_path / "model" / "model.safetensors").write_bytes(weights + bytes(8))
    with pytest.raises(subprocess.CalledProcessError):
        calibrated_copy(tmp_path)
    assert stored() == before


def test_sets_that_cannot_be_calibrated_on_are_refused(tmp_path):
    def written(name, *answers):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        lines = [
            json.dumps({"context": text, **question("1", "Who?", *answers)}) + "\n" for text in (FOX, FOX + FOX)
        ]
        path.write_text("".join(lines))
        return str(path)

    one, no, other = (
        written("a/dev.jsonl", ("fox", 16)),
        written("a/no.jsonl"),
        written("b/dev.jsonl", ("fox", 16)),
    )
    options = argparse.Namespace(threshold=None, questions=None, long_questions=60)
    assert [name for name, _ in calibrate.read_sets([one, no], options)] == ["dev", "no"]
    with pytest.raises(SystemExit, match="two files have the same name"):
        calibrate.read_sets([one, no, other], options)
    with pytest.raises(SystemExit, match="set the --threshold"):
        calibrate.read_sets([one], options)
    options.threshold = 1.0
    # Each question has the other's passage, too.
    assert calibrate.read_sets([one], options)
    with pytest.raises(SystemExit, match="two questions with answers and two without"):
        calibrate.read_sets([no], options)
    lines = [json.dumps({"context": FOX, **question("1", "Who?", *a)}) + "\n" for a in ([("fox", 16)], []) * 2]
    (tmp_path / "one.jsonl").write_text("".join(lines))
    with pytest.raises(SystemExit, match="about one passage"):
        calibrate.read_sets([str(tmp_path / "one.jsonl")], options)
    options.long_questions = 0
    assert calibrate.read_sets([str(tmp_path / "one.jsonl")], options)
    (tmp_path / "one.jsonl").write_text("".join(lines[:3]))
    with pytest.raises(SystemExit, match="two questions with answers and two without"):
        calibrate.read_sets([str(tmp_path / "one.jsonl")], options)


def test_the_library_gives_the_fitted_chances(tmp_path):
    """The program fits shares and gaps of a model without calibration; with its numbers the library returns the
    same."""
    import bertqa

    shutil.copytree(PREFIX / "share" / "bertqa" / "models" / "qa-minilm-l6", tmp_path / "model")
    data = SAMPLE / "squad_sample.jsonl"
    questions = accuracy.read(data)[:12]
    own = calibrate.members(-0.5, chances.Chances(0.45, -1.2, 0.6), 0.8)
    calibrate.set_own(tmp_path / "model", **calibrate.members(0.0, calibrate.SHARE_ALONE, 0.8))
    with bertqa.Context(tmp_path / "model") as context:
        plain = accuracy.measured(context, questions, max_seq_len=64, doc_stride=16)
    expected = chances.with_chances(
        [r._replace(probability=calibrate.shared(r)) for r in plain], chances.Chances(0.45, -1.2, 0.6)
    )
    calibrate.set_own(tmp_path / "model", **own)
    with bertqa.Context(tmp_path / "model") as context:
        found = accuracy.measured(context, questions, max_seq_len=64, doc_stride=16)
    assert max(r.windows for r in found) > 3
    for one, other in zip(found, expected, strict=True):
        assert (one.text, one.windows) == (other.text, other.windows)
        for name in ("gap", "rise", "probability", "no_answer_probability"):
            assert getattr(one, name) == pytest.approx(getattr(other, name), abs=1e-5), name


def test_accuracy_prints_one_table_for_all_sets(tmp_path):
    lines = [{"context": FOX, "source": "foxes", **question("1", "Who jumps over the dog?", ("fox", 16))},
             {"context": FOX, "source": "no foxes", **question("2", "Who wrote the letter?")}]  # fmt: skip
    for name, part in (("one", lines), ("two", lines[:1])):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in part))
    result = subprocess.run(
        [sys.executable, ROOT / "Benchmarks" / "accuracy.py", tmp_path / "one.jsonl", tmp_path / "two.jsonl",
         "--json", tmp_path / "out.jsonl"], capture_output=True, text=True, check=True)  # fmt: skip
    table = [line.split("  ")[0] for line in result.stdout.splitlines()[1:]]
    assert table == ["set", "foxes", "no foxes", "one, all", "foxes"]
    assert [json.loads(line)["id"] for line in open(tmp_path / "out.jsonl")] == ["1", "2", "1"]
