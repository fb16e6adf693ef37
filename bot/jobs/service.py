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
from memory.store.automation.jobs import CANCELLED, JobKind, JobRow, Jobs, NewJob
from memory.store.rows import ConversationRow
from memory.text.normalize import normalize_text

MAX_BODY_CHARS = 2_000
Announce = Callable[[str, str, str, str], Awaitable[None]]
WRITES_FIRST_TEXT = (
    "这个渠道要你先发过消息才收得到；到时候发不出去的话，会等你写来再送到。",
    (
        "This channel only delivers for a while after you have written; otherwise it waits until "
        "you write."
    ),
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
                "Only what a person asks for in a private chat, with no words from outside in "
                "view, can go to another chat.",
                "只有本人在私聊里提出、并且当前对话里没有外来文字时，才能送到别的聊天。",
            )
        if here.place.channel == request.deliver:
            return here.id
        found = ""
        if request.deliver in self.channels:
            found = await self.jobs.private_chat(request.space, request.deliver)
        if not found:
            raise JobRefused(
                f"There is no private chat on {request.deliver[:40]!r} that shares this memory. It "
                "has to be a channel of this bot on which the person has written; /link connects "
                "an account there.",
                f"在“{request.deliver[:40]}”上没有和这里共用记忆的私聊。"
                "那里必须是这个机器人的渠道，并且本人写过消息；用 /关联 连接那边的账号。",
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
                f"Say what is to happen, in {MAX_BODY_CHARS:,} characters at most.",
                f"请写明要做什么，最多 {MAX_BODY_CHARS:,} 字。",
            )
        try:
            return check_schedule(request.schedule, self.now(), owner=request.actor.role == "owner")
        except ScheduleRefused as err:
            raise JobRefused.of(err) from err

    async def _show(self, row: JobRow, key: str, *, with_warnings: bool, where: str = "") -> None:
        """Tell the chat of a job, or another one, of it."""
        zh, en = await self.describe(row, with_warnings=with_warnings)
        await self.announce(where or row.conversation, zh, en, key)

    async def describe(self, row: JobRow, *, with_warnings: bool = True) -> tuple[str, str]:
        """Say when and what a job is, and what may keep it from its time, in Chinese and
        English.
        """
        lines = [[format_job_line(row, self.now(), lang)] for lang in ("zh", "en")]
        for texts in await self._warnings(row) if with_warnings else ():
            for line, text in zip(lines, texts, strict=True):
                line.append(text)
        zh, en = ("\n".join(line) for line in lines)
        return zh, en

    async def _warnings(self, row: JobRow) -> list[tuple[str, str]]:
        """Return what keeps a job from its time, in Chinese and English."""
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
                (
                    f"那时是安静时段，会等到 {clock} 再做；用 /任务 安静 可以改。",
                    f"That is in the quiet hours: it is done at {clock}; /tasks quiet changes them.",  # noqa: E501
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
                f"The time of r{row.number} cannot be read; end it and set a new one.",
                f"r{row.number} 的时间读不出来；请取消它，重新设一个。",
            ) from err
        if due is None:
            raise JobRefused(
                f"The time of r{row.number} is past.", f"r{row.number} 的时间已经过了。"
            )
        await self.jobs.set_state(row, "on", "", due.timestamp(), by)
        self.changed()
        return await self.find(row.space, row.number)

    async def run_now(self, row: JobRow, by: str) -> None:
        """Let a job happen at once, besides its schedule."""
        await self.jobs.ask_now(row, self.now().timestamp(), by)
        self.changed()


def _not_open(number: int) -> JobRefused:
    return JobRefused(f"There is no open task r{number} here.", f"这里没有进行中的 r{number}。")


def sort_by_time(rows: Sequence[JobRow]) -> list[JobRow]:
    """Sort jobs by their next time, the paused ones last."""
    return sorted(rows, key=lambda row: (row.state != "on", row.next_at, row.number))


def format_job_line(row: JobRow, now: datetime, lang: str) -> str:
    """Format one line of a job: next time with its zone, number, what. Pure."""
    try:
        schedule = Schedule.from_json(row.schedule)
    except ScheduleRefused:
        return f"⏸ r{row.number}\n{row.body}"
    when = format_moment(datetime.fromtimestamp(row.next_at, UTC), schedule.zone, now, lang)
    how = format_repetition(schedule, lang)
    sign = "⏰" if row.state == "on" else "⏸"
    return " · ".join(filter(None, (f"{sign} {when}", how, f"r{row.number}"))) + f"\n{row.body}"


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
