"""One Chromium for all browser tests of a process, for it takes two seconds to start; one site for
each.
"""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
from playwright.async_api import Browser, async_playwright, expect

from tests.browser.opening import ARGS, CHROMIUM
from tests.browser.scripted import page_bot
from tests.channels.web.server import Running

expect.set_options(timeout=30_000)  # milliseconds: the patience of a busy machine


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="session")
async def site(tmp_path: Path) -> AsyncIterator[Running]:
    root = tmp_path / "workspace"
    (root / "memory").mkdir(parents=True)
    (root / "MEMORY.md").write_text("# Memory\n\n- likes green tea\n")
    (root / "memory" / "2026-11-20.md").write_text(
        "## 09:12 · web · turns 1–10\n- 09:01 Ann: hello\n"
    )
    async with page_bot(root) as up:
        yield up
