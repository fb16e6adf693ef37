"""The names of all measurements, and what each measures."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks import (
    context_page,
    fold_log,
    jobs,
    load,
    many_tools,
    over_http,
    planning,
    postgres,
    recall,
    recall_rows,
    restore,
    scale,
    turns,
    views,
)
from benchmarks.measurement import Measurement


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """Something that is measured in under a minute, in rows of one table."""

    what: str
    measure: Callable[[], Awaitable[Sequence[Measurement]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Something that takes longer and has tables of its own."""

    what: str
    #: Takes the options of the command line.
    report: Callable[[Sequence[str]], str]


FIGURES: Mapping[str, Figure] = {
    "turn_cpu": Figure(
        what="CPU of a turn, 60 conversations, recall and extraction on", measure=turns.turn_cpu
    ),
    "turn": Figure(what="a turn in this process, quiet", measure=turns.turn),
    "turn_http": Figure(what="a turn by HTTP, quiet", measure=over_http.turn_http),
    "crowd": Figure(
        what="100 conversations by HTTP, model at 0 ms, driver beside", measure=over_http.crowd
    ),
    "recall_share": Figure(
        what="answers that got their recall, 60 writers of one space", measure=turns.recall_share
    ),
    "recall_speed": Figure(
        what="a search over 11,000 rows, quiet", measure=recall_rows.recall_speed
    ),
    "fold_log": Figure(what="append and index a fold in a 2 MB day log", measure=fold_log.fold_log),
    "jobs": Figure(what="reminders: how late, and how many fire in a second", measure=jobs.jobs),
    "memory": Figure(
        what="memory idle, after first messages, after 100 conversations", measure=over_http.memory
    ),
    "start": Figure(what="start until port open, ready, first answer", measure=over_http.start),
    "postgres": Figure(
        what="PostgreSQL: added latency, CPU, and share of the bare engine", measure=postgres.turns
    ),
    "postgres_transactions": Figure(
        what="PostgreSQL: transactions of a message", measure=postgres.transactions
    ),
    "postgres_idle": Figure(
        what="PostgreSQL: transactions of three idle workers", measure=postgres.idle
    ),
    "turn_history": Figure(
        what="a turn in this process with a long history", measure=turns.turn_history
    ),
    "turn_http_history": Figure(
        what="a turn by HTTP with a long history", measure=over_http.turn_http_history
    ),
    "slow_model": Figure(
        what="100 conversations in this process, model at 200 ms", measure=turns.slow_model
    ),
    "planning": Figure(
        what="cost of planning, counting and assembling a request", measure=planning.planning
    ),
    "views": Figure(what="cost of recording what a request showed", measure=views.views),
    "find_tools": Figure(what="a tool found by words among 1,000", measure=many_tools.find_tools),
    "restore": Figure(what="loading a conversation of 100,000 messages", measure=restore.restore),
}
REPORTS: Mapping[str, Report] = {
    "context": Report(
        what="what each context policy shows, forgets and costs", report=context_page.main
    ),
    "recall": Report(what="quality and speed of recall on labelled questions", report=recall.main),
    "scale": Report(
        what="many conversations on several processes and PostgreSQL", report=scale.main
    ),
    "load": Report(what="200 conversations at once on every channel", report=load.main),
}


def measure(name: str) -> Iterator[str]:
    """Measure one figure; yields the rows of its table."""
    for measurement in asyncio.run(_awaited(FIGURES[name].measure)):
        yield measurement.row()


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
