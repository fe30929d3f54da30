"""training/: the steps before and after the arithmetic and, with torch, the loop itself."""

import argparse
import collections
import datetime
import json
import lzma
import math
import random
import shutil
import subprocess
import sys

import pytest

from conftest import FIXTURES, PREFIX, ROOT, SAMPLE
from samples import FOX

sys.path[:0] = [str(ROOT / "training"), str(ROOT / "Benchmarks")]

import accuracy  # noqa: E402
from common.batches import balanced_order, padded_length, padding_share, token_batches  # noqa: E402
from common.checkpoints import latest_checkpoint, remove_old_checkpoints, snapshots  # noqa: E402
from common.schedule import learning_rate  # noqa: E402
from qa import balance, calibrate, calibration, card, chances  # noqa: E402
from qa.curve import svg, thinned  # noqa: E402
from qa.examples import chosen_answer, read_examples, with_article  # noqa: E402
from qa.windows import Layout, Part, parts, token_range  # noqa: E402


def question(id, text, *answers, **more):
    return {"id": id, "question": text, "answers": [{"text": a, "answer_start": s} for a, s in answers], **more}


# Files of questions


def test_squad_json_and_both_forms_of_lines_are_read(tmp_path):
    qas = [question("1", "Who?", ("quick brown fox", 4)), question("2", "Why?", ("fox", 16), is_impossible=True)]
    (tmp_path / "a.json").write_text(json.dumps({"data": [{"paragraphs": [{"context": FOX, "qas": qas}]}]}))
    (tmp_path / "b.jsonl").write_text(json.dumps({"context": FOX, "qas": qas, "source": "foxes"}) + "\n\n")
    with lzma.open(tmp_path / "c.jsonl.xz", "wt") as file:
        for item in qas:
            print(json.dumps({**item, "context": FOX, "source": "foxes"}), file=file)
    a, b, c = (read_examples(str(tmp_path / name)) for name in ("a.json", "b.jsonl", "c.jsonl.xz"))
    assert [(e.id, e.question, e.answer) for e in a] == [("1", "Who?", (0, 19)), ("2", "Why?", None)]
    assert b == c and [(e.source, e.answer) for e in b] == [("foxes", (0, 19)), ("foxes", None)]
    assert read_examples(str(tmp_path / "a.json"), articles=False)[0].answer == (4, 19)


def test_an_answer_that_is_not_in_its_place_is_refused(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"context": FOX, **question("7", "Who?", ("fox", 4))}))
    with pytest.raises(ValueError, match="'7': the answer 'fox' is not at answer_start 4"):
        read_examples(str(path))
    path.write_text("\n")
    with pytest.raises(ValueError, match="no questions"):
        read_examples(str(path))


def test_the_most_frequent_answer_is_chosen():
    answers = question("", "", ("quick brown fox", 4), ("fox", 16), ("fox", 16))["answers"]
    assert chosen_answer(FOX, answers, "") == (16, 19)
    assert chosen_answer(FOX, answers[:2], "") == (4, 19)
    assert chosen_answer(FOX, [], "") is None


@pytest.mark.parametrize(
    "context, answer, expected",
    [
        (FOX, "quick brown fox", "The quick brown fox"),
        (FOX, "lethargic dog", "the lethargic dog"),
        (FOX, "dog", "dog"),
        ("An old man sat.", "old man", "An old man"),
        ("It lathe big dog.", "big dog", "big dog"),
        ("In the 1960 Olympics", "1960 Olympics", "1960 Olympics"),
        ("Anna a b", "a b", "a b"),
    ],
)
def test_articles(context, answer, expected):
    start = context.index(answer)
    first, end = with_article(context, (start, start + len(answer)))
    assert context[first:end] == expected
    # SQuAD's scores do not change.
    assert accuracy.normalized(expected) == accuracy.normalized(answer)


# Windows and labels

OFFSETS = [(0, 3), (4, 9), (10, 15), (16, 19), (19, 20)]


