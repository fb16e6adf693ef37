"""One measured figure beside its floor, and the table of them."""

import statistics
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """ours and floor in `unit`; reach, aim: what is asked for. more: more is better (rates)."""

    name: str
    ours: float
    floor: float
    unit: str
    reach: float
    aim: float
    floor_is: str
    more: bool = False

    @property
    def met(self) -> str:
        """How it compares with what was asked."""
        if (self.ours >= self.aim) if self.more else (self.ours <= self.aim):
            return "aim"
        if (self.ours >= self.reach) if self.more else (self.ours <= self.reach):
            return "ok"
        return "MISSED"

    def row(self) -> str:
        ratio = self.ours / self.floor if self.floor else float("nan")
        sign = "≥" if self.more else "≤"
        return (
            f"{self.name:<46} {self.ours:>9.2f} {self.floor:>9.2f} {self.unit:<7} ×{ratio:>6.2f}  "
            f"{sign} {self.reach:g} ({self.aim:g})  {self.met:<6}  floor: {self.floor_is}"
        )


def table(figures: Iterable[Figure]) -> str:
    """All rows under a heading."""
    head = f"{'figure':<46} {'ours':>9} {'floor':>9} {'unit':<7} {'ratio':>7}  to reach (aim)"
    return "\n".join([head, *(figure.row() for figure in figures)])


def median(values: Iterable[float]) -> float:
    """The middle one."""
    return statistics.median(values)
