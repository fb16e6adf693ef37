"""Takes snapshots of the database file, restores the newest one, and removes secrets from copies."""

import json
import sqlite3
from collections.abc import Collection
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from memory.store.engine.sqlite_connection import copy_database
from memory.store.schema.tables import channel_note, conversation, inbox, stamp
from memory.workspace.files import fsync_path

MAX_SNAPSHOTS = 2
SNAPSHOT_SECONDS = 86_400.0  # seconds between two snapshots
_REDACT = "UPDATE {table} SET {column} = replace({column}, :secret, '[secret]') WHERE instr({column}, :secret) > 0"


def redact_secrets(copy: Path, secrets: Collection[str] = ()) -> str:
    """Remove channels' notes (logins, cursors, handles) and typed secrets from a copy, and overwrite their bytes.

    The copy is a single file afterwards, without a write-ahead log.

    Args:
        secrets: values that a person may have typed in a command; replaced by [secret] in messages and titles.

    Returns:
        The revision of its tables, "" for none.

    Raises:
        sqlite3.Error: it failed.
    """
    with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
        connection.execute("PRAGMA secure_delete=ON")
        connection.execute("PRAGMA journal_mode=DELETE")
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if channel_note.name in tables:
            connection.execute(f"DELETE FROM {channel_note.name}")  # noqa: S608
        for secret in {form for one in secrets for form in (one, json.dumps(one)[1:-1])}:
            for column in (inbox.c.body, conversation.c.title):
                statement = _REDACT.format(table=column.table.name, column=column.name)
                connection.execute(statement, {"secret": secret})
    fsync_path(copy)
    return read_revision(copy)


def read_revision(path: Path) -> str:
    """Read the revision of a file's tables, "" when it has none of ours.

    Raises:
        sqlite3.Error: it is not a database.
    """
    with _open_read_only(path) as connection:
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (stamp.name,)).fetchone():
            return ""
        row = connection.execute(f"SELECT version_num FROM {stamp.name}").fetchone()  # noqa: S608
    return str(row[0]) if row else ""


def snapshot_if_due(path: Path, now: float) -> bool:
    """Take a snapshot when the newest is older than a day, and delete all but the newest MAX_SNAPSHOTS.

    Args:
        now: unix seconds.
    """
    snapshots = _snapshots(path)
    if snapshots and now - snapshots[0].stat().st_mtime < SNAPSHOT_SECONDS:
        return False
    copy_database(path, path.parent / "snapshots" / f"{path.stem}-{_timestamp(now)}{path.suffix}")
    for old in _snapshots(path)[MAX_SNAPSHOTS:]:
        old.unlink()
    return True


def restore_newest_snapshot(path: Path, now: float) -> str:
    """Rename a damaged file and put the newest undamaged snapshot in its place.

    Returns:
        What was done, as a text for the owner.
    """
    aside = _damaged_name(path, now)
    for end in ("", "-wal", "-shm"):
        part = path.with_name(path.name + end)
        if part.exists():
            part.rename(aside.with_name(aside.name + end))
    for snapshot in _snapshots(path):
        if is_sound(snapshot):
            copy_database(snapshot, path)
            return f"The database was damaged: it is kept as {aside.name}, and {snapshot.name} was put in its place."
    return f"The database was damaged: it is kept as {aside.name}, and a new one was begun; there was no snapshot."


def _snapshots(path: Path) -> list[Path]:
    """Newest first."""
    return sorted((path.parent / "snapshots").glob(f"{path.stem}-*{path.suffix}"), reverse=True)


def _damaged_name(path: Path, now: float) -> Path:
    first = path.with_name(f"{path.name}.corrupt.{_timestamp(now)}")
    names = (first, *(first.with_name(f"{first.name}.{number}") for number in range(1, 1000)))
    return next(name for name in names if not name.exists())


def _timestamp(now: float) -> str:
    return datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%SZ")


def is_sound(path: Path) -> bool:
    """Whether SQLite's quick check finds no damage."""
    try:
        with _open_read_only(path) as connection:
            return bool(connection.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")
    except sqlite3.DatabaseError:
        return False


def _open_read_only(path: Path) -> "closing[sqlite3.Connection]":
    return closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True))
