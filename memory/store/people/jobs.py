"""Stores what people want done later, and fires it: each due moment once, with what it says or starts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import bindparam, func, select, update

from memory.ids import new_id
from memory.store.audit import append_act
from memory.store.conversations.inbox import accept
from memory.store.engine.database import Repository, Row, Tx, light, read, single_query, write
from memory.store.people.approvals import add_all_notices
from memory.store.people.rows import Notice
from memory.store.rows import NewInboxRow, column_values, columns_of
from memory.store.schema.memory_tables import job, occurrence
from memory.store.schema.tables import is_one_of

JobKind = Literal["say", "do"]
JobState = Literal["on", "paused", "done"]
OccurrenceState = Literal["told", "run", "skipped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJob:
    """Something to do later."""

    space: str
    #: Where it was asked for, and where it happens.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFiring:
    """What happens at one due moment of a job."""

    job: JobRow
    state: OccurrenceState
    #: Why it was skipped, or how late it is.
    reason: str = ""
    notices: tuple[Notice, ...] = ()
    arrivals: tuple[NewInboxRow, ...] = ()
    #: Unix seconds of the next time; 0 for none.
    next_at: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class OccurrenceRow:
    """How one due moment ended."""

    #: Unix seconds.
    due: float
    state: OccurrenceState
    reason: str
    at: float


_SELECT = select(*columns_of(JobRow, job))
_IS_OPEN = is_one_of(job.c.state, "on", "paused")
_IN_SPACE = job.c.space == bindparam("space")
_SELECT_OPEN = _SELECT.where(_IN_SPACE, _IS_OPEN).order_by(job.c.number)
_SELECT_BY_NUMBER = _SELECT.where(_IN_SPACE, job.c.number == bindparam("number"))
_SELECT_EQUAL = _SELECT.where(_IN_SPACE, job.c.norm == bindparam("norm"), is_one_of(job.c.state, "on"))
_SELECT_LAST_NUMBER = select(func.max(job.c.number).label("number")).where(_IN_SPACE)
_COUNT_OF_PERSON = (
    select(func.count().label("count"))
    .select_from(job)
    .where(job.c.channel == bindparam("channel"), job.c.person == bindparam("person"), _IS_OPEN)
)
_SELECT_DUE = (
    _SELECT.where(is_one_of(job.c.state, "on"), job.c.next_at <= bindparam("until"))
    .order_by(job.c.next_at, job.c.id)
    .limit(bindparam("limit"))
)
_SELECT_NEXT = select(func.min(job.c.next_at).label("at")).where(is_one_of(job.c.state, "on"))
_MOVE = (
    update(job)
    .where(job.c.id == bindparam("id"), job.c.next_at == bindparam("seen"), is_one_of(job.c.state, "on"))
    .values(next_at=bindparam("new_next_at"), runs_left=bindparam("new_runs_left"), state=bindparam("new_state"))
)
_SET_STATE = (
    update(job)
    .where(job.c.id == bindparam("id"), is_one_of(job.c.state, "on", "paused"))
    .values(state=bindparam("new_state"), reason=bindparam("new_reason"), next_at=bindparam("new_next_at"))
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
    if known := await tx.one(_SELECT_EQUAL, space=new.space, norm=new.norm):
        return _to_row(known), False
    last = await tx.one(_SELECT_LAST_NUMBER, space=new.space)
    row = JobRow(
        **{name: getattr(new, name) for name in NewJob.__dataclass_fields__},
        id=new_id(tx.now),
        number=((last["number"] if last else None) or 0) + 1,
        state="on",
        reason="",
        at=tx.now,
    )
    await tx.insert(job, **column_values(row, job))
    await _note(tx, row, "made", row.person)
    return row, True


@light
@single_query
async def load_open_jobs(tx: Tx, space: str) -> list[JobRow]:
    """Load the jobs of a space that are on or paused, by number."""
    return [_to_row(row) for row in await tx.all(_SELECT_OPEN, space=space)]


@light
@single_query
async def find_job(tx: Tx, space: str, number: int) -> JobRow | None:
    """Find a job of a space, in any state."""
    row = await tx.one(_SELECT_BY_NUMBER, space=space, number=number)
    return _to_row(row) if row else None


@light
@single_query
async def count_jobs(tx: Tx, channel: str, person: str) -> int:
    """Count the open jobs of a person in all spaces."""
    row = await tx.one(_COUNT_OF_PERSON, channel=channel, person=person)
    return int(row["count"]) if row else 0


@light
@single_query
async def load_due_jobs(tx: Tx, until: float, limit: int) -> list[JobRow]:
    """Load the jobs that are due, oldest first."""
    return [_to_row(row) for row in await tx.all(_SELECT_DUE, until=until, limit=limit)]


@light
@single_query
async def next_due(tx: Tx) -> float | None:
    """Return when the next job is due, unix seconds; None for never."""
    row = await tx.one(_SELECT_NEXT)
    return row["at"] if row else None


async def fire(tx: Tx, firing: JobFiring) -> bool:
    """Store that a due moment has come, with all that it causes, and move the job to its next one; in one commit.

    Returns:
        False if somebody else fired it, moved it or ended it: then nothing is stored.
    """
    due = firing.job
    left = max(0, due.runs_left - 1)
    is_last = not firing.next_at or (due.runs_left and not left)
    moved = await tx.run(
        _MOVE,
        id=due.id,
        seen=due.next_at,
        new_next_at=0.0 if is_last else firing.next_at,
        new_runs_left=left,
        new_state="done" if is_last else "on",
    )
    if not moved:
        return False
    await tx.insert(
        occurrence,
        id=new_id(tx.now),
        job=due.id,
        due=due.next_at,
        state=firing.state,
        reason=firing.reason,
        space=due.space,
        at=tx.now,
    )
    await add_all_notices(tx, firing.notices)
    if firing.arrivals:
        await accept(tx, firing.arrivals)
    return True


async def fire_all(tx: Tx, firings: Sequence[JobFiring]) -> int:
    """Fire several jobs in one commit, so that a notice of all of them is sent with all of them or not at all."""
    return sum([await fire(tx, firing) for firing in firings])


async def set_job_state(tx: Tx, row: JobRow, state: JobState, reason: str, next_at: float, by: str) -> bool:
    """Pause, resume or end a job; False if it has ended."""
    changed = await tx.run(_SET_STATE, id=row.id, new_state=state, new_reason=reason, new_next_at=next_at)
    if changed:
        await _note(tx, row, state, by)
    return bool(changed)


@light
@single_query
async def load_occurrences(tx: Tx, job_id: str, limit: int) -> list[OccurrenceRow]:
    """Load how the newest due moments of a job ended, newest first."""
    return [OccurrenceRow(**row) for row in await tx.all(_SELECT_OCCURRENCES, job=job_id, limit=limit)]


async def _note(tx: Tx, row: JobRow, result: str, by: str) -> None:
    await append_act(tx, f"job {row.kind}", f"{row.space or 'owner'} r{row.number}", result, by)


def _to_row(row: Row) -> JobRow:
    return JobRow(**{**row, "tainted": bool(row["tainted"])})


class Jobs(Repository):
    """What people want done later; making and ending a job is added to the audit chain."""

    add = write(add_job)
    open_jobs = read(load_open_jobs)
    find = read(find_job)
    count = read(count_jobs)
    due = read(load_due_jobs)
    next_due = read(next_due)
    fire = write(fire)
    fire_all = write(fire_all)
    set_state = write(set_job_state)
    occurrences = read(load_occurrences)
