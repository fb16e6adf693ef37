"""Takes checked snapshots of the database file, deletes old ones, and removes secrets from
copies.
"""

import json
import sqlite3
from collections.abc import Collection
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from memory.store.engine.sqlite_connection import copy_database
from memory.store.schema.tables import channel_note, conversation, inbox, stamp
from memory.workspace.atomic_write import fsync_path

MAX_HOURLY, MAX_DAILY = 2, 2  # snapshots that are kept
SNAPSHOT_SECONDS = 3_600.0  # between two snapshots
_STAMP_FORMAT = "%Y%m%dT%H%M%SZ"
_DAY_CHARACTERS = len("20260101")  # of a stamp
_REDACT = (
    "UPDATE {table} SET {column} = replace({column}, :secret, '[secret]') WHERE instr({column}, "
    ":secret) > 0"
)


def redact_secrets(copy: Path, secrets: Collection[str] = ()) -> str:
    """Remove channels' notes (logins, cursors, handles) and typed secrets from a copy, and
    overwrite their bytes.

    The copy is a single file afterwards, without a write-ahead log.

    Args:
        secrets: values that a person may have typed in a command; replaced by [secret] in messages
            and titles.

    Returns:
        The revision of its tables, "" for none.

    Raises:
        sqlite3.Error: it failed.
    """
    with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
        connection.execute("PRAGMA secure_delete=ON")
        connection.execute("PRAGMA journal_mode=DELETE")
        tables = {
            row[0]
            for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        }
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
        if not connection.execute(
            "SELECT 1 FROM sqlite_master WHERE name = ?", (stamp.name,)
        ).fetchone():
            return ""
        row = connection.execute(f"SELECT version_num FROM {stamp.name}").fetchone()  # noqa: S608
    return str(row[0]) if row else ""


def is_snapshot_due(path: Path, now: float, newest_loss: float) -> bool:
    """Whether the newest snapshot is an hour old, or older than the last act that took a right or a
    text away.

    Args:
        now, newest_loss: unix seconds. A snapshot older than such an act could bring back what it
            took away.
    """
    newest = next(iter(find_snapshots(path, now)), None)
    if newest is None:
        return True
    taken_at = snapshot_time(newest)
    return taken_at < newest_loss or not 0 <= now - taken_at < SNAPSHOT_SECONDS


def take_snapshot(path: Path, now: float) -> None:
    """Take a snapshot, then delete those that are not kept: the two newest, and the last ones of
    two earlier days.

    Args:
        now: unix seconds.

    Raises:
        StoreCorrupt: the copy does not pass SQLite's check; no snapshot was replaced.
        sqlite3.Error, OSError: there is no copy.
    """
    copy_database(
        path, path.parent / "snapshots" / f"{path.stem}-{time_stamp(now)}{path.suffix}", check=True
    )
    snapshots = find_snapshots(path, now)
    last_of_day: dict[str, Path] = {}
    for snapshot in snapshots:
        last_of_day.setdefault(_stamp_of(snapshot)[:_DAY_CHARACTERS], snapshot)
    hourly, daily = snapshots[:MAX_HOURLY], [*last_of_day.values()][1 : MAX_DAILY + 1]
    for old in snapshots:
        if old not in (*hourly, *daily):
            old.unlink()


def find_snapshots(path: Path, now: float) -> list[Path]:
    """Find a database's snapshots, the newest first; one from the future was named by a wrong clock
    and comes last.
    """
    found = (path.parent / "snapshots").glob(f"{path.stem}-*{path.suffix}")
    return sorted(
        found, key=lambda one: (_stamp_of(one) <= time_stamp(now), one.name), reverse=True
    )


def snapshot_time(snapshot: Path) -> float:
    """Return when a snapshot was taken, in unix seconds."""
    try:
        taken_at = datetime.strptime(_stamp_of(snapshot), _STAMP_FORMAT)
    except ValueError:  # somebody's own copy
        return snapshot.stat().st_mtime
    return taken_at.replace(tzinfo=UTC).timestamp()


def time_stamp(now: float) -> str:
    """Return unix seconds as they stand in names of files."""
    return datetime.fromtimestamp(now, UTC).strftime(_STAMP_FORMAT)


def _stamp_of(snapshot: Path) -> str:
    return snapshot.stem.rpartition("-")[2]


def find_damage(path: Path) -> str:
    """Return the first damage that SQLite's quick check finds, "" for none; reads beside a process
    that writes.
    """
    try:
        with _open_read_only(path) as connection:
            found = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.DatabaseError as err:
        found = str(err)
    return "" if found == "ok" else " ".join(found.split())


def is_sound(path: Path) -> bool:
    """Whether SQLite's quick check finds no damage."""
    return not find_damage(path)


def _open_read_only(path: Path) -> "closing[sqlite3.Connection]":
    return closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True))
