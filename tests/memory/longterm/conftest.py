"""A home for each test of long-term memory."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.memory.longterm.remembering import Place, settled


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    held = await settled(tmp_path)
    yield held
    await held.store.close()
