"""The long connection: opened again and again, watched by pings, its events confirmed once they are stored."""

import asyncio
import contextlib
import importlib
import importlib.util
import json
import random
import sys
import threading
import time
import types
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any
from urllib.parse import parse_qs, urlsplit

import structlog

from channels.errors import Ambiguous, ChannelError, LoggedOut, ReceiverConflict, Retryable
from channels.feishu.client import FeishuClient

# Frames of the long connection, in lark-oapi's own classes, which are brought in without the SDK around them.

CONTROL = 0  # a frame's method; what is not control is data
MAX_FRAGMENTS = 64
MAX_FRAGMENT_BYTES = 16 * 2**20
FRAGMENT_SECONDS = 10.0  # for so long the first pieces of a payload wait for the others
_PACKAGES = ("lark_oapi", "lark_oapi.core", "lark_oapi.core.utils", "lark_oapi.ws")
_importing = threading.Lock()


def import_lark(name: str) -> Any:
    """One module of lark-oapi.

    The package's own `import` runs the whole of its API: 10,000 modules, seconds, 170 MB. While ours goes on, its
    packages are stood in for by empty ones; a part that cannot be had so is imported the long way.

    Raises:
        ImportError: it is not installed.
    """
    with _importing:
        if f"lark_oapi.{name}" in sys.modules:
            return sys.modules[f"lark_oapi.{name}"]
        try:
            with _stub_packages():
                return importlib.import_module(f"lark_oapi.{name}")
        except (ImportError, AttributeError):
            return importlib.import_module(f"lark_oapi.{name}")


@contextmanager
def _stub_packages() -> Iterator[None]:
    missing = [name for name in _PACKAGES if name not in sys.modules]
    try:
        for name in missing:
            spec = importlib.util.find_spec(name)
            if spec is None or spec.submodule_search_locations is None:
                raise ImportError(f"{name} is missing", name="lark-oapi")
            empty = types.ModuleType(name)
            empty.__path__ = list(spec.submodule_search_locations)
            empty.__spec__ = spec
            sys.modules[name] = empty
        yield
    finally:
        for name in missing:
            sys.modules.pop(name, None)


@cache
def _frame_types() -> tuple[Any, type[Exception]]:
    """The class of a frame, and the error of bytes that are none."""
    return import_lark("ws.pb.pbbp2_pb2").Frame, import_lark("ws.pb.google.protobuf.message").DecodeError


def read_frame(raw: bytes) -> Any:
    """A frame of its bytes.

    Raises:
        ValueError: they are none.
    """
    kind, broken = _frame_types()
    frame = kind()
    try:
        frame.ParseFromString(raw)
    except (broken, IndexError, TypeError, UnicodeDecodeError) as err:
        raise ValueError("not a frame") from err
    if not frame.IsInitialized():
        raise ValueError("a frame without its numbers")
    return frame


def ping_frame(service: int) -> bytes:
    """What is sent again and again to learn whether the other side lives."""
    frame = _frame_types()[0]()
    frame.SeqID, frame.LogID, frame.service, frame.method = 0, 0, service, CONTROL
    header = frame.headers.add()
    header.key, header.value = "type", "ping"
    return bytes(frame.SerializeToString())


def ack_frame(frame: Any, milliseconds: int) -> bytes:
    """The same frame back, as one that was dealt with in so long."""
    header = frame.headers.add()
    header.key, header.value = "biz_rt", str(milliseconds)
    frame.payload = b'{"code":200}'
    return bytes(frame.SerializeToString())


def frame_headers(frame: Any) -> dict[str, str]:
    """A frame's headers by name."""
    return {header.key: header.value for header in frame.headers}


