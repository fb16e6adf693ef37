"""The long connection: reconnects, detects silence by pings, and acknowledges events once they are
stored.
"""

import asyncio
import contextlib
import json
import logging
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from urllib.parse import parse_qs, urlsplit

import structlog

from channels.errors import Ambiguous, ChannelError, LoggedOut, ReceiverConflict, Retryable
from channels.feishu.client import FeishuClient
from channels.feishu.frames import CONTROL, ack_frame, frame_headers, ping_frame, read_frame

log = structlog.get_logger(__name__)

# the platform suggests 120, but a dead connection should be replaced within 90 s
PING_SECONDS = 30.0
MAX_MISSED_PINGS = 2
FIRST_PAUSE = 15.0
# Upper limit of the platform's pauses: it pushes again after 15 s what it cannot push meanwhile.
RECONNECT_PAUSE = 15.0
MAX_SILENCE_SECONDS = 90.0
OPEN_SECONDS = 10.0
CLOSE_SECONDS = 1.0
MAX_FRAME_BYTES = 16 * 2**20
MAX_QUEUED_FRAMES = 1000
MAX_FRAGMENTS = 64
MAX_FRAGMENT_BYTES = 16 * 2**20
FRAGMENT_SECONDS = 10.0  # how long the first fragments of a payload wait for the others
_RETRYABLE_CODES = {1, 1000040343}
_TOO_MANY_CONNECTIONS = 1000040350
_OWNER_CODES = {403: "forbidden", 514: "authentication failed", 1000040344: "no credential"}

# Stores the events of these payloads durably before it returns.
StorePayloads = Callable[[Sequence[bytes]], Awaitable[None]]


class ConnectionDropped(Exception):
    """The connection ended or could not be opened; a new one may work."""


class FragmentBuffer:
    """Joins payloads that come in several frames; an incomplete one is dropped after ten
    seconds.
    """

    def __init__(self) -> None:
        #: Arrival time and fragments by number, for each message id.
        self._incomplete: dict[str, tuple[float, dict[int, bytes]]] = {}

    def add(self, frame: Any, now: float) -> bytes | None:
        """Return the payload that this frame completes, None while fragments are missing. now:
        monotonic seconds.

        Raises:
            ValueError: the fragment's numbers are invalid, or there are too many bytes.
        """
        headers = frame_headers(frame)
        count, index = int(headers.get("sum") or 1), int(headers.get("seq") or 0)
        if count <= 1:
            return bytes(frame.payload)
        if not 0 <= index < count <= MAX_FRAGMENTS or not headers.get("message_id"):
            raise ValueError(f"fragment {index} of {count}")
        self._incomplete = {
            id: one for id, one in self._incomplete.items() if now - one[0] < FRAGMENT_SECONDS
        }
        _, fragments = self._incomplete.setdefault(headers["message_id"], (now, {}))
        fragments[index] = bytes(frame.payload)
        if (
            sum(len(one) for _, parts in self._incomplete.values() for one in parts.values())
            > MAX_FRAGMENT_BYTES
        ):
            self._incomplete.clear()
            raise ValueError(f"fragments of more than {MAX_FRAGMENT_BYTES} bytes")
        if len(fragments) < count:
            return None
        del self._incomplete[headers["message_id"]]
        return b"".join(fragments[number] for number in range(count))


