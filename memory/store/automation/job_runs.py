"""The runs of tasks: which are over, how they ended, and what follows for their jobs."""

from dataclasses import dataclass
from typing import Literal

from sqlalchemy import bindparam, case, exists, func, or_, select, update

from memory.store.automation.jobs import OccurrenceRow, OccurrenceState
from memory.store.conversations.outbox import add_all_notices
from memory.store.engine.database import Repository, Tx, light, read, write
from memory.store.rows import Notice, columns_of, from_row, new_binds
from memory.store.schema.memory_tables import job, occurrence
from memory.store.schema.tables import inbox, is_one_of, literal_text, message, outbox, turn


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """A run that has begun, with how far it came."""

    #: Job id.
    job: str
    due: float
    #: Unix seconds when it began.
    at: float
    #: State of the message that started it; "" if it is gone.
    inbox_state: str
    #: State of its turn; "" if there is none.
    turn_state: str
    #: The person was told how it went.
    told: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnd:
    """How a run ended, and what follows."""

    state: Literal["done", "failed"]
    reason: str = ""
    #: Unix seconds of a further attempt; 0 for none.
    retry_at: float = 0.0
    #: Of the job from now on.
    fails: int = 0
    pause: bool = False
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutcome:
    """How an earlier due moment of a job ended, for the next one."""

    due: float
    state: OccurrenceState
    reason: str
    #: The answer as JSON parts, "" if there is none.
    parts: str
    #: Words from outside were in view.
    tainted: bool


_END_RUN = (
    update(occurrence)
    .where(
        occurrence.c.job == bindparam("job"),
        occurrence.c.due == bindparam("due"),
        occurrence.c.state == literal_text("run"),
    )
    .values(**new_binds("state", "reason"))
)
_SET_FAILS = update(job).where(job.c.id == bindparam("id")).values(fails=bindparam("new_fails"))
_PAUSE_FAILED = (
    update(job)
    .where(job.c.id == bindparam("id"), is_one_of(job.c.state, "on"))
    .values(state=literal_text("paused"), reason=literal_text("failed"))
)
# A job whose only time has come is done; it is on again for the attempt, after which it ends.
_RETRY = (
    update(job)
    .where(
        job.c.id == bindparam("id"),
        job.c.extra == literal_text(""),
        (is_one_of(job.c.state, "on") & (job.c.next_at > bindparam("retry_at")))
        | (is_one_of(job.c.state, "done") & (job.c.reason == literal_text(""))),
    )
    .values(
        resumes_at=case((job.c.state == literal_text("on"), job.c.next_at), else_=0.0),
        state=literal_text("on"),
        next_at=bindparam("retry_at"),
        extra=literal_text("retry"),
        retries=job.c.retries + 1,
    )
)
_SELECT_RUNS = (
    select(
        occurrence.c.job,
        occurrence.c.due,
        occurrence.c.at,
        func.coalesce(inbox.c.state, "").label("inbox_state"),
        func.coalesce(turn.c.state, "").label("turn_state"),
        exists()
        .where(outbox.c.source == occurrence.c.inbox_row.concat(literal_text(":answer")))
        .label("told"),
    )
    .select_from(occurrence)
    .outerjoin(inbox, inbox.c.id == occurrence.c.inbox_row)
    .outerjoin(turn, turn.c.id == inbox.c.turn_id)
    .where(occurrence.c.state == literal_text("run"))
)
_SELECT_ENDED_RUNS = _SELECT_RUNS.where(
    or_(inbox.c.id.is_(None), ~is_one_of(inbox.c.state, "new", "running"))
).limit(bindparam("limit"))
_SELECT_OPEN_RUN = (
    select(occurrence.c.id)
    .where(occurrence.c.job == bindparam("job"), occurrence.c.state == literal_text("run"))
    .limit(1)
)
_COUNT_RUNS = (
    select(func.count().label("count"))
    .select_from(occurrence)
    .join(job, job.c.id == occurrence.c.job)
    .where(
        job.c.channel == bindparam("channel"),
        job.c.person == bindparam("person"),
        occurrence.c.at >= bindparam("since"),
        is_one_of(occurrence.c.state, "run", "done", "failed"),
    )
)
_SELECT_ENDED = (
    select(*columns_of(OccurrenceRow, occurrence))
    .where(
        occurrence.c.job == bindparam("job"),
        is_one_of(occurrence.c.state, "told", "done", "failed", "skipped"),
    )
    .order_by(occurrence.c.due.desc())
    .limit(bindparam("limit"))
)
_SELECT_ANSWER = (
    select(message.c.parts, message.c.tainted)
    .select_from(inbox)
    .join(turn, turn.c.id == inbox.c.turn_id)
    .join(
        message,
        (message.c.conversation == turn.c.conversation) & (message.c.seq >= turn.c.first_seq),
    )
    .where(
        inbox.c.id == bindparam("id"),
        message.c.turn_id == turn.c.id,
        message.c.role == literal_text("assistant"),
    )
    .order_by(message.c.seq.desc())
    .limit(1)
)


@light
async def load_ended_runs(tx: Tx, limit: int) -> list[RunRow]:
    """Load runs whose message is settled, so that their end can be stored."""
    return [
        from_row(RunRow, row) for row in (await tx.execute(_SELECT_ENDED_RUNS, limit=limit)).all()
    ]


@light
async def is_running(tx: Tx, job_id: str) -> bool:
    """Tell whether an earlier run of a job has not ended."""
    return (await tx.execute(_SELECT_OPEN_RUN, job=job_id)).first() is not None


async def end_run(tx: Tx, run: RunRow, end: RunEnd) -> bool:
    """Store how a run ended, and what follows for its job; False if that is stored already."""
    if not (
        await tx.execute(
            _END_RUN, job=run.job, due=run.due, new_state=end.state, new_reason=end.reason
        )
    ).rowcount:
        return False
    if end.retry_at and (await tx.execute(_RETRY, id=run.job, retry_at=end.retry_at)).rowcount:
        return True
    await tx.execute(_SET_FAILS, id=run.job, new_fails=end.fails)
    if end.pause:
        await tx.execute(_PAUSE_FAILED, id=run.job)
    await add_all_notices(tx, end.notices)
    return True


@light
async def count_runs(tx: Tx, channel: str, person: str, since: float) -> int:
    """Count the turns that the jobs of a person have begun since a moment."""
    return (await tx.execute(_COUNT_RUNS, channel=channel, person=person, since=since)).count()


async def load_outcomes(tx: Tx, job_id: str, limit: int) -> list[RunOutcome]:
    """Load how the newest due moments of a job ended and what was answered, newest first."""
    outcomes = []
    for row in (await tx.execute(_SELECT_ENDED, job=job_id, limit=limit)).all():
        answer = (
            (await tx.execute(_SELECT_ANSWER, id=row["inbox_row"])).first()
            if row["inbox_row"]
            else None
        )
        outcomes.append(
            RunOutcome(
                due=row["due"],
                state=row["state"],
                reason=row["reason"],
                parts=answer["parts"] if answer else "",
                tainted=bool(answer and answer["tainted"]),
            )
        )
    return outcomes


class JobRuns(Repository):
    """Runs of tasks, from the turn's end on."""

    ended = read(load_ended_runs)
    is_running = read(is_running)
    end = write(end_run)
    count = read(count_runs)
    outcomes = read(load_outcomes)
