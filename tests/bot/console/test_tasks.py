"""The owner's reminders and tasks over HTTP."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from bot.console.tasks import TaskRoutes
from tests.bot.inside import Inside, inside
from tests.bot.jobs.clock import ZONE, Clock, tick
from tests.channels.web.server import Running, ScriptedBot, running


@dataclass
class Console:
    it: Inside
    site: Running
    clock: Clock


@pytest.fixture
async def console(tmp_path: Path) -> AsyncIterator[Console]:
    clock = Clock()
    async with inside(tmp_path, ["hi"], ZONE, clock=clock) as it:
        routes = TaskRoutes(it.bot.store, it.bot.jobs).calls()
        async with running(ScriptedBot(), routes) as site:
            yield Console(it, site, clock)


def error(reply: httpx.Response) -> tuple[int, str]:
    return reply.status_code, reply.json()["error"]["code"]


async def test_a_task_is_listed_shown_paused_resumed_run_and_ended(console: Console) -> None:
    await console.it.text("/remind daily 8:00 water the roses")
    async with console.site.client() as client:
        [task] = (await client.get("/api/v1/tasks")).json()["items"]
        assert (task["id"], task["kind"], task["text"], task["state"]) == (
            "r1",
            "say",
            "water the roses",
            "on",
        )
        assert (task["cron"], task["zone"], task["next_at"]) == (
            "0 8 * * *",
            "Asia/Shanghai",
            "2026-11-27T00:00:00+00:00",
        )
        paused = await client.post("/api/v1/tasks/r1", json={"action": "pause"})
        assert (paused.json()["state"], paused.json()["next_at"]) == ("paused", None)
        assert (await client.post("/api/v1/tasks/1", json={"action": "resume"})).json()[
            "state"
        ] == "on"
        await client.post("/api/v1/tasks/1", json={"action": "run"})
        await tick(console.it)
        shown = (await client.get("/api/v1/tasks/r1")).json()
        assert [(one["state"], one["awaits_user"]) for one in shown["occurrences"]] == [
            ("told", False)
        ]
        assert (await client.post("/api/v1/tasks/r1", json={"action": "cancel"})).json()[
            "state"
        ] == "done"
        assert (await client.get("/api/v1/tasks")).json() == {"items": []}
        assert len((await client.get("/api/v1/tasks?all=1")).json()["items"]) == 1
        assert error(await client.post("/api/v1/tasks/r1", json={"action": "pause"})) == (
            409,
            "task",
        )
        assert error(await client.post("/api/v1/tasks/r1", json={"action": "explode"})) == (
            400,
            "action",
        )


@pytest.mark.parametrize("name", ["r9", "x", "r", "9" * 10])
async def test_an_unknown_task_is_not_found(console: Console, name: str) -> None:
    async with console.site.client() as client:
        assert error(await client.get(f"/api/v1/tasks/{name}")) == (404, "not_found")
