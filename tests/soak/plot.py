"""Draws the figures of a soak over its minutes, a small picture for each, as one SVG. Pure."""

from collections.abc import Iterator, Sequence
from html import escape
from math import floor, log10

from tests.soak.figures import Figure, Sample, second_half, trend

WIDTH, COLUMNS = 1_000, 2
LEFT, TOP, GAP = 64, 84, 30
PANEL_WIDTH, PANEL_HEIGHT = 400, 118
ROW = PANEL_HEIGHT + 66
MOST_POINTS = 360
# panels begin at nought and end so much above the highest value: a rise is seen at its true size
HEADROOM = 1.15
_STYLE = """
text { font: 13px system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif; fill: #3b4252; }
.ground { fill: #ffffff; } .title { font-size: 17px; font-weight: 600; fill: #1b1f27; }
.faint { fill: #667085; font-size: 11.5px; } .name { font-weight: 600; fill: #1b1f27; }
.grid { stroke: #e6e8ee; stroke-width: 1; } .axis { stroke: #98a1b0; stroke-width: 1; }
.line { fill: none; stroke: #0072b2; stroke-width: 1.5; stroke-linejoin: round; }
.trend { stroke: #d55e00; stroke-width: 2; stroke-dasharray: 7 4; }
@media (prefers-color-scheme: dark) {
text { fill: #c9d1dc; } .ground { fill: #14181f; } .title, .name { fill: #f0f3f8; } .faint { fill: \
#97a3b4; }
.grid { stroke: #272d38; } .axis { stroke: #6b7686; } .line { stroke: #56b4e9; } .trend { stroke: \
#ff8a4c; } }"""


def draw(title: str, subtitle: str, figures: Sequence[Figure], samples: Sequence[Sample]) -> str:
    """The picture as SVG text; it follows the viewer's light or dark setting.

    Args:
        samples: at least twelve, in order of time.
    """
    rows = (len(figures) + COLUMNS - 1) // COLUMNS
    height = TOP + rows * ROW
    body = [
        f'<rect class="ground" width="{WIDTH}" height="{height}"/>',
        f'<text class="title" x="24" y="32">{escape(title)}</text>',
        f'<text class="faint" x="24" y="53">{escape(subtitle)}</text>',
    ]
    for number, figure in enumerate(figures):
        x = LEFT + number % COLUMNS * (PANEL_WIDTH + LEFT + GAP)
        body += _panel(figure, samples, x, TOP + number // COLUMNS * ROW + 14)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" role="img" aria-label="{escape(title, quote=True)}">\n'
        f"<style>{_STYLE}</style>\n" + "\n".join(body) + "\n</svg>\n"
    )


def _panel(figure: Figure, samples: Sequence[Sample], left: int, top: int) -> Iterator[str]:
    floor_y, right = top + PANEL_HEIGHT, left + PANEL_WIDTH
    longest = samples[-1]["seconds"] or 1.0
    highest = max(sample[figure.name] for sample in samples) * HEADROOM or 1.0

    def x(seconds: float) -> float:
        return left + seconds / longest * PANEL_WIDTH

    def y(value: float) -> float:
        return floor_y - value / highest * PANEL_HEIGHT

    unit = f'<tspan class="faint">, {figure.unit}</tspan>' if figure.unit else ""
    yield f'<text class="name" x="{left}" y="{top - 8}">{escape(figure.title)}{unit}</text>'
    for value in _ticks(highest, 4):
        kind = "grid" if value else "axis"
        yield (
            f'<line class="{kind}" x1="{left}" y1="{y(value):.1f}" x2="{right}" '
            f'y2="{y(value):.1f}"/>'
        )
        yield (
            f'<text class="faint" x="{left - 7}" y="{y(value) + 4:.1f}" '
            f'text-anchor="end">{value:,g}</text>'
        )
    for minutes in _ticks(longest / 60, 6):
        place = x(minutes * 60)
        yield (
            f'<line class="axis" x1="{place:.1f}" y1="{floor_y}" x2="{place:.1f}" '
            f'y2="{floor_y + 4}"/>'
        )
        yield (
            f'<text class="faint" x="{place:.1f}" y="{floor_y + 17}" '
            f'text-anchor="middle">{minutes:g}</text>'
        )
    points = " ".join(
        f"{x(one['seconds']):.1f},{y(one[figure.name]):.1f}" for one in _thinned(samples)
    )
    yield f'<polyline class="line" points="{points}"/>'
    found = trend(second_half(samples), figure.name)
    yield (
        f'<line class="trend" x1="{x(found.start):.1f}" y1="{y(found.first):.1f}" '
        f'x2="{x(found.end):.1f}" y2="{y(found.last):.1f}"/>'
    )
    told = f"{found.slope:+,.3g} ({found.low:+,.3g} to {found.high:+,.3g}) an hour"
    yield f'<text class="faint" x="{right}" y="{top - 8}" text-anchor="end">{told}</text>'


def _thinned(samples: Sequence[Sample]) -> Sequence[Sample]:
    return samples[:: max(1, len(samples) // MOST_POINTS)]


def _ticks(most: float, lines: int) -> Iterator[float]:
    """Round values from nought up to `most`, about so many."""
    rough = most / lines
    size = 10.0 ** floor(log10(rough))
    step = next(step for step in (size, 2 * size, 5 * size, 10 * size) if step >= rough)
    number = 0
    while number * step <= most:
        yield round(number * step, 10)
        number += 1
