"""The console's routes: context, search, configuration, status, usage; each with the action it needs."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
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
from channels.web.backend import HealthReport, WebServices
from channels.web.requests import Handler, HttpRefusal, Route, json_response, read_json
from channels.web.routes import parse_bounded
from channels.web.server import WebSite
from memory.store.errors import IndexUnusable
from memory.store.store import Store
from memory.workspace.files import SpaceFiles


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


class ConsoleSettings(Protocol):
    """The configuration as the owner may see and change it."""

    def masked(self) -> Mapping[str, Any]:
        """The shape of config.json with secrets masked."""
        ...

    def patch(self, part: Mapping[str, Any], /) -> object:
        """Check and apply a part of that shape. Blocks, so it is called in a thread.

        Raises:
            ConfigError: the change is invalid; nothing has changed.
        """
        ...


class ConsoleServices(Protocol):
    """Everything behind the console: a running bot, or a scripted double. Conversations go by the store's ids."""

    store: Store
    #: The owner's part of the workspace.
    files: SpaceFiles

    @property
    def settings(self) -> ConsoleSettings: ...

    @property
    def pairing(self) -> PairingService | None:
        """Access requests; None if there is no access control."""
        ...

    def now(self) -> datetime:
        """The time in the owner's zone."""
        ...

    def channels(self) -> Mapping[str, Channel]:
        """All channels by name."""
        ...

    def hooked(self, name: str) -> HasWebhook | None:
        """The channel of that name, if it takes webhook calls."""
        ...

    def commands(self, lang: str) -> Sequence[Mapping[str, str]]:
        """{name, usage, zh, en} of what may be typed in the page, for readers of "zh" or "en"."""
        ...

    def allow(self, action: str) -> bool:
        """Whether the console may do the named action now."""
        ...

    async def stop(self, conversation: str) -> None:
        """Stop the conversation's running turn."""
        ...

    async def context(self, conversation: str) -> Mapping[str, Any]:
        """The facts of the conversation's context."""
        ...

    async def metrics(self) -> str:
        """Figures in the Prometheus text format."""
        ...

    async def saved(self) -> None:
        """Called after one of the files was saved in the page."""
        ...

    async def search(self, query: SearchQuery) -> Sequence[Mapping[str, Any]]:
        """Results, best first, in the form of `bot.memory.recall.passage_to_json`; none for an unknown space."""
        ...

    async def index(self, space: str | None) -> Mapping[str, int]:
        """Rebuild the index of a space, or of all; returns the number of rows of each."""
        ...

    async def status(self) -> Mapping[str, Any]: ...

    async def usage(self) -> Mapping[str, Any]: ...

    async def healthy(self) -> HealthReport:
        """Whether the process works."""
        ...

    async def ready(self) -> HealthReport:
        """Whether it can answer people."""
        ...


Answer = TypeVar("Answer")
METRICS_TYPE = "text/plain; version=0.0.4"
MAX_RESULTS = 200
DEFAULT_RESULTS = 10
MAX_QUERY_CHARS = 1_000
MAX_NAME_CHARS = 200
CONSOLE_ACTOR = "console"  # the actor in the audit chain
READ_OTHERS_ACTION = "memory.read.other"  # also needed to search a space that is not the owner's


def mount_console(site: WebSite, services: ConsoleServices) -> None:
    """Serve the console on the site."""
    transcripts = TranscriptBackend(services.store, services.stop, services.allow)
    web = WebServices(
        backend=transcripts,
        allow=services.allow,
        healthy=services.healthy,
        ready=services.ready,
        address_of=conversation_place,
        find_webhook=services.hooked,
    )
    site.open(web, console_routes(services, transcripts))


