"""What people have made or have under way ends when config.json takes their role, while the bot
runs or is stopped.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from bot.console.approvals import ApprovalRoutes
from bot.models.base import ModelEvent, Request
from bot.models.providers.offline import Script
from channels.message import Capabilities
from channels.testing import ScriptedChannel
from memory.conversation import Part, Text
from memory.store.automation.background_tasks import TaskRow
from tests.bot.access.test_lowered_role import shown
from tests.bot.inside import Inside, inside
from tests.bot.jobs.clock import Clock
from tests.bot.talk import Held, answer, call, folded, results
from tests.bot.tools.exec.sandboxed import needs_sandbox
from tests.bot.tools.exec.test_background_in_bot import SLEEPER, background, begun, none_open
from tests.bot.tools.exec.test_exec_in_bot import WAITING, code, files_of
from tests.channels.web.server import ScriptedBot, running

MAKE = call("exec", argv=["sh", "-c", "echo made >> made.txt"])
BOTH = {"owners": ["7", "8"]}
ONLY_EIGHT = {"owners": ["8"]}
SEVEN_AS_USER = {"owners": ["8"], "allow": ["7"]}


def to_settings(telegram: dict[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **more,
        "language": "en",
        "timezone": "Asia/Shanghai",
        "memory": {"extract": False},
        "tools": {"exec": {"enabled": True, "seconds": 20}},
        "channels": {"telegram": telegram},
    }


@asynccontextmanager
async def owned(
    folder: Path,
    script: Script,
    telegram: dict[str, Any],
    settings: Mapping[str, Any] = MappingProxyType({}),
    **more: Any,
) -> AsyncIterator[Inside]:
    """A bot on Telegram. script: of turns alone, where it is a list. settings: further ones."""
    channel = ScriptedChannel(
        name="telegram", account="bot", capabilities=Capabilities(buttons=True, keyed=True)
    )
    steps = iter(script) if isinstance(script, list) else iter(())

    def next_answer(request: Request) -> Any:
        return next(steps) if request.purpose == "turn" else folded("- x", "x")

    async with inside(
        folder,
        next_answer if isinstance(script, list) else script,
        to_settings(telegram, settings),
        channel,
        **more,
    ) as it:
        yield it


async def reconfigure(
    it: Inside, telegram: dict[str, Any], settings: Mapping[str, Any] = MappingProxyType({})
) -> None:
    """Change config.json as an editor does, and wait until the running bot has taken it up."""
    it.bot.home.config.write_text(json.dumps(to_settings(telegram, settings)))
    it.bot.file.load()
    await it.bot._on_config_changed(it.bot.file.current)


async def say(it: Inside, text: str, person: str) -> str:
    told = await it.text(text, chat=person, sender=person)
    await it.bot.settled()
    return told


def made(it: Inside) -> int:
    path = files_of(it) / "made.txt"
    return len(path.read_text().splitlines()) if path.exists() else 0


async def make_rule(it: Inside, person: str) -> None:
    await say(it, "please", person)
    assert "Rule 1 saved" in await say(it, f"/approve {code(it)} always", person)


async def called_result(it: Inside, person: str) -> str:
    """Have the model call in a fresh chat of a person; the result that it sees."""
    await say(it, "/new", person)
    await say(it, "please", person)
    return results(it.model.requests[-1])[-1].text


async def listed_rules(it: Inside) -> list[dict[str, Any]]:
    async with (
        running(ScriptedBot(), ApprovalRoutes(it.bot.store, it.bot.roles, it.bot).calls()) as site,
        site.client() as client,
    ):
        return list((await client.get("/api/v1/approvals")).json()["rules"])


@needs_sandbox
@pytest.mark.parametrize("now", [ONLY_EIGHT, SEVEN_AS_USER], ids=["stranger", "user"])
async def test_a_rule_counts_only_while_its_maker_may_run_commands_and_is_shown_as_such(
    tmp_path: Path, now: dict[str, Any]
) -> None:
    script: Script = [MAKE, "asked", "seen", MAKE, "asked", MAKE, "done"]
    async with owned(tmp_path, script, BOTH) as it:
        await make_rule(it, "7")
        assert "not in effect" not in await say(it, "/approvals", "8")
        assert [rule["in_force"] for rule in await listed_rules(it)] == [True]
        await reconfigure(it, now)
        assert WAITING in await called_result(it, "8")
        assert made(it) == 1
        assert "not in effect" in await say(it, "/approvals", "8")
        assert [rule["in_force"] for rule in await listed_rules(it)] == [False]
        await reconfigure(it, BOTH)
        assert "exit code 0" in await called_result(it, "8"), "it was not deleted"
        assert made(it) == 2


@needs_sandbox
async def test_a_rule_of_somebody_who_was_removed_while_the_bot_was_stopped_does_not_count(
    tmp_path: Path,
) -> None:
    async with owned(tmp_path, [MAKE, "asked", "seen"], BOTH) as it:
        await make_rule(it, "7")
    async with owned(tmp_path, [MAKE, "asked"], ONLY_EIGHT) as it:
        assert WAITING in await called_result(it, "8")
        assert made(it) == 1


@needs_sandbox
@pytest.mark.parametrize(("removed", "goes_on"), [("7", False), ("8", True)])
async def test_a_command_in_the_background_ends_with_the_role_of_who_runs_it(
    tmp_path: Path, removed: str, goes_on: bool
) -> None:
    async with owned(tmp_path, [background(*SLEEPER), "asked", "it runs"], BOTH) as it:
        await say(it, "please", "7")
        await say(it, f"/approve {code(it)}", "7")
        await begun(it)
        await reconfigure(it, {"owners": sorted({"7", "8"} - {removed}), "allow": [removed]})
        assert await none_open(it) is not goes_on
        row = await it.bot.store.tasks.find("", 1)
        assert row is not None
        assert row.state == ("running" if goes_on else "cancelled")


@needs_sandbox
async def test_what_cannot_be_ended_hinders_nothing_else(tmp_path: Path) -> None:
    async def end_task(task: TaskRow) -> None:
        raise OSError("no process can be ended")

    async with owned(
        tmp_path, [background(*SLEEPER), "asked", "it runs", MAKE, "asked"], BOTH
    ) as it:
        await say(it, "please", "7")
        await say(it, f"/approve {code(it)}", "7")
        await begun(it)
        await say(it, "please", "7")
        assert await it.bot.store.access.undecided_approvals()
        it.bot.home.config.write_text(json.dumps(to_settings(ONLY_EIGHT, {})))
        it.bot.file.load()
        await replace(it.bot.lost_rights, end_task=end_task).end()
        assert not await it.bot.store.access.undecided_approvals()


async def test_a_running_turn_ends_with_the_role_of_its_person(tmp_path: Path) -> None:
    async with owned(tmp_path, ["never said"], BOTH) as it:
        held = Held(lambda _: "too late", lambda _: True)
        it.bot.models.use(held)
        message = it.channel.hear("a long question", chat="7", sender="7")
        async with asyncio.timeout(10):
            await held.begun.wait()
        await reconfigure(it, BOTH)
        assert not it.parts(message.key), "nothing has changed for them"
        await reconfigure(it, ONLY_EIGHT)
        [part] = await it.answer(message.key)
        assert part.text == "Stopped."
        held.go_on.set()


async def test_a_turn_that_was_under_way_is_not_taken_up_for_who_was_removed_meanwhile(
    tmp_path: Path,
) -> None:
    async with owned(tmp_path, ["never said"], BOTH) as it:
        held = Held(lambda _: "too late", lambda _: True)
        it.bot.models.use(held)
        message = it.channel.hear("a long question", chat="7", sender="7")
        async with asyncio.timeout(10):
            await held.begun.wait()
    async with owned(tmp_path, ["never said"], ONLY_EIGHT) as it:
        [part] = await it.answer(message.key)
        assert part.text == "That is not available to you here."
        assert not it.model.requests


async def test_S09_what_was_asked_of_somebody_ends_with_their_role(tmp_path: Path) -> None:
    soul = call("write_file", path="SOUL.md", content="evil")
    async with owned(tmp_path, [soul, "asked", soul, "asked"], BOTH) as it:
        for person in ("7", "8"):
            await say(it, "please", person)
        access, now = it.bot.store.access, it.bot.store.now()
        assert {row.party.id for row in await access.open_approvals("", now)} == {"7", "8"}
        await reconfigure(it, ONLY_EIGHT)
        assert {row.party.id for row in await access.open_approvals("", now)} == {"8"}


async def test_S09_a_question_ends_with_a_role_that_was_taken_while_the_bot_was_stopped(
    tmp_path: Path,
) -> None:
    soul = call("write_file", path="SOUL.md", content="evil")
    async with owned(tmp_path, [soul, "asked"], BOTH) as it:
        await say(it, "please", "7")
    async with owned(tmp_path, [], ONLY_EIGHT) as it:
        assert await it.bot.store.access.open_approvals("", it.bot.store.now()) == []


@pytest.mark.parametrize("restart", [False, True])
async def test_a_task_of_a_former_owner_runs_without_the_owners_memory(
    tmp_path: Path, restart: bool
) -> None:
    """A chat gets its space with each message, and a task comes to it unasked."""
    clock = Clock()
    async with owned(tmp_path, lambda _: "sunny", BOTH, clock=clock) as it:
        await say(it, "/remember the safe opens with periwinkle", "8")
        await say(it, "/remind do every day 8:00 look at the safe", "7")
        if not restart:
            await reconfigure(it, SEVEN_AS_USER)
            await run_task(it, clock)
            assert "periwinkle" not in shown(it.model.requests[-1])
    if restart:
        async with owned(tmp_path, lambda _: "sunny", SEVEN_AS_USER, clock=clock) as it:
            await run_task(it, clock)
            assert "periwinkle" not in shown(it.model.requests[-1])


async def run_task(it: Inside, clock: Clock) -> None:
    """Let the time of the task come, and wait for its turn."""
    clock.set("2026-11-27T08:00:10")
    it.bot.ticker.wake()
    await it.channel.until(lambda: any(sent.text == "sunny" for sent in it.channel.sent))
    await it.bot.settled()
    assert "look at the safe" in shown(it.model.requests[-1])


async def test_notices_for_the_owner_do_not_go_to_a_former_one(tmp_path: Path) -> None:
    async with owned(tmp_path, lambda _: "hello", BOTH) as it:
        await say(it, "hi", "8")
        await say(it, "hi", "7")
        assert (await it.bot.store.access.find_owner_conversation())[0] == await it.conversation(
            "7"
        )
        await reconfigure(it, SEVEN_AS_USER)
        assert (await it.bot.store.access.find_owner_conversation())[0] == await it.conversation(
            "8"
        )


class Delegating:
    """A model that gives a task to a sub-agent once, and whose sub-agent never ends."""

    name = "delegating"

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self._parts: list[Part] = [
            call("delegate", tasks=[{"goal": "count to ten"}]),
            Text(text="It runs on."),
        ]

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        if "count to ten" in shown(request):
            self.begun.set()
            await asyncio.Event().wait()
        for event in answer(self._parts.pop(0)):
            yield event

    async def close(self) -> None: ...


async def test_a_sub_agent_ends_with_the_role_of_who_has_it(tmp_path: Path) -> None:
    more = {"delegate": {"enabled": True, "wait_seconds": 1}}
    async with owned(tmp_path, [], BOTH, settings=more) as it:
        model = Delegating()
        it.bot.models.use(model)
        await it.text("please", chat="7", sender="7")
        async with asyncio.timeout(20):
            await model.begun.wait()
        [row] = await it.bot.store.tasks.running()
        await reconfigure(it, BOTH, more)
        assert await it.bot.store.tasks.running(), "nothing has changed for them"
        await reconfigure(it, ONLY_EIGHT, more)
        ended = await it.bot.store.tasks.find(row.space, row.number)
        assert ended is not None
        assert ended.state == "cancelled"


@needs_sandbox
async def test_a_rule_that_somebody_else_approves_again_is_theirs(tmp_path: Path) -> None:
    async with owned(tmp_path, [MAKE, "asked", "seen"] * 2 + [MAKE, "done"], BOTH) as it:
        await make_rule(it, "7")
        await reconfigure(it, ONLY_EIGHT)
        await say(it, "/new", "8")
        await make_rule(it, "8")
        assert "exit code 0" in await called_result(it, "8")


@needs_sandbox
async def test_a_command_in_the_background_ends_when_a_granted_role_is_revoked(
    tmp_path: Path,
) -> None:
    async with owned(tmp_path, [background(*SLEEPER), "asked", "it runs"], ONLY_EIGHT) as it:
        it.channel.hear(await it.bot.pairing.owner_code("test"), chat="7", sender="7")
        await it.channel.until(
            lambda: any("is now an owner" in sent.text for sent in it.channel.sent)
        )
        await say(it, "please", "7")
        await say(it, f"/approve {code(it)}", "7")
        await begun(it)
        await it.bot.pairing.revoke("telegram", "7", "test")
        assert await none_open(it)
