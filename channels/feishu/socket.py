"""The long connection: opened again and again, watched by pings, its events confirmed once they are stored."""

import asyncio
import contextlib
import json
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from urllib.parse import parse_qs, urlsplit

import structlog

from channels.errors import Ambiguous, ChannelError, Contended, LoggedOut, Retryable
from channels.feishu.frames import CONTROL, Pieces, ack, headers, ping, read_frame
from channels.feishu.wire import Wire

log = structlog.get_logger(__name__)

PING_SECONDS = 30.0
"""The platform names 120; a connection that says nothing is to be noticed, and healed, within 90 s."""
PINGS_MISSED = 2
FIRST_PAUSE = 15.0
PAUSE = 15.0
"""At most, whatever longer pauses the platform names: what it cannot push meanwhile, it pushes 15 s later."""
DEAF_SECONDS = 90.0
OPEN_SECONDS = 10.0
CLOSE_SECONDS = 1.0
MOST_FRAME = 16 * 2**20
MOST_WAITING = 1000
_AGAIN = {1, 1000040343}
_CROWDED = 1000040350
_OWNER = {403: "forbidden", 514: "authentication failed", 1000040344: "no credential"}

Hear = Callable[[Sequence[bytes]], Awaitable[None]]
"""Stores the events of these payloads for ever before it returns."""


class Dropped(Exception):
    """The connection has ended, or could not be opened; another may be."""


class LongConnection:
    """One app's connection. heard: unix seconds of the last sign of life. trouble: why there is none now, else ""."""

    def __init__(self, wire: Wire, proxy: str = "") -> None:
        self._wire = wire
        self._proxy = proxy
        self._ping = PING_SECONDS
        self._first_pause, self._pause = FIRST_PAUSE, PAUSE
        self._sign = 0.0
        self.heard = 0.0
        self.trouble = ""

    async def run(self, hear: Hear) -> None:
        """Hear until cancelled.

        Raises:
            LoggedOut: the app is refused. Contended: too many connections.
            ChannelError: nothing could be heard for 90 s.
        """
        self._sign = time.monotonic()
        while True:
            try:
                await self._once(hear)
            except Dropped as err:
                self.trouble = str(err)
                log.info("feishu connection dropped", error=self.trouble)
                if time.monotonic() - self._sign > DEAF_SECONDS:
                    raise ChannelError(f"nothing heard from Feishu for {DEAF_SECONDS:.0f} s: {err}") from err
            lately = time.monotonic() - self._sign < self._ping
            await asyncio.sleep(random.uniform(0, self._first_pause) if lately else self._pause)  # noqa: S311

    async def _once(self, hear: Hear) -> None:
        from websockets.exceptions import WebSocketException

        address = await self._address()
        try:
            async with self._connect(address) as socket:
                self._alive()
                await self._serve(socket, int(_one(address, "service_id")), hear)
        except (OSError, TimeoutError, WebSocketException) as err:
            raise _dropped(err) from err

    async def _address(self) -> str:
        try:
            reply = await self._wire.endpoint()
        except (Retryable, Ambiguous) as err:
            raise Dropped(str(err)) from err
        code, why = reply["code"], str(reply.get("msg", ""))[:200]
        if code:
            raise _refusal(code, why)
        try:
            address = str(reply["data"]["URL"])
            int(_one(address, "service_id"))
        except (KeyError, TypeError, ValueError) as err:
            raise Dropped("an endpoint answer without an address") from err
        if not address.startswith("wss://") and self._wire.root.startswith("https://"):
            raise ChannelError("Feishu names an address without TLS for the long connection; it is not opened")
        self._configure(reply["data"].get("ClientConfig"))
        return address

    def _connect(self, address: str) -> Any:
        from websockets.asyncio.client import connect

        return connect(
            address,
            open_timeout=OPEN_SECONDS,
            close_timeout=CLOSE_SECONDS,
            ping_interval=None,  # the platform's own pings are watched
            max_size=MOST_FRAME,
            proxy=self._proxy or None,
            logger=_quiet(),
        )

    def _configure(self, told: Any) -> None:
        """What the platform asks for; where it asks for patience that would leave us deaf, less."""
        if not isinstance(told, dict):
            return
        self._ping = _between(told.get("PingInterval"), PING_SECONDS)
        self._first_pause = _between(told.get("ReconnectNonce"), FIRST_PAUSE, least=0)
        self._pause = _between(told.get("ReconnectInterval"), PAUSE)

    def _alive(self) -> None:
        self._sign, self.heard, self.trouble = time.monotonic(), time.time(), ""

    async def _serve(self, socket: Any, service: int, hear: Hear) -> None:
        """Read, store and ping beside each other until one of them ends."""
        waiting: asyncio.Queue[tuple[Any, bytes, float]] = asyncio.Queue(MOST_WAITING)
        tasks = [
            asyncio.create_task(self._read(socket, waiting), name="feishu read"),
            asyncio.create_task(_store(socket, waiting, hear), name="feishu store"),
            asyncio.create_task(self._watch(socket, service), name="feishu ping"),
        ]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _read(self, socket: Any, waiting: asyncio.Queue[tuple[Any, bytes, float]]) -> None:
        pieces = Pieces()
        async for raw in socket:
            self._alive()
            try:
                frame = read_frame(raw if isinstance(raw, bytes) else raw.encode())
                if frame.method == CONTROL:
                    self._control(frame)
                    continue
                payload = pieces.add(frame, time.monotonic())
            except ValueError as err:
                log.warning("frame not understood", error=str(err)[:80])
                continue
            if payload is not None:
                await waiting.put((frame, payload, time.monotonic()))
        raise Dropped("closed by the platform")

    def _control(self, frame: Any) -> None:
        if headers(frame).get("type") == "pong" and frame.payload:
            self._configure(json.loads(frame.payload))

    async def _watch(self, socket: Any, service: int) -> None:
        while True:
            await socket.send(ping(service))
            await asyncio.sleep(self._ping)
            silent = time.monotonic() - self._sign
            if silent > PINGS_MISSED * self._ping:
                socket.transport.abort()
                raise Dropped(f"no sign of life for {silent:.0f} s")


