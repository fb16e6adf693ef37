"""The tables of recall's index in PostgreSQL: a schema of their own, made at the first use, never migrated.

They are UNLOGGED: nothing is written twice, and no forgotten text stays in the server's log. A server that crashed
finds them empty, and each space is indexed again from the files and the record.
"""

from typing import Any

import psycopg

from memory.store.errors import SchemaNewer

SCHEMA = "mnema_index"
VERSION = 1
"""Of the tables below; those of a lower one are dropped and made anew."""
TABLES = ("version", "space", "source", "entry", "posting", "speaker", "vector")
_THERE = """
SELECT COUNT(*) FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
WHERE nspname = %(schema)s AND relname = ANY(%(tables)s)
"""
"""Not to_regclass(): that may answer from what the connection knew before it waited for the lock."""
_LOCK = 0x6D6E656D61
"""Of the advisory lock under which they are made: "mnema" in ASCII."""
_MAKE = f"""
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


def make(connection: psycopg.Connection[tuple[Any, ...]]) -> None:
    """See that the tables are there, in a transaction that is open already; blocks.

    Raises:
        SchemaNewer: a newer version of this program has made them.
    """
    if _version(connection) == VERSION:
        return
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
    found = _version(connection)  # another process may have been first
    if found > VERSION:
        raise SchemaNewer(
            f"recall's index in PostgreSQL is of version {found}, made by a newer mnema; this has {VERSION}"
        )
    if found < VERSION:
        connection.execute(_MAKE)


def _version(connection: psycopg.Connection[tuple[Any, ...]]) -> int:
    """That of the tables; 0 where there are none, or not all of ours."""
    if not _there(connection, "version"):
        return 0
    row = connection.execute(f"SELECT number FROM {SCHEMA}.version").fetchone()  # noqa: S608  a name of ours
    found = int(row[0]) if row else 0
    return found if found != VERSION or _there(connection, *TABLES) else 0


def _there(connection: psycopg.Connection[tuple[Any, ...]], *tables: str) -> bool:
    return connection.execute(_THERE, {"schema": SCHEMA, "tables": list(tables)}).fetchone() == (len(tables),)
