"""What `make nightly` runs and a change does not: tests that take long, and look at what shorter
ones look at, too.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

IS_NIGHT = "MNEMA_NIGHT" in os.environ
# Modules that are not even imported by day, unless they are named: they judge a server of the
# tests, no code of ours, and import aiogram, which takes a third as long as all other modules.
JUDGES = ("emulators/test_telegram_emulator.py", "emulators/test_telegram_markup.py")

# Marks a test, or one of its parameters (`pytest.param(…, marks=by_night)`).
by_night = pytest.mark.skipif(
    "MNEMA_NIGHT" not in os.environ,
    reason="a night's work (make nightly); shorter tests look at the same by day",
)


def first_by_day(count: int, values: Sequence[Any]) -> list[Any]:
    """All values as parameters of a test, those after the first `count` by night only.

    A tuple is the values of several parameters.
    """
    by_day, others = values[:count], values[count:]
    several = [value if isinstance(value, tuple) else (value,) for value in others]
    return [*by_day, *(pytest.param(*value, marks=by_night) for value in several)]


def examples(count: int) -> int:
    """So many examples of a property by night, a third of them by day."""
    return count if IS_NIGHT else count // 3


def is_left_out(file: Path) -> bool:
    """Whether a test module is not collected now."""
    return (
        not IS_NIGHT
        and file.is_relative_to(_TESTS)
        and file.relative_to(_TESTS).as_posix() in JUDGES
    )


_TESTS = Path(__file__).resolve().parent
