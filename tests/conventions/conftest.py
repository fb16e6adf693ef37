"""Garbage collection is off while all files of the repository are parsed and walked through."""

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="package", autouse=True)
def _without_collection() -> Iterator[None]:
    """The trees stay until the end, and the collector would walk through them again and again:
    parsing would take four times as long.
    """
    gc.disable()
    yield
    gc.freeze()
    gc.enable()
