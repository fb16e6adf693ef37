"""Named points where a test can kill, block or break the process; inactive unless set in the
environment.
"""

import asyncio
import errno
import itertools
import os
import signal
import time
from collections import Counter

_ACTIONS: dict[str, list[tuple[int, str, str]]] = {}
_HITS: Counter[str] = Counter()


class FailpointError(RuntimeError):
    """Raised by the action `raise`."""


def arm(environ: dict[str, str]) -> bool:
    """Read MNEMA_FP=name[@nth]:action[:arg],… when MNEMA_TEST=1.

    Returns:
        False when MNEMA_FP is set without MNEMA_TEST=1; it is ignored then.
    """
    _ACTIONS.clear()
    _HITS.clear()
    armed = environ.get("MNEMA_FP", "")
    if environ.get("MNEMA_TEST") != "1":
        return not armed
    for item in filter(None, armed.split(",")):
        point, action, *arg = item.split(":")
        name, _, nth = point.partition("@")
        _ACTIONS.setdefault(name, []).append((int(nth or 1), action, arg[0] if arg else ""))
    return True


def is_armed(name: str) -> bool:
    """Return whether anything may happen at this point."""
    return name in _ACTIONS


def hit(name: str) -> None:
    """Pass a failpoint in synchronous code; `hang` blocks the thread."""
    for action, arg in _due_actions(name):
        _perform(name, action, arg)
        _block(action, arg)


async def hit_async(name: str) -> None:
    """Pass a failpoint in a coroutine; `hang` and `sleep` do not block an event loop, but a thread
    without one.
    """
    for action, arg in _due_actions(name):
        _perform(name, action, arg)
        if not _has_running_loop():
            _block(action, arg)
        elif action == "hang":
            await asyncio.Event().wait()
        elif action == "sleep":
            await asyncio.sleep(float(arg))


def _block(action: str, arg: str) -> None:
    """Stop this thread for `hang` and `sleep`."""
    if action == "hang":
        time.sleep(86_400)
    if action == "sleep":
        time.sleep(float(arg))


def is_torn(name: str) -> bool:
    """Return whether the write at this point should stop half-way; the caller writes half and calls
    `kill_process`.

    Counted apart from `hit`, so that one name can mark both a write and the moment after it.
    """
    return any(action == "torn" for action, _ in _due_actions(name, counter=f"{name} torn"))


def kill_process() -> None:
    """End this process at once, as SIGKILL would."""
    os.kill(os.getpid(), signal.SIGKILL)


def _has_running_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _due_actions(name: str, counter: str = "") -> list[tuple[str, str]]:
    if not _ACTIONS:
        return []
    counter = counter or name
    _HITS[counter] += 1
    return [(action, arg) for nth, action, arg in _ACTIONS.get(name, []) if nth == _HITS[counter]]


def _perform(name: str, action: str, arg: str) -> None:
    if action == "kill9":
        kill_process()
    if action == "raise":
        raise FailpointError(f"failpoint {name} {arg}".strip())
    if action == "grip":
        sum(itertools.repeat(0))  # endless, in C: no thread of this process runs Python any more
    if action in ("enospc", "eio"):
        code = errno.ENOSPC if action == "enospc" else errno.EIO
        raise OSError(code, os.strerror(code), name)
