"""What a soak measures and how it is judged: samples, their trends, and whether a figure stays where it is. Pure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

Sample = dict[str, float]
"""One look at the process: seconds since its start, and every figure by name."""
HOUR = 3600.0
BLOCKS = 30
"""Neighbouring samples resemble each other, so that an interval over all of them would be too narrow: they are averaged
in so many blocks first."""
TOLERATED = 0.02
"""Growth in an hour, as a share of the level, up to which a figure counts as flat though its rise is certain."""
MEBI = 1024.0 * 1024.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One thing that is watched. unit: of its values; flat: whether it has to stay where it is."""

    name: str
    title: str
    unit: str
    flat: bool


FIGURES = (
    Figure(name="rss", title="memory (RSS)", unit="MiB", flat=True),
    Figure(name="handles", title="open files and sockets", unit="", flat=True),
    Figure(name="threads", title="threads", unit="", flat=True),
    Figure(name="tasks", title="asyncio tasks", unit="", flat=True),
    Figure(name="wal", title="write-ahead log", unit="MiB", flat=True),
    Figure(name="database", title="database", unit="MiB", flat=False),
    Figure(name="index", title="indexes of recall", unit="MiB", flat=False),
    Figure(name="answers", title="answers seen", unit="", flat=False),
)
COLUMNS = ("seconds", *(figure.name for figure in FIGURES))


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """A straight line through the second half. level: its mean.

    slope, low, high: an hour's growth and its 95 % interval. start, end: seconds; first, last: the line's values there.
    """

    level: float
    slope: float
    low: float
    high: float
    start: float
    end: float
    first: float
    last: float

    @property
    def flat(self) -> bool:
        """Whether the interval holds nought, or the growth is small beside the level."""
        return self.low <= 0 or self.slope <= TOLERATED * self.level


def second_half(samples: Sequence[Sample]) -> list[Sample]:
    """The samples after the middle of the time."""
    middle = (samples[0]["seconds"] + samples[-1]["seconds"]) / 2
    return [sample for sample in samples if sample["seconds"] >= middle]


def trend(samples: Sequence[Sample], name: str) -> Trend:
    """The line of least squares through block means of one figure.

    Args:
        samples: at least six, in order of time.
    """
    points = _blocks([(sample["seconds"], sample[name]) for sample in samples])
    middle, level = _mean([x for x, _ in points]), _mean([y for _, y in points])
    spread = sum((x - middle) ** 2 for x, _ in points)
    slope = sum((x - middle) * (y - level) for x, y in points) / spread
    left = sum((y - level - slope * (x - middle)) ** 2 for x, y in points)
    free = len(points) - 2
    error = math.sqrt(left / free / spread) * student(free)
    start, end = samples[0]["seconds"], samples[-1]["seconds"]
    return Trend(
        level=level,
        slope=slope * HOUR,
        low=(slope - error) * HOUR,
        high=(slope + error) * HOUR,
        start=start,
        end=end,
        first=level + slope * (start - middle),
        last=level + slope * (end - middle),
    )


def student(free: int) -> float:
    """Student's t below which 97.5 % lie.

    Args:
        free: degrees of freedom, from 4.

    Source: the expansion of Cornish and Fisher, Abramowitz and Stegun 26.7.5.
    """
    z = 1.959963985
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / free + second / free**2 + third / free**3


def _blocks(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    count = min(BLOCKS, len(points) // 2) if len(points) >= 12 else len(points)
    edges = [len(points) * number // count for number in range(count + 1)]
    parts = [points[first:last] for first, last in pairwise(edges)]
    return [(_mean([x for x, _ in part]), _mean([y for _, y in part])) for part in parts]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def table(samples: Sequence[Sample]) -> list[str]:
    """One line of Markdown for each figure, under its head."""
    half = second_half(samples)
    lines = [
        "| figure | start | end | mean of the second half | growth an hour (95 %) | |",
        "|---|--:|--:|--:|--:|---|",
    ]
    for figure in FIGURES:
        found = trend(half, figure.name)
        unit = f" {figure.unit}" if figure.unit else ""
        told = f"{found.slope:+.2f} ({found.low:+.2f} to {found.high:+.2f})"
        verdict = ("flat" if found.flat else "GROWS") if figure.flat else "grows with what is said"
        first, last = samples[0][figure.name], samples[-1][figure.name]
        lines.append(
            f"| {figure.title} | {first:.1f}{unit} | {last:.1f}{unit} | {found.level:.1f}{unit} | {told} | {verdict} |"
        )
    return lines


def growing(samples: Sequence[Sample]) -> list[str]:
    """Names of what has to stay where it is and does not."""
    half = second_half(samples)
    return [figure.name for figure in FIGURES if figure.flat and not trend(half, figure.name).flat]
