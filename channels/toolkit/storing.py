"""Storing forever: what is not stored is not confirmed, and what is not confirmed may be lost."""

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
    told: Callable[[str], None] = lambda trouble: None,
    shortest: float = MIN_PAUSE,
    longest: float = MAX_PAUSE,
) -> T:
    """Store, with growing pauses (seconds) between the tries; only cancelling ends it.

    Args:
        store: one try; raises OSError or RuntimeError when nothing was stored, as `Deliver` does.
        told: what is wrong after each try, "" once nothing is.
    """
    pause = shortest
    while True:
        try:
            stored = await store()
            told("")
            return stored
        except (OSError, RuntimeError) as err:
            told(f"messages are not stored: {type(err).__name__}")
            log.warning("messages not stored", channel=channel, error=f"{type(err).__name__}: {err}")
        await asyncio.sleep(pause)
        pause = min(2 * pause, longest)
