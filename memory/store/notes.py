"""What channels keep between their lives: a cursor, a token; short texts by name."""

from collections.abc import Mapping

from sqlalchemy import bindparam, delete, insert, select

from memory.store.database import Database
from memory.store.engine import Tx
from memory.store.tables import channel_note

_OF = select(channel_note.c.name, channel_note.c.value).where(channel_note.c.channel == bindparam("of"))
_FROM = _OF.where(channel_note.c.name >= bindparam("start"), channel_note.c.name < bindparam("end"))
_DROP = delete(channel_note).where(
    channel_note.c.channel == bindparam("of"), channel_note.c.name == bindparam("called")
)
_ADD = insert(channel_note)
_LAST = "\U0010ffff"


class SqlNotes:
    """See memory.store.doors.Notes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self, channel: str, start: str = "") -> dict[str, str]:
        return await self._database.read(_read, channel, start)

    async def write(self, channel: str, values: Mapping[str, str]) -> None:
        await self._database.write(put, channel, values)


async def put(tx: Tx, channel: str, values: Mapping[str, str]) -> None:
    """Keep these, in place of what went by the same names; "" takes one away."""
    for name, value in values.items():
        await tx.run(_DROP, of=channel, called=name)
        if value:
            await tx.run(_ADD, channel=channel, name=name, value=value)


async def _read(tx: Tx, channel: str, start: str) -> dict[str, str]:
    rows = await tx.all(_FROM, of=channel, start=start, end=start + _LAST)
    return {row["name"]: row["value"] for row in rows}
