"""How the work grows with the text: by CPU time and as a ratio, so that a busy machine decides
nothing.
"""

import math
import time
from collections.abc import Callable

LEAST = 0.0005  # seconds; below that a clock is read, not the work
# the least ratio counts: a neighbour on the core makes one larger, and none smaller for long
ROUNDS = 3


def cpu(work: Callable[[str], object], text: str) -> float:
    """CPU seconds of this process, the least of several tries."""
    tries = []
    for _ in range(5):
        began = time.process_time()
        work(text)
        tries.append(time.process_time() - began)
    return min(tries)


def growth(
    work: Callable[[str], object], unit: str, size: int, end: str = "", *, bound: float
) -> float:
    """How many times as long four times the text takes: about 4 where the work is linear, 16 where
    it is quadratic.

    Args:
        size: characters of the shorter text, made of `unit`; both have `end` at their end.
        bound: a ratio below it is enough, and no other round is made.
    """
    short, long = (unit * (signs // len(unit)) + end for signs in (size, 4 * size))
    least = math.inf
    for _ in range(ROUNDS):
        least = min(least, cpu(work, long) / max(cpu(work, short), LEAST))
        if least < bound:
            break
    return least
