"""The console's calls: context, search, configuration, status, usage; each with the action it needs."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Protocol, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from bot.access.pairing import PairingService
from bot.commands.trace import trace_to_json
from bot.console.access import AccessRoutes
from bot.console.channels import ChannelRoutes
from bot.console.files import FileRoutes
from bot.console.transcripts import TranscriptBackend, conversation_place
from bot.errors import ConfigError
from channels.base import Channel, HasWebhook
from channels.web.backend import Allow, Probe, WebServices
from channels.web.requests import Handler, HttpRefusal, Route, json_response, read_json
from channels.web.routes import parse_bounded
from channels.web.server import WebSite
from memory.store.errors import IndexUnusable
from memory.store.store import Store
from memory.workspace.files import SpaceFiles

# What the console is wired to: one value with a door or a function for each thing it shows.

LoadFacts = Callable[[], Awaitable[Mapping[str, Any]]]  # a page of facts as JSON values

# Make the index of that space anew, of all of them for None; returns how many rows each space has now.
RebuildIndex = Callable[[str | None], Awaitable[Mapping[str, int]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchQuery:
    """A search of the memory."""

    query: str
    limit: int
    #: "" the owner's.
    space: str = ""
    #: YYYY-MM-DD, both inclusive; "" for any.
    since: str = ""
    #: YYYY-MM-DD, both inclusive; "" for any.
    until: str = ""
    speaker: str = ""


# Results, best first, each as bot.memory.recall.told gives it; none of a space that there is not.
SearchMemory = Callable[[SearchQuery], Awaitable[Sequence[Mapping[str, Any]]]]


class ConsoleSettings(Protocol):
    """The configuration as the owner may see and change it."""

    def masked(self) -> Mapping[str, Any]:
        """The shape of config.json with secrets masked."""
        ...

    def patch(self, part: Mapping[str, Any], /) -> object:
        """Take over a part of that shape, after checking it; blocks, so it is called in a thread.

        Raises:
            ConfigError: what is wrong with it, and what would be right; nothing has changed.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleServices:
    """Everything behind the console. Conversations go by the store's ids here, not by the names in paths."""

    store: Store
    #: The owner's part of the workspace.
    files: SpaceFiles
    #: Called after one of the files was saved here.
    saved: Callable[[], Awaitable[None]]
    #: Whether the console may do the named action now.
    allow: Allow
    #: End that conversation's running turn.
    stop: Callable[[str], Awaitable[None]]
    #: The facts of its context.
    context: Callable[[str], Awaitable[Mapping[str, Any]]]
    search: SearchMemory
    index: RebuildIndex
    settings: ConsoleSettings
    status: LoadFacts
    usage: LoadFacts
    #: Figures in the text format that Prometheus reads.
    metrics: Callable[[], Awaitable[str]]
    #: {name, usage, zh, en} of what may be typed here, for readers of "zh" or "en".
    commands: Callable[[str], Sequence[Mapping[str, str]]]
    healthy: Probe
    ready: Probe
    #: The channel of that name, if it takes calls.
    hooked: Callable[[str], HasWebhook | None] = lambda name: None
    #: All of them by name.
    channels: Callable[[], Mapping[str, Channel]] = dict
    #: Who may talk, None where nobody asks.
    pairing: PairingService | None = None
    #: Where the owner is.
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


Answer = TypeVar("Answer")
METRICS_TYPE = "text/plain; version=0.0.4"
MAX_RESULTS = 200
DEFAULT_RESULTS = 10
MAX_QUERY_CHARS = 1_000
MAX_NAME_CHARS = 200
CONSOLE_ACTOR = "console"  # who acts here, as the chain of acts names them
# What must be allowed beside memory.read to search a space that is not the owner's.
READ_OTHERS_ACTION = "memory.read.other"


def mount_console(site: WebSite, house: ConsoleServices) -> None:
    """From now on the site answers from this house."""
    transcripts = TranscriptBackend(house.store, house.stop, house.allow)
    doors = WebServices(
        backend=transcripts,
        allow=house.allow,
        healthy=house.healthy,
        ready=house.ready,
        place=conversation_place,
        hooked=house.hooked,
    )
    site.open(doors, console_routes(house, transcripts))


def console_routes(house: ConsoleServices, transcripts: TranscriptBackend) -> tuple[Route, ...]:
    """Every route of the console."""
    console = _ConsoleHandlers(house, transcripts)
    return (
        _get_route("/api/conversations/{id}/context", "context.read", console.context),
        _get_route("/api/conversations/{id}/trace", "console.read", console.trace),
        *FileRoutes(house.files, house.saved).calls(),
        *ChannelRoutes(house.channels).calls(),
        *(AccessRoutes(house.pairing).calls() if house.pairing else ()),
        _get_route("/api/memory/search", "memory.read", console.search),
        Route(method="POST", path="/api/memory/index", action="memory.index", handler=console.index),
        _get_route("/api/config", "config.read", console.config),
        Route(method="PATCH", path="/api/config", action="config.write", handler=console.change),
        _get_route("/api/status", "console.read", _facts_handler(house.status)),
        _get_route("/api/usage", "console.read", _facts_handler(house.usage)),
        _get_route("/api/commands", "help", console.commands),
        _get_route("/metrics", "metrics.read", console.metrics),
    )


