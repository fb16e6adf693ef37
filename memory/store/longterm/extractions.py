"""The queue of turns that facts are extracted from, oldest first per space; `finish_turn` adds to
it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from sqlalchemy import bindparam, func, select, update

from memory.conversation import Message
from memory.store.conversations.messages import IS_OF_TURN
from memory.store.engine.database import Repository, Tx, light, read, soft, write
from memory.store.errors import WrongState
from memory.store.linked_spaces import linked_space
from memory.store.longterm.rows import ExtractionRow, ExtractionState
from memory.store.rows import columns_of, from_row, to_message
from memory.store.schema.memory_tables import extraction
from memory.store.schema.tables import is_one_of, message

OPEN = ("queued", "found")
TRANSITIONS: dict[str, tuple[str, ...]] = {
    "queued": ("found", "done", "skipped", "failed"),  # done at once where nothing was found
    "found": ("done", "failed"),
}
_IS_OPEN = is_one_of(extraction.c.state, *OPEN)
_IS_ROW = extraction.c.turn_id == bindparam("turn_id")
_SELECT = select(*columns_of(ExtractionRow, extraction))
_SELECT_ONE = _SELECT.where(_IS_ROW)
_SELECT_NEXT = (
    _SELECT.where(_IS_OPEN, linked_space(extraction.c.space) == bindparam("space"))
    .order_by(extraction.c.at, extraction.c.conversation, extraction.c.turn)
    .limit(bindparam("limit"))
)
_COUNT_ATTEMPT = update(extraction).where(_IS_ROW).values(attempts=extraction.c.attempts + 1)
_UPDATE = (
    update(extraction)
    .where(_IS_ROW, extraction.c.state == bindparam("state"))
    .values({name: bindparam(f"new_{name}") for name in ("state", "found", "reason")})
)
_SELECT_SPACES = select(linked_space(extraction.c.space).label("space")).where(_IS_OPEN).distinct()
_COUNT_BY_STATE = select(extraction.c.state, func.count().label("rows")).group_by(
    extraction.c.state
)
_SELECT_MESSAGES = select(*columns_of(Message, message)).where(IS_OF_TURN).order_by(message.c.seq)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionMove:
    """A row's next state."""

    turn_id: str
    state: ExtractionState
    #: Facts of a row that is "found", as JSON.
    found: str = ""
    reason: str = ""


@soft
@light
async def take_next(tx: Tx, space: str, limit: int = 1) -> list[ExtractionRow]:
    """Return the oldest open rows of a space and the accounts linked to it, with `attempts` raised
    by one.

    Rows whose facts are to be found come together, at most `limit` of them; a row that was tried
    before comes alone, as does one whose facts are found.
    """
    rows = (await tx.execute(_SELECT_NEXT, space=space, limit=limit)).all()
    fresh = list(takewhile(lambda row: row["state"] == "queued" and not row["attempts"], rows))
    taken = fresh or rows[:1]
    for row in taken:
        await tx.execute(_COUNT_ATTEMPT, turn_id=row["turn_id"])
    return [from_row(ExtractionRow, {**row, "attempts": row["attempts"] + 1}) for row in taken]


@soft
@light
async def move_queued(tx: Tx, moves: Sequence[ExtractionMove]) -> None:
    """Change the states of queued rows; one that is not queued any more, or gone, is left as it
    is.
    """
    for move in moves:
        new = {"new_state": move.state, "new_found": move.found, "new_reason": move.reason}
        await tx.execute(_UPDATE, turn_id=move.turn_id, state="queued", **new)


@light
async def _load_row(tx: Tx, turn_id: str) -> ExtractionRow | None:
    """Load one row, None when it was removed."""
    row = (await tx.execute(_SELECT_ONE, turn_id=turn_id)).first()
    return from_row(ExtractionRow, row) if row else None


@soft
@light
async def set_state(
    tx: Tx, turn_id: str, state: ExtractionState, *, found: str = "", reason: str = ""
) -> None:
    """Change a row's state as TRANSITIONS allow, else raise WrongState; a failed row keeps what was
    found.
    """
    row = (await tx.execute(_SELECT_ONE, turn_id=turn_id)).first()
    former = row["state"] if row else "missing"
    if row is None or state not in TRANSITIONS.get(former, ()):
        raise WrongState(f"an extraction does not go from {former} to {state}")
    if state == "failed":
        found = row["found"]
    await tx.execute(
        _UPDATE, turn_id=turn_id, state=former, new_state=state, new_found=found, new_reason=reason
    )


async def load_spaces(tx: Tx) -> list[str]:
    """List the spaces with open rows; a linked account counts as the space it joined."""
    return sorted(row["space"] for row in (await tx.execute(_SELECT_SPACES)).all())


async def count_by_state(tx: Tx) -> dict[str, int]:
    """Count the rows by state."""
    return {row["state"]: row["rows"] for row in (await tx.execute(_COUNT_BY_STATE)).all()}


@light
async def load_messages(tx: Tx, row: ExtractionRow) -> list[Message]:
    """Load the messages of a row's turn, in order; none when the turn was removed."""
    found = (await tx.execute(_SELECT_MESSAGES, conversation=row.conversation, turn=row.turn)).all()
    return [to_message(one) for one in found]


class ExtractionQueue(Repository):
    """Turns whose facts are to be extracted."""

    spaces = read(load_spaces)
    next = write(take_next)
    row = read(_load_row)
    messages = read(load_messages)
    move = write(set_state)
    move_queued = write(move_queued)
    counts = read(count_by_state)
