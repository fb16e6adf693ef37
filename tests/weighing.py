"""How much memory a piece of work takes."""

import tracemalloc
from collections.abc import Callable


def peak(work: Callable[[], object]) -> int:
    """The most bytes that Python's objects took while it was done, beside what was there before."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
