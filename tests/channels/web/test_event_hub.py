"""The page's live view by itself: what is in use stays, a reader holds little, its faults stay its
own.
"""

import asyncio
import socket
import weakref
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, aclosing

import pytest
from structlog.testing import capture_logs

from channels.message import LiveEvent
from channels.web.backend import TranscriptLine, web_address
from channels.web.events import MAX_CONVERSATIONS, RETRY_FRAME, EventHub, parse_position
from tests.channels.web.server import NOON, TOKEN, ScriptedBot, running
from tests.channels.web.streams import names, until


class Weak(TranscriptLine):
    """A line with weak references, to see whether anything still holds it."""

    __slots__ = ("__weakref__",)


class Record:
    """A transcript of lines of one length."""

    def __init__(self, count: int, characters: int) -> None:
        self.said: list[TranscriptLine] = [
            Weak(id=f"m{number}", number=number, role="user", text="x" * characters, at=NOON)
            for number in range(1, count + 1)
        ]

    async def lines(
        self, conversation: str, *, after: int | None = None, limit: int = 50
    ) -> list[TranscriptLine]:
        if after is None:
            return self.said[-limit:]
        return self.said[after : after + limit]


def delta(conversation: str, text: str, message_id: str = "m1") -> LiveEvent:
    return LiveEvent(
        address=web_address(conversation), name="delta", message_id=message_id, text=text
    )


async def joined(hub: EventHub, conversation: str, held: AsyncExitStack) -> AsyncGenerator[bytes]:
    """A reader that has begun and reads no further."""
    frames = await held.enter_async_context(
        aclosing(hub.follow(conversation, None, Record(0, 0).lines))
    )
    assert await anext(frames) == b"retry: 1000\n\n"
    return frames


@pytest.mark.parametrize("count", [MAX_CONVERSATIONS + 1, 200])
async def test_as_many_conversations_as_are_read_are_shown(count: int) -> None:
    hub = EventHub()
    async with AsyncExitStack() as held:
        readers = {f"c{number}": await joined(hub, f"c{number}", held) for number in range(count)}
        for name in readers:
            hub.publish(delta(name, f"to {name}"))
        for name, frames in readers.items():
            assert f"to {name}".encode() in await anext(frames)


@pytest.mark.parametrize("count", [MAX_CONVERSATIONS + 1, 200])
async def test_as_many_answers_as_are_written_are_shown_to_who_comes_late(count: int) -> None:
    hub = EventHub()
    for piece in ("one ", "two"):
        for number in range(count):
            hub.publish(delta(f"c{number}", piece))
    for number in range(count):
        async with AsyncExitStack() as held:
            frames = await joined(hub, f"c{number}", held)
            assert b'"text":"one two"' in await anext(frames)


async def test_a_conversation_added_while_all_others_are_in_use_can_be_used_at_once() -> None:
    hub = EventHub()
    async with AsyncExitStack() as held:
        for number in range(MAX_CONVERSATIONS):
            await joined(hub, f"read-{number}", held)
        hub.notify_stored("posted")
        hub.publish(
            LiveEvent(address=web_address("answered"), name="reply", message_id="m1", text="done")
        )
        frames = await joined(hub, "joined", held)
        hub.publish(delta("joined", "hello"))
        assert b"hello" in await anext(frames)


async def test_replies_of_turns_without_further_events_are_dropped() -> None:
    now = 0
    hub = EventHub(clock=lambda: now)
    for number in range(500):
        hub.publish(delta(f"lost-{number}", "half an"))
    now = 4 * 3_600 * 10**9
    hub.notify_stored("next")
    assert len(hub._streams) <= MAX_CONVERSATIONS


async def test_who_returns_to_a_conversation_that_was_dropped_gets_what_was_stored_meanwhile() -> (
    None
):
    hub, record = EventHub(), Record(2, 10)
    for number in range(MAX_CONVERSATIONS + 1):
        hub.publish(delta(f"c{number}", "half an"))
        hub.publish(
            LiveEvent(
                address=web_address(f"c{number}"),
                name="reply",
                message_id="m1",
                text="done",
                line=2,
            )
        )
    assert len(hub._streams) == MAX_CONVERSATIONS
    async with aclosing(hub.follow("c0", parse_position("1.7"), record.lines)) as frames:
        assert await anext(frames) == RETRY_FRAME
        assert (await anext(frames)).startswith(b"id: 2\n")