class FragmentBuffer:
    """Payloads that come in several frames, joined; an incomplete one is dropped after ten seconds."""

    def __init__(self) -> None:
        self._waiting: dict[str, tuple[float, dict[int, bytes]]] = {}

    def add(self, frame: Any, now: float) -> bytes | None:
        """The whole payload that this frame completes, None while others are missing.

        Args:
            now: monotonic seconds.

        Raises:
            ValueError: its numbers make no sense.
        """
        told = frame_headers(frame)
        count, place = int(told.get("sum") or 1), int(told.get("seq") or 0)
        if count <= 1:
            return bytes(frame.payload)
        if not 0 <= place < count <= MAX_FRAGMENTS or not told.get("message_id"):
            raise ValueError(f"piece {place} of {count}")
        self._waiting = {id: kept for id, kept in self._waiting.items() if now - kept[0] < FRAGMENT_SECONDS}
        _, pieces = self._waiting.setdefault(told["message_id"], (now, {}))
        pieces[place] = bytes(frame.payload)
        if sum(len(piece) for _, kept in self._waiting.values() for piece in kept.values()) > MAX_FRAGMENT_BYTES:
            self._waiting.clear()
            raise ValueError(f"pieces of more than {MAX_FRAGMENT_BYTES} bytes")
        if len(pieces) < count:
            return None
        del self._waiting[told["message_id"]]
        return b"".join(pieces[number] for number in range(count))


log = structlog.get_logger(__name__)

PING_SECONDS = 30.0  # the platform names 120; a connection that says nothing is to be noticed, and healed, within 90 s
MAX_MISSED_PINGS = 2
FIRST_PAUSE = 15.0
# At most, whatever longer pauses the platform names: what it cannot push meanwhile, it pushes 15 s later.
RECONNECT_PAUSE = 15.0
MAX_SILENCE_SECONDS = 90.0
OPEN_SECONDS = 10.0
CLOSE_SECONDS = 1.0
MAX_FRAME_BYTES = 16 * 2**20
MAX_QUEUED_FRAMES = 1000
_RETRYABLE_CODES = {1, 1000040343}
_TOO_MANY_CONNECTIONS = 1000040350
_OWNER_CODES = {403: "forbidden", 514: "authentication failed", 1000040344: "no credential"}

# Stores the events of these payloads forever before it returns.
ReceivePayloads = Callable[[Sequence[bytes]], Awaitable[None]]


class ConnectionDropped(Exception):
    """The connection has ended, or could not be opened; another may be."""


