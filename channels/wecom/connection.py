"""The WebSocket connection to WeCom: frames, requests, and reconnecting."""

import asyncio
import json
import logging
import secrets
import time
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

import structlog

from channels.errors import (
    Ambiguous,
    ChannelError,
    LoggedOut,
    ReceiverConflict,
    Rejected,
    Retryable,
)
from channels.wecom.settings import SERVER, WecomSettings

# Frames and their error codes.

# pause of a chat after a rate limit: limits are per minute, and no reply names a time
RATE_LIMIT_SECONDS = 60.0
MAX_ERROR_TEXT = 200
_BUSY_CODES = (-1, 846601, 846602)


class StreamClosed(Rejected):
    """The callback can no longer be answered, or its stream no longer changed; a new message can be
    sent.
    """


class NotSubscribed(Retryable):
    """The server does not regard this connection as subscribed."""


def new_request_id(command: str) -> str:
    """Create a request id in the form that the vendor's clients use."""
    return f"{command}_{time.time_ns() // 1_000_000}_{secrets.token_hex(4)}"


def dump_frame(command: str, request_id: str, body: Mapping[str, Any] | None = None) -> str:
    """Serialise a frame."""
    frame: dict[str, Any] = {"cmd": command, "headers": {"req_id": request_id}}
    if body is not None:
        frame["body"] = body
    return json.dumps(frame, ensure_ascii=False)


def parse_frame(text: str | bytes) -> dict[str, Any]:
    """Parse a received frame.

    Raises:
        ValueError: it is malformed.
    """
    try:
        frame = json.loads(text)
    except RecursionError as err:
        raise ValueError("a frame nested too deeply") from err
    if not isinstance(frame, dict) or not isinstance(frame.get("headers"), dict):
        raise ValueError("a frame without headers")
    return frame


def error_in_reply(
    reply: Mapping[str, Any], rate_limit: float = RATE_LIMIT_SECONDS
) -> ChannelError | None:
    """Return the error that a reply frame reports, None for success.

    Args:
        rate_limit: seconds to wait after a rate limit.
    """
    code = reply.get("errcode")
    if code == 0:
        return None
    if not isinstance(code, int):
        return Ambiguous("the reply has no error code")
    text = f"WeCom answers {code}: {str(reply.get('errmsg', ''))[:MAX_ERROR_TEXT]}"
    if code in (846605, 846608):
        return StreamClosed(text)
    if code == 846609:
        return NotSubscribed(text, whole_channel=True)
    if code == 45009:
        return Retryable(text, retry_after=rate_limit)
    if code in _BUSY_CODES:
        return Retryable(text)
    return Rejected(text, gone=code == 93006)


# One subscribed connection.

