"""Makes, lists and changes the jobs of people, within their limits."""

import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from bot.access.permissions import Actor
from bot.config.schema import Config
from bot.jobs.schedule import (
    DAY_MINUTES,
    Schedule,
    ScheduleRefused,
    check_schedule,
    format_moment,
    format_repetition,
    load_zone,
    next_run,
)
from bot.jobs.times import JobRefused, JobTimes
from channels.base import Channel
from channels.phrases import AnyPhrase, Phrase, PhraseList, join_phrases
from memory.store.automation.jobs import CANCELLED, JobKind, JobRow, Jobs, NewJob
from memory.store.rows import ConversationRow
from memory.text.normalize import normalize_text

MAX_BODY_CHARS = 2_000
Announce = Callable[[str, AnyPhrase, str], Awaitable[None]]
WRITES_FIRST_TEXT = Phrase(
    "This channel delivers only for a while after you write; later messages wait until you write "
    "again."
)


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
    #: Name of the channel whose private chat gets it; "" for the chat that asks.
    deliver: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobService:
    """Makes and changes jobs."""

    jobs: Jobs
    times: JobTimes
    config: Callable[[], Config]
    #: The current time, with a zone.
    now: Callable[[], datetime]
    #: Sends a notice: conversation, Chinese text, English text, key.
    announce: Announce
    #: Called when a job may be due sooner than before.
    changed: Callable[[], None]
    #: Loads a conversation by its id.
    conversation: Callable[[str], Awaitable[ConversationRow | None]]
    #: The running channels by name.
    channels: Mapping[str, Channel]

    async def add(self, request: JobRequest, *, tell: bool = True) -> JobRow:
        """Store a job and tell the chat of it, in the program's own words; an equal one is returned
        as it is.

        Args:
            tell: False if the answer to the one who asks shows it.

        Raises:
            JobRefused: an impossible time, no words, or too many jobs.
        """
        words, first = request.words.strip(), self._check(request)
        await self._check_limit(request.actor)
        asked_in = request.conversation
        if request.deliver:
            request = replace(request, conversation=await self._find_chat(request))
        row, is_new = await self.jobs.add(
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
        is_elsewhere = row.conversation != asked_in
        if tell or is_elsewhere:
            await self._show(row, f"job:{row.id}:made", with_warnings=is_new)
        if tell and is_elsewhere:
            await self._show(row, f"job:{row.id}:asked", with_warnings=is_new, where=asked_in)
        self.changed()
        return row

    async def _find_chat(self, request: JobRequest) -> str:
        """Return the chat on another channel that a job is for: a private one, with the same memory
        as this one.

        Raises:
            JobRefused: anything else.
        """
        here = await self.conversation(request.conversation)
        if here is None or here.place.kind != "dm" or request.tainted:
            raise JobRefused(
                Phrase(
                    "Only what a person asks for in a private chat, with no text from outside in "
                    "the context, can go to another chat."
                ),
            )
        if here.place.channel == request.deliver:
            return here.id
        found = ""
        if request.deliver in self.channels:
            found = await self.jobs.private_chat(request.space, request.deliver)
        if not found:
            raise JobRefused(
                Phrase(
                    "There is no private chat on {deliver!r} that shares this memory. It must be "
                    "a channel of this bot on which the person has written; /link connects an "
                    "account there.",
                    deliver=request.deliver[:40],
                    deliver2=request.deliver[:40],
                ),
            )
        return found

    async def is_of(self, row: JobRow, conversation: str, actor: Actor | None) -> bool:
        """Tell whether a job belongs to a chat: it happens there, or the person set it there for
        another channel.
        """
        if row.conversation == conversation:
            return True
        if actor is None or (actor.channel, actor.id) != (row.channel, row.person):
            return False
        place = await self.conversation(row.conversation)
        return place is not None and place.place.channel != row.channel

    def _check(self, request: JobRequest) -> datetime:
        """Return the first time of a request.

        Raises:
            JobRefused: an impossible time, or no words.
        """
        words = request.words.strip()
        if not words or len(words) > MAX_BODY_CHARS:
            raise JobRefused(
                Phrase(
                    "Say what is to happen, in at most {max_body_chars:,} characters.",
                    max_body_chars=MAX_BODY_CHARS,
                ),
            )
        try:
            return check_schedule(request.schedule, self.now(), owner=request.actor.role == "owner")
        except ScheduleRefused as err:
            raise JobRefused.of(err) from err

    async def _show(self, row: JobRow, key: str, *, with_warnings: bool, where: str = "") -> None:
        """Tell the chat of a job, or another one, of it."""
        described = await self.describe(row, with_warnings=with_warnings)
        await self.announce(where or row.conversation, described, key)

    async def describe(self, row: JobRow, *, with_warnings: bool = True) -> PhraseList:
        """Say when and what a job is, and what may keep it from its time."""
        warnings = await self._warnings(row) if with_warnings else []
        return join_phrases([format_job_line(row, self.now()), *warnings], Phrase("\n"))

    async def _warnings(self, row: JobRow) -> list[Phrase]:
        """Return what keeps a job from its time."""
        warnings = []
        place = await self.conversation(row.conversation)
        channel = self.channels.get(place.place.channel) if place else None
        if channel is not None and channel.capabilities.user_writes_first:
            warnings.append(WRITES_FIRST_TEXT)
        setting = await self.times.setting(row.channel, row.account, row.person)
        due = datetime.fromtimestamp(row.next_at, UTC)
        if row.kind == "do" and (until := self.times.quiet_until(setting, due)) is not None:
            clock = f"{until.astimezone(load_zone(setting.zone or self.times.zone)):%H:%M}"
            warnings.append(
                Phrase(
                    "That falls into the quiet hours, so it is done at {clock}; /tasks quiet "
                    "changes them.",
                    clock=clock,
                )
            )
        return warnings

    async def edit(
        self, row: JobRow, actor: Actor, words: str, schedule: Schedule | None, *, tell: bool = True
    ) -> JobRow:
        """Change the words or the schedule of a job, and tell the chat; it is on afterwards.

        Args:
            words: "" for the former ones.
            schedule: None for the former one.
            tell: False if the answer to the one who asks shows it.

        Raises:
            JobRefused: an impossible time, or words that are too long.
        """
        try:
            kept = schedule or Schedule.from_json(row.schedule)
        except ScheduleRefused as err:
            raise JobRefused.of(err) from err
        request = JobRequest(
            actor=replace(actor, channel=row.channel, account=row.account, id=row.person),
            space=row.space,
            conversation=row.conversation,
            kind=row.kind,
            words=words or row.body,
            schedule=kept,
        )
        first = self._check(request)
        changed = replace(
            row,
            body=request.words.strip(),
            schedule=kept.to_json(),
            next_at=first.timestamp(),
            norm=_norm(request),
            tainted=row.tainted and not words,
        )
        if not await self.jobs.edit(row, changed, actor.id):
            raise _not_open(row.number)
        edited = await self.find(row.space, row.number)
        if tell:
            await self._show(
                edited, f"job:{row.id}:{self.now().timestamp():.3f}", with_warnings=True
            )
        self.changed()
        return edited

    async def _check_limit(self, actor: Actor) -> None:
        most = self.config().budgets.user.jobs
        if actor.role == "owner" or not most:
            return
        if await self.jobs.count(actor.channel, actor.id) >= most:
            raise JobRefused(
                Phrase(
                    "You have {most} reminders and tasks, which is the limit; cancel one first.",
                    most=most,
                ),
            )

    async def find(self, space: str, number: int) -> JobRow:
        """Return an open job of a space.

        Raises:
            JobRefused: there is none with that number.
        """
        row = await self.jobs.find(space, number)
        if row is None or row.state == "done":
            raise _not_open(number)
        return row

    async def end(self, row: JobRow, by: str) -> None:
        """End a job."""
        await self.jobs.set_state(row, "done", CANCELLED, 0.0, by)

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
            put_off = datetime.fromtimestamp(row.next_at, UTC)
            due = put_off if due is None and put_off > self.now() else due
        except ScheduleRefused as err:
            raise JobRefused(
                Phrase(
                    "The time of r{number} cannot be read; cancel it and set a new one.",
                    number=row.number,
                ),
            ) from err
        if due is None:
            raise JobRefused(Phrase("The time of r{number} has passed.", number=row.number))
        await self.jobs.set_state(row, "on", "", due.timestamp(), by)
        self.changed()
        return await self.find(row.space, row.number)

    async def run_now(self, row: JobRow, by: str) -> None:
        """Let a job happen at once, besides its schedule."""
        await self.jobs.ask_now(row, self.now().timestamp(), by)
        self.changed()


def _not_open(number: int) -> JobRefused:
    return JobRefused(Phrase("There is no open task r{number} here.", number=number))


def sort_by_time(rows: Sequence[JobRow]) -> list[JobRow]:
    """Sort jobs by their next time, the paused ones last."""
    return sorted(rows, key=lambda row: (row.state != "on", row.next_at, row.number))


def format_job_line(row: JobRow, now: datetime) -> Phrase:
    """Format one line of a job: next time with its zone, number, what. Pure."""
    try:
        schedule = Schedule.from_json(row.schedule)
    except ScheduleRefused:
        return Phrase("⏸ r{number}\n{words}", number=row.number, words=row.body)
    sign = "⏰" if row.state == "on" else "⏸"
    when = format_moment(datetime.fromtimestamp(row.next_at, UTC), schedule.zone, now)
    facts = [when, how] if (how := format_repetition(schedule)) else [when]
    return Phrase(
        "{sign} {facts} · r{number}\n{words}",
        sign=sign,
        facts=join_phrases(facts, Phrase(" · ")),
        number=row.number,
        words=row.body,
    )


def _norm(request: JobRequest) -> str:
    """The same for the same person, schedule and folded words."""
    schedule = request.schedule
    when = f"{schedule.at}|{schedule.minutes}|{schedule.cron}|{schedule.zone}|{schedule.until}"
    if schedule.minutes and schedule.minutes % DAY_MINUTES == 0:
        when += f"|{schedule.start % (schedule.minutes * 60)}"  # on which days, and at which hour
    words = " ".join(normalize_text(request.words).split())
    who = (
        f"{request.actor.channel}|{request.actor.account}|{request.actor.id}|{request.conversation}"
    )
    return hashlib.sha256(
        f"{who}|{request.kind}|{when}|{words}".encode("utf-8", "replace")
    ).hexdigest()
