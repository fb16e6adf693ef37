"""Routes for reminders and tasks of the owner: list, one with how its times ended, pause, resume,
end, run.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from bot.console import models
from bot.console.transcripts import CONSOLE_ACTOR, conversation_name
from bot.jobs.firing import job_key
from bot.jobs.schedule import Schedule, ScheduleRefused
from bot.jobs.service import JobService
from bot.jobs.times import JobRefused
from channels.phrases import Phrase
from channels.web.requests import HttpRefusal, Route, json_response, list_key
from memory.store.automation.jobs import JobRow
from memory.store.rows import to_iso
from memory.store.store import Store

MAX_OCCURRENCES = 50
MAX_NUMBER_DIGITS = 9


class TaskRoutes:
    """Handlers of /api/v1/tasks; a task is named by its number, with or without the letter r."""

    def __init__(self, store: Store, jobs: JobService) -> None:
        self._store = store
        self._jobs = jobs
        self._acts: dict[str, Callable[[JobRow, str], Awaitable[object]]] = {
            "pause": jobs.pause,
            "resume": jobs.resume,
            "cancel": jobs.end,
            "run": jobs.run_now,
        }

    def calls(self) -> tuple[Route, ...]:
        """Return the routes, with the action each one needs."""
        one = "/api/v1/tasks/{id}"
        return (
            Route(
                method="GET",
                path="/api/v1/tasks",
                action="console.read",
                handler=self.list,
                query=models.TaskQueryBody,
                reply=models.TaskListBody,
                is_promised=True,
            ),
            Route(
                method="GET",
                path=one,
                action="console.read",
                handler=self.show,
                reply=models.TaskBody,
                is_promised=True,
            ),
            Route(
                method="POST",
                path=one,
                action="console.write",
                handler=self.change,
                body=models.TaskActBody,
                reply=models.TaskBody,
                is_promised=True,
            ),
        )

    async def list(self, request: Request, query: models.TaskQueryBody) -> Response:
        """Return the open ones, by number; with `all` the ended ones too."""
        jobs = self._store.jobs
        rows = await jobs.of_space("") if query.all else await jobs.open_jobs("")
        return json_response(
            {list_key(request, "tasks"): [await self._to_json(row) for row in rows]}
        )

    async def show(self, request: Request) -> Response:
        """Return one, with how its newest times ended, newest first."""
        row = await self._find(request)
        ended = await self._store.jobs.occurrences(row.id, MAX_OCCURRENCES)
        held = await self._store.jobs.held_sources(row.conversation)
        occurrences = [
            {
                "due": to_iso(one.due),
                "state": one.state,
                "reason": one.reason,
                "at": to_iso(one.at),
                # What it says waits until the person writes.
                "awaits_user": job_key(row.id, one.due) in held
                or f"{one.inbox_row}:answer" in held,
            }
            for one in ended
        ]
        return json_response({**await self._to_json(row), "occurrences": occurrences})

    async def change(self, request: Request, body: models.TaskActBody) -> Response:
        """Do what `action` says: pause, resume, cancel or run."""
        row = await self._find(request)
        try:
            await self._jobs.find(row.space, row.number)
            await self._acts[body.action](row, CONSOLE_ACTOR)
        except JobRefused as err:
            raise HttpRefusal(409, "task", err.phrase) from err
        return json_response(await self._to_json(await self._find(request)))

    async def _find(self, request: Request) -> JobRow:
        digits = str(request.path_params["id"]).lower().removeprefix("r")
        row = None
        if digits.isascii() and digits.isdigit() and len(digits) <= MAX_NUMBER_DIGITS:
            row = await self._store.jobs.find("", int(digits))
        if row is None:
            raise HttpRefusal(404, "not_found", Phrase("there is no such task"))
        return row

    async def _to_json(self, row: JobRow) -> dict[str, Any]:
        conversation = await self._store.sessions.conversation(row.conversation)
        try:
            schedule = Schedule.from_json(row.schedule)
        except ScheduleRefused:  # damaged
            schedule = Schedule(zone="")
        return {
            "id": f"r{row.number}",
            "kind": row.kind,
            "text": row.body,
            "state": row.state,
            "reason": row.reason,
            "next_at": to_iso(row.next_at) if row.state == "on" else None,
            "extra": row.extra,
            "zone": schedule.zone,
            "at": schedule.at,
            "every_minutes": schedule.minutes,
            "cron": schedule.cron,
            "until": schedule.until,
            "runs_left": row.runs_left,
            "fails": row.fails,
            "conversation": conversation_name(conversation) if conversation else "",
            "made_at": to_iso(row.at),
        }
