"""Connections as an ordinary client sees them: kept, and ended in a way that it can tell."""

import asyncio
import socket
from contextlib import closing

import httpx
from starlette.requests import Request
from starlette.responses import Response
from structlog.testing import capture_logs

from channels.web.auth import RequestGuard
from channels.web.backend import TranscriptLine
from channels.web.requests import HttpRefusal, Route
from tests.channels.web.server import TOKEN, Running, ScriptedBot, running
from tests.channels.web.streams import names, until


def request(site: Running, path: str = "/api/v1/session") -> bytes:
    head = (
        f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{site.port}\r\nAuthorization: Bearer {TOKEN}\r\n"
        "\r\n"
    )
    return head.encode()


async def reply(wire: socket.socket) -> bytes:
    """A whole answer with a body of known length, b"" where the connection ended before it."""
    loop, got = asyncio.get_running_loop(), b""
    async with asyncio.timeout(10):
        while b"\r\n\r\n" not in got and (more := await loop.sock_recv(wire, 65_536)):
            got += more
        head, _, body = got.partition(b"\r\n\r\n")
        length = (
            int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0] or 0)
            if head
            else 0
        )
        while len(body) < length:
            body += await loop.sock_recv(wire, 65_536)
    return got


async def test_a_connection_is_kept_for_longer_than_proxies_count_on() -> None:
    async with running(ScriptedBot()) as site:
        assert site.server._server.config.timeout_keep_alive > 60


async def test_a_request_that_crosses_the_end_of_an_idle_connection_is_not_met_with_a_reset() -> (
    None
):
    bot = ScriptedBot()
    async with running(bot, idle=0) as site, site.client() as client:
        await client.post("/api/messages", json={"conversation": "c1", "text": "x"})
        loop = asyncio.get_running_loop()
        with closing(socket.create_connection(("127.0.0.1", site.port))) as wire:
            wire.setblocking(False)
            await loop.sock_sendall(wire, request(site))
            assert (await reply(wire)).startswith(b"HTTP/1.1 200")
            body = b'{"conversation":"c1","text":"late"}'
            head = request(site, "/api/messages").replace(b"GET", b"POST").removesuffix(b"\r\n")
            sizes = b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
            # the server has ended its side by now, and the client does not know yet
            for piece in (head, sizes, body):
                await asyncio.sleep(0.02)
                await loop.sock_sendall(wire, piece)
            assert await reply(wire) == b""
    assert [message.text for message in bot.taken] == ["x"]


async def test_an_answer_that_tells_of_a_fault_says_that_the_connection_ends() -> None:
    async def broken(_: Request) -> Response:
        raise KeyError("a fault of ours")

    call = Route(method="GET", path="/api/v1/broken", action="console.read", handler=broken)
    async with (
        running(ScriptedBot(), [call]) as site,
        site.client(limits=httpx.Limits(max_connections=1)) as client,
    ):
        for _ in range(20):
            told = await client.get("/api/v1/broken")
            assert (told.status_code, told.headers["connection"]) == (500, "close")
            assert (await client.get("/api/v1/session")).status_code == 200


async def test_a_stream_that_meets_a_fault_ends_as_any_other_and_can_be_resumed() -> None:
    class Faulty(ScriptedBot):
        faults = 1

        async def lines(
            self,
            conversation: str,
            *,
            reader: str = "",
            before: int = 0,
            after: int | None = None,
            limit: int = 50,
            details: bool = False,
        ) -> list[TranscriptLine]:
            if after == 2 and self.faults:
                self.faults -= 1
                raise RuntimeError("the record cannot be read")
            return await super().lines(
                conversation,
                reader=reader,
                before=before,
                after=after,
                limit=limit,
                details=details,
            )

    bot = Faulty(answers=lambda message: f"answer to {message.text}")
    async with running(bot) as site, site.client() as client:
        await client.post("/api/messages", json={"conversation": "c1", "text": "one"})
        with capture_logs() as logged:
            # ends without an error of the client's
            first = await until(client, "c1", lambda seen: False)
        await client.post("/api/messages", json={"conversation": "c1", "text": "two"})
        rest = await until(
            client, "c1", lambda seen: names(seen) == ["accepted", "reply"], last=first[-1].id
        )
    assert names(first) == ["accepted", "reply"]
    assert rest[-1].data["text"] == "answer to two"
    [fault] = [line for line in logged if line["log_level"] == "error"]
    assert (fault["event"], fault["error"]) == ("stream ended early", "RuntimeError")
    assert fault["exc_info"]


async def test_the_hundred_and_first_login_ends_only_the_session_that_was_used_longest_ago() -> (
    None
):
    now = 0.0
    gate = RequestGuard(token=TOKEN, port=80, wall_clock=lambda: now)
    crumbs = []
    for _ in range(101):
        now += 1.0
        crumbs.append(await gate.login(TOKEN, []))
    ended = []
    for number, session_cookie in enumerate(crumbs):
        try:
            await gate.visitor("GET", [(b"cookie", f"{gate.cookie}={session_cookie}".encode())])
        except HttpRefusal:
            ended.append(number)
    assert ended == [0]
