"""Suites that every channel, model client, store and index has to pass."""

from pathlib import Path

import pytest

pytest.register_assert_rewrite(
    *(f"{__name__}.{path.stem}" for path in Path(__file__).parent.glob("[!_]*.py"))
)
