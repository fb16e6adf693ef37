"""The names of all measurements, and what each measures.

A measurement is imported when it is run: some need packages that only the tests install.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.measurement import Measurement

Measurements = Sequence[Measurement]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """Something that is measured in under a minute, in rows of one table."""

    what: str
    measure: Callable[[], Coroutine[Any, Any, Measurements]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Something that takes longer and has tables of its own."""

    what: str
    #: Takes the options of the command line and returns the text, or raises TargetMissed.
    write: Callable[[Sequence[str]], str]


async def _turn_cpu() -> Measurements:
    from benchmarks.turns import turn_cpu

    return await turn_cpu()


async def _turn() -> Measurements:
    from benchmarks.turns import turn

    return await turn()


async def _turn_http() -> Measurements:
    from benchmarks.over_http import turn_http

    return await turn_http()


async def _crowd() -> Measurements:
    from benchmarks.over_http import crowd

    return await crowd()


async def _recall_share() -> Measurements:
    from benchmarks.turns import recall_share

    return await recall_share()


async def _recall_speed() -> Measurements:
    from benchmarks.recall_rows import recall_speed

    return await recall_speed()


async def _fold_log() -> Measurements:
    from benchmarks.fold_log import fold_log

    return await fold_log()


async def _jobs() -> Measurements:
    from benchmarks.jobs import jobs

    return await jobs()


async def _memory() -> Measurements:
    from benchmarks.over_http import memory

    return await memory()


async def _start() -> Measurements:
    from benchmarks.over_http import start

    return await start()


async def _postgres() -> Measurements:
    from benchmarks.postgres import turns

    return await turns()


async def _postgres_transactions() -> Measurements:
    from benchmarks.postgres import transactions

    return await transactions()


async def _postgres_idle() -> Measurements:
    from benchmarks.postgres import idle

    return await idle()


async def _turn_history() -> Measurements:
    from benchmarks.turns import turn_history

    return await turn_history()


async def _turn_http_history() -> Measurements:
    from benchmarks.over_http import turn_http_history

    return await turn_http_history()


async def _slow_model() -> Measurements:
    from benchmarks.turns import slow_model

    return await slow_model()


async def _planning() -> Measurements:
    from benchmarks.planning import planning

    return await planning()


async def _views() -> Measurements:
    from benchmarks.views import views

    return await views()


async def _find_tools() -> Measurements:
    from benchmarks.many_tools import find_tools

    return await find_tools()


async def _restore() -> Measurements:
    from benchmarks.restore import restore

    return await restore()


def _context(options: Sequence[str]) -> str:
    from benchmarks.context_page import main

    return main(options)


def _recall(options: Sequence[str]) -> str:
    from benchmarks.recall import main

    return main(options)


def _scale(options: Sequence[str]) -> str:
    from benchmarks.scale import main

    return main(options)


def _load(options: Sequence[str]) -> str:
    from benchmarks.load import main

    return main(options)


FIGURES: Mapping[str, Figure] = {
    "turn_cpu": Figure(
        what="CPU of a turn, 60 conversations, recall and extraction on", measure=_turn_cpu
    ),
    "turn": Figure(what="a turn in this process, quiet", measure=_turn),
    "turn_http": Figure(what="a turn by HTTP, quiet", measure=_turn_http),
    "crowd": Figure(what="100 conversations by HTTP, model at 0 ms, driver beside", measure=_crowd),
    "recall_share": Figure(
        what="answers that got their recall, 60 writers of one space", measure=_recall_share
    ),
    "recall_speed": Figure(what="a search over 11,000 rows, quiet", measure=_recall_speed),
    "fold_log": Figure(what="append and index a fold in a 2 MB day log", measure=_fold_log),
    "jobs": Figure(what="reminders: how late, and how many fire in a second", measure=_jobs),
    "memory": Figure(
        what="memory idle, after first messages, after 100 conversations", measure=_memory
    ),
    "start": Figure(what="start until port open, ready, first answer", measure=_start),
    "postgres": Figure(
        what="PostgreSQL: added latency, CPU, and share of the bare engine", measure=_postgres
    ),
    "postgres_transactions": Figure(
        what="PostgreSQL: transactions of a message", measure=_postgres_transactions
    ),
    "postgres_idle": Figure(
        what="PostgreSQL: transactions of three idle workers", measure=_postgres_idle
    ),
    "turn_history": Figure(
        what="a turn in this process with a long history", measure=_turn_history
    ),
    "turn_http_history": Figure(
        what="a turn by HTTP with a long history", measure=_turn_http_history
    ),
    "slow_model": Figure(
        what="100 conversations in this process, model at 200 ms", measure=_slow_model
    ),
    "planning": Figure(
        what="cost of planning, counting and assembling a request", measure=_planning
    ),
    "views": Figure(what="cost of recording what a request showed", measure=_views),
    "find_tools": Figure(what="a tool found by words among 1,000", measure=_find_tools),
    "restore": Figure(what="loading a conversation of 100,000 messages", measure=_restore),
}
REPORTS: Mapping[str, Report] = {
    "context": Report(what="what each context policy shows, forgets and costs", write=_context),
    "recall": Report(what="quality and speed of recall on labelled questions", write=_recall),
    "scale": Report(what="many conversations on several processes and PostgreSQL", write=_scale),
    "load": Report(what="200 conversations at once on every channel", write=_load),
}


def measure(name: str) -> Iterator[str]:
    """Measure one figure; yields the rows of its table."""
    for measurement in asyncio.run(FIGURES[name].measure()):
        yield measurement.row()


def write_report(name: str, options: Sequence[str]) -> str:
    """Measure one report; returns its text.

    Raises:
        TargetMissed: it fell below something that it must not fall below.
    """
    return REPORTS[name].write(options)


def describe() -> str:
    """List all names with what they measure."""
    rows: list[tuple[str, Mapping[str, Figure] | Mapping[str, Report]]] = [
        ("figures, each in under a minute:", FIGURES),
        ("reports:", REPORTS),
    ]
    return "\n".join(
        line
        for title, named in rows
        for line in (title, *(f"  {name:<20} {one.what}" for name, one in named.items()))
    )
