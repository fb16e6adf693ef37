"""Cost of recording what a request showed: the manifest of a full view, its row, and its INSERT."""

import sqlite3
import tempfile
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.measurement import Measurement, median
from benchmarks.planning import LIMITS, long_session
from bot.agent.context.fitter import FitLimits, FittedView
from bot.agent.context.recorder import build_view
from bot.models.base import Request
from bot.models.windows import ModelWindow
from memory.context.policies.policies import POLICIES
from memory.context.tokens import load_o200k_counter
from memory.context.view import assemble_view
from memory.conversation import SystemPart, Text, ToolSpec
from memory.store.longterm.views import NewView, ViewBatch, ViewText
from memory.store.open import open_store
from memory.store.rows import TurnRow, Usage
from tests.contracts.store_words import begin, reply

TIMES = 200
MESSAGES = 280  # 49,000 tokens: as many as the default budget holds
SUFFIX = "[Now: Thursday 2026-11-26 16:20, UTC+8]"
PARTS = tuple(
    SystemPart(name=name, text=f"{name} " + "has a line that is as long as one is. " * 60)
    for name in ("SOUL.md", "rules", "awareness", "MEMORY.md", "log")
)
TOOLS = tuple(
    ToolSpec(
        name=f"tool_{number}",
        description="Reads one of the pages that were stored. " * 8,
        schema='{"properties":{"path":{"type":"string"}},"type":"object"}',
        effect="pure",
        action="files.read",
    )
    for number in range(20)
)


async def views() -> list[Measurement]:
    """Measure building, size and storing; the floor of each is the same without mnema."""
    turn, fitted, request = recorded_request()
    counter = load_o200k_counter()

    def build() -> tuple[NewView, Sequence[ViewText]]:
        return build_view(turn, fitted, request, counter, 1.0, "Asia/Shanghai")

    texts = "".join(
        part.text for one in request.messages for part in one.parts if isinstance(part, Text)
    )
    view, texts_of_view = build()
    built, bare = _median(build), _median(lambda: zlib.crc32(texts.encode()))
    size, stored, without = await _stored(view, texts_of_view)
    return [
        Measurement(
            name=f"manifest of a call, {MESSAGES} messages",
            ours=built,
            floor=bare,
            unit="ms CPU",
            must=0.3,
            aim=0.2,
            floor_is="CRC-32 of the same texts",
        ),
        Measurement(name="row of a manifest", ours=size / 1000, unit="kB", must=2, aim=1),
        Measurement(
            name="manifest stored with its step, more than without",
            ours=stored - without,
            floor=_bare_insert(size),
            unit="ms CPU",
            must=0.3,
            aim=0.15,
            floor_is="one bare INSERT of so many bytes",
        ),
    ]


def recorded_request() -> tuple[TurnRow, FittedView, Request]:
    counter, session = load_o200k_counter(), long_session()
    session = replace(session, turns=session.turns[-MESSAGES // 2 :])
    turn = TurnRow(
        id="t",
        conversation="c",
        number=session.next_turn - 1,
        epoch=1,
        inbox_id="i",
        actor="o",
        state="running",
        step=0,
        attempts=0,
        trace_id="",
    )
    system = tuple(part.text for part in PARTS)
    view = assemble_view(session, system, TOOLS, counter, SUFFIX)
    limits = FitLimits(
        model="m",
        limits=LIMITS,
        policy=POLICIES["balanced"],
        window=ModelWindow(tokens=LIMITS.window, source="table"),
        parts=PARTS,
        tools=TOOLS,
        fixed=1_000,
        shortage=None,
        factor=1.0,
        error_percent=0.0,
    )
    fitted = FittedView(
        view=view, fit_limits=limits, tainted=False, session=session, suffix=SUFFIX, note=""
    )
    return (
        turn,
        fitted,
        Request(model="m", system=system, messages=view.shown, tools=TOOLS, stable=view.stable),
    )


async def _stored(view: NewView, texts: Sequence[ViewText]) -> tuple[int, float, float]:
    """Return the bytes of a row, and the CPU milliseconds of a step with a manifest and of one
    without.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.db"
        store = await open_store(path)
        turn = await begin(store)
        took: dict[bool, list[float]] = {True: [], False: []}
        for number in range(2 * TIMES):
            batch = (
                ViewBatch(views=(view,), texts=tuple(texts) if number == 1 else ())
                if number % 2
                else ViewBatch()
            )
            began = time.process_time()
            await store.sessions.add_step(
                turn, reply(), [], Usage(model="m", input=1, output=1), batch
            )
            took[bool(number % 2)].append(1000 * (time.process_time() - began))
        await store.close()
        with sqlite3.connect(path) as held:
            cursor = held.execute("SELECT * FROM view_manifest LIMIT 1")
            size = sum(len(str(value).encode()) for value in cursor.fetchone())
        return size, median(took[True]), median(took[False])


def _bare_insert(size: int) -> float:
    with sqlite3.connect(":memory:") as held:
        held.execute("CREATE TABLE bare (text TEXT)")
        text = "x" * size
        return _median(lambda: held.execute("INSERT INTO bare VALUES (?)", (text,)))


def _median(work: Callable[[], object]) -> float:
    found = []
    for _ in range(TIMES):
        began = time.thread_time()
        work()
        found.append(1000 * (time.thread_time() - began))
    return median(found)
