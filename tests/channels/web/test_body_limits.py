"""Bodies of requests that do not come: answered in time, and waited for by no server that ends."""

import asyncio
import time
from contextlib import suppress
from dataclasses import asdict

import pytest

from channels.web.requests import BodyTimes
from tests.channels.web.server import TOKEN, Running, ScriptedBot, running

TIMES = BodyTimes(stall=0.2, total=0.6, webhook=0.1)
MANY = 200
PATIENCE = 20.0  # seconds of a busy machine


Wire = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def begin(site: Running, path: str, *, method: str = "POST", length: int = 1_000) -> Wire:
    """Send the head of a request and the first bytes of its body."""
    reader, writer = await asyncio.open_connection("127.0.0.1", site.port)
    fields = (
        f"Host: 127.0.0.1:{site.port}",
        f"Authorization: Bearer {TOKEN}",
        "Content-Type: application/json",
        f"Content-Length: {length}",
    )
    writer.write("\r\n".join([f"{method} {path} HTTP/1.1", *fields, "", '{"']).encode())
    return reader, writer


async def answer(wire: Wire) -> bytes:
    async with asyncio.timeout(PATIENCE):
        return await wire[0].read()


def test_the_limits_are_those_that_are_promised() -> None:
    assert asdict(BodyTimes()) == {"stall": 30.0, "total": 300.0, "webhook": 5.0}


@pytest.mark.parametrize("path", ["/api/v1/messages", "/login", "/login/passkey"])
async def test_a_body_without_progress_is_given_up(path: str) -> None:
    async with running(ScriptedBot(), bodies=TIMES) as site:
        said = await answer(await begin(site, path))
        assert said.startswith(b"HTTP/1.1 408 ")
        assert b'"code":"slow"' in said
        assert b"no more of the body arrived within 0.2 s" in said


async def test_a_body_that_trickles_is_given_up_when_its_time_is_over() -> None:
    async with running(ScriptedBot(), bodies=TIMES) as site:
        wire = await begin(site, "/api/v1/messages")
        reading = asyncio.create_task(answer(wire))
        while not reading.done():
            wire[1].write(b"x")
            await asyncio.wait({reading}, timeout=0.05)
        with suppress(
            ConnectionResetError
        ):  # a byte that came after the answer resets the connection before it is read
            assert b"the body did not arrive within 0.6 s" in reading.result()


async def test_an_upload_that_goes_on_arrives_however_long_it_takes() -> None:
    async with running(ScriptedBot(), bodies=BodyTimes(stall=PATIENCE, total=PATIENCE)) as site:
        body = b'conversation": "c", "text": "%s"}' % (b"x" * 40)
        reader, writer = await begin(site, "/api/v1/messages", length=2 + len(body))
        for at in range(0, len(body), 8):
            writer.write(body[at : at + 8])
            await writer.drain()
            await asyncio.sleep(0)
        async with asyncio.timeout(PATIENCE):
            assert (await reader.readline()).startswith(b"HTTP/1.1 202 ")
        assert [message.text for message in site.bot.taken] == ["x" * 40]


async def test_a_stream_whose_request_is_never_whole_ends() -> None:
    async with running(ScriptedBot(), bodies=TIMES) as site:
        site.bot.add("c", "user", "hi")
        said = await answer(await begin(site, "/api/v1/events?conversation=c", method="GET"))
        assert said.startswith(b"HTTP/1.1 200 ")


async def test_a_server_that_stops_waits_for_no_body() -> None:
    async with running(ScriptedBot(), bodies=BodyTimes(stall=60, total=60)) as site:
        wires = await asyncio.gather(*(begin(site, "/api/v1/messages") for _ in range(MANY)))
        async with site.client() as client:
            assert (await client.get("/healthz")).status_code == 200  # accepted after all of them
        began = time.monotonic()
        site.server.stop()
        async with asyncio.timeout(PATIENCE):
            await site.tasks[0]
        assert time.monotonic() - began < 2.0, "the time for open answers is not used up"
        answers = await asyncio.gather(*map(answer, wires))
        assert {said[:13] for said in answers} == {b"HTTP/1.1 503 "}
        assert all(b'"code":"stopping"' in said for said in answers)
