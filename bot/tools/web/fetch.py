"""The tool that opens a web page."""

import asyncio
import json
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

from pydantic import Field

from bot.errors import ToolFailed
from bot.tools.base import LazyToolSpec, ToolArguments, ToolContext, ToolOutput, VisibleWords
from bot.tools.web.addresses import WebError, WebUrl, parse_url
from bot.tools.web.client import GuardedClient, WebResponse
from bot.tools.web.leaks import find_leak, find_urls
from bot.tools.web.page_text import PageReader, PageText
from bot.tools.web.siblings import (
    PAGES_OF_BIG_CROWDS,
    PAGES_OF_CROWDS,
    find_private_choice,
    is_one_too_many,
)

PAGE_CHARS = 20_000
MAX_TAINTED_FETCHES = 10  # in one turn that outside words may steer
KEPT_SECONDS, KEPT_ERROR_SECONDS = 900.0, 60.0
HOST_PAUSE_SECONDS = 1.0  # between two requests to a host
MAX_HOSTS = 1_000
_NO_TEXT = PageText()


class WebFetchArguments(ToolArguments):
    """Arguments of `web_fetch`."""

    url: str
    page: int = Field(1, ge=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedPage:
    """A page, or why it could not be had."""

    url: str
    text: PageText = _NO_TEXT
    error: WebError | None = None
    #: Monotonic seconds.
    until: float = 0.0

    @property
    def size(self) -> int:
        return 4 * len(self.text.text) + 200


class PageCache:
    """Pages of the last minutes, each for the space that fetched it; in memory, for they are kept
    so briefly.

    Args:
        most: bytes that the pages of all spaces may take, by four bytes a character.
    """

    def __init__(
        self, most: Callable[[], int], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = most
        self._clock = clock
        self._pages: OrderedDict[tuple[str, str], FetchedPage] = OrderedDict()
        self._size = 0

    def get(self, space: str, url: str) -> FetchedPage | None:
        """Return a page of this space that is still fresh."""
        page = self._pages.get((space, url))
        if page is not None and page.until <= self._clock():
            self._drop((space, url))
            return None
        return page

    def put(self, space: str, url: str, page: FetchedPage, seconds: float) -> None:
        """Keep a page, and drop the oldest ones beyond the limit."""
        self._drop((space, url))
        page = replace(page, until=self._clock() + seconds)
        if page.size > self._most():
            return
        self._pages[space, url] = page
        self._size += page.size
        while self._size > self._most():
            self._drop(next(iter(self._pages)))

    def forget(self, space: str) -> None:
        """Drop all pages of a space."""
        for key in [key for key in self._pages if key[0] == space]:
            self._drop(key)

    def _drop(self, key: tuple[str, str]) -> None:
        if (page := self._pages.pop(key, None)) is not None:
            self._size -= page.size


class WebFetchTool:
    """Opens a page and returns its readable text."""

    arguments = WebFetchArguments
    spec = LazyToolSpec(
        arguments,
        name="web_fetch",
        description=(
            "Open a public web page, PDF or picture by its complete URL and read its text, in "
            "pages."
        ),
        effect="pure",
        action="web.fetch",
        budget="fetch",
    )

    def __init__(
        self,
        client: GuardedClient,
        reader: PageReader,
        cache: PageCache,
        secrets: Callable[[], Collection[str]],
        pause: Callable[[], float] = lambda: HOST_PAUSE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._pause_seconds = pause
        self._reader = reader
        self._cache = cache
        self._secrets = secrets
        self._clock = clock
        #: When a host may be asked again, monotonic seconds.
        self._next_request: OrderedDict[str, float] = OrderedDict()

    async def run(self, arguments: WebFetchArguments, context: ToolContext) -> ToolOutput:
        try:
            url = parse_url(arguments.url)
            await self._check(url, context)
            page = await self._page(url, context.space)
            if page.error is not None:
                raise page.error
        except WebError as err:
            raise ToolFailed(f"{err.code}: {err}.") from err
        return ToolOutput(text=format_page(page, arguments.page), images=page.text.images)

    async def _check(self, url: WebUrl, context: ToolContext) -> None:
        """Refuse what outside words may have asked for, and URLs that carry memory or secrets
        away.
        """
        visible = await context.load_visible()
        if visible.tainted:
            if visible.fetches > MAX_TAINTED_FETCHES:
                raise WebError(
                    "denied",
                    f"{MAX_TAINTED_FETCHES} pages were opened in this turn; answer with these",
                )
            if str(url) not in find_urls((*visible.typed, *visible.found)):
                raise WebError(
                    "denied",
                    "words from outside are in view, so only URLs are opened that the person wrote "
                    "or that a page or search result shows letter for letter",
                )
            # slow beside thousands of links
            await asyncio.to_thread(check_choice, str(url), visible)
        check_leak(f"{url.host}{url.target}", str(url), visible, self._secrets())

    async def _page(self, url: WebUrl, space: str) -> FetchedPage:
        if (kept := self._cache.get(space, str(url))) is not None:
            return kept
        try:
            await self._pause(url.host)
            response = await self._client.get(str(url))
            check_status(response)
            page = FetchedPage(url=str(response.url), text=await self._reader.read(response))
        except WebError as err:
            page = FetchedPage(url=str(url), error=err)
            self._cache.put(space, str(url), page, KEPT_ERROR_SECONDS)
            return page
        if (
            "no-store" not in response.headers.get("cache-control", "").lower()
            and not page.text.images
        ):
            self._cache.put(space, str(url), page, KEPT_SECONDS)
        return page

    async def _pause(self, host: str) -> None:
        """Wait until this host may be asked again, in the order of the calls."""
        now = self._clock()
        at = max(now, self._next_request.pop(host, now))
        self._next_request[host] = at + self._pause_seconds()
        if len(self._next_request) > MAX_HOSTS:
            self._next_request.popitem(last=False)
        if at - now > self._client.total_seconds:
            raise WebError("too_slow", f"too many pages of {host} are waited for at once")
        if at > now:
            await asyncio.sleep(at - now)


def check_status(response: WebResponse) -> None:
    """Raise WebError unless the server had the page."""
    if response.status >= 400 or response.status < 200:
        raise WebError("status", f"{response.url.host} answered {response.status}")


def check_choice(url: str, visible: VisibleWords) -> None:
    """Raise WebError if opening this one of many similar links would tell its site something
    private.
    """
    if url in find_urls(visible.typed):
        return
    offered = find_urls(visible.found)
    if find_private_choice(url, offered, visible.private, visible.typed):
        raise WebError(
            "denied",
            "the page shows links that are nearly the same, and this one differs from them by a "
            "number or a name that stands in memory, so opening it would tell that to the site; "
            "the person can write the URL themselves",
        )
    if is_one_too_many(url, list(_asked_urls(visible.asked)), offered):
        raise WebError(
            "denied",
            "it is one of many links that differ only in short parts, and which one is opened "
            f"could tell the site something private: {PAGES_OF_CROWDS} of such links are opened in "
            f"a turn, {PAGES_OF_BIG_CROWDS} of a long list; answer with what is open, and the "
            "person can write the URL themselves",
        )


def _asked_urls(calls: Iterable[str]) -> Iterator[str]:
    """Yield the URLs of calls, given by their arguments; what is no call that could run is left
    out.
    """
    for text in calls:
        with suppress(ValueError, ToolFailed, WebError):
            yield str(parse_url(WebFetchArguments.parse(json.loads(text)).url))


def check_leak(sent: str, url: str, visible: VisibleWords, secrets: Collection[str]) -> None:
    """Raise WebError if what is sent out holds memory or a secret that the person did not type.

    Args:
        url: the complete URL if there is one; one that the person typed or bookmarked is not
            checked against memory.
    """
    known = list(visible.typed)
    if url and url in find_urls(
        visible.typed if visible.tainted else (*visible.typed, *visible.private)
    ):
        known.append(sent)
    leak = find_leak(sent, visible.private, known, secrets)
    if leak:
        what = "a key or token" if leak == "secret" else "words of memory"
        raise WebError(
            "denied",
            f"it would send {what} out; the person can type it themselves if they want that",
        )


def format_page(page: FetchedPage, number: int) -> str:
    """Format one page of a page's text below a head line: final URL, title, date, page n of m."""
    text = page.text.text
    count = max(1, -(-len(text) // PAGE_CHARS))
    if number > count:
        raise ToolFailed(f"The page has {count} part(s); there is no part {number}.")
    title, date = " ".join(page.text.title.split())[:300], page.text.date
    more = " or more" if page.text.cut else ""
    head = " · ".join(filter(None, (page.url, title, date, f"page {number} of {count}{more}")))
    return f"[{head}]\n\n{text[(number - 1) * PAGE_CHARS : number * PAGE_CHARS]}"
