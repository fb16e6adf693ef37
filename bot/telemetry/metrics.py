"""Metrics of this process, the event loop's lag, the table of all metrics, Prometheus' text
format.
"""

import asyncio
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Literal, TypeVar

T = TypeVar("T")

# Upper bounds in seconds: a commit takes milliseconds, a model call at most ten minutes.
BUCKETS = (
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1.0,
    2.5,
    5.0,
    10.0,
    30.0,
    60.0,
    120.0,
    300.0,
    600.0,
)
# Label combinations of one metric. Further ones count as OTHER_LABEL, so that no client can fill
# the memory.
MAX_SERIES = 200
OTHER_LABEL = "other"
# between two measurements of the loop's lag; one costs about 30 microseconds
LAG_POLL_SECONDS = 0.5
# for which the worst lag is reported, so that a scrape every 30 seconds misses none
LAG_WINDOW_SECONDS = 30.0


@dataclass(slots=True)
class Histogram:
    """Durations by bucket."""

    #: One count for each bucket, and one for what lies beyond the last.
    counts: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS) + 1))
    #: Sum in seconds.
    total: float = 0.0


class MetricStore:
    """Counters and histograms of one process, zero at its start. Only for the event loop's
    thread.
    """

    def __init__(self) -> None:
        self._counts: dict[tuple[str, ...], float] = {}
        self._times: dict[tuple[str, ...], Histogram] = {}
        self._series: Counter[str] = Counter()

    def count(self, name: str, *labels: str, by: float = 1.0) -> None:
        """Increase a counter."""
        key = (name, *labels)
        if key not in self._counts:
            key = self._bounded_key(key)
        self._counts[key] = self._counts.get(key, 0.0) + by

    def observe(self, name: str, seconds: float, *labels: str) -> None:
        """Add a duration to a histogram."""
        key = (name, *labels)
        histogram = self._times.get(key)
        if histogram is None:
            histogram = self._times.setdefault(self._bounded_key(key), Histogram())
        histogram.counts[bisect_left(BUCKETS, seconds)] += 1
        histogram.total += seconds

    def counts(self, name: str) -> dict[tuple[str, ...], float]:
        """Return the counters of a metric by label values."""
        return _by_labels(self._counts, name)

    def times(self, name: str) -> dict[tuple[str, ...], Histogram]:
        """Return the histograms of a metric by label values."""
        return _by_labels(self._times, name)

    def _bounded_key(self, key: tuple[str, ...]) -> tuple[str, ...]:
        """Admit a new label combination, or replace its labels once there are MAX_SERIES."""
        if self._series[key[0]] >= MAX_SERIES:
            return (key[0], *(OTHER_LABEL for _ in key[1:]))
        self._series[key[0]] += 1
        return key


def _by_labels(stored: dict[tuple[str, ...], T], name: str) -> dict[tuple[str, ...], T]:
    return {key[1:]: value for key, value in stored.items() if key[0] == name}


class LoopLag:
    """Lag of the event loop in seconds: how much later than planned a sleeping task wakes."""

    def __init__(self) -> None:
        self._due = 0.0
        self._newest = 0.0
        # (time, lag), lags falling: each is the maximum of the window once the ones before it are
        # too old.
        self._maxima: deque[tuple[float, float]] = deque()

    async def watch(self) -> None:
        """Measure until cancelled."""
        clock = asyncio.get_running_loop().time
        while True:
            self._due = clock() + LAG_POLL_SECONDS
            await asyncio.sleep(LAG_POLL_SECONDS)
            self.note(clock() - self._due, clock())

    def note(self, lag: float, now: float) -> None:
        """Add one measurement."""
        self._newest = max(0.0, lag)
        while self._maxima and self._maxima[-1][1] <= self._newest:
            self._maxima.pop()
        while self._maxima and self._maxima[0][0] < now - LAG_WINDOW_SECONDS:
            self._maxima.popleft()
        self._maxima.append((now, self._newest))

    def now(self) -> float:
        """Return the newest lag, or how overdue the running measurement is if that is more."""
        if not self._due:
            return 0.0
        return max(self._newest, asyncio.get_running_loop().time() - self._due)

    def worst(self) -> float:
        """Return the maximum of the last LAG_WINDOW_SECONDS."""
        return max(self.now(), self._maxima[0][1] if self._maxima else 0.0)


# The text format, as pure functions.
# Source: https://prometheus.io/docs/instrumenting/exposition_formats/, version 0.0.4.

MetricKind = Literal["counter", "gauge", "histogram"]
_BOUND_LABELS = (*(f"{bound:g}" for bound in BUCKETS), "+Inf")
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One metric with its samples by label values."""

    name: str
    kind: MetricKind
    help: str
    #: Names of the labels, in order; no label identifies a person.
    labels: tuple[str, ...] = ()
    values: Mapping[tuple[str, ...], float] = field(default_factory=dict)
    #: The samples of a histogram.
    times: Mapping[tuple[str, ...], Histogram] = field(default_factory=dict)


def format_exposition(metrics: Iterable[Metric]) -> str:
    """Format metrics in Prometheus' text format."""
    return "".join(f"{line}\n" for metric in metrics for line in _format_metric(metric))


