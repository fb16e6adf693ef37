"""Keeps one connection to WeCom up, and hands it to whoever wants to speak."""

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

from channels.errors import Ambiguous, ChannelError, LoggedOut, ReceiverConflict, Rejected, Retryable
from channels.toolkit.delivery import without_leaving
from channels.wecom.settings import WecomSettings

# Frames of WeCom's socket, and what an error code in one of them means. Pure but for the ids.

# How long a chat is left alone that got too much; the rates are per minute, and no answer names the time.
RATE_LIMIT_SECONDS = 60.0
MAX_ERROR_TEXT = 200
_BUSY_CODES = (-1, 846601, 846602)


class StreamClosed(Rejected):
    """This callback can no longer be answered, or this stream no longer changed; a message of its own can be sent."""


class NotSubscribed(Retryable):
    """The server does not hold this connection for subscribed."""


def new_request_id(command: str) -> str:
    """A new one, as other clients make them."""
    return f"{command}_{time.time_ns() // 1_000_000}_{secrets.token_hex(4)}"


def dump_frame(command: str, request: str, body: Mapping[str, Any] | None = None) -> str:
    """A frame as text."""
    frame: dict[str, Any] = {"cmd": command, "headers": {"req_id": request}}
    if body is not None:
        frame["body"] = body
    return json.dumps(frame, ensure_ascii=False)


def parse_frame(text: str | bytes) -> dict[str, Any]:
    """A frame that came.

    Raises:
        ValueError: it is none.
    """
    try:
        frame = json.loads(text)
    except RecursionError as err:
        raise ValueError("a frame nested too deeply") from err
    if not isinstance(frame, dict) or not isinstance(frame.get("headers"), dict):
        raise ValueError("a frame without headers")
    return frame


def error_in_answer(answer: Mapping[str, Any], limited: float = RATE_LIMIT_SECONDS) -> ChannelError | None:
    """What an answer frame reports, None when it is good.

    Args:
        limited: seconds to wait when it was too much at once.
    """
    code = answer.get("errcode")
    if code == 0:
        return None
    if not isinstance(code, int):
        return Ambiguous("an answer without a code")
    text = f"WeCom answers {code}: {str(answer.get('errmsg', ''))[:MAX_ERROR_TEXT]}"
    if code in (846605, 846608):
        return StreamClosed(text)
    if code == 846609:
        return NotSubscribed(text, whole_channel=True)
    if code == 45009:
        return Retryable(text, retry_after=limited)
    if code in _BUSY_CODES:
        return Retryable(text)
    return Rejected(text, gone=code == 93006)


# One subscribed connection to WeCom: what is asked over it, what comes by itself, and whether it still lives.

