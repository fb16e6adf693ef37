"""The queue of turns whose lasting facts are to be noted: put in by T6, worked off one at a time per space."""

from sqlalchemy import bindparam, func, select, update

from memory.conversation import Message
from memory.store.engine.database import Database, Row, Tx
from memory.store.errors import WrongState
from memory.store.longterm.rows import ExtractionRow, ExtractionState
from memory.store.rows import columns_of, home, message_of, moment
from memory.store.schema.columns import among
from memory.store.schema.memory_tables import extraction
from memory.store.schema.tables import message

OPEN = ("queued", "found")
DRAWN: dict[str, tuple[str, ...]] = {"queued": ("found", "skipped", "failed"), "found": ("done", "failed")}
_IS_OPEN = among(extraction.c.state, *OPEN)
_ROW = select(*columns_of(ExtractionRow, extraction))
_ONE = _ROW.where(extraction.c.turn_id == bindparam("row"))
_NEXT = (
    _ROW.where(_IS_OPEN, home(extraction.c.space) == bindparam("space"))
    .order_by(extraction.c.at, extraction.c.conversation, extraction.c.turn)
    .limit(1)
)
_TRY = update(extraction).where(extraction.c.turn_id == bindparam("row")).values(attempts=extraction.c.attempts + 1)
_MOVE = (
    update(extraction)
    .where(extraction.c.turn_id == bindparam("row"), extraction.c.state == bindparam("was"))
    .values(state=bindparam("became"), found=bindparam("words"), reason=bindparam("why"))
)
_SPACES = select(home(extraction.c.space).label("space")).where(_IS_OPEN).distinct()
_COUNTS = select(extraction.c.state, func.count().label("rows")).group_by(extraction.c.state)
_MESSAGES = (
    select(*columns_of(Message, message))
    .where(message.c.conversation == bindparam("row"), message.c.turn == bindparam("number"))
    .order_by(message.c.seq)
)


async def take_next(tx: Tx, space: str) -> ExtractionRow | None:
    """The oldest open row of a memory, counted as one more attempt."""
    row = await tx.one(_NEXT, space=space)
    if row is None:
        return None
    await tx.run(_TRY, row=row["turn_id"])
    return _extraction_row({**row, "attempts": row["attempts"] + 1})


async def _known(tx: Tx, turn_id: str) -> ExtractionRow | None:
    row = await tx.one(_ONE, row=turn_id)
    return _extraction_row(row) if row else None


async def move(tx: Tx, turn_id: str, state: ExtractionState, found: str, reason: str) -> None:
    """One step on; what was found stays with a row that failed, and leaves one that is done."""
    row = await tx.one(_ONE, row=turn_id)
    was = row["state"] if row else "missing"
    if row is None or state not in DRAWN.get(was, ()):
        raise WrongState(f"an extraction does not go from {was} to {state}")
    words = row["found"] if state == "failed" else found
    await tx.run(_MOVE, row=turn_id, was=was, became=state, words=words, why=reason)


async def spaces(tx: Tx) -> list[str]:
    return sorted(row["space"] for row in await tx.all(_SPACES))


async def counts(tx: Tx) -> dict[str, int]:
    return {row["state"]: row["rows"] for row in await tx.all(_COUNTS)}


async def messages(tx: Tx, id: str, turn: int) -> list[Message]:
    return [message_of(row) for row in await tx.all(_MESSAGES, row=id, number=turn)]


def _extraction_row(row: Row) -> ExtractionRow:
    return ExtractionRow(**{**row, "at": moment(row["at"])})


class SqlExtractions:
    """See memory.store.longterm.protocols.Extractions."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def spaces(self) -> list[str]:
        return await self._database.read(spaces)

    async def next(self, space: str) -> ExtractionRow | None:
        return await self._database.write(take_next, space)

    async def row(self, turn_id: str) -> ExtractionRow | None:
        return await self._database.read(_known, turn_id)

    async def messages(self, row: ExtractionRow) -> list[Message]:
        return await self._database.read(messages, row.conversation, row.turn)

    async def move(self, turn_id: str, state: ExtractionState, *, found: str = "", reason: str = "") -> None:
        await self._database.write(move, turn_id, state, found, reason)

    async def counts(self) -> dict[str, int]:
        return await self._database.read(counts)
