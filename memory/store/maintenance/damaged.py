"""Reads what can still be read in a damaged database file."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Table

from memory.store.engine.database import Row
from memory.store.errors import StoreError
from memory.store.maintenance.copy import RowValues, column_names, value_normalizer
from memory.store.schema.create import HEAD
from memory.store.schema.tables import stamp

Key = tuple[str | int | float | bool, ...]  # values of a primary key
Rows = dict[Key, RowValues]  # of one table, by their keys

_ACTS = "SELECT seq, at, action, subject, result FROM audit ORDER BY seq"
# Each of these reads one index and never the table, which may be what is damaged.
_IDS_BY_ROWID = "SELECT rowid, id FROM inbox"
_LINES_BY_ROWID = "SELECT rowid, conversation, line FROM inbox INDEXED BY inbox_line"
_KEYS_BY_ROWID = (
    "SELECT rowid, channel, account, key FROM inbox INDEXED BY sqlite_autoindex_inbox_2"
)


class UnreadableRows(Exception):
    """Rows cannot be read, or hold what no row of that table can hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownKey:
    """What the indexes tell of an inbox row whose table cannot be read."""

    id: str
    conversation: str
    line: int
    channel: str
    account: str
    key: str


class DatabaseRows:
    """The rows of a database, table by table. All methods block."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def load(self, table: Table, condition: str = "", *values: str) -> Rows:
        """Read rows by their primary key: by way of an index, and where that fails from the table
        alone.

        Args:
            condition: a WHERE clause.

        Raises:
            UnreadableRows: some of them cannot be read.
        """
        normalize, names = value_normalizer(table), [column.name for column in table.columns]
        places = [names.index(column.name) for column in table.primary_key]
        for source in (table.name, f"{table.name} NOT INDEXED"):
            query = f"SELECT {column_names(table)} FROM {source} {condition}"  # noqa: S608  our own names
            with suppress(sqlite3.DatabaseError, StoreError):
                rows = [normalize(row) for row in self._connection.execute(query, values)]
                return {tuple(row[place] for place in places): row for row in rows}
        raise UnreadableRows(table.name)

    def load_ids(self, table: Table) -> set[str]:
        """Read the ids of a table's rows, by way of the index and from the table, which have to
        agree.

        Raises:
            UnreadableRows: they cannot be read, or do not agree.
        """
        queries = (f"SELECT id FROM {table.name}", f"SELECT id FROM {table.name} NOT INDEXED")  # noqa: S608
        try:
            indexed, stored = (
                {row[0] for row in self._connection.execute(query)} for query in queries
            )
        except sqlite3.DatabaseError as err:
            raise UnreadableRows(table.name) from err
        if indexed != stored:
            raise UnreadableRows(table.name)
        return stored

    def load_acts(self) -> tuple[list[Row], bool]:
        """Read the audit rows that can be read, from both ends of the table; and whether these are
        all.
        """
        found: dict[int, Row] = {}
        is_complete = False
        for order in (" ASC", " DESC"):
            with suppress(sqlite3.DatabaseError):
                for seq, at, action, subject, result in self._connection.execute(_ACTS + order):
                    found[seq] = {"at": at, "action": action, "subject": subject, "result": result}
                is_complete = True
        return list(found.values()), is_complete

    def load_known_keys(self) -> list[KnownKey]:
        """Read from the indexes which messages were received; nothing where these cannot be read
        either.
        """
        try:
            ids = dict(self._connection.execute(_IDS_BY_ROWID))
            lines = {row[0]: row[1:] for row in self._connection.execute(_LINES_BY_ROWID)}
            keys = {row[0]: row[1:] for row in self._connection.execute(_KEYS_BY_ROWID)}
        except sqlite3.DatabaseError:
            return []
        return [
            KnownKey(
                id=ids[rowid],
                conversation=lines[rowid][0],
                line=lines[rowid][1],
                channel=channel,
                account=account,
                key=key,
            )
            for rowid, (channel, account, key) in keys.items()
            if rowid in ids and rowid in lines
        ]

    def load_lease(self) -> int:
        """Read the newest lease number, 0 where it cannot be read."""
        with suppress(sqlite3.DatabaseError):
            row: Any = self._connection.execute("SELECT lease_epoch FROM instance").fetchone()
            return int(row[0]) if row else 0
        return 0


@contextmanager
def open_damaged(path: Path) -> Iterator[DatabaseRows | None]:
    """Open a damaged file without changing it; None where it has other tables than this version."""
    with closing(
        sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
    ) as connection:
        try:
            connection.execute("PRAGMA cell_size_check=ON")  # finds more of what is damaged
            version = connection.execute(f"SELECT version_num FROM {stamp.name}").fetchone()  # noqa: S608
        except sqlite3.DatabaseError:
            version = (HEAD,) if _has_tables(connection) else None
        yield DatabaseRows(connection) if version is not None and version[0] == HEAD else None


def _has_tables(connection: sqlite3.Connection) -> bool:
    with suppress(sqlite3.DatabaseError):
        return (
            connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'conversation'").fetchone()
            is not None
        )
    return False
