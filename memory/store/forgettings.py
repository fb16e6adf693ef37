"""The Forgettings door: what people asked to have forgotten, from the question to the receipt."""

from collections.abc import Callable
from datetime import datetime

from sqlalchemy import bindparam, insert, select, update

from memory.conversation import Message
from memory.failpoint import afp
from memory.forgetting.erased import Erased, SaidRow
from memory.forgetting.targets import Targets
from memory.store.audit import note
from memory.store.columns import among, word
from memory.store.database import Database
from memory.store.engine import Row, Tx
from memory.store.erasing import erase
from memory.store.errors import WrongState
from memory.store.homes import belongs
from memory.store.memory_records import ForgettingRow, ForgettingState
from memory.store.memory_tables import forgetting
from memory.store.rows import columns_of, message_of, moment
from memory.store.tables import conversation, message

DRAWN: dict[str, tuple[str, ...]] = {
    "asked": ("confirmed", "dropped"),
    "confirmed": ("removed",),
    "removed": ("done",),
}
WITHOUT_WORDS = ("done", "dropped")
"""States in which nothing of what was to be forgotten is kept."""
_ROW = select(*columns_of(ForgettingRow, forgetting))
_ONE = _ROW.where(forgetting.c.id == bindparam("row"))
_ASKED = (
    _ROW.where(
        forgetting.c.conversation == bindparam("here"),
        forgetting.c.state == word("asked"),
        forgetting.c.expires > bindparam("at_most"),
    )
    .order_by(forgetting.c.at.desc())
    .limit(1)
)
_OPEN = _ROW.where(among(forgetting.c.state, "confirmed", "removed")).order_by(forgetting.c.at, forgetting.c.id)
_LAST = (
    _ROW.where(forgetting.c.space == bindparam("of"), forgetting.c.state == word("done"))
    .order_by(forgetting.c.at.desc(), forgetting.c.id.desc())
    .limit(1)
)
_ADD = insert(forgetting)
_DROP_OLDER = (
    update(forgetting)
    .where(forgetting.c.conversation == bindparam("here"), forgetting.c.state == word("asked"))
    .values(state=word("dropped"), targets=word(""))
)
_DROP_EXPIRED = (
    update(forgetting)
    .where(forgetting.c.state == word("asked"), forgetting.c.expires <= bindparam("at_most"))
    .values(state=word("dropped"), targets=word(""))
)
_MOVE = (
    update(forgetting)
    .where(forgetting.c.id == bindparam("row"), forgetting.c.state == bindparam("was"))
    .values(state=bindparam("became"), targets=bindparam("words"), receipt=bindparam("told"))
)
_SAID = (
    select(*columns_of(Message, message), message.c.conversation, conversation.c.channel, conversation.c.space)
    .join(conversation, conversation.c.id == message.c.conversation)
    .where(belongs(conversation.c.space), message.c.id > bindparam("after"))
    .order_by(message.c.id)
    .limit(bindparam("most"))
)


Written = Callable[[Erased], tuple[str, str]]
"""Targets and receipt as they are kept once the record has been redacted."""


class SqlForgettings:
    """See memory.store.memory_doors.Forgettings."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def ask(self, row: ForgettingRow) -> None:
        await self._database.write(_ask, row)

    async def asked(self, conversation: str, now: datetime) -> ForgettingRow | None:
        return await self._database.read(_asked, conversation, now)

    async def move(
        self, id: str, state: ForgettingState, *, targets: str | None = None, receipt: str | None = None
    ) -> None:
        await self._database.write(_move, id, state, targets, receipt)

    async def row(self, id: str) -> ForgettingRow:
        return await self._database.read(_known, id)

    async def open_ones(self) -> list[ForgettingRow]:
        return await self._database.read(_open_ones)

    async def last(self, space: str) -> ForgettingRow | None:
        return await self._database.read(_last, space)

    async def expire(self, now: datetime) -> None:
        await self._database.write(_expire, now)

    async def said(self, space: str, after: str, limit: int) -> list[SaidRow]:
        return await self._database.read(_said, space, after, limit)

    async def confirm(self, row: ForgettingRow, targets: Targets, written: Written) -> Erased:
        erased = await self._database.write(_confirm, row, targets, written)
        await afp("forget.committed")
        return erased

    async def erase(self, space: str, targets: Targets) -> Erased:
        return await self._database.write(erase, space, targets)

    async def empty(self, id: str, receipt: str) -> None:
        await self._database.write(_empty, id, receipt)

    async def compact(self) -> bool:
        return await self._database.compact()


async def _ask(tx: Tx, row: ForgettingRow) -> None:
    await tx.run(_DROP_OLDER, here=row.conversation)
    await tx.run(_DROP_EXPIRED, at_most=tx.now)
    values = {name: getattr(row, name) for name in ForgettingRow.__dataclass_fields__}
    await tx.run(_ADD, **{**values, "expires": row.expires.timestamp(), "at": row.at.timestamp()})


async def _asked(tx: Tx, here: str, now: datetime) -> ForgettingRow | None:
    row = await tx.one(_ASKED, here=here, at_most=now.timestamp())
    return _row(row) if row else None


async def _move(tx: Tx, id: str, state: str, targets: str | None, receipt: str | None) -> None:
    row = await _known(tx, id)
    if state not in DRAWN.get(row.state, ()):
        raise WrongState(f"a forgetting does not go from {row.state} to {state}")
    words = "" if state in WITHOUT_WORDS else row.targets if targets is None else targets
    told = row.receipt if receipt is None else receipt
    await tx.run(_MOVE, row=id, was=row.state, became=state, words=words, told=told)


async def _confirm(tx: Tx, row: ForgettingRow, targets: Targets, written: Written) -> Erased:
    """T14 whole: the record redacted, the rest of the work kept as a row, the act noted."""
    await _move(tx, row.id, "confirmed", None, None)
    erased = await erase(tx, row.space, targets)
    words, told = written(erased)
    await tx.run(_MOVE, row=row.id, was="confirmed", became="confirmed", words=words, told=told)
    await note(tx, "forget", row.space, "confirmed", row.asked_by, args={"targets": row.targets})
    return erased


async def _empty(tx: Tx, id: str, receipt: str) -> None:
    row = await _known(tx, id)
    await tx.run(_MOVE, row=id, was=row.state, became=row.state, words="", told=receipt)


async def _known(tx: Tx, id: str) -> ForgettingRow:
    row = await tx.one(_ONE, row=id)
    if row is None:
        raise WrongState(f"there is no forgetting {id}")
    return _row(row)


async def _open_ones(tx: Tx) -> list[ForgettingRow]:
    return [_row(row) for row in await tx.all(_OPEN)]


async def _last(tx: Tx, space: str) -> ForgettingRow | None:
    row = await tx.one(_LAST, of=space)
    return _row(row) if row else None


async def _expire(tx: Tx, now: datetime) -> None:
    await tx.run(_DROP_EXPIRED, at_most=now.timestamp())


async def _said(tx: Tx, space: str, after: str, limit: int) -> list[SaidRow]:
    return [_said_row(row) for row in await tx.all(_SAID, space=space, after=after, most=limit)]


def _said_row(row: Row) -> SaidRow:
    own = {name: row[name] for name in Message.__dataclass_fields__}
    return SaidRow(message=message_of(own), channel=row["channel"], space=row["space"])


def _row(row: Row) -> ForgettingRow:
    return ForgettingRow(**{**row, "expires": moment(row["expires"]), "at": moment(row["at"])})
