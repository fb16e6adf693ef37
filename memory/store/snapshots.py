"""Copies of the database file: snapshots beside it, and what becomes of a damaged one."""

import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

KEPT = 2
EVERY = 86_400.0
"""Seconds between two snapshots."""


def copy_database(source: Path, target: Path) -> None:
    """A whole copy, old or new but never half: what is committed in the source's log is in it.

    Raises:
        sqlite3.Error, OSError: there is no copy.
    """
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    half = target.with_name(f".{target.name}.half")
    half.unlink(missing_ok=True)
    os.close(os.open(half, os.O_CREAT | os.O_WRONLY, 0o600))
    with closing(sqlite3.connect(source)) as held, closing(sqlite3.connect(half)) as copy:
        held.backup(copy)
    _sync(half)
    os.replace(half, target)
    _sync(target.parent)


def snapshot_if_due(path: Path, now: float) -> bool:
    """Take a snapshot when the newest is older than a day; only the newest few are kept.

    Args:
        now: unix seconds.
    """
    held = _snapshots(path)
    if held and now - held[0].stat().st_mtime < EVERY:
        return False
    copy_database(path, _folder(path) / f"{path.stem}-{_stamp(now)}{path.suffix}")
    for old in _snapshots(path)[KEPT:]:
        old.unlink()
    return True


def heal(path: Path, now: float) -> str:
    """Put the damaged file aside under a name that says so, and the newest sound snapshot in its place.

    Returns:
        What was done, in a sentence for the owner.
    """
    aside = _aside(path, now)
    for end in ("", "-wal", "-shm"):
        part = path.with_name(path.name + end)
        if part.exists():
            part.rename(aside.with_name(aside.name + end))
    for snapshot in _snapshots(path):
        if _sound(snapshot):
            copy_database(snapshot, path)
            return f"The database was damaged: it is kept as {aside.name}, and {snapshot.name} was put in its place."
    return f"The database was damaged: it is kept as {aside.name}, and a new one was begun; there was no snapshot."


def _folder(path: Path) -> Path:
    return path.parent / "snapshots"


def _snapshots(path: Path) -> list[Path]:
    """Newest first."""
    return sorted(_folder(path).glob(f"{path.stem}-*{path.suffix}"), reverse=True)


def _aside(path: Path, now: float) -> Path:
    first = path.with_name(f"{path.name}.corrupt.{_stamp(now)}")
    names = (first, *(first.with_name(f"{first.name}.{number}") for number in range(1, 1000)))
    return next(name for name in names if not name.exists())


def _stamp(now: float) -> str:
    return datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%SZ")


def _sound(path: Path) -> bool:
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as held:
            return bool(held.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")
    except sqlite3.DatabaseError:
        return False


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
