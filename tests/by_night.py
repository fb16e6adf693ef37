"""What `make nightly` runs and a change does not: tests that take long, and look at what shorter ones look at, too."""

import os
from collections.abc import Sequence
from typing import Any

import pytest

# Marks a test, or one of its parameters (`pytest.param(…, marks=by_night)`).
by_night = pytest.mark.skipif(
    "MNEMA_NIGHT" not in os.environ, reason="a night's work (make nightly); shorter tests look at the same by day"
)


def first_by_day(count: int, values: Sequence[Any]) -> list[Any]:
    """All values as parameters of a test, those after the first `count` by night only."""
    return [value if at < count else pytest.param(value, marks=by_night) for at, value in enumerate(values)]


def examples(count: int) -> int:
    """So many examples of a property by night, a third of them by day."""
    return count if "MNEMA_NIGHT" in os.environ else count // 3