@pytest.mark.parametrize(
    "answer, expected",
    [((4, 19), (1, 3)), ((0, 3), (0, 0)), ((5, 6), (1, 1)), ((3, 9), (1, 1)), ((19, 20), (4, 4)), ((3, 4), None)],
)
def test_token_range(answer, expected):
    assert token_range(OFFSETS, answer) == expected


def test_one_part():
    assert parts(3, (1, 2), room=10, overlap=4) == [Part(0, 3, 1, 2)]
    assert parts(3, None, room=10, overlap=4) == [Part(0, 3, -1, -1)]
    assert parts(0, None, room=10, overlap=4) == [Part(0, 0, -1, -1)]


def test_parts_share_the_overlap_and_label_only_whole_answers():
    found = parts(20, (6, 7), room=8, overlap=3)
    assert found == [Part(0, 8, 6, 7), Part(5, 8, 1, 2), Part(10, 8, -1, -1), Part(15, 5, -1, -1)]
    found = parts(20, (7, 9), room=8, overlap=3)
    assert [(part.start, part.end) for part in found] == [(-1, -1), (2, 4), (-1, -1), (-1, -1)]
    with pytest.raises(ValueError, match="leave 8 tokens for the passage"):
        parts(20, None, room=8, overlap=8)


@pytest.mark.parametrize("name, separators, second_type", [("tiny-bert", 1, 1), ("tiny-roberta", 2, 0)])
def test_the_layout_is_that_of_the_template(name, separators, second_type):
    pytest.importorskip("tokenizers")
    from common.models import load_tokenizer

    tokenizer = load_tokenizer(str(FIXTURES / name))
    layout = Layout.of(tokenizer)
    assert (layout.separators, layout.second_type) == (separators, second_type)
    pair = tokenizer.encode("a a", "a")
    assert pair.ids[0] == layout.cls and pair.ids[-1] == layout.sep
    first = pair.sequence_ids.index(1)
    assert first == layout.context_start(pair.sequence_ids.count(0))
    assert len(pair.ids) == pair.sequence_ids.count(0) + pair.sequence_ids.count(1) + layout.specials


# Order and batches

SOURCES = ["wiki"] * 600 + ["reviews"] * 300 + ["forum"] * 100


def test_every_prefix_of_the_order_has_all_sources():
    order = balanced_order(SOURCES, {}, 1, seed=5)
    assert sorted(order) == list(range(1000))
    for length in (100, 250, 500):
        counts = collections.Counter(SOURCES[i] for i in order[:length])
        for source, share in (("wiki", 0.6), ("reviews", 0.3), ("forum", 0.1)):
            assert abs(counts[source] - share * length) <= 2
    assert balanced_order(SOURCES, {}, 1, seed=5) == order != balanced_order(SOURCES, {}, 1, seed=6)


def test_weights_and_passes():
    order = balanced_order(SOURCES, {"forum": 2.5, "wiki": 0.5}, 2, seed=1)
    counts = collections.Counter(order)
    assert collections.Counter(SOURCES[i] for i in order) == {"wiki": 600, "reviews": 600, "forum": 500}
    assert {counts[i] for i in range(900, 1000)} == {5} and {counts[i] for i in range(600)} == {1}


def test_batches_hold_everything_once_within_their_tokens():
    lengths = [20 + 37 * i % 300 for i in range(1000)]
    order = balanced_order(SOURCES, {}, 1, seed=3)
    batches = token_batches(order, lengths, tokens=2048, multiple=16, seed=3, pool=8)
    assert sorted(i for batch in batches for i in batch) == list(range(1000))
    for batch in batches:
        assert len(batch) * padded_length(max(lengths[i] for i in batch), 16) <= 2048
    unsorted = [order[i : i + 8] for i in range(0, 1000, 8)]
    assert padding_share(batches, lengths, 16) < 0.4 * padding_share(unsorted, lengths, 16)
    # Batches of the first pool have the first questions only: a prefix of the run is a prefix of the order.
    total, first = 0, set()
    for index in order:
        if total >= 8 * 2048:
            break
        first.add(index)
        total += padded_length(lengths[index], 16)
    seen = set()
    for batch in batches:
        if seen >= first:
            break
        seen |= set(batch)
    assert seen == first
    # One that is longer than a batch is a batch of its own.
    assert sorted(token_batches([0, 1], [500, 20], 100, 16, seed=1)) == [[0], [1]]


