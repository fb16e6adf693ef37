"""The HTTP client both model wires speak over."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from bot.errors import ModelError, Stalled

CONNECT_SECONDS = 10.0  # seconds to open a connection; every other wait is held to by Patience
# Connections that stay open for the next call; how many calls go on at once is for `concurrency` to say.
MAX_IDLE_CONNECTIONS = 100


def create_http_client(proxy: str) -> Any:
    """A new httpx2.AsyncClient. proxy: its URL, and then the only one; "" for what the environment says.

    It follows no redirects: a conversation goes to the host that was named, or nowhere.
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
    """The certificates to go by, read once: it takes 20 ms."""
    import httpx2

    return httpx2.create_ssl_context()


# How long a model may keep us waiting, and the iterators that hold it to that.

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
    """`source`, and its end at the end of the block, so that what it holds open is let go at once."""
    try:
        yield source
    finally:
        if isinstance(source, AsyncGenerator):
            await source.aclose()


async def iterate_with_timeouts(source: AsyncIterator[Item], patience: Timeouts) -> AsyncIterator[Item]:
    """The items of `source`, which is closed when one is late.

    Raises:
        Stalled: one of the waits was too long; kind says which: "first_byte", "gap" or "step".
    """
    clock = asyncio.get_running_loop().time
    end = clock() + patience.step
    wait, kind = patience.first, "first_byte"
    async with closing_source(source):
        while True:
            due = clock() + wait
            if end <= due:
                due, kind = end, "step"
            item = await _next_item(source, due, kind)
            if item is _END:
                return
            yield item
            wait, kind = patience.gap, "gap"


async def _next_item(source: AsyncIterator[Item], due: float, kind: str) -> Item:
    try:
        async with asyncio.timeout_at(due):
            return await anext(source, _END)
    except TimeoutError as err:
        raise Stalled(f"no word from the model for too long ({kind})", kind=kind) from err


async def drain_response(source: AsyncIterator[Item], seconds: float = 0.5) -> None:
    """Read what is left, not longer than that: only a connection whose end was read can be used again."""
    with suppress(TimeoutError, ModelError):
        async with asyncio.timeout(seconds):
            async for _ in source:
                pass
