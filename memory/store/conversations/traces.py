"""What became of one message, read from the rows that its work left: nothing is written for it."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import bindparam, or_, select

from memory.store.engine.database import Row, Tx
from memory.store.rows import from_unix
from memory.store.schema.columns import is_one_of, literal_text
from memory.store.schema.tables import fold, inbox, message, outbox, tool_call, turn, usage

# What became of one message, as values.

TraceKind = Literal["received", "claimed", "model", "tool", "fold", "ended", "part"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceEvent:
    """One thing that happened."""

    #: None for what has not ended yet.
    at: datetime | None
    kind: TraceKind
    #: Of the channel, model, tool, fold's method or kind of a part.
    name: str = ""
    #: What it is in now, where it has states.
    state: str = ""
    #: Since the step before it, for a part since it was stored.
    seconds: float = 0.0
    #: Tokens.
    input: int = 0
    #: Tokens.
    output: int = 0
    #: Tokens.
    cached: int = 0
    #: Of an answer.
    part: int = 0
    #: Of an answer.
    parts: int = 0
    #: How often it was tried.
    attempts: int = 0
    #: What went wrong, or what asked for it.
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """All of it, in order."""

    #: The trace id.
    id: str
    conversation: str
    #: The inbox row's id.
    message: str
    #: The inbox row's.
    state: str
    events: tuple[TraceEvent, ...]


_LAST_LINE = 2**31 - 1
_MAX_SECONDS = 1e12  # unix seconds
_MESSAGE = select(
    *(inbox.c[name] for name in ("id", "channel", "kind", "sender_id", "state", "reason", "attempts", "turn_id")),
    inbox.c.trace_id,
    inbox.c.received,
).where(
    inbox.c.conversation == bindparam("row"),
    inbox.c.line < bindparam("below"),
    or_(bindparam("only") == literal_text(""), inbox.c.sender_id == bindparam("only")),
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
    outbox.c.conversation == bindparam("row"), outbox.c.id == bindparam("of")
)
_SELECT_THIS = _MESSAGE.where(
    or_(
        inbox.c.trace_id == bindparam("of"),
        inbox.c.id == bindparam("of"),
        inbox.c.id.in_(_SELECT_ANSWERED),
    )
)
_SELECT_TURN = select(turn).where(turn.c.id == bindparam("row"))
_SELECT_USAGE = select(usage).where(usage.c.conversation == bindparam("row"), usage.c.turn_id == bindparam("turn"))
_SELECT_CALLS = (
    select(tool_call.c.name, tool_call.c.state, tool_call.c.attempts, tool_call.c.result_id)
    .where(tool_call.c.turn_id == bindparam("turn"))
    .order_by(tool_call.c.place)
)
_SELECT_TIMES = select(message.c.id, message.c.at).where(
    message.c.conversation == bindparam("row"), message.c.turn == bindparam("number")
)
_SELECT_NEXT_TURN = select(turn.c.started).where(
    turn.c.conversation == bindparam("row"), turn.c.number == bindparam("number")
)
_SELECT_FOLDS = select(fold.c.method, fold.c.state, fold.c.reason, fold.c.at, fold.c.log_only).where(
    fold.c.conversation == bindparam("row"), fold.c.at >= bindparam("begin"), fold.c.at < bindparam("end")
)
_SELECT_PARTS = (
    select(outbox)
    .where(outbox.c.conversation == bindparam("row"), outbox.c.reply_to == bindparam("answered"))
    .order_by(outbox.c.line, outbox.c.part_no)
)


async def load_trace(tx: Tx, conversation: str, *, of: str = "", sender: str = "", below: int = 0) -> Trace | None:
    """What became of a message here, None for an unknown one. sender: only theirs; below: lines under that number.

    of: a trace id, or the id of a message or of an answer to it; "": of the newest that asked the model.
    """
    where = {"row": conversation, "below": below or _LAST_LINE, "only": sender}
    found = await (tx.one(_SELECT_THIS, **where, of=of) if of else tx.one(_SELECT_NEWEST, **where))
    if found is None:
        return None
    worked = await tx.one(_SELECT_TURN, row=found["turn_id"]) if found["turn_id"] else None
    events = [_received_event(found), *(await _turn_events(tx, conversation, worked) if worked else ())]
    answered = worked["inbox_id"] if worked else found["id"]
    parts = [_part_event(row) for row in await tx.all(_SELECT_PARTS, row=conversation, answered=answered)]
    known = sorted((event for event in events if event.at), key=lambda event: event.at.timestamp() if event.at else 0)
    return Trace(
        id=found["trace_id"],
        conversation=conversation,
        message=found["id"],
        state=found["state"],
        events=(*known, *(event for event in events if not event.at), *parts),
    )


async def _turn_events(tx: Tx, conversation: str, worked: Row) -> list[TraceEvent]:
    """What a turn did: claimed, its calls of models and tools, folds until the next turn, its end."""
    spent = sorted(await tx.all(_SELECT_USAGE, row=conversation, turn=worked["id"]), key=lambda row: row["at"])
    said = {row["id"]: row["at"] for row in await tx.all(_SELECT_TIMES, row=conversation, number=worked["number"])}
    calls = [(row, said.get(row["result_id"], 0.0)) for row in await tx.all(_SELECT_CALLS, turn=worked["id"])]
    after = await tx.one(_SELECT_NEXT_TURN, row=conversation, number=worked["number"] + 1)
    span = {"begin": worked["started"], "end": after["started"] if after else _MAX_SECONDS}
    folds = [_fold_event(row) for row in await tx.all(_SELECT_FOLDS, row=conversation, **span)]
    asked = [row["at"] for row in spent]
    steps = sorted([worked["started"], *(at for _, at in calls if at)])
    events = [TraceEvent(at=from_unix(worked["started"]), kind="claimed", attempts=worked["attempts"])]
    events += [_model_event(row, steps) for row in spent]
    events += [_tool_event(row, at, asked) for row, at in calls]
    events += folds
    if worked["ended"]:
        over = worked["ended"]
        took = over - worked["started"]
        events.append(TraceEvent(at=from_unix(over), kind="ended", state=worked["state"], seconds=took))
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


def _tool_event(row: Row, at: float, asked: Sequence[float]) -> TraceEvent:
    return TraceEvent(
        at=from_unix(at) if at else None,
        kind="tool",
        name=row["name"],
        state=row["state"],
        seconds=_seconds_since(at, asked) if at else 0.0,
        attempts=row["attempts"],
    )


def _fold_event(row: Row) -> TraceEvent:
    return TraceEvent(at=from_unix(row["at"]), kind="fold", name=row["method"], state=row["state"], why=row["reason"])


def _part_event(row: Row) -> TraceEvent:
    """One part of an answer; where its fate was settled before that was noted, there is no time for it."""
    over = row["settled"]
    return TraceEvent(
        at=from_unix(over) if over else None,
        kind="part",
        name=row["kind"],
        state=row["state"],
        seconds=max(0.0, over - row["created"]) if over else 0.0,
        part=row["part_no"] + 1,
        parts=row["parts"],
        attempts=row["attempts"],
        why=row["error"],
    )


def _seconds_since(at: float, earlier: Sequence[float]) -> float:
    """Seconds from the last of the earlier times, in order, to this one; 0 where there is none."""
    place = bisect_right(earlier, at)
    return max(0.0, at - earlier[place - 1]) if place else 0.0