class LongConnection:
    """Keeps one app's connection open."""

    def __init__(self, client: FeishuClient, proxy: str = "") -> None:
        self._client = client
        self._proxy = proxy
        self._ping_seconds = PING_SECONDS
        self._first_pause, self._pause = FIRST_PAUSE, RECONNECT_PAUSE
        #: Monotonic seconds of the last frame.
        self._last_frame = 0.0
        #: Unix seconds of the last frame.
        self.last_contact = 0.0
        #: Why there is no connection, "" if there is one.
        self.trouble = ""

    async def run(self, store: StorePayloads) -> None:
        """Receive until cancelled.

        Raises:
            LoggedOut: the app is refused. ReceiverConflict: too many connections.
            ChannelError: nothing was received for 90 s.
        """
        self._last_frame = time.monotonic()
        while True:
            try:
                await self._run_connection(store)
            except ConnectionDropped as err:
                self.trouble = str(err)
                log.info("feishu connection dropped", error=self.trouble)
                if time.monotonic() - self._last_frame > MAX_SILENCE_SECONDS:
                    raise ChannelError(
                        f"no connection to Feishu for {MAX_SILENCE_SECONDS:.0f} s: {err}"
                    ) from err
            recent = time.monotonic() - self._last_frame < self._ping_seconds
            await asyncio.sleep(random.uniform(0, self._first_pause) if recent else self._pause)  # noqa: S311

    async def _run_connection(self, store: StorePayloads) -> None:
        from websockets.asyncio.client import connect
        from websockets.exceptions import WebSocketException

        url, service = await self._fetch_url()
        try:
            async with connect(
                url,
                open_timeout=OPEN_SECONDS,
                close_timeout=CLOSE_SECONDS,
                ping_interval=None,  # the platform has pings of its own
                max_size=MAX_FRAME_BYTES,
                proxy=self._proxy or None,
                logger=_silent_logger(),
            ) as socket:
                self._note_frame()
                await self._serve(socket, service, store)
        except (OSError, TimeoutError, WebSocketException) as err:
            raise _dropped_error(err) from err

    async def _fetch_url(self) -> tuple[str, int]:
        """Request the URL of the connection, and the service id in it."""
        try:
            reply = await self._client.endpoint()
        except (Retryable, Ambiguous) as err:
            raise ConnectionDropped(str(err)) from err
        if reply["code"]:
            raise _error_for_code(reply["code"], str(reply.get("msg", ""))[:200])
        try:
            url = str(reply["data"]["URL"])
            (service,) = map(int, parse_qs(urlsplit(url).query)["service_id"])
        except (KeyError, TypeError, ValueError) as err:
            raise ConnectionDropped("the endpoint names no address") from err
        if not url.startswith("wss://") and self._client.root.startswith("https://"):
            raise ChannelError(
                "Feishu gives an address without TLS for the long connection; it is not opened"
            )
        self._configure(reply["data"].get("ClientConfig"))
        return url, service

    def _configure(self, config: Any) -> None:
        """Apply the platform's intervals up to our own limits, beyond which messages would be
        delayed.
        """
        if not isinstance(config, dict):
            return
        self._ping_seconds = _clamp(config.get("PingInterval"), PING_SECONDS)
        self._first_pause = _clamp(config.get("ReconnectNonce"), FIRST_PAUSE, least=0)
        self._pause = _clamp(config.get("ReconnectInterval"), RECONNECT_PAUSE)

    def _note_frame(self) -> None:
        self._last_frame, self.last_contact, self.trouble = time.monotonic(), time.time(), ""

    async def _serve(self, socket: Any, service: int, store: StorePayloads) -> None:
        """Read, store and ping concurrently until one of them ends."""
        queue: asyncio.Queue[tuple[Any, bytes, float]] = asyncio.Queue(MAX_QUEUED_FRAMES)
        tasks = [
            asyncio.create_task(self._read(socket, queue), name="feishu read"),
            asyncio.create_task(_store_frames(socket, queue, store), name="feishu store"),
            asyncio.create_task(self._ping(socket, service), name="feishu ping"),
        ]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _read(self, socket: Any, queue: asyncio.Queue[tuple[Any, bytes, float]]) -> None:
        fragments = FragmentBuffer()
        async for raw in socket:
            self._note_frame()
            try:
                frame = read_frame(raw if isinstance(raw, bytes) else raw.encode())
                if frame.method == CONTROL:
                    if frame_headers(frame).get("type") == "pong" and frame.payload:
                        self._configure(json.loads(frame.payload))
                    continue
                payload = fragments.add(frame, time.monotonic())
            except (ValueError, RecursionError) as err:
                log.warning("frame not understood", error=str(err)[:80])
                continue
            if payload is not None:
                await queue.put((frame, payload, time.monotonic()))
        raise ConnectionDropped("closed by the platform")

    async def _ping(self, socket: Any, service: int) -> None:
        while True:
            await socket.send(ping_frame(service))
            await asyncio.sleep(self._ping_seconds)
            silence = time.monotonic() - self._last_frame
            if silence > MAX_MISSED_PINGS * self._ping_seconds:
                socket.transport.abort()
                raise ConnectionDropped(f"no frame for {silence:.0f} s")


async def _store_frames(
    socket: Any, queue: asyncio.Queue[tuple[Any, bytes, float]], store: StorePayloads
) -> None:
    """Store all waiting frames together, in their order, and then acknowledge them."""
    while True:
        batch = [await queue.get()]
        while not queue.empty():
            batch.append(queue.get_nowait())
        await store([payload for _, payload, _ in batch])
        for frame, _, arrived in batch:
            await socket.send(ack_frame(frame, int((time.monotonic() - arrived) * 1000)))


def _error_for_code(code: int, why: str) -> Exception:
    if code in _RETRYABLE_CODES:
        return ConnectionDropped(f"the platform is busy: {why} ({code})")
    if code == _TOO_MANY_CONNECTIONS:
        return ReceiverConflict(
            "this app has as many long connections as it may have (50); stop the other programs "
            f"that use it: {why} ({code})"
        )
    if code in _OWNER_CODES:
        return LoggedOut(
            f"Feishu refuses a long connection ({_OWNER_CODES[code]}); check app_id, app_secret "
            f"and that the app is a self-built one that receives events by long connection: {why} "
            f"({code})"
        )
    return ChannelError(f"Feishu gives no address for a long connection: {why} ({code})")


def _dropped_error(err: Exception) -> Exception:
    """Map a refused handshake by its headers. The library's text is left out: its URL holds a
    key.
    """
    headers = getattr(getattr(err, "response", None), "headers", None) or {}
    status, detail = headers.get("Handshake-Status"), headers.get("Handshake-Autherrcode")
    if status is not None:
        with contextlib.suppress(ValueError):
            code = int(detail if detail and int(detail) == _TOO_MANY_CONNECTIONS else status)
            known = code if code in (*_OWNER_CODES, _TOO_MANY_CONNECTIONS) else 1
            return _error_for_code(known, str(headers.get("Handshake-Msg", ""))[:200])
    return ConnectionDropped(type(err).__name__)


def _clamp(seconds: Any, most: float, least: float = 0.05) -> float:
    """Limit seconds named by the platform; `most` for anything but a number."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or seconds < 0:
        return most
    return float(min(max(seconds, least), most))


def _silent_logger() -> logging.Logger:
    """Return a logger for the library, which logs URLs that hold a key."""
    logger = logging.getLogger("channels.feishu.websocket.library")
    logger.setLevel(logging.CRITICAL)
    return logger
