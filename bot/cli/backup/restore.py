"""Restores a backup: unpacked and checked next to the home, then swapped in completely or not at
all.
"""

import asyncio
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bot.cli.backup.archive import (
    BLOBS_NAME,
    CONFIG_NAME,
    DATABASE_NAME,
    WORKSPACE_NAME,
    BackupManifest,
    InvalidBackup,
    unpack,
)
from bot.cli.backup.config import (
    UnreadableConfig,
    keep_database_url,
    keep_file_only,
    restore_secrets,
    restrict_access,
)
from bot.cli.backup.create import copy_postgres
from bot.config import restore_journal as journal
from bot.config.home import ConfigFileTooLarge, HomeFolder, NotRegularFile, read_regular_file
from bot.errors import MnemaError
from bot.runtime.store_access import (
    find_postgres_url,
    import_scale_module,
    lock_home,
    resume_restore,
)
from memory.failpoints import hit
from memory.store.engine.sqlite_connection import copy_database
from memory.store.errors import StoreError
from memory.store.maintenance.replaced_rights import ReplacedRights
from memory.store.restore import StoreContents, examine_store, prepare_restored, read_rights
from memory.workspace.atomic_write import write_atomic


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedBackup:
    """A valid backup and its contents."""

    manifest: BackupManifest
    contents: StoreContents
    #: Number of workspace files.
    files: int
    #: Number of blobs.
    attachments: int
    #: Bytes of all members.
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreResult:
    """What a restore did."""

    verified: VerifiedBackup
    #: Where the old state is.
    kept: tuple[Path, ...]
    #: Names of secrets that neither backup nor home have.
    missing: tuple[str, ...]
    #: Roles, links and config.json entries that were revoked since the backup and not given back.
    withheld: tuple[str, ...]
    #: The old store could not be read, so revoked rights are unknown.
    unreadable: bool
    #: Requests to forget since the backup was made.
    forgotten: int
    #: The store is in PostgreSQL.
    shared: bool = False


def verify_backup(file: Path, passphrase: str = "") -> VerifiedBackup:
    """Check a backup completely, without a home.

    Raises:
        InvalidBackup, OSError: it is damaged, or cannot be read.
    """
    with tempfile.TemporaryDirectory(prefix="mnema-verify-") as folder, _named_file(file):
        into = Path(folder)
        manifest = unpack(
            file, into, lambda name: name if name == DATABASE_NAME else None, passphrase
        )
        return _summarize(manifest, _examine_database(into / DATABASE_NAME))


def restore_backup(
    home: HomeFolder, file: Path, passphrase: str = "", *, by_page: bool = False
) -> RestoreResult:
    """Replace the content of the home by the backup; a kill leaves either the old or the new state.

    Args:
        by_page: keep the home's own values of what only config.json may hold.

    Raises:
        HomeLocked: a bot runs on the home.
        InvalidBackup, MnemaError, OSError: nothing was changed.
    """
    home.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    with lock_home(home), _named_file(file):
        _check_database_location(home)
        url = find_postgres_url(home)
        if url:
            asyncio.run(_postgres_move().refuse_if_in_use(url))
        _remove_leftovers(home.root)
        stamp = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
        with _create_staging_folder(home.root, stamp) as staging:
            done = _prepare(home, file, staging, url, passphrase, by_page=by_page)
            hit("restore.verified")
            if not url:
                journal.commit_restore(home.root, stamp)
        if url:
            _replace_database(home.root, url, stamp)
        resume_restore(home.root)
        return replace(done, kept=_kept_paths(home.root, stamp), shared=bool(url))


def _prepare(
    home: HomeFolder, file: Path, staging: Path, url: str, passphrase: str, *, by_page: bool
) -> RestoreResult:
    """Unpack the backup into the staging folder and adapt it to this home.

    Args:
        url: of the PostgreSQL store, "" for SQLite.
    """
    new = HomeFolder(root=staging)
    for folder in (new.data, new.workspace, new.blobs):
        folder.mkdir(mode=0o700)
    database = staging / journal.DATABASE_NAME if url else new.db

    def target(member: str) -> str:
        if member == DATABASE_NAME:
            return str(database.relative_to(staging))
        return f"data/{member}" if member.startswith(f"{BLOBS_NAME}/") else member

    manifest = unpack(file, staging, target, passphrase)
    hit("restore.extracted")
    verified = _summarize(manifest, _examine_database(database))
    rights, unreadable = _current_rights(home, manifest, url)
    origin = f"{manifest.made.isoformat()} {manifest.version}"
    try:
        withheld = asyncio.run(prepare_restored(database, rights, origin))
    except StoreError as err:
        raise InvalidBackup(f"its database cannot be opened: {err}") from err
    restrict = unreadable or bool(rights and rights.lived)
    missing, people = _adapt_config(home, new, manifest, restrict=restrict, by_page=by_page)
    _sync_all(staging)
    return RestoreResult(
        verified=verified,
        kept=(),
        missing=missing,
        withheld=(*withheld, *people),
        unreadable=unreadable,
        forgotten=rights.forgotten if rights else 0,
    )


def _examine_database(database: Path) -> StoreContents:
    try:
        return asyncio.run(examine_store(database))
    except StoreError as err:
        raise InvalidBackup(f"its database is not sound: {err}") from err


