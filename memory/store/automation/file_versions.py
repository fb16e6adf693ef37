"""Stores which former contents of files are kept; the contents themselves are blobs."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import bindparam, delete, select, update

from memory.ids import new_id
from memory.store.engine.database import Repository, Tx, insert_into, read, write
from memory.store.rows import columns_of
from memory.store.schema.memory_tables import file_version
from memory.store.schema.tables import literal_text

MAX_VERSIONS = 20  # of one file
MAX_DAYS = 30
_DAY_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFileVersion:
    """A file's content before a tool changes it."""

    path: str
    #: Name of the blob with the content; "" if there was no file.
    sha256: str
    #: Bytes.
    size: int
    #: SHA-256 of what a patch over several files is about to write; "" for a single write, which is
    #: atomic by itself.
    pending: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileVersionRow(NewFileVersion):
    """A stored version."""

    id: str
    space: str
    #: Idempotency key of the call that changed the file.
    call: str
    #: Unix seconds.
    at: float


_SELECT = select(*columns_of(FileVersionRow, file_version))
_IN_SPACE = file_version.c.space == bindparam("space")
_OF_PATH = _IN_SPACE & (file_version.c.path == bindparam("path"))
_IS_PENDING = file_version.c.pending != literal_text("")
_NEWEST_FIRST = (file_version.c.at.desc(), file_version.c.id.desc())
_SELECT_OF_PATH = _SELECT.where(_OF_PATH).order_by(*_NEWEST_FIRST)
_SELECT_OF_SPACE = _SELECT.where(_IN_SPACE).order_by(file_version.c.id)
_SELECT_PENDING = _SELECT.where(_IS_PENDING, file_version.c.at <= bindparam("until")).order_by(
    file_version.c.id
)
_SELECT_IDS = select(file_version.c.id).where(file_version.c.sha256 == bindparam("sha256"))
_IS_OF_CALL = _IN_SPACE & (file_version.c.call == bindparam("call")) & _IS_PENDING
_SETTLE = update(file_version).where(_IS_OF_CALL).values(pending=literal_text(""))
_DELETE_NEW_FILES = delete(file_version).where(
    _IS_OF_CALL, file_version.c.sha256 == literal_text("")
)
_DELETE_OF_CALL = delete(file_version).where(_IS_OF_CALL)
_DELETE = delete(file_version).where(file_version.c.id == bindparam("id"))
_DELETE_OLD = delete(file_version).where(~_IS_PENDING, file_version.c.at < bindparam("before"))


async def _keep(tx: Tx, space: str, call: str, versions: Sequence[NewFileVersion]) -> None:
    """Store versions before their files are written; the oldest beyond the limits go."""
    for number, new in enumerate(versions):
        known = (await tx.execute(_SELECT_OF_PATH, space=space, path=new.path)).all()
        # the same call again, after a crash
        if not new.pending and known and known[0]["sha256"] == new.sha256:
            continue
        row = {"path": new.path, "sha256": new.sha256, "size": new.size, "pending": new.pending}
        await tx.execute(
            insert_into(file_version),
            id=new_id(tx.now + number / 1e6),
            space=space,
            call=call,
            at=tx.now,
            **row,
        )
        expired = tx.now - MAX_DAYS * _DAY_SECONDS
        for place, old in enumerate(known):
            if not old["pending"] and (place >= MAX_VERSIONS - 1 or old["at"] < expired):
                await tx.execute(_DELETE, id=old["id"])


async def _settle(tx: Tx, space: str, call: str) -> None:
    """A patch has written all its files."""
    await tx.execute(_DELETE_NEW_FILES, space=space, call=call)
    await tx.execute(_SETTLE, space=space, call=call)


async def _drop_pending(tx: Tx, space: str, call: str) -> None:
    """A patch has written nothing, or all of it was taken back."""
    await tx.execute(_DELETE_OF_CALL, space=space, call=call)


async def _load(tx: Tx, space: str, path: str) -> list[FileVersionRow]:
    """Load the versions of a file, newest first."""
    return [
        FileVersionRow(**row)
        for row in (await tx.execute(_SELECT_OF_PATH, space=space, path=path)).all()
    ]


async def _load_all(tx: Tx, space: str) -> list[FileVersionRow]:
    """Load the versions of all files of a space."""
    return [
        FileVersionRow(**row) for row in (await tx.execute(_SELECT_OF_SPACE, space=space)).all()
    ]


async def _load_pending(tx: Tx, until: float) -> list[FileVersionRow]:
    """Load what unfinished patches of all spaces have kept, if they began before `until`."""
    return [FileVersionRow(**row) for row in (await tx.execute(_SELECT_PENDING, until=until)).all()]


async def _load_ids(tx: Tx, sha256: str) -> list[str]:
    """Load the ids of all versions, of any space, with this content."""
    return [row["id"] for row in (await tx.execute(_SELECT_IDS, sha256=sha256)).all()]


async def _delete_rows(tx: Tx, ids: Sequence[str]) -> None:
    for id in ids:
        await tx.execute(_DELETE, id=id)


async def _delete_old(tx: Tx) -> int:
    """Delete versions of all spaces that have expired; returns how many."""
    return (await tx.execute(_DELETE_OLD, before=tx.now - MAX_DAYS * _DAY_SECONDS)).rowcount


class FileVersions(Repository):
    """Former contents of files that tools changed: the newest 20 of a file, for 30 days.

    Idempotent.
    """

    keep = write(_keep)
    settle = write(_settle)
    drop_pending = write(_drop_pending)
    load = read(_load)
    load_all = read(_load_all)
    load_pending = read(_load_pending)
    load_ids_of = read(_load_ids)
    delete = write(_delete_rows)
    delete_old = write(_delete_old)
