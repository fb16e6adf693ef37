"""The console: what the page and the API read from a running bot and change in it, and the routes
to it.

It is loaded by the first request for it, see `bot.console.site`.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain
from typing import Any, TypeVar

import structlog
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from bot.access.budgets import people_usage_to_json, report_spans, usage_to_json
from bot.access.permissions import CONSOLE_OWNER, is_console_allowed
from bot.commands.router import COMMANDS
from bot.commands.trace import trace_to_json
from bot.console import models
from bot.console.administration.access import access_routes
from bot.console.administration.channel_test import ChannelTestRoutes
from bot.console.administration.extensions import McpRoutes, SkillRoutes
from bot.console.administration.logins import LoginRoutes
from bot.console.administration.model_setup import ModelSetupRoutes
from bot.console.administration.passkeys import PasskeyRoutes, Passkeys
from bot.console.administration.people import PeopleRoutes
from bot.console.administration.settings import SettingsRoutes
from bot.console.approvals import ApprovalDecider, ApprovalRoutes
from bot.console.channels import ChannelRoutes
from bot.console.conversations import ConversationRoutes
from bot.console.memory import models as memory_models
from bot.console.memory.diary import DiaryRoutes
from bot.console.memory.facts import FactRoutes
from bot.console.memory.files import FileRoutes
from bot.console.memory.search import hits_to_json
from bot.console.openapi import describe_api
from bot.console.operations.backups import BackupRoutes
from bot.console.operations.health import HealthRoutes
from bot.console.operations.jobs import JobRoutes, JobRunner
from bot.console.operations.logs import LogRoutes
from bot.console.operations.replays import ReplayRoutes
from bot.console.operations.traces import TraceRoutes
from bot.console.operations.usage import UsageRoutes
from bot.console.operations.views import ContextServices, ViewRoutes
from bot.console.tasks import TaskRoutes
from bot.console.transcripts import (
    CONSOLE_ACTOR,
    ReadingAudit,
    SpaceReading,
    TranscriptBackend,
    conversation_name,
    to_entry,
)
from bot.gateway.channel_status import channel_status_to_json
from bot.models.health import model_status_to_json
from bot.runtime.bot import Bot
from bot.telemetry.faults import troubles_to_json
from bot.tools.base import Tool
from bot.tools.memory import format_results
from bot.tools.workspace.files import NotTakenOver, take_over
from channels.base import Channel
from channels.web.backend import Allow, EventSources
from channels.web.models import WaitingBody
from channels.web.requests import (
    Handler,
    HttpRefusal,
    Route,
    json_response,
    list_key,
    request_language,
)
from channels.web.server import Console, WebSite
from memory.recall.documents import SearchRequest
from memory.store.errors import IndexUnusable, StoreError
from memory.store.rows import ConversationRow

log = structlog.get_logger(__name__)
Answer = TypeVar("Answer")
OWNER_SPACE = ""
READ_OTHERS_ACTION = "memory.read.other"  # also needed to search a space that is not the owner's
MAX_RESULTS = 200
KIND_FACTOR = 4  # so many times the results are looked at if only one kind is wanted
# beside the owner's, in one search of every memory; each may open an index
MAX_SEARCHED_SPACES = 100


def list_page_commands(lang: str) -> list[Mapping[str, str]]:
    """List the commands that may be typed in the page; Chinese names come first for "zh"."""
    allowed = [command for command in COMMANDS.values() if is_console_allowed(command.action)]
    english = [
        {"name": item.name, "usage": item.usage, "zh": item.zh, "en": item.en} for item in allowed
    ]
    chinese = [
        {"name": item.name_zh, "usage": item.usage_zh, "zh": item.zh, "en": item.en}
        for item in allowed
    ]
    return [*chinese, *english] if lang == "zh" else [*english]


class BotConsole:
    """What the console does with one running bot. Conversations are named by the store's ids."""

    def __init__(self, bot: Bot, allow: Allow = is_console_allowed) -> None:
        """allow: tells whether the console may do an action now."""
        self._bot = bot
        self.allow = allow
        self.store = bot.store
        #: The owner's files.
        self.files = bot.workspace.space("")
        self.settings = bot.file
        self.context_services = ContextServices(
            fitter=bot.fitter, folding=bot.folding, workspace=bot.workspace, config=bot.config
        )
        self.pairing = bot.pairing
        self.jobs = bot.jobs
        self.decider: ApprovalDecider = bot
        self.channels: Mapping[str, Channel] = bot.channels
        self.deletions = bot.deletions
        self.blobs = bot.blobs
        self.passkeys = Passkeys(bot.home.passkeys)

    def now(self) -> datetime:
        """Return the time in the owner's zone."""
        return self._bot.now()

    def managed(self) -> Sequence[Route]:
        """Return the routes of single people, skills and servers of tools."""
        bot = self._bot
        people = PeopleRoutes(
            store=bot.store,
            pairing=bot.pairing,
            config=bot.config,
            now=bot.now,
            channels=bot.channels,
            workspace=bot.workspace,
            blobs=bot.blobs,
            deletion=bot.person_deletion,
        )
        skills = SkillRoutes(
            library=bot.skills.library, store=bot.store, workspace=bot.home.workspace
        )
        return (*people.calls(), *skills.calls(), *McpRoutes(tools=bot.mcp_tools).calls())

    def remembered(self) -> Sequence[Route]:
        """Return the routes of the memory, beside its files and its search."""
        bot = self._bot

        async def names() -> Mapping[str, str]:
            return {
                f"{row['channel']}:{row['id']}": row["name"]
                for row in (await self.pairing.facts())["people"]
            }

        service = bot.memory_service
        access = SpaceReading(
            store=bot.store, spaces=bot.spaces, audit=ReadingAudit(bot.store.note, self.allow)
        )
        facts = FactRoutes(
            store=bot.store,
            access=access,
            names=names,
            memories=service.memories,
            forgetter=service.forgetter,
        )
        diary = DiaryRoutes(
            store=bot.store,
            access=access,
            workspace=bot.workspace,
            dreamer=service.dreamer,
            now=bot.now,
        )
        return (*facts.calls(), *diary.calls())

    async def context(self, conversation: str) -> Mapping[str, Any]:
        """Return the facts of the conversation's context."""
        facts: Mapping[str, Any] = await self._bot.report.facts(conversation)
        return facts

    async def segments(self, conversation: str) -> Sequence[Mapping[str, Any]]:
        """Return the text of the conversation's next request, piece by piece."""
        segments: Sequence[Mapping[str, Any]] = await self._bot.report.segments(conversation)
        return segments

    async def saved(self) -> None:
        """Match edited lines with their memories; if that fails, the next check of the file does
        it.
        """
        try:
            await self._bot.memories("").reconcile()
        except (StoreError, OSError) as err:
            log.warning("an edited file was not read", error=str(err))

    async def search(
        self, request: SearchRequest, of_kind: str = ""
    ) -> Sequence[Mapping[str, Any]]:
        """Return results as JSON, best first; none for an unknown space. of_kind: "" for all."""
        if request.space and request.space not in await self._bot.spaces():
            return []
        return await self._search(request, of_kind)

    async def _search(self, request: SearchRequest, of_kind: str) -> Sequence[Mapping[str, Any]]:
        bot = self._bot
        if request.space:
            await bot.store.note(
                "memory.read.other", request.space, "searched", CONSOLE_OWNER.channel
            )
        passages = await bot.recall.search(request)
        if of_kind:
            passages = [passage for passage in passages if passage.kind == of_kind]
        results = await asyncio.to_thread(hits_to_json, passages, request.query)
        for result in results:
            if row := await bot.store.sessions.conversation(result.get("conversation", "")):
                result["conversation"] = conversation_name(row)  # as paths name it
                result["title"] = to_entry(row).title
        return results

    async def search_everyone(
        self, request: SearchRequest, of_kind: str = ""
    ) -> tuple[Sequence[Mapping[str, Any]], int]:
        """Search every memory, those with the newest conversations first; also how many are left
        out beyond a bound.
        """
        newest = [row.place.space for row in await self._bot.store.conversations.newest_by_space()]
        others = newest[:MAX_SEARCHED_SPACES]
        found = [
            await self._search(replace(request, space=space), of_kind) for space in ("", *others)
        ]
        best = sorted(chain.from_iterable(found), key=lambda hit: -float(hit["score"]))
        return best[: request.limit], len(newest) - len(others)

    async def model_text(self, request: SearchRequest) -> str:
        """Return what the same search by the model gives it, in a conversation that has said none
        of it.
        """
        found = await self._bot.recall.search(replace(request, hide_live_of=CONSOLE_ACTOR))
        return format_results(found, CONSOLE_ACTOR)

    async def index(self, space: str | None) -> Mapping[str, int]:
        """Rebuild the index of a space, or of all; return the number of rows of each."""
        known = await self._bot.spaces()
        chosen = known if space is None else [name for name in known if name == space]
        return {name: await self._bot.recall.rebuild(name) for name in chosen}

    async def take_over(self, path: str) -> int:
        """Let a file of the owner's workspace count as theirs; return how many labels it had.

        Raises:
            NotTakenOver: it cannot be.
        """
        return await take_over(
            self.store.file_labels, self._bot.home.workspace, path, CONSOLE_ACTOR
        )

    def operating(self, transcripts: TranscriptBackend) -> tuple[tuple[Route, ...], EventSources]:
        """Return the routes to run this bot, and the topics of the event stream."""
        bot, jobs, logs = self._bot, JobRunner(), LogRoutes(self._bot.home.log)
        bot.on_close.append(jobs.close)
        routes = (
            *UsageRoutes(bot, transcripts).calls(),
            *JobRoutes(jobs).calls(),
            *BackupRoutes(bot, jobs).calls(),
            *HealthRoutes(bot, jobs).calls(),
            *logs.calls(),
            *TraceRoutes(bot, transcripts).calls(),
            *ReplayRoutes(bot.home, jobs, transcripts).calls(),
        )
        return routes, {"jobs": jobs.follow, "logs": logs.follow}

    async def status(self, lang: str = "en") -> Mapping[str, Any]:
        bot = self._bot
        return {
            "started": bot.started.isoformat(),
            "uptime_seconds": round((bot.now() - bot.started).total_seconds()),
            "provider": bot.models.provider,
            "model": bot.models.name,
            "fast_model": bot.models.fast_name,
            "trouble": bot.models.trouble,
            "models": [model_status_to_json(state) for state in bot.models.states()],
            "waiting": len(await bot.store.delivery.waiting()),
            "database": bot.store.file_trouble() or "ok",
            "unsent": len(await bot.store.delivery.unsent()),
            "channels": {
                name: channel_status_to_json(state) for name, state in bot.states().items()
            },
            "troubles": troubles_to_json(bot.troubles.current(), lang),
        }

    async def waiting(self) -> Mapping[str, Any]:
        """Count what waits for the owner."""
        bot = self._bot
        states = bot.states().values()
        return {
            "pairing": len(await self.pairing.access.requests()),
            "approvals": len(await self.store.access.open_approvals("", self.store.now())),
            "logins": sum(state.phase in ("asking", "logged_out") for state in states),
            "checks": len(bot.troubles.current()) + bool(bot.models.trouble),
            "key_missing": bot.models.provider == "offline",
        }

    async def tools(self) -> Mapping[str, Any]:
        return tools_to_json(self._bot)

    async def usage(self) -> Mapping[str, Any]:
        report: dict[str, Any] = {"unit": "USD"}
        for name, (_, _, since) in report_spans(self._bot.now()).items():
            used = await self._bot.store.spending.sum_by_person(since)
            report |= {name: usage_to_json(used), f"{name}_people": people_usage_to_json(used)}
        return report


