"""Keeps one connection to WeCom up, and hands it to whoever wants to speak."""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from typing import Any

import structlog

from channels.errors import ChannelError, Contended, LoggedOut, Retryable
from channels.leaving import staying
from channels.wecom.frames import NotSubscribed
from channels.wecom.line import LARGEST_FRAME, SERVER, Line, Timing
from channels.wecom.settings import Settings

log = structlog.get_logger(__name__)
MOST_TRIES = 10


class Keeper:
    """One bot's connection. heard: takes every callback frame.

    It outlives the hearing: the platform has one connection for both ways, and answers go out after the last message
    was heard. Once another program has taken the bot it stays down for good: to connect would be to take it back.
    """

    def __init__(self, settings: Settings, timing: Timing, heard: Callable[[dict[str, Any]], None]) -> None:
        self._settings = settings
        self._timing = timing
        self._heard = heard
        self._task: asyncio.Task[None] | None = None
        self._line: Line | None = None
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
            LoggedOut, Contended: the owner has to act. ChannelError: ten tries in a row failed.
        """
        if self._task is None or (self._task.done() and not isinstance(_error(self._task), Contended)):
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
        with staying():  # it outlives the send that may have opened it
            self._task = asyncio.create_task(self._go_on(), name="wecom connection")
        self._task.add_done_callback(_error)

    async def _connected(self) -> Line:
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
        if isinstance(err := _error(self._task), LoggedOut):
            raise LoggedOut(str(err))
        raise Retryable(f"not connected to WeCom: {err or self.trouble or 'not yet'}", whole_channel=True)

    async def _go_on(self) -> None:
        from websockets.exceptions import WebSocketException

        tries = 0
        while True:
            began = time.monotonic()
            try:
                await self._once()
            except (LoggedOut, Contended):
                raise
            except (OSError, TimeoutError, WebSocketException, ChannelError) as err:
                self.trouble = f"{type(err).__name__}: {err}"
            tries = 1 if time.monotonic() - began > self._timing.settled else tries + 1
            log.info("wecom connection ended", error=self.trouble, tries=tries)
            if tries >= MOST_TRIES:
                raise ChannelError(f"no lasting connection to WeCom after {MOST_TRIES} tries: {self.trouble}")
            await asyncio.sleep(min(self._timing.longest_pause, self._timing.first_pause * 2 ** (tries - 1)))

    async def _once(self) -> None:
        """One connection from its opening to its end."""
        async with await self._open() as socket:
            line = Line(socket, self._timing, self._heard)
            try:
                await until_first(line.listen(), self._speak(line), line.given_up())
            finally:
                self._last = line.last or self._last
                self._forget(line)
        self.trouble = "WeCom closed the connection, or answered no more"

    async def _speak(self, line: Line) -> None:
        await line.subscribe(self._settings.bot_id, self._settings.secret)
        self._line, self.trouble = line, ""
        self._up.set()
        await line.beat()

    def _forget(self, line: Line) -> None:
        if self._line is line:
            self._line = None
            self._up.clear()

    async def _open(self) -> Any:
        connect = await asyncio.to_thread(_connect)
        return await connect(
            self._settings.ws_url or SERVER,
            proxy=self._settings.proxy or None,
            open_timeout=self._timing.connect,
            ping_interval=None,
            close_timeout=1.0,
            max_size=LARGEST_FRAME,
            compression=None,
        )


async def until_first(*work: Coroutine[Any, Any, None]) -> None:
    """Run them beside each other until one has ended, then end the others; raises what those that ended raised.

    Of several errors that is the one which the owner has to know: who is refused, or evicted, is hung up on too.
    """
    tasks = [asyncio.create_task(one) for one in work]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        errors = [error for task in tasks if (error := _error(task)) is not None]
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for error in sorted(errors, key=lambda error: not isinstance(error, LoggedOut | Contended)):
        raise error


def _connect() -> Any:
    from websockets.asyncio.client import connect

    # Below that it prints frames: the secret, and what people say.
    logging.getLogger("websockets").setLevel(logging.WARNING)
    return connect


def _error(task: asyncio.Task[None] | None) -> BaseException | None:
    return task.exception() if task is not None and task.done() and not task.cancelled() else None
