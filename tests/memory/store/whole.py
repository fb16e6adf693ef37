"""A database with a row in every table: the first home, upgraded, with rows that a home cannot have
at rest.
"""

import shutil
import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from memory.store.maintenance.copy import TABLES
from memory.store.schema.migrations.upgrade import upgrade
from tests.memory.store.first_home import restore_home

BY_HAND = (
    "INSERT INTO removal VALUES ('nobody')",
    "INSERT INTO channel_note VALUES ('x', 'odd', '引号 ' || char(10, 9, 92) || ' \\N \U0001f600')",
)


@cache
def _made() -> Path:
    path = restore_home(Path(mkdtemp(prefix="whole")) / "m.db")
    upgrade(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as held:
        for statement in BY_HAND:
            held.execute(statement)
        held.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        empty = [
            table.name
            for table in TABLES
            if not held.execute(f"SELECT 1 FROM {table.name}").fetchone()
        ]
    assert empty == []
    return path


def whole(path: Path) -> Path:
    """Copy the database to this path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(_made(), path)
    return path