def test_padding_share():
    assert padding_share([[0, 1], [2]], [10, 16, 32], 16) == 1 - 58 / 64


def test_learning_rate():
    assert learning_rate(0, 0, 1.0, 10) == pytest.approx(0.1)
    assert learning_rate(0.25, 10, 2.0, 10) == pytest.approx(1.5)
    assert learning_rate(1, 500, 2.0, 10) == 0
    assert learning_rate(0.5, 0, 1.0, 0) == 0.5
    rates = [learning_rate(progress, 10, 2.0, 10, floor=0.4) for progress in (0.5, 0.6, 0.75, 0.9, 0.95, 1)]
    assert rates == pytest.approx([1, 0.8, 0.8, 0.8, 0.4, 0])


# Balance by kind of text


def test_kinds_join_the_sources_of_one_text():
    assert balance.kind("squad-v2.0-train-unanswerable") == balance.kind("squad-v1.1-train") == "squad"
    assert balance.kind("squad-v1.1-train-crossparagraph-synthetic") == "squad"
    assert balance.kind("squadshifts-reddit-crosspassage-synthetic") == balance.kind("squadshifts-reddit")
    assert balance.kind("tickets") == "tickets"


def test_texts_that_are_always_answered_are_reported():
    rows = [("reviews", True)] * 95 + [("reviews-unanswerable", False)] * 5 + [("wiki", True), ("wiki", False)]
    table = balance.balance(rows)
    assert table == [("reviews", 95, 5), ("wiki", 1, 1)]
    assert balance.one_sided(table) == ["reviews"]
    assert "warning: reviews" in balance.report(table) and "warning: wiki" not in balance.report(table)


# Files of a run


def test_checkpoints(tmp_path):
    assert latest_checkpoint(str(tmp_path)) is None
    for name in ("checkpoint-000900.pt", "checkpoint-001000.pt", "checkpoint-1000000.pt", "checkpoint-2000000.pt.part",
                 "weights-000200.safetensors", "weights-000100.safetensors", "log.jsonl"):  # fmt: skip
        (tmp_path / name).touch()
    assert latest_checkpoint(str(tmp_path)).endswith("checkpoint-1000000.pt")
    remove_old_checkpoints(str(tmp_path), keep=2)
    assert not (tmp_path / "checkpoint-000900.pt").exists() and (tmp_path / "checkpoint-001000.pt").exists()
    assert [path[-18:-12] for path in snapshots(str(tmp_path))] == ["000100", "000200"]


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
    f1, kept, rejected = calibration.at_threshold(rows, threshold)
    assert (f1, kept, rejected) == (0.8, 7 / 9, 1.0)


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


def test_both_kinds_of_questions_are_needed():
    with pytest.raises(ValueError, match="one kind is missing"):
        chances.fitted([row(1), row(2)], 0.0, 0.5)
    backwards = [row(gap, answerable=gap < 0) for gap in range(-5, 5)]
    with pytest.raises(ValueError, match="nothing to calibrate"):
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
    picture = ElementTree.fromstring(svg({"a": curve, "b": [(0.5, 0.0), (1.0, 1.0)]}))
    assert len(picture.findall("{*}polyline")) == 2


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
    card.write(arguments, card.Facts([50, 100], 1.5, "", found, {"int8": sets, "f32": sets}), accuracy)
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
    # The model's outputs are stored: the same command finds the same result without the model.
    for path in (tmp_path / "rows").iterdir():
        assert path.suffix == ".jsonl"
    (tmp_path / "model" / "model.safetensors").unlink()
    assert calibrated_copy(tmp_path) == (text, own)
    _, fixed = calibrated_copy(tmp_path, "--rise", "0.5", "--answerable-share", "0.5")
    assert fixed["threshold_rise"] == 0.5 and fixed["calibration"]["midpoint"] > own["calibration"]["midpoint"]


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
    for one, other in zip(found, expected):
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


