"""The console's calls: context, search, configuration, status, usage; each with the action it needs."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Protocol, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from bot.access.pairing import Pairing
from bot.commands.trace import facts
from bot.console.access import AccessCalls
from bot.console.channels import Channels
from bot.console.files import Files
from bot.console.transcripts import Transcripts, place
from bot.errors import ConfigError
from channels.base import Channel, Hooked
from channels.web.backend import Allow, Doors, Probe
from channels.web.requests import Call, Handler, Refused, answer, read_json
from channels.web.routes import within
from channels.web.server import Site
from memory.store.errors import IndexUnusable
from memory.store.store import Store
from memory.workspace.files import SpaceFiles

# What the console is wired to: one value with a door or a function for each thing it shows.

Told = Callable[[], Awaitable[Mapping[str, Any]]]
"""A page of facts as JSON values."""

Index = Callable[[str | None], Awaitable[Mapping[str, int]]]
"""Make the index of that space anew, of all of them for None; returns how many rows each space has now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A search of the memory. space: "" the owner's; since, until: YYYY-MM-DD, both inclusive; "" for any."""

    query: str
    limit: int
    space: str = ""
    since: str = ""
    until: str = ""
    speaker: str = ""


Search = Callable[[Asked], Awaitable[Sequence[Mapping[str, Any]]]]
"""Results, best first, each as bot.memory.recall.told gives it; none of a space that there is not."""


class Settings(Protocol):
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
class House:
    """Everything behind the console. Conversations go by the store's ids here, not by the names in paths.

    files: the owner's part of the workspace. allow: whether the console may do the named action now.
    stop: end that conversation's running turn. context: the facts of its context.
    saved: called after one of the files was saved here. metrics: figures in the text format that Prometheus reads.
    commands: {name, usage, zh, en} of what may be typed here, for readers of "zh" or "en".
    hooked: the channel of that name, if it takes calls.
    channels: all of them by name. pairing: who may talk, None where nobody asks.
    now: where the owner is.
    """

    store: Store
    files: SpaceFiles
    saved: Callable[[], Awaitable[None]]
    allow: Allow
    stop: Callable[[str], Awaitable[None]]
    context: Callable[[str], Awaitable[Mapping[str, Any]]]
    search: Search
    index: Index
    settings: Settings
    status: Told
    usage: Told
    metrics: Callable[[], Awaitable[str]]
    commands: Callable[[str], Sequence[Mapping[str, str]]]
    healthy: Probe
    ready: Probe
    hooked: Callable[[str], Hooked | None] = lambda name: None
    channels: Callable[[], Mapping[str, Channel]] = dict
    pairing: Pairing | None = None
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


Answer = TypeVar("Answer")
METRICS_TYPE = "text/plain; version=0.0.4"
MOST_RESULTS = 200
USUAL_RESULTS = 10
LONGEST_QUERY = 1_000
LONGEST_NAME = 200
CONSOLE = "console"
"""Who acts here, as the chain of acts names them."""
OTHERS = "memory.read.other"
"""What must be allowed beside memory.read to search a space that is not the owner's."""


def open_site(site: Site, house: House) -> None:
    """From now on the site answers from this house."""
    transcripts = Transcripts(house.store, house.stop, house.allow)
    doors = Doors(
        backend=transcripts,
        allow=house.allow,
        healthy=house.healthy,
        ready=house.ready,
        place=place,
        hooked=house.hooked,
    )
    site.open(doors, calls(house, transcripts))


def calls(house: House, transcripts: Transcripts) -> tuple[Call, ...]:
    """Every route of the console."""
    console = _Console(house, transcripts)
    return (
        _get("/api/conversations/{id}/context", "context.read", console.context),
        _get("/api/conversations/{id}/trace", "console.read", console.trace),
        *Files(house.files, house.saved).calls(),
        *Channels(house.channels).calls(),
        *(AccessCalls(house.pairing).calls() if house.pairing else ()),
        _get("/api/memory/search", "memory.read", console.search),
        Call(method="POST", path="/api/memory/index", action="memory.index", handler=console.index),
        _get("/api/config", "config.read", console.config),
        Call(method="PATCH", path="/api/config", action="config.write", handler=console.change),
        _get("/api/status", "console.read", _told(house.status)),
        _get("/api/usage", "console.read", _told(house.usage)),
        _get("/api/commands", "help", console.commands),
        _get("/metrics", "metrics.read", console.metrics),
    )


