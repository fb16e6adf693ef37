"""A loopback port that passes bytes on to another one, until the network between the two is cut."""

import asyncio
import contextlib
import socket
import struct
from typing import Self

CHUNK = 65_536
# PostgreSQL's ReadyForQuery with the state "idle": a transaction has ended, or a statement outside
# of one.
_ENDED = b"Z\x00\x00\x00\x05I"
_AT_ONCE = struct.pack("ii", 1, 0)


class Wire:
    """What stands between a process and its database, which is asked for no TLS where transactions
    are counted.

    port: of the database; connections: made so far; transactions: ended so far, and one for each
    connection.
    """

    def __init__(self, port: int) -> None:
        self._port = port
        self._there, self._back = asyncio.Event(), asyncio.Event()
        self._refuses = False
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.connections = 0
        self.transactions = 0
        self.mend()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def port(self) -> int:
        """Where clients connect to."""
        assert self._server is not None
        return int(self._server.sockets[0].getsockname()[1])

    def cut(self) -> None:
        """No byte passes either way, nor does an end; connections are taken and hear nothing."""
        self._there.clear()
        self._back.clear()

    def deafen(self) -> None:
        """Half open: what the client says arrives, the answers do not."""
        self._back.clear()

    def reset(self) -> None:
        """Every connection ends at once on both sides, and new ones do too."""
        self._refuses = True
        for writer in list(self._writers):
            _end_at_once(writer)

    def mend(self) -> None:
        """All is well again; what waited meanwhile arrives."""
        self._refuses = False
        self._there.set()
        self._back.set()

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.get_running_loop().create_task(self._carry(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._refuses:
            _end_at_once(writer)
            return
        with contextlib.suppress(OSError):
            await self._there.wait()
            other_reader, other = await asyncio.open_connection("127.0.0.1", self._port)
            self._writers |= {writer, other}
            try:
                there = self._pump(reader, other, self._there)
                await asyncio.gather(there, self._pump(other_reader, writer, self._back))
            finally:
                self._writers -= {writer, other}
                writer.close()
                other.close()

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, flows: asyncio.Event
    ) -> None:
        end = b""
        with contextlib.suppress(OSError):
            while data := await reader.read(CHUNK):
                self.transactions += (end + data).count(_ENDED)
                end = (end + data)[1 - len(_ENDED) :]
                await flows.wait()
                writer.write(data)
                await writer.drain()
            await flows.wait()
        writer.close()


def _end_at_once(writer: asyncio.StreamWriter) -> None:
    """With a reset, as a firewall or a crash would."""
    with contextlib.suppress(OSError):
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
    writer.transport.abort()