# Checkpoints as files


def test_the_mean_of_checkpoints(tmp_path):
    numpy = pytest.importorskip("numpy")
    safetensors = pytest.importorskip("safetensors.numpy")
    from common.averaging import averaged, mixed, with_temperature

    for name, value in (("a", 1.0), ("b", 4.0)):
        safetensors.save_file({"w": numpy.full((2, 2), value, numpy.float16),
                               "qa_outputs.bias": numpy.full(2, value, numpy.float16)}, tmp_path / name)  # fmt: skip
    safetensors.save_file({"w": numpy.zeros((2, 2), numpy.float16)}, tmp_path / "c")
    paths = [str(tmp_path / "a"), str(tmp_path / "b")]
    mean = averaged(paths)
    assert mean["w"].dtype == numpy.float32 and (mean["w"] == 2.5).all()
    (tmp_path / "model").mkdir()
    (tmp_path / "b").rename(tmp_path / "model" / "model.safetensors")
    assert numpy.allclose(mixed(averaged(paths[:1]), [f"{tmp_path / 'model'}=0.25"])["w"], 1.75)
    cooled = with_temperature(mean, 2)
    assert (cooled["w"] == 2.5).all() and (cooled["qa_outputs.bias"] == 1.25).all()
    with pytest.raises(ValueError, match="c: other tensors"):
        averaged([paths[0], str(tmp_path / "c")])


def test_our_int8_form_is_averaged_by_its_values(tmp_path):
    numpy = pytest.importorskip("numpy")
    safetensors = pytest.importorskip("safetensors.numpy")
    from common.averaging import averaged

    safetensors.save_file({"w.weight": numpy.array([[1, -2], [3, 4]], numpy.int8), "b": numpy.ones(2, numpy.float32),
                           "w.weight_scale": numpy.array([2.0, 0.5], numpy.float32),
                           "w.weight_sum": numpy.array([-1, 7], numpy.int32)}, tmp_path / "int8")  # fmt: skip
    safetensors.save_file({"w.weight": numpy.zeros((2, 2), numpy.float16), "b": numpy.zeros(2, numpy.float16)},
                          tmp_path / "f16")  # fmt: skip
    mean = averaged([str(tmp_path / "int8"), str(tmp_path / "f16")])
    assert mean["w.weight"].tolist() == [[1, -2], [0.75, 1]] and mean["b"].tolist() == [0.5, 0.5]
    assert set(mean) == {"w.weight", "b"}


# With torch


@pytest.fixture
def trainer(tmp_path):
    """A function that trains a tiny model and returns the arguments' state directory."""
    torch = pytest.importorskip("torch", reason="training/requirements.txt is not installed: no torch")
    pytest.importorskip("transformers", reason="training/requirements.txt is not installed: no transformers")
    import finetune_qa
    from qa.tokenized import Windows

    data = tmp_path / "data.jsonl"
    with open(data, "w") as file:
        for index in range(24):
            text = f"{'So it was said. ' * (index % 5)}{FOX}"
            start = text.index("The quick")
            answers = [] if index % 3 == 0 else [("The quick brown fox", start)]
            print(json.dumps({"context": text, "source": "foxes", **question(str(index), "Who jumps?", *answers)}),
                  file=file)  # fmt: skip

    def train(state, *more, stop=None):
        arguments = finetune_qa.parsed([
            "--data", str(data), "--init", str(FIXTURES / "tiny-bert"), "--state", str(tmp_path / state), "--cpu",
            "--batch-tokens", "256", "--max-length", "64", "--overlap", "8", "--learning-rate", "1e-3",
            "--warmup-steps", "2", "--log-steps", "1", "--snapshot-steps", "2", *more])  # fmt: skip
        (tmp_path / state).mkdir(exist_ok=True)
        if stop is None:
            finetune_qa.train(arguments)
            return tmp_path / state
        from qa import training

        step = training.Run._train_step

        def stopping(self, rate):
            loss = step(self, rate)
            self.stopped = self.step == stop
            return loss

        training.Run._train_step = stopping
        try:
            finetune_qa.train(arguments)
        finally:
            training.Run._train_step = step
        return tmp_path / state

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield train, Windows
    torch.set_num_threads(threads)


