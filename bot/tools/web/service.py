"""The web tools of a bot, built from its settings."""

from collections.abc import Callable, Collection, Sequence

from bot.config.schema import Config
from bot.tools.base import Tool
from bot.tools.web.client import GuardedClient
from bot.tools.web.fetch import HOST_PAUSE_SECONDS, PageCache, WebFetchTool
from bot.tools.web.page_text import PageReader
from bot.tools.web.providers import ANSWER_SECONDS, create_provider
from bot.tools.web.search import SearchProvider, WebSearchTool
from channels.toolkit.http import HttpPool
from memory.workspace.blobs import Blobs


class WebTools:
    """Web pages and web search. `close` ends the child process and the connections.

    Args:
        config: the current settings.
        secrets: the known secrets, which no URL may carry.
        client: reaches the web; built from the settings if left out.
    """

    def __init__(
        self,
        config: Callable[[], Config],
        secrets: Callable[[], Collection[str]],
        blobs: Blobs,
        client: GuardedClient | None = None,
    ) -> None:
        self._config = config
        self._reader = PageReader(blobs)
        self._cache = PageCache(lambda: config().tools.web.cache_mb * 2**20)
        client = client or GuardedClient(allowed=lambda: config().tools.web.allow)
        #: Seconds between two requests to a host.
        self.pause_seconds = HOST_PAUSE_SECONDS
        self._fetch = WebFetchTool(
            client, self._reader, self._cache, secrets, lambda: self.pause_seconds
        )
        self._search = WebSearchTool(self._current_providers, secrets)
        self._pool = HttpPool("", ANSWER_SECONDS)
        self._built: tuple[object, list[SearchProvider]] = ((), [])

    def offered(self) -> list[Tool]:
        """Return the tools that the settings turn on; search only with a provider."""
        web = self._config().tools.web
        tools: list[Tool] = [self._fetch] if web.fetch else []
        return [*tools, self._search] if web.providers else tools

    def forget(self, space: str) -> None:
        """Drop the pages and results kept for a space."""
        self._cache.forget(space)
        self._search.forget(space)

    async def close(self) -> None:
        """End the child process and close all connections."""
        await self._reader.close()
        await self._pool.close()

    def _current_providers(self) -> Sequence[SearchProvider]:
        given = self._config().tools.web.providers
        if self._built[0] != given:
            self._built = (
                given,
                [create_provider(one.name, one.api_key, one.base_url, self._pool) for one in given],
            )
        return self._built[1]
