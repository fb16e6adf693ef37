"""Makes, lists and changes the jobs of people, within their limits."""

import hashlib
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot.access.permissions import Actor
from bot.config.schema import Config
from bot.errors import MnemaError
from bot.jobs.schedule import Schedule, ScheduleRefused, check_schedule, format_moment, next_run
from memory.store.people.jobs import JobKind, JobRow, Jobs, NewJob
from memory.text.normalize import normalize_text

MAX_BODY_CHARS = 2_000
Announce = Callable[[str, str, str, str], Awaitable[None]]


class JobRefused(MnemaError):
    """The job cannot be made or changed; the text, in English and as `zh` in Chinese, says what would be right."""

    def __init__(self, en: str, zh: str) -> None:
        super().__init__(en)
        self.zh = zh


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRequest:
    """What a person, or the model for them, wants done later."""

    actor: Actor
    space: str
    conversation: str
    kind: JobKind
    words: str
    schedule: Schedule
    #: How often it happens at most; 0 for no limit.
    count: int = 0
    tainted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class JobService:
    """Makes and changes jobs."""

    jobs: Jobs
    config: Callable[[], Config]
    #: The current time, with a zone.
    now: Callable[[], datetime]
    #: Sends a notice: conversation, Chinese text, English text, key.
    announce: Announce
    #: Called when a job may be due sooner than before.
    changed: Callable[[], None]
    #: The machine's zone, for a configuration without one.
    machine_zone: str = field(default_factory=lambda: find_machine_zone())

    @property
    def zone(self) -> str:
        """The name of the owner's zone."""
        return self.config().timezone or self.machine_zone

    async def add(self, request: JobRequest) -> JobRow:
        """Store a job and tell the chat of it, in the program's own words; an equal one is returned as it is.

        Raises:
            JobRefused: an impossible time, no words, or too many jobs.
        """
        words, owner = request.words.strip(), request.actor.role == "owner"
        if not words or len(words) > MAX_BODY_CHARS:
            raise JobRefused(
                f"Say what is to happen, in {MAX_BODY_CHARS:,} characters at most.",
                f"请写明要做什么，最多 {MAX_BODY_CHARS:,} 字。",
            )
        try:
            first = check_schedule(request.schedule, self.now(), owner=owner)
        except ScheduleRefused as err:
            raise JobRefused(f"{str(err)[:1].upper()}{str(err)[1:]}.", f"{err.zh}。") from err
        await self._check_limit(request.actor)
        row, _ = await self.jobs.add(
            NewJob(
                space=request.space,
                conversation=request.conversation,
                channel=request.actor.channel,
                account=request.actor.account,
                person=request.actor.id,
                kind=request.kind,
                body=words,
                schedule=request.schedule.to_json(),
                next_at=first.timestamp(),
                runs_left=request.count,
                tainted=request.tainted,
                norm=_norm(request),
            )
        )
        zh, en = (format_job_line(row, self.now(), lang) for lang in ("zh", "en"))
        await self.announce(request.conversation, zh, en, f"job:{row.id}:made")
        self.changed()
        return row

    async def _check_limit(self, actor: Actor) -> None:
        most = self.config().budgets.user.jobs
        if actor.role == "owner" or not most:
            return
        if await self.jobs.count(actor.channel, actor.id) >= most:
            raise JobRefused(
                f"You have {most} reminders and tasks, which is the limit; end one of them first.",
                f"你已经有 {most} 个提醒和任务，到上限了；请先结束一个。",
            )

    async def find(self, space: str, number: int) -> JobRow:
        """Return an open job of a space.

        Raises:
            JobRefused: there is none with that number.
        """
        row = await self.jobs.find(space, number)
        if row is None or row.state == "done":
            raise JobRefused(f"There is no open task r{number} here.", f"这里没有进行中的 r{number}。")
        return row

    async def end(self, row: JobRow, by: str) -> None:
        """End a job."""
        await self.jobs.set_state(row, "done", "", 0.0, by)

    async def pause(self, row: JobRow, by: str) -> None:
        """Pause a job."""
        await self.jobs.set_state(row, "paused", "", row.next_at, by)

    async def resume(self, row: JobRow, by: str) -> JobRow:
        """Resume a paused job with its next time from now on.

        Raises:
            JobRefused: its time is past.
        """
        try:
            due = next_run(Schedule.from_json(row.schedule), self.now())
        except ScheduleRefused as err:
            raise JobRefused(
                f"The time of r{row.number} cannot be read; end it and set a new one.",
                f"r{row.number} 的时间读不出来；请取消它，重新设一个。",
            ) from err
        if due is None:
            raise JobRefused(f"The time of r{row.number} is past.", f"r{row.number} 的时间已经过了。")
        await self.jobs.set_state(row, "on", "", due.timestamp(), by)
        self.changed()
        return await self.find(row.space, row.number)

    async def run_now(self, row: JobRow, by: str) -> None:
        """Let a job happen at once, besides its schedule."""
        await self.jobs.set_state(row, "on", "", self.now().timestamp(), by)
        self.changed()


def format_job_line(row: JobRow, now: datetime, lang: str) -> str:
    """Format one line of a job: next time with its zone, number, what. Pure."""
    try:
        schedule = Schedule.from_json(row.schedule)
    except ScheduleRefused:
        return f"⏸ r{row.number}\n{row.body}"
    when = format_moment(datetime.fromtimestamp(row.next_at, UTC), schedule.zone, now, lang)
    how = f"every {schedule.minutes} min" if schedule.minutes else f"cron {schedule.cron}" if schedule.cron else ""
    if lang == "zh" and schedule.minutes:
        how = f"每 {schedule.minutes} 分钟"
    sign = "⏰" if row.state == "on" else "⏸"
    return " · ".join(filter(None, (f"{sign} {when}", how, f"r{row.number}"))) + f"\n{row.body}"


def _norm(request: JobRequest) -> str:
    """The same for the same person, schedule and folded words."""
    schedule = request.schedule
    when = f"{schedule.at}|{schedule.minutes}|{schedule.cron}|{schedule.zone}|{schedule.until}"
    words = " ".join(normalize_text(request.words).split())
    who = f"{request.actor.channel}|{request.actor.account}|{request.actor.id}|{request.conversation}"
    return hashlib.sha256(f"{who}|{request.kind}|{when}|{words}".encode("utf-8", "replace")).hexdigest()


def find_machine_zone() -> str:
    """Return the IANA name of the machine's zone; "UTC" if it has none."""
    target = str(Path("/etc/localtime").resolve()).partition("zoneinfo/")[2]
    for name in (os.environ.get("TZ", "").removeprefix(":"), target):
        try:
            if name:
                return ZoneInfo(name).key
        except (ZoneInfoNotFoundError, ValueError, OSError):
            continue
    return "UTC"
