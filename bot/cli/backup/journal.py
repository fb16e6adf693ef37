"""A restored state takes the place of the old one by renames; a kill between them is made good by the next opening.

A record in PostgreSQL is replaced by one transaction there. Then that transaction decides whether the files follow.
"""

import fcntl
import json
import os
import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from bot.errors import MnemaError
from memory.failpoints import hit
from memory.workspace.files import fsync_path, write_atomic

JOURNAL_FILE = ".restore.json"
STAGING_PREFIX = ".restore-"  # what the name of a folder begins with in which a state is made ready
KEPT_SUFFIX = "before-restore"
# What is put in place, in this order: `data` has the lock, and so the home is free again only after all of it.
REPLACED_NAMES = ("config.json", "workspace", "data")
DATABASE_NAME = "record.db"  # in that folder: what PostgreSQL is to hold
KEPT_DATABASE = "postgres.db.before-restore"  # in the folder `data` that is kept: what PostgreSQL held
_STAMP = re.compile(r"[0-9TZ]{16}")


def commit_restore(root: Path, stamp: str) -> None:
    """From here on the state in the folder `staged(root, stamp)` is the home's, whenever the process ends.

    Raises:
        OSError: it is not; the old state holds.
    """
    write_atomic(root / JOURNAL_FILE, json.dumps({"stamp": stamp}).encode(), 0o600)


@contextmanager
def await_database_commit(root: Path, stamp: str) -> Iterator[str]:
    """While this lasts the record's database decides on the state in `staged(root, stamp)`; others wait to `finish`.

    It gives a mark, which nothing else has ever had: the database has it once it has taken the record.

    Raises:
        OSError: nothing was begun.
    """
    half, mark = root / f"{JOURNAL_FILE}.half", uuid.uuid4().hex
    with half.open("w", encoding="utf-8") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        json.dump({"stamp": stamp, "mark": mark}, held)
        held.flush()
        os.fsync(held.fileno())
        os.rename(half, root / JOURNAL_FILE)
        fsync_path(root)
        yield mark


def remove_kept_copy(root: Path) -> None:
    """Take away the copy of a record that was not replaced after all."""
    (root / REPLACED_NAMES[-1] / KEPT_DATABASE).unlink(missing_ok=True)


def staging_folder(root: Path, stamp: str) -> Path:
    """The folder in which the state of that time is made ready."""
    return root / f"{STAGING_PREFIX}{stamp}"


def finish_restore(root: Path) -> None:
    """Carry out what was committed and is not done yet; nothing where nothing is. Safe in many processes at once.

    Raises:
        MnemaError: the journal is damaged.
        StoreError: the record's database cannot be asked whether it has taken the record.
        OSError: a rename failed; the next call goes on from there.
    """
    try:
        held = (root / JOURNAL_FILE).open(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return
    with held:
        fcntl.flock(held, fcntl.LOCK_EX)
        if _is_same_file(held, root / JOURNAL_FILE):  # else another process has done it while this one waited
            stamp, mark = _read_journal(held)
            if mark and not _is_committed(root, mark):
                _discard_staging(root, stamp)
            else:
                _swap_in(root, stamp)


def _is_same_file(held: TextIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(held.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _is_committed(root: Path, mark: str) -> bool:
    from bot.cli.backup.database import is_restore_committed

    return is_restore_committed(root, mark)


def _discard_staging(root: Path, stamp: str) -> None:
    """The database has not taken the record: nothing is to be moved."""
    shutil.rmtree(staging_folder(root, stamp), ignore_errors=True)
    remove_kept_copy(root)
    (root / JOURNAL_FILE).unlink()
    fsync_path(root)


def _read_journal(held: TextIO) -> tuple[str, str]:
    """The time by which the folder goes, and the mark by which the record's database decides, "" where it does not."""
    try:
        told = json.load(held)
        stamp, mark = told["stamp"], told.get("mark", "")
    except (ValueError, KeyError, TypeError, AttributeError) as err:
        raise MnemaError(f"{held.name} is damaged; a restore was cut, and it does not say where it stood.") from err
    if not all(isinstance(one, str) for one in (stamp, mark)) or not _STAMP.fullmatch(stamp):
        raise MnemaError(f"{held.name} is damaged; a restore was cut, and it does not say where it stood.")
    return stamp, mark


def _swap_in(root: Path, stamp: str) -> None:
    """Each name for itself: as long as it stands in the folder it is still to be moved, whatever else was done."""
    ready = staging_folder(root, stamp)
    for name in REPLACED_NAMES:
        new, place = ready / name, root / name
        if not os.path.lexists(new):
            continue
        if os.path.lexists(place):
            os.rename(place, _free_path(root / f"{name}.{KEPT_SUFFIX}.{stamp}"))
            fsync_path(root)
        os.rename(new, place)
        fsync_path(ready)
        fsync_path(root)
        hit("restore.swapped")
    if ready.is_dir():
        shutil.rmtree(ready)
    (root / JOURNAL_FILE).unlink()
    fsync_path(root)


def _free_path(path: Path) -> Path:
    names = (path, *(path.with_name(f"{path.name}.{number}") for number in range(1, 1000)))
    return next(name for name in names if not os.path.lexists(name))
