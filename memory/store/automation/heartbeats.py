"""What each beat of the heartbeat decided, and when it was turned on, off or paused."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import bindparam, func, select

from memory.ids import new_id
from memory.store.audit import append_act
from memory.store.conversations.outbox import add_all_notices
from memory.store.conversations.usage import add_usage
from memory.store.engine.database import Repository, Tx, insert_into, light, read, write
from memory.store.rows import Notice, Usage, column_values, columns_of
from memory.store.schema.memory_tables import heartbeat
from memory.store.schema.tables import conversation, is_one_of, literal_text

# "told": a notice was sent. "dropped": one that was sent within a day. "on", "off", "paused": not
# beats, but its state.
BeatDecision = Literal["silent", "told", "dropped", "failed", "on", "off", "paused"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewBeat:
    """A beat that asked the model, or a change of the heartbeat's state."""

    space: str
    decision: BeatDecision
    #: Hash of the inputs; "" for a change of state.
    sha256: str = ""
    #: Hash of the folded notice.
    norm: str = ""
    #: Why it failed or was paused.
    reason: str = ""
    #: Input that came from no cache, and output.
    tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BeatRow(NewBeat):
    """A stored beat."""

    id: str
    #: Unix seconds.
    at: float


_IN_SPACE = heartbeat.c.space == bindparam("space")
_IS_STATE = is_one_of(heartbeat.c.decision, "on", "off", "paused")
_SELECT = (
    select(*columns_of(BeatRow, heartbeat))
    .where(_IN_SPACE)
    .order_by(heartbeat.c.at.desc(), heartbeat.c.id.desc())
)
_SELECT_STATE = _SELECT.where(_IS_STATE).limit(1)
_SELECT_BEATS = _SELECT.where(~_IS_STATE).limit(bindparam("limit"))
_SELECT_SINCE = _SELECT.where(~_IS_STATE, heartbeat.c.at >= bindparam("since"))
_SELECT_HEARD = select(func.max(conversation.c.heard).label("at")).where(
    conversation.c.space == bindparam("space"), conversation.c.kind == literal_text("dm")
)


@light
async def load_state(tx: Tx, space: str) -> BeatRow | None:
    """Load the newest change of state, None if there was none."""
    row = (await tx.execute(_SELECT_STATE, space=space)).first()
    return BeatRow(**row) if row else None


@light
async def load_beats(tx: Tx, space: str, limit: int) -> list[BeatRow]:
    """Load the newest beats, newest first."""
    return [
        BeatRow(**row) for row in (await tx.execute(_SELECT_BEATS, space=space, limit=limit)).all()
    ]


@light
async def load_beats_since(tx: Tx, space: str, since: float) -> list[BeatRow]:
    """Load the beats since a moment, newest first."""
    return [
        BeatRow(**row) for row in (await tx.execute(_SELECT_SINCE, space=space, since=since)).all()
    ]


async def last_heard(tx: Tx, space: str) -> float:
    """Return when a person last wrote in a private chat of a space, unix seconds; 0 for never."""
    row = (await tx.execute(_SELECT_HEARD, space=space)).first()
    return float(row["at"] or 0.0) if row else 0.0


async def add_beat(
    tx: Tx,
    new: NewBeat,
    conversation_id: str = "",
    usage: Sequence[Usage] = (),
    notices: Sequence[Notice] = (),
) -> None:
    """Store a beat with its usage, charged to a conversation, and its notices."""
    await tx.execute(
        insert_into(heartbeat), id=new_id(tx.now), at=tx.now, **column_values(new, heartbeat)
    )
    if conversation_id:
        await add_usage(tx, conversation_id, usage)
    await add_all_notices(tx, notices)


async def set_state(tx: Tx, new: NewBeat, by: str, notices: Sequence[Notice] = ()) -> None:
    """Turn the heartbeat on or off, or pause it; the audit chain has it."""
    await add_beat(tx, new, notices=notices)
    await append_act(tx, "heartbeat", new.space or "owner", new.decision, by)


class Heartbeats(Repository):
    """Beats of each space."""

    state = read(load_state)
    beats = read(load_beats)
    since = read(load_beats_since)
    last_heard = read(last_heard)
    add = write(add_beat)
    set_state = write(set_state)
