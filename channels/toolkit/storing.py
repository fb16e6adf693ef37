"""Retry until messages are stored: only then may a channel acknowledge them."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog

log = structlog.get_logger(__name__)
T = TypeVar("T")
MIN_PAUSE = 0.25
MAX_PAUSE = 30.0


async def store_with_retry(
    store: Callable[[], Awaitable[T]],
    channel: str,
    *,
    on_trouble: Callable[[str], None] = lambda trouble: None,
    shortest: float = MIN_PAUSE,
    longest: float = MAX_PAUSE,
) -> T:
    """Retry until stored or cancelled, with growing pauses (seconds).

    Args:
        store: one attempt; raises OSError or RuntimeError if nothing was stored, as `Deliver` does.
        on_trouble: called after each attempt with what is wrong, "" for success.
    """
    pause = shortest
    while True:
        try:
            stored = await store()
            on_trouble("")
            return stored
        except (OSError, RuntimeError) as err:
            on_trouble(f"messages are not stored: {type(err).__name__}")
            log.warning("messages not stored", channel=channel, error=f"{type(err).__name__}: {err}")
        await asyncio.sleep(pause)
        pause = min(2 * pause, longest)
