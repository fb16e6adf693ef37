"""Sub-agents under SIGKILL: every task ends once, with one outcome of their call, and nothing is
written twice.
"""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.by_night import by_night
from tests.emulators.model import ModelEmulator
from tests.walk.harness import scene, until
from tests.walk.processes import several
from tests.walk.record import Db, ledger_faults, query, unended
from tests.walk.speech import answer, asked_for

pytestmark = pytest.mark.kill
SIGKILLED = -9
ON = {"delegate": {"enabled": True}}
BY_DAY = ("work.started@1", "work.ended@2")
BY_NIGHT = (
    *(
        "work.ended@1",
        "work.ended@3",
        "outcome.committed@1",
        "claim.in_txn@2",
        "claim.committed@3",
        "llm.ended@3",
    ),
    *(
        "tool.started@2",
        "tool.mid_effect@2",
        "tool.after_effect@3",
        "tool.committed@2",
        "finish.in_txn@2",
    ),
    "finish.committed@1",
    *("finish.in_txn@3", "llm.before_commit@4"),
)
WRITTEN = (
    "SELECT input, tool_call.state FROM tool_call JOIN turn ON turn.id = turn_id "
    "JOIN conversation ON conversation.id = turn.conversation WHERE name = 'write_file' AND "
    "thread_id LIKE ?"
)
POINTS = [*BY_DAY, *(pytest.param(point, marks=by_night) for point in BY_NIGHT)]


def tasks(marks: Sequence[str]) -> list[dict[str, Any]]:
    """Each writes a file of its own, which is an unsafe effect, and then answers."""
    goals = (asked_for(mark, "write_file", path=f"out/{mark}.md", content=mark) for mark in marks)
    return [{"goal": goal, "tools": ["write_file"]} for goal in goals]


def faults(db: Db, marks: Sequence[str]) -> list[str]:
    """What is wrong once all is at rest."""
    rows = query(db, "SELECT state FROM background_task")
    found = [] if [state for (state,) in rows] == ["done"] * len(marks) else [f"tasks: {rows}"]
    [(outcomes,)] = query(db, "SELECT COUNT(*) FROM inbox WHERE key LIKE 'outcome:%'")
    [(results,)] = query(
        db,
        "SELECT COUNT(*) FROM message WHERE role = 'user' AND parts LIKE ?",
        "%Originals: recall(handle=%",
    )
    if outcomes + results != 1:
        found.append(f"{outcomes} outcomes as messages, {results} as results")
    written = query(db, WRITTEN, "agent:%")
    paths = [json.loads(input)["path"] for input, _ in written]
    if len(paths) != len(set(paths)):
        found.append(f"written twice: {written}")
    sent = query(
        db,
        (
            "SELECT outbox.id FROM outbox JOIN conversation ON conversation.id = conversation "
            "WHERE thread_id LIKE ?"
        ),
        "agent:%",
    )
    return [*found, *(["something was sent from a hidden conversation"] if sent else [])]


@pytest.mark.parametrize("point", POINTS)
async def test_a_kill_at_any_step_loses_and_repeats_nothing(tmp_path: Path, point: str) -> None:
    marks = ("a", "b", "c")
    async with scene(tmp_path, ModelEmulator(responder=answer), provider="openai", **ON) as talk:
        await talk.bot.start(f"{point}:kill9")
        posting = asyncio.create_task(
            talk.web.post("talk", asked_for("p", "delegate", tasks=tasks(marks)))
        )
        assert await talk.bot.ended() == SIGKILLED, talk.bot.complaints()
        await asyncio.gather(posting, return_exceptions=True)
        await talk.bot.start()
        await until(lambda: query(talk.bot.db, "SELECT 1 FROM turn"), "the message was stored")
        await until(lambda: not unended(talk.bot.db), "all is at rest")
        assert faults(talk.bot.db, marks) == []
        assert await ledger_faults(talk.bot.db) == []
        for mark in marks:
            assert (talk.bot.workspace / "out" / f"{mark}.md").read_text() == mark
        assert await talk.bot.term() == 0


@pytest.mark.postgres
@by_night
@pytest.mark.parametrize(
    "point", ["work.ended@1", "tool.after_effect@1", "finish.in_txn@1", "claim.committed@1"]
)
async def test_two_workers_one_of_them_killed(tmp_path: Path, db: str, point: str) -> None:
    marks = ("a", "b", "c")
    async with several(tmp_path, db, ModelEmulator(responder=answer), **ON) as bots:
        gateway, _ = await bots.start("gateway", "worker")
        [doomed] = await bots.start("worker", fp=f"{point}:kill9")
        await gateway.web.post("talk", asked_for("p", "delegate", tasks=tasks(marks)))
        killed = asyncio.create_task(doomed.ended(60))
        await until(lambda: query(db, "SELECT 1 FROM background_task"), "the tasks were stored")
        await until(
            lambda: killed.done() or not unended(db), "it was killed, or had nothing to do", 60
        )
        await until(lambda: not unended(db), "all is at rest", 90)
        killed.cancel()
        assert faults(db, marks) == []
        assert await ledger_faults(db) == []


@pytest.mark.postgres
@by_night
async def test_tasks_of_one_call_that_end_at_the_same_time_on_two_workers_have_one_outcome(
    tmp_path: Path, db: str
) -> None:
    marks = ("a", "b", "c")
    async with several(
        tmp_path, db, ModelEmulator(responder=answer), delegate={"enabled": True, "wait_seconds": 0}
    ) as bots:
        gateway, *_ = await bots.start("gateway", "worker", "worker")
        await gateway.web.post("talk", asked_for("p", "delegate", tasks=tasks(marks)))
        await until(
            lambda: len(query(db, "SELECT 1 FROM background_task WHERE state = 'done'")) == 3,
            "all ended",
            60,
        )
        await until(lambda: not unended(db), "all is at rest", 60)
        assert faults(db, marks) == []
