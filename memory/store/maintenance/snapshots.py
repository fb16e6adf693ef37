"""Copies of the database file: snapshots beside it, and what becomes of a damaged one."""

import json
import sqlite3
from collections.abc import Collection
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from memory.store.engine.sqlite import copy_database
from memory.store.schema.tables import channel_note, conversation, inbox, stamp
from memory.workspace.files import fsync_path

MAX_SNAPSHOTS = 2
SNAPSHOT_SECONDS = 86_400.0  # seconds between two snapshots
# SQLite's own words: a copy is a SQLite file, whatever it is a copy of.
_REDACT = "UPDATE {table} SET {column} = replace({column}, :secret, '[secret]') WHERE instr({column}, :secret) > 0"


def redact_secrets(copy: Path, secrets: Collection[str] = ()) -> str:
    """Take out of a copy what channels keep for themselves (logins, cursors, handles), to the last byte.

    The copy is one file afterwards, with no log beside it.

    Args:
        secrets: values that somebody may have typed as a command; they stand in what was typed no more.

    Returns:
        The revision of its tables, "" for none.

    Raises:
        sqlite3.Error: it could not be done.
    """
    with closing(sqlite3.connect(copy, isolation_level=None)) as held:
        held.execute("PRAGMA secure_delete=ON")
        held.execute("PRAGMA journal_mode=DELETE")
        tables = {row[0] for row in held.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if channel_note.name in tables:
            held.execute(f"DELETE FROM {channel_note.name}")  # noqa: S608
        for secret in {form for one in secrets for form in (one, json.dumps(one)[1:-1])}:
            for table, column in ((inbox, inbox.c.body), (conversation, conversation.c.title)):
                held.execute(_REDACT.format(table=table.name, column=column.name), {"secret": secret})
    fsync_path(copy)
    return read_revision(copy)


def read_revision(path: Path) -> str:
    """The revision of a file's tables, "" where they are none of ours.

    Raises:
        sqlite3.Error: it is no database.
    """
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as held:
        if not held.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (stamp.name,)).fetchone():
            return ""
        row = held.execute(f"SELECT version_num FROM {stamp.name}").fetchone()  # noqa: S608
    return str(row[0]) if row else ""


def snapshot_if_due(path: Path, now: float) -> bool:
    """Take a snapshot when the newest is older than a day; only the newest few are kept.

    Args:
        now: unix seconds.
    """
    held = _snapshots(path)
    if held and now - held[0].stat().st_mtime < SNAPSHOT_SECONDS:
        return False
    copy_database(path, _folder(path) / f"{path.stem}-{_timestamp(now)}{path.suffix}")
    for old in _snapshots(path)[MAX_SNAPSHOTS:]:
        old.unlink()
    return True


def restore_newest_snapshot(path: Path, now: float) -> str:
    """Put the damaged file aside under a name that says so, and the newest sound snapshot in its place.

    Returns:
        What was done, in a sentence for the owner.
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


def _folder(path: Path) -> Path:
    return path.parent / "snapshots"


def _snapshots(path: Path) -> list[Path]:
    """Newest first."""
    return sorted(_folder(path).glob(f"{path.stem}-*{path.suffix}"), reverse=True)


def _damaged_name(path: Path, now: float) -> Path:
    first = path.with_name(f"{path.name}.corrupt.{_timestamp(now)}")
    names = (first, *(first.with_name(f"{first.name}.{number}") for number in range(1, 1000)))
    return next(name for name in names if not name.exists())


def _timestamp(now: float) -> str:
    return datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%SZ")


def is_sound(path: Path) -> bool:
    """Whether SQLite finds nothing wrong with the file."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as held:
            return bool(held.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")
    except sqlite3.DatabaseError:
        return False
