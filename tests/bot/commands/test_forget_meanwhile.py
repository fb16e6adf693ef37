"""An answer under way elsewhere in a space does not bring back what is forgotten there."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from bot.models.base import ModelEvent, Request
from channels.message import Capabilities
from channels.testing import ScriptedChannel as Channel
from memory.store.store import Store
from tests.bot.commands.test_forget import TELEGRAM, code_of, holds
from tests.bot.inside import Inside, inside

TOLD = "I keep a garden near the lake at Xanadu"
ASKED = "where is my garden near the lake?"


def script(request: Request) -> str:
    return "Your garden is at Xanadu." if "Xanadu" in str(request) else "Fine."


class Gate:
    """Where a test waits for something to come, and lets it go on."""

    def __init__(self) -> None:
        self.coming, self.go = asyncio.Event(), asyncio.Event()

    async def passed(self) -> None:
        self.coming.set()
        await self.go.wait()


class Slow:
    """A model that answers one question when it may."""

    name = "slow"

    def __init__(self, it: Inside) -> None:
        self._model, self.gate = it.model, Gate()
        it.bot.models.use(self)

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        if ASKED in str(request.messages[-1]):
            await self.gate.passed()
        async for event in self._model.stream(request):
            yield event

    async def close(self) -> None: ...


class Gated:
    """A door, or a store, of which one method of one door waits at a gate once it is armed."""

    def __init__(self, real: Any, gates: dict[str, Gate]) -> None:
        self._real, self._gates = real, gates

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._real, name)
        if name in ("delivery", "forgettings"):
            return Gated(real, self._gates)
        return self._waiting(real, name) if name in ("claim", "compact") else real

    def _waiting(self, real: Any, name: str) -> Any:
        async def waiting(*args: Any, **kwargs: Any) -> Any:
            if name in self._gates:
                await self._gates[name].passed()
            return await real(*args, **kwargs)

        return waiting


async def code(it: Inside, **who: str) -> str:
    return code_of(await it.text("/forget Xanadu", **who))


async def test_a_turn_that_runs_in_another_chat_is_stopped_and_told_so(tmp_path: Path) -> None:
    async with inside(tmp_path, script) as it:
        await it.say(TOLD)
        slow = Slow(it)
        it.channel.hear(ASKED, chat="c2", key="asked")
        await slow.gate.coming.wait()
        receipt = await it.text(f"/forget yes {await code(it)}")
        assert receipt.startswith("**Forgotten.**")
        [told] = await it.answer("asked")
        assert told.text == "Stopped."
        await it.bot.settled()
        assert holds(tmp_path, "Xanadu") == []
        slow.gate.go.set()
        assert await it.text("And what is two and two?", chat="c2") == "Fine."


async def test_a_turn_that_has_looked_in_memory_and_is_not_begun_yet_is_stopped_too(
    tmp_path: Path,
) -> None:
    gates: dict[str, Gate] = {}

    def around(store: Store) -> Store:
        return Gated(store, gates)

    async with inside(tmp_path, script, around=around) as it:
        await it.say(TOLD)
        confirm = f"/forget yes {await code(it)}"
        gate = gates["claim"] = Gate()
        it.channel.hear(ASKED, chat="c2", key="asked")
        await gate.coming.wait()
        it.channel.hear(confirm, key="yes")
        await asyncio.sleep(0.1)  # nothing may happen: there is nothing to wait for
        assert it.parts("yes") == []
        gate.go.set()
        assert (await it.answer("yes"))[0].text.startswith("**Forgotten.**")
        assert (await it.answer("asked"))[0].text == "Stopped."
        await it.bot.settled()
        assert holds(tmp_path, "Xanadu") == []


async def test_a_message_that_comes_meanwhile_is_answered_from_what_is_left(tmp_path: Path) -> None:
    gates: dict[str, Gate] = {}

    def around(store: Store) -> Store:
        return Gated(store, gates)

    async with inside(tmp_path, script, around=around) as it:
        await it.say(TOLD)
        confirm = f"/forget yes {await code(it)}"
        gate = gates["compact"] = Gate()
        it.channel.hear(confirm, key="yes")
        await gate.coming.wait()
        it.channel.hear(ASKED, chat="c2", key="asked")
        await asyncio.sleep(0.1)  # nothing may happen: there is nothing to wait for
        assert it.parts("asked") == []
        gate.go.set()
        assert (await it.answer("yes"))[0].text.startswith("**Forgotten.**")
        assert (await it.answer("asked"))[0].text == "Fine."
        await it.bot.settled()
        assert holds(tmp_path, "Xanadu") == []


async def test_another_persons_turn_goes_on(tmp_path: Path) -> None:
    channel = Channel(name="telegram", account="bot", capabilities=Capabilities())
    async with inside(tmp_path, script, TELEGRAM, channel) as it:
        await it.say(TOLD, chat="ann", sender="ann")
        slow = Slow(it)
        it.channel.hear(ASKED, chat="ben", sender="ben", key="asked")
        await slow.gate.coming.wait()
        confirm = f"/forget yes {await code(it, chat='ann', sender='ann')}"
        assert (await it.text(confirm, chat="ann", sender="ann")).startswith("**Forgotten.**")
        slow.gate.go.set()
        assert (await it.answer("asked"))[0].text == "Fine."
