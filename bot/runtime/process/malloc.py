"""One heap for all threads of this process, which gives back to the system what was used for a moment."""

import ctypes
import sys

# M_TRIM_THRESHOLD, M_MMAP_THRESHOLD and M_ARENA_MAX of mallopt. Source: malloc.h of the GNU C library.
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8
MMAP_BYTES = 128 * 1024  # bytes from which a piece is mapped by itself, and goes back to the system when it is freed
TRIM_BYTES = 1024 * 1024  # free bytes at the end of the heap from which they go back


def use_single_arena() -> bool:
    """Ask the C library for one arena that gives back; True where it was asked and agreed. Call it before any thread.

    By itself the GNU C library gives each thread an arena of its own, eight a core at most. Work goes from thread to
    thread here, so each arena grew to the largest piece of work it ever had: an hour of chat ended with 381 MB.

    By itself it also raises both thresholds with the largest piece that was ever freed, to 32 and 64 MiB: the texts of
    a day's log, which is read and written with each fold, then lie in the heap among what stays. The heap grew with the
    log and kept what it had: 20 MiB of it were free after 3,500 messages.
    """
    if sys.platform != "linux":
        return False
    try:
        ask = ctypes.CDLL("libc.so.6").mallopt
        return all([ask(M_ARENA_MAX, 1), ask(M_MMAP_THRESHOLD, MMAP_BYTES), ask(M_TRIM_THRESHOLD, TRIM_BYTES)])
    except (OSError, AttributeError):  # another C library, whose threads share a heap anyway
        return False
