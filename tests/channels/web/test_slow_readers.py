"""Clients that take an answer slowly get all of it; only one that takes nothing is cut off."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from channels.web.connections import BoundedProtocol, ConnectionLimiter
from memory.tasks import cancel_and_wait
from tests.channels.web.server import TOKEN, Running, ScriptedBot, running

BIG = 20_000_000  # bytes; more than the two kernels hold


async def begun(
    site: Running, bot: ScriptedBot
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter, int]:
    """A connection on which a big answer has begun to come, and how much of its body is still to be
    read.
    """
    for _ in range(200):
        bot.add("c1", "user", "x" * (BIG // 200))
    reader, writer = await asyncio.open_connection("127.0.0.1", site.port)
    rest = f"Host: 127.0.0.1:{site.port}\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
    writer.write(f"GET /api/conversations/c1/messages?limit=200 HTTP/1.1\r\n{rest}".encode())
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    return reader, writer, int(head.partition("content-length: ")[2].split("\r\n")[0])


async def test_an_answer_that_is_read_for_longer_than_a_connection_is_kept_comes_whole() -> None:
    bot = ScriptedBot()
    async with running(bot, idle=0, linger_seconds=0.02) as site:
        reader, writer, length = await begun(site, bot)
        await asyncio.sleep(0.2)  # ten times as long as the server waits for anything
        async with asyncio.timeout(10):
            assert len(await reader.readexactly(length)) == length
            assert await reader.read() == b""
        writer.close()


async def test_an_answer_comes_whole_also_before_a_refusal_that_ends_the_connection() -> None:
    bot = ScriptedBot()
    async with running(bot, header_seconds=0.02, linger_seconds=0.02) as site:
        reader, writer, length = await begun(site, bot)
        writer.write(b"GET / HT")
        await asyncio.sleep(0.2)
        async with asyncio.timeout(10):
            assert len(await reader.readexactly(length)) == length
            assert (await reader.read()).startswith(b"HTTP/1.1 408 ")
        writer.close()


@dataclass(slots=True)
class Timer:
    at: float
    call: Callable[..., object]
    args: tuple[Any, ...]
    cancelled: bool = False

    def cancel(self) -> None:
        self.cancelled = True


@dataclass(slots=True)
class HandLoop:
    """An event loop whose clock is moved by hand; its tasks run on the real one."""

    now: float = 0.0
    timers: list[Timer] = field(default_factory=list)

    def time(self) -> float:
        return self.now

    def call_later(self, delay: float, call: Callable[..., object], *args: Any) -> Timer:
        self.timers.append(Timer(self.now + delay, call, args))
        return self.timers[-1]

    def create_task(self, work: Any, **more: Any) -> asyncio.Task[Any]:
        return asyncio.get_running_loop().create_task(work, **more)

    def advance(self, seconds: float) -> None:
        until = self.now + seconds
        while due := [timer for timer in self.timers if not timer.cancelled and timer.at <= until]:
            first = min(due, key=lambda timer: timer.at)
            self.timers.remove(first)
            self.now = first.at
            first.call(*first.args)
        self.now = until


class Wire(asyncio.Transport):
    """A connection whose peer takes only what the test says."""

    def __init__(self) -> None:
        super().__init__()
        self.left = 0
        self.aborted = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.left += len(data)

    def get_write_buffer_size(self) -> int:
        return self.left

    def is_closing(self) -> bool:
        return self.aborted

    def abort(self) -> None:
        self.aborted = True


async def answer(scope: Any, receive: Any, send: Any) -> None:
    goes_on = scope["path"] == "/stream"
    await send(
        {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"90000")]}
    )
    await send(
        {
            "type": "http.response.body",
            "body": b"x" * (20_000 if goes_on else 90_000),
            "more_body": goes_on,
        }
    )
    if goes_on:
        await asyncio.Event().wait()


@pytest.mark.parametrize(("path", "left"), [("/", 0), ("/", 10), ("/stream", 0)])
async def test_a_client_that_took_one_answer_has_its_full_time_for_the_next(
    path: str, left: int
) -> None:
    loop, wire = HandLoop(), Wire()
    config = uvicorn.Config(
        answer, http="h11", lifespan="off", log_config=None, timeout_keep_alive=75
    )
    config.load()
    made: Any = loop
    protocol = BoundedProtocol(
        config, ServerState(), {}, made, group=ConnectionLimiter(most=1, stall_seconds=30.0)
    )
    protocol.connection_made(wire)

    async def ask(path: str) -> None:
        protocol.data_received(f"GET {path} HTTP/1.1\r\nhost: x\r\n\r\n".encode())
        async with asyncio.timeout(10):
            while wire.left < 20_000:  # noqa: ASYNC110  the protocol has no event for it
                await asyncio.sleep(0)
        await asyncio.wait(protocol.tasks, timeout=0.0 if path == "/stream" else 10.0)

    await ask("/")
    wire.left = 15_000
    protocol.resume_writing()
    loop.advance(3.0)
    wire.left = left
    await ask(path)
    assert wire.left > 15_000
    loop.advance(29.9)
    assert not wire.aborted
    if path == "/":
        loop.advance(0.2)
        assert wire.aborted
    await cancel_and_wait(protocol.tasks)