def log(state):
    return [json.loads(line) for line in (state / "log.jsonl").read_text().splitlines()]


def test_a_stopped_run_goes_on_to_the_same_weights(trainer):
    from safetensors.numpy import load_file

    train, _ = trainer
    whole, parts = train("whole", "--passes", "3"), train("parts", "--passes", "3", stop=3)
    assert log(parts)[-1]["step"] == 3
    train("parts", "--passes", "3")
    assert [line["loss"] for line in log(whole)] == [line["loss"] for line in log(parts)]
    last = snapshots(str(whole))[-1]
    ours, theirs = load_file(last), load_file(last.replace("whole", "parts"))
    assert all((ours[name] == theirs[name]).all() for name in ours)


def test_training_learns(trainer):
    train, _ = trainer
    losses = [line["loss"] for line in log(train("run", "--passes", "30", "--dropout", "0"))]
    assert sum(losses[-5:]) < 0.5 * sum(losses[:5])


def test_a_teacher_and_a_deadline_in_the_past(trainer, tmp_path):
    train, _ = trainer
    losses = [line["loss"] for line in log(train("run", "--teacher", str(FIXTURES / "tiny-bert")))]
    assert losses and all(math.isfinite(loss) for loss in losses)
    late = train("late", "--deadline", "2020-01-01T00:00")
    assert not (late / "log.jsonl").exists() and latest_checkpoint(str(late)).endswith("000000.pt")


def other_vocabulary(tokenizers):
    """tiny-bert's word pieces under other numbers, with MPNet's template."""
    pieces = (FIXTURES / "tiny-bert" / "vocab.txt").read_text().splitlines()
    tokenizer = tokenizers.BertWordPieceTokenizer(
        vocab={name: number for number, name in enumerate(["<s>", "<pad>", "</s>", *pieces])}
    )
    tokenizer._tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return tokenizer._tokenizer


def test_a_teacher_of_another_vocabulary_scores_the_same_tokens(trainer, tmp_path, monkeypatch):
    """The fake teacher's logits are its ids: 3 more than the student's."""
    import tokenizers
    import torch

    from qa import teacher

    train, Windows = trainer
    windows = Windows.load(str(next(train("run", "--deadline", "2020-01-01T00:00").glob("windows-*.npz"))))
    (tmp_path / "teacher").mkdir()
    other_vocabulary(tokenizers).save(str(tmp_path / "teacher" / "tokenizer.json"))
    monkeypatch.setattr(teacher, "TOKENS_AT_ONCE", 200)
    cpu, reads = torch.device("cpu"), []

    def fake(directory, theirs):
        def read(indices):
            reads.append(list(indices))
            ids, _, candidates, *_ = theirs.batch(indices, 16)
            assert (ids[:, 0] == 0).all() and (ids == 2).sum().item() == 3 * len(indices)
            return torch.stack([ids, -ids]).float(), candidates

        return read

    names = {"teacher": [str(tmp_path / "teacher")], "state": str(tmp_path), "init": str(FIXTURES / "tiny-bert")}
    arguments = argparse.Namespace(**names, length_multiple=16)
    used = range(3, len(windows))
    for _ in range(2):  # computed, then from the file
        found = teacher.teacher_logits(arguments, windows, used, cpu, fake)
        ids, _, candidates, *_ = windows.batch(used, 16)
        logits = found.batch(used, candidates)
        assert (logits[:, ~candidates] == -math.inf).all()
        inside = candidates.clone()
        inside[:, 0] = False
        assert (logits[0][inside] == ids[inside] + 3).all() and (logits[1] == -logits[0])[inside].all()
        assert (logits[:, :, 0] == 0).all()
    assert sorted(index for batch in reads for index in batch) == list(used) and len(reads) > 2

    (tmp_path / "less").mkdir()
    less = json.loads(other_vocabulary(tokenizers).to_str())
    del less["model"]["vocab"]["o"], less["model"]["vocab"]["##o"]
    (tmp_path / "less" / "tokenizer.json").write_text(json.dumps(less))
    with pytest.raises(SystemExit, match="lacks tokens"):
        arguments.teacher = [str(tmp_path / "less")]
        teacher.teacher_logits(arguments, windows, used, cpu, fake)


