"""The terminal's way to a bot that runs already: what is typed goes to its HTTP API, its events come back."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol
from urllib.parse import quote, urlsplit

from channels.base import NO_NOTEBOOK_CHANGES
from channels.errors import LoggedOut
from channels.message import Accepted, Address, InboundMessage, LiveEvent, OutboundKind, OutboundMessage, Receipt

# HTTP calls to a server of ours on this machine, and the events it streams, over plain asyncio streams.

MAX_HEAD_BYTES = 65_536
MAX_BODY_BYTES = 16 * 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where the server is."""

    host: str
    port: int
    #: Path before every other, without a slash at its end.
    prefix: str
    #: For Authorization.
    token: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpReply:
    """An answer whose body has yet to be read."""

    status: int
    #: Names in lower case.
    headers: Mapping[str, str]
    reader: asyncio.StreamReader

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body as it comes. Raises ConnectionError when it ends too early."""
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            while size := _parse_number((await _read_line(self.reader)).split(b";")[0], 16):
                yield await _read_exactly(self.reader, size)
                await _read_line(self.reader)
        elif "content-length" in self.headers:
            left = _parse_number(self.headers["content-length"].encode(), 10)
            while left:
                piece = await _read_exactly(self.reader, min(left, MAX_HEAD_BYTES))
                left -= len(piece)
                yield piece
        else:
            while piece := await self.reader.read(MAX_HEAD_BYTES):
                yield piece

    async def body(self) -> dict[str, Any]:
        """The whole body as a JSON object, {} where it is none. Raises ConnectionError."""
        whole = b""
        async for piece in self.pieces():
            whole += piece
            if len(whole) > MAX_BODY_BYTES:
                raise ConnectionError(f"the answer is larger than {MAX_BODY_BYTES} bytes")
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
class _EventParser:
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


def parse_endpoint(url: str, token: str) -> Endpoint:
    """Where a base URL such as http://127.0.0.1:8642 leads. Raises ValueError for anything but plain http."""
    parts = urlsplit(url)
    if parts.scheme != "http" or not parts.hostname:
        raise ValueError(f"{url!r} is not the address of a server on this machine; http://127.0.0.1:8642 would be")
    return Endpoint(host=parts.hostname, port=parts.port or 80, prefix=parts.path.rstrip("/"), token=token)


@asynccontextmanager
async def open_request(
    where: Endpoint, method: str, path: str, *, told: Mapping[str, Any] | None = None, last_id: str = ""
) -> AsyncIterator[HttpReply]:
    """One request on a connection of its own. told: the body, sent as JSON.

    Raises:
        OSError: no connection, or it broke.
    """
    reader, writer = await asyncio.open_connection(where.host, where.port, limit=MAX_HEAD_BYTES)
    try:
        writer.write(_build_request(where, f"{method} {where.prefix}{path}", told, last_id))
        await writer.drain()
        yield await _read_reply(reader)
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


async def request_json(
    where: Endpoint, method: str, path: str, told: Mapping[str, Any] | None = None, *, patience: float
) -> tuple[int, dict[str, Any]]:
    """One request and its whole answer: status and JSON object. patience: seconds that it may take.

    Raises:
        OSError: the server could not be reached, took too long, or could not do it.
        RuntimeError: it refused; the text says why.
    """
    async with asyncio.timeout(patience), open_request(where, method, path, told=told) as reply:
        answer = await reply.body()
    if reply.status < 300:
        return reply.status, answer
    error = answer.get("error")
    why = str(error.get("message", "")) if isinstance(error, dict) else ""
    why = why or f"the bot answered with {reply.status}"
    raise OSError(why) if reply.status >= 500 else RuntimeError(why)


async def read_events(reply: HttpReply, gap: float) -> AsyncIterator[ServerEvent]:
    """The events of a stream, until it ends. gap: seconds without a byte, comments included, that are waited for.

    Raises:
        OSError: it broke off, or kept silent for too long.

    Source: the HTML standard, server-sent events.
    """
    gathered, rest, pieces = _EventParser(), b"", reply.pieces()
    while piece := await asyncio.wait_for(anext(pieces, b""), gap):
        *lines, rest = (rest + piece).split(b"\n")
        if len(rest) > MAX_BODY_BYTES:
            raise ConnectionError("an event is too large")
        for line in lines:
            event = gathered.take(line.removesuffix(b"\r").decode("utf-8", "replace"))
            if event is not None:
                yield event


def _build_request(where: Endpoint, line: str, told: Mapping[str, Any] | None, last_id: str) -> bytes:
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


async def _read_reply(reader: asyncio.StreamReader) -> HttpReply:
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
    return HttpReply(status=int(status[:3]), headers=headers, reader=reader)


def _parse_number(digits: bytes, base: int) -> int:
    try:
        number = int(digits, base)
    except ValueError as err:
        raise ConnectionError("the answer is not proper HTTP") from err
    if not 0 <= number <= MAX_BODY_BYTES:
        raise ConnectionError("the answer is too large, or not proper HTTP")
    return number


async def _read_line(reader: asyncio.StreamReader) -> bytes:
    try:
        return (await reader.readuntil(b"\r\n"))[:-2]
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError) as err:
        raise ConnectionError("the answer broke off") from err


async def _read_exactly(reader: asyncio.StreamReader, size: int) -> bytes:
    try:
        return await reader.readexactly(size)
    except asyncio.IncompleteReadError as err:
        raise ConnectionError("the answer broke off") from err


