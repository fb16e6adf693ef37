"""Ends this process in a bounded time after SIGTERM or Ctrl-C, whatever its threads do.

Two timers start when the signal arrives. The first is a thread of this process: it ends it with exit code 75. While
another thread holds the interpreter lock in C code (a regular expression, say), no thread of this process runs any
Python, neither the signal's handler. The second timer therefore is a small child process. It learns of the signal from
the C part of the signal handling, which writes the number to the wake-up descriptor at once, and it sends SIGKILL.
"""

import _thread
import asyncio
import os
import signal
import sys
import time
from pathlib import Path
from types import FrameType

import structlog

log = structlog.get_logger(__name__)
OVERDUE_EXIT = 75  # exit code, as of a process that lost its lease
AHEAD_SECONDS = 2.0  # the thread comes first: its exit code and its log line say more than SIGKILL
SIGNALS = (signal.SIGTERM, signal.SIGINT)
WATCHER = Path(__file__).with_name("shutdown_watcher.py")


class ShutdownDeadline:
    """The two timers of one process."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._pipe = _start_watcher(seconds)

    def received(self) -> asyncio.Event:
        """Handle SIGTERM and SIGINT from now on; returns the event that the first of them sets.

        A second signal ends the process as usual.
        """
        event, loop = asyncio.Event(), asyncio.get_running_loop()

        def handle(_: int, __: FrameType | None) -> None:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            # threading.Thread takes locks that the interrupted code may hold
            _thread.start_new_thread(_exit_after, (max(self._seconds - AHEAD_SECONDS, self._seconds / 2),))
            loop.call_soon_threadsafe(event.set)

        for number in SIGNALS:
            signal.signal(number, handle)
        if self._pipe is not None:
            signal.set_wakeup_fd(self._pipe, warn_on_full_buffer=False)
        return event


def _exit_after(seconds: float) -> None:
    time.sleep(seconds)
    log.error("this process was told to end and has not: it is ended now", seconds=seconds)
    os._exit(OVERDUE_EXIT)


def _start_watcher(seconds: float) -> int | None:
    """Start the watcher; returns the descriptor that it reads signal numbers from, None where no process can start."""
    reading, writing = os.pipe()
    command = [sys.executable, "-I", "-S", str(WATCHER), str(os.getpid()), str(seconds)]
    actions: list[tuple[object, ...]] = [(os.POSIX_SPAWN_DUP2, reading, 0)]
    actions += [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
    try:
        # a process group of its own: Ctrl-C in a terminal is for the bot alone
        os.posix_spawn(sys.executable, command, os.environ, file_actions=actions, setpgroup=0)
    except OSError:
        os.close(writing)
        return None
    finally:
        os.close(reading)
    os.set_blocking(writing, False)
    return writing
