"""Connections that send nothing, half a header or read nothing: they are cut off in time and never
in anybody's way.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from tests.channels.web.server import TOKEN, Running, ScriptedBot, running

BUSY = "HTTP/1.1 503 Service Unavailable"
Wire = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def wires(site: Running, number: int, said: str = "") -> AsyncIterator[list[Wire]]:
    """So many connections, on each of which this is sent."""
    async with AsyncExitStack() as held:
        made = []
        for _ in range(number):
            reader, writer = await asyncio.open_connection("127.0.0.1", site.port)
            held.callback(writer.close)
            writer.write(said.replace("\n", "\r\n").encode())
            made.append((reader, writer))
        yield made


def request(site: Running, path: str = "/healthz", *headers: str) -> str:
    return "\n".join([f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{site.port}", *headers, "\n"])


async def rest(wire: Wire) -> bytes:
    """All that comes until the server closes the connection."""
    try:
        return await asyncio.wait_for(wire[0].read(), 5)
    except ConnectionResetError:
        return b""


async def open_connections(site: Running, number: int) -> None:
    """Wait until the server has so many."""
    async with asyncio.timeout(5):
        while len(site.server.connections) != number:  # noqa: ASYNC110  uvicorn has no event for it
            await asyncio.sleep(0.005)


@pytest.mark.parametrize("said", ["", "GET /healthz HTTP/1.1\nHost: 127.0", "\n"])
async def test_a_header_that_does_not_come_to_its_end_is_not_waited_for(said: str) -> None:
    async with (
        running(ScriptedBot(), header_seconds=0.2, linger_seconds=0.1) as site,
        wires(site, 1, said) as [wire],
    ):
        answer = await rest(wire)
        assert answer.startswith(b"HTTP/1.1 408 Request Timeout") == ("GET" in said)
        await open_connections(site, 0)


@pytest.mark.parametrize("said", ["G", "\n", "GET / HTTP/1.1\nHost:"])
async def test_nor_is_that_of_a_later_request(said: str) -> None:
    async with (
        running(ScriptedBot(), header_seconds=0.2, linger_seconds=0.1) as site,
        wires(site, 1) as [(reader, writer)],
    ):
        writer.write(request(site).replace("\n", "\r\n").encode())
        assert (await reader.readuntil(b'{"ok":true}')).startswith(b"HTTP/1.1 200")
        writer.write(said.encode())
        await rest((reader, writer))


async def test_one_header_sent_byte_by_byte_has_one_deadline() -> None:
    async with (
        running(ScriptedBot(), header_seconds=0.3, linger_seconds=0.1) as site,
        wires(site, 1) as [(reader, writer)],
    ):
        closed = asyncio.create_task(rest((reader, writer)))
        for sign in request(site) * 3:
            if closed.done():
                break
            writer.write(sign.encode())
            await asyncio.sleep(0.02)
        assert (await closed).startswith(b"HTTP/1.1 408")


async def test_the_product_waits_five_seconds_for_a_header() -> None:
    async with running(ScriptedBot()) as site, wires(site, 1, "GET / HTTP/1.1\n"):
        assert site.server.connections.header_seconds == 5.0
        await open_connections(site, 1)


async def test_an_unread_body_is_not_waited_for_either() -> None:
    async with running(ScriptedBot(), header_seconds=0.2, linger_seconds=0.1) as site:
        head = request(site, "/api/v1/session", "Content-Length: 1000")
        async with wires(site, 1, head) as [(reader, writer)]:
            assert (await reader.readuntil(b"}}")).startswith(b"HTTP/1.1 401")
            closed = asyncio.create_task(rest((reader, writer)))
            while not closed.done():
                writer.write(b"x")
                await asyncio.wait({closed}, timeout=0.05)
            await open_connections(site, 0)


async def test_an_answer_that_is_not_read_is_given_up() -> None:
    bot = ScriptedBot()
    async with running(bot, stall_seconds=0.3) as site:
        for _ in range(200):
            bot.add("c1", "user", "x" * 100_000)
        head = request(
            site, "/api/conversations/c1/messages?limit=200", f"Authorization: Bearer {TOKEN}"
        )
        async with wires(site, 3, head):
            await open_connections(site, 3)
            await open_connections(site, 0)


async def test_at_the_limit_the_oldest_silent_connection_is_dropped() -> None:
    async with (
        running(ScriptedBot(), most=4) as site,
        wires(site, 4) as silent,
        AsyncExitStack() as clients,
    ):
        await open_connections(site, 4)
        for number in range(4):
            client = await clients.enter_async_context(site.client())
            assert (await client.get("/api/v1/session")).status_code == 200
            assert await rest(silent[number]) == b""
            assert not [wire for wire in silent[number + 1 :] if wire[0].at_eof()]


async def test_with_all_places_in_use_by_known_clients_a_new_one_is_refused_in_words() -> None:
    bot = ScriptedBot()
    async with running(bot, most=4) as site:
        bot.add("c1", "user", "hello")
        head = request(site, "/api/conversations/c1/events", f"Authorization: Bearer {TOKEN}")
        async with wires(site, 4, head) as streams:
            for reader, _ in streams:
                assert (await reader.readuntil(b"retry: 1000")).startswith(b"HTTP/1.1 200")
            async with wires(site, 1, request(site)) as [late]:
                answer = (await rest(late)).decode()
                assert answer.startswith(BUSY)
                assert '"too many connections are open; try again in a moment"' in answer
            assert not [wire for wire in streams if wire[0].at_eof()]
            streams[0][1].close()
            await open_connections(site, 3)
            async with site.client() as client:
                assert (await client.get("/api/v1/session")).status_code == 200


async def test_unknown_clients_are_dropped_before_an_idle_known_one() -> None:
    async with running(ScriptedBot(), most=3) as site, site.client() as known:
        assert (await known.get("/api/v1/session")).status_code == 200
        login = (
            f"POST /login HTTP/1.1\nHost: 127.0.0.1:{site.port}\nContent-Type: application/json\n"
        )
        async with wires(site, 2, f"{login}Content-Length: 9\n\n{{") as strangers:
            await open_connections(site, 3)
            async with site.nobody() as other:
                assert (await other.get("/healthz")).status_code == 200
            assert await rest(strangers[0]) == b""
            assert not strangers[1][0].at_eof()
            [connection] = known._transport._pool.connections  # type: ignore[attr-defined]
            assert (await known.get("/api/v1/session")).status_code == 200
            assert known._transport._pool.connections == [connection]  # type: ignore[attr-defined]


async def test_1100_idle_connections_stop_neither_page_nor_api() -> None:
    async with running(ScriptedBot()) as site, wires(site, 1100):
        async with site.client() as client:
            assert (await client.get("/")).status_code == 200
            answers = await asyncio.gather(*(client.get("/api/v1/session") for _ in range(20)))
            assert {answer.status_code for answer in answers} == {200}
        assert len(site.server.connections) <= 1024


async def test_a_burst_of_clients_is_taken_in() -> None:
    async with running(ScriptedBot()) as site:
        head = request(site, "/healthz", "Connection: close")
        async with wires(site, 300, head) as clients:
            answers = await asyncio.gather(*map(rest, clients))
        assert {answer[:12] for answer in answers} == {b"HTTP/1.1 200"}


async def test_one_more_stream_than_a_login_may_have_is_refused_until_one_ends() -> None:
    bot = ScriptedBot()
    async with running(bot) as site:
        bot.add("c1", "user", "hello")
        async with site.nobody() as browser:
            await browser.post("/login", json={"token": TOKEN})
            cookie = f"Cookie: {site.gate.cookie}={browser.cookies[site.gate.cookie]}"
        await _fill(site, 64, cookie)


async def test_one_more_stream_than_the_token_may_have_is_refused_until_one_ends() -> None:
    bot = ScriptedBot()
    async with running(bot) as site:
        bot.add("c1", "user", "hello")
        await _fill(site, 512, f"Authorization: Bearer {TOKEN}")


async def _fill(site: Running, most: int, who: str) -> None:
    """Open as many streams as are allowed, one more, and one in the place of another."""
    head = request(site, "/api/conversations/c1/events", who)
    async with wires(site, most, head) as streams:
        for reader, _ in streams:
            assert (await reader.readuntil(b"retry: 1000")).startswith(b"HTTP/1.1 200")
        async with wires(site, 1, head) as [(late, _)]:
            assert (await late.readline()).startswith(b"HTTP/1.1 429")
        async with wires(site, 1, request(site, "/api/v1/session", who)) as [(calling, _)]:
            assert (await calling.readline()).startswith(b"HTTP/1.1 200")
        streams[0][1].close()
        await open_connections(site, most - 1)
        async with wires(site, 1, head) as [(late, _)]:
            assert (await late.readuntil(b"retry: 1000")).startswith(b"HTTP/1.1 200")