class _ConsoleHandlers:
    """The handlers that need more than one line."""

    def __init__(self, house: ConsoleServices, transcripts: TranscriptBackend) -> None:
        self._house = house
        self._transcripts = transcripts

    async def context(self, request: Request) -> Response:
        row = await self._transcripts.readable(str(request.path_params["id"]), request.state.visitor.id)
        if row is None:
            raise HttpRefusal(404, "not_found", "there is no such conversation")
        return json_response(await self._house.context(row.id))

    async def trace(self, request: Request) -> Response:
        """What became of a message, or of the newest one without `message`."""
        row = await self._transcripts.readable(str(request.path_params["id"]), request.state.visitor.id)
        wanted = request.query_params.get("message", "")[:MAX_NAME_CHARS]
        found = await self._house.store.sessions.trace(row.id, of=wanted) if row else None
        if found is None:
            raise HttpRefusal(404, "not_found", "there is no such message")
        return json_response(trace_to_json(found, self._house.now().tzinfo))

    async def search(self, request: Request) -> Response:
        asked = _parse_search_query(request.query_params)
        if asked.space and not self._house.allow(READ_OTHERS_ACTION):
            raise HttpRefusal(403, "denied", "not allowed")
        found = await _await_index(self._house.search(asked))
        return json_response({"results": [dict(result) for result in found]})

    async def index(self, request: Request) -> Response:
        space = (await read_json(request)).get("space")
        if space is not None and not isinstance(space, str):
            raise HttpRefusal(400, "space", "space must be a string; leave it out for all of them")
        rows = await _await_index(self._house.index(space))
        return json_response({"spaces": [{"space": name, "rows": count} for name, count in rows.items()]})

    async def config(self, _: Request) -> Response:
        return json_response(self._house.settings.masked())

    async def change(self, request: Request) -> Response:
        change = await read_json(request)
        try:
            await asyncio.to_thread(self._house.settings.patch, change)
        except ConfigError as err:
            raise HttpRefusal(400, "config", str(err)) from err
        await self._house.store.note(
            "config", ", ".join(change), "set", CONSOLE_ACTOR, args=self._house.settings.masked()
        )
        return json_response(self._house.settings.masked())

    async def commands(self, request: Request) -> Response:
        # The page itself is in the browser's first language, which this header begins with.
        lang = "zh" if request.headers.get("accept-language", "").lower().startswith("zh") else "en"
        return json_response({"commands": [dict(command) for command in self._house.commands(lang)]})

    async def metrics(self, _: Request) -> Response:
        text = await self._house.metrics()
        return Response(text, 200, {"cache-control": "no-store"}, METRICS_TYPE)


async def _await_index(work: Awaitable[Answer]) -> Answer:
    """What needs the search index; one that cannot be used is a 503 with a sentence."""
    try:
        return await work
    except (IndexUnusable, OSError) as err:
        raise HttpRefusal(503, "index", f"memory cannot be searched now: {err}") from err


def _parse_search_query(given: Mapping[str, str]) -> SearchQuery:
    """A search as a query string asks for it; what is wrong with it is a 400 that names the parameter."""
    query, speaker = (given.get(name, "").replace("\0", "").strip() for name in ("q", "speaker"))
    if not query or len(query) > MAX_QUERY_CHARS:
        raise HttpRefusal(400, "q", f"q must be 1 to {MAX_QUERY_CHARS} characters to search for")
    return SearchQuery(
        query=query,
        limit=parse_bounded(given.get("limit"), DEFAULT_RESULTS, MAX_RESULTS),
        space=given.get("space", ""),
        since=_parse_day(given, "since"),
        until=_parse_day(given, "until"),
        speaker=speaker[:MAX_NAME_CHARS],
    )


def _parse_day(given: Mapping[str, str], name: str) -> str:
    text = given.get(name, "")
    try:
        return date.fromisoformat(text).isoformat() if text else ""
    except ValueError as err:
        raise HttpRefusal(400, name, f"{name} must be a day such as 2026-11-20") from err


def _get_route(path: str, action: str, handler: Handler) -> Route:
    return Route(method="GET", path=path, action=action, handler=handler)


def _facts_handler(facts: LoadFacts) -> Handler:
    async def tell(_: Request) -> Response:
        return json_response(await facts())

    return tell
