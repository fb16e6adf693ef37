"""Collects the values behind /metrics: from the store, this process, and what it has counted."""

import asyncio
import os
import shutil
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Generic, TypeVar

from bot.access.budgets import money_for_usage
from bot.gateway.channel_status import ChannelStatus
from bot.telemetry.metrics import METRIC_TABLE, Metric, MetricKind, MetricStore, format_exposition
from memory.store.maintenance.stats import StoreStats, StoreTotals
from memory.store.rows import Usage
from memory.store.store import Store

T = TypeVar("T")
SampleValues = Mapping[tuple[str, ...], float]
REFRESH_SECONDS = 30.0  # between two checks of the ledger
MAX_REFRESH_SHARE = 0.01  # share of time that queries over whole tables may take
TURN_OUTCOMES = ("done", "failed", "cancelled", "interrupted")
NO_TURNS = dict.fromkeys(TURN_OUTCOMES, 0)


class CachedQuery(Generic[T]):
    """Caches the result of an expensive query; the longer it takes, the longer its result is
    used.
    """

    def __init__(
        self,
        query: Callable[[], Awaitable[T]],
        clock: Callable[[], float],
        min_seconds: float = 0.0,
    ) -> None:
        """clock: monotonic seconds; min_seconds: how long a result is used at least."""
        self._query = query
        self._clock = clock
        self._min_seconds = min_seconds
        self._running = asyncio.Lock()
        self._result: list[T] = []
        self.next_at = float("-inf")

    async def __call__(self) -> T:
        """Return the newest result; run the query if that is too old."""
        async with self._running:
            if self._clock() >= self.next_at:
                began = self._clock()
                self._result = [await self._query()]
                ended = self._clock()
                self.next_at = ended + max(self._min_seconds, (ended - began) / MAX_REFRESH_SHARE)
            return self._result[0]


class MetricsCollector:
    """Collects all metrics of a running bot."""

    def __init__(
        self,
        *,
        store: Store,
        root: Path,
        started: datetime,
        counters: MetricStore,
        channels: Callable[[], Mapping[str, ChannelStatus]],
        servers: Callable[[], Mapping[str, bool]],
        lag: Callable[[], float],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Connect the sources.

        Args:
            root: the home, for its disk space.
            channels: returns the status of the channels of this process.
            servers: tells of each server of tools whether it can be called.
            lag: returns the event loop's lag in seconds.
            clock: monotonic seconds.
        """
        self._store = store
        self._root = root
        self._started = started
        self._counters = counters
        self._channels = channels
        self._servers = servers
        self._lag = lag
        self._ledger = CachedQuery(self._check_ledger, clock, REFRESH_SECONDS)
        self._totals = CachedQuery(store.totals, clock)
        self._faults = 0
        self._faults_total = 0

    async def text(self) -> str:
        """Return all metrics in the Prometheus text format; values over whole tables may be some
        time old.

        Raises:
            StoreError: the store cannot be read.
        """
        faults = await self._ledger()
        totals, stats = await self._totals(), await self._store.figures()
        disk = await asyncio.to_thread(shutil.disk_usage, self._root)
        known: dict[str, SampleValues] = {
            **self._store_values(stats),
            **_total_values(totals),
            **self._channel_values(),
            "mcp_up": {(name,): float(is_up) for name, is_up in self._servers().items()},
            "disk_free_bytes": {(): disk.free},
            "ledger_faults": {(): faults},
            "ledger_faults_total": {(): self._faults_total},
            "loop_lag_seconds": {(): self._lag()},
        }
        return format_exposition(
            (*(self._metric(row, known) for row in METRIC_TABLE), *self._process_metrics())
        )

    async def _check_ledger(self) -> int:
        found = len(await self._store.folds.check_ledger())
        self._faults_total += max(0, found - self._faults)
        self._faults = found
        return found

    def _metric(self, definition: Metric, known: Mapping[str, SampleValues]) -> Metric:
        """Return a metric with its samples; a counter without labels begins at zero, as Prometheus
        asks.
        """
        name = definition.name
        values = known[name] if name in known else self._counters.counts(name)
        if definition.kind == "counter" and not definition.labels and not values:
            values = {(): 0.0}
        return replace(
            definition, name=f"mnema_{name}", values=values, times=self._counters.times(name)
        )

    def _store_values(self, stats: StoreStats) -> dict[str, SampleValues]:
        age = max(0.0, self._store.now() - stats.inbox_oldest) if stats.inbox_oldest else 0.0
        return {
            "inbox_depth": {(): stats.inbox_depth},
            "inbox_oldest_age_s": {(): age},
            "outbox_depth": {(): stats.outbox_depth},
            "folds_open": {(): stats.folds_open},
            "work_open": {(kind,): stats.tasks_open.get(kind, 0) for kind in ("agent", "exec")},
            "prefix_breaks_total": {
                (reason,): number for reason, number in stats.prefix_breaks.items()
            },
            "db_busy_total": {(): stats.busy},
            "db_bytes": {(): stats.db_bytes},
            "wal_bytes": {(): stats.wal_bytes},
        }

    def _channel_values(self) -> dict[str, SampleValues]:
        states, now = self._channels(), time.time()
        return {
            "channel_up": {(name,): float(state.ready) for name, state in states.items()},
            "channel_last_ok_age_s": {
                (name,): max(0.0, now - state.last_contact)
                for name, state in states.items()
                if state.last_contact
            },
        }

    def _process_metrics(self) -> Iterator[Metric]:
        import resource  # not on every system

        used = resource.getrusage(resource.RUSAGE_SELF)
        yield _own_metric(
            "process_cpu_seconds_total", "counter", "Processor time.", used.ru_utime + used.ru_stime
        )
        began = self._started.timestamp()
        yield _own_metric(
            "process_start_time_seconds", "gauge", "When it was started, unix time.", began
        )
        tasks = len(asyncio.all_tasks())
        yield _own_metric(
            "process_asyncio_tasks", "gauge", "Tasks of the event loop that have not ended.", tasks
        )
        if sys.platform == "linux":
            with open("/proc/self/statm", encoding="ascii") as pages:
                resident = int(pages.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
            yield _own_metric("process_resident_memory_bytes", "gauge", "Memory in use.", resident)
            yield _own_metric(
                "process_open_fds",
                "gauge",
                "Open files and sockets.",
                len(os.listdir("/proc/self/fd")),
            )


def _own_metric(name: str, kind: MetricKind, help: str, value: float) -> Metric:
    return Metric(name=name, kind=kind, help=help, values={(): value})


def _total_values(totals: StoreTotals) -> dict[str, SampleValues]:
    return {
        "turns_total": {(state,): number for state, number in {**NO_TURNS, **totals.turns}.items()},
        "folds_total": {
            (method, state): number for (method, state), number in totals.folds.items()
        },
        "conversations": {(): totals.conversations},
        "llm_tokens_total": _token_values(totals.usage),
        "llm_cost_total": {(): sum(money_for_usage(used) or 0.0 for used in totals.usage)},
    }


def _token_values(usage: Sequence[Usage]) -> SampleValues:
    """Return tokens by kind; the kinds add up to all tokens."""
    read, written = sum(used.cache_read for used in usage), sum(used.cache_write for used in usage)
    return {
        ("input",): sum(used.input for used in usage) - read - written,
        ("output",): sum(used.output for used in usage),
        ("cache_read",): read,
        ("cache_write",): written,
    }
