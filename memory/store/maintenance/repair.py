"""Replaces a damaged database by a sound one: built beside it with all that can be read, then put
in its place.
"""

import json
import shutil
import sqlite3
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from memory.failpoints import hit
from memory.store.audit import append_act
from memory.store.conversations.inbox import put_notes
from memory.store.engine.database import Tx, insert_into
from memory.store.engine.sqlite_connection import (
    copy_database,
    drive,
    sqlite_errors_as_store_errors,
)
from memory.store.errors import StoreError
from memory.store.maintenance.copy import SqliteCopySide, create_copy
from memory.store.maintenance.damaged import open_damaged
from memory.store.maintenance.replaced_rights import settle_open_work
from memory.store.maintenance.salvage import Salvage, SalvageReport
from memory.store.maintenance.snapshots import (
    find_snapshots,
    is_sound,
    read_revision,
    snapshot_time,
    time_stamp,
)
from memory.store.maintenance.write_ahead_log import log_path, mend_log
from memory.store.schema.create import HEAD, check_revision_is_known
from memory.store.schema.tables import audit, audit_head, conversation
from memory.workspace.atomic_write import fsync_path

RepairSource = Literal["log", "snapshot", "nothing"]
ACTOR = "house"
# The report as a note, so that the owner is told even if this process ends before that.
NOTE_CHANNEL, NOTE_NAME = "mnema", "repair"


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairReport:
    """What was done about a damaged database."""

    #: Name of the damaged file, which stays beside the new one.
    aside: str
    #: What the new one was made of: the damaged one up to a fault in its log, a snapshot, or
    #: nothing.
    source: RepairSource
    #: Unix seconds up to which that was complete; 0 for nothing.
    as_of: float
    #: Number of conversations with something newer.
    newer: int
    #: Number of newer messages that were copied from the damaged file.
    messages: int
    #: Number of received messages whose text could not be read.
    keys_only: int
    #: Conversations that are only in the damaged file as they were at last, as channel:chat.
    left: tuple[str, ...]
    #: Names of tables that could not be read.
    unread: tuple[str, ...]
    #: What was revoked or forgotten since is known.
    rights_known: bool


def load_report(note: str) -> RepairReport:
    """Load a report from its note."""
    fields = json.loads(note)
    return RepairReport(**fields | {name: tuple(fields[name]) for name in ("left", "unread")})


def finish_repair(path: Path) -> None:
    """Put a new database that is complete in the place of the damaged one; after a kill, the next
    start does it.
    """
    prefix = f"{path.name}.repaired."
    for new in path.parent.glob(f"{prefix}*"):
        aside = path.with_name(f"{path.name}.corrupt.{new.name.removeprefix(prefix)}")
        path.with_name(f"{path.name}-shm").unlink(missing_ok=True)
        log = log_path(path)
        if log.exists():  # first, for it must never stand beside another file than its own
            log.rename(log_path(aside)) if log.stat().st_size else log.unlink()
        hit("repair.log_moved")
        with suppress(FileNotFoundError):  # moved before a kill
            path.rename(aside)
        hit("repair.moved")
        new.rename(path)
        fsync_path(path.parent)


def repair_database(path: Path, now: float, *, is_log_cut: bool) -> RepairReport:
    """Replace a damaged database that nobody has open.

    Args:
        now: unix seconds.
        is_log_cut: the file is sound, and SQLite cut its log short.

    Raises:
        StoreError, OSError: the damaged one is still in its place.
    """
    stamp = _free_stamp(path, now)
    work, mended = path.with_name(f".{path.name}.repairing"), path.with_name(f".{path.name}.mended")
    with sqlite_errors_as_store_errors():
        _remove(work, mended)
        source, as_of = _copy_base(path, work, now, is_log_cut=is_log_cut)
        if is_log_cut:
            shutil.copyfile(path, mended)
            mend_log(path, log_path(mended))
        report = _fill(
            work, mended if is_log_cut else path, f"{path.name}.corrupt.{stamp}", source, as_of, now
        )
        _remove(mended)
    fsync_path(work)
    work.rename(path.with_name(f"{path.name}.repaired.{stamp}"))
    fsync_path(path.parent)
    hit("repair.built")
    finish_repair(path)
    return report