class LongConnection:
    """One app's connection. heard: unix seconds of the last sign of life. trouble: why there is none now, else ""."""

    def __init__(self, wire: FeishuClient, proxy: str = "") -> None:
        self._wire = wire
        self._proxy = proxy
        self._ping = PING_SECONDS
        self._first_pause, self._pause = FIRST_PAUSE, RECONNECT_PAUSE
        self._sign = 0.0
        self.heard = 0.0
        self.trouble = ""

    async def run(self, hear: ReceivePayloads) -> None:
        """Hear until cancelled.

        Raises:
            LoggedOut: the app is refused. Contended: too many connections.
            ChannelError: nothing could be heard for 90 s.
        """
        self._sign = time.monotonic()
        while True:
            try:
                await self._once(hear)
            except ConnectionDropped as err:
                self.trouble = str(err)
                log.info("feishu connection dropped", error=self.trouble)
                if time.monotonic() - self._sign > MAX_SILENCE_SECONDS:
                    raise ChannelError(f"nothing heard from Feishu for {MAX_SILENCE_SECONDS:.0f} s: {err}") from err
            lately = time.monotonic() - self._sign < self._ping
            await asyncio.sleep(random.uniform(0, self._first_pause) if lately else self._pause)  # noqa: S311

    async def _once(self, hear: ReceivePayloads) -> None:
        from websockets.exceptions import WebSocketException

        address = await self._address()
        try:
            async with self._connect(address) as socket:
                self._alive()
                await self._serve(socket, int(_query_value(address, "service_id")), hear)
        except (OSError, TimeoutError, WebSocketException) as err:
            raise _dropped_error(err) from err

    async def _address(self) -> str:
        try:
            reply = await self._wire.endpoint()
        except (Retryable, Ambiguous) as err:
            raise ConnectionDropped(str(err)) from err
        code, why = reply["code"], str(reply.get("msg", ""))[:200]
        if code:
            raise _error_for_code(code, why)
        try:
            address = str(reply["data"]["URL"])
            int(_query_value(address, "service_id"))
        except (KeyError, TypeError, ValueError) as err:
            raise ConnectionDropped("an endpoint answer without an address") from err
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
            max_size=MAX_FRAME_BYTES,
            proxy=self._proxy or None,
            logger=_silence_library_logs(),
        )

    def _configure(self, told: Any) -> None:
        """What the platform asks for; where it asks for patience that would leave us deaf, less."""
        if not isinstance(told, dict):
            return
        self._ping = _clamp(told.get("PingInterval"), PING_SECONDS)
        self._first_pause = _clamp(told.get("ReconnectNonce"), FIRST_PAUSE, least=0)
        self._pause = _clamp(told.get("ReconnectInterval"), RECONNECT_PAUSE)

    def _alive(self) -> None:
        self._sign, self.heard, self.trouble = time.monotonic(), time.time(), ""

    async def _serve(self, socket: Any, service: int, hear: ReceivePayloads) -> None:
        """Read, store and ping beside each other until one of them ends."""
        waiting: asyncio.Queue[tuple[Any, bytes, float]] = asyncio.Queue(MAX_QUEUED_FRAMES)
        tasks = [
            asyncio.create_task(self._read(socket, waiting), name="feishu read"),
            asyncio.create_task(_store_frames(socket, waiting, hear), name="feishu store"),
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
        pieces = FragmentBuffer()
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
        raise ConnectionDropped("closed by the platform")

    def _control(self, frame: Any) -> None:
        if frame_headers(frame).get("type") == "pong" and frame.payload:
            self._configure(json.loads(frame.payload))

    async def _watch(self, socket: Any, service: int) -> None:
        while True:
            await socket.send(ping_frame(service))
            await asyncio.sleep(self._ping)
            silent = time.monotonic() - self._sign
            if silent > MAX_MISSED_PINGS * self._ping:
                socket.transport.abort()
                raise ConnectionDropped(f"no sign of life for {silent:.0f} s")


async def _store_frames(socket: Any, waiting: asyncio.Queue[tuple[Any, bytes, float]], hear: ReceivePayloads) -> None:
    """What waits together is stored together, in the order it came; only then is it confirmed."""
    while True:
        batch = [await waiting.get()]
        while not waiting.empty():
            batch.append(waiting.get_nowait())
        await hear([payload for _, payload, _ in batch])
        for frame, _, came in batch:
            await socket.send(ack_frame(frame, int((time.monotonic() - came) * 1000)))


def _error_for_code(code: int, why: str) -> Exception:
    if code in _RETRYABLE_CODES:
        return ConnectionDropped(f"the platform is busy: {why} ({code})")
    if code == _TOO_MANY_CONNECTIONS:
        return ReceiverConflict(
            f"this app has as many long connections as it may have (50); stop the other programs that use it: {why} "
            f"({code})"
        )
    if code in _OWNER_CODES:
        return LoggedOut(
            f"Feishu refuses a long connection ({_OWNER_CODES[code]}); check app_id, app_secret and that the app is a "
            f"self-built one that receives events by long connection: {why} ({code})"
        )
    return ChannelError(f"Feishu gives no address for a long connection: {why} ({code})")


def _dropped_error(err: Exception) -> Exception:
    """A refused handshake says why in headers of its own; addresses are left out of the words, for they hold a key."""
    told = getattr(getattr(err, "response", None), "headers", None) or {}
    status, detail = told.get("Handshake-Status"), told.get("Handshake-Autherrcode")
    if status is not None:
        with contextlib.suppress(ValueError):
            code = int(detail if detail and int(detail) == _TOO_MANY_CONNECTIONS else status)
            return _error_for_code(
                code if code in (*_OWNER_CODES, _TOO_MANY_CONNECTIONS) else 1, str(told.get("Handshake-Msg", ""))[:200]
            )
    return ConnectionDropped(f"{type(err).__name__}")


def _query_value(address: str, name: str) -> str:
    values = parse_qs(urlsplit(address).query).get(name, [])
    if len(values) != 1:
        raise ValueError(f"no single {name}")
    return values[0]


def _clamp(told: Any, most: float, least: float = 0.05) -> float:
    if isinstance(told, bool) or not isinstance(told, int | float) or told < 0:
        return most
    return float(min(max(told, least), most))


def _silence_library_logs() -> Any:
    """The library logs addresses, which hold a key."""
    import logging

    logger = logging.getLogger("channels.feishu.websocket.wire")
    logger.setLevel(logging.CRITICAL)
    return logger
