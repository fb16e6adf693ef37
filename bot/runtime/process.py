"""This process: heap, open files, messages to the service manager, and a deadline for its
shutdown.
"""

import _thread
import asyncio
import codecs
import ctypes
import gc
import os
import signal
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import structlog

log = structlog.get_logger(__name__)

# M_TRIM_THRESHOLD, M_MMAP_THRESHOLD and M_ARENA_MAX of mallopt. Source: malloc.h of the GNU C
# library.
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8
# allocations from this size on are mapped separately and returned to the system when freed
MMAP_BYTES = 128 * 1024
# Objects created and not freed until the garbage collector looks at the youngest; how often it does
# until it looks at those that were left, and at all. Cycles come from the HTTP client: 50 objects
# for each call of Telegram.
YOUNG_OBJECTS, YOUNG_ROUNDS, MIDDLE_ROUNDS = 5_000, 5, 2
TRIM_BYTES = 1024 * 1024  # free bytes at the end of the heap from which they are returned


def use_single_arena() -> bool:
    """Use one malloc arena that returns free memory; call before any thread starts.

    False if not supported.

    By default the GNU C library gives each thread its own arena, up to eight per core. Work moves
    between threads here, so each arena grew to the largest task it ever had: an hour of chat ended
    with 381 MB.

    By default it also raises both thresholds with the largest freed allocation, up to 32 and 64
    MiB. The texts of a daily log, read and written with each fold, then stay in the heap: 20 MiB
    were free but kept after 3,500 messages.
    """
    if sys.platform != "linux":
        return False
    try:
        mallopt = ctypes.CDLL("libc.so.6").mallopt
        return all(
            [
                mallopt(M_ARENA_MAX, 1),
                mallopt(M_MMAP_THRESHOLD, MMAP_BYTES),
                mallopt(M_TRIM_THRESHOLD, TRIM_BYTES),
            ]
        )
    except (OSError, AttributeError):  # another C library, whose threads share one heap anyway
        return False


MAX_DESCRIPTORS = 65_536
CODECS = ("ascii", "latin-1", "utf-8-sig", "utf-16", "utf-16-be", "utf-16-le")
LOG_SECONDS = 10.0  # between two log lines about connections that cannot be accepted
ACCEPT_FAILED = "socket.accept() out of system resource"  # Source: asyncio.selector_events


def raise_descriptor_limit() -> None:
    """Raise the soft limit of open files to the hard limit, at most to `MAX_DESCRIPTORS`."""
    import resource  # not on every system

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = MAX_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MAX_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < limit:
        with suppress(OSError, ValueError):  # some systems have a lower limit of their own
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))


def load_codecs() -> None:
    """Load codecs that Python imports on first use: at the descriptor limit that import would
    fail.
    """
    for name in CODECS:
        codecs.lookup(name)


def start_collecting() -> None:
    """Turn the garbage collector on for what is created from now on; modules and the bot's parts
    are never looked at.

    What importing left is collected once before, .6 MB of it first copies of dataclasses: 90 ms
    after the bot is ready. Later collections are rare: nearly all that a turn creates is freed
    without them, but what many turns at once hold is looked at each time. In 1,000 replies there
    are 28; with 10,000 objects and Python's factors of ten there were 15, and 3 MiB more waited for
    one.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, YOUNG_ROUNDS, MIDDLE_ROUNDS)
    gc.enable()


class AcceptErrorLogger:
    """An event loop's exception handler that logs accept() at the descriptor limit once in ten
    seconds.

    asyncio reports each attempt with a traceback and retries at once: 86,000 reports in half a
    minute were measured.
    """

    def __init__(self) -> None:
        self._logged = float("-inf")
        self._skipped = 0

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Handle what a loop reports."""
        import resource  # not on every system

        if context.get("message") != ACCEPT_FAILED:
            loop.default_exception_handler(context)
            return
        if time.monotonic() - self._logged < LOG_SECONDS:
            self._skipped += 1
            return
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        why = str(context.get("exception", ""))
        log.error(
            "connections cannot be accepted; raise the limit of open files",
            error=why,
            limit=soft,
            left_out=self._skipped,
        )
        self._logged, self._skipped = time.monotonic(), 0


def restart_program() -> NoReturn:
    """Replace this process by a new start of the same command line; the process id stays the
    same.
    """
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 - the command line that started this process


def notify_supervisor(state: str) -> None:
    """Send a state ("READY=1", "STOPPING=1") to the service manager, if one started this process.

    Source: sd_notify(3); the address is a path, or an abstract socket name if it begins with "@".
    """
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    with (
        suppress(OSError),
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as notify_socket,
    ):
        notify_socket.sendto(
            state.encode(), f"\0{address[1:]}" if address.startswith("@") else address
        )


OVERDUE_EXIT = 75  # exit code, the same as that of a process that lost its lease
# the thread's timer ends first: its exit code and its log line say more than SIGKILL
AHEAD_SECONDS = 2.0
SIGNALS = (signal.SIGTERM, signal.SIGINT)
WATCHER = Path(__file__).with_name("shutdown_watcher.py")


class ShutdownDeadline:
    """Ends this process in a bounded time after SIGTERM or Ctrl-C, whatever its threads do.

    Two timers start when the signal arrives. The first is a thread of this process: it ends it with
    exit code 75. While another thread holds the interpreter lock in C code (a regular expression,
    say), no thread of this process runs any Python, neither the signal's handler. The second timer
    therefore is a small child process. It learns of the signal from the C part of the signal
    handling, which writes the number to the wake-up descriptor at once, and it sends SIGKILL.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._pipe = _start_watcher(seconds)

    def received(self) -> asyncio.Event:
        """Handle SIGTERM and SIGINT from now on; return the event that the first of them sets.

        A second signal ends the process as usual.
        """
        event, loop = asyncio.Event(), asyncio.get_running_loop()

        def handle(_: int, __: FrameType | None) -> None:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            # threading.Thread takes locks that the interrupted code may hold
            _thread.start_new_thread(
                _exit_after, (max(self._seconds - AHEAD_SECONDS, self._seconds / 2),)
            )
            loop.call_soon_threadsafe(event.set)

        for number in SIGNALS:
            signal.signal(number, handle)
        if self._pipe is not None:
            signal.set_wakeup_fd(self._pipe, warn_on_full_buffer=False)
        return event


def _exit_after(seconds: float) -> None:
    time.sleep(seconds)
    log.error("shutdown takes too long: the process exits now", seconds=seconds)
    os._exit(OVERDUE_EXIT)


def _start_watcher(seconds: float) -> int | None:
    """Start the watcher; return the descriptor it reads signal numbers from, None if no process can
    be started.
    """
    reading, writing = os.pipe()
    command = [sys.executable, "-I", "-S", str(WATCHER), str(os.getpid()), str(seconds)]
    actions: list[tuple[object, ...]] = [(os.POSIX_SPAWN_DUP2, reading, 0)]
    actions += [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
    try:
        # its own process group: Ctrl-C in a terminal is meant for the bot alone
        os.posix_spawn(sys.executable, command, os.environ, file_actions=actions, setpgroup=0)
    except OSError:
        os.close(writing)
        return None
    finally:
        os.close(reading)
    os.set_blocking(writing, False)
    return writing
