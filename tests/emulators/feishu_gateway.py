"""The pushing side of the Feishu emulator: long connections, calls to a webhook, and the schedule
of both.
"""

import asyncio
import contextlib
import json
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from aiohttp import WSMsgType, web

from tests.emulators.feishu_pb import Frame, Malformed, decode
from tests.emulators.feishu_webhook import call
from tests.emulators.feishu_world import DEADLINE, SCHEDULE, Push, World

SERVICE = 33554678
MOST_CONNECTIONS = 50


@dataclass(slots=True, kw_only=True)
class Connection:
    """One long connection. frozen: nothing is read or written, though it stays open."""

    number: int
    socket: web.WebSocketResponse
    request: web.Request
    frozen: asyncio.Event = field(default_factory=asyncio.Event)
    pings: int = 0


@dataclass(slots=True, kw_only=True)
class Hook:
    """Where events are called out to, and with which keys."""

    url: str
    encrypt_key: str
    statuses: list[int] = field(default_factory=list)


class Gateway:
    """Brings events to the app until they are acknowledged. cut_into: frames per event; keep_piece:
    which is withheld.

    config: what the endpoint tells clients of pauses. silent_pongs: pings are not answered. soon:
    seconds after which an event is pushed again, for ever, instead of by the schedule; 0 for the
    schedule.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self.connections: dict[int, Connection] = {}
        self.hook: Hook | None = None
        self.config: dict[str, Any] = {
            "ReconnectCount": -1,
            "ReconnectInterval": 1,
            "ReconnectNonce": 0,
            "PingInterval": 120,
        }
        self.endpoint_code = 0
        self.handshake: dict[str, str] = {}
        self.cut_into = 1
        self.keep_piece = -1
        self.silent_pongs = False
        self.pong_config: dict[str, Any] = {}
        self.soon = 0.0
        self.opened = 0
        self.tickets: set[str] = set()
        self._pump: asyncio.Task[None] | None = None
        self._calls: set[asyncio.Task[None]] = set()
        self._client: aiohttp.ClientSession | None = None

    async def start(self) -> None:
        self._client = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=DEADLINE))
        self._pump = asyncio.create_task(self._push_all())

    async def stop(self) -> None:
        for task in [*self._calls, *([self._pump] if self._pump else [])]:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        self.drop_all()
        if self._client is not None:
            await self._client.close()

    def endpoint(self, told: dict[str, Any], host: str) -> dict[str, Any]:
        """The answer to a client that asks where to connect."""
        if (told.get("AppID"), told.get("AppSecret")) != (self.world.app_id, self.world.secret):
            return {"code": 514, "msg": "authentication failed"}
        if self.endpoint_code:
            return {"code": self.endpoint_code, "msg": "as the test asked"}
        if len(self.connections) >= MOST_CONNECTIONS:
            return {"code": 1000040350, "msg": "the number of connections exceeded the limit"}
        ticket = f"{self.world.random.getrandbits(64):016x}"
        self.tickets.add(ticket)
        url = f"ws://{host}/ws/v2?device_id={len(self.tickets)}&service_id={SERVICE}&access_key=k&ticket={ticket}"
        return {"code": 0, "msg": "", "data": {"URL": url, "ClientConfig": self.config}}

    # -- long connections -------------------------------------------------------------------------

    async def connect(self, request: web.Request) -> web.StreamResponse:
        """Take one connection and serve it to its end."""
        if self.handshake or request.query.get("ticket") not in self.tickets:
            headers = self.handshake or {
                "Handshake-Status": "514",
                "Handshake-Msg": "invalid ticket",
            }
            return web.Response(status=200 if self.handshake else 403, headers=headers)
        self.tickets.discard(request.query["ticket"])
        socket = web.WebSocketResponse(autoping=True)
        await socket.prepare(request)
        self.opened += 1
        connection = Connection(number=self.opened, socket=socket, request=request)
        self.connections[connection.number] = connection
        self.world.notify()
        try:
            await self._read(connection)
        finally:
            self.connections.pop(connection.number, None)
            self.world.notify()
        return socket

    def freeze(self) -> None:
        """Every connection stays open, and nothing goes through any more."""
        for connection in self.connections.values():
            connection.frozen.set()
            if (transport := connection.request.transport) is not None and isinstance(
                transport, asyncio.Transport
            ):
                transport.pause_reading()

    def drop_all(self) -> None:
        """Every connection ends without a word."""
        for connection in self.connections.values():
            if connection.request.transport is not None:
                connection.request.transport.abort()

    async def kick(self, code: int = 1012) -> None:
        """Every connection is closed by a close frame."""
        for connection in list(self.connections.values()):
            await connection.socket.close(code=code)

    async def _read(self, connection: Connection) -> None:
        async for message in connection.socket:
            if connection.frozen.is_set():
                await asyncio.Event().wait()
            if message.type != WSMsgType.BINARY:
                self.world.faults_of_client.append(f"a message of type {message.type}")
                continue
            try:
                frame = decode(message.data)
            except (Malformed, KeyError, UnicodeDecodeError) as err:
                self.world.faults_of_client.append(f"no frame: {err}")
                continue
            await self._take(connection, frame)

    async def _take(self, connection: Connection, frame: Frame) -> None:
        if frame.service != SERVICE:
            self.world.faults_of_client.append(f"service {frame.service}")
        if frame.method == 0 and frame.headers.get("type") == "ping":
            connection.pings += 1
            if not self.silent_pongs:
                config = self.pong_config or self.config
                pong = Frame(
                    service=SERVICE, headers={"type": "pong"}, payload=json.dumps(config).encode()
                )
                await connection.socket.send_bytes(pong.encode())
            self.world.notify()
        elif frame.method == 1:
            self._acknowledge(connection, frame)
        else:
            self.world.faults_of_client.append(f"method {frame.method} {frame.headers}")

    def _acknowledge(self, connection: Connection, frame: Frame) -> None:
        push = next(
            (one for one in self.world.pushes if one.wire_id == frame.headers.get("message_id")),
            None,
        )
        if push is None or frame.seq_id != connection.number or "biz_rt" not in frame.headers:
            self.world.faults_of_client.append(f"an answer to nothing: {frame.headers}")
            return
        try:
            code = json.loads(frame.payload)["code"]
        except (ValueError, KeyError, TypeError):
            self.world.faults_of_client.append("an answer without a code")
            return
        self._settle(push, code == 200)

    # -- the schedule -----------------------------------------------------------------------------

    def _settle(self, push: Push, done: bool) -> None:
        """A try has ended; an answer after its deadline is none."""
        if done and push.sent_at:
            push.acked = True
            self.world.acked.append(_id_of(push))
        elif not push.acked and push.sent_at:
            if self.soon:
                push.due = self.world.now() + self.soon
            elif push.tries > len(SCHEDULE):
                self.world.lost.append(_id_of(push))
                push.due = float("inf")
            else:
                push.due = push.sent_at + SCHEDULE[push.tries - 1]
        push.sent_at, push.by = 0.0, 0
        self.world.notify()

    async def _push_all(self) -> None:
        while True:
            now = self.world.now()
            for push in [one for one in self.world.pushes if not one.acked]:
                if push.sent_at and (
                    now - push.sent_at >= DEADLINE or (push.by and push.by not in self.connections)
                ):
                    self._settle(push, False)
                if not push.sent_at and push.due <= now and (self.connections or self.hook):
                    await self._push(push)
            waits = [
                one.sent_at + DEADLINE if one.sent_at else one.due
                for one in self.world.pushes
                if not one.acked
            ]
            await self.world.change(
                min([2.0, *(max(0.005, at - self.world.now()) for at in waits)])
            )

    async def _push(self, push: Push) -> None:
        push.tries += 1
        push.sent_at = self.world.now()
        if self.hook is not None:
            task = asyncio.create_task(self._call(self.hook, push))
            self._calls.add(task)
            task.add_done_callback(self._calls.discard)
            return
        connection = self.world.random.choice(list(self.connections.values()))
        push.by = connection.number
        if connection.frozen.is_set():
            return
        payload = json.dumps(push.event).encode()
        size = -(-len(payload) // self.cut_into)
        for number in range(self.cut_into):
            if number == self.keep_piece:
                continue
            told = {
                "type": "event",
                "message_id": push.wire_id,
                "sum": str(self.cut_into),
                "seq": str(number),
            }
            piece = payload[number * size : (number + 1) * size]
            frame = Frame(
                seq_id=connection.number,
                log_id=7,
                service=SERVICE,
                method=1,
                headers={**told, "trace_id": "tr"},
                payload=piece,
            )
            with contextlib.suppress(ConnectionError):
                await connection.socket.send_bytes(frame.encode())

    async def _call(self, hook: Hook, push: Push) -> None:
        assert self._client is not None
        headers, body = call(push.event, hook.encrypt_key)
        status = 0
        with contextlib.suppress(aiohttp.ClientError, TimeoutError):
            async with self._client.post(hook.url, data=body, headers=headers) as reply:
                status = reply.status
        hook.statuses.append(status)
        self._settle(push, status == 200)


def _id_of(push: Push) -> str:
    header = push.event.get("header")
    return str(header.get("event_id", push.wire_id)) if isinstance(header, dict) else push.wire_id