def _copy_base(
    path: Path, work: Path, now: float, *, is_log_cut: bool
) -> tuple[RepairSource, float]:
    """Copy what the new database is made of, and bring its tables to this version; return what it
    is.
    """
    source: RepairSource = "nothing"
    as_of = 0.0
    if is_log_cut:
        copy_database(path, work, mode="ro")
        source, as_of = "log", _newest_moment(work)
    if not work.exists() or not is_sound(work):
        _remove(work)
        source, as_of = "nothing", 0.0
        snapshot = next((one for one in find_snapshots(path, now) if is_sound(one)), None)
        if snapshot is not None:
            copy_database(snapshot, work)
            source, as_of = "snapshot", snapshot_time(snapshot)
    if source == "nothing":
        with create_copy(work, 0) as new:
            drive(new.tx(now).execute(insert_into(audit_head), id=1))
    elif (found := read_revision(work)) != HEAD:
        if found:
            check_revision_is_known(found)
        from memory.store.schema.migrations.upgrade import upgrade  # loads alembic, which is slow

        upgrade(work)
    return source, as_of


def _fill(
    work: Path, damaged: Path, aside: str, source: RepairSource, as_of: float, now: float
) -> RepairReport:
    """Take over what is readable, in one transaction that leaves a report; without it where it does
    not fit.
    """
    with closing(sqlite3.connect(work, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=MEMORY")
        connection.execute("PRAGMA synchronous=OFF")  # synced once, at the end
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("BEGIN IMMEDIATE")
        tx = SqliteCopySide(connection).tx(now)
        salvaged = _salvage(damaged, connection, tx)
        report = RepairReport(
            aside=aside,
            source=source,
            as_of=as_of,
            newer=len(salvaged.newer),
            messages=salvaged.messages,
            keys_only=salvaged.keys_only,
            left=tuple(salvaged.left),
            unread=tuple(salvaged.unread),
            rights_known=salvaged.rights_known,
        )
        drive(settle_open_work(tx))
        drive(
            put_notes(tx, NOTE_CHANNEL, {NOTE_NAME: json.dumps(asdict(report), ensure_ascii=False)})
        )
        drive(
            append_act(tx, "restore", aside, f"{source} after damage", ACTOR, args=asdict(report))
        )
        connection.execute("UPDATE instance SET clean = 0")  # the start checks what it opens
        connection.execute("COMMIT")
    return report


def _salvage(damaged: Path, connection: sqlite3.Connection, tx: Tx) -> SalvageReport:
    connection.execute("SAVEPOINT whole")
    try:
        with open_damaged(damaged) as rows:
            if rows is not None:
                return Salvage(rows, connection, tx).run()
    # what garbled rows lead to
    except (sqlite3.DatabaseError, StoreError, LookupError, TypeError, ValueError):
        connection.execute("ROLLBACK TO whole")
    return SalvageReport(unread=[conversation.name, audit.name], rights_known=False)


def _newest_moment(path: Path) -> float:
    with closing(sqlite3.connect(path)) as connection:
        (newest,) = connection.execute("SELECT max(updated) FROM conversation").fetchone()
    return float(newest or 0.0)


def _free_stamp(path: Path, now: float) -> str:
    stamps = (time_stamp(now), *(f"{time_stamp(now)}.{number}" for number in range(1, 1000)))
    return next(
        stamp for stamp in stamps if not path.with_name(f"{path.name}.corrupt.{stamp}").exists()
    )


def _remove(*files: Path) -> None:
    for file in files:
        for end in ("", "-wal", "-shm", "-journal"):
            file.with_name(file.name + end).unlink(missing_ok=True)
