"""Writes to a SQLite database that another process may have open: audit acts, and reviews of
tools.
"""

import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

from memory.store.engine.database import Tx
from memory.store.engine.sqlite_connection import (
    DatabaseFile,
    SqliteConnection,
    connect_writer,
    sqlite_compiler,
)
from memory.store.errors import SchemaOlder, StoreMoved
from memory.store.schema.create import HEAD, read_revision

Answer = TypeVar("Answer")


async def write_beside(
    path: Path,
    work: Callable[[Tx], Coroutine[Any, Any, Answer]],
    *,
    busy_timeout: float = 5.0,
    clock: Callable[[], float] = time.time,
) -> Answer:
    """Run one transaction, without taking the other process's lease.

    Args:
        busy_timeout: seconds to wait while another process holds the write lock.
        clock: unix seconds.

    Raises:
        StoreError: nothing was stored.
    """
    file = DatabaseFile(path)
    writer = await connect_writer(path, busy_timeout)
    try:
        tx = Tx(driver=writer, compiler=sqlite_compiler(), lease=0, now=clock())
        return await writer.run_in_thread(_run(writer, tx, work, file))
    finally:
        await writer.close()  # rolls back what was not committed


async def _run(
    writer: SqliteConnection,
    tx: Tx,
    work: Callable[[Tx], Coroutine[Any, Any, Answer]],
    file: DatabaseFile,
) -> Answer:
    # the end of the audit chain is read under the lock, so that nobody else can add to it
    writer.do("BEGIN IMMEDIATE")
    if await read_revision(writer) != HEAD:
        raise SchemaOlder(
            "the database has another version's tables; start mnema or run its migrate first"
        )
    answer = await work(tx)
    if trouble := file.trouble():
        raise StoreMoved(trouble)
    writer.do("COMMIT")
    return answer
