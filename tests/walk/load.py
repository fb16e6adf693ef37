"""Many conversations at once in a real process, by one channel: who is answered, how often, and
what the log says.

The same for the day's suite (a few dozen conversations) and for `make bench` (200 and more).
"""

import asyncio
import contextlib
import json
import socket
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from tests.emulators.model import ModelEmulator
from tests.walk.channel_worlds import WORLDS, World, configured, remember
from tests.walk.harness import Bot, settings, until
from tests.walk.oracle import unfounded_notices
from tests.walk.record import unended
from tests.walk.speech import answer, asked, tokens_in

ENDLESS = httpx.Limits(max_connections=None, max_keepalive_connections=None)
PATIENCE = 120.0  # seconds, on a machine that is busy with other tests
SHAPES = {
    "telegram": "{}",
    "feishu": "ou_{}",
    "wechat": "p{}@im.wechat",
    "wechat_mp": "o_{}",
    "wecom": "p{}",
}


@dataclass(slots=True, kw_only=True)
class Load:
    """What came of it. seconds: from the first message to the last answer; faults: each breach of
    the promise.
    """

    channel: str
    conversations: int
    sent: int = 0
    answered: int = 0
    seconds: float = 0.0
    faults: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        rate = self.answered / self.seconds if self.seconds else 0.0
        told = (
            f"{self.channel}: {self.conversations} conversations, {self.answered} of {self.sent} "
            "messages answered"
        )
        return f"{told} in {self.seconds:.1f} s ({rate:.0f}/s), {len(self.faults)} faults"


async def load(
    channel: str, home: Path, conversations: int, messages: int, *, deaf: int = 0
) -> Load:
    """So many messages in each of so many conversations, all conversations at once.

    Args:
        channel: "http", or one of WORLDS.
        deaf: readers of event streams that never read; HTTP only.
    """
    async with ModelEmulator(responder=answer) as model:
        if channel == "http":
            return await _by_http(model, home, conversations, messages, deaf)
        return await _by_platform(WORLDS[channel](), model, home, conversations, messages)


async def _by_platform(
    world: World, model: ModelEmulator, home: Path, conversations: int, messages: int
) -> Load:
    shape = SHAPES[world.name]
    world.people = [shape.format(7_001 + at) for at in range(conversations)]
    result = Load(channel=world.name, conversations=conversations, sent=conversations * messages)
    async with world:
        bot = Bot(home, {**configured(world, model), **ROOMY})
        await remember(bot, world)
        await bot.start()
        try:
            began = time.monotonic()
            for number in range(messages):
                for person in world.people:
                    world.say(person, asked(f"{person.partition('@')[0]}/{number}"))
            with contextlib.suppress(AssertionError):
                await until(
                    lambda: _at_rest(world, bot, result.sent), "every message is answered", PATIENCE
                )
            result.seconds = time.monotonic() - began
            for person in world.people:
                name = person.partition("@")[0]
                seen = Counter(token for text in world.seen(person) for token in tokens_in(text))
                _judge(result, [f"{name}/{number}" for number in range(messages)], seen)
            result.faults += [
                f"left half written: {text!r}"
                for one in world.people
                for text in world.half_written(one)
            ]
        finally:
            await _end(bot, model, result)
    return result


def _at_rest(world: World, bot: Bot, sent: int) -> bool:
    seen = sum(len(tokens_in(text)) for person in world.people for text in world.seen(person))
    return seen >= sent and not world.unconfirmed() and not unended(bot.db)


async def _by_http(
    model: ModelEmulator, home: Path, conversations: int, messages: int, deaf: int
) -> Load:
    result = Load(channel="http", conversations=conversations, sent=conversations * messages)
    bot = Bot(home, {**settings(model.url, provider="openai"), **ROOMY})
    await bot.start()
    try:
        token = (bot.home / "data" / "web_token").read_text().strip()
        headers = {"authorization": f"Bearer {token}"}
        async with (
            httpx.AsyncClient(
                base_url=bot.web.url,
                headers=headers,
                timeout=PATIENCE,
                limits=ENDLESS,
                trust_env=False,
            ) as client,
            contextlib.AsyncExitStack() as held,
        ):
            began = time.monotonic()
            talks = [_Talk(client, f"c{at}", messages, result) for at in range(conversations)]
            await asyncio.gather(*(talk.begin() for talk in talks))
            for at in range(deaf):
                held.enter_context(_never_read(bot.web.url, token, f"c{at % conversations}"))
            await asyncio.gather(*(talk.run() for talk in talks))
            result.seconds = time.monotonic() - began
            await until(lambda: not unended(bot.db), "everything is at rest", PATIENCE)
            for talk in talks:
                stored = [line for line in await bot.web.lines(talk.name) if line["role"] != "user"]
                _judge(
                    result,
                    talk.tokens,
                    Counter(t for line in stored for t in tokens_in(line["text"])),
                )
                _judge(result, talk.tokens, talk.seen, "on the page ", count=False)
    finally:
        await _end(bot, model, result)
    return result


