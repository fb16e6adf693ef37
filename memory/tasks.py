"""Waits for tasks with a limit: for a result, and for tasks that do not react to their
cancellation.
"""

import asyncio
from collections.abc import Awaitable, Iterable
from typing import Any, TypeVar

import structlog

log = structlog.get_logger(__name__)
RECANCEL_SECONDS = 2.0
MAX_TRIES = 4
ResultT = TypeVar("ResultT")


async def wait_for_end(work: Awaitable[ResultT], timeout: float | None) -> asyncio.Future[ResultT]:
    """Wait at most `timeout` seconds, then cancel the work; its future is returned, ended or not.

    None waits until its end. Unlike `asyncio.wait_for`, this does not wait for the end of work that
    ignores its cancellation.
    """
    future = asyncio.ensure_future(work)
    # marks a late error as seen
    future.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
    try:
        await asyncio.wait((future,), timeout=timeout)
    finally:
        future.cancel()
    return future


async def result_or_none(work: Awaitable[ResultT]) -> ResultT | None:
    """The result of the work; None when it fails or is cancelled."""
    future = await wait_for_end(work, timeout=None)
    if future.cancelled() or future.exception() is not None:
        return None
    return future.result()


async def cancel_and_wait(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel these tasks and wait until they end; after a few attempts, log those that still run.

    One attempt is not enough: until Python 3.12, `asyncio.wait_for` (used by connection pools)
    loses a cancellation that arrives together with its result, and a task that loops for good would
    go on.
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
            task.exception()  # marks it as seen; owners that need it have their own callback
    if pending:
        log.error("tasks do not end", tasks=sorted(task.get_name() for task in pending))
