"""What this process has counted and timed: numbers by name and labels, cheap enough for every message."""

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0)
"""Upper bounds in seconds: a commit takes milliseconds, a step with a model at most ten minutes."""
MOST_SERIES = 200
"""Label values of one name; what comes after them is counted as OTHER, so that nobody can fill the memory by names."""
OTHER = "other"


@dataclass(slots=True)
class Times:
    """How long things took. counts: for each bucket, and what lay beyond the last; total: seconds in all."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS) + 1))
    total: float = 0.0


class Tally:
    """Counts of one process, from zero at its start. For the event loop's thread only."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, ...], float] = {}
        self._times: dict[tuple[str, ...], Times] = {}
        self._series: Counter[str] = Counter()

    def count(self, name: str, *labels: str, by: float = 1.0) -> None:
        """One more of that name and those label values. by: how many."""
        key = (name, *labels)
        if key not in self._counts:
            key = self._admitted(key)
        self._counts[key] = self._counts.get(key, 0.0) + by

    def took(self, name: str, seconds: float, *labels: str) -> None:
        """Something of that name and those label values took so long."""
        key = (name, *labels)
        times = self._times.get(key)
        if times is None:
            times = self._times.setdefault(self._admitted(key), Times())
        times.counts[bisect_left(BUCKETS, seconds)] += 1
        times.total += seconds

    def counts(self, name: str) -> dict[tuple[str, ...], float]:
        """What was counted under a name, by label values."""
        return _under(self._counts, name)

    def times(self, name: str) -> dict[tuple[str, ...], Times]:
        """What was timed under a name, by label values."""
        return _under(self._times, name)

    def _admitted(self, key: tuple[str, ...]) -> tuple[str, ...]:
        """The key under which something new is kept."""
        if self._series[key[0]] >= MOST_SERIES:
            return (key[0], *(OTHER for _ in key[1:]))
        self._series[key[0]] += 1
        return key


def _under(kept: dict[tuple[str, ...], T], name: str) -> dict[tuple[str, ...], T]:
    return {key[1:]: value for key, value in kept.items() if key[0] == name}