def _format_metric(metric: Metric) -> Iterator[str]:
    yield f"# HELP {metric.name} {metric.help}"
    yield f"# TYPE {metric.name} {metric.kind}"
    for values, number in metric.values.items():
        yield f"{metric.name}{_format_labels(_label_pairs(metric, values))} {number:.15g}"
    for values, histogram in metric.times.items():
        yield from _format_histogram(metric.name, _label_pairs(metric, values), histogram)


def _format_histogram(name: str, pairs: list[str], histogram: Histogram) -> Iterator[str]:
    cumulative = list(accumulate(histogram.counts))
    for bound, number in zip(_BOUND_LABELS, cumulative, strict=True):
        yield f"{name}_bucket{_format_labels([*pairs, _label_pair('le', bound)])} {number}"
    yield f"{name}_sum{_format_labels(pairs)} {histogram.total:.15g}"
    yield f"{name}_count{_format_labels(pairs)} {cumulative[-1]}"


def _label_pairs(metric: Metric, values: tuple[str, ...]) -> list[str]:
    return [_label_pair(label, value) for label, value in zip(metric.labels, values, strict=True)]


def _label_pair(label: str, value: str) -> str:
    return f'{label}="{value.translate(_ESCAPES)}"'


def _format_labels(pairs: list[str]) -> str:
    return f"{{{','.join(pairs)}}}" if pairs else ""


# Kind, name without its prefix, help and labels of each metric of the bot.
_TABLE: tuple[tuple[MetricKind, str, str, tuple[str, ...]], ...] = (
    ("gauge", "inbox_depth", "Messages stored and not yet answered.", ()),
    (
        "gauge",
        "inbox_oldest_age_s",
        "Age of the oldest message that is due and not answered, seconds.",
        (),
    ),
    (
        "counter",
        "updates_total",
        "Messages that channels received, repeats too.",
        ("channel", "dup"),
    ),
    (
        "histogram",
        "ack_seconds",
        "From a message's arrival to the commit after which it is acknowledged.",
        (),
    ),
    ("counter", "turns_total", "Finished turns, from the store.", ("outcome",)),
    (
        "histogram",
        "turn_seconds",
        "From the start of a turn in this process to its stored end.",
        (),
    ),
    (
        "counter",
        "turn_faults_total",
        "Attempts to answer that ended in an error of this machine.",
        ("error",),
    ),
    ("gauge", "outbox_depth", "Parts of answers not yet sent.", ()),
    ("counter", "outbox_unknown_total", "Parts that may or may not have arrived.", ()),
    ("counter", "send_total", "Attempts to send a part.", ("channel", "code")),
    ("histogram", "ratelimited_seconds", "Pauses that platforms asked for.", ()),
    ("gauge", "channel_up", "Whether a channel receives messages, 1 or 0.", ("channel",)),
    (
        "gauge",
        "mcp_up",
        "Whether a server of tools can be called, 1; 0 while it is down.",
        ("server",),
    ),
    (
        "gauge",
        "channel_last_ok_age_s",
        "Seconds since a channel's platform last answered well.",
        ("channel",),
    ),
    ("counter", "llm_requests_total", "Requests to models, each attempt.", ("model", "outcome")),
    (
        "counter",
        "llm_tokens_total",
        "Tokens used, from the store; input is what came from no cache.",
        ("kind",),
    ),
    ("counter", "llm_cost_total", "US dollars for models with a known price, from the store.", ()),
    ("histogram", "tool_seconds", "Duration of tool calls.", ("tool", "outcome")),
    (
        "counter",
        "jobs_fired_total",
        "Due moments of reminders and tasks, by what became of them.",
        ("kind", "state"),
    ),
    ("histogram", "job_lag_seconds", "From a due moment to the commit of what it causes.", ()),
    ("counter", "exec_total", "Commands of the model that ended.", ("outcome",)),
    ("gauge", "work_open", "Sub-agents and commands in the background at work.", ("kind",)),
    ("counter", "beats_total", "Looks of the heartbeat, by what they came to.", ("decision",)),
    ("gauge", "folds_open", "Folds in progress.", ()),
    ("counter", "folds_total", "Finished folds, from the store.", ("method", "outcome")),
    ("gauge", "ledger_faults", "Faults of the ledger at the last check.", ()),
    ("counter", "ledger_faults_total", "New faults of the ledger that checks found.", ()),
    (
        "counter",
        "history_repairs_total",
        "Requests whose history had to be repaired to be valid.",
        (),
    ),
    ("counter", "prefix_breaks_total", "Changes of requests' prefixes.", ("reason",)),
    ("gauge", "conversations", "Conversations with messages.", ()),
    (
        "counter",
        "db_busy_total",
        "Transactions that failed on conflicts or an unreachable server.",
        (),
    ),
    ("gauge", "db_bytes", "Size of the database.", ()),
    ("gauge", "wal_bytes", "Size of the database's write-ahead log.", ()),
    ("gauge", "disk_free_bytes", "Free space on the disk of the home.", ()),
    (
        "counter",
        "auth_denied_total",
        "Messages, commands, tool calls and page requests that were not allowed.",
        (),
    ),
    ("gauge", "loop_lag_seconds", "Worst lag of the event loop in the last 30 seconds.", ()),
)
METRIC_TABLE = tuple(
    Metric(kind=kind, name=name, help=help, labels=labels) for kind, name, help, labels in _TABLE
)
