"""A PostgreSQL for tests: the server that is named or stands on this machine, and a fresh database
for each test.
"""

import asyncio
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import psycopg
import pytest
from sqlalchemy import Table

from memory.store.postgres.open import open_postgres
from memory.store.schema.tables import audit_head, instance, metadata, stamp

DEFAULT = "postgresql://postgres@127.0.0.1:5432/postgres"
WANTED = "MNEMA_TEST_POSTGRES"
# Of bots in the process of the tests, which ends if a lease is lost, however great the load is.
LEASE_SECONDS = 600.0


@cache
def why_not() -> str:
    """Why there is no server for tests, "" where there is one."""
    try:
        with psycopg.connect(server(), connect_timeout=3) as held:
            held.execute("SELECT 1")
    except psycopg.Error as err:
        if os.environ.get(WANTED):
            raise
        return (
            f"no PostgreSQL on 127.0.0.1:5432, and {WANTED} names none: {str(err).splitlines()[0]}"
        )
    return ""


def server() -> str:
    """The address by which databases are made and dropped."""
    return os.environ.get(WANTED, DEFAULT)


def needs_postgres() -> None:
    """Skip the running test, with the reason, where no server answers."""
    if why := why_not():
        pytest.skip(why)


@contextmanager
def database(at: str = "") -> Iterator[str]:
    """An address of a new database that nobody else uses; it is dropped at the end, whoever is
    still in it.

    at: the server's address, "" for the one that tests share.
    """
    at = at or server()
    name = f"mnema_test_{uuid.uuid4().hex[:16]}"
    with psycopg.connect(at, autocommit=True) as held:
        held.execute(f"CREATE DATABASE {name}")
    try:
        yield _address(at, name)
    finally:
        with psycopg.connect(at, autocommit=True) as held:
            held.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def _address(at: str, name: str) -> str:
    known = psycopg.conninfo.conninfo_to_dict(at)
    user, host, port = (
        known.get("user", "postgres"),
        known.get("host", "127.0.0.1"),
        known.get("port", 5432),
    )
    password = f":{known['password']}" if known.get("password") else ""
    return f"postgresql://{user}{password}@{host}:{port}/{name}"


@pytest.fixture(scope="session")
def made() -> Iterator[str]:
    """The address of a database that has the record's tables; one for all tests of this process."""
    needs_postgres()

    async def make(url: str) -> None:
        await (await open_postgres(url)).close()

    with database() as url:
        asyncio.run(make(url))
        yield url


@pytest.fixture
def fresh(made: str) -> str:
    """The address of a database with empty tables: emptying them takes 10 ms, making a database a
    second.
    """
    emptied(made)
    return made


def emptied(url: str) -> None:
    """Leave no row in the record's tables but those that every record has."""
    with psycopg.connect(url, autocommit=True) as held:
        held.execute(
            ";".join(
                ("SET session_replication_role = replica", *map(_emptied, metadata.sorted_tables))
            )
        )


def _emptied(table: Table) -> str:
    kept = {
        stamp.name: "SELECT 1",
        instance.name: "UPDATE instance SET lease_epoch = 0, clean = true",
        audit_head.name: "UPDATE audit_head SET seq = 0, hash = ''",
    }
    return kept.get(table.name, f"DELETE FROM {table.name}")
