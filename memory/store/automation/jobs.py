"""Stores what people want done later, and fires it: each due moment once, with what it says or
starts.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import bindparam, case, delete, exists, func, select, update

from memory.ids import new_id
from memory.store.audit import append_act
from memory.store.conversations.inbox import NEWEST_SENDER, accept
from memory.store.conversations.outbox import add_all_notices
from memory.store.engine.database import Repository, Tx, insert_into, light, read, write
from memory.store.linked_spaces import belongs_to_space
from memory.store.rows import (
    HELD_UNTIL_REPLY,
    NewInboxRow,
    Notice,
    column_values,
    columns_of,
    from_row,
    new_binds,
)
from memory.store.schema.memory_tables import job, job_setting, occurrence
from memory.store.schema.tables import conversation, is_one_of, literal_text, outbox

JobKind = Literal["say", "do"]
JobState = Literal["on", "paused", "done"]
# "run": its turn has begun, and ends as "done" or "failed". "held": it happens at a later time of
# its own.
OccurrenceState = Literal["told", "run", "done", "failed", "held", "skipped"]
# Why a job is due at a time that its schedule does not name; "" for a time of its schedule.
ExtraTime = Literal["", "retry", "quiet", "late", "asked"]
CANCELLED = "cancelled"  # reason of a job that a person ended


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJob:
    """Something to do later."""

    space: str
    #: Where it happens: where it was asked for, or a private chat of the same person on another
    #: channel.
    conversation: str
    #: The person whose rights count when it happens.
    channel: str
    account: str
    person: str
    #: "say": `body` is sent as it stands. "do": `body` starts a turn.
    kind: JobKind
    body: str
    #: JSON text; see bot.jobs.schedule.Schedule.
    schedule: str
    #: Unix seconds of the next time.
    next_at: float
    #: How often it still happens; 0 for no limit.
    runs_left: int
    #: Asked for while words from outside were in view.
    tainted: bool
    #: The same for the same person, schedule and folded words.
    norm: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRow(NewJob):
    """A stored job."""

    id: str
    #: Of its space, from 1; people name it by it.
    number: int
    state: JobState
    #: Why it is paused; "" for a person's wish.
    reason: str
    #: Unix seconds when it was made.
    at: float
    #: Due moments in a row that failed.
    fails: int = 0
    #: Further attempts at the newest due moment.
    retries: int = 0
    extra: ExtraTime = ""
    #: Unix seconds of the next time of the schedule where `next_at` is none; 0 for none.
    resumes_at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFiring:
    """What happens at one due moment of a job."""

    job: JobRow
    state: OccurrenceState
    #: Why it was skipped, or how late it is.
    reason: str = ""
    notices: tuple[Notice, ...] = ()
    arrival: NewInboxRow | None = None
    #: Unix seconds of the schedule's next time; 0 for none.
    next_at: float = 0.0
    #: A time before that at which this moment's work is done, and why.
    extra_at: float = 0.0
    extra: ExtraTime = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OccurrenceRow:
    """How one due moment ended."""

    #: Unix seconds.
    due: float
    state: OccurrenceState
    reason: str
    at: float
    #: The message that it started, or "".
    inbox_row: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTotals:
    """Numbers of open jobs of all spaces."""

    open: int
    paused: int
    #: On, and due before a given moment.
    overdue: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSetting:
    """What a person has chosen for their jobs."""

    channel: str
    account: str
    person: str
    #: Space of the chat in which it was chosen.
    space: str
    #: Name of an IANA zone; "" for the configured one.
    zone: str = ""
    #: "HH:MM-HH:MM", "off", or "" for the configured hours.
    quiet: str = ""


_SELECT = select(*columns_of(JobRow, job))
_IS_OPEN = is_one_of(job.c.state, "on", "paused")
_IN_SPACE = job.c.space == bindparam("space")
_SELECT_OPEN = _SELECT.where(_IN_SPACE, _IS_OPEN).order_by(job.c.number)
_SELECT_OF_SPACE = _SELECT.where(_IN_SPACE).order_by(job.c.number)
_SELECT_BY_NUMBER = _SELECT.where(_IN_SPACE, job.c.number == bindparam("number"))
_SELECT_EQUAL = _SELECT.where(
    _IN_SPACE, job.c.norm == bindparam("norm"), is_one_of(job.c.state, "on")
)
_SELECT_LAST_NUMBER = select(func.max(job.c.number).label("number")).where(_IN_SPACE)
_COUNT_OF_PERSON = (
    select(func.count().label("count"))
    .select_from(job)
    .where(job.c.channel == bindparam("channel"), job.c.person == bindparam("person"), _IS_OPEN)
)
_SELECT_DUE = (
    _SELECT.where(is_one_of(job.c.state, "on"), job.c.next_at <= bindparam("until"))
    .order_by(job.c.next_at, job.c.at, job.c.number)
    .limit(bindparam("limit"))
)
_SELECT_TOTALS = select(
    func.count().label("open"),
    func.count(case((is_one_of(job.c.state, "paused"), 1))).label("paused"),
    func.count(
        case((is_one_of(job.c.state, "on") & (job.c.next_at < bindparam("before")), 1))
    ).label("overdue"),
).where(_IS_OPEN)
_SELECT_NEXT = select(func.min(job.c.next_at).label("at")).where(is_one_of(job.c.state, "on"))
_MOVE = (
    update(job)
    .where(
        job.c.id == bindparam("id"),
        job.c.next_at == bindparam("seen"),
        is_one_of(job.c.state, "on"),
    )
    .values(**new_binds("next_at", "runs_left", "state", "extra", "resumes_at", "retries"))
)
_SET_STATE = (
    update(job)
    .where(job.c.id == bindparam("id"), is_one_of(job.c.state, "on", "paused"))
    .values(**new_binds("state", "reason", "next_at", "extra", "resumes_at"), fails=0, retries=0)
)
_EDIT = (
    update(job)
    .where(job.c.id == bindparam("id"), is_one_of(job.c.state, "on", "paused"))
    .values(
        **new_binds("body", "schedule", "next_at", "norm", "tainted"),
        state=literal_text("on"),
        reason=literal_text(""),
        extra=literal_text(""),
        resumes_at=0.0,
        fails=0,
        retries=0,
    )
)
_SELECT_PRIVATE_CHAT = (
    select(conversation.c.id, NEWEST_SENDER.label("person"))
    .where(
        belongs_to_space(conversation.c.space),
        conversation.c.channel == bindparam("channel"),
        is_one_of(conversation.c.kind, "dm"),
        conversation.c.listed.is_(True),
    )
    .order_by(conversation.c.heard.desc())
    .limit(1)
)
_SELECT_PERSON_OF_CHAT = select(NEWEST_SENDER.label("person")).where(
    conversation.c.id == bindparam("id")
)
_SELECT_BY_ID = _SELECT.where(job.c.id == bindparam("id"))
_SELECT_SETTINGS = select(*columns_of(JobSetting, job_setting))
_SELECT_SETTING = _SELECT_SETTINGS.where(
    job_setting.c.channel == bindparam("channel"),
    job_setting.c.account == bindparam("account"),
    job_setting.c.person == bindparam("person"),
)
_DELETE_SETTING = delete(job_setting).where(
    job_setting.c.channel == bindparam("channel"),
    job_setting.c.account == bindparam("account"),
    job_setting.c.person == bindparam("person"),
)
_held = outbox.alias("held")
# What comes after a part that is held waits for it too.
_SELECT_HELD = select(outbox.c.source).where(
    outbox.c.conversation == bindparam("conversation"),
    is_one_of(outbox.c.state, "pending"),
    exists().where(
        _held.c.conversation == outbox.c.conversation,
        is_one_of(_held.c.state, "pending"),
        _held.c.not_before >= HELD_UNTIL_REPLY,
    ),
)
_SELECT_OCCURRENCES = (
    select(*columns_of(OccurrenceRow, occurrence))
    .where(occurrence.c.job == bindparam("job"))
    .order_by(occurrence.c.due.desc())
    .limit(bindparam("limit"))
)


async def add_job(tx: Tx, new: NewJob) -> tuple[JobRow, bool]:
    """Store a job; an equal open one of its space is returned instead.

    Returns:
        The job, and whether it is new.
    """
    if known := (await tx.execute(_SELECT_EQUAL, space=new.space, norm=new.norm)).first():
        return from_row(JobRow, known), False
    last = (await tx.execute(_SELECT_LAST_NUMBER, space=new.space)).first()
    row = JobRow(
        **{name: getattr(new, name) for name in NewJob.__dataclass_fields__},
        id=new_id(tx.now),
        number=((last["number"] if last else None) or 0) + 1,
        state="on",
        reason="",
        at=tx.now,
    )
    await tx.execute(insert_into(job), **column_values(row, job))
    await _note(tx, row, "made", row.person)
    return row, True


@light
async def load_open_jobs(tx: Tx, space: str) -> list[JobRow]:
    """Load the jobs of a space that are on or paused, by number."""
    return [from_row(JobRow, row) for row in (await tx.execute(_SELECT_OPEN, space=space)).all()]


async def load_jobs_of_space(tx: Tx, space: str) -> list[JobRow]:
    """Load all jobs of a space, ended ones included, by number."""
    return [
        from_row(JobRow, row) for row in (await tx.execute(_SELECT_OF_SPACE, space=space)).all()
    ]


@light
async def find_job(tx: Tx, space: str, number: int) -> JobRow | None:
    """Find a job of a space, in any state."""
    row = (await tx.execute(_SELECT_BY_NUMBER, space=space, number=number)).first()
    return from_row(JobRow, row) if row else None


@light
async def count_jobs(tx: Tx, channel: str, person: str) -> int:
    """Count the open jobs of a person in all spaces."""
    row = (await tx.execute(_COUNT_OF_PERSON, channel=channel, person=person)).first()
    return int(row["count"]) if row else 0


async def load_totals(tx: Tx, before: float) -> JobTotals:
    """Count the open jobs; overdue are those due before a moment."""
    [row] = (await tx.execute(_SELECT_TOTALS, before=before)).all()
    return JobTotals(**row)


@light
async def load_due_jobs(tx: Tx, until: float, limit: int) -> list[JobRow]:
    """Load the jobs that are due, oldest first."""
    return [
        from_row(JobRow, row)
        for row in (await tx.execute(_SELECT_DUE, until=until, limit=limit)).all()
    ]


@light
async def next_due(tx: Tx) -> float | None:
    """Return when the next job is due, unix seconds; None for never."""
    row = (await tx.execute(_SELECT_NEXT)).first()
    return row["at"] if row else None


async def fire(tx: Tx, firing: JobFiring) -> bool:
    """Store that a due moment has come, with all that it causes, and move the job to its next one;
    in one commit.

    Returns:
        False if somebody else fired it, moved it or ended it: then nothing is stored.
    """
    due = firing.job
    left, next_at = due.runs_left, firing.next_at
    if left and not due.extra:  # what is made up for was counted when it was due
        left -= 1
        next_at = next_at if left else 0.0
    to = firing.extra_at or next_at
    moved = (
        await tx.execute(
            _MOVE,
            id=due.id,
            seen=due.next_at,
            new_next_at=to,
            new_runs_left=left,
            new_state="on" if to else "done",
            new_extra=firing.extra,
            new_resumes_at=next_at if firing.extra_at else 0.0,
            new_retries=due.retries if due.extra == "retry" or firing.extra else 0,
        )
    ).rowcount
    if not moved:
        return False
    accepted = await accept(tx, (firing.arrival,)) if firing.arrival else []
    await tx.execute(
        insert_into(occurrence),
        id=new_id(tx.now),
        job=due.id,
        due=due.next_at,
        state=firing.state,
        reason=firing.reason,
        space=due.space,
        at=tx.now,
        inbox_row=accepted[0].id if accepted else "",
    )
    await add_all_notices(tx, firing.notices)
    return True


async def fire_all(tx: Tx, firings: Sequence[JobFiring]) -> list[bool]:
    """Fire several jobs in one commit, all of them or none; return for each whether it was still to
    be fired.
    """
    return [await fire(tx, firing) for firing in firings]


async def set_job_state(
    tx: Tx, row: JobRow, state: JobState, reason: str, next_at: float, by: str
) -> bool:
    """Pause, resume or end a job; False if it has ended."""
    changed = (
        await tx.execute(
            _SET_STATE,
            id=row.id,
            new_state=state,
            new_reason=reason,
            new_next_at=next_at,
            new_extra="",
            new_resumes_at=0.0,
        )
    ).rowcount
    if changed:
        await _note(tx, row, state, by)
    return bool(changed)


async def ask_now(tx: Tx, row: JobRow, at: float, by: str) -> bool:
    """Let a job happen at a moment besides its schedule; False if it has ended."""
    regular = row.resumes_at if row.extra else row.next_at
    changed = (
        await tx.execute(
            _SET_STATE,
            id=row.id,
            new_state="on",
            new_reason="",
            new_next_at=at,
            new_extra="asked",
            new_resumes_at=regular if row.state == "on" else 0.0,
        )
    ).rowcount
    if changed:
        await _note(tx, row, "asked for", by)
    return bool(changed)


async def edit_job(tx: Tx, row: JobRow, changed: JobRow, by: str) -> bool:
    """Change words and schedule of a job, which is on afterwards; False if it has ended."""
    columns = ("body", "schedule", "next_at", "norm", "tainted")
    edited = (
        await tx.execute(
            _EDIT, id=row.id, **{f"new_{name}": getattr(changed, name) for name in columns}
        )
    ).rowcount
    if edited:
        await _note(tx, row, "edited", by)
    return bool(edited)


@light
async def load_job(tx: Tx, id: str) -> JobRow | None:
    """Load a job by its id, None if it is gone."""
    row = (await tx.execute(_SELECT_BY_ID, id=id)).first()
    return from_row(JobRow, row) if row else None


@light
async def find_private_chat(tx: Tx, space: str, channel: str) -> str:
    """Find the private chat of a space on a channel in which somebody wrote last; "" for none."""
    row = (await tx.execute(_SELECT_PRIVATE_CHAT, space=space, channel=channel)).first()
    return row["id"] if row and row["person"] else ""


@light
async def find_person_of_chat(tx: Tx, id: str) -> str:
    """Return the id of the person who writes in a private chat; "" if it is not known."""
    row = (await tx.execute(_SELECT_PERSON_OF_CHAT, id=id)).first()
    return (row["person"] if row else "") or ""


@light
async def load_held_sources(tx: Tx, conversation: str) -> Collection[str]:
    """Load the sources of what waits in a conversation until the person writes."""
    return {
        row["source"] for row in (await tx.execute(_SELECT_HELD, conversation=conversation)).all()
    }


@light
async def load_setting(tx: Tx, channel: str, account: str, person: str) -> JobSetting | None:
    """Load what a person has chosen, None for nothing."""
    row = (
        await tx.execute(_SELECT_SETTING, channel=channel, account=account, person=person)
    ).first()
    return JobSetting(**row) if row else None


async def load_settings(tx: Tx) -> list[JobSetting]:
    """Load what everybody has chosen."""
    return [JobSetting(**row) for row in (await tx.execute(_SELECT_SETTINGS)).all()]


async def save_setting(tx: Tx, setting: JobSetting) -> None:
    """Store what a person has chosen, in place of what they chose before."""
    await tx.execute(
        _DELETE_SETTING, channel=setting.channel, account=setting.account, person=setting.person
    )
    await tx.execute(insert_into(job_setting), **column_values(setting, job_setting))


@light
async def load_occurrences(tx: Tx, job_id: str, limit: int) -> list[OccurrenceRow]:
    """Load how the newest due moments of a job ended, newest first."""
    return [
        OccurrenceRow(**row)
        for row in (await tx.execute(_SELECT_OCCURRENCES, job=job_id, limit=limit)).all()
    ]


async def _note(tx: Tx, row: JobRow, result: str, by: str) -> None:
    await append_act(tx, f"job {row.kind}", f"{row.space or 'owner'} r{row.number}", result, by)


class Jobs(Repository):
    """What people want done later; making and ending a job is added to the audit chain."""

    add = write(add_job)
    open_jobs = read(load_open_jobs)
    of_space = read(load_jobs_of_space)
    find = read(find_job)
    count = read(count_jobs)
    totals = read(load_totals)
    due = read(load_due_jobs)
    next_due = read(next_due)
    fire = write(fire)
    fire_all = write(fire_all, committed="sched.committed")
    set_state = write(set_job_state)
    ask_now = write(ask_now)
    edit = write(edit_job)
    load = read(load_job)
    private_chat = read(find_private_chat)
    person_of_chat = read(find_person_of_chat)
    held_sources = read(load_held_sources)
    occurrences = read(load_occurrences)
    setting = read(load_setting)
    settings = read(load_settings)
    save_setting = write(save_setting)