def tools_to_json(bot: Bot) -> Mapping[str, Any]:
    """Return the tools of the owner's chats, and what is off there: plug-ins, servers and
    skills.
    """
    toolset = bot.toolset(OWNER_SPACE)
    shown = frozenset(toolset.names())
    enabled = {file.name for file, _ in bot.plugins.library.enabled()}
    on = {skill.name for skill in bot.skills.library.enabled(OWNER_SPACE)}
    return {
        "tools": [
            {**_tool_to_json(tool), "in_prompt": tool.spec.name in shown} for tool in toolset.all()
        ],
        "off": list(bot.config().tools.off),
        "plugins": [
            {"name": file.name, "on": file.name in enabled, "problem": file.problem}
            for file in bot.plugins.library.all()
        ],
        "missing": {
            tool.spec.name: missing for tool in bot.plugins.all() if (missing := tool.missing())
        },
        "servers": [
            {
                "name": view.name,
                "state": view.status.state,
                "why": view.status.why,
                "reviewed": view.reviewed,
                "offered": view.offered,
                "changed": view.changed,
                "listed": view.listed,
            }
            for view in bot.mcp_tools.views()
        ],
        "skills": [
            {"name": skill.name, "on": skill.name in on, "problem": skill.problem}
            for skill in bot.skills.library.all()
        ],
    }


