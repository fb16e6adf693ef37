"""Has something done in a process that a test kills: a fork of this one, so that it has imported
what it needs.
"""

import asyncio
from collections.abc import Callable, Coroutine
from multiprocessing import get_context
from typing import Any

from memory.failpoints import arm


async def exit_code(
    work: Callable[..., Coroutine[Any, Any, object]], *arguments: object, failpoint: str = ""
) -> int | None:
    """The exit code of a process that does this; negative for the number of a signal.

    failpoint: armed there when the work begins, as in MNEMA_FP.
    """
    process = get_context("fork").Process(target=_run, args=(work, arguments, failpoint))
    process.start()
    await asyncio.to_thread(process.join)
    return process.exitcode


def _run(
    work: Callable[..., Coroutine[Any, Any, object]], arguments: tuple[object, ...], failpoint: str
) -> None:
    arm({"MNEMA_TEST": "1", "MNEMA_FP": failpoint} if failpoint else {})
    asyncio.run(work(*arguments))
