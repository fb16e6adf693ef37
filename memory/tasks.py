"""Ending tasks that may not hear it the first time."""

import asyncio
from collections.abc import Iterable
from typing import Any

import structlog

log = structlog.get_logger(__name__)
RECANCEL_SECONDS = 2.0
MAX_TRIES = 4


async def cancel_and_wait(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel these tasks and wait for their end; one that goes on is told again, and at last left behind.

    Until Python 3.12 `asyncio.wait_for`, by which pools hand out connections, loses a cancellation that comes together
    with what it waits for: a task that works for ever would go on for ever.
    """
    tasks = set(tasks)
    pending = tasks
    for _ in range(MAX_TRIES):
        if not pending:
            break
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=RECANCEL_SECONDS)
    for task in tasks - pending:
        if not task.cancelled():
            task.exception()  # whoever wants to know has a callback of their own
    if pending:
        log.error("tasks do not end", tasks=sorted(task.get_name() for task in pending))