def _tool_to_json(tool: Tool) -> Mapping[str, Any]:
    spec = tool.spec
    return {
        "name": spec.name,
        "origin": spec.origin,
        "effect": spec.effect,
        "asks": spec.action.endswith(".ask") or spec.action == "exec",
        "description": spec.description,
    }


def build_bot_console(
    bot: Bot, transcripts: TranscriptBackend, site: WebSite, allow: Allow
) -> Console:
    """Build the console of a bot."""
    return build_console(BotConsole(bot, allow), transcripts, site)


def build_console(console: BotConsole, transcripts: TranscriptBackend, site: WebSite) -> Console:
    """Build the routes of the console on a site, beside those of the web channel."""
    operating, sources = console.operating(transcripts)
    handlers = _ConsoleHandlers(console, transcripts)
    settings = SettingsRoutes(console.settings, console.store, os.environ)
    routes = (
        _get_route(
            "/api/v1/conversations/{id}/context",
            "context.read",
            handlers.context,
            models.ContextFactsBody,
            is_promised=True,
        ),
        _get_route(
            "/api/v1/conversations/{id}/view", "context.read", handlers.view, models.ViewBody
        ),
        _get_route(
            "/api/v1/conversations/{id}/trace",
            "console.read",
            handlers.trace,
            models.TraceBody,
            query=models.MessageTraceQueryBody,
        ),
        *ConversationRoutes(console.store, transcripts, console.deletions, console.blobs).calls(),
        *ViewRoutes(console.context_services, console.store, transcripts).calls(),
        *FileRoutes(console.files, console.saved).calls(),
        *ChannelRoutes(console.channels).calls(),
        *ChannelTestRoutes(console.settings).calls(),
        *access_routes(console.pairing, site.gate),
        *console.managed(),
        *console.remembered(),
        *ApprovalRoutes(console.store, console.pairing.roles, console.decider).calls(),
        *PasskeyRoutes(console.passkeys, site.gate, console.store).calls(),
        *LoginRoutes(site.gate, console.store, console.passkeys.all).calls(),
        *TaskRoutes(console.store, console.jobs).calls(),
        *settings.calls(),
        *ModelSetupRoutes(console.settings, settings).calls(),
        *_search_routes(handlers),
        Route(
            method="POST",
            path="/api/v1/memory/index",
            action="memory.index",
            handler=handlers.index,
            body=memory_models.IndexBody,
        ),
        _get_route(
            "/api/v1/status", "console.read", handlers.status, models.StatusBody, is_promised=True
        ),
        _get_route("/api/v1/waiting", "console.read", _facts_handler(console.waiting), WaitingBody),
        _get_route(
            "/api/v1/usage",
            "console.read",
            _facts_handler(console.usage),
            models.UsageBody,
            is_promised=True,
        ),
        _get_route(
            "/api/v1/tools",
            "console.read",
            _facts_handler(console.tools),
            models.ToolsBody,
            is_promised=True,
        ),
        _get_route("/api/v1/commands", "help", handlers.commands, models.CommandListBody),
        _get_route(
            "/api/v1/openapi.json", "console.read", _facts_handler(lambda: describe_api(site.calls))
        ),
        *operating,
    )
    return Console(
        routes=routes,
        sources=sources,
        login_options=console.passkeys.login_options,
        verify_passkey=console.passkeys.verify,
    )


