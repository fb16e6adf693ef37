"""How long things take with WeChat, and how its silence is waited out."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

import structlog

from channels.errors import ChannelError, LoggedOut, Retryable

log = structlog.get_logger(__name__)
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Seconds, all of them. poll: how long the platform holds a call; grace: how much longer we wait for its end.

    answer: how long any other call may take. pauses: after the first failure, the second, and every later one.
    spacing: between two sends to one person.
    look: between two looks at a QR code; code: how long one is followed.
    """

    poll: float = 35.0
    grace: float = 10.0
    answer: float = 15.0
    pauses: tuple[float, float, float] = (2.0, 2.0, 30.0)
    spacing: float = 1.0
    look: float = 1.0
    code: float = 480.0


class Hearing:
    """When the platform was last heard, and what is wrong since. heard: unix seconds, 0 never."""

    POLLS_MISSED = 3
    """After so many polls' time without a good answer the connections are thrown away."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self.heard = 0.0
        self.trouble = ""

    async def insist(self, call: Callable[[], Awaitable[T]], hold: float = 0.0) -> T:
        """The answer to a call that may be repeated at will. hold: seconds of a poll, 0 for the usual ones.

        Raises:
            LoggedOut: the session is over. ChannelError: nothing good was heard for three polls' time.
        """
        patience = self.POLLS_MISSED * max(hold, self._pace.poll)
        try:
            async with asyncio.timeout(patience):
                return await self._again_and_again(call)
        except TimeoutError as err:
            self.trouble = f"nothing heard from WeChat for {patience:.0f} s: {self.trouble or 'no answer'}"
            raise ChannelError(self.trouble) from err

    async def _again_and_again(self, call: Callable[[], Awaitable[T]]) -> T:
        failures = 0
        while True:
            try:
                answer = await call()
            except LoggedOut:
                raise
            except ChannelError as err:
                self.trouble = str(err)
                log.info("wechat silent", error=self.trouble)
                asked = err.retry_after if isinstance(err, Retryable) else None
            else:
                self.heard, self.trouble = time.time(), ""
                return answer
            await asyncio.sleep(asked or self._pace.pauses[min(failures, 2)])
            failures += 1