def test_competing_windows_share_one_softmax(trainer):
    """Each window counts from its own [CLS]; a shift of one window's logits changes nothing, of its [CLS] all."""
    import torch

    from qa.training import of_groups

    inf = math.inf
    logits = torch.tensor([[[1.0, 3.0, 2.0], [4.0, 5.0, -inf]], [[0.0, 1.0, -inf], [2.0, 2.0, 2.0]]])
    rows = of_groups(logits, 2)
    assert rows.tolist() == [[[0, 2, 1, -inf, 1, -inf]], [[0, 1, -inf, -inf, 0, 0]]]
    assert of_groups(logits, 1) is logits
    shifted = logits.clone()
    shifted[:, 1] += 7
    assert torch.equal(of_groups(shifted, 2), rows)


def test_a_run_with_competing_passages(trainer, tmp_path):
    """The batches hold them behind their question's window, and a model learns to prefer the right one."""
    import finetune_qa

    train, _ = trainer
    negatives = tmp_path / "negatives.jsonl"
    # Passages 0 to 4 differ in how often "So it was said." precedes; question 7 has none.
    lines = [
        {"id": str(index), "passages": [(index + 1) % 5, (index + 2) % 5]} for index in range(24) if index != 7
    ]
    negatives.write_text("".join(json.dumps(line) + "\n" for line in lines))
    options = ["--negatives", str(negatives), "--negatives-share", "1", "--competing", "2"]
    state = train("run", "--passes", "20", "--dropout", "0", *options)
    losses = [line["loss"] for line in log(state)]
    assert sum(losses[-5:]) < 0.7 * sum(losses[:5])

    arguments = finetune_qa.parsed([
        "--data", str(tmp_path / "data.jsonl"), "--init", str(FIXTURES / "tiny-bert"), "--state", str(state),
        "--max-length", "64", "--overlap", "8", "--batch-tokens", "256", *options])  # fmt: skip
    windows = finetune_qa.prepared(arguments)
    batches = finetune_qa.batches_of(range(windows.trained), windows, arguments)
    table = windows.arrays
    seen = []
    for batch in batches:
        assert batch.shape[1] in (1, 3)
        for index, *others in batch.tolist():
            seen.append(index)
            question = table["questions"][index]
            assert bool(others) == (question != 7)
            for other in others:
                assert other >= windows.trained and table["questions"][other] == question
                assert table["passages"][other] in lines[question - (question > 7)]["passages"]
                assert table["starts"][other] == -1
    assert sorted(seen) == list(range(windows.trained))


def test_passages_compete_by_words_and_by_vectors():
    """The best of both rankings first; never the own passage, nor one that holds the answer."""
    pytest.importorskip("sklearn")
    from qa.examples import Example
    from qa.passages import Collection, fused

    texts = ["The fox jumps high.", "The Fox sleeps.", "A hound runs.", "Foxes jump; the high fence.", "Rain."]
    vectors = {"Who jumps?": [1, 0], texts[0]: [1, 0], texts[1]: [0, 1], texts[2]: [0.9, 0.1], texts[3]: [0.5, 0.5],
               texts[4]: [-1, 0], "Why?": [0, 1]}  # fmt: skip

    class Context:
        def embed(self, texts):
            return [vectors[text] for text in texts]

    examples = [Example("1", "s", "Who jumps?", texts[0], (4, 7))]
    examples += [Example(str(n), "s", "Why?", text, None) for n, text in enumerate(texts[1:], 2)]
    first, *others = Collection(examples, Context()).competing(3)
    assert first == [2, 4]
    assert all(index + 1 not in found for index, found in enumerate(others))
    import numpy

    scores = numpy.array([[3.0, 2.0, 1.0, 0.0]])
    assert fused(scores, scores[:, ::-1], 2) == [[0, 3, 1, 2]]


