"""File descriptors of this process: as many as the system allows, and few words where they run out."""

import asyncio
import codecs
import resource
import time
from collections.abc import Callable
from typing import Any

import structlog

log = structlog.get_logger(__name__)
MAX_DESCRIPTORS = 65_536
CODECS = ("ascii", "latin-1", "utf-8-sig", "utf-16", "utf-16-be", "utf-16-le")
LOG_SECONDS = 10.0  # between two log lines about connections that cannot be accepted
ACCEPT_FAILED = "socket.accept() out of system resource"  # Source: asyncio.selector_events


def raise_limit(most: int = MAX_DESCRIPTORS) -> int:
    """Raise the soft limit of descriptors to the hard one, `most` at most; returns what holds now."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = most if hard == resource.RLIM_INFINITY else min(hard, most)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return soft
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    except (OSError, ValueError):  # some systems have a lower bound of their own
        return soft
    return wanted


def load_codecs() -> None:
    """Load what Python imports when a text is first written in it: at the limit no message could be taken."""
    for name in CODECS:
        codecs.lookup(name)


class AcceptErrorLogger:
    """An exception handler for event loops that logs accept() at the descriptor limit once in ten seconds.

    asyncio reports each try with a traceback, and tries again at once: 86,000 of them in half a minute were measured.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._logged = float("-inf")
        self._left_out = 0

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Handle what a loop reports."""
        if context.get("message") != ACCEPT_FAILED:
            loop.default_exception_handler(context)
            return
        if self._clock() - self._logged < LOG_SECONDS:
            self._left_out += 1
            return
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        why = str(context.get("exception", ""))
        log.error("connections cannot be accepted; raise the limit of open files", error=why, limit=soft,
                  left_out=self._left_out)  # fmt: skip
        self._logged, self._left_out = self._clock(), 0