def _search_routes(handlers: "_ConsoleHandlers") -> tuple[Route, ...]:
    return (
        Route(
            method="POST",
            path="/api/v1/memory/mine",
            action="files.write",
            handler=handlers.mine,
            body=memory_models.MineBody,
            reply=memory_models.TakenOverBody,
        ),
        _get_route(
            "/api/v1/memory/search",
            "memory.read",
            handlers.search,
            memory_models.SearchHitsBody,
            query=memory_models.SearchQueryBody,
            is_promised=True,
        ),
        _get_route(
            "/api/v1/memory/search/model",
            "memory.read",
            handlers.model_text,
            memory_models.ModelTextBody,
            query=memory_models.SearchQueryBody,
        ),
    )


class _ConsoleHandlers:
    """Handlers over the console."""

    def __init__(self, console: BotConsole, transcripts: TranscriptBackend) -> None:
        self._console = console
        self._transcripts = transcripts

    async def status(self, request: Request) -> Response:
        """Return the state of the bot, its troubles in the language of the page."""
        return json_response(await self._console.status(request_language(request)))

    async def _find(self, request: Request) -> ConversationRow:
        row = await self._transcripts.readable(
            str(request.path_params["id"]), request.state.visitor.id
        )
        if row is None:
            raise HttpRefusal(404, "not_found", "there is no such conversation")
        return row

    async def context(self, request: Request) -> Response:
        row = await self._find(request)
        return json_response(await self._console.context(row.id))

    async def view(self, request: Request) -> Response:
        """Return the text of the conversation's next request, piece by piece."""
        row = await self._find(request)
        items = await self._console.segments(row.id)
        # of an import they have megabytes
        return await asyncio.to_thread(json_response, {"items": items})

    async def trace(self, request: Request, query: models.MessageTraceQueryBody) -> Response:
        """Return the trace of a message; of the newest one without `message`."""
        row = await self._find(request)
        found = await self._console.store.sessions.trace(row.id, of=query.message)
        if found is None:
            raise HttpRefusal(404, "not_found", "there is no such message")
        return json_response(trace_to_json(found, self._console.now().tzinfo))

    async def search(self, request: Request, query: memory_models.SearchQueryBody) -> Response:
        search, limit = self._to_search(query), query.limit
        if (search.space or query.everyone) and not self._console.allow(READ_OTHERS_ACTION):
            raise HttpRefusal(403, "denied", "not allowed")
        if query.kind:  # other kinds are left out of what is found
            search = replace(search, limit=min(MAX_RESULTS, limit * KIND_FACTOR))
        left_out: dict[str, int] = {}
        if query.everyone:
            found, left = await _await_index(self._console.search_everyone(search, query.kind))
            left_out = {"left_out": left}
        else:
            found = await _await_index(self._console.search(search, query.kind))
        return json_response(
            {list_key(request, "results"): [dict(result) for result in found[:limit]], **left_out}
        )

    async def model_text(self, _: Request, query: memory_models.SearchQueryBody) -> Response:
        """Return what the model gets from this search, in the owner's memory."""
        if query.space:
            raise HttpRefusal(403, "denied", "not allowed")
        text = await _await_index(self._console.model_text(self._to_search(query)))
        return json_response({"text": text})

    def _to_search(self, query: memory_models.SearchQueryBody) -> SearchRequest:
        return SearchRequest(
            query=query.q,
            now=self._console.now(),
            limit=query.limit,
            space=query.space,
            since=query.since,
            until=query.until,
            speaker=query.speaker,
        )

    async def index(self, _: Request, body: memory_models.IndexBody) -> Response:
        """Rebuild the search index of one memory, or of all."""
        rows = await _await_index(self._console.index(body.space))
        spaces = [{"space": name, "rows": count} for name, count in rows.items()]
        return json_response({"spaces": spaces})

    async def mine(self, _: Request, body: memory_models.MineBody) -> Response:
        """Let a file or folder of the owner count as theirs, whatever wrote it."""
        try:
            return json_response({"removed": await self._console.take_over(body.path)})
        except NotTakenOver as err:
            raise HttpRefusal(409, "outside", str(err), field="path") from err

    async def commands(self, request: Request) -> Response:
        commands = list_page_commands(request_language(request))
        return json_response({"items": [dict(command) for command in commands]})


async def _await_index(work: Awaitable[Answer]) -> Answer:
    """Await work that needs the search index; respond 503 if the index is unusable."""
    try:
        return await work
    except (IndexUnusable, OSError) as err:
        raise HttpRefusal(503, "index", f"memory cannot be searched now: {err}") from err


def _get_route(
    path: str,
    action: str,
    handler: Handler,
    reply: type[BaseModel] | None = None,
    *,
    query: type[BaseModel] | None = None,
    is_promised: bool = False,
) -> Route:
    return Route(
        method="GET",
        path=path,
        action=action,
        handler=handler,
        reply=reply,
        query=query,
        is_promised=is_promised,
    )


def _facts_handler(load: Callable[[], Awaitable[Mapping[str, Any]]]) -> Handler:
    async def handle(_: Request) -> Response:
        return json_response(await load())

    return handle
