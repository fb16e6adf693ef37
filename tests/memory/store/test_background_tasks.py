"""Work beside conversations: stored before it starts, ended once, told of once for all of its
call.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

import pytest

from memory.store.automation.background_tasks import NewTask, TaskEnding, TaskRow, TaskSteps
from memory.store.postgres.open import open_postgres
from memory.store.rows import InboxRow
from memory.store.store import Store
from tests.contracts.store_words import SPENT, call, reply, results, talk, words
from tests.memory.store.conftest import SqliteRecord
from tests.postgres import fresh, made  # noqa: F401  fixtures

DONE = TaskEnding(state="done", outcome="found", tainted=False)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def address(request: pytest.FixtureRequest) -> str:
    return "" if request.param == "sqlite" else str(request.getfixturevalue("fresh"))


@pytest.fixture
async def store(address: str, record: SqliteRecord) -> AsyncIterator[Store]:
    if not address:
        yield await record.open()
        return
    held = await open_postgres(address)
    yield held
    await held.close()


def compose(rows: Sequence[TaskRow]) -> str:
    return json.dumps({"text": " ".join(f"{row.name}:{row.state}" for row in rows)})


async def started(
    store: Store, count: int = 3, call: str = "call", most: int = 3
) -> tuple[str, list[TaskRow]]:
    """The conversation, and the tasks of one call in it."""
    home = await talk(store, "k1")
    return home, await begun(store, home, count, call, most)


async def begun(
    store: Store, home: str, count: int = 3, call: str = "call", most: int = 3
) -> list[TaskRow]:
    one = NewTask(
        kind="agent",
        space="",
        conversation=home,
        call=call,
        position=0,
        channel="web",
        account="a",
        person="u1",
        goal="look",
        request="{}",
        epoch=1,
    )
    new = [replace(one, position=position) for position in range(count)]
    rows, _ = await store.tasks.start(new, ['{"text": "[Task] look"}'] * count, most)
    return rows


async def inbox_of(store: Store, conversation: str) -> InboxRow | None:
    return await store.delivery.next_inbox_row(conversation, store.now())


async def test_a_call_starts_its_tasks_once_and_within_the_limit(store: Store) -> None:
    home, rows = await started(store, 2)
    assert [row.number for row in rows] == [1, 2]
    assert await begun(store, home, 2) == rows
    assert await begun(store, home, 2, "other") == [], "a fourth at once is one too many"
    assert len(await begun(store, home, 1, "other")) == 1
    for row in rows:
        child = await store.sessions.conversation(row.child)
        assert child is not None
        assert child.place.is_hidden
        waiting = await inbox_of(store, row.child)
        assert waiting is not None
    assert [row.id for row in await store.sessions.conversations()] == [home]
    assert (await store.figures()).tasks_open == {"agent": 3}


async def test_the_running_tasks_of_all_spaces_and_their_steps(store: Store) -> None:
    _, rows = await started(store, 2)
    assert [row.id for row in await store.tasks.running()] == [row.id for row in rows]
    waiting = await inbox_of(store, rows[0].child)
    assert waiting is not None
    turn = await store.delivery.claim(waiting.id, words("look"), "u1")
    assert await store.tasks.steps(rows[0].child) == TaskSteps(ended=0, current="")
    calls = await store.sessions.add_step(turn, reply("use"), [call("a"), call("b")], SPENT)
    await store.sessions.start_calls(calls)
    assert await store.tasks.steps(rows[0].child) == TaskSteps(ended=0, current="look")
    await store.sessions.end_calls(turn, [(row, "done") for row in calls], results(*calls))
    assert await store.tasks.steps(rows[0].child) == TaskSteps(ended=2, current="")
    assert await store.tasks.steps(rows[1].child) == TaskSteps(ended=0, current="")
    await store.tasks.end(rows[1].id, DONE, compose)
    assert [row.id for row in await store.tasks.running()] == [rows[0].id]


async def test_who_waits_gets_the_outcomes_and_no_message_comes(store: Store) -> None:
    home, rows = await started(store)
    for row in rows:
        assert await store.tasks.end(row.id, DONE, compose)
        assert not await store.tasks.end(row.id, DONE, compose), "it has ended"
    assert [row.state for row in await store.tasks.collect("call")] == ["done"] * 3
    assert await inbox_of(store, home) is None


async def test_I51_once_nobody_waits_the_last_end_brings_one_message(store: Store) -> None:
    home, rows = await started(store)
    assert await store.tasks.end(rows[0].id, DONE, compose)
    assert [row.detached for row in await store.tasks.collect("call")] == [True] * 3
    assert await inbox_of(store, home) is None
    await asyncio.gather(*(store.tasks.end(row.id, DONE, compose) for row in rows[1:]))
    told = await inbox_of(store, home)
    assert told is not None
    assert json.loads(told.body)["text"] == "w1:done w2:done w3:done"
    assert told.key == "outcome:call"


async def test_ends_at_the_same_moment_bring_one_message_each_time(store: Store) -> None:
    home = await talk(store, "k1")
    for number in range(6):
        rows = await begun(store, home, 3, f"call{number}")
        await store.tasks.collect(f"call{number}")
        await asyncio.gather(*(store.tasks.end(row.id, DONE, compose) for row in rows))
    keys = set()
    while told := await inbox_of(store, home):
        keys.add(told.key)
        await store.delivery.settle(told.id, ())
    assert keys == {f"outcome:call{number}" for number in range(6)}


async def test_after_a_clear_nobody_is_told(store: Store) -> None:
    home, rows = await started(store, 1)
    await store.tasks.collect("call")
    await store.sessions.clear(home)
    assert await store.tasks.end(rows[0].id, DONE, compose)
    assert await inbox_of(store, home) is None


async def test_a_cancelled_task_that_has_not_begun_never_begins(store: Store) -> None:
    home, rows = await started(store, 2)
    await store.tasks.collect("call")
    assert await store.tasks.cancel(rows[0].id, compose)
    assert not await store.tasks.cancel(rows[0].id, compose)
    assert await inbox_of(store, rows[0].child) is None
    assert await store.tasks.cancel(rows[1].id, compose)
    assert await inbox_of(store, home) is None, "there is nothing to tell"


async def test_the_end_of_a_turn_and_of_its_task_are_one(store: Store) -> None:
    home, rows = await started(store, 1)
    await store.tasks.collect("call")
    waiting = await inbox_of(store, rows[0].child)
    assert waiting is not None
    turn = await store.delivery.claim(waiting.id, words("look"), "u1")
    assert await store.tasks.finish_agent_turn(turn, "done", reply("found"), (), DONE, compose)
    found = await store.tasks.find("", 1)
    assert found is not None
    assert (found.state, found.outcome, found.tainted) == ("done", "found", False)
    assert await inbox_of(store, home) is not None
    assert await store.delivery.unsent() == [], "nothing is sent from a hidden conversation"
    await store.sessions.delete(home)
    assert await store.sessions.conversation(rows[0].child) is None
    assert await store.tasks.find("", 1) is None