async def _store(socket: Any, waiting: asyncio.Queue[tuple[Any, bytes, float]], hear: Hear) -> None:
    """What waits together is stored together, in the order it came; only then is it confirmed."""
    while True:
        batch = [await waiting.get()]
        while not waiting.empty():
            batch.append(waiting.get_nowait())
        await hear([payload for _, payload, _ in batch])
        for frame, _, came in batch:
            await socket.send(ack(frame, int((time.monotonic() - came) * 1000)))


def _refusal(code: int, why: str) -> Exception:
    if code in _AGAIN:
        return Dropped(f"the platform is busy: {why} ({code})")
    if code == _CROWDED:
        return Contended(
            f"this app has as many long connections as it may have (50); stop the other programs that use it: {why} "
            f"({code})"
        )
    if code in _OWNER:
        return LoggedOut(
            f"Feishu refuses a long connection ({_OWNER[code]}); check app_id, app_secret and that the app is a "
            f"self-built one that receives events by long connection: {why} ({code})"
        )
    return ChannelError(f"Feishu gives no address for a long connection: {why} ({code})")


def _dropped(err: Exception) -> Exception:
    """A refused handshake says why in headers of its own; addresses are left out of the words, for they hold a key."""
    told = getattr(getattr(err, "response", None), "headers", None) or {}
    status, detail = told.get("Handshake-Status"), told.get("Handshake-Autherrcode")
    if status is not None:
        with contextlib.suppress(ValueError):
            code = int(detail if detail and int(detail) == _CROWDED else status)
            return _refusal(code if code in (*_OWNER, _CROWDED) else 1, str(told.get("Handshake-Msg", ""))[:200])
    return Dropped(f"{type(err).__name__}")


def _one(address: str, name: str) -> str:
    values = parse_qs(urlsplit(address).query).get(name, [])
    if len(values) != 1:
        raise ValueError(f"no single {name}")
    return values[0]


def _between(told: Any, most: float, least: float = 0.05) -> float:
    if isinstance(told, bool) or not isinstance(told, int | float) or told < 0:
        return most
    return float(min(max(told, least), most))


def _quiet() -> Any:
    """The library logs addresses, which hold a key."""
    import logging

    logger = logging.getLogger("channels.feishu.socket.wire")
    logger.setLevel(logging.CRITICAL)
    return logger
