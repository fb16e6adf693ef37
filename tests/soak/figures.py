"""What a soak measures and how it is judged: samples, their trends, and whether a figure stays
where it is.

Pure.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

# one look at the process: seconds since its start, and every figure by name
Sample = dict[str, float]
HOUR = 3600.0
# Neighbouring samples resemble each other, so that an interval over all of them would be too
# narrow: they are averaged in so many blocks first.
BLOCKS = 30
# Growth is judged by what it is in so many answers: leaks follow what is said, and a busy machine
# says less.
ANSWERS = 1_000.0
PIECES = 10
MEBI = 1024.0 * 1024.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One thing that is watched. unit: of its values.

    tolerated: growth in ANSWERS up to which it counts as flat though its rise is certain, None
    where it grows with what is said. leak: growth in ANSWERS that must be beyond the interval:
    where it is not, nobody knows that it is flat. unjudged: what is said of one that nothing is
    asked of.
    """

    name: str
    title: str
    unit: str
    tolerated: float | None = None
    leak: float = 0.0
    unjudged: str = "grows with what is said"


# Memory: 1 KiB for each answer is tolerated, 4 KiB must be excluded.
FIGURES = (
    Figure(name="rss", title="memory (RSS)", unit="MiB", tolerated=1.0, leak=4.0),
    Figure(name="handles", title="open files and sockets", unit="", tolerated=0.5, leak=2.0),
    Figure(name="threads", title="threads", unit="", tolerated=0.2, leak=1.0),
    Figure(name="tasks", title="asyncio tasks", unit="", tolerated=1.0, leak=2.0),
    Figure(name="wal", title="write-ahead log", unit="MiB", tolerated=0.5, leak=2.0),
    Figure(name="database", title="database", unit="MiB"),
    Figure(name="index", title="indexes of recall", unit="MiB"),
    Figure(name="data", title="data/ as a whole", unit="MiB"),
    Figure(name="cpu", title="processor time", unit="s"),
    Figure(name="answers", title="answers seen", unit=""),
    Figure(
        name="wait",
        title="wait for an answer, median",
        unit="ms",
        unjudged="follows the load of the machine",
    ),
)
COLUMNS = ("seconds", *(figure.name for figure in FIGURES))


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """A straight line through the second half. level: its mean.

    slope, low, high: an hour's growth and its 95 % interval. start, end: seconds; first, last: the
    line's values there.
    """

    level: float
    slope: float
    low: float
    high: float
    start: float
    end: float
    first: float
    last: float


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


def verdict(half: Sequence[Sample], figure: Figure) -> str:
    """What the second half says of a figure: "flat", "GROWS", "UNSURE", or that it grows with what
    is said.

    It grows where the rise is certain and more than is tolerated. It is flat where it does not and
    the interval also excludes a leak; else the run was too short or too restless to tell.
    """
    if figure.tolerated is None:
        return figure.unjudged
    said = trend(half, "answers").slope
    if said <= 0:
        return "UNSURE"
    found, each = trend(half, figure.name), ANSWERS / said
    if found.low > 0 and found.slope * each > figure.tolerated:
        return "GROWS"
    return "flat" if found.high * each < figure.leak else "UNSURE"


def table(samples: Sequence[Sample]) -> list[str]:
    """One line of Markdown for each figure, under its head."""
    half = second_half(samples)
    said = trend(half, "answers").slope
    lines = [
        (
            "| figure | start | end | mean of the second half | growth an hour (95 %) | in "
            f"{ANSWERS:,.0f} answers | |"
        ),
        "|---|--:|--:|--:|--:|--:|---|",
    ]
    for figure in FIGURES:
        found = trend(half, figure.name)
        unit = f" {figure.unit}" if figure.unit else ""
        told = f"{found.slope:+.2f} ({found.low:+.2f} to {found.high:+.2f})"
        each = f"{found.slope * ANSWERS / said:+.2f}" if said > 0 else "?"
        first, last = samples[0][figure.name], samples[-1][figure.name]
        lines.append(
            f"| {figure.title} | {first:.1f}{unit} | {last:.1f}{unit} | {found.level:.1f}{unit} | "
            f"{told} | {each} | {verdict(half, figure)} |"
        )
    return lines


def course(samples: Sequence[Sample]) -> list[str]:
    """How it went, one line of Markdown for each of at most `PIECES` pieces: what was answered in
    it, and its end.
    """
    names = ("wait", "rss", "handles", "threads", "tasks", "wal", "data")
    titles = [figure.title for name in names for figure in FIGURES if figure.name == name]
    head = ["seconds", "answers", "in a second", "processor ms each", *titles]
    lines = [f"| {' | '.join(head)} |", f"|{'--:|' * len(head)}"]
    edges = sorted({(len(samples) - 1) * number // PIECES for number in range(PIECES + 1)})
    for before, now in pairwise(samples[edge] for edge in edges):
        said, took = now["answers"] - before["answers"], now["seconds"] - before["seconds"]
        each = f"{1_000 * (now['cpu'] - before['cpu']) / said:.0f}" if said > 0 else "?"
        values = [f"{now['seconds']:.0f}", f"{now['answers']:,.0f}", f"{said / took:.1f}", each]
        lines.append(f"| {' | '.join([*values, *(f'{now[name]:.1f}' for name in names)])} |")
    return lines


def not_flat(samples: Sequence[Sample]) -> dict[str, str]:
    """What has to stay where it is and does not, or may not, by name."""
    half = second_half(samples)
    told = {
        figure.name: verdict(half, figure) for figure in FIGURES if figure.tolerated is not None
    }
    return {name: word for name, word in told.items() if word != "flat"}
