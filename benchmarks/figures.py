"""The names of all measurements, and what each measures."""

import asyncio
import pkgutil
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from benchmarks.measurement import Measurement


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """Something that is measured in under a minute, in rows of one table."""

    what: str
    #: "module:function" in this package, a coroutine function that returns measurements. Its module
    #: is imported when it is measured: some need packages that only the tests install.
    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Something that takes longer and has tables of its own."""

    what: str
    #: "module:function" in this package; takes the options of the command line and returns the
    #: text, or raises TargetMissed.
    code: str


FIGURES: Mapping[str, Figure] = {
    "turn_cpu": Figure(
        what="CPU of a turn, 60 conversations, recall and extraction on", code="turns:turn_cpu"
    ),
    "turn": Figure(what="a turn in this process, quiet", code="turns:turn"),
    "turn_http": Figure(what="a turn by HTTP, quiet", code="over_http:turn_http"),
    "crowd": Figure(
        what="100 conversations by HTTP, model at 0 ms, driver beside", code="over_http:crowd"
    ),
    "recall_share": Figure(
        what="answers that got their recall, 60 writers of one space", code="turns:recall_share"
    ),
    "recall_speed": Figure(
        what="a search over 11,000 rows, quiet", code="recall_rows:recall_speed"
    ),
    "fold_log": Figure(what="append and index a fold in a 2 MB day log", code="fold_log:fold_log"),
    "jobs": Figure(what="reminders: how late, and how many fire in a second", code="jobs:jobs"),
    "memory": Figure(
        what="memory idle, after first messages, after 100 conversations", code="over_http:memory"
    ),
    "start": Figure(what="start until port open, ready, first answer", code="over_http:start"),
    "postgres": Figure(
        what="PostgreSQL: added latency, CPU, and share of the bare engine", code="postgres:turns"
    ),
    "postgres_transactions": Figure(
        what="PostgreSQL: transactions of a message", code="postgres:transactions"
    ),
    "postgres_idle": Figure(
        what="PostgreSQL: transactions of three idle workers", code="postgres:idle"
    ),
    "turn_history": Figure(
        what="a turn in this process with a long history", code="turns:turn_history"
    ),
    "turn_http_history": Figure(
        what="a turn by HTTP with a long history", code="over_http:turn_http_history"
    ),
    "slow_model": Figure(
        what="100 conversations in this process, model at 200 ms", code="turns:slow_model"
    ),
    "planning": Figure(
        what="cost of planning, counting and assembling a request", code="planning:planning"
    ),
    "views": Figure(what="cost of recording what a request showed", code="views:views"),
    "find_tools": Figure(what="a tool found by words among 1,000", code="many_tools:find_tools"),
    "restore": Figure(what="loading a conversation of 100,000 messages", code="restore:restore"),
}
REPORTS: Mapping[str, Report] = {
    "context": Report(
        what="what each context policy shows, forgets and costs", code="context_page:main"
    ),
    "recall": Report(what="quality and speed of recall on labelled questions", code="recall:main"),
    "scale": Report(
        what="many conversations on several processes and PostgreSQL", code="scale:main"
    ),
    "load": Report(what="200 conversations at once on every channel", code="load:main"),
}


def measure(name: str) -> Iterator[str]:
    """Measure one figure; yields the rows of its table."""
    work = cast("Callable[[], Awaitable[Sequence[Measurement]]]", import_code(FIGURES[name].code))
    for measurement in asyncio.run(_awaited(work)):
        yield measurement.row()


def write_report(name: str, options: Sequence[str]) -> str:
    """Measure one report; returns its text.

    Raises:
        TargetMissed: it fell below something that it must not fall below.
    """
    work = cast("Callable[[Sequence[str]], str]", import_code(REPORTS[name].code))
    return work(options)


def import_code(code: str) -> object:
    """Import the function of a figure or report."""
    return pkgutil.resolve_name(f"benchmarks.{code}")


def describe() -> str:
    """List all names with what they measure."""
    rows = [("figures, each in under a minute:", FIGURES), ("reports:", REPORTS)]
    return "\n".join(
        line
        for title, named in rows
        for line in (title, *(f"  {name:<20} {one.what}" for name, one in named.items()))
    )


async def _awaited(work: Callable[[], Awaitable[Sequence[Measurement]]]) -> Sequence[Measurement]:
    return await work()