RECONNECT_PAUSES = (0.1, 0.3, 1.0, 2.0, 5.0)  # seconds between attempts to connect again; the last one holds
REQUEST_SECONDS = 30.0
STREAM_GAP_SECONDS = 60.0  # seconds without a byte after which a stream is given up; the server says something every 15
LINE_KINDS: dict[str, OutboundKind] = {"reply": "final", "notice": "notice"}
LIVE_EVENTS = frozenset({"started", "delta", "tool_started", "tool_ended", "fold", "failed"})


class TerminalEvents(Protocol):
    """What hears the events: the terminal."""

    async def send(self, message: OutboundMessage) -> Receipt: ...

    def show(self, event: LiveEvent) -> None: ...

    def hint(self, key: str, **fields: object) -> None: ...


class RemoteConversation:
    """One conversation of a running bot. conversation: its name in the API. pauses: see RECONNECT_PAUSES.

    `deliver` and `stop` fit a terminal; `listen` has to run beside it.
    """

    def __init__(self, url: str, token: str, conversation: str, pauses: Sequence[float] = RECONNECT_PAUSES) -> None:
        """Raises ValueError for an address that is not plain http."""
        self._where = parse_endpoint(url, token)
        self._conversation = conversation
        self._place = Address(channel="web", account="console", chat_id=conversation)
        self._path = f"/api/conversations/{quote(conversation, safe='')}"
        self._pauses = pauses
        self._began = datetime.now(UTC)
        self._last_id = ""
        self._tried = asyncio.Event()
        self._exists = asyncio.Event()

    async def deliver(
        self, messages: Sequence[InboundMessage], keep: Mapping[str, str] = NO_NOTEBOOK_CHANGES
    ) -> list[Accepted]:
        """Post them one by one, once somebody listens for the answers.

        Raises:
            OSError: the bot could not be reached, or could not store it.
            RuntimeError: the bot refused it; the text says why.
        """
        await self._tried.wait()
        return [await self._post(message) for message in messages]

    async def stop(self) -> None:
        """Ask for the end of the running turn. Raises as `deliver`."""
        await self._ask("POST", f"{self._path}/stop")

    async def context(self) -> Mapping[str, Any]:
        """How full the conversation's context is, as the API tells it. Raises as `deliver`."""
        return (await self._ask("GET", f"{self._path}/context"))[1]

    async def listen(self, hearer: TerminalEvents) -> None:
        """Pass on what happens from now on, connecting again as often as needed, until cancelled.

        Raises:
            LoggedOut: the token is wrong (by now).
        """
        failures = 0
        while True:
            before = self._last_id
            with suppress(OSError, TimeoutError):
                await self._follow(hearer)
            self._tried.set()
            failures = 0 if self._last_id != before else failures + 1
            if failures == len(self._pauses):
                hearer.hint("away")
            await asyncio.sleep(self._pauses[min(failures, len(self._pauses) - 1)])

    async def _post(self, message: InboundMessage) -> Accepted:
        files = [
            {"name": file.name, "media_type": file.media_type, "data": base64.b64encode(file.data).decode()}
            for file in message.attachments
        ]
        told = {"conversation": self._conversation, "text": message.text, "key": message.key}
        status, answer = await self._ask("POST", "/api/messages", {**told, "attachments": files} if files else told)
        self._exists.set()
        return Accepted(id=str(answer.get("id", "")), new=status == 202)

    async def _ask(self, method: str, path: str, told: Mapping[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        return await request_json(self._where, method, path, told, patience=REQUEST_SECONDS)

    async def _follow(self, hearer: TerminalEvents) -> None:
        """One connection's events."""
        self._exists.clear()
        async with open_request(self._where, "GET", f"{self._path}/events", last_id=self._last_id) as reply:
            if reply.status == 200:
                self._tried.set()
                async for event in read_events(reply, STREAM_GAP_SECONDS):
                    await self._pass_on(hearer, event)
                    self._last_id = event.id
                return
        if reply.status in (401, 403):
            raise LoggedOut("the running bot does not take this token")
        if reply.status == 404:
            self._tried.set()
            await self._exists.wait()

    async def _pass_on(self, hearer: TerminalEvents, event: ServerEvent) -> None:
        told = _load_object(event.data)
        text, about = str(told.get("text", "")), str(told.get("message_id", ""))
        if event.name in LIVE_EVENTS:
            facts = {key: value for key, value in told.items() if isinstance(value, str | int | float | bool)}
            hearer.show(
                LiveEvent(
                    address=self._place,
                    name=event.name,  # type: ignore[arg-type]
                    message_id=about,
                    text=text,
                    facts=facts,
                )
            )
        elif event.name in LINE_KINDS and self._fresh(told):
            id = str(told.get("id") or f"line {event.id}")
            await hearer.send(
                OutboundMessage(
                    id=id, address=self._place, client_key=id, text=text, kind=LINE_KINDS[event.name], reply_to=about
                )
            )

    def _fresh(self, told: Mapping[str, Any]) -> bool:
        """Whether a stored line is of this sitting: a new reader is told the last ones before it too."""
        try:
            return datetime.fromisoformat(str(told["at"])) >= self._began
        except (KeyError, ValueError, TypeError):
            return True


def _load_object(data: str) -> dict[str, Any]:
    try:
        told = json.loads(data)
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}
