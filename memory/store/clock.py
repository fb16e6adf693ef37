"""The database's clock as one process knows it: what all that share a record go by, whatever their own clocks say."""

import time
from collections.abc import Callable

NOW = "extract(epoch FROM clock_timestamp())::double precision"
"""Unix seconds by PostgreSQL's clock, as an expression."""


class DatabaseClock:
    """Unix seconds by the clock of the database.

    Between two answers it goes on by the machine's monotonic clock, so that nobody who sets the machine's time sets
    this. What the database said lies between the question and its answer: the clock is moved no further than it must be
    for that to be true, and a slow answer moves it by nothing. ticks: seconds that never go back.
    """

    def __init__(self, ticks: Callable[[], float] = time.monotonic) -> None:
        self._ticks = ticks
        self._ahead: float | None = None

    def __call__(self) -> float:
        """The time; by the machine's own clock as long as nothing was heard."""
        return time.time() if self._ahead is None else self._ticks() + self._ahead

    def asked(self) -> float:
        """To be noted just before the database is asked for its time."""
        return self._ticks()

    def heard(self, theirs: float, asked: float) -> None:
        """Take the database's answer, now that it has come. asked: see there."""
        least, most = theirs - self._ticks(), theirs - asked
        self._ahead = (least + most) / 2 if self._ahead is None else min(max(self._ahead, least), most)
