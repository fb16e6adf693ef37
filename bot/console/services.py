"""The console: what the page and the API read from a running bot and change in it.

It is loaded by the first request for it, see `bot.console.site`.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain
from typing import Any

import structlog

from bot.access.budgets import people_usage_to_json, report_spans, usage_to_json
from bot.access.permissions import CONSOLE_OWNER, is_console_allowed
from bot.console.administration.extensions import McpRoutes, SkillRoutes
from bot.console.administration.passkeys import Passkeys
from bot.console.administration.people import PeopleRoutes
from bot.console.administration.settings import SettingsRoutes
from bot.console.approvals import ApprovalDecider
from bot.console.memory.diary import DiaryRoutes
from bot.console.memory.facts import FactRoutes
from bot.console.memory.search import hits_to_json
from bot.console.operations.backups import BackupRoutes
from bot.console.operations.health import HealthRoutes
from bot.console.operations.jobs import JobRoutes, JobRunner
from bot.console.operations.logs import LogRoutes
from bot.console.operations.push import PushRoutes, build_notifier
from bot.console.operations.replays import ReplayRoutes
from bot.console.operations.traces import TraceRoutes
from bot.console.operations.usage import UsageRoutes
from bot.console.operations.views import ContextServices
from bot.console.transcripts import (
    CONSOLE_ACTOR,
    ReadingAudit,
    SpaceReading,
    TranscriptBackend,
    conversation_name,
    to_entry,
)
from bot.console.wizards.base import Wizard
from bot.console.wizards.mcp import McpWizard
from bot.console.wizards.reminders import ReminderWizard
from bot.console.wizards.skills import SkillWizard
from bot.console.wizards.web_search import WebSearchWizard
from bot.gateway.channel_status import channel_status_to_json
from bot.models.health import model_status_to_json
from bot.runtime.bot import Bot
from bot.telemetry.faults import troubles_to_json
from bot.tools.base import Tool
from bot.tools.memory import format_results
from bot.tools.texts import TOOL_TEXTS
from bot.tools.workspace.files import take_over
from channels.base import Channel
from channels.web.backend import Allow, EventSources
from channels.web.requests import (
    Route,
)
from channels.web.server import WebSite
from memory.recall.documents import SearchRequest
from memory.store.errors import StoreError

log = structlog.get_logger(__name__)
OWNER_SPACE = ""
# beside the owner's, in one search of every memory; each may open an index
MAX_SEARCHED_SPACES = 100


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

    def notified(self, site: WebSite) -> Sequence[Route]:
        """Return the routes of browsers that want notifications."""
        return PushRoutes(build_notifier(self._bot, site)).calls()

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

    def wizards(self, settings: SettingsRoutes) -> Sequence[Wizard]:
        """Return what the page sets up step by step, beside models."""
        bot = self._bot
        return (
            ReminderWizard(kind="say", jobs=bot.jobs, store=bot.store, now=bot.now),
            ReminderWizard(kind="do", jobs=bot.jobs, store=bot.store, now=bot.now),
            SkillWizard(library=bot.skills.library, store=bot.store, workspace=bot.home.workspace),
            McpWizard(file=bot.file, home=bot.home, store=bot.store),
            WebSearchWizard(file=bot.file, settings=settings),
        )

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

    async def tools(self, lang: str = "en") -> Mapping[str, Any]:
        return tools_to_json(self._bot, lang)

    async def usage(self) -> Mapping[str, Any]:
        report: dict[str, Any] = {"unit": "USD"}
        for name, (_, since) in report_spans(self._bot.now()).items():
            used = await self._bot.store.spending.sum_by_person(since)
            report |= {name: usage_to_json(used), f"{name}_people": people_usage_to_json(used)}
        return report


def tools_to_json(bot: Bot, lang: str) -> Mapping[str, Any]:
    """Return the tools of the owner's chats, and what is off there: plug-ins, servers and
    skills.
    """
    toolset = bot.toolset(OWNER_SPACE)
    shown = frozenset(toolset.names())
    enabled = {file.name for file, _ in bot.plugins.library.enabled()}
    on = {skill.name for skill in bot.skills.library.enabled(OWNER_SPACE)}
    return {
        "tools": [
            {**_tool_to_json(tool, lang), "in_prompt": tool.spec.name in shown}
            for tool in toolset.all()
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
            {"name": skill.name, "on": skill.name in on, "problem": skill.problem.text(lang)}
            for skill in bot.skills.library.all()
        ],
    }


def _tool_to_json(tool: Tool, lang: str) -> Mapping[str, Any]:
    spec = tool.spec
    text = None if spec.origin else TOOL_TEXTS.get(spec.name)
    return {
        "name": spec.name,
        "origin": spec.origin,
        "effect": spec.effect,
        "asks": spec.action.endswith(".ask") or spec.action == "exec",
        "description": spec.description,
        "about": text.text(lang) if text else spec.description,
    }
