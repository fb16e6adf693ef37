"""Tools with several workers on one record: approvals run once wherever decided, servers and
plug-ins answer.
"""

import asyncio
import json
import re
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bot.config.home import HomeFolder
from memory.store.postgres.open import open_postgres
from tests.bot.tools.exec.sandboxed import needs_sandbox
from tests.bot.tools.mcp.servers import Orders, list_and_choose
from tests.bot.tools.plugins.test_plugins_in_bot import enable
from tests.by_night import by_night
from tests.emulators.mcp_http import http_server
from tests.emulators.mcp_server import tool
from tests.emulators.model import ModelEmulator
from tests.emulators.model_replies import Reply
from tests.walk.harness import Bot, until
from tests.walk.processes import several
from tests.walk.record import Db, ledger_faults, query, unended
from tests.walk.speech import answer, asked_for, shown

pytestmark = [pytest.mark.kill, pytest.mark.postgres]
TEXT = {"type": "string"}
PONDER = "ponder at leisure"
ANSWERED = 60.0  # seconds that the model ponders
CODE = re.compile(r"`/approve ([2-9A-HJ-NP-Z]{4}-[2-9A-HJ-NP-Z]{4})`")
OUTCOMES = "SELECT body FROM inbox WHERE key LIKE 'approval:%'"
REPEAT = '''
from bot.plugins import tool

@tool(effect="pure")
async def repeat(ctx, words: str) -> str:
    """Say it twice."""
    return f"{words} {words}"
'''
REPEAT_SCHEMA = (
    '{"properties": {"words": {"type": "string"}}, "required": ["words"], "type": "object"}'
)


async def review(db: str, name: str, settings: Mapping[str, Any], modes: Mapping[str, str]) -> None:
    """What the owner ticks with `mnema mcp review`."""
    store = await open_postgres(db)
    try:
        await list_and_choose(store, name, settings, modes)
    finally:
        await store.close()


async def code_of(gateway: Bot, conversation: str) -> str:
    """The code of the newest question in a conversation, once it is there."""

    async def find() -> str:
        texts = [line["text"] for line in await gateway.web.lines(conversation)]
        found = [code for text in texts for code in CODE.findall(text)]
        return found[-1] if found else ""

    code: str = await until(find, "the person is asked")
    return code


async def outcome(db: Db) -> str:
    """The message by which the model sees what became of the call; there is one."""
    await until(lambda: query(db, OUTCOMES), "the model is told what became of it", 60)
    await until(lambda: not unended(db), "all is at rest", 60)
    [(body,)] = query(db, OUTCOMES)
    told: str = json.loads(body)["outcome"]
    return told


async def test_a_call_that_a_dead_worker_asked_for_runs_once_at_another(
    tmp_path: Path, db: str
) -> None:
    orders = Orders(tmp_path, [tool("echo", words=TEXT)])
    await review(db, "files", orders.settings, {"echo": "ask"})
    mcp = {"files": orders.settings}
    async with several(tmp_path / "bot", db, ModelEmulator(responder=answer), mcp=mcp) as bots:
        gateway, first = await bots.start("gateway", "worker")
        await gateway.web.post("talk", asked_for("a", "files__echo", words="hi"))
        code = await code_of(gateway, "talk")
        await until(lambda: not unended(db), "its turn is over")
        await bots.start("worker", "worker")
        await first.kill()
        [waiting] = (await gateway.web.get("/api/v1/approvals"))["waiting"]
        decision = {"decision": "once", "digest": waiting["digest"]}
        path = f"/api/v1/approvals/{waiting['id']}"
        replies = await asyncio.gather(
            *(gateway.web.post("talk", f"/approve {code}") for _ in range(3)),
            *(gateway.web.ask("POST", path, json=decision) for _ in range(3)),
        )
        codes = [reply.status_code for reply in replies if not isinstance(reply, str)]
        assert codes.count(200) <= 1
        assert set(codes) <= {200, 409}
        assert await outcome(db) == 'approved by the person: done\necho: {"words": "hi"}'
        assert orders.calls() == ["echo"]
        assert query(db, "SELECT state, arguments FROM approval") == [("done", "")]
        assert query(db, "SELECT name FROM duty WHERE name LIKE 'approval %'") == []
        assert await ledger_faults(db) == []


