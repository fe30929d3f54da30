"""A training report as HTML for notebooks: figures, a table of labels, and a picture of the confusion matrix."""

from typing import TYPE_CHECKING, List

from ._html import escaped, table_html

if TYPE_CHECKING:
    from ._training_results import TrainingReport

#: The maximum numbers of labels in the table and in the picture. With more, cells would be too small.
MOST_LABELS, LARGEST_PICTURE = 200, 60
#: The number of label pairs that are listed instead of a picture.
MOST_PAIRS = 20
#: The maximum number of code points of a label in the picture.
_NAME = 20
#: In pixels.
_CELL, _MARGIN, _LETTER = 34, 12, 7


def training_html(report: "TrainingReport") -> str:
    """Returns the report, the most important figures first."""
    is_validated = report.accuracy == report.accuracy
    figures = [
        f"{report.text_count:,} texts",
        f"{len(report.labels):,} labels",
        f"{report.vocabulary_size:,} {'words' if report.features == 'words' else 'numbers of a vector'}",
    ]
    if is_validated:
        figures += [
            f"accuracy <strong>{report.accuracy:.3f}</strong>", f"macro F1 <strong>{report.macro_f1:.3f}</strong>",
            f"calibration error {report.calibration_error:.3f}",
        ]  # fmt: skip
    parts = [f"<p>{' · '.join(figures)}</p>"]
    if not report.is_converged:
        parts.append(f"<p><strong>Not converged</strong> after {report.iterations:,} iterations.</p>")
    parts.append(_labels(report, is_validated))
    if report.confusion:
        parts.append(_picture(report) if len(report.confusion) <= LARGEST_PICTURE else _pairs(report))
    return f"<div>{''.join(parts)}</div>"


def _labels(report: "TrainingReport", is_validated: bool) -> str:
    head = ["label", "texts"] + (["precision", "recall", "F1"] if is_validated else [])
    rows = []
    for label in report.labels[:MOST_LABELS]:
        row = [f"<bdi>{escaped(label.label)}</bdi>", f"{label.text_count:,}"]
        if is_validated:
            row += [_number(label.precision), _number(label.recall), _bar(label.f1)]
        rows.append(row)
    if len(report.labels) > MOST_LABELS:
        rows.append([f"and {len(report.labels) - MOST_LABELS:,} more"])
    return table_html(head, rows, "Cross-validated" if is_validated else None)


def _number(value: float) -> str:
    return f"{value:.3f}" if value == value else "–"


def _bar(value: float) -> str:
    """Returns a number over a bar that fills this part of its cell."""
    width = 100 * value if value == value else 0
    bar = f"linear-gradient(90deg,rgba(66,133,244,.35) {width:.0f}%,transparent {width:.0f}%)"
    return f'<span style="display:inline-block;width:5em;background:{bar}">{_number(value)}</span>'


def _pairs(report: "TrainingReport") -> str:
    """Lists the labels that were confused most often."""
    counts = [
        (count, true, predicted)
        for true, row in enumerate(report.confusion)
        for predicted, count in enumerate(row)
        if count and true != predicted
    ]
    counts.sort(key=lambda pair: (-pair[0], pair[1:]))
    names = [f"<bdi>{escaped(label.label)}</bdi>" for label in report.labels]
    rows = [
        [f"{names[true]} taken for {names[other]}", f"{count:,}"] for count, true, other in counts[:MOST_PAIRS]
    ]
    return table_html(["confused most often", "texts"], rows)


def _picture(report: "TrainingReport") -> str:
    """Draws the confusion matrix as SVG: rows are true labels, and a cell is as dark as its part of the row."""
    names = [escaped(_shortened(label.label)) for label in report.labels]
    count = len(report.confusion)
    left = _LETTER * max((min(len(label.label), _NAME) for label in report.labels), default=0) + 2 * _MARGIN
    # Column names are rotated by 45 degrees.
    top = left * 3 // 4 + _MARGIN
    parts: List[str] = []
    for row, counts in enumerate(report.confusion):
        total = sum(counts) or 1
        y = top + row * _CELL
        middle = y + _CELL / 2 + 4
        parts.append(f'<text x="{left - 6}" y="{middle}" text-anchor="end">{names[row]}</text>')
        x = left + row * _CELL + _CELL / 2
        parts.append(f'<text transform="translate({x},{top - 6}) rotate(-45)">{names[row]}</text>')
        for column, texts in enumerate(counts):
            x = left + column * _CELL
            color = "66,133,244" if row == column else "219,68,55"
            title = f"{names[row]} classified as {names[column]}: {texts:,} of {sum(counts):,}"
            parts.append(
                f'<g><title>{title}</title><rect x="{x}" y="{y}" width="{_CELL - 1}" height="{_CELL - 1}" '
                f'fill="rgb({color})" fill-opacity="{texts / total * 0.8:.3f}" stroke="currentColor" '
                f'stroke-opacity=".15"/>{_count(x, middle, texts)}</g>'
            )
    size = f"{left + count * _CELL + left * 3 // 4}", f"{top + count * _CELL + _MARGIN}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="Confusion matrix: rows are the true labels, '
        f'columns the predicted ones" width="{size[0]}" height="{size[1]}" viewBox="0 0 {size[0]} {size[1]}" '
        f'style="max-width:100%;height:auto" font-family="sans-serif" font-size="11" fill="currentColor">'
        f"{''.join(parts)}</svg>"
    )


def _count(x: float, y: float, texts: int) -> str:
    if not texts:
        return ""
    # "12,345" does not fit in a cell.
    text = str(texts) if texts < 10_000 else f"{texts / 1000:.0f}k" if texts < 1_000_000 else f"{texts / 1e6:.0f}M"
    return f'<text x="{x + _CELL / 2}" y="{y}" text-anchor="middle">{text}</text>'


def _shortened(label: str) -> str:
    return label if len(label) <= _NAME else f"{label[: _NAME - 1]}…"
