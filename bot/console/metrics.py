"""Figures for a machine that watches: the record and the process, in the text format that Prometheus reads."""

import asyncio
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from memory.store.doors import Store

LOOK_EVERY = 30.0
"""Seconds for which a look at the ledger is good."""
MOST_SHARE = 0.01
"""The ledger's check reads all messages; it is made so seldom that it takes at most this share of the time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One figure, or one for each label. kind: "gauge" or "counter"; label: the label's name, "" for none."""

    name: str
    kind: str
    help: str
    values: Mapping[str, float]
    label: str = ""


class Metrics:
    """The figures of one running house. started: when it was built. clock: seconds that never go back."""

    def __init__(self, store: Store, started: datetime, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._started = started
        self._clock = clock
        self._looking = asyncio.Lock()
        self._faults = 0
        self._look_at = -LOOK_EVERY

    async def text(self) -> str:
        """All figures as they are now, the ledger's as it was at the last look.

        Raises:
            StoreError: the record cannot be read.
        """
        faults = await self._ledger()
        held = await self._store.figures()
        folds = {"model": 0, "extract": 0, **held.folds}
        return exposition(
            (
                _gauge("ledger_faults", "Breaches that the coverage ledger's check found.", faults),
                Metric(
                    name="mnema_folds_total", kind="counter", help="Folds done.", values=_floats(folds), label="method"
                ),
                _gauge("folds_open", "Folds under way.", held.folds_open),
                _gauge("inbox_waiting", "Messages not yet answered.", held.inbox_waiting),
                _gauge("outbox_unsent", "Parts of answers not yet sent.", held.outbox_unsent),
                _gauge("conversations", "Conversations that people see.", held.conversations),
                _counter("mnema_prefix_changes_total", "Changes of the requests' prefixes.", held.prefix_changes),
                *self._process(),
            )
        )

    async def _ledger(self) -> int:
        async with self._looking:
            if self._clock() >= self._look_at:
                began = self._clock()
                self._faults = len(await self._store.folds.check_ledger())
                ended = self._clock()
                self._look_at = ended + max(LOOK_EVERY, (ended - began) / MOST_SHARE)
            return self._faults

    def _process(self) -> Iterator[Metric]:
        used = resource.getrusage(resource.RUSAGE_SELF)
        yield _counter("process_cpu_seconds_total", "Processor time.", used.ru_utime + used.ru_stime)
        yield _gauge_of("process_start_time_seconds", "When it was started, unix time.", self._started.timestamp())
        if sys.platform == "linux":
            with open("/proc/self/statm", encoding="ascii") as pages:
                resident = int(pages.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
            yield _gauge_of("process_resident_memory_bytes", "Memory in use.", resident)
            yield _gauge_of("process_open_fds", "Open files and sockets.", len(os.listdir("/proc/self/fd")))


def exposition(metrics: tuple[Metric, ...]) -> str:
    """The text format: of each a line of help, one of its type, and its values; the last line ends too."""
    return "".join(f"{line}\n" for metric in metrics for line in _lines(metric))


def _lines(metric: Metric) -> Iterator[str]:
    yield f"# HELP {metric.name} {metric.help}"
    yield f"# TYPE {metric.name} {metric.kind}"
    for value, number in metric.values.items():
        label = f'{{{metric.label}="{value}"}}' if metric.label else ""
        yield f"{metric.name}{label} {number:.15g}"


def _gauge(name: str, help: str, value: float) -> Metric:
    return _gauge_of(f"mnema_{name}", help, value)


def _gauge_of(name: str, help: str, value: float) -> Metric:
    return Metric(name=name, kind="gauge", help=help, values={"": value})


def _counter(name: str, help: str, value: float) -> Metric:
    return Metric(name=name, kind="counter", help=help, values={"": value})


def _floats(values: Mapping[str, int]) -> dict[str, float]:
    return {name: float(value) for name, value in values.items()}
