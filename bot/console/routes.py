"""The routes of the console: each with the action that it needs, its body and its reply.

It is loaded by the first request for it, see `bot.console.site`.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from bot.access.permissions import is_console_allowed
from bot.commands.base import Command
from bot.commands.router import COMMANDS
from bot.commands.trace import trace_to_json
from bot.console import models
from bot.console.administration.access import access_routes
from bot.console.administration.channel_test import ChannelTestRoutes
from bot.console.administration.logins import LoginRoutes
from bot.console.administration.model_setup import ModelSetupRoutes
from bot.console.administration.passkeys import PasskeyRoutes
from bot.console.administration.settings import SettingsRoutes
from bot.console.approvals import ApprovalRoutes
from bot.console.channels import ChannelRoutes
from bot.console.conversations import ConversationRoutes
from bot.console.memory import models as memory_models
from bot.console.memory.files import FileRoutes
from bot.console.openapi import describe_api
from bot.console.operations.views import ViewRoutes
from bot.console.services import BotConsole
from bot.console.tasks import TaskRoutes
from bot.console.transcripts import (
    TranscriptBackend,
)
from bot.console.wizards.model import ModelWizard
from bot.console.wizards.routes import wizard_routes
from bot.runtime.bot import Bot
from bot.tools.workspace.files import NotTakenOver
from channels.phrases import Phrase
from channels.web.backend import Allow
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
from memory.store.errors import IndexUnusable
from memory.store.rows import ConversationRow

Answer = TypeVar("Answer")
READ_OTHERS_ACTION = "memory.read.other"  # also needed to search a space that is not the owner's
MAX_RESULTS = 200
KIND_FACTOR = 4  # so many times the results are looked at if only one kind is wanted


def list_page_commands(lang: str) -> list[Mapping[str, str]]:
    """List the commands that may be typed in the page; Chinese names come first for "zh"."""
    allowed = [command for command in COMMANDS.values() if is_console_allowed(command.action)]
    english = [_command_to_json(item.name, item.usage.text("en"), item) for item in allowed]
    chinese = [_command_to_json(item.name_zh, item.usage.text("zh"), item) for item in allowed]
    return [*chinese, *english] if lang == "zh" else [*english]


def _command_to_json(name: str, usage: str, command: Command) -> Mapping[str, str]:
    zh, en = command.about.text("zh"), command.about.text("en")
    return {"name": name, "usage": usage, "zh": zh, "en": en}


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
    models_setup = ModelSetupRoutes(console.settings, settings)
    routes = (
        *_conversation_routes(handlers),
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
        *console.notified(site),
        *TaskRoutes(console.store, console.jobs).calls(),
        *settings.calls(),
        *models_setup.calls(),
        *wizard_routes(
            (
                *console.wizards(settings),
                ModelWizard(file=console.settings, setup=models_setup, is_fallback=False),
                ModelWizard(file=console.settings, setup=models_setup, is_fallback=True),
            )
        ),
        *_memory_routes(handlers),
        *_overview_routes(console, handlers),
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


def _conversation_routes(handlers: "_ConsoleHandlers") -> tuple[Route, ...]:
    """Return the routes of what one conversation is made of."""
    return (
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
    )


def _overview_routes(console: BotConsole, handlers: "_ConsoleHandlers") -> tuple[Route, ...]:
    """Return the routes of how the bot is, what it may use, and what that cost."""
    return (
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
            handlers.tools,
            models.ToolsBody,
            is_promised=True,
        ),
    )


def _memory_routes(handlers: "_ConsoleHandlers") -> tuple[Route, ...]:
    """Return the routes of searches, of the index, and of files that a person takes over."""
    return (
        Route(
            method="POST",
            path="/api/v1/memory/index",
            action="memory.index",
            handler=handlers.index,
            body=memory_models.IndexBody,
        ),
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

    async def tools(self, request: Request) -> Response:
        """Return the tools of the owner's chats, said in the language of the page."""
        return json_response(await self._console.tools(request_language(request)))

    async def _find(self, request: Request) -> ConversationRow:
        row = await self._transcripts.readable(
            str(request.path_params["id"]), request.state.visitor.id
        )
        if row is None:
            raise HttpRefusal(404, "not_found", Phrase("there is no such conversation"))
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
            raise HttpRefusal(404, "not_found", Phrase("there is no such message"))
        return json_response(trace_to_json(found, self._console.now().tzinfo))

    async def search(self, request: Request, query: memory_models.SearchQueryBody) -> Response:
        search, limit = self._to_search(query), query.limit
        if (search.space or query.everyone) and not self._console.allow(READ_OTHERS_ACTION):
            raise HttpRefusal(403, "denied", Phrase("not allowed"))
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
            raise HttpRefusal(403, "denied", Phrase("not allowed"))
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
            as_of=query.as_of,
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
            raise HttpRefusal(409, "outside", err.phrase, field="path") from err

    async def commands(self, request: Request) -> Response:
        commands = list_page_commands(request_language(request))
        return json_response({"items": [dict(command) for command in commands]})


async def _await_index(work: Awaitable[Answer]) -> Answer:
    """Await work that needs the search index; respond 503 if the index is unusable."""
    try:
        return await work
    except (IndexUnusable, OSError) as err:
        raise HttpRefusal(
            503, "index", Phrase("memory cannot be searched now: {err}", err=err)
        ) from err


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
