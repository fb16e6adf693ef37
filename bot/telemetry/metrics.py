"""What this process has counted and timed: numbers by name and labels, cheap enough for every message."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Literal, TypeVar

T = TypeVar("T")

# Upper bounds in seconds: a commit takes milliseconds, a step with a model at most ten minutes.
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0)
# Label values of one name; what comes after them is counted as OTHER, so that nobody can fill the memory by names.
MAX_SERIES = 200
OTHER_LABEL = "other"


@dataclass(slots=True)
class Histogram:
    """How long things took."""

    #: For each bucket, and what lay beyond the last.
    counts: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS) + 1))
    #: Seconds in all.
    total: float = 0.0


class MetricStore:
    """Counts of one process, from zero at its start. For the event loop's thread only."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, ...], float] = {}
        self._times: dict[tuple[str, ...], Histogram] = {}
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
            times = self._times.setdefault(self._admitted(key), Histogram())
        times.counts[bisect_left(BUCKETS, seconds)] += 1
        times.total += seconds

    def counts(self, name: str) -> dict[tuple[str, ...], float]:
        """What was counted under a name, by label values."""
        return _values_for_name(self._counts, name)

    def times(self, name: str) -> dict[tuple[str, ...], Histogram]:
        """What was timed under a name, by label values."""
        return _values_for_name(self._times, name)

    def _admitted(self, key: tuple[str, ...]) -> tuple[str, ...]:
        """The key under which something new is kept."""
        if self._series[key[0]] >= MAX_SERIES:
            return (key[0], *(OTHER_LABEL for _ in key[1:]))
        self._series[key[0]] += 1
        return key


def _values_for_name(kept: dict[tuple[str, ...], T], name: str) -> dict[tuple[str, ...], T]:
    return {key[1:]: value for key, value in kept.items() if key[0] == name}


# The text format that Prometheus reads, made of values. Pure.
#
# Source: https://prometheus.io/docs/instrumenting/exposition_formats/, version 0.0.4.

MetricKind = Literal["counter", "gauge", "histogram"]
_BOUND_LABELS = (*(f"{bound:g}" for bound in BUCKETS), "+Inf")
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One name with its samples by label values: numbers, for a histogram times."""

    name: str
    kind: MetricKind
    help: str
    #: Their names, in order.
    labels: tuple[str, ...] = ()
    values: Mapping[tuple[str, ...], float] = field(default_factory=dict)
    times: Mapping[tuple[str, ...], Histogram] = field(default_factory=dict)


def format_exposition(metrics: Iterable[Metric]) -> str:
    """Of each metric a line of help, one of its type, and its samples; the last line ends too."""
    return "".join(f"{line}\n" for metric in metrics for line in _format_metric(metric))


def _format_metric(metric: Metric) -> Iterator[str]:
    yield f"# HELP {metric.name} {metric.help}"
    yield f"# TYPE {metric.name} {metric.kind}"
    for values, number in metric.values.items():
        yield f"{metric.name}{_format_labels(_label_pairs(metric, values))} {number:.15g}"
    for values, times in metric.times.items():
        yield from _format_histogram(metric.name, _label_pairs(metric, values), times)


def _format_histogram(name: str, pairs: list[str], times: Histogram) -> Iterator[str]:
    so_far = list(accumulate(times.counts))
    for bound, number in zip(_BOUND_LABELS, so_far, strict=True):
        yield f"{name}_bucket{_format_labels([*pairs, _label_pair('le', bound)])} {number}"
    yield f"{name}_sum{_format_labels(pairs)} {times.total:.15g}"
    yield f"{name}_count{_format_labels(pairs)} {so_far[-1]}"


def _label_pairs(metric: Metric, values: tuple[str, ...]) -> list[str]:
    return [_label_pair(label, value) for label, value in zip(metric.labels, values, strict=True)]


def _label_pair(label: str, value: str) -> str:
    return f'{label}="{value.translate(_ESCAPES)}"'


def _format_labels(pairs: list[str]) -> str:
    return f"{{{','.join(pairs)}}}" if pairs else ""


# Which figures there are for a machine that watches: name, kind, labels and meaning of each, in order.


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricDefinition:
    """One figure, without the prefix of its name."""

    name: str
    kind: MetricKind
    help: str
    #: Names of what it is split by, none of them a person's.
    labels: tuple[str, ...] = ()


def _gauge_definition(name: str, help: str, *labels: str) -> MetricDefinition:
    return MetricDefinition(name=name, kind="gauge", help=help, labels=labels)


def _counter_definition(name: str, help: str, *labels: str) -> MetricDefinition:
    return MetricDefinition(name=name, kind="counter", help=help, labels=labels)


def _histogram_definition(name: str, help: str, *labels: str) -> MetricDefinition:
    return MetricDefinition(name=name, kind="histogram", help=help, labels=labels)


METRIC_TABLE = (
    _gauge_definition("inbox_depth", "Messages stored and not yet answered."),
    _gauge_definition("inbox_oldest_age_s", "Age of the oldest message that is due and not answered, seconds."),
    _counter_definition("updates_total", "Messages that channels brought, repeats too.", "channel", "dup"),
    _histogram_definition("ack_seconds", "From a message's arrival to the commit after which its platform is told."),
    _counter_definition("turns_total", "Turns that have ended, by the record.", "outcome"),
    _histogram_definition("turn_seconds", "From the beginning of a turn in this process to its end in the record."),
    _counter_definition(
        "turn_faults_total", "Tries to answer that ended in an error of this machine or of mnema.", "error"
    ),
    _gauge_definition("outbox_depth", "Parts of answers not yet sent."),
    _counter_definition("outbox_unknown_total", "Parts of which nobody knows whether they arrived."),
    _counter_definition("send_total", "Tries to send a part.", "channel", "code"),
    _histogram_definition("ratelimited_seconds", "Pauses that platforms asked for."),
    _gauge_definition("channel_up", "Whether messages come in by a channel, 1 or 0.", "channel"),
    _gauge_definition("channel_last_ok_age_s", "Seconds since the last good sign of a channel's platform.", "channel"),
    _counter_definition("llm_requests_total", "Requests to models, each try.", "model", "outcome"),
    _counter_definition("llm_tokens_total", "Tokens used, by the record; input is what came from no cache.", "kind"),
    _counter_definition("llm_cost_total", "US dollars for models whose price is known, by the record."),
    _histogram_definition("tool_seconds", "How long tool calls took.", "tool", "outcome"),
    _gauge_definition("folds_open", "Folds under way."),
    _counter_definition("folds_total", "Folds that have ended, by the record.", "method", "outcome"),
    _gauge_definition("ledger_faults", "Breaches of the coverage ledger at the last look."),
    _counter_definition("ledger_faults_total", "Breaches of the coverage ledger that looks found anew."),
    _counter_definition("history_repairs_total", "Requests whose history had to be mended to be valid."),
    _counter_definition("prefix_breaks_total", "Changes of requests' prefixes.", "reason"),
    _gauge_definition("conversations", "Conversations that people see."),
    _counter_definition(
        "db_busy_total", "Transactions given up because others were in the way, or the server was away."
    ),
    _gauge_definition("db_bytes", "Size of the database."),
    _gauge_definition("wal_bytes", "Size of the database's log."),
    _gauge_definition("disk_free_bytes", "Free room where the home is."),
    _counter_definition(
        "auth_denied_total", "Messages, commands, tool calls and requests of the page that were not allowed."
    ),
    _gauge_definition("loop_lag_seconds", "How late the event loop was at worst in the last 30 seconds."),
)
