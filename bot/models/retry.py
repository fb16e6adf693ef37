"""Retries model calls whose failure may pass: the only layer that does so.

Retry libraries wrap calls. Here a stream is repeated, and its consumer has to learn that it starts
again.
"""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace

from bot.errors import BadRequest, ModelError, RateLimited, Stalled, Transient
from bot.models.base import Answer, ModelClient, ModelEvent, Request, Restarted, RetryWait
from bot.models.providers.failures import BAD_THINKING
from bot.models.providers.transport import TimedStream, Timeouts
from bot.texts import failure_code
from memory.conversation import Thinking


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrySettings:
    """How often and how long to retry. Times in seconds."""

    #: Calls in all.
    calls: int = 5
    #: Retries after a stalled call.
    stalls: int = 2
    #: For all calls and pauses together.
    step: float = 600.0
    #: The n-th pause is random, up to first_pause * 2**(n-1) and at most longest_pause.
    first_pause: float = 1.0
    longest_pause: float = 60.0
    #: Whether to wait for failures that may pass, such as an overload.
    wait: bool = True

    def pause(
        self, error: ModelError, calls: int, stalls: int, random_share: float
    ) -> float | None:
        """Return the seconds to wait before the next call; None: do not retry. Pure.

        Args:
            calls: made so far, from 1.
            stalls: how many of them stalled.
            random_share: 0 to 1, drawn for each pause.
        """
        if calls >= self.calls or (isinstance(error, Stalled) and stalls > self.stalls):
            return None
        if isinstance(error, BadRequest):
            return 0.0 if error.kind == BAD_THINKING else None
        if not self.wait:
            return None
        if isinstance(error, (RateLimited, Transient)) and error.retry_after is not None:
            return error.retry_after
        if isinstance(error, (Transient, Stalled, RateLimited)):
            return random_share * min(self.first_pause * 2.0 ** (calls - 1), self.longest_pause)
        return None


# To try a failed model again: one retry, only if the request itself can be repaired.
SINGLE_RETRY = RetrySettings(calls=2, wait=False)


class RetryingModel:
    """A model client that repeats the calls of another one.

    Args:
        clock: monotonic seconds.
        chance: returns a new number from 0 to 1.
    """

    def __init__(
        self,
        model: ModelClient,
        *,
        settings: RetrySettings | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.name = model.name
        self._model, self._settings = model, settings or RetrySettings()
        self._clock, self._sleep, self._chance = clock, sleep, chance

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        """Stream the first call that succeeds; Restarted follows a failed one that has shown
        something.
        """
        end, calls, stalls = self._clock() + self._settings.step, 0, 0
        while True:
            calls, shown, remaining = calls + 1, False, end - self._clock()
            limits = Timeouts(first=remaining, gap=remaining, step=remaining)
            try:
                async with TimedStream(self._model.stream(request), limits) as events:
                    async for event in events:
                        shown = shown or not isinstance(event, Answer)
                        yield event
                return
            except ModelError as err:
                stalls += isinstance(err, Stalled)
                pause = self._settings.pause(err, calls, stalls, self._chance())
                if pause is None or self._clock() + pause >= end:
                    raise
                if isinstance(err, BadRequest):
                    request = drop_thinking(request)
                why, reason = str(err), failure_code(err)
            if pause:
                yield RetryWait(why=reason, call=calls + 1, calls=self._settings.calls)
            await self._sleep(pause)
            if shown:
                yield Restarted(why=why)

    async def close(self) -> None:
        await self._model.close()


def drop_thinking(request: Request) -> Request:
    """Return the request without thinking parts."""
    messages = (
        replace(
            message, parts=tuple(part for part in message.parts if not isinstance(part, Thinking))
        )
        for message in request.messages
    )
    return replace(request, messages=tuple(messages))
