"""Kills the parent process if it does not end in time after a signal; see `ShutdownDeadline` in
`process.py`.

Runs as a script without site-packages, so that it takes 5 MB and shares nothing with the parent.
Arguments: the parent's process id and the seconds. Its stdin is the pipe that signal numbers come
through.
"""

import os
import select
import signal
import sys
import time

SIGNALS = {signal.SIGTERM, signal.SIGINT}
PIPE_DESCRIPTOR = 0
MAX_DESCRIPTORS = 65_536


def watch(parent: int, seconds: float) -> None:
    """Wait for a signal number from the parent, then kill it unless it ends in time, which closes
    the pipe.
    """
    for number in (*SIGNALS, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    os.closerange(3, MAX_DESCRIPTORS)  # inherited from whatever started the parent
    while not SIGNALS & {*(numbers := os.read(PIPE_DESCRIPTOR, 64))}:
        if not numbers:
            return
    end = time.monotonic() + seconds
    poll = select.poll()
    poll.register(PIPE_DESCRIPTOR, select.POLLIN)
    while (left := end - time.monotonic()) > 0:
        if poll.poll(left * 1000) and not os.read(PIPE_DESCRIPTOR, 64):
            return
    if os.getppid() == parent:
        os.kill(parent, signal.SIGKILL)


if __name__ == "__main__":
    watch(int(sys.argv[1]), float(sys.argv[2]))
