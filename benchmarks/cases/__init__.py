"""Recordings in the form of users' own files, after published designs and of everyday use."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from benchmarks.cases.assistant_week import assistant_week
from benchmarks.cases.debugging import debugging
from benchmarks.cases.errors import errors
from benchmarks.cases.long_session import long_session
from benchmarks.cases.topics import topics_en, topics_zh
from benchmarks.cases.weights import heavy, light
from benchmarks.cases.working_day import working_day

# Those whose sizes were fitted until a published design's sums came out.
FITTED = (long_session, debugging, topics_en, topics_zh, errors, heavy, light)
# By name: what writes the recording, always the same text.
CASES: Mapping[str, Callable[[], dict[str, Any]]] = MappingProxyType(
    {made.__name__: made for made in (*FITTED, working_day, assistant_week)}
)
