"""Connections to the PostgreSQL that holds recall's index, for work in threads.

A search asks ten short questions of its index and computes between them. It does that in a thread, so that the
loop goes on; a connection of the loop's would cost two hops for each question.
"""

import os
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import errors
from psycopg_pool import ConnectionPool

from memory.store.engine.postgres import driver_url, to_store_error
from memory.store.errors import SchemaNewer, StoreCorrupt, StoreError
from memory.store.schema.postgres import SCHEMA

# The tables of recall's index in PostgreSQL: a schema of their own, made at the first use, never migrated.
#
# They are UNLOGGED: nothing is written twice, and no forgotten text stays in the server's log. A server that crashed
# finds them empty, and each space is indexed again from the files and the store.

VERSION = 1  # of the tables below; those of a lower one are dropped and made again
TABLES = ("version", "space", "source", "entry", "posting", "speaker", "vector")
# Not to_regclass(): that may answer from what the connection knew before it waited for the lock.
_COUNT_TABLES = """
SELECT COUNT(*) FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
WHERE nspname = %(schema)s AND relname = ANY(%(tables)s)
"""
_LOCK = 0x6D6E656D61  # of the advisory lock under which they are made: "mnema" in ASCII
_CREATE_TABLES = f"""
DROP SCHEMA IF EXISTS {SCHEMA} CASCADE;
CREATE SCHEMA {SCHEMA};
CREATE TABLE {SCHEMA}.version (number integer NOT NULL);
INSERT INTO {SCHEMA}.version VALUES ({VERSION});
CREATE UNLOGGED TABLE {SCHEMA}.space (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text COLLATE "C" NOT NULL UNIQUE,
    rows integer NOT NULL DEFAULT 0, length bigint NOT NULL DEFAULT 0, next integer NOT NULL DEFAULT 1,
    gone integer NOT NULL DEFAULT 0, generation integer NOT NULL DEFAULT 0
);
CREATE UNLOGGED TABLE {SCHEMA}.source (
    space integer NOT NULL, id integer NOT NULL, name text COLLATE "C" NOT NULL, stamp text NOT NULL,
    PRIMARY KEY (space, id), UNIQUE (space, name)
);
CREATE UNLOGGED TABLE {SCHEMA}.entry (
    space integer NOT NULL, id integer NOT NULL, source integer NOT NULL, kind text NOT NULL, words text NOT NULL,
    session integer NOT NULL, place integer NOT NULL, day text COLLATE "C" NOT NULL, time text NOT NULL,
    speaker text COLLATE "C" NOT NULL, line integer NOT NULL, last integer NOT NULL, turn integer NOT NULL,
    seq integer NOT NULL, message_id text NOT NULL, fold text NOT NULL, asks smallint NOT NULL, terms text NOT NULL,
    length smallint NOT NULL, PRIMARY KEY (space, id)
);
CREATE INDEX entry_place ON {SCHEMA}.entry (space, source, session, place);
CREATE INDEX entry_day ON {SCHEMA}.entry (space, day);
CREATE UNLOGGED TABLE {SCHEMA}.posting (
    space integer NOT NULL, term text COLLATE "C" NOT NULL, entry integer NOT NULL, count smallint NOT NULL,
    length smallint NOT NULL, PRIMARY KEY (space, term, entry) INCLUDE (count, length)
);
CREATE UNLOGGED TABLE {SCHEMA}.speaker (
    space integer NOT NULL, name text COLLATE "C" NOT NULL, PRIMARY KEY (space, name)
);
CREATE UNLOGGED TABLE {SCHEMA}.vector (
    space integer NOT NULL, entry integer NOT NULL, model text NOT NULL, data bytea NOT NULL,
    PRIMARY KEY (space, entry, model)
);
"""  # noqa: S608  names and numbers of ours


def create_tables(connection: psycopg.Connection[tuple[Any, ...]]) -> None:
    """See that the tables are there, in a transaction that is open already; blocks.

    Raises:
        SchemaNewer: a newer version of this program has made them.
    """
    if _read_version(connection) == VERSION:
        return
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
    found = _read_version(connection)  # another process may have been first
    if found > VERSION:
        raise SchemaNewer(
            f"recall's index in PostgreSQL is of version {found}, made by a newer mnema; this has {VERSION}"
        )
    if found < VERSION:
        connection.execute(_CREATE_TABLES)


def _read_version(connection: psycopg.Connection[tuple[Any, ...]]) -> int:
    """That of the tables; 0 where there are none, or not all of ours."""
    if not _has_tables(connection, "version"):
        return 0
    row = connection.execute(f"SELECT number FROM {SCHEMA}.version").fetchone()  # noqa: S608  a name of ours
    found = int(row[0]) if row else 0
    return found if found != VERSION or _has_tables(connection, *TABLES) else 0


def _has_tables(connection: psycopg.Connection[tuple[Any, ...]], *tables: str) -> bool:
    return connection.execute(_COUNT_TABLES, {"schema": SCHEMA, "tables": list(tables)}).fetchone() == (len(tables),)


