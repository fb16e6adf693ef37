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
from memory.failpoints import fp
from memory.workspace.files import sync, write_atomic

JOURNAL = ".restore.json"
STAGED = ".restore-"
"""What the name of a folder begins with in which a state is made ready."""
KEPT = "before-restore"
NAMES = ("config.json", "workspace", "data")
"""What is put in place, in this order: `data` has the lock, and so the home is free again only after all of it."""
RECORD = "record.db"
"""In that folder: what PostgreSQL is to hold."""
KEPT_RECORD = "postgres.db.before-restore"
"""In the folder `data` that is kept: what PostgreSQL held."""
_STAMP = re.compile(r"[0-9TZ]{16}")


def commit(root: Path, stamp: str) -> None:
    """From here on the state in the folder `staged(root, stamp)` is the home's, whenever the process ends.

    Raises:
        OSError: it is not; the old state holds.
    """
    write_atomic(root / JOURNAL, json.dumps({"stamp": stamp}).encode(), 0o600)


@contextmanager
def deciding(root: Path, stamp: str) -> Iterator[str]:
    """While this lasts the record's database decides on the state in `staged(root, stamp)`; others wait to `finish`.

    It gives a mark, which nothing else has ever had: the database has it once it has taken the record.

    Raises:
        OSError: nothing was begun.
    """
    half, mark = root / f"{JOURNAL}.half", uuid.uuid4().hex
    with half.open("w", encoding="utf-8") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        json.dump({"stamp": stamp, "mark": mark}, held)
        held.flush()
        os.fsync(held.fileno())
        os.rename(half, root / JOURNAL)
        sync(root)
        yield mark


def drop_copy(root: Path) -> None:
    """Take away the copy of a record that was not replaced after all."""
    (root / NAMES[-1] / KEPT_RECORD).unlink(missing_ok=True)


def staged(root: Path, stamp: str) -> Path:
    """The folder in which the state of that time is made ready."""
    return root / f"{STAGED}{stamp}"


def finish(root: Path) -> None:
    """Carry out what was committed and is not done yet; nothing where nothing is. Safe in many processes at once.

    Raises:
        MnemaError: the journal is damaged.
        StoreError: the record's database cannot be asked whether it has taken the record.
        OSError: a rename failed; the next call goes on from there.
    """
    try:
        held = (root / JOURNAL).open(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return
    with held:
        fcntl.flock(held, fcntl.LOCK_EX)
        if _still(held, root / JOURNAL):  # else another process has done it while this one waited
            stamp, mark = _read(held)
            if mark and not _decided(root, mark):
                _undo(root, stamp)
            else:
                _swap(root, stamp)


def _still(held: TextIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(held.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _decided(root: Path, mark: str) -> bool:
    from bot.cli.backup.database import decided

    return decided(root, mark)


def _undo(root: Path, stamp: str) -> None:
    """The database has not taken the record: nothing is to be moved."""
    shutil.rmtree(staged(root, stamp), ignore_errors=True)
    drop_copy(root)
    (root / JOURNAL).unlink()
    sync(root)


def _read(held: TextIO) -> tuple[str, str]:
    """The time by which the folder goes, and the mark by which the record's database decides, "" where it does not."""
    try:
        told = json.load(held)
        stamp, mark = told["stamp"], told.get("mark", "")
    except (ValueError, KeyError, TypeError, AttributeError) as err:
        raise MnemaError(f"{held.name} is damaged; a restore was cut, and it does not say where it stood.") from err
    if not all(isinstance(one, str) for one in (stamp, mark)) or not _STAMP.fullmatch(stamp):
        raise MnemaError(f"{held.name} is damaged; a restore was cut, and it does not say where it stood.")
    return stamp, mark


def _swap(root: Path, stamp: str) -> None:
    """Each name for itself: as long as it stands in the folder it is still to be moved, whatever else was done."""
    ready = staged(root, stamp)
    for name in NAMES:
        new, place = ready / name, root / name
        if not os.path.lexists(new):
            continue
        if os.path.lexists(place):
            os.rename(place, _free(root / f"{name}.{KEPT}.{stamp}"))
            sync(root)
        os.rename(new, place)
        sync(ready)
        sync(root)
        fp("restore.swapped")
    if ready.is_dir():
        shutil.rmtree(ready)
    (root / JOURNAL).unlink()
    sync(root)


def _free(path: Path) -> Path:
    names = (path, *(path.with_name(f"{path.name}.{number}") for number in range(1, 1000)))
    return next(name for name in names if not os.path.lexists(name))
