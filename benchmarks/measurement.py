"""One measurement with its floor, and the table of measurements."""

import statistics
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """A value of mnema, and that of the same work without mnema."""

    name: str
    ours: float
    floor: float
    #: Of both values.
    unit: str
    #: The value to reach.
    target: float
    #: A better value to aim for.
    goal: float
    #: What the floor measures.
    floor_is: str
    #: Whether more is better, as for rates.
    more: bool = False

    @property
    def met(self) -> str:
        """Whether it reached the goal, the target ("ok"), or neither."""
        if (self.ours >= self.goal) if self.more else (self.ours <= self.goal):
            return "goal"
        if (self.ours >= self.target) if self.more else (self.ours <= self.target):
            return "ok"
        return "MISSED"

    def row(self) -> str:
        """Format a line of the table."""
        ratio = self.ours / self.floor if self.floor else float("nan")
        sign = "≥" if self.more else "≤"
        return (
            f"{self.name:<46} {self.ours:>9.2f} {self.floor:>9.2f} {self.unit:<7} ×{ratio:>6.2f}  "
            f"{sign} {self.target:g} ({self.goal:g})  {self.met:<6}  floor: {self.floor_is}"
        )


def table(measurements: Iterable[Measurement]) -> str:
    """Format all measurements under a heading."""
    head = f"{'measurement':<46} {'ours':>9} {'floor':>9} {'unit':<7} {'ratio':>7}  target (goal)"
    return "\n".join([head, *(each.row() for each in measurements)])


def median(values: Iterable[float]) -> float:
    """Return the median."""
    return statistics.median(values)
