"""One subscribed connection to WeCom: what is asked over it, what comes by itself, and whether it still lives."""

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

import structlog

from channels.errors import Ambiguous, Contended, LoggedOut, Rejected
from channels.wecom.frames import LIMITED_SECONDS, NotSubscribed, read, request_id, trouble, written

log = structlog.get_logger(__name__)
SERVER = "wss://openws.work.weixin.qq.com"
LARGEST_FRAME = 4 * 2**20
Answers = asyncio.Queue[dict[str, Any] | None]
"""Those to one request id; None: there will be no more."""
EVICTED = (
    "another program has subscribed as this WeCom bot and receives in our place; stop one of the two, then start this "
    "one again"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Seconds. ping: between two signs of life; pong: how long one may take, two in a row without are the end.

    answer: how long an answer may take; late: how far the next may be behind one that took longer; upload: as answer.
    first_pause, longest_pause: between attempts to connect; settled: after so long a connection counts as good.
    limited: for how long a chat rests that got too much. live: between two packets of one stream; alive: before a
    silent one is renewed; longest_live: for how long it is.
    """

    connect: float = 10.0
    ping: float = 30.0
    pong: float = 10.0
    answer: float = 5.0
    late: float = 1.0
    upload: float = 30.0
    first_pause: float = 1.0
    longest_pause: float = 30.0
    settled: float = 30.0
    limited: float = LIMITED_SECONDS
    live: float = 0.7
    alive: float = 200.0
    longest_live: float = 570.0


class Line:
    """A connection. heard: takes every callback frame, at once. last: unix seconds of the last frame, 0 for none."""

    def __init__(self, socket: Any, timing: Timing, heard: Callable[[dict[str, Any]], None]) -> None:
        self._socket = socket
        self._timing = timing
        self._heard = heard
        self._waiting: dict[str, Answers] = {}
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
        request = request or request_id(command)
        lock = self._locks.setdefault(request, asyncio.Lock())
        async with lock:
            answer = await self._exchange(written(command, request, body), request, wait or self._timing.answer)
        if (problem := trouble(answer, self._timing.limited)) is not None:
            raise problem
        return answer.get("body")

    async def _exchange(self, frame: str, request: str, wait: float) -> dict[str, Any]:
        from websockets.exceptions import ConnectionClosed

        if self._over:
            raise NotSubscribed(self._over, whole_channel=True)
        answers: Answers = asyncio.Queue()
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

    async def _newest(self, request: str, answers: Answers, answer: dict[str, Any]) -> dict[str, Any]:
        """The answer, or the one right after it where this may have been the late one to the frame before."""
        if request not in self._late:
            return answer
        self._late.discard(request)
        with suppress(TimeoutError):
            async with asyncio.timeout(self._timing.late):
                return await self._next(answers)
        return answer

    async def _next(self, answers: Answers) -> dict[str, Any]:
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
            Contended: another connection has taken the bot.
        """
        try:
            async for text in self._socket:
                try:
                    self._take(read(text))
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
        elif _evicts(frame):
            raise Contended(EVICTED)
        elif frame["cmd"] in ("aibot_msg_callback", "aibot_event_callback"):
            self._heard(frame)

    def _end(self, why: str) -> None:
        self._over = why
        for answers in self._waiting.values():
            answers.put_nowait(None)


def _evicts(frame: Mapping[str, Any]) -> bool:
    body = frame.get("body")
    event = body.get("event") if isinstance(body, dict) else None
    return isinstance(event, dict) and event.get("eventtype") == "disconnected_event"
