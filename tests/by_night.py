"""What `make nightly` runs and a change does not: tests that take long, and look at what shorter ones look at, too."""

import os

import pytest

# Marks a test, or one of its parameters (`pytest.param(…, marks=by_night)`).
by_night = pytest.mark.skipif(
    "MNEMA_NIGHT" not in os.environ, reason="a night's work (make nightly); shorter tests look at the same by day"
)


def examples(count: int) -> int:
    """So many examples of a property by night, a third of them by day."""
    return count if "MNEMA_NIGHT" in os.environ else count // 3
