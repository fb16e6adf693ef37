"""Tables of the search index in PostgreSQL, and connections to them for work in threads.

A search runs ten short queries and computes between them, all in one thread. With an asyncio
connection each query would cost two switches between thread and event loop.
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

from memory.store.errors import SchemaNewer, StoreCorrupt, StoreError
from memory.store.postgres.connection import KEEPALIVE, driver_url, to_store_error
from memory.store.postgres.schema import SCHEMA

# The tables are in a schema of their own, made at the first use and never migrated. They are
# UNLOGGED: nothing is written twice, and no forgotten text stays in the server's log. After a crash
# of the server they are empty, and each space is indexed again.

# of the tables below and their terms; those of a lower version are dropped and made again
VERSION = 4
TABLES = ("version", "space", "source", "entry", "posting", "speaker", "vector")
# Not to_regclass(), which may use what the connection had cached before it waited for the lock.
_COUNT_TABLES = """
SELECT COUNT(*) FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
WHERE nspname = %(schema)s AND relname = ANY(%(tables)s)
"""
_LOCK = 0x6D6E656D61  # advisory lock for creating the tables: "mnema" in ASCII
_CREATE_TABLES = f"""
DROP SCHEMA IF EXISTS {SCHEMA} CASCADE;
CREATE SCHEMA {SCHEMA};
CREATE TABLE {SCHEMA}.version (number integer NOT NULL);
INSERT INTO {SCHEMA}.version VALUES ({VERSION});
CREATE UNLOGGED TABLE {SCHEMA}.space (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text COLLATE "C" NOT NULL UNIQUE,
    rows integer NOT NULL DEFAULT 0, length bigint NOT NULL DEFAULT 0, next integer NOT NULL
    DEFAULT 1,
    tool_rows integer NOT NULL DEFAULT 0, tool_length bigint NOT NULL DEFAULT 0,
    vector_model text NOT NULL DEFAULT '', last_vector bigint NOT NULL DEFAULT 0,
    vectors_pruned bigint NOT NULL DEFAULT 0, generation integer NOT NULL DEFAULT 0
);
CREATE UNLOGGED TABLE {SCHEMA}.source (
    space integer NOT NULL, id integer NOT NULL, name text COLLATE "C" NOT NULL, stamp text NOT
    NULL,
    PRIMARY KEY (space, id), UNIQUE (space, name)
);
CREATE UNLOGGED TABLE {SCHEMA}.entry (
    space integer NOT NULL, id integer NOT NULL, source integer NOT NULL, kind text NOT NULL, words
    text NOT NULL,
    session integer NOT NULL, place integer NOT NULL, day text COLLATE "C" NOT NULL, time text NOT
    NULL,
    speaker text COLLATE "C" NOT NULL, line integer NOT NULL, last integer NOT NULL, turn integer
    NOT NULL,
    seq integer NOT NULL, message_id text NOT NULL, fold text NOT NULL, part integer NOT NULL,
    subject text NOT NULL,
    outside boolean NOT NULL, asks smallint NOT NULL, terms text NOT NULL,
    length smallint NOT NULL, embedded boolean NOT NULL DEFAULT false, PRIMARY KEY (space, id)
);
CREATE INDEX entry_place ON {SCHEMA}.entry (space, source, session, place);
CREATE INDEX entry_day ON {SCHEMA}.entry (space, day);
CREATE INDEX entry_unembedded ON {SCHEMA}.entry (space, (speaker = 'Bot'), id DESC)
    WHERE NOT embedded AND kind <> 'tool';
