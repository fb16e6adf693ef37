"""One heap for all threads of this process, so that what one of them gives back another can use."""

import ctypes
import sys

ARENAS = -8
"""M_ARENA_MAX of mallopt. Source: malloc.h of the GNU C library."""


def share_heap() -> bool:
    """Ask the C library for one arena; True where it was asked and agreed. Call it before there are threads.

    By itself the GNU C library gives each thread an arena of its own, eight a core at most. Work goes from thread to
    thread here, so each arena grew to the largest piece of work it ever had: an hour of chat ended with 381 MB.
    """
    if sys.platform != "linux":
        return False
    try:
        return bool(ctypes.CDLL("libc.so.6").mallopt(ARENAS, 1))
    except (OSError, AttributeError):  # another C library, whose threads share a heap anyway
        return False
