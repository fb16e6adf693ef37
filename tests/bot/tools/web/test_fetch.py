"""How often a host is asked, and which pages are kept: the tool with its own cache, against a real
server.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.errors import ToolFailed
from bot.tools.base import ToolContext, VisibleWords
from bot.tools.web.client import GuardedClient
from bot.tools.web.fetch import HOST_PAUSE_SECONDS, PageCache, WebFetchArguments, WebFetchTool
from bot.tools.web.page_text import PageReader
from memory.workspace.blobs import Blobs
from tests.emulators.pages import PageServer, serving


async def nothing_visible() -> VisibleWords:
    return VisibleWords(tainted=False)


CONTEXT = ToolContext(
    conversation="c",
    space="",
    now=lambda: datetime.now(UTC),
    idem_key="k",
    load_visible=nothing_visible,
)


class Fetching:
    """The tool at a server, with a clock that stands still."""

    def __init__(self, pages: PageServer, reader: PageReader, pause: float) -> None:
        client = GuardedClient(allowed=lambda: (pages.pair,), total_seconds=5.0)
        self.pages, self.now = pages, 0.0
        self._tool = WebFetchTool(
            client, reader, PageCache(lambda: 10**6, self.clock), tuple, lambda: pause, self.clock
        )

    def clock(self) -> float:
        return self.now

    async def open(self, path: str) -> None:
        await self._tool.run(WebFetchArguments(url=self.pages.url(path)), CONTEXT)


@asynccontextmanager
async def fetching(folder: Path, pause: float) -> AsyncIterator[Fetching]:
    reader = PageReader(Blobs(folder))
    async with serving() as pages:
        yield Fetching(pages, reader, pause)
    await reader.close()


async def test_a_host_is_asked_again_after_a_pause(tmp_path: Path) -> None:
    assert HOST_PAUSE_SECONDS == 1.0
    async with fetching(tmp_path, pause=6.0) as it:
        it.pages.page("/", "one", kind="text/plain")
        await it.open("/")
        with pytest.raises(ToolFailed, match="waited for"):  # rather than for six seconds
            await it.open("/?2")
        it.now = 12.0
        await it.open("/?3")
        assert [seen.target for seen in it.pages.seen] == ["/", "/?3"]


async def test_a_page_whose_server_forbids_it_is_not_kept(tmp_path: Path) -> None:
    async with fetching(tmp_path, pause=0.0) as it:
        it.pages.page("/", "one", kind="text/plain")
        it.pages.page("/secret", "two", kind="text/plain", Cache_Control="private, No-Store")
        for path in ("/", "/", "/secret", "/secret"):
            await it.open(path)
        assert [seen.target for seen in it.pages.seen] == ["/", "/secret", "/secret"]