async def test_one_reader_holds_no_more_of_a_long_transcript_than_a_part_of_it() -> None:
    record = Record(200, 50_000)
    held = [weakref.ref(line) for line in record.said]
    frames = EventHub().follow("c1", parse_position("0"), record.lines)
    async with aclosing(frames):
        for _ in range(11):
            await anext(frames)
        record.said.clear()  # what is left now is what the reader holds
        assert sum(len(line.text) for ref in held if (line := ref()) is not None) <= 200_000


@pytest.mark.parametrize("start", ["", "0", "45"])
@pytest.mark.parametrize("count", [1, 50, 51, 200, 201, 450])
async def test_a_transcript_read_in_parts_is_complete_and_in_order(count: int, start: str) -> None:
    first = int(start) + 1 if start else max(1, count - 49)
    wanted = list(range(first, count + 1))
    frames = EventHub().follow("c1", parse_position(start), Record(count, 30_000).lines)
    async with aclosing(frames):
        await anext(frames)
        told = [int((await anext(frames)).split()[1]) for _ in wanted]
    assert told == wanted


async def test_long_pieces_of_a_reply_do_not_fill_the_memory_of_a_conversation() -> None:
    hub = EventHub()
    for _ in range(512):
        hub.publish(
            LiveEvent(
                address=web_address("c1"),
                name="delta",
                message_id="m1",
                text="x" * 100_000,
                facts={"whole": True},
            )
        )
    assert (
        sum(len(step.event.text) for step in hub._streams["c1"].recent if step.event) <= 1_000_000
    )


async def test_a_message_is_taken_and_its_answer_sent_though_the_live_view_fails() -> None:
    class Broken(EventHub):
        def notify_stored(self, conversation: str) -> None:
            raise KeyError(conversation)

        def publish(self, event: LiveEvent) -> None:
            raise KeyError(event.name)

    bot = ScriptedBot(answers=lambda message: "answered")
    with capture_logs() as logged:
        async with running(bot, hub=Broken()) as site, site.client() as client:
            posted = await client.post("/api/messages", json={"conversation": "c1", "text": "x"})
            stored = (await client.get("/api/conversations/c1/messages")).json()["messages"]
            shown = await until(client, "c1", lambda seen: names(seen) == ["accepted", "reply"])
    assert posted.status_code == 202
    assert [one["text"] for one in stored] == ["x", "answered"]
    assert len(shown) == 2
    faults = [line for line in logged if line["log_level"] == "error"]
    assert [line["event"] for line in faults] == ["page not moved"] * 2
    assert all(line["exc_info"] for line in faults)


async def test_readers_that_never_read_delay_no_one_and_are_dropped() -> None:
    bot = ScriptedBot(answers=lambda message: "y" * 20_000)
    async with (
        running(bot, stall_seconds=0.5) as site,
        site.client() as client,
        AsyncExitStack() as held,
    ):
        for listening in site.server._sockets:
            # else the kernel takes it for them
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8192)
        for _ in range(40):
            bot.add("c1", "user", "x" * 20_000)
        deaf = [_deaf(held, site.port) for _ in range(60)]
        for number in range(20):
            posted = await client.post(
                "/api/messages", json={"conversation": "c1", "text": f"{number}"}
            )
            assert posted.status_code == 202
        await _until(lambda: site.web.hub._streams["c1"].readers == 0)
        await _until(lambda: len(site.server._server.server_state.connections) <= 1)
        assert len(deaf) == 60


def _deaf(held: AsyncExitStack, port: int) -> socket.socket:
    wire = held.enter_context(socket.socket())
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    wire.connect(("127.0.0.1", port))
    ask = f"GET /api/conversations/c1/events?after=0 HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
    wire.sendall(f"{ask}Authorization: Bearer {TOKEN}\r\n\r\n".encode())
    return wire


async def _until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not holds():  # noqa: ASYNC110  uvicorn has no event for it
            await asyncio.sleep(0.01)
