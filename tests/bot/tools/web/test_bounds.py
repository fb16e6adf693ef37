"""What the web tools keep at its bound, while all of it is in use."""

from dataclasses import replace
from datetime import UTC, datetime

from bot.tools.base import ToolContext, VisibleWords
from bot.tools.web.fetch import FetchedPage, PageCache
from bot.tools.web.page_text import PageText
from bot.tools.web.search import MAX_KEPT, SearchQuery, WebHit, WebSearchTool


def page(chars: int) -> FetchedPage:
    return FetchedPage(url="https://a.example/", text=PageText(text="x" * chars))


def test_one_page_more_than_fits_drops_the_oldest_and_no_other() -> None:
    size = page(1_000).size
    cache = PageCache(lambda: 10 * size, clock=lambda: 0.0)
    for number in range(11):
        cache.put(str(number % 2), f"u{number}", page(1_000), 60.0)
    assert cache.get("0", "u0") is None
    assert all(cache.get(str(number % 2), f"u{number}") for number in range(1, 11))
    cache.put("0", "large", page(20_000), 60.0)
    assert cache.get("0", "large") is None, "what never fits drops nothing"
    assert cache.get("1", "u1") is not None


def test_a_page_is_fresh_until_its_time_and_a_smaller_cache_keeps_less() -> None:
    now, most = [0.0], [10 * page(1_000).size]
    cache = PageCache(lambda: most[0], clock=lambda: now[0])
    for number in range(10):
        cache.put("", f"u{number}", page(1_000), 60.0)
    now[0] = 59.9
    assert cache.get("", "u9") is not None
    most[0] = 3 * page(1_000).size
    cache.put("", "new", page(1_000), 60.0)
    assert [number for number in range(10) if cache.get("", f"u{number}")] == [8, 9]
    now[0] = 60.0
    assert cache.get("", "u9") is None


class Counting:
    """A provider that counts what it is asked."""

    name = "counting"

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def search(self, query: SearchQuery) -> list[WebHit]:
        self.asked.append(query.words)
        return [WebHit(title="t", url="https://a.example/", snippet="s")]


async def test_one_search_more_than_is_kept_asks_the_oldest_again() -> None:
    provider = Counting()
    now = [0.0]
    tool = WebSearchTool(lambda: [provider], tuple, clock=lambda: now[0])

    async def clean() -> VisibleWords:
        return VisibleWords(tainted=False)

    context = ToolContext(
        conversation="c",
        space="",
        now=lambda: datetime(2026, 11, 20, tzinfo=UTC),
        idem_key="k",
        load_visible=clean,
    )

    async def search(words: str, space: str = "") -> None:
        await tool.run(tool.arguments.parse({"query": words}), replace(context, space=space))

    for number in range(MAX_KEPT + 1):
        await search(f"q{number}")
    await search("q1")
    assert len(provider.asked) == MAX_KEPT + 1, "kept"
    await search("q0")
    assert len(provider.asked) == MAX_KEPT + 2, "the oldest was dropped"
    await search("q1", space="other")
    assert len(provider.asked) == MAX_KEPT + 3, "each space asks for itself"
    now[0] = 599.0
    await search("q9")
    assert len(provider.asked) == MAX_KEPT + 3
    now[0] = 601.0
    await search("q9")
    assert len(provider.asked) == MAX_KEPT + 4, "after ten minutes it is asked again"
