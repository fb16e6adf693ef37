"""Locks in PostgreSQL: write locks on a space's files, and exclusive access to the store for one
command.

A write lock belongs to a session. It is free once its process is gone, and the server ends a
session that is idle while it holds the lock. A process that was suspended for longer notices at the
check before the rename. One that was suspended after the check finds that the next writer has
deleted its unfinished file, so there is nothing to rename.
"""

import hashlib
import itertools
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import psycopg
import structlog
from psycopg_pool import ConnectionPool
from sqlalchemy import select

from memory.store.engine.database import Tx
from memory.store.engine.leases import Leases
from memory.store.errors import StoreBusy, StoreCorrupt
from memory.store.postgres.connection import (
    KEEPALIVE,
    SCHEMA_LOCK_KEY,
    connected,
    driver_url,
    refuse_alive,
)
from memory.store.postgres.database import PostgresDatabase
from memory.store.schema.tables import instance
from memory.workspace.write_locks import LockLost, SpaceWriter

log = structlog.get_logger(__name__)
LOCK_CLASS = 0x6D6E656D  # first half of the locks' keys; the second is the space
MAX_CONNECTIONS = 4  # per process: threads that write at the same time
_LOCK = "SELECT pg_advisory_xact_lock(%s, %s)"
_LEASE_IS_VALID = (
    "SELECT 1 FROM process WHERE lease = %s AND until > extract(epoch from clock_timestamp())"
)
_SET_TIMEOUTS = """SELECT set_config('lock_timeout', %s, false), set_config('statement_timeout',
%s, false),
    set_config('idle_in_transaction_session_timeout', %s, false)"""
LockSession = psycopg.Connection[tuple[Any, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class LockTimeouts:
    """Limits in seconds."""

    #: To wait for the lock, or for a connection.
    wait: float = 30.0
    #: For which the holder may be suspended, or busy with the disk.
    idle: float = 10.0


class PostgresWriteLocks:
    """The WriteLocks of several processes that share one PostgreSQL store."""

    def __init__(self, url: str, lease: int, timeouts: LockTimeouts | None = None) -> None:
        """Prepare the pool; `open` opens it.

        Args:
            url: of the store.
            lease: of this process, 0 for one that never writes.
        """
        self._lease = lease
        self._timeouts = timeouts or LockTimeouts()
        self._numbers = itertools.count(1)
        self._pool: ConnectionPool[LockSession] = ConnectionPool(
            driver_url(url),
            kwargs={
                "autocommit": True,
                "connect_timeout": 5,
                "application_name": "mnema files",
                **KEEPALIVE,
            },
            min_size=0,
            max_size=MAX_CONNECTIONS,
            timeout=self._timeouts.wait,
            configure=self._configure,
            check=ConnectionPool.check_connection,
            open=False,
            name="files",
        )

    def open(self) -> None:
        """Allow connections; each is opened when it is needed."""
        self._pool.open()

    def close(self) -> None:
        """Close all connections. Blocks."""
        self._pool.close()

    @contextmanager
    def alone(self, space: str, folder: int) -> Iterator[SpaceWriter]:
        with _as_lock_lost():
            session = self._pool.getconn()
        try:
            with _as_lock_lost():
                session.execute("BEGIN")
                session.execute(_LOCK, [LOCK_CLASS, lock_key(space)])
            yield _HeldLock(session, self._lease, f".{self._lease}-{next(self._numbers)}")
        finally:
            self._release(session)

    def _release(self, session: LockSession) -> None:
        """Release the lock, by closing the session where nothing else works: the file is already in
        place.
        """
        try:
            session.rollback()
        except psycopg.Error as err:
            log.warning("lock on files released by closing its session", error=type(err).__name__)
            with suppress(psycopg.Error):
                session.close()
        self._pool.putconn(session)

    def _configure(self, session: LockSession) -> None:
        wait, idle = self._timeouts.wait, self._timeouts.idle
        session.execute(_SET_TIMEOUTS, [f"{wait:.3f}s", f"{wait + 5:.3f}s", f"{idle:.3f}s"])


@dataclass(frozen=True, slots=True)
class _HeldLock:
    session: LockSession
    lease: int
    mark: str

    def check_still_held(self) -> None:
        with _as_lock_lost():
            alive = self.session.execute(_LEASE_IS_VALID, [self.lease]).fetchone()
        if alive is None:
            raise LockLost(
                "the lease of this process has expired, and another may be writing; nothing was "
                "written"
            )


def lock_key(space: str) -> int:
    """Return the second half of the key of a space's lock."""
    return int.from_bytes(hashlib.sha256(space.encode()).digest()[:4], "big", signed=True)


@contextmanager
def _as_lock_lost() -> Iterator[None]:
    try:
        yield
    except psycopg.Error as err:  # a pool's timeout is one of them
        raise LockLost(
            f"the write lock was not granted ({type(err).__name__}); nothing was written"
        ) from err


_NEWEST = select(instance.c.lease_epoch)
_NEWEST_LOCKED = _NEWEST.with_for_update(read=True)


@asynccontextmanager
async def exclusive_access(database: PostgresDatabase, url: str) -> AsyncIterator[None]:
    """Make sure that no other process uses the store.

    A lock keeps others from opening it, but is lost with its connection. So each write first locks
    the row that every opening changes: the write fails when another process has opened the store,
    and none can until it is committed.

    Raises:
        StoreBusy: another process uses the store. Writes inside the block raise it too.
        StoreError: the server cannot be used.
    """
    async with connected(url) as connection:
        await connection.execute("SELECT pg_advisory_lock(%s)", [SCHEMA_LOCK_KEY])
        # before the list of processes, so that none is missed in between
        newest = await database.read(_newest_lease)
        own = f"#{database.lease}"
        refuse_alive(
            [
                name.rpartition("#")[0]
                for name in await Leases(database).alive()
                if not name.endswith(own)
            ]
        )
        database.check_still_held = partial(_check_still_newest, newest)
        try:
            yield
        finally:
            database.check_still_held = None


async def _newest_lease(tx: Tx) -> int:
    """Return the lease of the newest opening."""
    row = (await tx.execute(_NEWEST)).first()
    if row is None:
        raise StoreCorrupt("the instance row is missing")
    return int(row["lease_epoch"])


async def _check_still_newest(newest: int, tx: Tx) -> None:
    row = (await tx.execute(_NEWEST_LOCKED)).first()
    if row is None or row["lease_epoch"] != newest:
        raise StoreBusy(
            "another process has opened the database meanwhile, because the connection that locked "
            "it broke; nothing more was changed: stop every mnema run on it and run the command "
            "again"
        )
