"""Report the moment a part leaves: just before the first bytes of its message are sent.

A part that waits for a connection, a token or a rate limit has certainly not been sent. It is not yet marked as
sending, so after a crash it is sent without the mark of a possible repeat.
"""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from channels.errors import Rejected

OnLeave = Callable[[], Awaitable[None]]
_ON_LEAVE: ContextVar[OnLeave | None] = ContextVar("leave", default=None)


class PartWithdrawn(Rejected):
    """The part was dropped while it waited, and must not be sent."""


@contextmanager
def report_leaving(leave: OnLeave) -> Iterator[None]:
    """Call `leave` when a message leaves within this context."""
    before = _ON_LEAVE.set(leave)
    try:
        yield
    finally:
        _ON_LEAVE.reset(before)


@contextmanager
def without_leaving() -> Iterator[None]:
    """Do not report requests within this context (a token, an upload): they do not show the part to anyone."""
    before = _ON_LEAVE.set(None)
    try:
        yield
    finally:
        _ON_LEAVE.reset(before)


async def mark_leaving() -> None:
    """Report that the part leaves now; repeated reports in one send change nothing.

    Raises:
        PartWithdrawn: it must not be sent.
    """
    leave = _ON_LEAVE.get()
    if leave is not None:
        await leave()


async def mark_leaving_request(request: Any) -> None:
    """Request hook of an HTTP client (httpx, httpx2): report the part when the first bytes of the request leave.

    That is after the wait for the pool and after the connection is established, including one through a proxy: its
    CONNECT is a request of the client's own.
    """
    leave = _ON_LEAVE.get()
    if leave is None:
        return

    async def trace(event: str, info: Any) -> None:
        if event.endswith("send_request_headers.started") and info["request"].method != b"CONNECT":
            await leave()

    request.extensions["trace"] = trace


HTTP_HOOKS = {"request": [mark_leaving_request]}  # `event_hooks` of an HTTP client
