"""Opening the durable record on SQLite: heal, migrate, take the lease."""

import asyncio
import os
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import false as no
from sqlalchemy import select, update
from sqlalchemy.dialects.sqlite import dialect

from memory.failpoints import hit_async
from memory.store.engine.database import StatementCompiler, Tx
from memory.store.engine.database_file import DatabaseFile
from memory.store.engine.leases import replace_all_leases
from memory.store.engine.sqlite import SqliteConnection, SqliteDatabase, connect_reader, connect_writer
from memory.store.errors import SchemaOlder, StoreCorrupt
from memory.store.maintenance.snapshots import restore_newest_snapshot
from memory.store.schema.create import HEAD, create_tables, read_revision, upgrade_file
from memory.store.schema.tables import instance
from memory.store.store import Store

_INSTANCE = select(instance.c.lease_epoch, instance.c.clean)
_TAKE_LEASE = update(instance).values(lease_epoch=instance.c.lease_epoch + 1, clean=no())


@dataclass(frozen=True, slots=True, kw_only=True)
class _OpenRequest:
    path: Path
    busy_timeout: float
    clock: Callable[[], float]
    compiler: StatementCompiler


async def open_store(
    path: Path, *, writable: bool = True, busy_timeout: float = 5.0, clock: Callable[[], float] = time.time
) -> Store:
    """Open the store, making it where there is none; a damaged one is put aside and the newest snapshot taken.

    Opened for writing it fences every earlier opening; whoever calls makes sure that no other process runs on it.
    Opened for reading it takes no lock and changes nothing.

    Args:
        busy_timeout: seconds to wait while another process holds the write lock.
        clock: unix seconds.

    Raises:
        SchemaNewer: a newer version of this program has written it.
        StoreBusy: another process held the write lock for too long.
        SchemaOlder: for reading, it is of an older version.
        StoreError: it cannot be opened.
    """
    compiler = StatementCompiler(dialect(paramstyle="qmark"))
    wish = _OpenRequest(path=path, busy_timeout=busy_timeout, clock=clock, compiler=compiler)
    if not writable:
        return await _open_for_reading(wish)
    await asyncio.to_thread(_create_file, path)
    try:
        return await _open_for_writing(wish, "")
    except StoreCorrupt:
        healed = await asyncio.to_thread(restore_newest_snapshot, path, clock())
        return await _open_for_writing(wish, healed)


async def _open_for_reading(wish: _OpenRequest) -> Store:
    reader = await connect_reader(wish.path, wish.busy_timeout, alone=True)
    async with AsyncExitStack() as undo:
        undo.push_async_callback(reader.close)
        if await reader.run_in_thread(read_revision(reader)) != HEAD:
            raise SchemaOlder("the database has an older version's tables; start mnema or run its migrate first")
        undo.pop_all()
    return Store(SqliteDatabase(None, reader, wish.compiler, 0, wish.clock), wish.path, writable=False)


async def _open_for_writing(wish: _OpenRequest, healed: str) -> Store:
    writer = await connect_writer(wish.path, wish.busy_timeout)
    async with AsyncExitStack() as undo:
        undo.push_async_callback(writer.close)
        await _bring_up_to_date(wish, writer)
        await hit_async("recover.r3")
        lease = await writer.run_in_thread(_take_lease(wish, writer))
        reader = await connect_reader(wish.path, wish.busy_timeout, alone=False)
        file = DatabaseFile(wish.path)
        undo.pop_all()
    database = SqliteDatabase(writer, reader, wish.compiler, lease, wish.clock, file)
    return Store(database, wish.path, writable=True, healed=healed, file=file)


async def _bring_up_to_date(wish: _OpenRequest, writer: SqliteConnection) -> None:
    found = await writer.run_in_thread(read_revision(writer))
    if found is None:
        await writer.run_in_thread(create_tables(writer, wish.compiler.dialect))
    elif found != HEAD:
        await writer.run_in_thread(_check_integrity(writer))
        await upgrade_file(wish.path, found)


async def _take_lease(wish: _OpenRequest, writer: SqliteConnection) -> int:
    tx = Tx(driver=writer, compiler=wish.compiler, lease=0, now=wish.clock())
    found = await tx.one(_INSTANCE)
    if found is None or not found["clean"]:
        await _check_integrity(writer)
        await hit_async("recover.r2")
    await tx.run(_TAKE_LEASE)
    taken = await tx.one(_INSTANCE)
    if taken is None:
        raise StoreCorrupt("the instance row is missing")
    await replace_all_leases(tx, int(taken["lease_epoch"]))
    return int(taken["lease_epoch"])


async def _check_integrity(writer: SqliteConnection) -> None:
    found = writer.value("PRAGMA quick_check(1)")
    if found != "ok":
        raise StoreCorrupt(str(found))


def _create_file(path: Path) -> None:
    """The folder and an empty file, for the owner's eyes only; the log beside it takes its mode from it."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
