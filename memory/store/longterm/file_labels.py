"""Which files and folders of a space were given their names while words from outside were in view."""

from collections.abc import Sequence

from sqlalchemy import bindparam, insert, select

from memory.store.engine.database import Tx
from memory.store.engine.repository import Repository, read, write
from memory.store.schema.memory_tables import file_label

_SELECT_ONE = select(file_label.c.path).where(
    file_label.c.space == bindparam("mine"), file_label.c.path == bindparam("at")
)
_SELECT_ALL = select(file_label.c.path).where(file_label.c.space == bindparam("mine"))
_INSERT = insert(file_label)


async def _mark(tx: Tx, space: str, paths: Sequence[str]) -> None:
    """Label these paths of a space; those that are labelled stay so."""
    for path in paths:
        if await tx.one(_SELECT_ONE, mine=space, at=path) is None:
            await tx.run(_INSERT, space=space, path=path, at=tx.now)


async def _load_marked(tx: Tx, space: str) -> frozenset[str]:
    """All labelled paths of a space, whether there is a file now or not."""
    return frozenset(row["path"] for row in await tx.all(_SELECT_ALL, mine=space))


class FileLabels(Repository):
    """Names of files and folders that were given in a tainted turn: what lists them shows words from outside.

    A label belongs to a path and stays with it, whoever writes there later; a file under a new name is another one.
    """

    mark = write(_mark)
    marked = read(_load_marked)
