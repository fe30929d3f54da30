"""MODEL_CARD.md and the risk-coverage picture of a finished model."""

import collections
import os
import shlex
import sys
from typing import Optional

from . import calibration, chances
from .calibrate import PAIRED
from .curve import svg

Facts = collections.namedtuple("Facts", "steps temperature calibrated measured")
Facts.__doc__ = """The results of export.

steps: of the averaged snapshots. calibrated: see calibrate.py. measured: {precision: [(set, rows)]}.
"""
CURVE = "risk-coverage.svg"


def write(directory, arguments, facts, accuracy) -> None:
    """Writes the card and the picture of the model in `directory`, which will be arguments.out."""
    write_curve(directory, facts.measured["int8"])
    with open(os.path.join(directory, "MODEL_CARD.md"), "w", encoding="utf-8") as file:
        file.write(text(arguments, facts, accuracy))


def write_curve(directory, sets) -> None:
    """Writes the picture of [(set, rows)]."""
    curves = {name: calibration.risk_coverage(rows) for name, rows in curve_sets(sets).items()}
    with open(os.path.join(directory, CURVE), "w", encoding="utf-8") as file:
        file.write(svg(curves))


def text(arguments, facts, accuracy) -> str:
    """The card. A person adds architecture, limits and licences, which the program does not know."""
    settings = ("passes", "learning_rate", "floor", "warmup_steps", "dropout", "attention_dropout", "weight_decay",
                "batch_tokens", "max_length", "overlap", "seed")  # fmt: skip
    parts = [
        f"# {os.path.basename(os.path.abspath(arguments.out))}: question answering",
        "Made by `training/finetune_qa.py`:",
        "```\n" + command() + "\n```",
        "- **Settings**: "
        + ", ".join(f"{name.replace('_', ' ')} {getattr(arguments, name)}" for name in settings)
        + f". Snapshots averaged: steps {', '.join(map(str, facts.steps))}"
        + "".join(
            f"; with {item.rpartition('=')[2]} of {shown(item.rpartition('=')[0])}" for item in arguments.mix
        )
        + ".",
        f"- **Temperature** {facts.temperature:.3f}, in the output layer.",
        *calibration_parts(facts.calibrated, arguments),
        "## Scores",
        "Measured through libbertqa, by SQuAD's official definitions (`Benchmarks/accuracy.py`), on the development "
        "questions on which the threshold was chosen.",
    ]
    for precision, sets in facts.measured.items():
        name = "int8 weights and arithmetic" if precision == "int8" else "F16 weights, f32 arithmetic"
        parts += [f"{name}:", markdown(accuracy.COLUMNS, accuracy.table(sets, facts.calibrated.threshold))]
    return "\n\n".join(parts + threshold_parts(facts.calibrated) + long_parts(facts.calibrated)) + "\n"


def calibration_parts(found, arguments) -> list:
    """Threshold and chances, how they were chosen, and how far off they are."""
    return [
        "## Calibration",
        f"- **Threshold** {found.threshold}: the gap with the best mean of F1 over answerable questions and the share "
        f"of unanswerable ones rejected, among gaps that cost no source more than {arguments.max_loss} of F1. It rises "
        f"by {found.chances.rise:.3f} · ln(windows).\n"
        f"- **No answer**: slope {found.chances.slope:.4f}, midpoint {found.chances.midpoint:.3f}, as if "
        f"{100 * found.share:.0f} % of the questions were answerable.\n"
        f"- **Spans**: temperature {found.span_temperature:.3f} of the softmax.",
        "The expected calibration error (15 bins) for numbers fitted to all of these questions, and to the other half:",
        markdown(
            ("set", "`probability`", "other half", "`no_answer_probability`", "other half"),
            errors(found),
        ),
    ]


def errors(found) -> list:
    """Lines of calibration errors: each group of both kinds of questions, all, and all with both kinds of the same weight."""
    fitted, honest = (
        {**groups(sets), "all": [row for _, part in sets for row in part]} for sets in (found.sets, found.honest)
    )
    kinds = (calibration.answer_calibration, calibration.no_answer_calibration)

    def cells(name, weights):
        return [
            f"{calibration.calibration_error(*pairs(rows[name]), weights(rows[name])):.3f}"
            for pairs in kinds
            for rows in (fitted, honest)
        ]

    lines = [(name, *cells(name, lambda _: None)) for name in fitted]
    return [*lines, ("all, both kinds alike", *cells("all", lambda rows: chances.weights_of(rows, 0.5)))]