async def test_what_is_approved_during_a_turn_is_run_once_after_it_though_all_workers_are_killed(
    tmp_path: Path, db: str
) -> None:
    def responder(body: dict[str, Any]) -> Reply:
        newest = json.dumps(body["messages"][-1])
        is_child = PONDER in newest and "use delegate" not in newest
        return Reply(text="at last", wait=ANSWERED) if is_child else answer(body)

    orders = Orders(tmp_path, [tool("echo", words=TEXT)])
    await review(db, "files", orders.settings, {"echo": "ask"})
    model, mcp = ModelEmulator(responder=responder), {"files": orders.settings}
    async with several(tmp_path / "bot", db, model, mcp=mcp, delegate={"enabled": True}) as bots:
        gateway, *workers = await bots.start("gateway", "worker", "worker")
        await gateway.web.post("talk", asked_for("a", "files__echo", words="hi"))
        code = await code_of(gateway, "talk")
        await until(lambda: not unended(db), "its turn is over")
        tasks = [{"goal": f"{PONDER}, {name}"} for name in "ab"]
        await gateway.web.post("talk", asked_for("b", "delegate", tasks=tasks))
        running = "SELECT 1 FROM turn WHERE state IN ('running', 'waiting')"
        await until(
            lambda: len(query(db, running)) == 3, "the turn and its two sub-agents are at work"
        )
        commands = {
            "/tasks": "w2",
            "/approvals": "files__echo",
            f"/approve {code}": "once the current answer is finished",
        }
        for command, said in commands.items():
            id = await gateway.web.post("talk", command)
            assert said in (await gateway.web.answer("talk", id))["text"]
        assert len(query(db, running)) == 3
        assert query(db, "SELECT state FROM approval") == [("approved",)]
        assert orders.calls() == []
        for worker in workers:
            await worker.kill()
        asked = len(model.requests)
        await bots.start("worker")
        await until(lambda: len(model.requests) > asked, "the sub-agents are taken over", 60)
        await gateway.web.post("talk", "/stop")
        assert await outcome(db) == 'approved by the person: done\necho: {"words": "hi"}'
        assert orders.calls() == ["echo"]
        assert query(db, "SELECT state FROM approval") == [("done",)]
        assert await ledger_faults(db) == []


@by_night
@pytest.mark.parametrize("how", ["message", "page"])
async def test_a_call_whose_process_is_killed_when_it_has_run_is_not_run_again(
    tmp_path: Path, db: str, how: str
) -> None:
    orders = Orders(tmp_path, [tool("echo", words=TEXT)])
    await review(db, "files", orders.settings, {"echo": "ask"})
    doomed = "approval.ran:kill9"
    async with several(
        tmp_path / "bot", db, ModelEmulator(responder=answer), mcp={"files": orders.settings}
    ) as bots:
        [gateway] = await bots.start("gateway", fp=doomed if how == "page" else "")
        [worker] = await bots.start("worker", fp=doomed if how == "message" else "")
        await gateway.web.post("talk", asked_for("a", "files__echo", words="hi"))
        code = await code_of(gateway, "talk")
        await until(lambda: not unended(db), "its turn is over")
        if how == "page":
            [waiting] = (await gateway.web.get("/api/v1/approvals"))["waiting"]
            decision = {"decision": "once", "digest": waiting["digest"]}
            assert (
                await gateway.web.ask("POST", f"/api/v1/approvals/{waiting['id']}", json=decision)
            ).status_code == 200
        else:
            await gateway.web.post("talk", f"/approve {code}")
        assert await (gateway if how == "page" else worker).ended() == -signal.SIGKILL
        assert orders.calls() == ["echo"]
        await bots.start("gateway" if how == "page" else "worker")
        assert "outcome unknown" in await outcome(db)
        assert orders.calls() == ["echo"], "not once more"
        assert query(db, "SELECT state FROM approval") == [("running",)]


