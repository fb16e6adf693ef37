"""One measurement with its floor and targets, and the table of measurements."""

import statistics
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

LEAST_ROUNDS = 2
Verdict = Literal["aim", "ok", "MISSED", ""]


class TargetMissed(Exception):
    """A report fell below what it must not fall below; the text is the whole report."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """A value of mnema, and that of the same work without mnema."""

    name: str
    ours: float
    #: None where nothing can be compared.
    floor: float | None = None
    #: Of both values.
    unit: str
    #: The value to reach, and a better one to aim for; None for no target.
    must: float | None = None
    aim: float | None = None
    #: What the floor measures.
    floor_is: str = ""
    #: Whether more is better, as for rates.
    more: bool = False
    #: Whether the targets are of the ratio, which a busy machine changes less than the value.
    targets_ratio: bool = False
    #: Median of the ratios of pairs that were measured one after the other; None to divide the two
    #: values.
    pair_ratio: float | None = None
    #: CPU milliseconds of one unit of work, ours and the floor's; None where it was not measured.
    cpu: float | None = None
    floor_cpu: float | None = None
    #: Part of `cpu` that child processes used.
    cpu_children: float = 0.0

    @property
    def ratio(self) -> float | None:
        """Our value divided by the floor's."""
        if self.pair_ratio is not None:
            return self.pair_ratio
        return self.ours / self.floor if self.floor else None

    @property
    def verdict(self) -> Verdict:
        """Whether it reached what is aimed for, what must be ("ok"), or neither; "" without a
        target.
        """
        value = self.ratio if self.targets_ratio else self.ours
        if value is None or self.must is None:
            return ""
        if self.aim is not None and self._reaches(value, self.aim):
            return "aim"
        return "ok" if self._reaches(value, self.must) else "MISSED"

    def row(self) -> str:
        """Format a line of the table."""
        floor = "" if self.floor is None else f"{self.floor:.2f}"
        ratio = "" if self.ratio is None else f"×{self.ratio:.2f}"
        cpu = " / ".join(
            "" if one is None else f"{one:.2f}" for one in (self.cpu, self.floor_cpu)
        ).rstrip(" /")
        children = (
            f", {self.cpu_children:.2f} of it in child processes"
            if self.cpu_children >= 0.01
            else ""
        )
        targets = f"{self._target(self.must):>9} {self._target(self.aim):>9}  {self.verdict:<6}"
        beside = f"  floor: {self.floor_is}{children}" if self.floor_is or children else ""
        return (
            f"{self.name:<50} {self.ours:>9.2f} {floor:>9} {self.unit:<8} {ratio:>7} {targets} "
            f"{cpu:>15}{beside}"
        ).rstrip()

    def _reaches(self, value: float, target: float) -> bool:
        return value >= target if self.more else value <= target

    def _target(self, target: float | None) -> str:
        if target is None:
            return ""
        return f"{'≥' if self.more else '≤'} {'×' if self.targets_ratio else ''}{target:g}"


def table(measurements: Iterable[Measurement]) -> str:
    """Format all measurements under a heading."""
    head = (
        f"{'measurement':<50} {'ours':>9} {'floor':>9} {'unit':<8} {'ratio':>7} {'must':>9} "
        f"{'aim':>9}  {'':<6} {'CPU ms / floor':>15}"
    )
    return "\n".join([head, *(each.row() for each in measurements)])


def median(values: Iterable[float]) -> float:
    """Return the median."""
    return statistics.median(values)


def median_ratio(pairs: Iterable[Sequence[float]]) -> float:
    """Return the median ratio of pairs of ours and floor, each measured in the same moment."""
    return median(ours / floor for ours, floor in pairs)


def rounds(most: int, seconds: float) -> Iterator[int]:
    """Count rounds of a measurement; on a slow machine none begins after so many seconds, but at
    least two are made.
    """
    began = time.perf_counter()
    for number in range(most):
        if number >= LEAST_ROUNDS and time.perf_counter() - began > seconds:
            return
        yield number
