"""A kill while an answer only waits to be sent: it is sent once afterwards, and is not called a
repeat.
"""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.by_night import by_night
from tests.emulators.model import ModelEmulator
from tests.emulators.telegram import TelegramEmulator
from tests.walk.harness import OWNER, scene, until
from tests.walk.record import query, unended
from tests.walk.speech import answer, asked

LOOKS = 25
STATES = "SELECT state FROM outbox"


class Way:
    """A port that leads to another one, or takes no connection at all: whoever tries waits for an
    answer to its SYN.
    """

    def __init__(self, target: str) -> None:
        self._target = urlsplit(target)
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._deaf: list[socket.socket] = []
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def clear(self) -> None:
        """Lead there."""
        while self._deaf:
            self._deaf.pop().close()
        self._server = await asyncio.start_server(self._lead, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def block(self) -> None:
        """Break every connection and take none: the queue of the port is full."""
        assert self._server is not None
        self._server.close()
        for writer in list(self._open):
            writer.transport.abort()
        port = socket.socket()
        port.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        port.bind(("127.0.0.1", self.port))
        port.listen(0)
        self._deaf.append(port)
        for _ in range(3):
            one = socket.socket()
            one.setblocking(False)
            with suppress(BlockingIOError):
                one.connect(("127.0.0.1", self.port))
            self._deaf.append(one)

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for one in self._deaf:
            one.close()
        for writer in list(self._open):
            writer.transport.abort()

    async def _lead(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(self._target.hostname, self._target.port)
        await asyncio.gather(self._copy(reader, back), self._copy(there, writer))

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        with suppress(OSError):
            while data := await reader.read(65_536):
                writer.write(data)
                await writer.drain()
        self._open.discard(writer)
        writer.close()


@asynccontextmanager
async def way_to(target: str) -> AsyncIterator[Way]:
    way = Way(target)
    await way.clear()
    try:
        yield way
    finally:
        await way.close()


@by_night
@pytest.mark.kill
async def test_a_kill_while_an_answer_waits_for_its_connection_makes_no_repeat(
    tmp_path: Path,
) -> None:
    model = ModelEmulator(responder=answer)
    async with (
        TelegramEmulator() as telegram,
        way_to(telegram.url) as way,
        scene(tmp_path, model, way.url) as talk,
    ):
        await talk.bot.start("llm.before@1:sleep:1")
        telegram.inject(asked("one"), user=int(OWNER))
        await until(
            lambda: query(talk.bot.db, "SELECT 1 FROM turn WHERE state = 'running'"),
            "it is worked on",
        )
        await way.block()
        await until(lambda: query(talk.bot.db, STATES), "the answer is there")
        for _ in range(LOOKS):
            assert query(talk.bot.db, STATES) == [("pending",)]
            await asyncio.sleep(0.02)
        await talk.bot.kill()
        await way.clear()
        await talk.bot.start()
        await until(lambda: not unended(talk.bot.db), "the answer is sent")
        assert [seen.text for seen in telegram.sent(int(OWNER))] == ["re «one»"]
