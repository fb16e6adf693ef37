"""HTTP calls to a server of ours on this machine, and the events it streams, over plain asyncio streams."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

MOST_HEAD = 65_536
MOST_BODY = 16 * 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where the server is. prefix: path before every other, without a slash at its end; token: for Authorization."""

    host: str
    port: int
    prefix: str
    token: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer whose body has yet to be read. headers: names in lower case."""

    status: int
    headers: Mapping[str, str]
    reader: asyncio.StreamReader

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body as it comes. Raises ConnectionError when it ends too early."""
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            while size := _number((await _line(self.reader)).split(b";")[0], 16):
                yield await _exactly(self.reader, size)
                await _line(self.reader)
        elif "content-length" in self.headers:
            left = _number(self.headers["content-length"].encode(), 10)
            while left:
                piece = await _exactly(self.reader, min(left, MOST_HEAD))
                left -= len(piece)
                yield piece
        else:
            while piece := await self.reader.read(MOST_HEAD):
                yield piece

    async def body(self) -> dict[str, Any]:
        """The whole body as a JSON object, {} where it is none. Raises ConnectionError."""
        whole = b""
        async for piece in self.pieces():
            whole += piece
            if len(whole) > MOST_BODY:
                raise ConnectionError(f"the answer is larger than {MOST_BODY} bytes")
        try:
            told = json.loads(whole)
        except ValueError:
            return {}
        return told if isinstance(told, dict) else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerEvent:
    """One event of a stream: its id ("" for none), name and data."""

    id: str
    name: str
    data: str


@dataclass(slots=True)
class _Gathered:
    """The lines of an event that is not complete yet; `id` holds on to the next ones."""

    id: str = ""
    name: str = ""
    data: list[str] = field(default_factory=list)

    def take(self, line: str) -> ServerEvent | None:
        if not line:
            event = ServerEvent(id=self.id, name=self.name or "message", data="\n".join(self.data))
            complete = bool(self.data)
            self.name, self.data = "", []
            return event if complete else None
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "id" and "\0" not in value:
            self.id = value
        elif name == "event":
            self.name = value
        elif name == "data":
            self.data.append(value)
        return None


def endpoint(url: str, token: str) -> Endpoint:
    """Where a base URL such as http://127.0.0.1:8642 leads. Raises ValueError for anything but plain http."""
    parts = urlsplit(url)
    if parts.scheme != "http" or not parts.hostname:
        raise ValueError(f"{url!r} is not the address of a server on this machine; http://127.0.0.1:8642 would be")
    return Endpoint(host=parts.hostname, port=parts.port or 80, prefix=parts.path.rstrip("/"), token=token)


@asynccontextmanager
async def call(
    where: Endpoint, method: str, path: str, *, told: Mapping[str, Any] | None = None, last_id: str = ""
) -> AsyncIterator[Reply]:
    """One request on a connection of its own. told: the body, sent as JSON.

    Raises:
        OSError: no connection, or it broke.
    """
    reader, writer = await asyncio.open_connection(where.host, where.port, limit=MOST_HEAD)
    try:
        writer.write(_request(where, f"{method} {where.prefix}{path}", told, last_id))
        await writer.drain()
        yield await _reply(reader)
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


async def ask(
    where: Endpoint, method: str, path: str, told: Mapping[str, Any] | None = None, *, patience: float
) -> tuple[int, dict[str, Any]]:
    """One request and its whole answer: status and JSON object. patience: seconds that it may take.

    Raises:
        OSError: the server could not be reached, took too long, or could not do it.
        RuntimeError: it refused; the text says why.
    """
    async with asyncio.timeout(patience), call(where, method, path, told=told) as reply:
        answer = await reply.body()
    if reply.status < 300:
        return reply.status, answer
    error = answer.get("error")
    why = str(error.get("message", "")) if isinstance(error, dict) else ""
    why = why or f"the bot answered with {reply.status}"
    raise OSError(why) if reply.status >= 500 else RuntimeError(why)


async def events(reply: Reply, gap: float) -> AsyncIterator[ServerEvent]:
    """The events of a stream, until it ends. gap: seconds without a byte, comments included, that are waited for.

    Raises:
        OSError: it broke off, or kept silent for too long.

    Source: the HTML standard, server-sent events.
    """
    gathered, rest, pieces = _Gathered(), b"", reply.pieces()
    while piece := await asyncio.wait_for(anext(pieces, b""), gap):
        *lines, rest = (rest + piece).split(b"\n")
        if len(rest) > MOST_BODY:
            raise ConnectionError("an event is too large")
        for line in lines:
            event = gathered.take(line.removesuffix(b"\r").decode("utf-8", "replace"))
            if event is not None:
                yield event


def _request(where: Endpoint, line: str, told: Mapping[str, Any] | None, last_id: str) -> bytes:
    host = f"[{where.host}]" if ":" in where.host else where.host
    head = [
        f"{line} HTTP/1.1",
        f"Host: {host}:{where.port}",
        f"Authorization: Bearer {where.token}",
        "Connection: close",
    ]
    body = b""
    if told is not None:
        body = json.dumps(told).encode()
        head += ["Content-Type: application/json"]
    if told is not None or line.startswith("POST"):
        head += [f"Content-Length: {len(body)}"]
    if last_id:
        head += [f"Last-Event-ID: {last_id}"]
    return "\r\n".join([*head, "", ""]).encode() + body


async def _reply(reader: asyncio.StreamReader) -> Reply:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError) as err:
        raise ConnectionError("the server did not answer") from err
    first, *lines = head.decode("latin-1").split("\r\n")
    version, _, status = first.partition(" ")
    if not version.startswith("HTTP/1.") or not status[:3].isdigit():
        raise ConnectionError("what answers there does not speak HTTP")
    pairs = (line.partition(":") for line in lines if line)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    return Reply(status=int(status[:3]), headers=headers, reader=reader)


def _number(digits: bytes, base: int) -> int:
    try:
        number = int(digits, base)
    except ValueError as err:
        raise ConnectionError("the answer is not proper HTTP") from err
    if not 0 <= number <= MOST_BODY:
        raise ConnectionError("the answer is too large, or not proper HTTP")
    return number


async def _line(reader: asyncio.StreamReader) -> bytes:
    try:
        return (await reader.readuntil(b"\r\n"))[:-2]
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError) as err:
        raise ConnectionError("the answer broke off") from err


async def _exactly(reader: asyncio.StreamReader, size: int) -> bytes:
    try:
        return await reader.readexactly(size)
    except asyncio.IncompleteReadError as err:
        raise ConnectionError("the answer broke off") from err