def console_routes(services: ConsoleServices, transcripts: TranscriptBackend) -> tuple[Route, ...]:
    """Every route of the console."""
    console = _ConsoleHandlers(services, transcripts)
    return (
        _get_route("/api/conversations/{id}/context", "context.read", console.context),
        _get_route("/api/conversations/{id}/trace", "console.read", console.trace),
        *FileRoutes(services.files, services.saved).calls(),
        *ChannelRoutes(services.channels).calls(),
        *(AccessRoutes(services.pairing).calls() if services.pairing else ()),
        _get_route("/api/memory/search", "memory.read", console.search),
        Route(method="POST", path="/api/memory/index", action="memory.index", handler=console.index),
        _get_route("/api/config", "config.read", console.config),
        Route(method="PATCH", path="/api/config", action="config.write", handler=console.change),
        _get_route("/api/status", "console.read", _facts_handler(services.status)),
        _get_route("/api/usage", "console.read", _facts_handler(services.usage)),
        _get_route("/api/commands", "help", console.commands),
        _get_route("/metrics", "metrics.read", console.metrics),
    )


class _ConsoleHandlers:
    """Handlers over the services."""

    def __init__(self, services: ConsoleServices, transcripts: TranscriptBackend) -> None:
        self._services = services
        self._transcripts = transcripts

    async def context(self, request: Request) -> Response:
        row = await self._transcripts.readable(str(request.path_params["id"]), request.state.visitor.id)
        if row is None:
            raise HttpRefusal(404, "not_found", "there is no such conversation")
        return json_response(await self._services.context(row.id))

    async def trace(self, request: Request) -> Response:
        """The trace of a message; of the newest one without `message`."""
        row = await self._transcripts.readable(str(request.path_params["id"]), request.state.visitor.id)
        wanted = request.query_params.get("message", "")[:MAX_NAME_CHARS]
        found = await self._services.store.sessions.trace(row.id, of=wanted) if row else None
        if found is None:
            raise HttpRefusal(404, "not_found", "there is no such message")
        return json_response(trace_to_json(found, self._services.now().tzinfo))

    async def search(self, request: Request) -> Response:
        query = _parse_search_query(request.query_params)
        if query.space and not self._services.allow(READ_OTHERS_ACTION):
            raise HttpRefusal(403, "denied", "not allowed")
        found = await _await_index(self._services.search(query))
        return json_response({"results": [dict(result) for result in found]})

    async def index(self, request: Request) -> Response:
        space = (await read_json(request)).get("space")
        if space is not None and not isinstance(space, str):
            raise HttpRefusal(400, "space", "space must be a string; leave it out for all of them")
        rows = await _await_index(self._services.index(space))
        return json_response({"spaces": [{"space": name, "rows": count} for name, count in rows.items()]})

    async def config(self, _: Request) -> Response:
        return json_response(self._services.settings.masked())

    async def change(self, request: Request) -> Response:
        change = await read_json(request)
        try:
            await asyncio.to_thread(self._services.settings.patch, change)
        except ConfigError as err:
            raise HttpRefusal(400, "config", str(err)) from err
        await self._services.store.note(
            "config", ", ".join(change), "set", CONSOLE_ACTOR, args=self._services.settings.masked()
        )
        return json_response(self._services.settings.masked())

    async def commands(self, request: Request) -> Response:
        # The page itself is in the browser's first language, which this header begins with.
        lang = "zh" if request.headers.get("accept-language", "").lower().startswith("zh") else "en"
        return json_response({"commands": [dict(command) for command in self._services.commands(lang)]})

    async def metrics(self, _: Request) -> Response:
        text = await self._services.metrics()
        return Response(text, 200, {"cache-control": "no-store"}, METRICS_TYPE)


async def _await_index(work: Awaitable[Answer]) -> Answer:
    """Await work that needs the search index; respond 503 if the index is unusable."""
    try:
        return await work
    except (IndexUnusable, OSError) as err:
        raise HttpRefusal(503, "index", f"memory cannot be searched now: {err}") from err


def _parse_search_query(given: Mapping[str, str]) -> SearchQuery:
    """Parse a search; a wrong parameter is a 400 that names it."""
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


def _facts_handler(load: Callable[[], Awaitable[Mapping[str, Any]]]) -> Handler:
    async def handle(_: Request) -> Response:
        return json_response(await load())

    return handle
