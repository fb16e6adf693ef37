"""Fires jobs when their time has come. Only what is committed happens, so each due moment happens once."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import structlog

from bot.access.permissions import authorize
from bot.access.roles import RoleResolver
from bot.gateway.receiver import access_scope
from bot.jobs.schedule import Schedule, ScheduleRefused, next_run
from bot.messages import MessageBody, dump_body, split_reply
from channels.base import Channel
from channels.message import Quote
from memory.store.errors import StoreError
from memory.store.people.jobs import JobFiring, JobRow
from memory.store.people.rows import Notice
from memory.store.rows import ConversationRow, NewInboxRow
from memory.store.store import Store

log = structlog.get_logger(__name__)
JOB_ACTION = "task.own"
MAX_SLEEP_SECONDS = 5.0  # the wall clock may be set, and other processes may add jobs
BATCH = 100
LATE_AFTER = timedelta(minutes=1)  # from here on the text says when it was due
MAX_LATE = timedelta(hours=24)  # of a text, or of a task that does not repeat; a later one is skipped
MIN_REPEAT_LATE, MAX_REPEAT_LATE = timedelta(minutes=15), timedelta(hours=12)
MAX_LISTED = 20  # in a notice of skipped jobs
LOST_RIGHTS, NO_CHANNEL, NO_SCHEDULE = "rights", "channel", "schedule"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTicker:
    """Sleeps until the next job is due, and fires it."""

    store: Store
    roles: RoleResolver
    #: The running channels by name.
    channels: Mapping[str, Channel]
    #: The language of a conversation, "zh" or "en".
    language: Callable[[str], Awaitable[str]]
    #: The current time, with a zone.
    now: Callable[[], datetime]
    _woken: asyncio.Event = field(default_factory=asyncio.Event)

    def wake(self) -> None:
        """Look again at once."""
        self._woken.set()

    async def run(self) -> None:
        """Fire what is due, until cancelled."""
        while True:
            self._woken.clear()
            wait = MAX_SLEEP_SECONDS
            try:
                if not await self.fire_due():
                    due = await self.store.jobs.next_due()
                    wait = min(wait, max(0.0, due - self.now().timestamp())) if due is not None else wait
                else:
                    wait = 0.0
            except StoreError as err:
                log.warning("jobs could not be fired, it is tried again", error=type(err).__name__)
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._woken.wait()

    async def fire_due(self) -> int:
        """Fire the oldest due jobs, `BATCH` at most; return how many there were."""
        now = self.now()
        rows = await self.store.jobs.due(now.timestamp(), BATCH)
        too_late: dict[str, list[JobFiring]] = {}
        for row in rows:
            try:
                firing = await self._plan(row, now)
            except ScheduleRefused:  # damaged, or its zone is gone from this machine: the others go on
                await self.store.jobs.set_state(row, "paused", NO_SCHEDULE, row.next_at, "")
                continue
            if firing is None:
                continue
            if firing.state == "skipped":
                too_late.setdefault(row.conversation, []).append(firing)
            else:
                await self.store.jobs.fire(firing)
        for conversation, firings in too_late.items():
            await self._skip(conversation, firings)
        return len(rows)

    async def _plan(self, row: JobRow, now: datetime) -> JobFiring | None:
        """Return what happens to a due job now; None if it has been paused instead."""
        place = await self.store.sessions.conversation(row.conversation)
        channel = self.channels.get(place.place.channel) if place else None
        if place is None or channel is None:
            await self.store.jobs.set_state(row, "paused", NO_CHANNEL, row.next_at, "")
            return None
        if not await self._is_allowed(row, place):
            await self.store.jobs.set_state(row, "paused", LOST_RIGHTS, row.next_at, "")
            return None
        schedule, due = Schedule.from_json(row.schedule), datetime.fromtimestamp(row.next_at, UTC)
        later = next_run(schedule, max(due, now))
        firing = JobFiring(job=row, state="told", next_at=later.timestamp() if later else 0.0)
        late = now - due
        if is_too_late(row, schedule, late, due, later):
            return replace(firing, state="skipped", reason="late")
        lang = await self.language(row.conversation)
        firing = replace(firing, reason="late" if late > LATE_AFTER else "")
        if row.kind == "do":
            return replace(firing, state="run", arrivals=(_arrival(row, place, due, lang),))
        text = f"⏰ {row.body}{format_late(due, late, schedule.zone, lang)}"
        out = tuple(split_reply(text, "notice", channel.capabilities))
        notice = Notice(conversation=row.conversation, source=f"job:{row.id}:{row.next_at:.0f}", out=out)
        return replace(firing, notices=(notice,))

    async def _is_allowed(self, row: JobRow, conversation: ConversationRow) -> bool:
        """Tell whether the person who made a job still may have it, at this moment."""
        place = conversation.place
        actor = await self.roles.actor(row.channel, row.account, row.person, place.chat_id, place.kind, proven=True)
        return authorize(actor, JOB_ACTION, "", access_scope(place.channel, place.kind, place.space)).allowed

    async def _skip(self, conversation: str, firings: Sequence[JobFiring]) -> None:
        """Skip jobs that are too late, with one notice for all of a conversation: never a burst."""
        lang = await self.language(conversation)
        first = firings[0].job
        place = await self.store.sessions.conversation(conversation)
        channel = self.channels[place.place.channel] if place else None
        if channel is None:
            return
        lines = [_missed_line(firing.job, lang) for firing in firings[:MAX_LISTED]]
        if len(firings) > MAX_LISTED:
            more = len(firings) - MAX_LISTED
            lines.append(f"……还有 {more} 条" if lang == "zh" else f"… and {more} more")
        head = "我不在的时候错过了：" if lang == "zh" else "Missed while I was away:"
        out = tuple(split_reply("\n".join([head, *lines]), "notice", channel.capabilities))
        notice = Notice(conversation=conversation, source=f"job-missed:{first.id}:{first.next_at:.0f}", out=out)
        await self.store.jobs.fire_all([replace(firings[0], notices=(notice,)), *firings[1:]])


def is_too_late(row: JobRow, schedule: Schedule, late: timedelta, due: datetime, later: datetime | None) -> bool:
    """Tell whether a job is skipped because it is late. Pure.

    A text is sent up to a day late. A repeated task is worth half of its period, between 15 minutes and 12 hours.
    """
    if row.kind == "say" or not schedule.repeats:
        return late > MAX_LATE
    following = next_run(schedule, due) or later
    period = following - due if following else MAX_LATE
    return late > min(max(period / 2, MIN_REPEAT_LATE), MAX_REPEAT_LATE)


def format_late(due: datetime, late: timedelta, zone: str, lang: str) -> str:
    """Say when a late text was due; "" if it is in time. Pure."""
    if late <= LATE_AFTER:
        return ""
    local = due.astimezone(ZoneInfo(zone))
    when = f"{local:%H:%M}" if late < timedelta(hours=12) else f"{local:%Y-%m-%d %H:%M}"
    return f"（原定 {when}）" if lang == "zh" else f" (was due {when})"


def _missed_line(row: JobRow, lang: str) -> str:
    zone = Schedule.from_json(row.schedule).zone
    local = datetime.fromtimestamp(row.next_at, UTC).astimezone(ZoneInfo(zone))
    words = " ".join(row.body.split())
    return f"- {local:%Y-%m-%d %H:%M} {words[:200]}"


def _arrival(row: JobRow, conversation: ConversationRow, due: datetime, lang: str) -> NewInboxRow:
    """Return the message that starts a task's turn; words that outside text may have shaped come as a quotation."""
    made = datetime.fromtimestamp(row.at, UTC).astimezone(ZoneInfo(Schedule.from_json(row.schedule).zone))
    day = f"{made:%Y-%m-%d}"
    head = f"⏰ r{row.number}（{day} 设定）：" if lang == "zh" else f"⏰ r{row.number}, set on {day}: "
    if row.tainted:
        asked = "请完成上面引用的任务。" if lang == "zh" else "do the quoted task."
        body = MessageBody(text=f"{head}{asked}", quote=Quote(text=row.body))
    else:
        body = MessageBody(text=f"{head}{row.body}")
    return NewInboxRow(
        place=conversation.place,
        key=f"job:{row.id}:{row.next_at:.0f}",
        kind="message",
        sender_id=row.person,
        body=dump_body(body),
    )
