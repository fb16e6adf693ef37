"""The wires of the search providers; each is a pure pair of a request and a reading of its
answer.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, ClassVar, Literal

from bot.tools.web.addresses import WebError, parse_url
from bot.tools.web.search import SearchFailed, SearchProvider, SearchQuery, WebHit
from channels.phrases import Phrase
from channels.toolkit.http import HttpPool, read_start

ProviderName = Literal["tavily", "brave", "bocha", "searxng", "exa"]
MAX_ANSWER_BYTES = 4 * 2**20
ANSWER_SECONDS = 15.0
_DAYS = {"day": 1, "week": 7, "month": 31, "year": 366}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderRequest:
    """A request to a provider."""

    url: str
    headers: Mapping[str, str]
    #: Query of a GET.
    params: Mapping[str, str] | None = None
    #: Body of a POST.
    body: Mapping[str, Any] | None = None


class _HttpProvider(ABC):
    """A provider with a JSON API."""

    name: ClassVar[str]
    default_url: ClassVar[str] = ""

    def __init__(
        self, api_key: str, base_url: str, pool: HttpPool, today: Callable[[], date]
    ) -> None:
        self._key = api_key
        self._url = (base_url or self.default_url).rstrip("/")
        self._pool = pool
        self._today = today

    @abstractmethod
    def encode(self, query: SearchQuery) -> ProviderRequest: ...

    @abstractmethod
    def hits(self, answer: Any) -> list[WebHit]: ...

    def refusal(self, status: int) -> Phrase:
        """Say what a status means."""
        if status in (401, 403):
            return Phrase("it rejects the key")
        if status in (402, 429, 432, 433):
            return Phrase("its quota is used up")
        return Phrase("it answered {status}", status=status)

    def _since(self, query: SearchQuery) -> str:
        return (self._today() - timedelta(days=_DAYS[query.since])).isoformat()

    async def search(self, query: SearchQuery) -> Sequence[WebHit]:
        """See SearchProvider."""
        import httpx2

        request = self.encode(query)
        client = await self._pool.open()
        method = "GET" if request.body is None else "POST"
        try:
            async with client.stream(
                method,
                request.url,
                headers=dict(request.headers),
                params=request.params,
                json=request.body,
            ) as response:
                body = await read_start(response.aiter_bytes(), MAX_ANSWER_BYTES)
                status = response.status_code
        except (httpx2.HTTPError, OSError) as err:
            raise SearchFailed(Phrase("it cannot be reached"), other=True) from err
        if status != 200:
            raise SearchFailed(
                self.refusal(status),
                other=status >= 500 or status in (401, 402, 403, 429, 432, 433),
            )
        try:
            found = self.hits(json.loads(body))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as err:
            raise SearchFailed(Phrase("its answer cannot be read"), other=True) from err
        return [hit for hit in found if _is_web_url(hit.url)][: query.count]


class Tavily(_HttpProvider):
    """Tavily's API."""

    name = "tavily"
    default_url = "https://api.tavily.com"

    def encode(self, query: SearchQuery) -> ProviderRequest:
        body: dict[str, Any] = {"query": query.words, "max_results": query.count}
        body |= {"time_range": query.since} if query.since else {}
        body |= {"include_domains": [query.site]} if query.site else {}
        return ProviderRequest(
            url=f"{self._url}/search", headers={"Authorization": f"Bearer {self._key}"}, body=body
        )

    def hits(self, answer: Any) -> list[WebHit]:
        return [_hit(row, "title", "url", "content", "published_date") for row in answer["results"]]


class Brave(_HttpProvider):
    """Brave's API."""

    name = "brave"
    default_url = "https://api.search.brave.com"
    _FRESHNESS: ClassVar[Mapping[str, str]] = {
        "day": "pd",
        "week": "pw",
        "month": "pm",
        "year": "py",
    }

    def encode(self, query: SearchQuery) -> ProviderRequest:
        params = {"q": _with_site(query), "count": str(query.count)}
        params |= {"freshness": self._FRESHNESS[query.since]} if query.since else {}
        headers = {"X-Subscription-Token": self._key, "Accept": "application/json"}
        return ProviderRequest(url=f"{self._url}/res/v1/web/search", headers=headers, params=params)

    def hits(self, answer: Any) -> list[WebHit]:
        rows = (answer.get("web") or {}).get("results") or []
        return [_hit(row, "title", "url", "description", "page_age") for row in rows]


