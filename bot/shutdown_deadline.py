"""Ends this process in a bounded time after SIGTERM or Ctrl-C, whatever its threads do.

Two timers start when the signal arrives. The first is a thread of this process: it ends it with exit code 75. While
another thread holds the interpreter lock in C code (a regular expression, say), no thread of this process runs any
Python, neither the signal's handler. The second timer therefore is a small child process. It learns of the signal from
the C part of the signal handling, which writes the number to the wake-up descriptor at once, and it sends SIGKILL.
"""

import _thread
import asyncio
import os
import select
import signal
import time
from types import FrameType

import structlog

log = structlog.get_logger(__name__)
OVERDUE = 75  # exit code, as of a process that lost its lease
AHEAD_SECONDS = 2.0  # the thread comes first: its exit code and its log line say more than SIGKILL
SIGNALS = (signal.SIGTERM, signal.SIGINT)
MOST_DESCRIPTORS = 1 << 20


class ShutdownDeadline:
    """The two timers of one process.

    Create it before any thread and before a lock file is opened: the child is a fork.
    """

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
    os._exit(OVERDUE)


def _start_watcher(seconds: float) -> int | None:
    """Fork the watcher; returns the descriptor that it reads signal numbers from, None where no process can start."""
    reading, writing = os.pipe()
    parent = os.getpid()
    try:
        child = os.fork()
    except OSError:
        os.close(reading)
        os.close(writing)
        return None
    if child == 0:
        try:
            _watch(reading, parent, seconds)
        finally:
            os._exit(0)
    os.close(reading)
    os.set_blocking(writing, False)
    return writing


def _watch(reading: int, parent: int, seconds: float) -> None:
    """Wait for a signal number from the parent, then kill it unless it ends in time. Its end closes the pipe."""
    for number in (*SIGNALS, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    os.closerange(0, reading)
    os.closerange(reading + 1, MOST_DESCRIPTORS)
    while not {*SIGNALS} & {*(numbers := os.read(reading, 64))}:
        if not numbers:
            return
    end = time.monotonic() + seconds
    poll = select.poll()
    poll.register(reading, select.POLLIN)
    while (left := end - time.monotonic()) > 0:
        if poll.poll(left * 1000) and not os.read(reading, 64):
            return
    if os.getppid() == parent:
        os.kill(parent, signal.SIGKILL)
