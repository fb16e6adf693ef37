"""What a person asks and decides while the model answers them: at once, and what they approve
starts after the turn.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from bot.console.approvals import ApprovalRoutes
from bot.models.base import ModelEvent, Request
from bot.models.providers.offline import ScriptedAnswer, ScriptedModel
from channels.message import Capabilities
from channels.testing import ScriptedChannel
from memory.conversation import ToolResult
from tests.bot.inside import Inside, inside
from tests.bot.talk import call, words
from tests.channels.web.server import ScriptedBot, running
from tests.walk.harness import until

CODE = re.compile(r"`/approve ([2-9A-HJ-NP-Z]{4}-[2-9A-HJ-NP-Z]{4})`")
APPROVED = "Approved. It runs once the current answer is finished."
# seconds in which a command is answered on a busy machine; the turn runs until the test ends it
AT_ONCE = 5.0
WAIT = "think about it"
TELEGRAM: dict[str, Any] = {
    "channels": {"telegram": {"owners": ["boss"], "allow": ["ann"]}},
    "delegate": {"enabled": True},
}


def newest(request: Request) -> str:
    """The person's newest words."""
    return ["", *(text for text in words(request) if not text.startswith("["))][-1]


class Thinking(ScriptedModel):
    """A model that waits until `go_on` when it is told to think, and in every sub-agent."""

    def __init__(self) -> None:
        super().__init__(self._answer)
        self.begun = asyncio.Event()
        self.go_on = asyncio.Event()

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        """See ModelClient."""
        if newest(request) == WAIT or words(request)[0].startswith("[Task] "):
            self.begun.set()
            await self.go_on.wait()
        async for event in super().stream(request):
            yield event

    @staticmethod
    def _answer(request: Request) -> ScriptedAnswer:
        said = newest(request)
        if any(isinstance(part, ToolResult) for part in request.messages[-1].parts):
            return "done"
        if said.startswith("be "):
            return call("write_file", path="RULES.md", content=f"You are {said[3:]}.")
        if said.startswith("delegate "):
            return call(
                "delegate", id="d1", tasks=[{"goal": said.removeprefix("delegate "), "tools": []}]
            )
        return f"re: {said}"


async def asked(it: Inside, chat: str = "c1", wish: str = "be kind") -> str:
    """Have the model ask for a change of RULES.md in the space of the owner; the code."""
    await it.text(wish, chat=chat, sender="boss")
    await settled(it)
    return [found for sent in it.channel.sent for found in CODE.findall(sent.text)][-1]


def rules(it: Inside) -> str:
    path = it.bot.home.workspace / "RULES.md"
    return path.read_text() if path.exists() else ""


def told(it: Inside, text: str) -> int:
    return sum(text in sent.text for sent in it.channel.sent)


async def settled(it: Inside) -> None:
    async with asyncio.timeout(30):
        await it.bot.settled()


async def begin_turn(it: Inside, chat: str = "c1") -> Thinking:
    model = Thinking()
    it.bot.models.use(model)
    it.channel.hear(WAIT, chat=chat, sender="boss", key="thinking")
    async with asyncio.timeout(30):
        await model.begun.wait()
    return model


async def at_once(it: Inside, command: str, **where: str) -> str:
    async with asyncio.timeout(AT_ONCE):
        return await it.text(command, **{"sender": "boss", **where})


async def test_what_is_approved_during_a_turn_starts_after_it_and_once(tmp_path: Path) -> None:
    async with inside(tmp_path, Thinking._answer) as it:
        before = rules(it)
        code, other = await asked(it), await asked(it, wish="be brief")
        model = await begin_turn(it)
        listed = await at_once(it, "/approvals")
        assert "write_file content='You are kind.' path=RULES.md" in listed
        assert f"/approve {code}" in listed
        assert f"/approve {other}" in listed
        assert "no reminders" in await at_once(it, "/tasks")
        it.channel.hear("and then?", key="queued")
        assert await at_once(it, f"/approve {code}") == APPROVED
        assert "already approved" in await at_once(it, f"/approve {code}")
        assert "Denied" in await at_once(it, f"/deny {other}")
        assert rules(it) == before
        assert not it.parts("thinking")
        model.go_on.set()
        await settled(it)
        assert rules(it) == "You are kind."
        assert told(it, "Approved and done, `write_file`") == 1
        order = [sent.text.partition(",")[0] for sent in it.channel.sent][-3:]
        assert order == [f"re: {WAIT}", "Approved and done", "re: and then?"], (
            "it overtakes what waits"
        )
        assert "already" in await at_once(it, f"/approve {code}")
        assert told(it, "Approved and done, `write_file`") == 1


