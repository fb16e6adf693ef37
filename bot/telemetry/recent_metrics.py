"""Figures of each minute of the last day, in memory: a ring that never grows."""

import asyncio
import time
from array import array
from collections.abc import Awaitable, Callable, Mapping
from itertools import groupby

import structlog

from bot.telemetry.metrics import MetricStore
from memory.store.errors import StoreError

log = structlog.get_logger(__name__)
MINUTES = 24 * 60
MINUTE_SECONDS = 60.0
# What is kept of each minute: depths at its end, counts and means within it.
COLUMNS = (
    "queue",
    "unsent",
    "turns",
    "turn_seconds",
    "model_errors",
    "send_errors",
    "faults",
    "lag",
)
GOOD_OUTCOMES = ("ok", "stopped")
_NO_VALUE = float("nan")

MAX_CHANNELS = 32  # that have a ring; there are fewer kinds of channels
Phases = Callable[[], Mapping[str, str]]  # of each channel by name, such as "up"
# messages not answered yet, parts of replies not sent yet
Depths = Callable[[], Awaitable[tuple[int, int]]]


class RecentMetrics:
    """One row a minute of what a process did."""

    def __init__(
        self, counters: MetricStore, depths: Depths, lag: Callable[[], float], phases: Phases = dict
    ) -> None:
        """lag: worst lag of the event loop, in seconds."""
        self._phases = phases
        self._known_phases = [""]  # the rings hold places in it
        self._channels: dict[str, bytearray] = {}
        self._counters, self._depths, self._lag = counters, depths, lag
        self._ring = array("f", [_NO_VALUE] * (MINUTES * len(COLUMNS)))
        self._next = 0
        self._newest = 0.0
        self._before = self._totals()

    async def watch(self) -> None:
        """Add a row each minute until cancelled."""
        while True:
            await asyncio.sleep(MINUTE_SECONDS)
            try:
                await self.sample()
            except StoreError as err:
                log.warning("a minute has no figures", error=type(err).__name__)

    async def sample(self) -> None:
        """Add the row of the minute that ends now.

        Raises:
            StoreError: the depths cannot be read; the minute is counted into the next row.
        """
        queue, unsent = await self._depths()
        totals = self._totals()
        turns, seconds, *errors = (
            now - then for now, then in zip(totals, self._before, strict=True)
        )
        self._before = totals
        mean = seconds / turns if turns else _NO_VALUE
        place = self._next * len(COLUMNS)
        self._ring[place : place + len(COLUMNS)] = array(
            "f", [queue, unsent, turns, mean, *errors, self._lag()]
        )
        self._sample_channels()
        self._next, self._newest = (self._next + 1) % MINUTES, time.time()

    def columns(self) -> dict[str, list[float | None]]:
        """Return each column, oldest minute first; None where there is no value."""
        width = len(COLUMNS)
        rows = [(self._next + minute) % MINUTES * width for minute in range(MINUTES)]
        return {
            name: [_to_value(self._ring[row + at]) for row in rows]
            for at, name in enumerate(COLUMNS)
        }

    def _sample_channels(self) -> None:
        phases = self._phases()
        for name in phases:
            if name not in self._channels and len(self._channels) < MAX_CHANNELS:
                self._channels[name] = bytearray(MINUTES)
            if phases[name] not in self._known_phases:
                self._known_phases.append(phases[name])
        for name, ring in self._channels.items():
            ring[self._next] = self._known_phases.index(phases.get(name, ""))

    def channels(self) -> dict[str, list[tuple[str, int]]]:
        """Return each channel's phases of the last day and how many minutes each lasted, oldest
        first.

        A minute has the phase of its end; "" where there was none.
        """
        return {
            name: [
                (self._known_phases[code], len(list(minutes)))
                for code, minutes in groupby(ring[self._next :] + ring[: self._next])
            ]
            for name, ring in self._channels.items()
        }

    @property
    def newest(self) -> float:
        """When the last row ended, unix seconds, 0.0 for none."""
        return self._newest

    def _totals(self) -> tuple[float, ...]:
        counters = self._counters
        times = counters.times("turn_seconds").values()
        return (
            sum(sum(histogram.counts) for histogram in times),
            sum(histogram.total for histogram in times),
            sum(
                by
                for (_, outcome), by in counters.counts("llm_requests_total").items()
                if outcome not in GOOD_OUTCOMES
            ),
            sum(by for (_, code), by in counters.counts("send_total").items() if code != "ok"),
            sum(counters.counts("turn_faults_total").values()),
        )


def _to_value(value: float) -> float | None:
    return None if value != value else round(value, 3)  # NaN differs from itself
