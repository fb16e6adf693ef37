"""A reverse proxy with TLS in a process of its own, which does its work well or makes the mistakes
that it is told to.

`python -m tests.emulators.tls_proxy JSON` prints its port, reads the port to pass requests to as a
line, and serves.
"""

import asyncio
import json
import ssl
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PIECE = 65_536
HEAD_LIMIT = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxy:
    """How it works. Each request has a connection of its own."""

    #: PEM file with key and certificate.
    certificate: str
    #: Written over Host; "" passes it on.
    host: str = ""
    #: Lower-case names of headers that do not get through.
    strips: tuple[str, ...] = ()
    #: Sends an answer once it is whole.
    buffers: bool = False
    #: Bytes of a body; 0 for no limit.
    limit: int = 0
    #: Answers with this status and passes nothing on; 0 passes on.
    status: int = 0
    #: Where each request is sent instead.
    redirect: str = ""

    async def serve(self) -> None:
        """Serve until the process is killed or its stdin ends."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate)
        inner: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with suppress(OSError, asyncio.IncompleteReadError, ssl.SSLError):
                await self._pass_on(reader, writer, await inner)
            writer.close()

        server = await asyncio.start_server(
            connected, "127.0.0.1", 0, ssl=context, limit=HEAD_LIMIT
        )
        print(server.sockets[0].getsockname()[1], flush=True)
        inner.set_result(int(await asyncio.to_thread(sys.stdin.readline)))
        await asyncio.to_thread(sys.stdin.read)

    async def _pass_on(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int
    ) -> None:
        start, headers = _parsed(await reader.readuntil(b"\r\n\r\n"))
        length = int(dict(headers).get("content-length", "0"))
        if self.status or self.redirect or 0 < self.limit < length:
            status = self.status or (413 if not self.redirect else 308)
            where = f"location: {self.redirect}\r\n" if self.redirect else ""
            writer.write(
                f"HTTP/1.1 {status} No\r\n{where}content-length: 5\r\nconnection: close\r\n\r\n"
                "nginx".encode()
            )
            await writer.drain()
            return
        there, back = await asyncio.open_connection("127.0.0.1", port)
        back.write(self._head(start, headers, writer.get_extra_info("peername")[0]))
        sending = asyncio.create_task(_copy(reader, back, length))
        answering = asyncio.create_task(self._answer(there, writer))
        gone = asyncio.create_task(self._gone(sending, reader))
        await asyncio.wait({answering, gone}, return_when=asyncio.FIRST_COMPLETED)
        for task in (sending, answering, gone):
            task.cancel()
        await asyncio.gather(sending, answering, gone, return_exceptions=True)
        back.close()

    def _head(self, start: str, headers: list[tuple[str, str]], client: str) -> bytes:
        passed = [
            (name, text) for name, text in headers if name not in (*self.strips, "connection")
        ]
        if self.host:
            passed = [(name, self.host if name == "host" else text) for name, text in passed]
        if "x-forwarded-for" not in self.strips:
            before = [text for name, text in passed if name == "x-forwarded-for"]
            passed = [(name, text) for name, text in passed if name != "x-forwarded-for"]
            passed.append(("x-forwarded-for", ", ".join([*before, client])))
        lines = [start, *(f"{name}: {text}" for name, text in passed), "connection: close", "", ""]
        return "\r\n".join(lines).encode("latin-1")

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.buffers:
            writer.write(await reader.read())
        while piece := await reader.read(PIECE):
            writer.write(piece)
            await writer.drain()
        await writer.drain()

    @staticmethod
    async def _gone(sending: asyncio.Task[None], reader: asyncio.StreamReader) -> None:
        await sending
        while await reader.read(PIECE):
            pass


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, length: int) -> None:
    while length and (piece := await reader.read(min(PIECE, length))):
        length -= len(piece)
        writer.write(piece)
        await writer.drain()


def _parsed(head: bytes) -> tuple[str, list[tuple[str, str]]]:
    start, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    pairs = (line.partition(":") for line in lines)
    return start, [(name.lower(), text.strip()) for name, _, text in pairs]


@dataclass(slots=True)
class RunningProxy:
    """One that is started. `lead_to` tells it where requests go."""

    port: int
    process: asyncio.subprocess.Process

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    def lead_to(self, port: int) -> None:
        assert self.process.stdin
        self.process.stdin.write(f"{port}\n".encode())


@asynccontextmanager
async def tls_proxy(proxy: Proxy) -> AsyncIterator[RunningProxy]:
    """Such a process until the end of the block."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.emulators.tls_proxy", json.dumps(asdict(proxy))),
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout
    try:
        yield RunningProxy(int(await process.stdout.readline()), process)
    finally:
        process.kill()
        await process.wait()


if __name__ == "__main__":
    asyncio.run(Proxy(**json.loads(sys.argv[1])).serve())