async def test_a_yes_on_the_page_starts_the_call_after_the_turn_too(tmp_path: Path) -> None:
    async with inside(tmp_path, Thinking._answer) as it:
        before = rules(it)
        await asked(it)
        model = await begin_turn(it)
        async with (
            running(
                ScriptedBot(), ApprovalRoutes(it.bot.store, it.bot.roles, it.bot).calls()
            ) as site,
            site.client() as page,
        ):
            [shown] = (await page.get("/api/v1/approvals")).json()["waiting"]
            path, body = (
                f"/api/v1/approvals/{shown['id']}",
                {"decision": "once", "digest": shown["digest"]},
            )
            assert (await page.post(path, json=body)).status_code == 200
            assert (await page.post(path, json=body)).status_code == 409
            assert (await page.get("/api/v1/approvals")).json()["waiting"] == []
        await until(lambda: told(it, APPROVED), "the chat is told")
        assert rules(it) == before
        model.go_on.set()
        await settled(it)
        assert rules(it) == "You are kind."
        assert told(it, "Approved and done, `write_file`") == 1


async def test_a_yes_is_taken_back_while_its_call_waits(tmp_path: Path) -> None:
    async with inside(tmp_path, Thinking._answer) as it:
        before, code = rules(it), await asked(it)
        model = await begin_turn(it)
        assert await at_once(it, f"/approve {code}") == APPROVED
        assert "nothing was done" in await at_once(it, f"/deny {code}")
        model.go_on.set()
        await settled(it)
        assert rules(it) == before


async def test_what_was_approved_before_the_process_ended_is_run_by_the_next_one(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, Thinking._answer) as it:
        code = await asked(it)
        await begin_turn(it)
        assert await at_once(it, f"/approve {code}") == APPROVED
    async with inside(tmp_path, Thinking._answer) as it:
        await settled(it)
        assert rules(it) == "You are kind.", [sent.text for sent in it.channel.sent]
        assert told(it, "Approved and done, `write_file`") == 1
    async with inside(tmp_path, Thinking._answer) as it:
        await settled(it)
        assert told(it, "Approved and done, `write_file`") == 0


async def test_a_yes_counts_for_as_long_as_its_giver_may_give_it(tmp_path: Path) -> None:
    channel = ScriptedChannel(
        name="telegram", account="bot", capabilities=Capabilities(buttons=True)
    )
    async with inside(tmp_path, Thinking._answer, TELEGRAM, channel) as it:
        before, code = rules(it), await asked(it, chat="boss")
        model = await begin_turn(it, chat="boss")
        assert await at_once(it, f"/approve {code}", chat="boss") == APPROVED
        path = tmp_path / "config.json"
        path.write_text(
            json.dumps(
                {**json.loads(path.read_text()), "channels": {"telegram": {"allow": ["boss"]}}}
            )
        )
        it.bot.file.load()
        model.go_on.set()
        await settled(it)
        assert rules(it) == before
        assert told(it, "This approval is no longer valid") == 1


@pytest.mark.parametrize("other", ["another chat", "another person", "a group"])
async def test_tasks_lists_what_the_persons_other_chats_have_running(
    tmp_path: Path, other: str
) -> None:
    channel = ScriptedChannel(name="telegram", account="bot")
    async with inside(tmp_path, Thinking._answer, TELEGRAM, channel) as it:
        model = Thinking()
        it.bot.models.use(model)
        it.channel.hear("delegate the long report", chat="boss", sender="boss", key="work")
        async with asyncio.timeout(30):
            await model.begun.wait()
        here = await at_once(it, "/tasks", chat="boss")
        assert "▶ w1 · sub-agent · the long report" in here
        if other == "another chat":
            listed = await at_once(it, "/tasks", chat="boss", thread="second")
            assert (
                "▶ w1 · telegram `delegate the long report` · sub-agent · the long report" in listed
            )
            assert "w1 was stopped" in await at_once(
                it, "/tasks cancel w1", chat="boss", thread="second"
            )
        else:
            where = (
                {"chat": "ann", "sender": "ann"}
                if other == "another person"
                else {"chat": "g", "kind": "group"}
            )
            assert "long report" not in await at_once(it, "/tasks", **where)
            assert "No w1 is running" in await at_once(it, "/tasks cancel w1", **where)
        model.go_on.set()
        await settled(it)