log = structlog.get_logger(__name__)
MAX_FRAME_BYTES = 4 * 2**20
# replies to one request id; None: the connection has ended
ReplyQueue = asyncio.Queue[dict[str, Any] | None]
EVICTED_TEXT = (
    "another program has subscribed as this WeCom bot and receives in our place; stop one of the "
    "two, then start this one again"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WecomTiming:
    """Timeouts and pauses, in seconds."""

    connect: float = 10.0
    #: Between two pings.
    ping: float = 30.0
    #: Timeout of a ping's reply; two missed in a row end the connection.
    pong: float = 10.0
    #: Timeout of any other reply.
    reply: float = 5.0
    #: How long after a late reply the right one may come.
    late: float = 1.0
    #: Timeout of an upload's replies.
    upload: float = 30.0
    #: First pause between attempts to connect; it doubles.
    first_pause: float = 1.0
    max_pause: float = 30.0
    #: After which a connection counts as stable, and the attempts as successful.
    stable: float = 30.0
    #: Pause of a chat after a rate limit.
    rate_limit: float = RATE_LIMIT_SECONDS
    #: Between two packets of one stream.
    live: float = 0.7
    #: After which an unchanged stream is sent again, so that it stays open.
    live_refresh: float = 200.0
    #: For which a stream is shown at most.
    max_live: float = 570.0


class Subscription:
    """One connection. on_callback: called with every callback frame, must not block."""

    def __init__(
        self, socket: Any, timing: WecomTiming, on_callback: Callable[[dict[str, Any]], None]
    ) -> None:
        self._socket = socket
        self._timing = timing
        self._on_callback = on_callback
        self._waiting: dict[str, ReplyQueue] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        #: Why the connection has ended, "" while it is open.
        self._closed = ""
        #: Request ids whose last reply did not come in time.
        self._late: set[str] = set()
        #: Set when the connection is no longer usable.
        self.discarded = asyncio.Event()
        #: Unix seconds of the last frame, 0 for none.
        self.last = 0.0

    async def request(
        self,
        command: str,
        body: Mapping[str, Any] | None,
        request_id: str = "",
        timeout: float = 0.0,
    ) -> Any:
        """Send a frame and return the body of its reply.

        Those with the same request id wait for each other.

        Args:
            request_id: "" for a new one. timeout: seconds, 0 for the default.

        Raises:
            Rejected, Retryable: what the reply reports. Ambiguous: there was none.
        """
        request_id = request_id or new_request_id(command)
        lock = self._locks.setdefault(request_id, asyncio.Lock())
        async with lock:
            frame = dump_frame(command, request_id, body)
            reply = await self._exchange(frame, request_id, timeout or self._timing.reply)
        if (error := error_in_reply(reply, self._timing.rate_limit)) is not None:
            raise error
        return reply.get("body")

    async def _exchange(self, frame: str, request_id: str, timeout: float) -> dict[str, Any]:
        from websockets.exceptions import ConnectionClosed

        if self._closed:
            raise NotSubscribed(self._closed, whole_channel=True)
        replies: ReplyQueue = asyncio.Queue()
        self._waiting[request_id] = replies
        try:
            async with asyncio.timeout(timeout):
                await self._socket.send(frame)
                reply = await self._next(replies)
            return await self._newest(request_id, replies, reply)
        except TimeoutError as err:
            self._late.add(request_id)
            raise Ambiguous(f"no reply within {timeout:g} s") from err
        except ConnectionClosed as err:
            raise Ambiguous("the connection was closed before the reply") from err
        finally:
            del self._waiting[request_id]

    async def _newest(
        self, request_id: str, replies: ReplyQueue, reply: dict[str, Any]
    ) -> dict[str, Any]:
        """Return the reply, or the next one if this may be the late reply to an earlier frame with
        this id.
        """
        if request_id not in self._late:
            return reply
        self._late.discard(request_id)
        with suppress(TimeoutError):
            async with asyncio.timeout(self._timing.late):
                return await self._next(replies)
        return reply

    async def _next(self, replies: ReplyQueue) -> dict[str, Any]:
        reply = await replies.get()
        if reply is None:
            raise Ambiguous(self._closed)
        return reply

    async def subscribe(self, bot_id: str, secret: str) -> None:
        """Become the one connection of this bot.

        Raises:
            LoggedOut: id or secret is wrong. Retryable, Ambiguous: not now.
        """
        try:
            await self.request(
                "aibot_subscribe",
                {"bot_id": bot_id, "secret": secret},
                timeout=self._timing.connect,
            )
        except Rejected as err:
            raise LoggedOut(f"WeCom refuses bot_id and secret ({err})") from err

    async def receive(self) -> None:
        """Read frames until the connection ends.

        Raises:
            ReceiverConflict: another connection has subscribed as this bot.
        """
        try:
            async for text in self._socket:
                try:
                    self._handle(parse_frame(text))
                except ValueError as err:
                    log.warning("frame not understood", error=str(err))
        finally:
            self._closed = "the connection is lost"
            for replies in self._waiting.values():
                replies.put_nowait(None)

    async def ping(self) -> None:
        """Send pings until two in a row get no reply."""
        missed = 0
        while missed < 2:
            await asyncio.sleep(0 if missed else self._timing.ping)
            try:
                await self.request("ping", None, timeout=self._timing.pong)
                missed = 0
            except Ambiguous:
                missed += 1

    def _handle(self, frame: dict[str, Any]) -> None:
        self.last = time.time()
        if "cmd" not in frame:
            replies = self._waiting.get(str(frame["headers"].get("req_id")))
            if replies is not None:
                replies.put_nowait(frame)
            return
        body = frame.get("body")
        event = body.get("event") if isinstance(body, dict) else None
        if isinstance(event, dict) and event.get("eventtype") == "disconnected_event":
            raise ReceiverConflict(EVICTED_TEXT)
        if frame["cmd"] in ("aibot_msg_callback", "aibot_event_callback"):
            self._on_callback(frame)


# The connection of a bot.

MAX_ATTEMPTS = 10


class ReconnectingSocket:
    """One bot's connection, reconnected when it ends. on_callback: called with every callback
    frame.

    It outlives `run` of the channel, because replies are sent over it after the last message was
    received. Once another program has subscribed as the bot, it stays closed: to connect would be
    to take the bot back.
    """

    def __init__(
        self,
        settings: WecomSettings,
        timing: WecomTiming,
        on_callback: Callable[[dict[str, Any]], None],
    ) -> None:
        self._settings = settings
        self._timing = timing
        self._on_callback = on_callback
        self._task: asyncio.Task[None] | None = None
        self._subscription: Subscription | None = None
        self._connected = asyncio.Event()
        self._last = 0.0
        #: Why there is no connection, "" while there is one.
        self.trouble = ""

    @property
    def last(self) -> float:
        """Unix seconds of the last frame from the platform, 0 for none."""
        return self._subscription.last if self._subscription is not None else self._last

    async def maintain(self) -> None:
        """Start the connection, and wait until reconnecting ends. Cancelling ends only the wait.

        Raises:
            LoggedOut, ReceiverConflict: the owner has to act. ChannelError: ten attempts in a row
                failed.
        """
        if self._task is None or (
            self._task.done() and not isinstance(_task_error(self._task), ReceiverConflict)
        ):
            self._task = self._start()
        await asyncio.shield(self._task)

    async def request(
        self, command: str, body: dict[str, Any], request_id: str = "", timeout: float = 0.0
    ) -> Any:
        """Subscription.request over the current connection.

        Raises:
            Retryable: also if there is no connection. LoggedOut: there will be none.
        """
        for _ in range(2):
            subscription = await self.connected()
            try:
                return await subscription.request(command, body, request_id, timeout)
            except NotSubscribed:
                subscription.discarded.set()
                self._remove(subscription)
        raise Retryable("WeCom ended the subscription again", whole_channel=True)

    async def connected(self) -> Subscription:
        """Wait for a connection. Raises Retryable, LoggedOut as `request` does."""
        if self._task is None:
            self._task = self._start()
        waiting = asyncio.create_task(self._connected.wait())
        try:
            if self._subscription is None:
                tasks = {self._task, waiting}
                await asyncio.wait(
                    tasks, timeout=self._timing.reply, return_when=asyncio.FIRST_COMPLETED
                )
        finally:
            waiting.cancel()
        if self._subscription is not None:
            return self._subscription
        if isinstance(err := _task_error(self._task), LoggedOut):
            raise LoggedOut(str(err))
        raise Retryable(
            f"not connected to WeCom: {err or self.trouble or 'not yet'}", whole_channel=True
        )

    async def probe(self) -> bool:
        """Open and close the socket; return True without doing so if there is a connection.

        Raises:
            ChannelError: it cannot be opened.
        """
        if self._subscription is not None:
            return True
        from websockets.exceptions import WebSocketException

        try:
            async with await self._open():
                return False
        except (OSError, TimeoutError, ValueError, WebSocketException) as err:
            raise ChannelError(
                f"WeCom's socket cannot be reached: {type(err).__name__}: {err}"
            ) from err

    async def close(self) -> None:
        """Close the connection; a later `maintain` or `request` opens a new one."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    def _start(self) -> asyncio.Task[None]:
        task = asyncio.create_task(self._reconnect(), name="wecom connection")
        task.add_done_callback(_task_error)
        return task

    async def _reconnect(self) -> None:
        from websockets.exceptions import WebSocketException

        attempts = 0
        while True:
            began = time.monotonic()
            try:
                await self._connect_once()
            except (LoggedOut, ReceiverConflict):
                raise
            except (OSError, TimeoutError, WebSocketException, ChannelError) as err:
                self.trouble = f"{type(err).__name__}: {err}"
            attempts = 1 if time.monotonic() - began > self._timing.stable else attempts + 1
            log.info("wecom connection ended", error=self.trouble, tries=attempts)
            if attempts >= MAX_ATTEMPTS:
                raise ChannelError(
                    f"no lasting connection to WeCom after {MAX_ATTEMPTS} tries: {self.trouble}"
                )
            await asyncio.sleep(
                min(self._timing.max_pause, self._timing.first_pause * 2 ** (attempts - 1))
            )

    async def _connect_once(self) -> None:
        """Open one connection and use it until it ends."""
        async with await self._open() as socket:
            subscription = Subscription(socket, self._timing, self._on_callback)
            subscribed = self._subscribe_and_ping(subscription)
            try:
                await run_until_first(
                    subscription.receive(), subscribed, subscription.discarded.wait()
                )
            finally:
                self._last = subscription.last or self._last
                self._remove(subscription)
        self.trouble = "WeCom closed the connection or stopped replying"

    async def _subscribe_and_ping(self, subscription: Subscription) -> None:
        await subscription.subscribe(self._settings.bot_id, self._settings.secret)
        self._subscription, self.trouble = subscription, ""
        self._connected.set()
        await subscription.ping()

    def _remove(self, subscription: Subscription) -> None:
        if self._subscription is subscription:
            self._subscription = None
            self._connected.clear()

    async def _open(self) -> Any:
        connect = await asyncio.to_thread(_import_connect)
        return await connect(
            self._settings.ws_url or SERVER,
            proxy=self._settings.proxy or None,
            open_timeout=self._timing.connect,
            ping_interval=None,
            close_timeout=1.0,
            max_size=MAX_FRAME_BYTES,
            compression=None,
        )


async def run_until_first(*work: Coroutine[Any, Any, object]) -> None:
    """Run coroutines concurrently until one ends, then cancel the others; raise what the first
    raised.

    Of several errors, one that the owner has to know is raised: after a refusal or an eviction the
    connection ends too.
    """
    tasks = [asyncio.create_task(coroutine) for coroutine in work]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        errors = [error for task in tasks if (error := _task_error(task)) is not None]
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for error in sorted(
        errors, key=lambda error: not isinstance(error, LoggedOut | ReceiverConflict)
    ):
        raise error


def _import_connect() -> Any:
    from websockets.asyncio.client import connect

    # Below WARNING it logs frames, with the secret and all messages.
    logging.getLogger("websockets").setLevel(logging.WARNING)
    return connect


def _task_error(task: asyncio.Task[Any] | None) -> BaseException | None:
    return task.exception() if task is not None and task.done() and not task.cancelled() else None
