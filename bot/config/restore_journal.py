"""Journal of a restore: files are swapped in by renames; the next command finishes a cut-off swap.

A PostgreSQL store is replaced in one transaction. Whether that was committed decides if the files
follow.
"""

import json
import os
import re
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from bot.config.home import is_same_file
from bot.errors import MnemaError
from memory.failpoints import hit
from memory.workspace.atomic_write import fsync_path, write_atomic

JOURNAL_FILE = ".restore.json"
STAGING_PREFIX = ".restore-"  # of the folder in which the new state is prepared
KEPT_SUFFIX = "before-restore"
# Replaced in this order. `data` holds the lock file, so it comes last: the home stays locked until
# all is done.
REPLACED_NAMES = ("config.json", "workspace", "data")
DATABASE_NAME = "record.db"  # in the staging folder: the new content for PostgreSQL
# in the kept `data` folder: the old content of PostgreSQL
KEPT_DATABASE = "postgres.db.before-restore"
_STAMP = re.compile(r"[0-9TZ]{16}")

# (root, mark): whether the database has committed that restore
IsCommitted = Callable[[Path, str], bool]


def commit_restore(root: Path, stamp: str) -> None:
    """Commit to the staged state: from now on a killed restore is finished, not undone.

    Raises:
        OSError: not committed; the old state stays.
    """
    write_atomic(root / JOURNAL_FILE, json.dumps({"stamp": stamp}).encode(), 0o600)


@contextmanager
def await_database_commit(root: Path, stamp: str) -> Iterator[str]:
    """Let the database decide about the staged state; `finish_restore` waits until the exit.

    Yields a unique mark, which the database stores in the transaction that replaces its content.

    Raises:
        OSError: nothing was started.
    """
    import fcntl  # not on every system

    half, mark = root / f"{JOURNAL_FILE}.half", uuid.uuid4().hex
    with half.open("w", encoding="utf-8") as journal:
        fcntl.flock(journal, fcntl.LOCK_EX)
        json.dump({"stamp": stamp, "mark": mark}, journal)
        journal.flush()
        os.fsync(journal.fileno())
        os.rename(half, root / JOURNAL_FILE)
        fsync_path(root)
        yield mark


def remove_kept_copy(root: Path) -> None:
    """Remove the copy of a database that was not replaced after all."""
    (root / REPLACED_NAMES[-1] / KEPT_DATABASE).unlink(missing_ok=True)


def staging_folder(root: Path, stamp: str) -> Path:
    """The folder in which the new state is prepared."""
    return root / f"{STAGING_PREFIX}{stamp}"


def is_restore_pending(root: Path) -> bool:
    """Whether a restore was committed or interrupted and is not finished."""
    return os.path.lexists(root / JOURNAL_FILE)


def finish_restore(root: Path, is_committed: IsCommitted) -> None:
    """Finish or discard an interrupted restore, if there is one. Safe in several processes at once.

    Raises:
        MnemaError: the journal is damaged.
        StoreError: the database cannot tell whether it committed the restore.
        OSError: a rename failed; the next call continues from there.
    """
    import fcntl  # not on every system

    try:
        journal = (root / JOURNAL_FILE).open(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return
    with journal:
        fcntl.flock(journal, fcntl.LOCK_EX)
        # else another process did it while this one waited
        if is_same_file(journal.fileno(), root / JOURNAL_FILE):
            stamp, mark = _read_journal(journal)
            if mark and not is_committed(root, mark):
                _discard_staging(root, stamp)
            else:
                _swap_in(root, stamp)


def _discard_staging(root: Path, stamp: str) -> None:
    """Drop the prepared state, because the database did not commit the restore."""
    shutil.rmtree(staging_folder(root, stamp), ignore_errors=True)
    remove_kept_copy(root)
    (root / JOURNAL_FILE).unlink()
    fsync_path(root)


def _read_journal(journal: TextIO) -> tuple[str, str]:
    """Stamp of the staging folder, and the mark in the database ("" when the store is a SQLite
    file).
    """
    try:
        entry = json.load(journal)
        stamp, mark = entry["stamp"], entry.get("mark", "")
    except (ValueError, KeyError, TypeError, AttributeError) as err:
        raise MnemaError(
            f"{journal.name} is damaged; a restore was interrupted, and its journal cannot be read."
        ) from err
    if not all(isinstance(value, str) for value in (stamp, mark)) or not _STAMP.fullmatch(stamp):
        raise MnemaError(
            f"{journal.name} is damaged; a restore was interrupted, and its journal cannot be read."
        )
    return stamp, mark


def _swap_in(root: Path, stamp: str) -> None:
    """Move each name that is still in the staging folder, that is, not yet moved."""
    ready = staging_folder(root, stamp)
    for name in REPLACED_NAMES:
        new, target = ready / name, root / name
        if not os.path.lexists(new):
            continue
        if os.path.lexists(target):
            os.rename(target, _free_path(root / f"{name}.{KEPT_SUFFIX}.{stamp}"))
            fsync_path(root)
        os.rename(new, target)
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
