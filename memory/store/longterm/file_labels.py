"""Which files and folders of a space were given their names while words from outside were in view."""

from collections.abc import Sequence

from sqlalchemy import bindparam, insert, select

from memory.store.engine.database import Database, Tx
from memory.store.schema.memory_tables import file_label

_SELECT_ONE = select(file_label.c.path).where(
    file_label.c.space == bindparam("mine"), file_label.c.path == bindparam("at")
)
_SELECT_ALL = select(file_label.c.path).where(file_label.c.space == bindparam("mine"))
_INSERT = insert(file_label)


class SqlFileLabels:
    """See memory.store.people.people.FileLabels."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def mark(self, space: str, paths: Sequence[str]) -> None:
        await self._database.write(_mark, space, paths)

    async def marked(self, space: str) -> frozenset[str]:
        return await self._database.read(_load_marked, space)


async def _mark(tx: Tx, space: str, paths: Sequence[str]) -> None:
    for path in paths:
        if await tx.one(_SELECT_ONE, mine=space, at=path) is None:
            await tx.run(_INSERT, space=space, path=path, at=tx.now)


async def _load_marked(tx: Tx, space: str) -> frozenset[str]:
    return frozenset(row["path"] for row in await tx.all(_SELECT_ALL, mine=space))
