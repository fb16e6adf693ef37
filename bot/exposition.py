"""The text format that Prometheus reads, made of values. Pure.

Source: https://prometheus.io/docs/instrumenting/exposition_formats/, version 0.0.4.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Literal

from bot.tally import BUCKETS, Times

Kind = Literal["counter", "gauge", "histogram"]
_BOUNDS = (*(f"{bound:g}" for bound in BUCKETS), "+Inf")
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One name with its samples by label values: numbers, for a histogram times. labels: their names, in order."""

    name: str
    kind: Kind
    help: str
    labels: tuple[str, ...] = ()
    values: Mapping[tuple[str, ...], float] = field(default_factory=dict)
    times: Mapping[tuple[str, ...], Times] = field(default_factory=dict)


def exposition(metrics: Iterable[Metric]) -> str:
    """Of each metric a line of help, one of its type, and its samples; the last line ends too."""
    return "".join(f"{line}\n" for metric in metrics for line in _lines(metric))


def _lines(metric: Metric) -> Iterator[str]:
    yield f"# HELP {metric.name} {metric.help}"
    yield f"# TYPE {metric.name} {metric.kind}"
    for values, number in metric.values.items():
        yield f"{metric.name}{_braced(_pairs(metric, values))} {number:.15g}"
    for values, times in metric.times.items():
        yield from _histogram(metric.name, _pairs(metric, values), times)


def _histogram(name: str, pairs: list[str], times: Times) -> Iterator[str]:
    so_far = list(accumulate(times.counts))
    for bound, number in zip(_BOUNDS, so_far, strict=True):
        yield f"{name}_bucket{_braced([*pairs, _pair('le', bound)])} {number}"
    yield f"{name}_sum{_braced(pairs)} {times.total:.15g}"
    yield f"{name}_count{_braced(pairs)} {so_far[-1]}"


def _pairs(metric: Metric, values: tuple[str, ...]) -> list[str]:
    return [_pair(label, value) for label, value in zip(metric.labels, values, strict=True)]


def _pair(label: str, value: str) -> str:
    return f'{label}="{value.translate(_ESCAPES)}"'


def _braced(pairs: list[str]) -> str:
    return f"{{{','.join(pairs)}}}" if pairs else ""
