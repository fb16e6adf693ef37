"""The tools for what happens later: make, list and end reminders and tasks."""

from typing import Literal

from pydantic import Field

from bot.errors import ToolFailed
from bot.jobs.schedule import Schedule
from bot.jobs.service import JobRequest, JobService, format_job_line
from bot.jobs.times import JobRefused
from bot.tools.base import LazyToolSpec, ToolArguments, ToolContext


class RemindArguments(ToolArguments):
    """Arguments of `remind`."""

    what: str
    kind: Literal["say", "do"] = "say"
    at: str = Field("", description="Local time without offset: 2026-11-30T09:00")
    every_minutes: int = Field(0, ge=0)
    cron: str = Field("", description="minute hour day month weekday")
    zone: str = Field("", description="IANA name, if not the person's")
    until: str = ""
    count: int = Field(0, ge=0)
    deliver: str = Field("", description="Channel, such as telegram, if it is for the person's chat there, not here")


class RemindTool:
    """Makes a job. Idempotent: an equal one is found instead."""

    arguments = RemindArguments
    spec = LazyToolSpec(
        arguments,
        name="remind",
        description=(
            "Remind the person later: `say` sends `what` as it stands, `do` has you carry it out then. Give one of at, "
            "every_minutes, cron. The program shows the person the time it understood."
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
                "Words from outside are in view, so no task is set up from them. The person can do it themselves: "
                "/remind do WHEN WHAT."
            )
        zone = arguments.zone or await self._jobs.times.zone_of(context.actor)
        start = context.now().timestamp() + arguments.every_minutes * 60 if arguments.every_minutes else 0.0
        schedule = Schedule(
            zone=zone,
            at=arguments.at,
            minutes=arguments.every_minutes,
            cron=arguments.cron,
            start=start,
            until=arguments.until,
        )
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
        return f"Set, and shown to the person: {format_job_line(row, context.now(), 'en')}"


class RemindersArguments(ToolArguments):
    """Arguments of `reminders`."""

    cancel: int = Field(0, ge=0, description="Number of the one to end")


class RemindersTool:
    """Lists the jobs of the chat's space, and ends one."""

    arguments = RemindersArguments
    spec = LazyToolSpec(
        arguments,
        name="reminders",
        description="List the reminders and tasks, or end one.",
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
        if not arguments.cancel:
            return "\n".join(format_job_line(row, context.now(), "en") for row in rows) or "There are none."
        row = next((row for row in rows if row.number == arguments.cancel), None)
        if row is None or actor is None or (actor.channel, actor.id) != (row.channel, row.person):
            raise ToolFailed(f"There is no open reminder r{arguments.cancel} of this person here.")
        await self._jobs.end(row, actor.id)
        return f"r{row.number} is ended."
