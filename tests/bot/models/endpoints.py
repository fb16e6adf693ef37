"""Model servers that do as they are told, in the clock of their loop."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from typing import Literal

from bot.errors import (
    Damaged,
    KeyRefused,
    ModelError,
    NoSuchModel,
    QuotaSpent,
    RateLimited,
    Transient,
)
from bot.models.base import Answer, ModelEvent, Request, TextDelta, TokensUsed
from bot.models.providers.transport import TimedStream, Timeouts
from memory.conversation import Text

Mood = Literal[
    "well", "slow", "refuse", "unknown", "spent", "fail", "limit", "hang", "break", "damage"
]
SLOW = 45.0  # seconds to the first event
REFUSALS: dict[Mood, type[ModelError]] = {
    "refuse": KeyRefused,
    "unknown": NoSuchModel,
    "spent": QuotaSpent,
    "fail": Transient,
    "limit": RateLimited,
}


class Endpoint:
    """A server, and its provider's client with the time limits of one.

    calls, failed: by conversation. running: calls under way.
    """

    def __init__(self, name: str, mood: Mood = "well") -> None:
        self.name, self.mood = name, mood
        self.calls, self.failed = Counter[str](), Counter[str]()
        self.running = 0

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        """See ModelClient."""
        self.calls[request.conversation] += 1
        self.running += 1
        try:
            async with TimedStream(self._events(request), Timeouts()) as events:
                async for event in events:
                    yield event
        except ModelError:
            self.failed[request.conversation] += 1
            raise
        finally:
            self.running -= 1

    async def _events(self, request: Request) -> AsyncIterator[ModelEvent]:
        mood = self.mood
        if mood in REFUSALS:
            raise REFUSALS[mood](f"{self.name} does {mood}")
        await asyncio.sleep({"hang": 1e6, "slow": SLOW}.get(mood, 0.1))
        yield TextDelta(text=self.name)
        await asyncio.sleep(0.5)
        if mood == "damage":
            raise Damaged(f"{self.name} sends no JSON")
        if mood == "break":
            raise Transient(f"{self.name} was cut off", kind="connection")
        yield Answer(
            parts=(Text(text=self.name),), stop="end", usage=TokensUsed(), model=request.model
        )

    async def close(self) -> None:
        """Nothing is open."""
