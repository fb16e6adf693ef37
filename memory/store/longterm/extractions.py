"""The queue of turns whose lasting facts are to be noted: put in by T6, worked off one at a time per space."""

from sqlalchemy import bindparam, func, select, update

from memory.conversation import Message
from memory.store.engine.database import Row, Tx
from memory.store.engine.repository import Repository, read, write
from memory.store.errors import WrongState
from memory.store.longterm.rows import ExtractionRow, ExtractionState
from memory.store.rows import columns_of, from_unix, linked_space, to_message
from memory.store.schema.columns import is_one_of
from memory.store.schema.memory_tables import extraction
from memory.store.schema.tables import message

OPEN = ("queued", "found")
TRANSITIONS: dict[str, tuple[str, ...]] = {"queued": ("found", "skipped", "failed"), "found": ("done", "failed")}
_IS_OPEN = is_one_of(extraction.c.state, *OPEN)
_SELECT = select(*columns_of(ExtractionRow, extraction))
_SELECT_ONE = _SELECT.where(extraction.c.turn_id == bindparam("row"))
_SELECT_NEXT = (
    _SELECT.where(_IS_OPEN, linked_space(extraction.c.space) == bindparam("space"))
    .order_by(extraction.c.at, extraction.c.conversation, extraction.c.turn)
    .limit(1)
)
_COUNT_ATTEMPT = (
    update(extraction).where(extraction.c.turn_id == bindparam("row")).values(attempts=extraction.c.attempts + 1)
)
_MOVE = (
    update(extraction)
    .where(extraction.c.turn_id == bindparam("row"), extraction.c.state == bindparam("was"))
    .values(state=bindparam("became"), found=bindparam("words"), reason=bindparam("why"))
)
_SPACES = select(linked_space(extraction.c.space).label("space")).where(_IS_OPEN).distinct()
_COUNTS = select(extraction.c.state, func.count().label("rows")).group_by(extraction.c.state)
_MESSAGES = (
    select(*columns_of(Message, message))
    .where(message.c.conversation == bindparam("row"), message.c.turn == bindparam("number"))
    .order_by(message.c.seq)
)


async def take_next(tx: Tx, space: str) -> ExtractionRow | None:
    """The oldest open row of a space, or of an account that has joined it; attempts + 1."""
    row = await tx.one(_SELECT_NEXT, space=space)
    if row is None:
        return None
    await tx.run(_COUNT_ATTEMPT, row=row["turn_id"])
    return _to_row({**row, "attempts": row["attempts"] + 1})


async def _load_known(tx: Tx, turn_id: str) -> ExtractionRow | None:
    """As it is now, None where it has been removed."""
    row = await tx.one(_SELECT_ONE, row=turn_id)
    return _to_row(row) if row else None


async def set_state(tx: Tx, turn_id: str, state: ExtractionState, *, found: str = "", reason: str = "") -> None:
    """queued -> found | skipped | failed; found -> done | failed; anything else raises WrongState.

    What was found stays with a row that failed, and leaves one that is done.
    """
    row = await tx.one(_SELECT_ONE, row=turn_id)
    was = row["state"] if row else "missing"
    if row is None or state not in TRANSITIONS.get(was, ()):
        raise WrongState(f"an extraction does not go from {was} to {state}")
    words = row["found"] if state == "failed" else found
    await tx.run(_MOVE, row=turn_id, was=was, became=state, words=words, why=reason)


async def load_spaces(tx: Tx) -> list[str]:
    """Spaces with open rows (queued or found); of an account that has joined another, the one it joined."""
    return sorted(row["space"] for row in await tx.all(_SPACES))


async def count_by_state(tx: Tx) -> dict[str, int]:
    """Rows by state."""
    return {row["state"]: row["rows"] for row in await tx.all(_COUNTS)}


async def load_messages(tx: Tx, row: ExtractionRow) -> list[Message]:
    """What was said in its turn, in order; none where it has been removed."""
    return [to_message(found) for found in await tx.all(_MESSAGES, row=row.conversation, number=row.turn)]


def _to_row(row: Row) -> ExtractionRow:
    return ExtractionRow(**{**row, "at": from_unix(row["at"])})


class ExtractionQueue(Repository):
    """The queue of turns whose facts are to be noted; a turn is put in it by Delivery.finish(remember=True)."""

    spaces = read(load_spaces)
    next = write(take_next)
    row = read(_load_known)
    messages = read(load_messages)
    move = write(set_state)
    counts = read(count_by_state)