class _Console:
    """The handlers that need more than one line."""

    def __init__(self, house: House, transcripts: Transcripts) -> None:
        self._house = house
        self._transcripts = transcripts

    async def context(self, request: Request) -> Response:
        row = await self._transcripts.readable(str(request.path_params["id"]), request.state.visitor.id)
        if row is None:
            raise Refused(404, "not_found", "there is no such conversation")
        return answer(await self._house.context(row.id))

    async def trace(self, request: Request) -> Response:
        """What became of a message, or of the newest one without `message`."""
        row = await self._transcripts.readable(str(request.path_params["id"]), request.state.visitor.id)
        wanted = request.query_params.get("message", "")[:LONGEST_NAME]
        found = await self._house.store.sessions.trace(row.id, of=wanted) if row else None
        if found is None:
            raise Refused(404, "not_found", "there is no such message")
        return answer(facts(found, self._house.now().tzinfo))

    async def search(self, request: Request) -> Response:
        asked = _asked(request.query_params)
        if asked.space and not self._house.allow(OTHERS):
            raise Refused(403, "denied", "not allowed")
        found = await _indexed(self._house.search(asked))
        return answer({"results": [dict(result) for result in found]})

    async def index(self, request: Request) -> Response:
        space = (await read_json(request)).get("space")
        if space is not None and not isinstance(space, str):
            raise Refused(400, "space", "space must be a string; leave it out for all of them")
        rows = await _indexed(self._house.index(space))
        return answer({"spaces": [{"space": name, "rows": count} for name, count in rows.items()]})

    async def config(self, _: Request) -> Response:
        return answer(self._house.settings.masked())

    async def change(self, request: Request) -> Response:
        change = await read_json(request)
        try:
            await asyncio.to_thread(self._house.settings.patch, change)
        except ConfigError as err:
            raise Refused(400, "config", str(err)) from err
        await self._house.store.note("config", ", ".join(change), "set", CONSOLE, args=self._house.settings.masked())
        return answer(self._house.settings.masked())

    async def commands(self, request: Request) -> Response:
        # The page itself is in the browser's first language, which this header begins with.
        lang = "zh" if request.headers.get("accept-language", "").lower().startswith("zh") else "en"
        return answer({"commands": [dict(command) for command in self._house.commands(lang)]})

    async def metrics(self, _: Request) -> Response:
        text = await self._house.metrics()
        return Response(text, 200, {"cache-control": "no-store"}, METRICS_TYPE)


async def _indexed(work: Awaitable[Answer]) -> Answer:
    """What needs the search index; one that cannot be used is a 503 with a sentence."""
    try:
        return await work
    except (IndexUnusable, OSError) as err:
        raise Refused(503, "index", f"memory cannot be searched now: {err}") from err


def _asked(given: Mapping[str, str]) -> Asked:
    """A search as a query string asks for it; what is wrong with it is a 400 that names the parameter."""
    query, speaker = (given.get(name, "").replace("\0", "").strip() for name in ("q", "speaker"))
    if not query or len(query) > LONGEST_QUERY:
        raise Refused(400, "q", f"q must be 1 to {LONGEST_QUERY} characters to search for")
    return Asked(
        query=query,
        limit=within(given.get("limit"), USUAL_RESULTS, MOST_RESULTS),
        space=given.get("space", ""),
        since=_day(given, "since"),
        until=_day(given, "until"),
        speaker=speaker[:LONGEST_NAME],
    )


def _day(given: Mapping[str, str], name: str) -> str:
    text = given.get(name, "")
    try:
        return date.fromisoformat(text).isoformat() if text else ""
    except ValueError as err:
        raise Refused(400, name, f"{name} must be a day such as 2026-11-20") from err


def _get(path: str, action: str, handler: Handler) -> Call:
    return Call(method="GET", path=path, action=action, handler=handler)


def _told(facts: Told) -> Handler:
    async def tell(_: Request) -> Response:
        return answer(await facts())

    return tell