def groups(sets) -> dict:
    """{name: rows}: a set with unanswerable questions of its own as a whole; each source of others, with other passages."""
    result: dict = {}
    for name, rows in sets:
        whole = any(not row.answerable and not row.source.endswith(PAIRED) for row in rows)
        for row in rows:
            result.setdefault(name if whole else row.source.removesuffix(PAIRED) or name, []).append(row)
    return result


def long_parts(found) -> list:
    """The table of long documents."""
    if not found.long:
        return []
    lines = []
    for windows in sorted({windows for windows, _ in found.long}):
        kinds = {kind: found.long[windows, kind] for kind in ("answerable", "related", "absent")}
        rows = [row for part in kinds.values() for row in part]
        weights = chances.weights_of(rows, found.share)
        for name, rise in (("fixed", False), ("rising", True)):
            answered = {
                kind: [row.gap + (0 if rise else row.rise) >= found.threshold for row in part]
                for kind, part in kinds.items()
            }
            f1 = [row.f1 * kept for row, kept in zip(kinds["answerable"], answered["answerable"])]
            chance = [
                f"{calibration.calibration_error(*pairs(rows), weights):.3f}" if rise else None
                for pairs in (calibration.answer_calibration, calibration.no_answer_calibration)
            ]
            counts = " + ".join(str(len(part)) for part in kinds.values())
            lines.append(
                (windows, counts, name, *(percent(part) for part in answered.values()), percent(f1), *chance)
            )
    return [
        "### Long documents",
        "The document of an *answerable* question has its passage among others; that of a *related* one has a "
        "passage that the question was written for but that does not answer it; that of an *absent* one lacks its "
        "passage. The columns are the shares of questions answered, with the same threshold for all documents and "
        "with one that rises; F1 of the answerable ones, counting unanswered ones as 0; and calibration errors.",
        markdown(
            (
                "windows",
                "documents of each kind",
                "threshold",
                "answerable",
                "related",
                "absent",
                "F1",
                "`probability`",
                "`no_answer_probability`",
            ),
            lines,
        ),  # fmt: skip
    ]


def percent(values) -> Optional[float]:
    """The mean in percent."""
    return 100 * sum(values) / len(values) if values else None


def threshold_parts(found) -> list:
    """The table of thresholds and the picture."""
    return [
        "## Thresholds",
        "The share of answerable questions that are answered (kept), and of unanswerable ones that are not (rejected):",
        thresholds(found),
        f"![answers that are wrong against questions answered]({CURVE})",
    ]


def curve_sets(sets) -> dict:
    """{name: rows}: a set that has unanswerable questions as a whole, the sources of others one by one.

    As they were asked: without other passages.
    """
    result = {}
    for name, rows in sets:
        rows = [row for row in rows if not row.source.endswith(PAIRED)]
        if all(row.answerable for row in rows):
            result.update(by_kind([(name, rows)]))
        else:
            result[name] = rows
    return result


def thresholds(found) -> str:
    """The table threshold -> kept and rejected, for each source."""
    kinds = by_kind(found.sets)
    lines = []
    for change in (-4, -3, -2, -1, 0, 1, 2, 3, 4):
        threshold = found.threshold + change
        cells = []
        for rows in kinds.values():
            _, kept, rejected = calibration.at_threshold(rows, threshold)
            share = kept if rows[0].answerable else rejected
            cells.append(f"{100 * share:.1f} % {'kept' if rows[0].answerable else 'rejected'}")
        lines.append((f"{threshold:.2f}", *cells))
    return markdown(("threshold", *kinds), lines)


def by_kind(sets) -> dict:
    """{source: rows}; each source's answerable and unanswerable questions apart if it has both."""
    result: dict = {}
    for name, rows in sets:
        for row in rows:
            result.setdefault((row.source or name, row.answerable), []).append(row)
    both = collections.Counter(source for source, _ in result)
    return {
        source if both[source] == 1 else f"{source}, {'answerable' if answerable else 'unanswerable'}": rows
        for (source, answerable), rows in sorted(result.items())
    }


def markdown(columns, lines) -> str:
    """A table; None is a dash."""
    cells = [[v if isinstance(v, str) else "–" if v is None else str(v) if isinstance(v, int) else f"{v:.2f}"
              for v in line] for line in lines]  # fmt: skip
    return "\n".join("| " + " | ".join(row) + " |" for row in [list(columns), ["---"] * len(columns), *cells])


def command() -> str:
    """The command line, directories without their parents."""
    words = [shown(word) for word in sys.argv[1:]]
    return shlex.join(["python", "training/finetune_qa.py", *words])


def shown(path) -> str:
    """A path that may be published: an absolute one without its parents."""
    return os.path.basename(path.rstrip("/")) if os.path.isabs(path) else path
