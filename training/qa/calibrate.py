"""Settles what config.json says of a model's gaps and scores: the threshold, its rise with the number of windows, and
the calibration of the probabilities. Weights stay as they are."""

import collections
import json
import math
import os
import pathlib
import random
import sys
import tempfile

from common.files import digest, whole
from common.options import between, count, count_or_none, positive, share

from . import calibration, chances
from .examples import read_questions

# The temperature is chosen on about so many answerable questions: each trial answers them all.
TRIAL_QUESTIONS = 400
# A slope of next to nothing: every probability is half of the best span's share of the softmax.
SHARE_ALONE = chances.Chances(slope=1e-6, midpoint=0.0, rise=0.0)

# A source's questions, each with another of its passages.
PAIRED = ", other passage"

Calibrated = collections.namedtuple("Calibrated", "threshold chances span_temperature share sets honest long")
Calibrated.__doc__ = """The fitted numbers, and the results of the library with them.

share: the assumed share of answerable questions. sets: [(name, rows)], with questions that were paired with other passages.
honest: the same with chances that were fitted to the other half of all rows each. long: {kind: rows} of long documents.
"""


def calibrate(directory, sets, options, tools) -> Calibrated:
    """Returns what the config.json of the model in `directory` should have; `write_found` writes it.

    sets: [(name, questions)]. options: the program's (`add_options`). tools: the modules
    bertqa, accuracy and long_documents.
    """
    bertqa, accuracy, long_documents = tools
    questions = [question for _, part in sets for question in part]
    sets = asked_sets(sets, options)
    answerable = [question for question in questions if question["answers"]]

    with tempfile.TemporaryDirectory() as scratch:
        # What settles a row besides the question and the temperature.
        files = (path for path in sorted(pathlib.Path(directory).iterdir()) if path.name != "config.json")
        key = digest(*filter(pathlib.Path.is_file, files), options.precision) if options.rows else ""

        def rows_of(temperature, name, part):
            """Measured, with the share of the softmax as probability; gaps as they are."""
            kept = options.rows and os.path.join(
                options.rows, f"{name}-{temperature:.3f}-{digest(key, part)}.jsonl"
            )
            if kept and os.path.exists(kept):
                return read_rows(kept, accuracy.Measured)
            path = os.path.join(scratch, f"{temperature:.6f}")
            if not os.path.isdir(path):
                linked(directory, path)
                set_own(path, **members(0.0, SHARE_ALONE, temperature))
            with bertqa.Context(path, precision=options.precision) as context:
                # Overlapping windows, whose raw scores the rise is for.
                overlap = min(128, context.info.max_position_embeddings // 3)
                rows = accuracy.measured(context, part, doc_stride=overlap)
            rows = [row._replace(probability=shared(row)) for row in rows]
            if kept:
                write_rows(kept, rows)
            return rows

        def loss(temperature):
            rows = rows_of(temperature, "trial", answerable[:: max(1, len(answerable) // TRIAL_QUESTIONS)])
            value = calibration.log_loss(*calibration.answer_calibration(rows))
            print(f"span temperature {temperature:.3f}: log loss {value:.4f}", file=sys.stderr)
            return value

        temperature = options.span_temperature or calibration.best_temperature(loss)
        sets = [(name, rows_of(temperature, name, part)) for name, part in sets]
        rows = [row for _, part in sets for row in part]
        share = options.answerable_share or sum(row.answerable for row in rows) / len(rows)
        long = {}
        for windows in options.windows if options.long_questions else []:
            count = min(options.long_questions, max(1, options.long_windows // windows))
            kinds = long_documents.long_questions(questions, windows, count, random.Random(1))
            for kind, part in kinds.items():
                long[windows, kind] = rows_of(temperature, f"windows-{windows}-{kind}", part)
            print(f"documents of {windows} windows: done", file=sys.stderr)
    rise = options.rise
    if rise is None:
        sizes: dict = {}
        for (windows, _), part in long.items():
            sizes.setdefault(windows, []).extend(part)
        rise = chances.fitted_rise(list(sizes.values()), share) if sizes else 0.0
    # No more digits than are certain.
    rise, temperature = round(rise, 3), round(temperature, 3)
    found = chances.fitted(rows, rise, share)
    found = chances.Chances(round(found.slope, 4), round(found.midpoint, 3), rise)
    final = [(name, chances.with_chances(part, found)) for name, part in sets]
    threshold = options.threshold
    if threshold is None:
        # On questions as they were asked: with another passage they are easily rejected.
        asked = [row for _, part in final for row in part if not row.source.endswith(PAIRED)]
        # Down, so that an answer whose gap is the threshold is kept.
        threshold = math.floor(100 * calibration.chosen_threshold(asked, options.max_loss)) / 100
    mixed = iter(chances.cross_fitted(rows, rise, share))
    honest = [(name, [next(mixed) for _ in part]) for name, part in sets]
    long = {key: chances.with_chances(part, found) for key, part in long.items()}
    return Calibrated(threshold, found, temperature, share, final, honest, long)


def read_sets(paths, options) -> list:
    """[(name, questions)] of files; SystemExit if `calibrate` cannot do with them."""
    sets = [(os.path.basename(path).split(".")[0], read_questions(path)) for path in paths]
    if len({name for name, _ in sets}) < len(sets):
        raise SystemExit("--dev: two files have the same name, by which the tables tell them apart")
    if options.threshold is None and len({bool(question["answers"]) for _, part in sets for question in part}) < 2:
        raise SystemExit(
            "--dev: all questions have answers, or none has: set the --threshold, or add the other kind"
        )
    asked = [question for _, part in asked_sets(sets, options) for question in part if question["context"].strip()]
    answerable = sum(bool(question["answers"]) for question in asked)
    if min(answerable, len(asked) - answerable) < 2:
        raise SystemExit(
            "--dev: probabilities need two questions with answers and two without, which may be questions that have "
            "other passages of their source"
        )
    if options.long_questions and len({question["context"] for question in asked}) < 2:
        raise SystemExit("--dev: all questions are about one passage: --long-questions 0, or add others")
    return sets


def asked_sets(sets, options) -> list:
    """The sets with the questions that are asked about a passage alone."""
    if options.questions:
        sets = [(name, sampled(part, options.questions, random.Random(1))) for name, part in sets]
    return [(name, with_other_passages(part, random.Random(1))) for name, part in sets]


def sampled(questions, count, generator) -> list:
    """At most `count` answerable questions of each source, and the file's share of unanswerable ones, in their order."""
    kinds: dict = {}
    for place, question in enumerate(questions):
        kinds.setdefault((question.get("source", ""), bool(question["answers"])), []).append(place)
    answerable = [len(places) for (_, answerable), places in kinds.items() if answerable]
    part = sum(min(count, length) for length in answerable) / sum(answerable) if answerable else 1.0
    chosen: list = []
    for (_, answerable), places in kinds.items():
        wanted = min(count, len(places)) if answerable else round(part * len(places))
        chosen += generator.sample(places, wanted)
    return [questions[place] for place in sorted(chosen)]


def with_other_passages(questions, generator) -> list:
    """`questions`; if all of them are answerable, each also with another passage of its source, without answers."""
    if any(not question["answers"] for question in questions):
        return questions
    passages: dict = {}
    for question in questions:
        passages.setdefault(question.get("source", ""), {})[question["context"]] = None
    paired = []
    for question in questions:
        source = question.get("source", "")
        others = [passage for passage in passages[source] if passage != question["context"]]
        if others:
            other = generator.choice(others)
            paired.append({**question, "context": other, "answers": [], "source": source + PAIRED})
    return questions + paired


def read_rows(path, kind) -> list:
    """Rows that an earlier run has written."""
    with open(path, encoding="utf-8") as file:
        return [kind(*json.loads(line)) for line in file]


def write_rows(path, rows) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    replace(path, "".join(json.dumps(row) + "\n" for row in rows))


def write_found(directory, found: Calibrated) -> None:
    """Writes config.json with what `calibrate` found."""
    set_own(directory, **members(found.threshold, found.chances, found.span_temperature))


def members(threshold, found, temperature) -> dict:
    """The calibration in the "bertqa" object of config.json."""
    return {
        "no_answer_threshold": threshold,
        "threshold_rise": found.rise,
        "calibration": {"slope": found.slope, "midpoint": found.midpoint, "span_temperature": temperature},
    }


def shared(row) -> float:
    """The best span's share of the softmax."""
    chance = 1 - row.no_answer_probability
    return row.probability / chance if chance else 0.0


def linked(directory, path) -> None:
    """A model directory with the files of another one, of which config.json is a copy."""
    os.makedirs(path)
    for name in os.listdir(directory):
        source = os.path.abspath(os.path.join(directory, name))
        if name != "config.json" and os.path.isfile(source):
            os.symlink(source, os.path.join(path, name))
    with open(os.path.join(directory, "config.json"), encoding="utf-8") as file:
        write(path, json.load(file))


def set_own(directory, **changes) -> None:
    """Sets members of "bertqa" in config.json."""
    with open(os.path.join(directory, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    config["bertqa"] = {**config.get("bertqa", {}), **changes}
    write(directory, config)


def write(directory, config) -> None:
    """Writes config.json as the library does."""
    replace(os.path.join(directory, "config.json"), json.dumps(config, indent=2) + "\n")


def replace(path, text) -> None:
    """Writes the whole file or nothing."""
    with whole(path) as part, open(part, "w", encoding="utf-8") as file:
        file.write(text)


def add_options(parser) -> None:
    """The options of calibration."""
    parser.add_argument("--threshold", type=float, help="of the gap, for one window; default: the best")
    parser.add_argument("--max-loss", type=share, default=0.08, help="of any source's F1, by the threshold")
    parser.add_argument("--answerable-share", type=between, metavar="P",
                        help="of the questions that probabilities suppose; default: as in --dev")  # fmt: skip
    parser.add_argument("--span-temperature", type=positive, help="of the softmax over spans; default: the best")
    parser.add_argument("--rise", type=float, help="of the threshold with ln(windows); default: the best")
    parser.add_argument(
        "--questions", type=count, metavar="N", help="of each source and kind, at random; default: all"
    )
    parser.add_argument("--long-questions", type=count_or_none, default=60, metavar="N",
                        help="of each kind, in documents of each size, to find the rise; 0: none")  # fmt: skip
    parser.add_argument("--long-windows", type=count, default=1500, metavar="N",
                        help="so many windows of each kind and size at most")  # fmt: skip
    parser.add_argument("--windows", type=count, nargs="+", default=[1, 10, 100], help="sizes of these documents")
    parser.add_argument("--precision", default="auto")
    parser.add_argument(
        "--rows", metavar="DIR", help="keep what the model says here; the same command goes on with it"
    )
