"""Looks into the record of a bot from outside: the ledger, and rows that may never change."""

import hashlib
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import psycopg

from memory.store.open import open_store
from memory.store.postgres.open import open_postgres
from memory.store.store import Store

Db = Path | str  # a record: SQLite's file, or the address of a database in PostgreSQL


async def opened(db: Db, *, writable: bool = True) -> Store:
    """The store of this record, beside whatever runs."""
    if isinstance(db, Path):
        return await open_store(db, writable=writable)
    return await open_postgres(db, writable=writable)


async def ledger_faults(db: Db) -> list[str]:
    """What the coverage ledger finds, read beside whatever runs."""
    store = await opened(db, writable=False)
    try:
        return [f"{fault.subject}: {fault.what}" for fault in await store.folds.check_ledger()]
    finally:
        await store.close()


def query(db: Db, sql: str, *values: Any) -> list[tuple[Any, ...]]:
    """Rows of a query that changes nothing; none of a record that was killed before it had its
    tables.
    """
    if isinstance(db, str):
        with psycopg.connect(db, autocommit=True) as held, suppress(psycopg.errors.UndefinedTable):
            return held.execute(sql.replace("?", "%s"), values or None).fetchall()
        return []
    if not db.exists():
        return []
    with closing(
        sqlite3.connect(f"{db.absolute().as_uri()}?mode=ro", uri=True, timeout=10)
    ) as connection:
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'outbox'").fetchone():
            return []
        return connection.execute(sql, values).fetchall()


def message_hashes(db: Db) -> dict[str, str]:
    """Message id -> hash of its whole row."""
    rows = query(db, "SELECT * FROM message ORDER BY conversation, seq")
    return {str(row[0]): hashlib.sha256(repr(row).encode()).hexdigest() for row in rows}


def unended(db: Db) -> list[tuple[Any, ...]]:
    """Inbox and outbox rows that are not at rest."""
    waiting = "SELECT 'inbox', id, state FROM inbox WHERE state IN ('new', 'running')"
    leaving = (
        "SELECT 'outbox', id, state FROM outbox WHERE state IN ('pending', 'sending', 'unknown')"
    )
    return query(db, f"{waiting} UNION ALL {leaving}")
