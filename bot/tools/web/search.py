"""The tool that searches the web, through the providers that the owner configured."""

import json
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from pydantic import Field

from bot.errors import ToolFailed
from bot.tools.base import LazyToolSpec, ToolArguments, ToolContext
from bot.tools.web.addresses import WebError, parse_url
from bot.tools.web.fetch import check_leak
from bot.tools.web.page_worker import clean
from channels.phrases import AnyPhrase

MAX_HITS = 10
MAX_SNIPPET_CHARS = 600
KEPT_SECONDS = 600.0
MAX_KEPT = 500  # answers, of all spaces
Since = Literal["", "day", "week", "month", "year"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchQuery:
    """What to search for."""

    words: str
    count: int
    #: Only pages of the last day, week, month or year; "" for any.
    since: Since = ""
    #: Only pages of this host; "" for any.
    site: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebHit:
    """One page that was found."""

    title: str
    url: str
    snippet: str
    #: As the provider gives it; "" for none.
    date: str = ""


class SearchFailed(Exception):
    """A provider gave no results; the phrase, a clause, says why.

    `other` tells that another provider may.
    """

    def __init__(self, phrase: AnyPhrase, *, other: bool) -> None:
        super().__init__(str(phrase))
        self.phrase = phrase
        self.other = other


class SearchProvider(Protocol):
    """A search engine's API."""

    @property
    def name(self) -> str: ...

    async def search(self, query: SearchQuery) -> Sequence[WebHit]:
        """Return the hits, best first.

        Raises:
            SearchFailed: no answer, a refused key, a used-up quota.
        """
        ...


class WebSearchArguments(ToolArguments):
    """Arguments of `web_search`."""

    query: str = Field(min_length=1, max_length=400)
    count: int = Field(5, ge=1, le=MAX_HITS)
    since: Since = ""
    site: str = Field("", description="Only pages of this host")


class WebSearchTool:
    """Asks the configured providers in order, and says which of them answered."""

    arguments = WebSearchArguments
    spec = LazyToolSpec(
        arguments,
        name="web_search",
        description="Search the web. Returns titles, URLs and excerpts; web_fetch opens a result.",
        effect="pure",
        action="web.search",
        budget="search",
    )

    def __init__(
        self,
        providers: Callable[[], Sequence[SearchProvider]],
        secrets: Callable[[], Collection[str]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._providers = providers
        self._secrets = secrets
        self._clock = clock
        self._kept: OrderedDict[tuple[str, SearchQuery], tuple[float, str]] = OrderedDict()

    async def run(self, arguments: WebSearchArguments, context: ToolContext) -> str:
        words = arguments.query.strip()
        try:
            site = parse_url(f"https://{arguments.site}").host if arguments.site else ""
            visible = await context.load_visible()
            check_leak(f"{words} {site}", "", visible, self._secrets())
        except WebError as err:
            raise ToolFailed(f"{err.code}: {err}.") from err
        query = SearchQuery(words=words, count=arguments.count, since=arguments.since, site=site)
        kept = self._kept.get((context.space, query))
        if kept is not None and kept[0] > self._clock():
            return kept[1]
        text = await self._ask(query)
        self._kept[context.space, query] = (self._clock() + KEPT_SECONDS, text)
        self._kept.move_to_end((context.space, query))
        if len(self._kept) > MAX_KEPT:
            self._kept.popitem(last=False)
        return text

    def forget(self, space: str) -> None:
        """Drop what was kept for a space."""
        for key in [key for key in self._kept if key[0] == space]:
            del self._kept[key]

    async def _ask(self, query: SearchQuery) -> str:
        failures: list[str] = []
        for provider in self._providers():
            try:
                hits = await provider.search(query)
            except SearchFailed as err:
                failures.append(f"{provider.name}: {err}")
                if not err.other:
                    break
                continue
            return format_hits(provider.name, query, hits, failures)
        raise ToolFailed(
            f"The search did not work. {'; '.join(failures) or 'No provider is configured'}."
        )


def format_hits(
    provider: str, query: SearchQuery, hits: Sequence[WebHit], failures: Sequence[str]
) -> str:
    """Format results below a line that says who gave them, and which providers did not answer.

    Pure.
    """
    head = f"[{len(hits)} results by {provider} for {json.dumps(query.words, ensure_ascii=False)}"
    head += "".join(f"; no answer from {failure}" for failure in failures) + "]"
    lines = [head]
    for number, hit in enumerate(hits, start=1):
        title = " ".join(clean(hit.title).split())[:200] or "(no title)"
        date = f" ({hit.date[:10]})" if hit.date else ""
        snippet = " ".join(clean(hit.snippet).split())
        short = f"{snippet[:MAX_SNIPPET_CHARS]}…" if len(snippet) > MAX_SNIPPET_CHARS else snippet
        lines.append(f"\n{number}. {title}{date}\n   {hit.url}\n   {short}".rstrip())
    return "\n".join(lines) if hits else f"{head}\nNothing was found."
