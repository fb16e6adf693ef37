"""Adds acts to the audit chain of a SQLite database that another process may have open."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from sqlalchemy.dialects.sqlite import dialect

from memory.store.audit import Act, note_all
from memory.store.engine.database import StatementCompiler, Tx
from memory.store.engine.sqlite_connection import DatabaseFile, SqliteConnection, connect_writer
from memory.store.errors import SchemaOlder, StoreMoved
from memory.store.schema.create import HEAD, read_revision


async def note_beside(
    path: Path, acts: Sequence[Act], *, busy_timeout: float = 5.0, clock: Callable[[], float] = time.time
) -> None:
    """Add acts in one transaction, without taking the other process's lease.

    Args:
        busy_timeout: seconds to wait while another process holds the write lock.
        clock: unix seconds.

    Raises:
        StoreError: none was stored.
    """
    file = DatabaseFile(path)
    writer = await connect_writer(path, busy_timeout)
    try:
        tx = Tx(driver=writer, compiler=StatementCompiler(dialect(paramstyle="qmark")), lease=0, now=clock())
        await writer.run_in_thread(_add_acts(writer, tx, acts, file))
    finally:
        await writer.close()  # rolls back what was not committed


async def _add_acts(writer: SqliteConnection, tx: Tx, acts: Sequence[Act], file: DatabaseFile) -> None:
    writer.do("BEGIN IMMEDIATE")  # the end of the chain is read under the lock, so that no one else can add to it
    if await read_revision(writer) != HEAD:
        raise SchemaOlder("the database has another version's tables; start mnema or run its migrate first")
    await note_all(tx, acts)
    if trouble := file.trouble():
        raise StoreMoved(trouble)
    writer.do("COMMIT")
