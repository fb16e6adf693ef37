"""No regular expression takes more than in proportion to its text: one that does holds every
conversation.
"""

import os
from collections.abc import Callable, Iterator
from functools import partial
from time import thread_time
from typing import Any

from memory.text.mentions import find_spans
from tests.by_night import by_night
from tests.cases import every_case
from tests.conventions.patterns import USES, Used, every_pattern, hard_texts

TINY, SHORT, MIDDLE, LONG = 100, 1_000, 4_000, 16_000
NOTICED = 0.005  # seconds; what takes less for LONG is no matter
FACTOR = 8.0  # four times the text may take four times as long, and noise
# time(4k) of what is a * n + b * n ** 2 is above this many times time(1k) before time(16k) exceeds
# FACTOR
LINEAR = 4.8
AGAIN = 4
ANYWHERE = ("", "x") if "MNEMA_NIGHT" in os.environ else ("",)
BEFORE = {"findall": ANYWHERE, "search": ANYWHERE, "match": ("",), "fullmatch": ("",)}


@by_night
def test_every_pattern_takes_time_in_proportion_to_its_text() -> None:
    slow = list(dict.fromkeys(fault for used in every_pattern().patterns for fault in faults(used)))
    assert not slow, "\n".join(slow)


def faults(used: Used) -> Iterator[str]:
    for unit in hard_texts(used.pattern):
        for use, before in ((one, before) for one in sorted(used.uses) for before in BEFORE[one]):
            if is_slow(partial(work, used.pattern, use, before, unit)):
                yield f"{used.where} {use} over {before + unit!r}"


def work(pattern: Any, use: str, before: str, unit: str, size: int) -> float:
    """Seconds of this thread over so many characters, which end in one that nothing looks for."""
    return timed(USES[use], pattern, f"{before}{unit * (size // len(unit) + 1)}\0")


def is_slow(took: Callable[[int], float]) -> bool:
    """Whether four times the text takes more than eight times as long, each time it is tried."""
    if (
        least(took, TINY, NOTICED) > NOTICED
        or (short := least(took, SHORT, 10 * NOTICED)) > 10 * NOTICED
    ):
        return True
    if short < NOTICED / 256 or (middle := took(MIDDLE)) < NOTICED / 16:
        return False
    if middle < LINEAR * min(short, took(SHORT)):
        return False
    for _ in range(AGAIN):
        middle = min(took(MIDDLE) for _ in range(3))
        if middle > 0.5:
            return True
        long = took(LONG)
        if long < NOTICED or long < FACTOR * middle:
            return False
    return True


def least(took: Callable[[int], float], size: int, enough: float) -> float:
    """The first of a few times that is enough, else the least of them: a busy machine makes some of
    them long.
    """
    found = took(size)
    for _ in range(AGAIN):
        if found <= enough:
            break
        found = min(found, took(size))
    return found


AT_RUNTIME = {
    "bot/tools/workspace/search.py:_compile": (
        "the model's, stopped by a timeout; see tests of the search"
    ),
    "bot/telemetry/log.py:learn": "secrets, each as it stands",
    "memory/text/numbers.py:_unit_kind": "a unit that was found, of a few characters",
    "memory/workspace/daily_log.py:mark_section": "a fold's id, as it stands",
    "memory/text/mentions.py:_query_pattern": (
        "words with bounded gaps between them; see the test below"
    ),
    "memory/text/patterns.py:compiled": "kept in the constants of the modules that use it",
    "memory/text/tokenizer.py:_name_patterns": "a name, as it stands",
}


def test_every_pattern_can_be_tried() -> None:
    """One made of what is only known at run time is listed with what it is made of."""
    assert every_pattern().at_runtime == set(AT_RUNTIME)


@every_case("query", ["x", "x x", "中 x", "- x -", "x" * 500])
def test_what_is_looked_for_in_order_to_forget_it_takes_time_in_proportion_to_the_text(
    query: str,
) -> None:
    units = ("x", "x ", " ", "中", "中 ", "- ", "\n", "x-", "\u0301")
    slow = [unit for unit in units if is_slow(partial(look_for, query, unit))]
    assert not slow


def look_for(query: str, unit: str, size: int) -> float:
    return timed(find_spans, unit * (size // len(unit)), query)


def timed(function: Callable[..., object], *args: object) -> float:
    begun = thread_time()
    function(*args)
    return thread_time() - begun