async def test_servers_of_both_kinds_answer_whichever_worker_asks_them(
    tmp_path: Path, db: str
) -> None:
    orders = Orders(tmp_path, [tool("echo", words=TEXT)])
    async with http_server([tool("echo")]) as remote:
        mcp = {"files": orders.settings, "remote": {"url": remote.url, "local": True}}
        for name, settings in mcp.items():
            await review(db, name, settings, {"echo": "run"})
        model = ModelEmulator(responder=answer)
        async with several(tmp_path / "bot", db, model, mcp=mcp) as bots:
            gateway, *_ = await bots.start("gateway", "worker", "worker")
            for number in range(4):
                asks = [
                    gateway.web.post(
                        f"a{number}", asked_for(f"a{number}", "files__echo", words=f"w{number}")
                    ),
                    gateway.web.post(f"b{number}", asked_for(f"b{number}", "remote__echo")),
                ]
                ids = await asyncio.gather(*asks)
                assert (await gateway.web.answer(f"a{number}", ids[0]))["text"] == f"re «a{number}»"
                assert (await gateway.web.answer(f"b{number}", ids[1]))["text"] == f"re «b{number}»"
            assert orders.calls() == ["echo"] * 4
            assert remote.calls == ["echo"] * 4
            told = "\n".join(shown(request.body) for request in model.requests)
            assert all(f'echo: {{"words": "w{number}"}}' in told for number in range(4))
            assert [await bot.term() for bot in bots.made] == [0, 0, 0]


@by_night
@pytest.mark.parametrize("point", ["mcp.called@1", "mcp.answered@1"])
async def test_an_unsafe_call_of_a_killed_worker_is_unknown_and_not_repeated(
    tmp_path: Path, db: str, point: str
) -> None:
    orders = Orders(tmp_path, [tool("echo", words=TEXT)])
    await review(db, "files", orders.settings, {"echo": "run"})
    model = ModelEmulator(responder=answer)
    async with several(tmp_path / "bot", db, model, mcp={"files": orders.settings}) as bots:
        [gateway] = await bots.start("gateway")
        [doomed] = await bots.start("worker", fp=f"{point}:kill9")
        id = await gateway.web.post("talk", asked_for("a", "files__echo", words="hi"))
        assert await doomed.ended(60) == -signal.SIGKILL
        await bots.start("worker")
        assert (await gateway.web.answer("talk", id, 60))["text"] == "re «a»"
        assert "unknown" in shown(model.requests[-1].body)
        assert len(orders.calls()) <= 1
        assert query(db, "SELECT state FROM tool_call") == [("unknown",)]
        assert await ledger_faults(db) == []


async def test_a_stop_ends_the_sub_agents_wherever_they_run(tmp_path: Path, db: str) -> None:
    def responder(body: dict[str, Any]) -> Reply:
        newest = json.dumps(body["messages"][-1])
        is_child = PONDER in newest and "use delegate" not in newest
        return Reply(text="at last", wait=ANSWERED) if is_child else answer(body)

    tasks = [{"goal": f"{PONDER}, {name}"} for name in "abc"]
    async with several(
        tmp_path, db, ModelEmulator(responder=responder), delegate={"enabled": True}
    ) as bots:
        gateway, *_ = await bots.start("gateway", "worker", "worker")
        await gateway.web.post("talk", asked_for("a", "delegate", tasks=tasks))
        running = "SELECT 1 FROM turn WHERE state IN ('running', 'waiting')"
        await until(
            lambda: len(query(db, running)) == 4, "the turn and its three sub-agents are at work"
        )
        begun = time.monotonic()
        await gateway.web.post("talk", "/stop")
        await until(lambda: not query(db, running), "all are ended")
        assert time.monotonic() - begun < ANSWERED / 2, (
            "it is about 0.3 s on a quiet machine; nobody waits for the model"
        )
        states = query(db, "SELECT state FROM background_task")
        assert states == [("cancelled",)] * 3
        await until(lambda: not unended(db), "all is at rest")
        assert query(db, "SELECT 1 FROM inbox WHERE key LIKE 'outcome:%'") == []


@needs_sandbox
async def test_a_plugin_runs_at_a_worker(tmp_path: Path, db: str) -> None:
    home = tmp_path / "bot"
    HomeFolder(root=home).ensure()
    enable(home, REPEAT, "repeat", schema=REPEAT_SCHEMA, needs=(), description="Say it twice.")
    model = ModelEmulator(responder=answer)
    async with several(home, db, model, plugins={"repeat": {}}) as bots:
        gateway, _ = await bots.start("gateway", "worker")
        id = await gateway.web.post("talk", asked_for("a", "repeat", words="tea"))
        assert (await gateway.web.answer("talk", id))["text"] == "re «a»"
        assert "tea tea" in shown(model.requests[-1].body)
