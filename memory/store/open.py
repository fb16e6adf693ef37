"""Opens the store on SQLite: replaces a damaged file, upgrades tables, takes the lease."""

import asyncio
import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

from sqlalchemy import false, select, update

from memory.failpoints import hit_async
from memory.store.engine.database import Tx
from memory.store.engine.leases import replace_all_leases
from memory.store.engine.sqlite import SOFT_SECONDS, SqliteDatabase
from memory.store.engine.sqlite_connection import (
    DatabaseFile,
    SqliteConnection,
    connect_beside,
    connect_reader,
    connect_writer,
    sqlite_compiler,
)
from memory.store.errors import SchemaOlder, StoreCorrupt
from memory.store.maintenance.repair import RepairReport, finish_repair, repair_database
from memory.store.maintenance.write_ahead_log import is_log_cut
from memory.store.schema.create import HEAD, create_tables, read_revision, upgrade_file
from memory.store.schema.tables import instance
from memory.store.store import Store

_INSTANCE = select(instance.c.lease_epoch, instance.c.clean)
_TAKE_LEASE = update(instance).values(lease_epoch=instance.c.lease_epoch + 1, clean=false())


async def open_store(
    path: Path,
    *,
    writable: bool = True,
    busy_timeout: float = 5.0,
    soft_seconds: float = SOFT_SECONDS,
    clock: Callable[[], float] = time.time,
) -> Store:
    """Open the store; create it where there is none, and replace a damaged one by what can be had
    of it.

    For writing, the caller makes sure that no other process has it open; the new lease voids every
    older one. For reading, it takes no lock and changes nothing.

    Args:
        busy_timeout: seconds to wait while another process holds the write lock.
        soft_seconds: until a soft commit is on the disk at the latest.
        clock: unix seconds.

    Raises:
        SchemaNewer, SchemaTooOld: this version can neither open nor upgrade its tables.
        SchemaOlder: for reading, it has the tables of an older version.
        StoreBusy: another process held the write lock for too long.
        StoreError: it cannot be opened.
    """
    if not writable:
        return await _open_for_reading(path, busy_timeout, clock)
    await asyncio.to_thread(_prepare_file, path)
    repaired = None
    if await asyncio.to_thread(_is_log_cut, path):
        repaired = await asyncio.to_thread(repair_database, path, clock(), is_log_cut=True)
    try:
        return await _open_for_writing(path, busy_timeout, soft_seconds, clock, repaired)
    except StoreCorrupt:
        repaired = await asyncio.to_thread(repair_database, path, clock(), is_log_cut=False)
        return await _open_for_writing(path, busy_timeout, soft_seconds, clock, repaired)


async def _open_for_reading(path: Path, busy_timeout: float, clock: Callable[[], float]) -> Store:
    reader = await connect_reader(path, busy_timeout, alone=True)
    async with AsyncExitStack() as undo:
        undo.push_async_callback(reader.close)
        if await reader.run_in_thread(read_revision(reader)) != HEAD:
            raise SchemaOlder(
                "the database has an older version's tables; start mnema or run its migrate first"
            )
        undo.pop_all()
    return Store(SqliteDatabase(None, reader, sqlite_compiler(), 0, clock), path, writable=False)


async def _open_for_writing(
    path: Path,
    busy_timeout: float,
    soft_seconds: float,
    clock: Callable[[], float],
    repaired: RepairReport | None,
) -> Store:
    writer = await connect_writer(path, busy_timeout)
    async with AsyncExitStack() as undo:
        undo.push_async_callback(writer.close)
        await _create_or_upgrade_tables(path, writer)
        await hit_async("recover.r3")
        lease = await writer.run_in_thread(_take_lease(writer, clock()))
        reader = await connect_reader(path, busy_timeout, alone=False)
        undo.push_async_callback(reader.close)
        beside, file = await connect_beside(path), DatabaseFile(path)
        undo.pop_all()
    database = SqliteDatabase(
        writer, reader, sqlite_compiler(), lease, clock, file, beside, busy_timeout, soft_seconds
    )
    return Store(database, path, writable=True, repaired=repaired, file=file)


async def _create_or_upgrade_tables(path: Path, writer: SqliteConnection) -> None:
    found = await writer.run_in_thread(read_revision(writer))
    if found is None:
        await writer.run_in_thread(create_tables(writer, sqlite_compiler().dialect))
    elif found != HEAD:
        await writer.run_in_thread(_check_integrity(writer))
        await upgrade_file(path, found)


async def _take_lease(writer: SqliteConnection, now: float) -> int:
    tx = Tx(driver=writer, compiler=sqlite_compiler(), lease=0, now=now)
    found = (await tx.execute(_INSTANCE)).first()
    if found is None or not found["clean"]:
        await _check_integrity(writer)
        await hit_async("recover.r2")
    await tx.execute(_TAKE_LEASE)
    taken = (await tx.execute(_INSTANCE)).first()
    if taken is None:
        raise StoreCorrupt("the instance row is missing")
    await replace_all_leases(tx, int(taken["lease_epoch"]))
    return int(taken["lease_epoch"])


async def _check_integrity(writer: SqliteConnection) -> None:
    found = writer.value("PRAGMA quick_check(1)")
    if found != "ok":
        raise StoreCorrupt(str(found))


def _prepare_file(path: Path) -> None:
    """Finish an interrupted repair; create the folder and an empty file that only the owner can
    read.

    SQLite gives the log the same mode.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    finish_repair(path)
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))


def _is_log_cut(path: Path) -> bool:
    try:
        return is_log_cut(path)
    except sqlite3.DatabaseError:  # the file is damaged too, which the next step finds
        return False