class _Talk:
    """One conversation over a kept connection, followed by one stream. seen: tokens of the answers
    it showed.
    """

    def __init__(self, client: httpx.AsyncClient, name: str, messages: int, result: Load) -> None:
        self.name = name
        self.tokens = [f"{name}/{number}" for number in range(messages)]
        self.seen: Counter[str] = Counter()
        self._client = client
        self._result = result
        self._moved = asyncio.Event()

    async def begin(self) -> None:
        """The first message, which makes the conversation."""
        await self._post(self.tokens[0])

    async def run(self) -> None:
        """Follow it, and write each further message once the one before is answered."""
        following = asyncio.create_task(self._follow())
        try:
            async with asyncio.timeout(PATIENCE):
                for before, token in zip(self.tokens, [*self.tokens[1:], ""], strict=True):
                    await self._answered(before, following)
                    if token:
                        await self._post(token)
        except TimeoutError:
            pass  # what is missing is told by the count
        finally:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)

    async def _post(self, token: str) -> None:
        body = {"conversation": self.name, "text": asked(token), "key": token}
        try:
            reply = await self._client.post("/api/messages", json=body)
        except httpx.HTTPError as err:
            self._result.faults.append(f"POST of {token}: {type(err).__name__}: {err}")
            return
        if reply.status_code != 202:
            self._result.faults.append(f"POST of {token}: {reply.status_code} {reply.text[:200]}")

    async def _answered(self, token: str, following: asyncio.Task[None]) -> None:
        while not self.seen[token] and not following.done():
            moved = asyncio.ensure_future(self._moved.wait())
            await asyncio.wait({moved, following}, return_when=asyncio.FIRST_COMPLETED)
            moved.cancel()
            self._moved.clear()

    async def _follow(self) -> None:
        try:
            async for text in self._replies():
                self.seen.update(tokens_in(text))
                self._moved.set()
            self._result.faults.append(f"the stream of {self.name} ended")
        except httpx.HTTPError as err:
            self._result.faults.append(f"the stream of {self.name}: {type(err).__name__}: {err}")

    async def _replies(self) -> AsyncIterator[str]:
        path, name = f"/api/conversations/{self.name}/events", ""
        async with self._client.stream("GET", path, headers={"last-event-id": "0"}) as reply:
            reply.raise_for_status()
            async for line in reply.aiter_lines():
                if line.startswith("event: "):
                    name = line[7:]
                elif line.startswith("data: ") and name in ("reply", "notice"):
                    yield str(json.loads(line[6:])["text"])


def _never_read(url: str, token: str, conversation: str) -> socket.socket:
    """A reader of that conversation's stream that takes nothing; the kernel keeps little for it."""
    host, _, port = url.removeprefix("http://").partition(":")
    wire = socket.socket()
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    wire.connect((host, int(port)))
    asking = (
        f"GET /api/conversations/{conversation}/events?after=0 HTTP/1.1\r\nHost: {host}:{port}\r\n"
    )
    wire.sendall(f"{asking}Authorization: Bearer {token}\r\n\r\n".encode())
    return wire


def _judge(
    result: Load, tokens: Sequence[str], seen: Counter[str], where: str = "", *, count: bool = True
) -> None:
    result.answered += sum(bool(seen[token]) for token in tokens) if count else 0
    result.faults += [f"{where}no answer: {token}" for token in tokens if not seen[token]]
    result.faults += [
        f"{where}answered {seen[token]} times: {token}" for token in tokens if seen[token] > 1
    ]


async def _end(bot: Bot, model: ModelEmulator, result: Load) -> None:
    """End the process, and read what it logged and told."""
    if (code := await bot.term()) != 0:
        result.faults.append(f"the process ended with {code}")
    result.faults += [f"logged: {line}" for line in errors_of(bot)]
    result.faults += unfounded_notices(bot.db, model)


def errors_of(bot: Bot) -> list[str]:
    """Error-level lines of its log."""
    lines: list[dict[str, Any]] = []
    for file in sorted((bot.home / "data" / "log").iterdir()):
        lines += [json.loads(line) for line in file.read_text().splitlines()]
    return [json.dumps(line)[:600] for line in lines if line.get("level") in ("error", "critical")]


# No limit of how much somebody may write: that is tested elsewhere.
ROOMY: dict[str, Any] = {
    "budgets": {
        "user": {"messages_per_minute": 0, "messages_per_day": 0},
        "total": {"messages_per_day": 0},
    }
}
