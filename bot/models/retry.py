"""One model asked again when asking again can help: the only layer that does so.

A library of retries wraps calls; what is repeated here is a stream, whose listener has to be told that it starts again.
"""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace

from bot.errors import BadRequest, ModelError, RateLimited, Stalled, Transient
from bot.models.base import Answer, ModelClient, ModelEvent, Request, Restarted
from bot.models.providers.failures import BAD_THINKING
from bot.models.providers.transport import Timeouts, closing_source, iterate_with_timeouts
from memory.conversation import Thinking


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrySettings:
    """How often and how long."""

    #: Of one step in all.
    calls: int = 5
    #: Repeats after silence.
    stalls: int = 2
    #: Seconds for all of it.
    step: float = 600.0
    #: Seconds; the n-th pause is anything up to first * 2**(n-1), but not over longest.
    first: float = 1.0
    #: Seconds; the n-th pause is anything up to first * 2**(n-1), but not over longest.
    longest: float = 60.0
    #: Whether what may pass by itself is waited for at all.
    passing: bool = True

    def pause(self, error: ModelError, tries: int, stalled: int, chance: float) -> float | None:
        """Seconds to wait before the next call; None for: do not.

        tries: calls made so far, from 1. stalled: how many of them fell silent. chance: 0 to 1, drawn again each time.
        """
        if tries >= self.calls or (isinstance(error, Stalled) and stalled > self.stalls):
            return None
        if isinstance(error, BadRequest):
            return 0.0 if error.kind == BAD_THINKING else None
        if not self.passing:
            return None
        if isinstance(error, (RateLimited, Transient)) and error.retry_after is not None:
            return error.retry_after
        if isinstance(error, (Transient, Stalled, RateLimited)):
            return chance * min(self.first * 2.0 ** (tries - 1), self.longest)
        return None


# To try a model out: asked again only where the request can be mended.
SINGLE_RETRY = RetrySettings(calls=2, passing=False)


class RetryingModel:
    """A Model that asks another one until it answers, within its Retries.

    clock: seconds from any fixed point. sleep: waits so many of them. chance: a new number from 0 to 1.
    """

    def __init__(
        self,
        model: ModelClient,
        *,
        retries: RetrySettings | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.name = model.name
        self._model, self._retries = model, retries or RetrySettings()
        self._clock, self._sleep, self._chance = clock, sleep, chance

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        """See Model.stream; Restarted comes before another try when something of the last one was shown."""
        course = _RetryState(request=request, end=self._clock() + self._retries.step)
        while not course.done:
            async with closing_source(self._try(course)) as events:
                async for event in events:
                    yield event

    async def _try(self, course: "_RetryState") -> AsyncIterator[ModelEvent]:
        """One call; after a failure that may mend, the pause."""
        shown, left = False, course.end - self._clock()
        course.tries += 1
        try:
            stream = iterate_with_timeouts(
                self._model.stream(course.request), Timeouts(first=left, gap=left, step=left)
            )
            async with closing_source(stream) as events:
                async for event in events:
                    shown = shown or not isinstance(event, Answer)
                    yield event
            course.done = True
            return
        except ModelError as err:
            pause, why = self._pause(err, course), str(err)
        await self._sleep(pause)
        if shown:
            yield Restarted(why=why)

    def _pause(self, error: ModelError, course: "_RetryState") -> float:
        """Seconds until the next call. Raises the error when there shall be none."""
        course.stalled += isinstance(error, Stalled)
        pause = self._retries.pause(error, course.tries, course.stalled, self._chance())
        if pause is None or self._clock() + pause >= course.end:
            raise error
        if isinstance(error, BadRequest):
            course.request = drop_thinking(course.request)
        return pause

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()


@dataclass(slots=True, kw_only=True)
class _RetryState:
    """How far one step has come."""

    request: Request
    #: By the clock.
    end: float
    #: Calls made.
    tries: int = 0
    #: Those of them that fell silent.
    stalled: int = 0
    done: bool = False


def drop_thinking(request: Request) -> Request:
    """The same request with no thinking in it."""
    messages = (
        replace(message, parts=tuple(part for part in message.parts if not isinstance(part, Thinking)))
        for message in request.messages
    )
    return replace(request, messages=tuple(messages))
