"""Calls of the platforms: without a session, limited, and informed whether their answer was
sent.
"""

import asyncio
from collections.abc import AsyncIterator

import pytest

from channels.base import WebhookReply, WebhookRequest
from tests.channels.web.server import Running, ScriptedBot, running


class Platformed:
    """A channel that takes calls. gate: held shut, an answer waits."""

    def __init__(self) -> None:
        self.asked: list[WebhookRequest] = []
        self.written: asyncio.Queue[bool] = asyncio.Queue()
        self.came = asyncio.Event()
        self.gate = asyncio.Event()
        self.gate.set()

    async def hook(self, request: WebhookRequest) -> WebhookReply:
        self.asked.append(request)
        self.came.set()
        await self.gate.wait()
        return WebhookReply(
            body=b"<xml/>", media_type="application/xml", written=self.written.put_nowait
        )


@pytest.fixture
def platformed() -> Platformed:
    return Platformed()


@pytest.fixture
async def site(platformed: Platformed) -> AsyncIterator[Running]:
    async with running(ScriptedBot(hooks={"lab": platformed})) as up:
        yield up


async def test_a_call_reaches_its_channel_as_it_came_under_any_host(
    site: Running, platformed: Platformed
) -> None:
    async with site.nobody() as client:
        answer = await client.post(
            "/hooks/lab?a=1&a=2", content=b"\xff{}", headers={"Host": "bot.example", "X-One": "1"}
        )
    assert (answer.status_code, answer.content, answer.headers["content-type"]) == (
        200,
        b"<xml/>",
        "application/xml",
    )
    (asked,) = platformed.asked
    assert (asked.method, asked.query, asked.body) == ("POST", (("a", "1"), ("a", "2")), b"\xff{}")
    assert ("x-one", "1") in asked.headers
    assert await asyncio.wait_for(platformed.written.get(), 5) is True


@pytest.mark.parametrize(
    "path", ["/hooks/nobody", "/hooks/", "/hooks/lab/more", "/hooks/lab%2f..", "/hooks/LAB"]
)
async def test_S14_a_channel_that_takes_no_calls_has_no_address(
    site: Running, platformed: Platformed, path: str
) -> None:
    async with site.nobody() as client:
        assert (await client.post(path, content=b"{}")).status_code == 404
    assert not platformed.asked


async def test_only_get_and_post(site: Running, platformed: Platformed) -> None:
    async with site.nobody() as client:
        assert (await client.put("/hooks/lab", content=b"{}")).status_code == 405
    assert not platformed.asked


async def test_before_the_bot_is_open_the_platform_gets_503() -> None:
    async with running(ScriptedBot(), opened=False) as site, site.nobody() as client:
        assert (await client.post("/hooks/lab", content=b"{}")).status_code == 503


async def test_S21_a_body_without_end_is_cut_at_a_mebibyte(
    site: Running, platformed: Platformed
) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", site.port)
    writer.write(b"POST /hooks/lab HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
    sent = 0
    try:
        while sent < 2**31:
            writer.write(b"10000\r\n" + bytes(0x10000) + b"\r\n")
            await writer.drain()
            sent += 0x10000
    except ConnectionError:
        pass
    writer.close()
    assert sent < 64 * 2**20
    assert not platformed.asked
    assert reader is not None


async def test_a_platform_that_hangs_up_before_the_answer_has_not_received_it(
    site: Running, platformed: Platformed
) -> None:
    platformed.gate.clear()
    _, writer = await asyncio.open_connection("127.0.0.1", site.port)
    writer.write(b"POST /hooks/lab HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}")
    await asyncio.wait_for(platformed.came.wait(), 5)
    writer.transport.abort()
    while site.server._server.server_state.connections:  # noqa: ASYNC110  uvicorn has no event for it
        await asyncio.sleep(0)
    platformed.gate.set()
    assert await asyncio.wait_for(platformed.written.get(), 5) is False
