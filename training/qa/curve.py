"""The risk-coverage curve as an SVG picture, for the model card."""

import html
from typing import Dict, List, Sequence, Tuple

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 640, 400, 56, 16, 16, 48
COLORS = ("#1f5fa8", "#b3541e", "#2f7d4f", "#7a4fa3", "#555555")


def svg(curves: Dict[str, Sequence[Tuple[float, float]]]) -> str:
    """Curves of (coverage, risk), both 0...1, by name."""
    lines: List[str] = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        'font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    for tenth in range(0, 11, 2):
        x, y = place(tenth / 10, tenth / 10)
        lines.append(f'<path d="M{x} {TOP}V{HEIGHT - BOTTOM}M{LEFT} {y}H{WIDTH - RIGHT}" stroke="#dddddd"/>')
        lines.append(f'<text x="{x}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{tenth * 10} %</text>')
        lines.append(f'<text x="{LEFT - 6}" y="{y + 4}" text-anchor="end">{tenth * 10} %</text>')
    lines.append(f'<text x="{WIDTH // 2}" y="{HEIGHT - 12}" text-anchor="middle">questions answered</text>')
    lines.append(
        f'<text transform="translate(14 {HEIGHT // 2}) rotate(-90)" text-anchor="middle">answers that are wrong</text>'
    )
    for index, (name, curve) in enumerate(curves.items()):
        color = COLORS[index % len(COLORS)]
        points = " ".join("{},{}".format(*place(*point)) for point in thinned(curve))
        lines.append(f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="2"/>')
        lines.append(
            f'<text x="{LEFT + 12}" y="{TOP + 18 + 18 * index}" fill="{color}">{html.escape(name)}</text>'
        )
    return "\n".join([*lines, "</svg>"]) + "\n"


def place(coverage: float, risk: float) -> Tuple[float, float]:
    """The point of the picture, rounded to a tenth."""
    x = LEFT + coverage * (WIDTH - LEFT - RIGHT)
    y = HEIGHT - BOTTOM - risk * (HEIGHT - TOP - BOTTOM)
    return round(x, 1), round(y, 1)


def thinned(curve: Sequence[Tuple[float, float]]) -> List[Tuple[float, float]]:
    """At most 400 of the points, and the last one."""
    step = max(1, len(curve) // 200)
    points = list(curve[::step])
    return points if points[-1] == curve[-1] else [*points, curve[-1]]