log = structlog.get_logger(__name__)
SERVER = "wss://openws.work.weixin.qq.com"
MAX_FRAME_BYTES = 4 * 2**20
AnswerQueue = asyncio.Queue[dict[str, Any] | None]  # those to one request id; None: there will be no more
EVICTED_TEXT = (
    "another program has subscribed as this WeCom bot and receives in our place; stop one of the two, then start this "
    "one again"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WecomTiming:
    """Seconds."""

    connect: float = 10.0
    #: Between two signs of life.
    ping: float = 30.0
    #: How long one may take, two in a row without are the end.
    pong: float = 10.0
    #: How long an answer may take.
    answer: float = 5.0
    #: How far the next may be behind one that took longer.
    late: float = 1.0
    #: As answer.
    upload: float = 30.0
    #: Between attempts to connect.
    first_pause: float = 1.0
    #: Between attempts to connect.
    longest_pause: float = 30.0
    #: After so long a connection counts as good.
    settled: float = 30.0
    #: For how long a chat rests that got too much.
    limited: float = RATE_LIMIT_SECONDS
    #: Between two packets of one stream.
    live: float = 0.7
    #: Before a silent one is renewed.
    alive: float = 200.0
    #: For how long it is.
    longest_live: float = 570.0


class Subscription:
    """A connection. heard: takes every callback frame, at once. last: unix seconds of the last frame, 0 for none."""

    def __init__(self, socket: Any, timing: WecomTiming, heard: Callable[[dict[str, Any]], None]) -> None:
        self._socket = socket
        self._timing = timing
        self._heard = heard
        self._waiting: dict[str, AnswerQueue] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._over = ""
        self._late: set[str] = set()
        self._useless = asyncio.Event()
        self.last = 0.0

    async def ask(self, command: str, body: Mapping[str, Any] | None, request: str = "", wait: float = 0.0) -> Any:
        """Send a frame and wait for its answer; returns the answer's body. Those of one request id go one by one.

        Args:
            request: the request id, "" for a new one. wait: for how many seconds, 0 for the usual.

        Raises:
            Rejected, Retryable: what the answer says. Ambiguous: none came.
        """
        request = request or new_request_id(command)
        lock = self._locks.setdefault(request, asyncio.Lock())
        async with lock:
            answer = await self._exchange(dump_frame(command, request, body), request, wait or self._timing.answer)
        if (problem := error_in_answer(answer, self._timing.limited)) is not None:
            raise problem
        return answer.get("body")

    async def _exchange(self, frame: str, request: str, wait: float) -> dict[str, Any]:
        from websockets.exceptions import ConnectionClosed

        if self._over:
            raise NotSubscribed(self._over, whole_channel=True)
        answers: AnswerQueue = asyncio.Queue()
        self._waiting[request] = answers
        try:
            async with asyncio.timeout(wait):
                await self._socket.send(frame)
                answer = await self._next(answers)
            return await self._newest(request, answers, answer)
        except TimeoutError as err:
            self._late.add(request)
            raise Ambiguous(f"no answer within {wait:g} s") from err
        except ConnectionClosed as err:
            raise Ambiguous("the connection was closed before an answer came") from err
        finally:
            del self._waiting[request]

    async def _newest(self, request: str, answers: AnswerQueue, answer: dict[str, Any]) -> dict[str, Any]:
        """The answer, or the one right after it where this may have been the late one to the frame before."""
        if request not in self._late:
            return answer
        self._late.discard(request)
        with suppress(TimeoutError):
            async with asyncio.timeout(self._timing.late):
                return await self._next(answers)
        return answer

    async def _next(self, answers: AnswerQueue) -> dict[str, Any]:
        answer = await answers.get()
        if answer is None:
            raise Ambiguous(self._over)
        return answer

    async def subscribe(self, bot_id: str, secret: str) -> None:
        """Become the one connection of this bot.

        Raises:
            LoggedOut: id and secret do not hold. Retryable, Ambiguous: not now.
        """
        try:
            await self.ask("aibot_subscribe", {"bot_id": bot_id, "secret": secret}, wait=self._timing.connect)
        except Rejected as err:
            raise LoggedOut(f"WeCom refuses bot_id and secret ({err})") from err

    async def listen(self) -> None:
        """Read until the connection ends.

        Raises:
            ReceiverConflict: another connection has taken the bot.
        """
        try:
            async for text in self._socket:
                try:
                    self._take(parse_frame(text))
                except ValueError as err:
                    log.warning("frame not understood", error=str(err))
        finally:
            self._end("the connection is lost")

    async def beat(self) -> None:
        """Give signs of life until two in a row are not answered."""
        missed = 0
        while missed < 2:
            await asyncio.sleep(0 if missed else self._timing.ping)
            try:
                await self.ask("ping", None, wait=self._timing.pong)
                missed = 0
            except Ambiguous:
                missed += 1

    def give_up(self) -> None:
        """Say that this connection serves for nothing any more."""
        self._useless.set()

    async def given_up(self) -> None:
        """Wait until somebody says so."""
        await self._useless.wait()

    def _take(self, frame: dict[str, Any]) -> None:
        self.last = time.time()
        if "cmd" not in frame:
            answers = self._waiting.get(str(frame["headers"].get("req_id")))
            if answers is not None:
                answers.put_nowait(frame)
        elif _is_eviction(frame):
            raise ReceiverConflict(EVICTED_TEXT)
        elif frame["cmd"] in ("aibot_msg_callback", "aibot_event_callback"):
            self._heard(frame)

    def _end(self, why: str) -> None:
        self._over = why
        for answers in self._waiting.values():
            answers.put_nowait(None)


def _is_eviction(frame: Mapping[str, Any]) -> bool:
    body = frame.get("body")
    event = body.get("event") if isinstance(body, dict) else None
    return isinstance(event, dict) and event.get("eventtype") == "disconnected_event"


MAX_TRIES = 10


class ReconnectingSocket:
    """One bot's connection. heard: takes every callback frame.

    It outlives the hearing: the platform has one connection for both ways, and answers go out after the last message
    was heard. Once another program has taken the bot it stays down for good: to connect would be to take it back.
    """

    def __init__(self, settings: WecomSettings, timing: WecomTiming, heard: Callable[[dict[str, Any]], None]) -> None:
        self._settings = settings
        self._timing = timing
        self._heard = heard
        self._task: asyncio.Task[None] | None = None
        self._line: Subscription | None = None
        self._up = asyncio.Event()
        self._last = 0.0
        self.trouble = ""

    @property
    def last(self) -> float:
        """Unix seconds of the last sign of the platform, 0 for never."""
        return self._line.last if self._line is not None else self._last

    async def keep(self) -> None:
        """Have the connection kept up, and wait for the end of that. What is cancelled is the waiting only.

        Raises:
            LoggedOut, ReceiverConflict: the owner has to act. ChannelError: ten tries in a row failed.
        """
        if self._task is None or (self._task.done() and not isinstance(_task_error(self._task), ReceiverConflict)):
            self._start()
        if self._task is not None:
            await asyncio.shield(self._task)

    async def ask(self, command: str, body: dict[str, Any], request: str = "", wait: float = 0.0) -> Any:
        """As Line.ask, over whatever connection there is.

        Raises:
            Retryable, also: there is none. LoggedOut: and there will be none.
        """
        for _ in range(2):
            line = await self._connected()
            try:
                return await line.ask(command, body, request, wait)
            except NotSubscribed:
                line.give_up()
                self._forget(line)
        raise Retryable("WeCom does not keep our subscription", whole_channel=True)

    async def ready(self) -> None:
        """Wait until there is a connection. Raises as `ask` does where there is none."""
        await self._connected()

    async def reach(self) -> bool:
        """Try whether the socket can be opened, and close it again; True when one is open anyway.

        Raises:
            ChannelError: it cannot.
        """
        if self._line is not None:
            return True
        from websockets.exceptions import WebSocketException

        try:
            async with await self._open():
                return False
        except (OSError, TimeoutError, ValueError, WebSocketException) as err:
            raise ChannelError(f"WeCom's socket cannot be reached: {type(err).__name__}: {err}") from err

    async def close(self) -> None:
        """Drop the connection; a later `keep` or `ask` opens one again."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    def _start(self) -> None:
        with without_leaving():  # it outlives the send that may have opened it
            self._task = asyncio.create_task(self._go_on(), name="wecom connection")
        self._task.add_done_callback(_task_error)

    async def _connected(self) -> Subscription:
        if self._task is None:
            self._start()
        waiting = asyncio.create_task(self._up.wait())
        try:
            if self._task is not None and self._line is None:
                wanted = {self._task, waiting}
                await asyncio.wait(wanted, timeout=self._timing.answer, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
        if self._line is not None:
            return self._line
        if isinstance(err := _task_error(self._task), LoggedOut):
            raise LoggedOut(str(err))
        raise Retryable(f"not connected to WeCom: {err or self.trouble or 'not yet'}", whole_channel=True)

    async def _go_on(self) -> None:
        from websockets.exceptions import WebSocketException

        tries = 0
        while True:
            began = time.monotonic()
            try:
                await self._once()
            except (LoggedOut, ReceiverConflict):
                raise
            except (OSError, TimeoutError, WebSocketException, ChannelError) as err:
                self.trouble = f"{type(err).__name__}: {err}"
            tries = 1 if time.monotonic() - began > self._timing.settled else tries + 1
            log.info("wecom connection ended", error=self.trouble, tries=tries)
            if tries >= MAX_TRIES:
                raise ChannelError(f"no lasting connection to WeCom after {MAX_TRIES} tries: {self.trouble}")
            await asyncio.sleep(min(self._timing.longest_pause, self._timing.first_pause * 2 ** (tries - 1)))

    async def _once(self) -> None:
        """One connection from its opening to its end."""
        async with await self._open() as socket:
            line = Subscription(socket, self._timing, self._heard)
            try:
                await run_until_first(line.listen(), self._speak(line), line.given_up())
            finally:
                self._last = line.last or self._last
                self._forget(line)
        self.trouble = "WeCom closed the connection, or answered no more"

    async def _speak(self, line: Subscription) -> None:
        await line.subscribe(self._settings.bot_id, self._settings.secret)
        self._line, self.trouble = line, ""
        self._up.set()
        await line.beat()

    def _forget(self, line: Subscription) -> None:
        if self._line is line:
            self._line = None
            self._up.clear()

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


async def run_until_first(*work: Coroutine[Any, Any, None]) -> None:
    """Run them beside each other until one has ended, then end the others; raises what those that ended raised.

    Of several errors that is the one which the owner has to know: who is refused, or evicted, is hung up on too.
    """
    tasks = [asyncio.create_task(one) for one in work]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        errors = [error for task in tasks if (error := _task_error(task)) is not None]
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for error in sorted(errors, key=lambda error: not isinstance(error, LoggedOut | ReceiverConflict)):
        raise error


def _import_connect() -> Any:
    from websockets.asyncio.client import connect

    # Below that it prints frames: the secret, and what people say.
    logging.getLogger("websockets").setLevel(logging.WARNING)
    return connect


def _task_error(task: asyncio.Task[None] | None) -> BaseException | None:
    return task.exception() if task is not None and task.done() and not task.cancelled() else None
