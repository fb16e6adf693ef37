"""A command of the program in a fork of this process, which has imported it, with a terminal or a
socket as its input and output.

It is spared the second in which a start imports the program; `tests/bot/cli/test_main.py` starts it
cold.
"""

import asyncio
import fcntl
import os
import pty
import signal
import socket
import sys
import termios
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from multiprocessing import get_context
from typing import NoReturn

from bot.cli.main import main

SECONDS = 30.0
PIECE_BYTES = 65_536


class ForkedCommand:
    """A command, with what it has shown and what is typed for it."""

    def __init__(
        self, words: tuple[str, ...], environment: Mapping[str, str], ours: int, theirs: int
    ) -> None:
        self._handle = ours
        self._process = get_context("fork").Process(
            target=_run, args=(words, environment, ours, theirs)
        )
        self._process.start()

    @property
    def has_ended(self) -> bool:
        return not self._process.is_alive()

    async def read(self) -> str:
        """The next piece of what it writes; "" at the end."""
        try:
            piece = await asyncio.to_thread(os.read, self._handle, PIECE_BYTES)
        except OSError:  # the other side of the terminal is closed
            return ""
        return piece.decode("utf-8", "replace")

    def write(self, text: str) -> None:
        """Type this."""
        os.write(self._handle, text.encode())

    async def end(self, seconds: float = SECONDS) -> int:
        """Wait for the end, and return the exit code.

        Raises:
            TimeoutError: it has not ended by then.
        """
        await asyncio.to_thread(self._process.join, seconds)
        if self._process.exitcode is None:
            raise TimeoutError
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        assert self._process.pid
        os.kill(self._process.pid, number)

    def kill(self) -> None:
        self._process.kill()
        self._process.join()


@asynccontextmanager
async def forked_command(
    *words: str, environment: Mapping[str, str], has_terminal: bool = False
) -> AsyncIterator[ForkedCommand]:
    """Run `mnema` with these words; what is still running at the end is killed."""
    if has_terminal:
        ours, theirs = pty.openpty()
    else:
        ours, theirs = (end.detach() for end in socket.socketpair())
    command = ForkedCommand(words, environment, ours, theirs)
    os.close(theirs)
    try:
        yield command
    finally:
        command.kill()
        os.close(ours)


def _run(
    words: tuple[str, ...], environment: Mapping[str, str], ours: int, theirs: int
) -> NoReturn:
    """The fork: what a started program has, then the program."""
    os.close(ours)
    os.setsid()
    if os.isatty(theirs):
        fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)
    for number in range(3):
        os.dup2(theirs, number)
    os.close(theirs)
    os.environ.clear()
    os.environ.update(environment)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, encoding="utf-8", closefd=False)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored, as after `&`
    sys.exit(main(list(words)))
