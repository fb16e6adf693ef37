"""The moment at which a part leaves: a channel says it just before the first bytes of a message go out.

What only waits for a connection, a token or its turn has surely not been sent. It is not marked as being sent, so a
process that is killed meanwhile sends it once more without telling anybody that it may be a repeat.
"""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from channels.errors import Rejected

OnLeave = Callable[[], Awaitable[None]]
_ON_LEAVE: ContextVar[OnLeave | None] = ContextVar("leave", default=None)


class PartWithdrawn(Rejected):
    """The part is not to be sent any more: it was dropped while it waited."""


@contextmanager
def report_leaving(leave: OnLeave) -> Iterator[None]:
    """Within this, whatever is sent is the part of which `leave` wants to know that it leaves."""
    before = _ON_LEAVE.set(leave)
    try:
        yield
    finally:
        _ON_LEAVE.reset(before)


@contextmanager
def without_leaving() -> Iterator[None]:
    """Within this, what is sent is seen by nobody (a token, an upload): the part has not left yet."""
    before = _ON_LEAVE.set(None)
    try:
        yield
    finally:
        _ON_LEAVE.reset(before)


async def mark_leaving() -> None:
    """Say that the part leaves now; the second time in one send changes nothing.

    Raises:
        PartWithdrawn: it must not be sent.
    """
    told = _ON_LEAVE.get()
    if told is not None:
        await told()


async def mark_leaving_request(request: Any) -> None:
    """A hook of an HTTP client (httpx, httpx2) for each request: the part leaves when its first bytes do.

    That is after the wait for a place in the pool, and after the connection stands, also the one through a proxy: the
    CONNECT for it is a request of the client's own.
    """
    told = _ON_LEAVE.get()
    if told is None:
        return

    async def trace(event: str, info: Any) -> None:
        if event.endswith("send_request_headers.started") and info["request"].method != b"CONNECT":
            await told()

    request.extensions["trace"] = trace


HTTP_HOOKS = {"request": [mark_leaving_request]}  # as HTTP clients take it