def test_adversarial_embeddings_raise_the_loss_by_moves_of_one_size(trainer):
    """Afterwards the embeddings are unchanged; the padding does not move."""
    import torch

    from common.adversarial import AdversarialEmbeddings
    from qa.training import load_model, logits, loss_of

    train, Windows = trainer
    held = Windows.load(str(next(train("run", "--deadline", "2020-01-01T00:00").glob("windows-*.npz"))))
    ids, types, candidates, starts, ends = held.batch(range(24), 16)
    model = load_model(str(FIXTURES / "tiny-bert"), torch.device("cpu")).eval()
    embeddings = model.get_input_embeddings()
    still = embeddings(ids).detach()

    def loss():
        scores = logits(model, ids, types, candidates, held.layout.pad, torch.device("cpu"))
        return loss_of(scores, torch.stack([starts, ends]), None, 0, 1)

    adversary = AdversarialEmbeddings(embeddings, 0.25)
    before = loss()
    before.backward()
    adversary.move()
    moved = embeddings(ids).detach() - still
    assert moved.flatten(1).norm(dim=1).tolist() == pytest.approx([0.25] * 24, rel=1e-3)
    assert moved[ids == 0].abs().max() < 1e-6
    assert loss().item() > before.item()
    adversary.rest()
    assert (embeddings(ids) == still).all() and loss().item() == before.item()


def test_adversarial_training_learns_something_else(trainer):
    train, _ = trainer
    plain, hard = (log(train(name, "--passes", "30", "--dropout", "0", "--adversarial", size))
                   for name, size in (("plain", "0"), ("hard", "0.1")))  # fmt: skip
    losses = [line["loss"] for line in hard]
    assert sum(losses[-5:]) < 0.5 * sum(losses[:5])
    assert losses[0] == plain[0]["loss"] and losses != [line["loss"] for line in plain]


@pytest.mark.parametrize("progress", [3 / 15, 1.0])
def test_a_deadline_counts_from_where_the_run_goes_on(trainer, progress):
    """Also if a deadline ended the previous run: then from its step on."""
    import torch

    train, _ = trainer
    state = train("run", "--passes", "3", stop=3)
    path = latest_checkpoint(str(state))
    torch.save({**torch.load(path), "seconds": 1e6, "progress": progress}, path)
    hour = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)
    train("run", "--passes", "3", "--deadline", hour.isoformat())
    for line in log(state):
        assert line["progress"] == pytest.approx(line["step"] / line["of"], abs=0.02)
    assert log(state)[-1]["step"] == 15


def test_labels_point_at_the_answer(trainer, tmp_path):
    from common.models import load_tokenizer

    train, Windows = trainer
    state = train("run", "--deadline", "2020-01-01T00:00")
    held = Windows.load(str(next(state.glob("windows-*.npz"))))
    ids, types, candidates, starts, ends = held.batch(range(24), 16)
    assert ids.shape[1] % 16 == 0 and candidates[:, 0].all() and not candidates[ids == 0].any()
    tokenizer = load_tokenizer(str(FIXTURES / "tiny-bert"))
    answer = tokenizer.encode("The quick brown fox", add_special_tokens=False).ids
    for index in range(24):
        if index % 3 == 0:
            assert starts[index] == ends[index] == 0
        elif starts[index]:
            assert ids[index, starts[index] : ends[index] + 1].tolist() == answer
            assert candidates[index, starts[index]] and types[index, ends[index]] == 1
    assert (starts > 0).sum() >= 8
