"""Routes of the diary: its days, one day whose entries lead to their turns, and nights, which can
be undone.
"""

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from bot.console.memory import models
from bot.console.memory.facts import READ_ACTION, WRITE_ACTION, guard_storage
from bot.console.transcripts import SpaceReading, conversation_name
from channels.phrases import Phrase
from channels.web.requests import HttpRefusal, Route, json_response
from memory.longterm.dream_plan import DreamPlan, load_plan
from memory.longterm.dream_worker import DreamWorker
from memory.store.conversations.titles import shown_title
from memory.store.longterm.rows import DreamRow
from memory.store.store import Store
from memory.workspace.daily_log import LOG_FOLDER, LogEntry, read_entries
from memory.workspace.files import Workspace

MAX_LINES, MAX_LINE_CHARS = 200, 2_000  # of one entry and of one line that a day shows
_LOG = re.compile(rf"{LOG_FOLDER}/(?P<day>\d{{4}}-\d\d-\d\d)(?:-\d)?\.md", re.ASCII)
_DREAM = re.compile(r"[0-9a-z]{26}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class _LogFile:
    """A file of a daily log."""

    space: str
    path: str
    day: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DiaryRoutes:
    """Handlers of days and nights. Only the owner's own nights are undone."""

    store: Store
    access: SpaceReading
    workspace: Workspace
    dreamer: DreamWorker
    #: In the owner's zone.
    now: Callable[[], datetime]

    def calls(self) -> tuple[Route, ...]:
        """Return the routes, with the action each one needs."""
        days, nights = "/api/v1/memory/days", "/api/v1/memory/nights"
        reads = (
            (days, self.days, models.DaysQueryBody, models.DaysBody),
            (f"{days}/{{day}}", self.day, models.SpaceQueryBody, models.DiaryBody),
            (nights, self.nights, models.NightsQueryBody, models.NightPageBody),
        )
        undo = Route(
            method="POST",
            path=f"{nights}/{{id}}/undo",
            action=WRITE_ACTION,
            handler=guard_storage(self.undo),
            reply=models.NightUndoneBody,
        )
        return (
            *(
                Route(
                    method="GET",
                    path=path,
                    action=READ_ACTION,
                    handler=guard_storage(handler),
                    query=query,
                    reply=reply,
                )
                for path, handler, query, reply in reads
            ),
            undo,
        )

    async def days(self, request: Request, query: models.DaysQueryBody) -> Response:
        """List the days of a month that have a diary, with the turns that were folded into each."""
        space = await self.access.readable(query.space, request)
        month = query.month or f"{self.now():%Y-%m}"
        logs = await self._logs(space)
        entries = await asyncio.to_thread(
            lambda: {
                day: [
                    entry for log in logs if log.day == day for entry in self._readable_entries(log)
                ]
                for day in sorted({log.day for log in logs if log.day.startswith(month)})
            }
        )
        items = [
            {"day": day, "turns": _count_turns(held), "entries": len(held)}
            for day, held in entries.items()
        ]
        known = sorted(log.day for log in logs)
        first, last = (known[0], known[-1]) if known else ("", "")
        return json_response({"month": month, "first": first, "last": last, "items": items})

    async def day(self, request: Request, query: models.SpaceQueryBody) -> Response:
        """Return the diary of one day; the entry of a fold leads to its turns."""
        space, day = (
            await self.access.readable(query.space, request),
            str(request.path_params["day"]),
        )
        try:
            date.fromisoformat(day)
        except ValueError as err:
            raise HttpRefusal(404, "not_found", Phrase("there is no such day")) from err
        logs = [log for log in await self._logs(space) if log.day == day]
        held = await asyncio.to_thread(
            lambda: [entry for log in logs for entry in self._entries(log)]
        )
        path = next((log.path for log in logs if not log.space), "")
        return json_response(
            {"day": day, "path": path, "items": [await self._entry_json(entry) for entry in held]}
        )

    async def nights(self, request: Request, query: models.NightsQueryBody) -> Response:
        """Return a page of nights with what each one changed, newest first."""
        space = await self.access.readable(query.space, request)
        rows = await self.store.dreams.page(space, query.cursor, query.limit + 1)
        shown = rows[: query.limit]
        more = shown[-1].id if len(rows) > len(shown) else None
        return json_response({"items": [_night_json(row) for row in shown], "next": more})

    async def undo(self, request: Request) -> Response:
        """Take one night back: its lines go, those it removed come back, later changes stay."""
        space, id = self.access.writable(request), str(request.path_params["id"])
        row = await self.store.dreams.dream(id) if _DREAM.fullmatch(id) else None
        if row is None or row.space != space:
            raise HttpRefusal(404, "not_found", Phrase("there is no such night"))
        report = await self.dreamer.undo(space, id) if row.state != "undone" else None
        if report is None:
            raise HttpRefusal(
                409, "state", Phrase("this night changed nothing, or was already undone")
            )
        return json_response(
            {"whole": report.whole, "back": list(report.back), "gone": list(report.gone)}
        )

    async def _logs(self, space: str) -> list[_LogFile]:
        """List the logs of a space and of the accounts linked to it, by day."""
        members = await self.store.links.members(space)
        found = await asyncio.to_thread(
            lambda: [log for member in members for log in self._logs_of(member)]
        )
        return sorted(found, key=lambda log: (log.day, log.space, log.path))

    def _logs_of(self, space: str) -> list[_LogFile]:
        try:
            paths = [entry.path for entry in self.workspace.space(space).list(LOG_FOLDER)]
        except (FileNotFoundError, NotADirectoryError):
            return []
        matches = [found for found in map(_LOG.fullmatch, paths) if found]
        return [_LogFile(space=space, path=found.group(), day=found["day"]) for found in matches]

    def _entries(self, log: _LogFile) -> list[LogEntry]:
        return read_entries(self.workspace.space(log.space).read(log.path).text)

    def _readable_entries(self, log: _LogFile) -> list[LogEntry]:
        """None of a file that cannot be read: its day says why, and the other days of the month are
        listed.
        """
        try:
            return self._entries(log)
        except (ValueError, FileNotFoundError):
            return []

    async def _entry_json(self, entry: LogEntry) -> Mapping[str, Any]:
        fold = await self.store.folds.fold(entry.fold) if entry.fold else None
        place = await self.store.sessions.conversation(fold.conversation) if fold else None
        return {
            "time": entry.time,
            "channel": entry.channel,
            "from_turn": entry.first_turn,
            "to_turn": entry.last_turn,
            "state": entry.mark if entry.mark in ("stale", "undone") else "",
            "conversation": conversation_name(place) if place else "",
            "title": shown_title(place) if place else "",
            "line": entry.line,
            "lines": [
                {"time": row.time, "speaker": row.speaker, "text": row.text[:MAX_LINE_CHARS]}
                for row in entry.rows[:MAX_LINES]
            ],
            "more": max(0, len(entry.rows) - MAX_LINES),
        }


def _count_turns(entries: list[LogEntry]) -> int:
    return sum(
        entry.last_turn - entry.first_turn + 1 for entry in entries if entry.fold and not entry.mark
    )


def _night_json(row: DreamRow) -> Mapping[str, Any]:
    saved = load_plan(row.plan) if row.plan else None
    plan = saved.plan if saved else DreamPlan()
    return {
        "id": row.id,
        "day": row.day,
        "at": row.at.isoformat(),
        "state": row.state,
        "reason": row.reason,
        "diary": row.diary,
        "merged": [
            {"parts": [part.text for part in merge.parts], "text": merge.text}
            for merge in plan.merges
        ],
        "dropped": [
            {"text": drop.line.text, "by": drop.by, "since": drop.since} for drop in plan.dropped
        ],
        "gathered": [
            {
                "text": note.text,
                "category": note.category,
                "sources": [
                    {"text": line.text, "day": line.day, "line": line.number}
                    for line in note.sources
                ],
            }
            for note in plan.noted
        ],
        "forgotten": bool(row.plan) and saved is None,
    }