def _summarize(manifest: BackupManifest, contents: StoreContents) -> VerifiedBackup:
    names = [member.name for member in manifest.members]
    return VerifiedBackup(
        manifest=manifest,
        contents=contents,
        files=sum(name.startswith(f"{WORKSPACE_NAME}/") for name in names),
        attachments=sum(name.startswith(f"{BLOBS_NAME}/") for name in names),
        size=sum(member.size for member in manifest.members),
    )


def _current_rights(
    home: HomeFolder, manifest: BackupManifest, url: str
) -> tuple[ReplacedRights | None, bool]:
    """Read the rights in the current store, None if there is none; and whether the store cannot be
    read.
    """
    if not url and not home.db.exists():
        return None, False
    with tempfile.TemporaryDirectory(prefix=journal.STAGING_PREFIX, dir=home.root) as folder:
        copy = Path(folder) / home.db.name
        if url:
            kept = _save_current_database(home, url)
            if kept is None:
                return None, False
            shutil.copy(kept, copy)
            return asyncio.run(read_rights(copy, manifest.made.timestamp())), False
        try:
            copy_database(home.db, copy)
            return asyncio.run(read_rights(copy, manifest.made.timestamp())), False
        except (StoreError, sqlite3.Error):
            return None, True


def _adapt_config(
    home: HomeFolder, new: HomeFolder, manifest: BackupManifest, *, restrict: bool, by_page: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Adapt the backup's config.json to this home; returns missing secrets and removed people."""
    if not new.config.exists():
        return (), ()
    try:
        text, own = read_regular_file(new.config).decode(), _read_text(home.config)
        text, missing = restore_secrets(text, manifest.left_out, own)
        text, people = restrict_access(text, own) if restrict and own else (text, ())
        text = keep_file_only(text, own) if by_page else text
        text, missing = (
            keep_database_url(text, own),
            tuple(name for name in missing if name != "database_url"),
        )
    except (UnreadableConfig, UnicodeDecodeError) as err:
        raise InvalidBackup(f"its {CONFIG_NAME} is not valid: {err}") from err
    write_atomic(new.config, text.encode(), 0o600)
    new.config.chmod(0o600)
    return missing, people


def _read_text(path: Path) -> str:
    try:
        return read_regular_file(path).decode()
    except (FileNotFoundError, NotRegularFile, ConfigFileTooLarge, UnicodeDecodeError):
        return ""


def _check_database_location(home: HomeFolder) -> None:
    """Refuse a home on several disks: the new state is put in place by renames."""
    device = home.root.stat().st_dev
    for path in (home.data, home.workspace):
        if path.exists() and (path.is_mount() or path.lstat().st_dev != device):
            raise MnemaError(
                f"{path} is a disk of its own; restore into a home on one disk, and move it then."
            )


def _remove_leftovers(root: Path) -> None:
    """Remove the staging folders of interrupted restores; the caller holds the home's lock."""
    for folder in root.glob(f"{journal.STAGING_PREFIX}*"):
        shutil.rmtree(folder)


@contextmanager
def _create_staging_folder(root: Path, stamp: str) -> Iterator[Path]:
    """Create the staging folder; it is removed if the body fails."""
    folder = journal.staging_folder(root, stamp)
    folder.mkdir(mode=0o700)
    with ExitStack() as undo:
        undo.callback(shutil.rmtree, folder, ignore_errors=True)
        undo.callback(journal.remove_kept_copy, root)
        yield folder
        undo.pop_all()


def _kept_paths(root: Path, stamp: str) -> tuple[Path, ...]:
    """List the old state; removes an old `data` that held only the lock file."""
    for path in root.glob(f"data.{journal.KEPT_SUFFIX}.{stamp}*"):
        if os.listdir(path) == ["lock"]:
            (path / "lock").unlink()
            path.rmdir()
    return tuple(sorted(root.glob(f"*.{journal.KEPT_SUFFIX}.{stamp}*")))


@contextmanager
def _named_file(file: Path) -> Iterator[None]:
    """Name the file in errors about the backup."""
    try:
        yield
    except InvalidBackup as err:
        raise InvalidBackup(f"{file}: {err}. Nothing was changed.") from err


def _sync_all(root: Path) -> None:
    """Sync every folder and file below to disk."""
    for folder, _, names in os.walk(root):
        for path in (*(os.path.join(folder, name) for name in names), folder):
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


# A restore into PostgreSQL: the old content is kept as a file, and replaced in one transaction.


def _save_current_database(home: HomeFolder, url: str) -> Path | None:
    """Copy the current database to a SQLite file in `data`; returns None if it has no tables.

    Raises:
        MnemaError, StoreError: it cannot be copied, so it must not be replaced.
    """
    path = home.data / journal.KEPT_DATABASE
    journal.remove_kept_copy(home.root)  # of an interrupted restore
    if not asyncio.run(_postgres_move().has_tables(url)):
        return None
    copy_postgres(url, path)
    return path


def _replace_database(root: Path, url: str, stamp: str) -> None:
    """Replace the database, then swap in the files; a kill leaves either the old or the new state.

    Raises:
        StoreError, MnemaError, OSError: the old state stays. If the outcome of the commit is
            unknown, the next command asks the database.
    """
    try:
        with journal.await_database_commit(root, stamp) as mark:
            new = journal.staging_folder(root, stamp) / journal.DATABASE_NAME
            asyncio.run(_postgres_move().replace_store(new, url, mark))
            hit("restore.recorded")
    finally:
        resume_restore(root)


def _postgres_move() -> Any:
    return import_scale_module("memory.store.postgres.move")
