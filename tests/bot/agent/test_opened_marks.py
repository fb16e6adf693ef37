"""Which messages the death of a process counts for while it opens them."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bot.agent.open_turns import OpenTurns
from bot.agent.turn import TurnRunner
from bot.config.schema import Config
from bot.dispatch import CrashIsolation
from bot.messages import MessageBody
from bot.telemetry.faults import TroubleList
from bot.telemetry.recorder import Telemetry
from memory.conversation import Part
from memory.store.rows import InboxRow
from tests.contracts.store_words import arrival
from tests.memory.store.conftest import SqliteRecord


@pytest.fixture
async def record(tmp_path: Path) -> AsyncIterator[SqliteRecord]:
    held = SqliteRecord(tmp_path / "data" / "mnema.db")
    yield held
    for store in held.opened:
        await store.close()


async def after_a_death_in_opening(record: SqliteRecord) -> tuple[InboxRow, bool]:
    """What the next process finds of a command that was waiting when the last one began; whether it
    begins then.
    """

    async def dies(row: InboxRow, said: MessageBody) -> tuple[Part, ...] | None:
        raise asyncio.CancelledError

    store = await record.open()
    await store.delivery.recover()
    [conversation] = await store.delivery.waiting()
    unused: Any = None
    setup: Any = SimpleNamespace(
        conversation=lambda row: store.sessions.conversation(row.conversation)
    )
    turns = TurnRunner(
        store=store,
        setup=setup,
        message_counter=unused,
        fitter=unused,
        agent=unused,
        views=unused,
        subagents=unused,
        run_command=dies,
        channels={},
        config=Config,
        dispatcher=unused,
        isolation=CrashIsolation(lambda key, due: None),
        started_at=record.now,
        telemetry=Telemetry(),
        troubles=TroubleList(),
        open_turns=OpenTurns(lambda space: None),
        title_writer=unused,
    )
    with pytest.raises(asyncio.CancelledError):
        await turns.step(conversation)
    after = await record.open()  # without the end of the one before
    await after.delivery.recover()
    row = await after.delivery.next_inbox_row(conversation, record.now)
    assert row is not None
    return row, await after.delivery.mark_begun(row.id)


async def arrived(record: SqliteRecord, text: str) -> None:
    store = await record.open()
    await store.delivery.accept([arrival("k", text)])


@pytest.mark.parametrize("text", ["/new", "/remember tea", "/新对话"])
async def test_a_command_that_never_began_is_not_taken_for_an_interrupted_one(
    record: SqliteRecord, text: str
) -> None:
    await arrived(record, text)
    record.now += 1.0
    row, begun = await after_a_death_in_opening(record)
    assert (row.attempts, begun) == (0, True)


@pytest.mark.parametrize("seconds", [1.0, -3600.0])
async def test_what_waited_is_marked_also_when_the_clock_was_put_back(
    record: SqliteRecord, seconds: float
) -> None:
    await arrived(record, "/help")
    record.now += seconds
    row, _ = await after_a_death_in_opening(record)
    assert (row.attempts, row.deaths_alone) == (1, 1)
