"""Who may write a space's files, where several processes do: a lock in PostgreSQL, and the lease of whoever holds it.

The lock is a session's: free as soon as its process is gone; and the server ends a session that lies idle with it.
A process that slept longer than that is not sure any more. One that fell asleep after it was sure finds that the next
writer has taken its unfinished file away, so that there is nothing left to put in place: it is too late at any time.
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

from memory.store.engine.database import Tx, single_query
from memory.store.engine.leases import Leases
from memory.store.engine.postgres import SCHEMA_LOCK_KEY, PostgresDatabase, connected, driver_url, refuse_alive
from memory.store.errors import StoreBusy, StoreCorrupt
from memory.store.schema.tables import instance
from memory.workspace.locks import LockLost, SpaceWriter

log = structlog.get_logger(__name__)
LOCK_CLASS = 0x6D6E656D  # the first half of our locks' keys; the second is the space
MAX_CONNECTIONS = 4  # connections of one process: threads that write at once
_LOCK = "SELECT pg_advisory_xact_lock(%s, %s)"
_LEASE_IS_VALID = "SELECT 1 FROM process WHERE lease = %s AND until > extract(epoch from clock_timestamp())"
_SET_TIMEOUTS = """SELECT set_config('lock_timeout', %s, false), set_config('statement_timeout', %s, false),
    set_config('idle_in_transaction_session_timeout', %s, false)"""
_KEEPALIVE = {"keepalives_idle": 3, "keepalives_interval": 2, "keepalives_count": 2, "tcp_user_timeout": 7_000}
LockSession = psycopg.Connection[tuple[Any, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class LockTimeouts:
    """Seconds."""

    #: For the lock, or a connection.
    wait: float = 30.0
    #: For which the holder may be busy with the disk, or asleep.
    idle: float = 10.0


class PostgresWriteLocks:
    """See memory.workspace.locks.Writers. url: of the store; lease: this process's, 0 for one that never writes."""

    def __init__(self, url: str, lease: int, patience: LockTimeouts | None = None) -> None:
        self._lease = lease
        self._patience = patience or LockTimeouts()
        self._numbers = itertools.count(1)
        given = {"autocommit": True, "connect_timeout": 5, "application_name": "mnema files", **_KEEPALIVE}
        self._pool: ConnectionPool[LockSession] = ConnectionPool(
            driver_url(url),
            kwargs=given,
            min_size=0,
            max_size=MAX_CONNECTIONS,
            timeout=self._patience.wait,
            configure=self._configure,
            check=ConnectionPool.check_connection,
            open=False,
            name="files",
        )

    def open(self) -> None:
        """From now on connections are made as they are needed."""
        self._pool.open()

    def close(self) -> None:
        """Nobody writes any more. Blocks."""
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
            self._let_go(session)

    def _let_go(self, session: LockSession) -> None:
        """What was written is written: a lock that cannot be given back goes with its session."""
        try:
            session.rollback()
        except psycopg.Error as err:
            log.warning("the lock on files went with its session", error=type(err).__name__)
            with suppress(psycopg.Error):
                session.close()
        self._pool.putconn(session)

    def _configure(self, session: LockSession) -> None:
        wait, idle = f"{self._patience.wait:.3f}s", f"{self._patience.idle:.3f}s"
        longer = f"{self._patience.wait + 5:.3f}s"
        session.execute(_SET_TIMEOUTS, [wait, longer, idle])


@dataclass(frozen=True, slots=True)
class _HeldLock:
    session: LockSession
    lease: int
    mark: str

    def check_still_held(self) -> None:
        with _as_lock_lost():
            alive = self.session.execute(_LEASE_IS_VALID, [self.lease]).fetchone()
        if alive is None:
            raise LockLost("the lease of this process is over, and another may be writing; nothing was written")


def lock_key(space: str) -> int:
    """The second half of a space's key. Pure."""
    return int.from_bytes(hashlib.sha256(space.encode()).digest()[:4], "big", signed=True)


@contextmanager
def _as_lock_lost() -> Iterator[None]:
    try:
        yield
    except psycopg.Error as err:  # a pool's timeout is one of them
        raise LockLost(f"the turn to write did not come ({type(err).__name__}); nothing was written") from err


# Alone on a record in PostgreSQL: who starts meanwhile waits, and who came although is not written beside.

_NEWEST = select(instance.c.lease_epoch)
_NEWEST_LOCKED = _NEWEST.with_for_update(read=True)


@asynccontextmanager
async def exclusive_access(database: PostgresDatabase, url: str) -> AsyncIterator[None]:
    """Nobody else has the store open.

    A lock keeps others from starting, and is gone with the connection that has it, whoever is in the middle of what. So
    each write asks first for the row that every opening has to change: it is refused if somebody has changed it since,
    and nobody can until the write is committed.

    Raises:
        StoreBusy: another process is at work on it; in what is written within, one has come since.
        StoreError: the server cannot be used.
    """
    async with connected(url) as bare:
        await bare.execute("SELECT pg_advisory_lock(%s)", [SCHEMA_LOCK_KEY])
        newest = await database.read(_newest_lease)  # before the look at who is there, so that nobody comes between
        mine = f"#{database.lease}"
        refuse_alive([who.rpartition("#")[0] for who in await Leases(database).alive() if not who.endswith(mine)])
        database.check_still_held = partial(_check_still_newest, newest)
        try:
            yield
        finally:
            database.check_still_held = None


@single_query
async def _newest_lease(tx: Tx) -> int:
    """The number of the newest opening."""
    row = await tx.one(_NEWEST)
    if row is None:
        raise StoreCorrupt("the instance row is missing")
    return int(row["lease_epoch"])


async def _check_still_newest(newest: int, tx: Tx) -> None:
    row = await tx.one(_NEWEST_LOCKED)
    if row is None or row["lease_epoch"] != newest:
        raise StoreBusy(
            "another process has opened the record meanwhile, for the connection that kept others out broke; nothing "
            "more was changed: stop every mnema run on it, and say it again"
        )
