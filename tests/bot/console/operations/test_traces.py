"""Traces: the list in pages with its filters, and each step of one turn."""

import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest_asyncio

from bot.console.operations.traces import list_steps
from bot.telemetry.recorder import MAX_TRACE_SPANS, Span
from memory.store.conversations.traces import TRACE_WINDOW, Trace, TraceEvent
from memory.store.engine.database import Tx, insert_into
from memory.store.schema.tables import turn
from tests.browser.real import ANN, Real, real_bot

AT = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest_asyncio.fixture
async def real(tmp_path: Path) -> AsyncIterator[Real]:
    async with real_bot(tmp_path, lambda asked: "yes") as up:
        yield up


async def add_turns(tx: Tx, conversation: str, count: int, seconds: float) -> None:
    """Add turns that ended, a second apart, the newest first, all before what is there."""
    for number in range(count):
        started = 1_000_000.0 - number // 2  # two of each moment
        ended = started + (seconds if number == count - 1 else 0.5)
        given = {
            "inbox_id": "i",
            "actor": "",
            "step": 0,
            "attempts": 0,
            "first_seq": 0,
            "lease_epoch": 0,
            "epoch": 1,
        }
        values = {"state": "done", "started": started, "ended": ended, "trace_id": f"old{number}"}
        await tx.execute(
            insert_into(turn),
            id=f"x{number}",
            conversation=conversation,
            number=10_000 + number,
            **given,
            **values,
        )


async def test_turns_are_listed_once_each_with_what_they_took(real: Real) -> None:
    async with real.site.client() as client:
        await client.post("/api/v1/messages", json={"conversation": "c1", "text": "tea?"})
        await real.bot.settled()
        row = await real.bot.store.sessions.find("web", "console", "c1")
        assert row is not None
        [newest] = (await client.get("/api/v1/traces")).json()["items"]
        assert (newest["conversation"], newest["title"], newest["state"]) == ("c1", "tea?", "done")
        await real.bot.store.database.write(add_turns, row.id, TRACE_WINDOW + 1, 60.0)
        seen, cursor, pages = [], "", 0
        while cursor is not None:
            page = (
                await client.get("/api/v1/traces", params={"limit": 200, "cursor": cursor})
            ).json()
            seen += [one["id"] for one in page["items"]]
            cursor, pages = page["next"], pages + 1
        # Of two that began at the same moment the one with the later id comes first.
        old = sorted(range(TRACE_WINDOW + 1), key=lambda number: (number // 2, -number))
        assert seen == [newest["id"], *(f"old{number}" for number in old)]
        assert pages > (TRACE_WINDOW + 2) // 200

        slow = {"slow": "30", "conversation": "c1"}
        first = (await client.get("/api/v1/traces", params=slow)).json()
        assert first["items"] == []  # a page looks at so many turns and then says where to go on
        second = (
            await client.get("/api/v1/traces", params={**slow, "cursor": first["next"]})
        ).json()
        assert [(one["id"], one["seconds"]) for one in second["items"]] == [
            (f"old{TRACE_WINDOW}", 60.0)
        ]
        assert (await client.get("/api/v1/traces", params={"state": "failed"})).json()[
            "items"
        ] == []
        for wrong in (
            {"state": "x"},
            {"slow": "nan"},
            {"slow": "-1"},
            {"cursor": "x"},
            {"cursor": "WzEsMl0"},
        ):
            assert (await client.get("/api/v1/traces", params=wrong)).status_code == 400
        assert (
            await client.get("/api/v1/traces", params={"conversation": "none"})
        ).status_code == 404


async def test_each_step_of_a_new_turn_is_measured(real: Real) -> None:
    async with real.site.client() as client:
        sent = (
            await client.post("/api/v1/messages", json={"conversation": "c1", "text": "tea?"})
        ).json()["id"]
        await real.bot.settled()
        answer = (await client.get(f"/api/v1/conversations/c1/trace/{sent}")).json()
        steps = {step["kind"]: step for step in answer["steps"]}
        assert answer["exact"]
        assert {"receive", "claim", "recall", "model", "store", "turn", "send"} <= steps.keys()
        assert steps["model"]["output"] > 0
        assert 0 < steps["model"]["first"] <= steps["model"]["seconds"] + 0.001
        assert abs(steps["turn"]["start"] - time.time()) < 60
        by_trace = (await client.get(f"/api/v1/conversations/c1/trace/{answer['trace']}")).json()
        assert by_trace == answer
        assert (await client.get("/api/v1/conversations/c1/trace/none")).status_code == 404


async def test_reading_the_trace_of_another_person_is_audited(real: Real) -> None:
    async with real.site.client() as client:
        async with client.stream("GET", "/api/v1/events") as stream:
            real.telegram.hear("hello", chat=ANN, sender=ANN)
            async for line in stream.aiter_lines():
                if '"whose":"other"' in line:
                    break
        await real.bot.settled()
        [one] = (await client.get("/api/v1/traces")).json()["items"]
        assert (one["title"], one["whose"]) == (ANN, "other")
        assert await real.audited("chat.read.other") == []
        assert (
            await client.get(f"/api/v1/conversations/{one['conversation']}/trace/{one['id']}")
        ).status_code == 200
        assert len(await real.audited("chat.read.other")) == 1


def test_where_nothing_was_measured_the_stored_events_are_the_steps() -> None:
    events = (
        TraceEvent(at=AT, kind="received", name="web", state="done"),
        TraceEvent(at=AT, kind="model", name="m", seconds=2.0, input=5, output=1),
        TraceEvent(at=None, kind="part", name="final", state="pending"),
    )
    trace = Trace(id="t", conversation="c", message="m", state="done", events=events)
    steps = list_steps(trace, ())
    assert [(step["kind"], step["start"] - AT.timestamp(), step["seconds"]) for step in steps] == [
        ("model", -2.0, 2.0), ("receive", 0.0, 0.0),
    ]  # fmt: skip


def test_a_turn_of_very_many_steps_is_listed_in_no_time() -> None:
    spans = [Span("tool", "x", float(at), at + 0.5) for at in range(MAX_TRACE_SPANS)]
    trace = Trace(id="t", conversation="c", message="m", state="done", events=())
    began = time.process_time()
    steps: list[dict[str, Any]] = list_steps(trace, spans)
    assert len(steps) == MAX_TRACE_SPANS
    assert time.process_time() - began < 1.0