class Bocha(_HttpProvider):
    """Bocha's API (博查)."""

    name = "bocha"
    default_url = "https://api.bochaai.com"
    _FRESHNESS: ClassVar[Mapping[str, str]] = {
        "": "noLimit", "day": "oneDay", "week": "oneWeek", "month": "oneMonth", "year": "oneYear"
    }  # fmt: skip

    def encode(self, query: SearchQuery) -> ProviderRequest:
        body: dict[str, Any] = {"query": query.words, "count": query.count, "summary": True}
        body |= {"freshness": self._FRESHNESS[query.since]} | (
            {"include": query.site} if query.site else {}
        )
        headers = {"Authorization": f"Bearer {self._key}"}
        return ProviderRequest(url=f"{self._url}/v1/web-search", headers=headers, body=body)

    def hits(self, answer: Any) -> list[WebHit]:
        rows = ((answer.get("data") or {}).get("webPages") or {}).get("value") or []
        return [
            _hit(
                {**row, "text": row.get("summary") or row.get("snippet")},
                "name",
                "url",
                "text",
                "datePublished",
            )
            for row in rows
        ]


class Searxng(_HttpProvider):
    """An own SearXNG."""

    name = "searxng"

    def encode(self, query: SearchQuery) -> ProviderRequest:
        params = {"q": _with_site(query), "format": "json"}
        params |= {"time_range": query.since} if query.since else {}
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        return ProviderRequest(url=f"{self._url}/search", headers=headers, params=params)

    def hits(self, answer: Any) -> list[WebHit]:
        return [_hit(row, "title", "url", "content", "publishedDate") for row in answer["results"]]

    def refusal(self, status: int) -> Phrase:
        if status == 403:
            return Phrase('it refuses JSON: add "json" to search.formats in its settings.yml')
        return super().refusal(status)


class Exa(_HttpProvider):
    """Exa's API."""

    name = "exa"
    default_url = "https://api.exa.ai"

    def encode(self, query: SearchQuery) -> ProviderRequest:
        body: dict[str, Any] = {"query": query.words, "numResults": query.count}
        body |= {"contents": {"text": {"maxCharacters": 1000}}}
        body |= {"startPublishedDate": f"{self._since(query)}T00:00:00.000Z"} if query.since else {}
        body |= {"includeDomains": [query.site]} if query.site else {}
        return ProviderRequest(
            url=f"{self._url}/search", headers={"x-api-key": self._key}, body=body
        )

    def hits(self, answer: Any) -> list[WebHit]:
        return [_hit(row, "title", "url", "text", "publishedDate") for row in answer["results"]]


PROVIDERS: Mapping[str, type[_HttpProvider]] = {
    kind.name: kind for kind in (Tavily, Brave, Bocha, Searxng, Exa)
}


def create_provider(
    name: ProviderName,
    api_key: str,
    base_url: str,
    pool: HttpPool,
    today: Callable[[], date] = lambda: datetime.now(UTC).date(),
) -> SearchProvider:
    """Create a provider of that name; `base_url` "" means its own."""
    return PROVIDERS[name](api_key, base_url, pool, today)


def _with_site(query: SearchQuery) -> str:
    return f"{query.words} site:{query.site}" if query.site else query.words


def _hit(row: Mapping[str, Any], title: str, url: str, snippet: str, published: str) -> WebHit:
    return WebHit(
        title=str(row.get(title) or ""),
        url=str(row[url]),
        snippet=str(row.get(snippet) or ""),
        date=str(row.get(published) or ""),
    )


def _is_web_url(url: str) -> bool:
    try:
        parse_url(url)
    except WebError:
        return False
    return True