MAX_CONNECTIONS = 4  # connections of one process; asyncio's threads are few, too
STATEMENT_SECONDS = 60  # seconds after which the server ends a statement that nobody may be waiting for any more
_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_KEEPALIVE = {"keepalives_idle": 3, "keepalives_interval": 2, "keepalives_count": 2, "tcp_user_timeout": 7_000}
# Somebody has dropped or changed the tables, or they hold what they may not: they are made again.
_UNUSABLE_ERRORS = (
    errors.UndefinedTable,
    errors.UndefinedColumn,
    errors.InvalidSchemaName,
    errors.UniqueViolation,
)
IndexConnection = psycopg.Connection[tuple[Any, ...]]
IndexPool = ConnectionPool[IndexConnection]


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexTimeouts:
    """Seconds that somebody waits."""

    #: For a connection.
    connect: float = 5.0
    #: For one statement, before its connection is given up, where nothing is changed and where something is.
    read: float = 5.0
    #: For one statement, before its connection is given up, where nothing is changed and where something is.
    change: float = 60.0
    #: For another process that is changing the index; then a search takes what is there.
    wait: float = 2.0
    #: The same where the index must be gone.
    removal: float = 30.0


@dataclass(slots=True, kw_only=True)
class _BorrowedConnection:
    """A connection in use."""

    pool: IndexPool
    #: Seconds for a statement.
    limit: float
    #: When the one that runs began, inf for none.
    since: float = float("inf")
    #: It was given up.
    cut: bool = False


class IndexConnections:
    """At most MOST connections, opened when they are needed, each given out with a transaction begun. All blocks."""

    def __init__(self, url: str, patience: IndexTimeouts) -> None:
        self._url = driver_url(url)
        self.patience = patience
        self._lock = threading.Lock()
        self._pool: IndexPool | None = None
        self._taken: dict[IndexConnection, _BorrowedConnection] = {}
        self._made = False

    def begin(self, *, to_change: bool) -> IndexConnection:
        """A connection with a transaction, which sees one snapshot where nothing is changed in it.

        Raises:
            StoreError: there is none.
        """
        for _ in range(MAX_CONNECTIONS):  # those that lay idle while the server went away are found out one by one
            connection = self._take(self.patience.change if to_change else self.patience.read)
            try:
                self._make(connection)
                self.run(connection, "BEGIN" if to_change else _SNAPSHOT)
            except StoreError:
                cut = self._taken[connection].cut
                self.end(connection, keep=False)
                if cut or not connection.closed:
                    raise
            else:
                return connection
        raise StoreError("every connection to PostgreSQL has broken")

    def end(self, connection: IndexConnection, *, keep: bool) -> None:
        """Commit it, or roll it back, and take the connection back.

        Raises:
            StoreError: it could not be committed.
        """
        try:
            if keep:
                self.run(connection, "COMMIT")
            else:
                with suppress(StoreError), self._watched(connection):
                    connection.rollback()
        finally:
            with self._lock:
                pool = self._taken.pop(connection).pool
                left = pool is not self._pool and all(taken.pool is not pool for taken in self._taken.values())
            pool.putconn(connection)
            if left:
                pool.close()

    def run(self, connection: IndexConnection, sql: str, given: Mapping[str, Any] | None = None) -> list[Any]:
        """Run a statement of an open transaction; returns its rows.

        Raises:
            StoreError: it failed.
        """
        with self._watched(connection):
            cursor = connection.execute(sql, given, binary=True)
            return list(cursor.fetchall()) if cursor.description else []

    def close_stuck(self) -> None:
        """Give up the connections whose statement has taken too long; whoever waits for one gets an error.

        A network that swallows what is sent is noticed by nothing else. Does not block.
        """
        now = time.monotonic()
        with self._lock:
            stuck = [connection for connection, taken in self._taken.items() if now - taken.since > taken.limit]
            for connection in stuck:
                self._taken[connection].cut = True
                self._pool = None  # those that lie idle will be no better
        for connection in stuck:
            with suppress(OSError, ValueError), socket.socket(fileno=os.dup(connection.fileno())) as line:
                line.shutdown(socket.SHUT_RDWR)

    def recheck_tables(self) -> None:
        """Look again, at the next transaction, whether the tables are there."""
        self._made = False

    def close(self) -> None:
        """Close all."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()

    def _take(self, limit: float) -> IndexConnection:
        with self._lock:
            if self._pool is None:
                self._pool = _open_pool(self._url, self.patience.connect)
            pool = self._pool
        try:
            connection = pool.getconn()
        except psycopg.Error as err:
            raise to_store_error(err) from err
        with self._lock:
            self._taken[connection] = _BorrowedConnection(pool=pool, limit=limit)
        return connection

    def _make(self, connection: IndexConnection) -> None:
        if not self._made:
            with self._watched(connection), connection.transaction():
                create_tables(connection)
            self._made = True

    @contextmanager
    def _watched(self, connection: IndexConnection) -> Iterator[None]:
        taken = self._taken[connection]
        taken.since = time.monotonic()
        try:
            yield
        except psycopg.Error as err:
            raise StoreCorrupt(str(err).strip()) if isinstance(err, _UNUSABLE_ERRORS) else to_store_error(err) from err
        finally:
            taken.since = float("inf")


def _open_pool(url: str, patience: float) -> IndexPool:
    seconds = max(2, round(patience))  # libpq takes less than two for two
    given = {"autocommit": True, "connect_timeout": seconds, "application_name": "mnema index", **_KEEPALIVE}
    pool = ConnectionPool(
        url,
        kwargs=given,
        min_size=0,
        max_size=MAX_CONNECTIONS,
        timeout=patience,
        configure=_configure,
        open=False,
        name="index",
    )
    pool.open()
    return pool


def _configure(connection: IndexConnection) -> None:
    # compiling a plan takes longer than any of these statements; the limit ends what runs on after we have given up
    connection.execute(
        "SELECT set_config('jit', 'off', false), set_config('statement_timeout', %s, false)", (f"{STATEMENT_SECONDS}s",)
    )
