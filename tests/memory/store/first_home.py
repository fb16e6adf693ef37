"""A home of commit ed4b8f97, the first that can be opened: the rows that its bot left when it was
killed at work.

`home_of_ed4b8f97.sql` was written by that commit's own code, run over the emulators of `tests/`.
"""

import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg

from memory.store.postgres.schema import create_engine_for_revisions
from memory.store.schema.migrations.upgrade import run_revisions, upgrade

FIRST = "r0013"  # the revision of its tables
ROWS = Path(__file__).parent / "home_of_ed4b8f97.sql"
# What leads back to that revision from the newest one.
BACK = (
    "ALTER TABLE conversation DROP COLUMN chat_name",
    "DROP INDEX memory_successor",
    "DROP INDEX memory_source",
    "ALTER TABLE memory DROP COLUMN since",
    "DROP INDEX fold_open_log",
    "DROP INDEX fold_end",
    "ALTER TABLE fold DROP COLUMN day",
    "ALTER TABLE fold DROP COLUMN summary_only",
    "DROP INDEX conversation_unlogged",
    "ALTER TABLE conversation DROP COLUMN unlogged_since",
    "ALTER TABLE file_label DROP COLUMN content_only",
    f"UPDATE alembic_version SET version_num = '{FIRST}'",
)


def restore_home(path: Path) -> Path:
    """Restore the database as that commit left it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
        connection.execute("PRAGMA journal_mode=WAL")
    upgrade(path, FIRST)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(f"BEGIN; {ROWS.read_text('utf-8')} COMMIT;")
    path.chmod(0o600)
    return path


def restore_home_in_postgres(url: str) -> None:
    """Restore the same in an empty PostgreSQL database."""
    engine = create_engine_for_revisions(url)
    with engine.begin() as connection:
        run_revisions(connection, FIRST)
    engine.dispose()
    with psycopg.connect(url) as connection:
        connection.execute(ROWS.read_bytes())


def go_back(path: Path) -> None:
    """Downgrade a database that no process has open to the first revision."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in ("BEGIN IMMEDIATE", *BACK, "COMMIT"):
            connection.execute(statement)
