"""The trace of one message, put together from the rows that its processing has stored."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import and_, bindparam, or_, select

from memory.store.conversations.messages import IS_OF_TURN
from memory.store.engine.database import Row, Tx
from memory.store.rows import from_unix
from memory.store.schema.tables import (
    MAX_INTEGER,
    fold,
    inbox,
    is_one_of,
    literal_text,
    message,
    outbox,
    tool_call,
    turn,
    usage,
)

TraceKind = Literal["received", "claimed", "model", "tool", "fold", "ended", "part"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceEvent:
    """One step of the processing."""

    #: None while it has not ended.
    at: datetime | None
    kind: TraceKind
    #: The channel, model or tool, the method of a fold, or the kind of a part.
    name: str = ""
    #: Current state of its row, "" where that has none.
    state: str = ""
    #: Since the step before it; of a part since it was queued.
    seconds: float = 0.0
    #: Tokens.
    input: int = 0
    #: Tokens.
    output: int = 0
    #: Tokens.
    cached: int = 0
    #: Number of the part of a reply, from 1.
    part: int = 0
    #: Number of parts of the reply.
    parts: int = 0
    attempts: int = 0
    #: The error, or the reason for the step.
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """The trace of one message."""

    #: The trace id.
    id: str
    conversation: str
    #: Id of the inbox row.
    message: str
    #: State of the inbox row.
    state: str
    events: tuple[TraceEvent, ...]


_MAX_SECONDS = 1e12  # unix seconds
_MESSAGE = select(
    *(
        inbox.c[name]
        for name in ("id", "channel", "kind", "sender_id", "state", "reason", "attempts", "turn_id")
    ),
    inbox.c.trace_id,
    inbox.c.received,
).where(
    inbox.c.conversation == bindparam("conversation"),
    inbox.c.line < bindparam("before"),
    or_(bindparam("sender_id") == literal_text(""), inbox.c.sender_id == bindparam("sender_id")),
)
_SELECT_NEWEST = (
    _MESSAGE.where(
        or_(inbox.c.kind == literal_text("message"), inbox.c.turn_id != literal_text("")),
        is_one_of(inbox.c.state, "new", "running", "done", "dead"),
    )
    .order_by(inbox.c.line.desc())
    .limit(1)
)
_SELECT_ANSWERED = select(outbox.c.reply_to).where(
    outbox.c.conversation == bindparam("conversation"), outbox.c.id == bindparam("of")
)
_SELECT_THIS = _MESSAGE.where(
    or_(
        inbox.c.trace_id == bindparam("of"),
        inbox.c.id == bindparam("of"),
        inbox.c.id.in_(_SELECT_ANSWERED),
    )
)
_SELECT_TURN = select(turn).where(turn.c.id == bindparam("id"))
_SELECT_USAGE = select(usage).where(
    usage.c.conversation == bindparam("conversation"), usage.c.turn_id == bindparam("turn_id")
)
_SELECT_CALLS = (
    select(tool_call.c.name, tool_call.c.state, tool_call.c.attempts, tool_call.c.result_id)
    .where(tool_call.c.turn_id == bindparam("turn_id"))
    .order_by(tool_call.c.place)
)
_SELECT_TIMES = select(message.c.id, message.c.at).where(IS_OF_TURN)
_SELECT_NEXT_TURN = select(turn.c.started).where(
    turn.c.conversation == bindparam("conversation"), turn.c.number == bindparam("number")
)
_SELECT_FOLDS = select(fold.c.method, fold.c.state, fold.c.reason, fold.c.at).where(
    fold.c.conversation == bindparam("conversation"),
    fold.c.log_only.is_(False),  # one that only writes the log folds nothing
    fold.c.at >= bindparam("begin"),
    fold.c.at < bindparam("end"),
)
_SELECT_PARTS = (
    select(outbox)
    .where(
        outbox.c.conversation == bindparam("conversation"),
        outbox.c.reply_to == bindparam("reply_to"),
    )
    .order_by(outbox.c.line, outbox.c.part_no)
)


async def load_trace(
    tx: Tx, conversation: str, *, of: str = "", sender: str = "", below: int = 0
) -> Trace | None:
    """Load the trace of a message of this conversation, None for an unknown one.

    Args:
        of: a trace id, or the id of a message or of a part of its reply; "" for the newest message
            that had a turn.
        sender: only messages of this sender, "" for all.
        below: only messages with smaller line numbers, 0 for all.
    """
    where = {"conversation": conversation, "before": below or MAX_INTEGER, "sender_id": sender}
    query = tx.execute(_SELECT_THIS, **where, of=of) if of else tx.execute(_SELECT_NEWEST, **where)
    found = (await query).first()
    if found is None:
        return None
    turn_row = (
        (await tx.execute(_SELECT_TURN, id=found["turn_id"])).first() if found["turn_id"] else None
    )
    events = [
        _received_event(found),
        *(await _turn_events(tx, conversation, turn_row) if turn_row else ()),
    ]
    reply_to = turn_row["inbox_id"] if turn_row else found["id"]
    parts = [
        _part_event(row)
        for row in (
            await tx.execute(_SELECT_PARTS, conversation=conversation, reply_to=reply_to)
        ).all()
    ]
    known = sorted(
        (event for event in events if event.at),
        key=lambda event: event.at.timestamp() if event.at else 0,
    )
    return Trace(
        id=found["trace_id"],
        conversation=conversation,
        message=found["id"],
        state=found["state"],
        events=(*known, *(event for event in events if not event.at), *parts),
    )


# The list of traces: one row for each turn, newest first.

TRACE_WINDOW = 1_000  # turns that one page looks at
_NEWEST_TURNS = (
    select(
        turn.c.id,
        turn.c.trace_id,
        turn.c.conversation,
        turn.c.state,
        turn.c.started,
        turn.c.ended,
        turn.c.attempts,
    )
    .where(
        or_(
            turn.c.started < bindparam("before"),
            and_(turn.c.started == bindparam("before"), turn.c.id < bindparam("before_id")),
        )
    )
    .order_by(turn.c.started.desc(), turn.c.id.desc())
    .limit(bindparam("window"))
)
_NEWEST_TURNS_OF_ONE = _NEWEST_TURNS.where(turn.c.conversation == bindparam("conversation"))


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceSummary:
    """One turn in the list of traces."""

    #: The trace id.
    id: str
    #: Id of the conversation's row.
    conversation: str
    state: str
    started: datetime
    #: 0.0 while it has not ended.
    seconds: float
    #: Times that it was taken up again after a restart.
    attempts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceFilter:
    """Which turns are wanted."""

    #: Id of the conversation's row, "" for any.
    conversation: str = ""
    #: "" for any.
    state: str = ""
    #: At least so many seconds.
    slow: float = 0.0


async def load_traces(
    tx: Tx, wanted: TraceFilter, limit: int, before: tuple[float, str] = (_MAX_SECONDS, "")
) -> tuple[list[TraceSummary], tuple[float, str] | None]:
    """Load a page of the turns that are wanted, newest first, and where the next page begins; None
    after the last.

    A page looks at TRACE_WINDOW turns at most, so it may hold fewer than `limit`.
    """
    statement, of = (
        (_NEWEST_TURNS_OF_ONE, {"conversation": wanted.conversation})
        if wanted.conversation
        else (_NEWEST_TURNS, {})
    )
    rows = (
        await tx.execute(
            statement, before=before[0], before_id=before[1], window=TRACE_WINDOW, **of
        )
    ).all()
    found: list[TraceSummary] = []
    for row in rows:
        if len(found) == limit:
            break
        before = (row["started"], row["id"])
        seconds = max(0.0, row["ended"] - row["started"]) if row["ended"] else 0.0
        if (not wanted.state or row["state"] == wanted.state) and seconds >= wanted.slow:
            summary = TraceSummary(
                id=row["trace_id"],
                conversation=row["conversation"],
                state=row["state"],
                started=from_unix(row["started"]),
                seconds=seconds,
                attempts=row["attempts"],
            )
            found.append(summary)
    at_end = len(rows) < TRACE_WINDOW and (
        not rows or before == (rows[-1]["started"], rows[-1]["id"])
    )
    return found, None if at_end else before


async def _turn_events(tx: Tx, conversation: str, turn_row: Row) -> list[TraceEvent]:
    """Load the events of a turn: claim, model and tool calls, folds until the next turn, end."""
    number, started, ended = turn_row["number"], turn_row["started"], turn_row["ended"]
    of_turn = {"conversation": conversation, "turn_id": turn_row["id"]}
    model_calls = sorted(
        (await tx.execute(_SELECT_USAGE, **of_turn)).all(), key=lambda row: row["at"]
    )
    times = {
        row["id"]: row["at"]
        for row in (await tx.execute(_SELECT_TIMES, conversation=conversation, turn=number)).all()
    }
    tool_calls = (await tx.execute(_SELECT_CALLS, turn_id=turn_row["id"])).all()
    calls = [(row, times.get(row["result_id"], 0.0)) for row in tool_calls]
    following = (
        await tx.execute(_SELECT_NEXT_TURN, conversation=conversation, number=number + 1)
    ).first()
    end = following["started"] if following else _MAX_SECONDS
    folds = (
        await tx.execute(_SELECT_FOLDS, conversation=conversation, begin=started, end=end)
    ).all()
    answered = [row["at"] for row in model_calls]
    steps = sorted([started, *(at for _, at in calls if at)])
    events = [TraceEvent(at=from_unix(started), kind="claimed", attempts=turn_row["attempts"])]
    events += [_model_event(row, steps) for row in model_calls]
    events += [_tool_event(row, at, answered) for row, at in calls]
    events += [
        TraceEvent(
            at=from_unix(row["at"]),
            kind="fold",
            name=row["method"],
            state=row["state"],
            why=row["reason"],
        )
        for row in folds
    ]
    if ended:
        seconds = ended - started
        events.append(
            TraceEvent(at=from_unix(ended), kind="ended", state=turn_row["state"], seconds=seconds)
        )
    return events


def _received_event(row: Row) -> TraceEvent:
    return TraceEvent(
        at=from_unix(row["received"]),
        kind="received",
        name=row["channel"],
        state=row["state"],
        attempts=row["attempts"],
        why=row["reason"] if row["state"] == "ignored" else "",
    )


def _model_event(row: Row, steps: Sequence[float]) -> TraceEvent:
    return TraceEvent(
        at=from_unix(row["at"]),
        kind="model",
        name=row["model"],
        seconds=_seconds_since(row["at"], steps),
        input=row["input"],
        output=row["output"],
        cached=row["cache_read"],
        why=row["purpose"],
    )


def _tool_event(row: Row, at: float, answered: Sequence[float]) -> TraceEvent:
    return TraceEvent(
        at=from_unix(at) if at else None,
        kind="tool",
        name=row["name"],
        state=row["state"],
        seconds=_seconds_since(at, answered) if at else 0.0,
        attempts=row["attempts"],
    )


def _part_event(row: Row) -> TraceEvent:
    settled = row["settled"]  # 0.0 for parts of versions that did not store it
    return TraceEvent(
        at=from_unix(settled) if settled else None,
        kind="part",
        name=row["kind"],
        state=row["state"],
        seconds=max(0.0, settled - row["created"]) if settled else 0.0,
        part=row["part_no"] + 1,
        parts=row["parts"],
        attempts=row["attempts"],
        why=row["error"],
    )


def _seconds_since(at: float, earlier: Sequence[float]) -> float:
    """Return the seconds since the last of these sorted times that is not later, 0.0 when there is
    none.
    """
    place = bisect_right(earlier, at)
    return max(0.0, at - earlier[place - 1]) if place else 0.0
