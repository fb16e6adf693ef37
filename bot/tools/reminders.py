"""The tools for what happens later: make, list and change reminders and tasks."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from pydantic import Field

from bot.access.permissions import Actor
from bot.errors import ToolFailed
from bot.jobs.schedule import Schedule, ScheduleRefused
from bot.jobs.service import JobRequest, JobService, format_job_line, sort_by_time
from bot.jobs.times import JobRefused
from bot.tools.base import LazyToolSpec, ToolArguments, ToolContext
from memory.store.automation.jobs import JobRow


class RemindArguments(ToolArguments):
    """Arguments of `remind`."""

    what: str
    kind: Literal["say", "do"] = Field(
        "say", description="say: it is sent as it stands; do: you do it then"
    )
    at: str = Field("", description="Local, as 2026-11-30T09:00")
    every_minutes: int = Field(0, ge=0)
    cron: str = ""
    zone: str = Field("", description="IANA")
    until: str = ""
    count: int = Field(0, ge=0)
    deliver: str = Field("", description="Channel, if not here")


class RemindTool:
    """Makes a job. Idempotent: an equal one is found instead."""

    arguments = RemindArguments
    spec = LazyToolSpec(
        arguments,
        name="remind",
        description=(
            "Remind the person, or do something for them, later. Give one of at, every_minutes, "
            "cron."
        ),
        effect="idempotent",
        action="task.own",
        outside=False,
    )

    def __init__(self, jobs: JobService) -> None:
        self._jobs = jobs

    async def run(self, arguments: RemindArguments, context: ToolContext) -> str:
        if context.actor is None:
            raise ToolFailed("It is not known who asks for this.")
        tainted = (await context.load_message()).tainted
        if tainted and arguments.kind == "do":
            raise ToolFailed(
                "Words from outside are in view, so no task is set up from them. The person can do "
                "it themselves: /remind do WHEN WHAT."
            )
        zone = arguments.zone or await self._jobs.times.zone_of(context.actor)
        schedule = _build_schedule(arguments, zone, context.now(), arguments.until)
        request = JobRequest(
            actor=context.actor,
            space=context.space,
            conversation=context.conversation,
            kind=arguments.kind,
            words=arguments.what,
            schedule=schedule,
            count=arguments.count,
            tainted=tainted,
            deliver=arguments.deliver.strip(),
        )
        try:
            row = await self._jobs.add(request)
        except JobRefused as err:
            raise ToolFailed(str(err)) from err
        return f"Set, and shown to the person: {format_job_line(row, context.now())}"


class RemindersArguments(ToolArguments):
    """Arguments of `reminders`."""

    cancel: int = Field(0, ge=0)
    pause: int = Field(0, ge=0)
    resume: int = Field(0, ge=0)
    move: int = Field(0, ge=0, description="Give a time too")
    at: str = ""
    every_minutes: int = Field(0, ge=0)
    cron: str = ""


class RemindersTool:
    """Lists the jobs of the chat's space, and changes one."""

    arguments = RemindersArguments
    spec = LazyToolSpec(
        arguments,
        name="reminders",
        description="List the reminders and tasks, or change one by its number.",
        effect="idempotent",
        action="task.own",
        outside=False,
    )

    def __init__(self, jobs: JobService) -> None:
        self._jobs = jobs

    async def run(self, arguments: RemindersArguments, context: ToolContext) -> str:
        actor = context.actor
        known = await self._jobs.jobs.open_jobs(context.space)
        rows = [row for row in known if await self._jobs.is_of(row, context.conversation, actor)]
        numbers = [
            number
            for number in (arguments.cancel, arguments.pause, arguments.resume, arguments.move)
            if number
        ]
        if not numbers:
            lines = [format_job_line(row, context.now()).text("en") for row in sort_by_time(rows)]
            return "\n".join(lines) or "There are none."
        if len(numbers) > 1:
            raise ToolFailed("Change one reminder in one call.")
        row = _find_own(rows, numbers[0], actor)
        if row is None or actor is None:
            raise ToolFailed(f"There is no open reminder r{numbers[0]} of this person here.")
        try:
            return await self._change(row, actor, arguments, context)
        except JobRefused as err:
            raise ToolFailed(str(err)) from err

    async def _change(
        self, row: JobRow, actor: Actor, arguments: RemindersArguments, context: ToolContext
    ) -> str:
        """End, pause, resume or move a job.

        Raises:
            JobRefused: an impossible time.
        """
        if arguments.cancel:
            await self._jobs.end(row, actor.id)
            return f"r{row.number} is ended."
        if arguments.pause:
            await self._jobs.pause(row, actor.id)
            return f"r{row.number} is paused."
        if arguments.resume:
            resumed = await self._jobs.resume(row, actor.id)
            return f"Resumed: {format_job_line(resumed, context.now())}"
        schedule = _build_schedule(arguments, await self._zone_of(row, actor), context.now())
        moved = await self._jobs.edit(row, actor, "", schedule)
        return f"Moved, and shown to the person: {format_job_line(moved, context.now())}"

    async def _zone_of(self, row: JobRow, actor: Actor) -> str:
        """Return the zone that a job was set in; the person's if that cannot be read any more."""
        try:
            return Schedule.from_json(row.schedule).zone
        except ScheduleRefused:
            return await self._jobs.times.zone_of(actor)


def _find_own(rows: Sequence[JobRow], number: int, actor: Actor | None) -> JobRow | None:
    """Return a job by its number, if this person made it."""
    if actor is None:
        return None
    mine = (row for row in rows if (row.channel, row.person) == (actor.channel, actor.id))
    return next((row for row in mine if row.number == number), None)


def _build_schedule(
    arguments: RemindArguments | RemindersArguments, zone: str, now: datetime, until: str = ""
) -> Schedule:
    minutes = arguments.every_minutes
    return Schedule(
        zone=zone,
        at=arguments.at,
        minutes=minutes,
        cron=arguments.cron,
        start=now.timestamp() + minutes * 60 if minutes else 0.0,
        until=until,
    )
