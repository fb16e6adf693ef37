"""Fires jobs when their time has come.

Only what is committed happens, so each due moment happens once.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import structlog

from bot.access.budgets import start_of_day
from bot.access.permissions import access_scope, authorize
from bot.access.roles import RoleResolver
from bot.jobs.firing import (
    LATE_AFTER,
    build_arrival,
    format_late,
    format_missed,
    is_too_late,
    job_key,
    plan_end,
)
from bot.jobs.schedule import Schedule, ScheduleRefused, load_zone, next_run
from bot.jobs.times import JobTimes
from bot.messages import RESUME_PREFIX, PartExtras, dump_extras, split_reply
from bot.telemetry.recorder import Telemetry
from channels.base import Channel
from channels.phrases import Phrase
from memory.failpoints import hit_async
from memory.store.automation.job_runs import RunEnd, RunRow
from memory.store.automation.jobs import JobFiring, JobRow
from memory.store.errors import StoreError
from memory.store.rows import ConversationRow, Notice
from memory.store.store import Store

log = structlog.get_logger(__name__)
JOB_ACTION = "task.own"
MAX_SLEEP_SECONDS = 5.0  # the wall clock may be set, and other processes may add jobs
BATCH = 100  # due jobs read at once
COMMIT = 20  # due jobs fired in one transaction
LATE_TURN_SECONDS = 60.0  # between two late tasks of a conversation
MAX_LISTED = 20  # in a notice of skipped jobs
MAX_OUTCOMES = 3  # earlier times that a task is shown
LOST_RIGHTS, NO_CHANNEL, NO_SCHEDULE, FAULT = "rights", "channel", "schedule", "fault"


# What was loaded for the jobs of one batch, so that many jobs of a chat cost one query.
Known = dict[tuple[str, ...], Any]


async def _load_once(known: Known, key: tuple[str, ...], load: Callable[[], Awaitable[Any]]) -> Any:
    if key not in known:
        known[key] = await load()
    return known[key]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettler:
    """Stores the ends of runs."""

    store: Store
    #: The running channels by name.
    channels: Mapping[str, Channel]
    #: The language of a conversation, "zh" or "en".
    language: Callable[[str], Awaitable[str]]
    #: The current time, with a zone.
    now: Callable[[], datetime]

    async def settle(self) -> int:
        """Store the ends of the runs that are over; return how many there were."""
        runs = await self.store.job_runs.ended(BATCH)
        for run in runs:
            row = await self.store.jobs.load(run.job)
            if row is None:
                await self.store.job_runs.end(run, RunEnd(state="failed", reason="gone"))
                continue
            end = plan_end(run, row, self.now().timestamp())
            await self.store.job_runs.end(
                run, replace(end, notices=await self._notices(run, row, end))
            )
        return len(runs)

    async def _notices(self, run: RunRow, row: JobRow, end: RunEnd) -> tuple[Notice, ...]:
        """Tell the chat of a task that no further attempt is made at, or that is paused."""
        unheard = end.reason == "model"
        if not (end.pause or unheard):
            return ()
        place = await self.store.sessions.conversation(row.conversation)
        channel = self.channels.get(place.place.channel) if place else None
        if channel is None:
            return ()
        lang = await self.language(row.conversation)
        lines = []
        if unheard:
            lines.append(
                Phrase("r{number} failed: the model did not answer.", number=row.number).text(lang)
            )
        if end.pause:
            lines.append(
                Phrase(
                    "r{number} failed {fails} times in a row and is paused; /tasks resume "
                    "r{number} resumes it.",
                    number=row.number,
                    fails=end.fails,
                ).text(lang)
            )
        out = split_reply("⏰ " + "\n".join(lines), "notice", channel.capabilities)
        if end.pause and channel.capabilities.buttons:
            button = (Phrase("Resume").text(lang), f"{RESUME_PREFIX}r{row.number}")
            out[-1] = replace(out[-1], payload=dump_extras(PartExtras(buttons=(button,))))
        source = f"{job_key(row.id, run.due)}:end"
        return (Notice(conversation=row.conversation, source=source, out=tuple(out)),)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTicker:
    """Sleeps until the next job is due, and fires it."""

    store: Store
    roles: RoleResolver
    times: JobTimes
    #: The running channels by name.
    channels: Mapping[str, Channel]
    #: The language of a conversation, "zh" or "en".
    language: Callable[[str], Awaitable[str]]
    #: The current time, with a zone.
    now: Callable[[], datetime]
    telemetry: Telemetry
    runs: RunSettler
    _woken: asyncio.Event = field(default_factory=asyncio.Event)
    #: Held while due jobs are read and fired: two would plan the same ones, and one of them in
    #: vain.
    _firing: asyncio.Lock = field(default_factory=asyncio.Lock)
    #: When the newest late task of a conversation was to begin, unix seconds.
    _late_turns: dict[str, float] = field(default_factory=dict)

    def wake(self) -> None:
        """Look again at once."""
        self._woken.set()

    async def run(self) -> None:
        """Fire what is due, until cancelled."""
        while True:
            self._woken.clear()
            wait = MAX_SLEEP_SECONDS
            try:
                await self.runs.settle()
                if await self.fire_due():
                    wait = 0.0
                elif (due := await self.store.jobs.next_due()) is not None:
                    wait = min(wait, max(0.0, due - self.now().timestamp()))
            except StoreError as err:
                log.warning("jobs could not be fired, it is tried again", error=type(err).__name__)
            except Exception as err:
                log.error("jobs could not be fired", error=type(err).__name__, exc_info=True)
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._woken.wait()

    async def fire_due(self) -> int:
        """Fire the oldest due jobs, `BATCH` at most; return how many there were."""
        async with self._firing:
            return await self._fire_due()

    async def _fire_due(self) -> int:
        now, known = self.now(), dict[tuple[str, ...], Any]()
        rows = await self.store.jobs.due(now.timestamp(), BATCH)
        planned: list[JobFiring] = []
        too_late: dict[str, list[JobFiring]] = {}
        for row in rows:
            firing = await self._plan_or_pause(row, now, known)
            if firing is None:
                continue
            if (firing.state, firing.reason) == ("skipped", "late"):
                too_late.setdefault(row.conversation, []).append(firing)
            else:
                planned.append(firing)
        for start in range(0, len(planned), COMMIT):
            await self._fire(planned[start : start + COMMIT], now)
        for conversation, firings in too_late.items():
            await self._skip(conversation, firings, now)
        return len(rows)

    async def _fire(self, firings: Sequence[JobFiring], now: datetime) -> None:
        """Fire jobs in one commit; if one of them cannot be, each alone."""
        try:
            await hit_async("sched.due")
            fired = await self.store.jobs.fire_all(firings)
        except StoreError:
            raise
        except Exception as err:
            log.error("jobs not fired", error=type(err).__name__, jobs=len(firings), exc_info=True)
            if len(firings) > 1:
                for firing in firings:
                    await self._fire([firing], now)
            else:
                await self._pause(firings[0].job, FAULT)
            return
        for firing, is_fired in zip(firings, fired, strict=True):
            if is_fired:
                late = now.timestamp() - firing.job.next_at
                self.telemetry.job_fired(firing.job.kind, firing.state, max(0.0, late))

    async def _plan_or_pause(self, row: JobRow, now: datetime, known: Known) -> JobFiring | None:
        """Return what happens to a due job now; None if it has been paused instead."""
        try:
            return await self._plan(row, now, known)
        except ScheduleRefused:  # damaged, or its zone is gone from this machine: the others go on
            await self._pause(row, NO_SCHEDULE)
        except StoreError:
            raise
        except Exception as err:
            log.error("a job was paused", job=row.id, error=type(err).__name__, exc_info=True)
            await self._pause(row, FAULT)
        return None

    async def _pause(self, row: JobRow, reason: str) -> None:
        await self.store.jobs.set_state(row, "paused", reason, row.next_at, "")

    async def _plan(self, row: JobRow, now: datetime, known: Known) -> JobFiring | None:
        place: ConversationRow | None = await _load_once(
            known,
            ("conversation", row.conversation),
            lambda: self.store.sessions.conversation(row.conversation),
        )
        channel = self.channels.get(place.place.channel) if place else None
        if place is None or channel is None:
            await self._pause(row, NO_CHANNEL)
            return None
        who = (row.channel, row.account, row.person)
        if not await _load_once(
            known, ("allowed", *who, row.conversation), lambda: self._is_allowed(row, place)
        ):
            await self._pause(row, LOST_RIGHTS)
            return None
        if place.place.channel != row.channel and not _is_private_chat_of(place, row):
            await self._pause(row, LOST_RIGHTS)
            return None
        schedule, due = Schedule.from_json(row.schedule), datetime.fromtimestamp(row.next_at, UTC)
        later, late = _following(row, schedule, max(due, now)), now - due
        firing = JobFiring(job=row, state="told", next_at=later.timestamp() if later else 0.0)
        max_late = timedelta(hours=self.times.config().jobs.late_hours)
        if is_too_late(row, schedule, late, due, later, max_late):
            return replace(firing, state="skipped", reason="late")
        lang = await _load_once(
            known, ("language", row.conversation), lambda: self.language(row.conversation)
        )
        is_late = late > LATE_AFTER and not row.extra
        if row.kind == "do":
            return await self._plan_task(firing, place, now, lang, known, is_late=is_late)
        text = f"⏰ {row.body}{'' if row.extra else format_late(due, late, schedule.zone, lang)}"
        notice = self._notice(row, job_key(row.id, row.next_at), text, channel)
        return replace(firing, reason="late" if is_late else "", notices=(notice,))

    async def _plan_task(
        self,
        firing: JobFiring,
        place: ConversationRow,
        now: datetime,
        lang: str,
        known: Known,
        *,
        is_late: bool,
    ) -> JobFiring | None:
        """Return what happens to a due task: it runs, is put off, or is skipped; None if it has
        been paused instead.
        """
        row, who = firing.job, (firing.job.channel, firing.job.account, firing.job.person)
        setting = await _load_once(known, ("setting", *who), lambda: self.times.setting(*who))
        if row.extra != "asked" and (until := self.times.quiet_until(setting, now)) is not None:
            return _held_for_quiet(firing, until)
        if await self.store.job_runs.is_running(row.id):
            return replace(firing, state="skipped", reason="busy")
        if is_late and (slot := self._late_slot(row.conversation, now.timestamp())):
            return replace(firing, state="held", reason="late", extra="late", extra_at=slot)
        day = start_of_day(now.astimezone(load_zone(setting.zone or self.times.zone)))
        limit = self.times.config().jobs.do_a_day
        begun = await _load_once(
            known,
            ("runs", row.channel, row.person),
            lambda: self.store.job_runs.count(row.channel, row.person, day.timestamp()),
        )
        if limit and begun >= limit:
            text = _limit_text(limit, row.number, lang)
            key = f"job-limit:{':'.join(who)}:{day:%Y-%m-%d}"
            notice = self._notice(row, key, text, self.channels[place.place.channel])
            return replace(firing, state="skipped", reason="limit", notices=(notice,))
        known["runs", row.channel, row.person] = begun + 1
        outcomes = await self.store.job_runs.outcomes(row.id, MAX_OUTCOMES)
        sender = row.person
        if place.place.channel != row.channel:  # there the same person has another id
            sender = await self.store.jobs.person_of_chat(place.id)
            if not sender:
                await self._pause(row, LOST_RIGHTS)
                return None
        arrival = build_arrival(row, place.place, sender, now, lang, outcomes)
        return replace(firing, state="run", reason="late" if is_late else "", arrival=arrival)

    def _late_slot(self, conversation: str, now: float) -> float:
        """Return when a late task of a conversation may begin, 0 for at once: one a minute, never a
        burst.
        """
        slot = max(now, self._late_turns.get(conversation, 0.0) + LATE_TURN_SECONDS)
        self._late_turns[conversation] = slot
        for name in [name for name, at in self._late_turns.items() if at + LATE_TURN_SECONDS < now]:
            del self._late_turns[name]
        return slot if slot > now else 0.0

    def _notice(self, row: JobRow, key: str, text: str, channel: Channel) -> Notice:
        out = tuple(split_reply(text, "notice", channel.capabilities))
        return Notice(conversation=row.conversation, source=key, out=out)

    async def _is_allowed(self, row: JobRow, conversation: ConversationRow) -> bool:
        """Tell whether the person who made a job still may have it, at this moment."""
        place = conversation.place
        actor = await self.roles.actor(
            row.channel, row.account, row.person, place.chat_id, place.kind, proven=True
        )
        return authorize(
            actor, JOB_ACTION, "", access_scope(place.channel, place.kind, place.space)
        ).allowed

    async def _skip(self, conversation: str, firings: Sequence[JobFiring], now: datetime) -> None:
        """Skip jobs that are too late, with one notice for all of a conversation: never a burst."""
        lang = await self.language(conversation)
        first = firings[0].job
        place = await self.store.sessions.conversation(conversation)
        channel = self.channels.get(place.place.channel) if place else None
        if channel is None:
            return
        lines = [format_missed(firing.job) for firing in firings[:MAX_LISTED]]
        if len(firings) > MAX_LISTED:
            more = len(firings) - MAX_LISTED
            lines.append(Phrase("… and {more} more", more=more).text(lang))
        head = Phrase("Missed while I was away:").text(lang)
        key = f"job-missed:{first.id}:{first.next_at:.0f}"
        notice = self._notice(first, key, "\n".join([head, *lines]), channel)
        await self._fire([replace(firings[0], notices=(notice,)), *firings[1:]], now)


def _held_for_quiet(firing: JobFiring, until: datetime) -> JobFiring:
    """Put a job off until the person's quiet hours end."""
    row = firing.job
    later = _following(row, Schedule.from_json(row.schedule), until)
    return replace(
        firing,
        state="held",
        reason="quiet",
        extra="quiet",
        extra_at=until.timestamp(),
        next_at=later.timestamp() if later else 0.0,
    )


def _limit_text(limit: int, number: int, lang: str) -> str:
    used_up = Phrase(
        "⏰ The {limit} tasks of today are used up; r{number} was not run.",
        limit=limit,
        number=number,
    )
    return used_up.text(lang)


def _is_private_chat_of(conversation: ConversationRow, row: JobRow) -> bool:
    """Tell whether a chat still shares the memory that a job was made in; an account that was
    unlinked does not.
    """
    return conversation.place.kind == "dm" and conversation.place.space == row.space


def _following(row: JobRow, schedule: Schedule, after: datetime) -> datetime | None:
    """Return the next time of a job's schedule after a moment; None if it has none left."""
    if not row.extra:
        return next_run(schedule, after)
    if not row.resumes_at:
        return None
    resumes = datetime.fromtimestamp(row.resumes_at, UTC)
    return resumes if resumes > after else next_run(schedule, after)
