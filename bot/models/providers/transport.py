"""HTTP client and timeouts of model calls."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from bot.errors import ModelError, Stalled

CONNECT_SECONDS = 10.0  # to open a connection; Timeouts limits every other wait
MAX_IDLE_CONNECTIONS = 100  # kept open for the next call; `concurrency` limits the calls that run at once


def create_http_client(proxy: str) -> Any:
    """Create an httpx2.AsyncClient. proxy: URL; "" for the environment's.

    It follows no redirects: a conversation is sent to the configured host only.
    """
    import httpx2

    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=MAX_IDLE_CONNECTIONS),
        verify=_create_ssl_context(),
        proxy=proxy or None,
    )


@cache
def _create_ssl_context() -> Any:
    """Create the TLS context once: reading the certificates takes 20 ms."""
    import httpx2

    return httpx2.create_ssl_context()


Item = TypeVar("Item")
_END: Any = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Longest waits of one call, in seconds: for the first event, between two events, and in all."""

    first: float = 120.0
    gap: float = 90.0
    step: float = 600.0


@asynccontextmanager
async def closing_source(source: AsyncIterator[Item]) -> AsyncGenerator[AsyncIterator[Item]]:
    """Close `source` at the end of the block, so that its connection is released at once."""
    try:
        yield source
    finally:
        if isinstance(source, AsyncGenerator):
            await source.aclose()


async def iterate_with_timeouts(source: AsyncIterator[Item], timeouts: Timeouts) -> AsyncIterator[Item]:
    """Yield the items of `source`; close it when one is late.

    Raises:
        Stalled: a wait was too long; kind says which: "first_byte", "gap" or "step".
    """
    clock = asyncio.get_running_loop().time
    end = clock() + timeouts.step
    wait, kind = timeouts.first, "first_byte"
    async with closing_source(source):
        while True:
            due = clock() + wait
            if end <= due:
                due, kind = end, "step"
            item = await _next_item(source, due, kind)
            if item is _END:
                return
            yield item
            wait, kind = timeouts.gap, "gap"


async def _next_item(source: AsyncIterator[Item], due: float, kind: str) -> Item:
    try:
        async with asyncio.timeout_at(due):
            return await anext(source, _END)
    except TimeoutError as err:
        raise Stalled(f"no word from the model for too long ({kind})", kind=kind) from err


async def drain_response(source: AsyncIterator[Item], seconds: float = 0.5) -> None:
    """Read the rest, for at most `seconds`: only a connection that was read to its end can be reused."""
    with suppress(TimeoutError, ModelError):
        async with asyncio.timeout(seconds):
            async for _ in source:
                pass