CREATE UNLOGGED TABLE {SCHEMA}.posting (
    space integer NOT NULL, term text COLLATE "C" NOT NULL, entry integer NOT NULL, count smallint
    NOT NULL,
    length smallint NOT NULL, PRIMARY KEY (space, term, entry) INCLUDE (count, length)
);
CREATE UNLOGGED TABLE {SCHEMA}.speaker (
    space integer NOT NULL, name text COLLATE "C" NOT NULL, PRIMARY KEY (space, name)
);
CREATE UNLOGGED TABLE {SCHEMA}.vector (
    space integer NOT NULL, number bigint NOT NULL, entry integer NOT NULL, data bytea,
    PRIMARY KEY (space, number)
);
CREATE INDEX vector_entry ON {SCHEMA}.vector (space, entry);
CREATE INDEX vector_removal ON {SCHEMA}.vector (space, number) WHERE data IS NULL;
"""  # noqa: S608  names and numbers of ours


def create_tables(connection: psycopg.Connection[tuple[Any, ...]]) -> None:
    """Create the tables if they are missing, in the open transaction; blocks.

    Raises:
        SchemaNewer: a newer version of this program has made them.
    """
    if _read_version(connection) == VERSION:
        return
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
    found = _read_version(connection)  # another process may have been first
    if found > VERSION:
        raise SchemaNewer(
            f"the search index in PostgreSQL has version {found}, made by a newer mnema; this one "
            f"knows {VERSION}"
        )
    if found < VERSION:
        connection.execute(_CREATE_TABLES)


def _read_version(connection: psycopg.Connection[tuple[Any, ...]]) -> int:
    """The version of the tables; 0 if there are none, or some are missing."""
    if not _has_tables(connection, "version"):
        return 0
    row = connection.execute(f"SELECT number FROM {SCHEMA}.version").fetchone()  # noqa: S608  a name of ours
    found = int(row[0]) if row else 0
    return found if found != VERSION or _has_tables(connection, *TABLES) else 0


def _has_tables(connection: psycopg.Connection[tuple[Any, ...]], *tables: str) -> bool:
    return connection.execute(
        _COUNT_TABLES, {"schema": SCHEMA, "tables": list(tables)}
    ).fetchone() == (len(tables),)


MAX_CONNECTIONS = 4  # of one process; asyncio has few threads, too
STATEMENT_SECONDS = 60  # the server ends longer statements: their caller may be gone
_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
# The tables were dropped or changed, or have inconsistent rows: they are made again.
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
    """Timeouts in seconds."""

    #: Opening a connection.
    connect: float = 5.0
    #: One statement of a search; then its connection is closed.
    read: float = 5.0
    #: One statement of a change; then its connection is closed.
    change: float = 60.0
    #: Waiting while another process changes the index; then a search uses the index as it is.
    wait: float = 2.0
    #: The same before the index is deleted.
    removal: float = 30.0


@dataclass(slots=True, kw_only=True)
class _BorrowedConnection:
    """A connection in use."""

    pool: IndexPool
    #: Seconds for a statement.
    limit: float
    #: When the running statement began, by time.monotonic(); inf for none.
    since: float = float("inf")
    #: It was closed because of a timeout.
    stuck: bool = False


class IndexConnections:
    """At most MAX_CONNECTIONS connections, opened on demand and handed out with a transaction.

    All methods block.
    """

    def __init__(self, url: str, timeouts: IndexTimeouts) -> None:
        self._url = driver_url(url)
        self.timeouts = timeouts
        self._lock = threading.Lock()
        self._pool: IndexPool | None = None
        self._borrowed: dict[IndexConnection, _BorrowedConnection] = {}
        self._has_tables = False

    def begin(self, *, to_change: bool) -> IndexConnection:
        """Begin a transaction; one that changes nothing sees a single snapshot.

        Raises:
            StoreError: no connection can be opened.
        """
        # each idle connection may have broken while the server restarted
        for _ in range(MAX_CONNECTIONS + 1):
            connection = self._borrow(self.timeouts.change if to_change else self.timeouts.read)
            try:
                self._ensure_tables(connection)
                self.run(connection, "BEGIN" if to_change else _SNAPSHOT)
            except StoreError:
                stuck = self._borrowed[connection].stuck
                self.end(connection, keep=False)
                if stuck or not connection.closed:
                    raise
            else:
                return connection
        raise StoreError("every connection to PostgreSQL has broken")

    def end(self, connection: IndexConnection, *, keep: bool) -> None:
        """Commit or roll back, and return the connection to its pool.

        Raises:
            StoreError: it could not be committed.
        """
        try:
            if keep:
                self.run(connection, "COMMIT")
            else:
                with suppress(StoreError), self._timed(connection):
                    connection.rollback()
        finally:
            with self._lock:
                pool = self._borrowed.pop(connection).pool
                unused = pool is not self._pool and all(
                    other.pool is not pool for other in self._borrowed.values()
                )
            pool.putconn(connection)
            if unused:
                pool.close()

    def run(
        self, connection: IndexConnection, sql: str, given: Mapping[str, Any] | None = None
    ) -> list[Any]:
        """Run a statement of an open transaction; returns its rows.

        Raises:
            StoreError: it failed.
        """
        with self._timed(connection):
            cursor = connection.execute(sql, given, binary=True)
            return list(cursor.fetchall()) if cursor.description else []

    def close_stuck(self) -> None:
        """Close the connections whose statement has run for too long, so that its caller gets an
        error.

        Nothing else notices a network that drops all packets. Does not block.
        """
        now = time.monotonic()
        with self._lock:
            stuck = [
                connection
                for connection, used in self._borrowed.items()
                if now - used.since > used.limit
            ]
            for connection in stuck:
                used = self._borrowed[connection]
                used.stuck = True
                if used.pool is self._pool:
                    self._pool = None  # its idle connections use the same network
        for connection in stuck:
            # psycopg raises errors of its own for a connection whose socket is closed already
            with (
                suppress(OSError, ValueError, psycopg.Error),
                socket.socket(fileno=os.dup(connection.fileno())) as line,
            ):
                line.shutdown(socket.SHUT_RDWR)

    def recheck_tables(self) -> None:
        """Check at the next transaction whether the tables exist."""
        self._has_tables = False

    def close(self) -> None:
        """Close all connections."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()

    def _borrow(self, limit: float) -> IndexConnection:
        with self._lock:
            if self._pool is None:
                self._pool = _open_pool(self._url, self.timeouts.connect)
            pool = self._pool
        try:
            connection = pool.getconn()
        except psycopg.Error as err:
            raise to_store_error(err) from err
        with self._lock:
            self._borrowed[connection] = _BorrowedConnection(pool=pool, limit=limit)
        return connection

    def _ensure_tables(self, connection: IndexConnection) -> None:
        if not self._has_tables:
            with self._timed(connection), connection.transaction():
                create_tables(connection)
            self._has_tables = True

    @contextmanager
    def _timed(self, connection: IndexConnection) -> Iterator[None]:
        """Record when a statement began, for `close_stuck`, and translate its errors."""
        borrowed = self._borrowed[connection]
        borrowed.since = time.monotonic()
        try:
            yield
        except psycopg.Error as err:
            raise (
                StoreCorrupt(str(err).strip())
                if isinstance(err, _UNUSABLE_ERRORS)
                else to_store_error(err)
            ) from err
        finally:
            borrowed.since = float("inf")


def _open_pool(url: str, timeout: float) -> IndexPool:
    seconds = max(2, round(timeout))  # libpq's minimum
    given = {
        "autocommit": True,
        "connect_timeout": seconds,
        "application_name": "mnema index",
        **KEEPALIVE,
    }
    pool = ConnectionPool(
        url,
        kwargs=given,
        min_size=0,
        max_size=MAX_CONNECTIONS,
        timeout=timeout,
        configure=_configure,
        open=False,
        name="index",
    )
    pool.open()
    return pool


def _configure(connection: IndexConnection) -> None:
    # compiling a plan takes longer than any of these statements
    connection.execute(
        "SELECT set_config('jit', 'off', false), set_config('statement_timeout', %s, false)",
        (f"{STATEMENT_SECONDS}s",),
    )
