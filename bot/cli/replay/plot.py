"""Draws tokens per request of a conversation as SVG, a line for each policy. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

WIDTH, HEIGHT = 1_000, 580
LEFT, RIGHT, TOP, BOTTOM = 74, 190, 100, 92
# of one line; in a longer conversation each point is the highest of several requests
MAX_POINTS = 900
LABEL_GAP = 19
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#b5537f", "#b88600", "#56789a")
DARK_COLOURS = ("#56b4e9", "#ff8a4c", "#2ec4a0", "#e79ac0", "#e6c229", "#a9bccf")
# Colours for any colour vision (after Okabe and Ito); every other line is dashed as well.
DASHES = ("", "9 3", "", "2 3", "", "12 3 2 3")
_STYLE = """
text { font: 13px system-ui, -apple-system, "Segoe UI", "Noto Sans", "Noto Sans CJK SC", \
sans-serif; fill: #3b4252; }
.ground { fill: #ffffff; } .title { font-size: 17px; font-weight: 600; fill: #1b1f27; }
.faint { fill: #667085; font-size: 12px; } .name { font-weight: 600; }
.grid { stroke: #e6e8ee; stroke-width: 1; } .axis { stroke: #98a1b0; stroke-width: 1; }
.limit { stroke: #b42318; stroke-width: 1.4; stroke-dasharray: 7 5; } .bound { fill: #b42318; \
font-size: 12px; }
.line { fill: none; stroke-width: 1.8; stroke-linejoin: round; } .fold { stroke-width: 1.3; fill: \
#ffffff; }
.leader { fill: none; stroke-width: 1; opacity: .55; }"""
_DARK_STYLE = """
text { fill: #c9d1dc; } .ground { fill: #14181f; } .title { fill: #f0f3f8; } .faint { fill: \
#97a3b4; }
.grid { stroke: #272d38; } .axis { stroke: #6b7686; } .limit { stroke: #ff8f85; } .bound { fill: \
#ff8f85; }
.fold { fill: #14181f; }"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotLine:
    """The line of one policy."""

    name: str
    #: Tokens of each request.
    tokens: tuple[int, ...]
    #: Numbers of the requests before which turns were folded.
    folds: tuple[int, ...]
    #: Shown next to its name.
    note: str = ""


def draw_plot(title: str, subtitle: str, lines: Sequence[PlotLine], limit: int) -> str:
    """Draw the SVG; it needs no font or script, and follows the viewer's light or dark setting.

    Args:
        limit: maximum tokens of a request, drawn as a dashed line unless all lines are far below
            it.
    """
    count = max((len(line.tokens) for line in lines), default=0)
    highest = max((tokens for line in lines for tokens in line.tokens), default=0) or 1
    top = max(highest, limit) if limit <= highest * 3 else highest
    scale = _PlotScale(count=max(2, count), step=_grid_step(top, 6), top=top)
    body = [
        f'<rect class="ground" width="{WIDTH}" height="{HEIGHT}"/>',
        f'<text class="title" x="{LEFT - 50}" y="34">{escape(title)}</text>',
        f'<text class="faint" x="{LEFT - 50}" y="55">{escape(subtitle)}</text>',
        *_draw_axes(scale),
        *(_draw_limit(scale, limit) if limit <= scale.highest else ()),
    ]
    for number, line in enumerate(lines):
        body += _draw_line(scale, line, number)
    body += _draw_labels(scale, lines)
    legend_y = HEIGHT - 20
    body += [
        f'<circle class="fold axis" cx="{LEFT - 46}" cy="{legend_y - 4}" r="2.8"/>',
        (
            f'<text class="faint" x="{LEFT - 36}" y="{legend_y}">turns were folded before this '
            "request</text>"
        ),
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" role="img" aria-label="{escape(title, quote=True)}">\n'
        f"<style>{_draw_style()}</style>\n" + "\n".join(body) + "\n</svg>\n"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _PlotScale:
    """Converts requests and tokens to coordinates."""

    #: Number of requests.
    count: int
    #: Tokens between two lines of the grid.
    step: int
    #: Tokens at the top.
    top: int

    @property
    def highest(self) -> int:
        """Tokens of the uppermost line of the grid."""
        return ceil(self.top / self.step) * self.step

    def x(self, request: float) -> float:
        return LEFT + request / (self.count - 1) * (WIDTH - LEFT - RIGHT)

    def y(self, tokens: float) -> float:
        return HEIGHT - BOTTOM - tokens / self.highest * (HEIGHT - TOP - BOTTOM)


def _draw_style() -> str:
    light = "".join(
        f".c{n} {{ stroke: {c}; }} .t{n} {{ fill: {c}; }}" for n, c in enumerate(COLOURS)
    )
    dark = "".join(
        f".c{n} {{ stroke: {c}; }} .t{n} {{ fill: {c}; }}" for n, c in enumerate(DARK_COLOURS)
    )
    return f"{_STYLE}\n{light}\n@media (prefers-color-scheme: dark) {{{_DARK_STYLE}\n{dark} }}\n"


def _draw_axes(scale: _PlotScale) -> Iterator[str]:
    right, floor_y = WIDTH - RIGHT, HEIGHT - BOTTOM
    for tokens in range(0, scale.highest + 1, scale.step):
        y = scale.y(tokens)
        kind = "grid" if tokens else "axis"
        yield f'<line class="{kind}" x1="{LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}"/>'
        yield (
            f'<text class="faint" x="{LEFT - 8}" y="{y + 4:.1f}" '
            f'text-anchor="end">{_format_thousands(tokens)}</text>'
        )
    every = _grid_step(scale.count, 10)
    for request in range(0, scale.count, every):
        shown = max(1, request)
        x = scale.x(shown - 1)
        yield f'<line class="axis" x1="{x:.1f}" y1="{floor_y}" x2="{x:.1f}" y2="{floor_y + 5}"/>'
        yield (
            f'<text class="faint" x="{x:.1f}" y="{floor_y + 20}" '
            f'text-anchor="middle">{shown:,}</text>'
        )
    middle = (LEFT + right) / 2
    yield (
        f'<text class="faint" x="{middle:.0f}" y="{floor_y + 42}" '
        'text-anchor="middle">request</text>'
    )
    yield f'<text class="faint" x="{LEFT - 50}" y="{TOP - 20}">tokens</text>'


def _draw_limit(scale: _PlotScale, limit: int) -> Iterator[str]:
    y, right = scale.y(limit), WIDTH - RIGHT
    yield f'<line class="limit" x1="{LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}"/>'
    yield f'<text class="bound" x="{LEFT + 6}" y="{y - 6:.1f}">limit {limit:,}</text>'


def _draw_line(scale: _PlotScale, line: PlotLine, number: int) -> Iterator[str]:
    kind, dash = number % len(COLOURS), DASHES[number % len(DASHES)]
    points = " ".join(
        f"{scale.x(at):.1f},{scale.y(tokens):.1f}" for at, tokens in _thin_out(line.tokens)
    )
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    yield (
        f'<polyline class="line c{kind}"{dashed} '
        f'points="{points}"><title>{escape(line.name)}</title></polyline>'
    )
    for request in line.folds:
        if request < len(line.tokens):
            x, y = scale.x(request), scale.y(line.tokens[request])
            yield f'<circle class="fold c{kind}" cx="{x:.1f}" cy="{y:.1f}" r="2.8"/>'


def _draw_labels(scale: _PlotScale, lines: Sequence[PlotLine]) -> Iterator[str]:
    """Draw each line's name at its end; names of close ends move apart, and thin lines lead to
    them.
    """
    ends = sorted(
        (scale.y(line.tokens[-1]), number) for number, line in enumerate(lines) if line.tokens
    )
    for (y, number), label in zip(ends, _spread_labels([y for y, _ in ends]), strict=True):
        line, kind = lines[number], number % len(COLOURS)
        x = scale.x(len(line.tokens) - 1)
        yield (
            f'<path class="leader c{kind}" d="M{x + 3:.1f} {y:.1f} L{WIDTH - RIGHT + 14} '
            f'{label:.1f} H{WIDTH - RIGHT + 20}"/>'
        )
        note = (
            f' <tspan class="faint" font-weight="400">{escape(line.note)}</tspan>'
            if line.note
            else ""
        )
        yield (
            f'<text class="name t{kind}" x="{WIDTH - RIGHT + 24}" '
            f'y="{label + 4:.1f}">{escape(line.name)}{note}</text>'
        )


def _spread_labels(wanted: Sequence[float]) -> list[float]:
    """Return label positions at least LABEL_GAP apart, as near to the wanted ones as the plot
    allows.
    """
    placed: list[float] = []
    for y in wanted:
        placed.append(max(y, placed[-1] + LABEL_GAP) if placed else y)
    lowest = float(HEIGHT - BOTTOM)
    for number in range(len(placed) - 1, -1, -1):
        placed[number] = min(placed[number], lowest)
        lowest = placed[number] - LABEL_GAP
    return placed


def _thin_out(tokens: Sequence[int]) -> Iterator[tuple[int, int]]:
    size = ceil(len(tokens) / MAX_POINTS) or 1
    for start in range(0, len(tokens), size):
        at = max(range(start, min(start + size, len(tokens))), key=tokens.__getitem__)
        yield at, tokens[at]


def _grid_step(highest: int, lines: int) -> int:
    """Return a round step for about so many grid lines up to `highest`."""
    rough = max(1.0, highest / lines)
    size = 10 ** floor(log10(rough))
    return int(next(step for step in (size, 2 * size, 5 * size, 10 * size) if step >= rough))


def _format_thousands(tokens: int) -> str:
    return f"{tokens / 1_000:g}k" if tokens >= 1_000 else str(tokens)
