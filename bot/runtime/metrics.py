"""Figures for a machine that watches: the store, the process and what it counted, told in one text."""

import asyncio
import os
import resource
import shutil
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Generic, TypeVar

from bot.gateway.channel_status import ChannelStatus
from bot.models.catalog import call_cost
from bot.telemetry.metrics import METRIC_TABLE, Metric, MetricKind, MetricStore, format_exposition
from memory.store.maintenance.stats import StoreStats, StoreTotals
from memory.store.rows import Usage
from memory.store.store import Store

T = TypeVar("T")
SampleValues = Mapping[tuple[str, ...], float]
REFRESH_SECONDS = 30.0  # seconds for which a look at the ledger is good
MAX_REFRESH_SHARE = 0.01  # what reads whole tables is done so seldom that it takes at most this share of the time
TURN_OUTCOMES = ("done", "failed", "cancelled", "interrupted")
NO_TURNS = dict.fromkeys(TURN_OUTCOMES, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricSources:
    """What the figures are of."""

    store: Store
    #: The home.
    root: Path
    #: When the bot was built.
    started: datetime
    tally: MetricStore
    #: How each is now.
    channels: Callable[[], Mapping[str, ChannelStatus]]
    #: The event loop's, seconds.
    lag: Callable[[], float]


class CachedQuery(Generic[T]):
    """A look that costs: whoever asks gets the newest, and it is made again after a time.

    least: seconds for which one is good at any rate. clock: seconds that never go back.
    """

    def __init__(self, look: Callable[[], Awaitable[T]], clock: Callable[[], float], least: float = 0.0) -> None:
        self._look = look
        self._clock = clock
        self._least = least
        self._looking = asyncio.Lock()
        self._found: list[T] = []
        self.next_at = float("-inf")

    async def __call__(self) -> T:
        """What the newest look found."""
        async with self._looking:
            if self._clock() >= self.next_at:
                began = self._clock()
                self._found = [await self._look()]
                ended = self._clock()
                self.next_at = ended + max(self._least, (ended - began) / MAX_REFRESH_SHARE)
            return self._found[0]


class MetricsCollector:
    """The figures of one running house. clock: seconds that never go back."""

    def __init__(self, sources: MetricSources, clock: Callable[[], float] = time.monotonic) -> None:
        self._watched = sources
        self._ledger = CachedQuery(self._look, clock, REFRESH_SECONDS)
        self._totals = CachedQuery(sources.store.totals, clock)
        self._faults = 0
        self._faults_ever = 0

    async def text(self) -> str:
        """All figures as they are now, those that read whole tables as they were at the last look.

        Raises:
            StoreError: the store cannot be read.
        """
        faults = await self._ledger()
        totals, held = await self._totals(), await self._watched.store.figures()
        free = await asyncio.to_thread(shutil.disk_usage, self._watched.root)
        known: dict[str, SampleValues] = {
            **self._under_way(held),
            **_sum_values(totals),
            **self._channels(),
            "disk_free_bytes": {(): free.free},
        }
        known |= {"ledger_faults": {(): faults}, "ledger_faults_total": {(): self._faults_ever}}
        known |= {"loop_lag_seconds": {(): self._watched.lag()}}
        return format_exposition((*(self._metric(one, known) for one in METRIC_TABLE), *self._process()))

    async def _look(self) -> int:
        found = len(await self._watched.store.folds.check_ledger())
        self._faults_ever += max(0, found - self._faults)
        self._faults = found
        return found

    def _metric(self, one: Metric, known: Mapping[str, SampleValues]) -> Metric:
        """With its samples; a counter without labels begins at zero, as Prometheus asks."""
        tally = self._watched.tally
        values = known[one.name] if one.name in known else tally.counts(one.name)
        if one.kind == "counter" and not one.labels and not values:
            values = {(): 0.0}
        return replace(one, name=f"mnema_{one.name}", values=values, times=tally.times(one.name))

    def _under_way(self, held: StoreStats) -> dict[str, SampleValues]:
        age = max(0.0, self._watched.store.now() - held.inbox_oldest) if held.inbox_oldest else 0.0
        return {
            "inbox_depth": {(): held.inbox_depth},
            "inbox_oldest_age_s": {(): age},
            "outbox_depth": {(): held.outbox_depth},
            "folds_open": {(): held.folds_open},
            "prefix_breaks_total": {(reason,): number for reason, number in held.prefix_breaks.items()},
            "db_busy_total": {(): held.busy},
            "db_bytes": {(): held.db_bytes},
            "wal_bytes": {(): held.wal_bytes},
        }

    def _channels(self) -> dict[str, SampleValues]:
        states, now = self._watched.channels(), time.time()
        return {
            "channel_up": {(name,): float(state.ready) for name, state in states.items()},
            "channel_last_ok_age_s": {
                (name,): max(0.0, now - state.heard) for name, state in states.items() if state.heard
            },
        }

    def _process(self) -> Iterator[Metric]:
        used = resource.getrusage(resource.RUSAGE_SELF)
        yield _own_metric("process_cpu_seconds_total", "counter", "Processor time.", used.ru_utime + used.ru_stime)
        began = self._watched.started.timestamp()
        yield _own_metric("process_start_time_seconds", "gauge", "When it was started, unix time.", began)
        tasks = len(asyncio.all_tasks())
        yield _own_metric("process_asyncio_tasks", "gauge", "Tasks of the event loop that have not ended.", tasks)
        if sys.platform == "linux":
            with open("/proc/self/statm", encoding="ascii") as pages:
                resident = int(pages.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
            yield _own_metric("process_resident_memory_bytes", "gauge", "Memory in use.", resident)
            yield _own_metric("process_open_fds", "gauge", "Open files and sockets.", len(os.listdir("/proc/self/fd")))


def _own_metric(name: str, kind: MetricKind, help: str, value: float) -> Metric:
    return Metric(name=name, kind=kind, help=help, values={(): value})


def _sum_values(totals: StoreTotals) -> dict[str, SampleValues]:
    return {
        "turns_total": {(state,): number for state, number in {**NO_TURNS, **totals.turns}.items()},
        "folds_total": {(method, state): number for (method, state), number in totals.folds.items()},
        "conversations": {(): totals.conversations},
        "llm_tokens_total": _token_kinds(totals.usage),
        "llm_cost_total": {(): sum(map(_known_cost, totals.usage))},
    }


def _token_kinds(usage: Sequence[Usage]) -> SampleValues:
    """Kinds that add up to all there were."""
    read, written = sum(one.cache_read for one in usage), sum(one.cache_write for one in usage)
    return {
        ("input",): sum(one.input for one in usage) - read - written,
        ("output",): sum(one.output for one in usage),
        ("cache_read",): read,
        ("cache_write",): written,
    }


def _known_cost(one: Usage) -> float:
    """Nothing where the price is not known: no sum is guessed."""
    known = call_cost(
        one.model, input=one.input, output=one.output, cache_read=one.cache_read, cache_write=one.cache_write
    )
    return known or 0.0
