"""`mnema restore`: a backup is unpacked and checked beside the home, then takes its place whole or not at all."""

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

from bot.cli.backup import database as shared
from bot.cli.backup.archive import (
    BLOBS_NAME,
    CONFIG_NAME,
    DATABASE_NAME,
    WORKSPACE_NAME,
    BackupManifest,
    InvalidBackup,
    unpack,
)
from bot.cli.backup.config import UnreadableConfig, keep_database_url, restore_secrets, restrict_access
from bot.config import restore_journal as swap
from bot.config.home import ConfigFileTooLarge, HomeFolder, NotRegularFile, read_regular_file
from bot.errors import MnemaError
from bot.runtime.store_access import find_postgres_url, lock_home, resume_restore
from memory.failpoints import hit
from memory.store.engine.sqlite import copy_database
from memory.store.errors import StoreError
from memory.store.restore import ReplacedRights, StoreContents, examine_store, prepare_restored, read_rights
from memory.workspace.files import write_atomic


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedBackup:
    """A backup that is right, and what is in it."""

    manifest: BackupManifest
    contents: StoreContents
    #: Of the workspace.
    files: int
    #: Blobs.
    attachments: int
    #: Bytes of all.
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreResult:
    """What a restore did."""

    looked: VerifiedBackup
    #: Where the old state is.
    kept: tuple[Path, ...]
    #: Secrets that neither backup nor home have.
    missing: tuple[str, ...]
    #: Roles, links and people in config.json that were not given back.
    withheld: tuple[str, ...]
    #: The old record could not be read, so that nobody knows what was taken away since.
    unsure: bool
    #: Requests to forget since the backup was made.
    forgotten: int
    #: The store is in PostgreSQL.
    shared: bool = False


def verify_backup(file: Path) -> VerifiedBackup:
    """Check everything about a backup; no home is touched.

    Raises:
        InvalidBackup, OSError: what is wrong with it.
    """
    with tempfile.TemporaryDirectory(prefix="mnema-verify-") as folder, _named_file(file):
        into = Path(folder)
        manifest = unpack(file, into, lambda name: name if name == DATABASE_NAME else None)
        return _summarize(manifest, _examine_database(into / DATABASE_NAME))


def restore_backup(home: HomeFolder, file: Path) -> RestoreResult:
    """Put the backup in the place of what the home holds; a kill leaves the one or the other, whole.

    Raises:
        HomeLocked: a bot runs on the home.
        InvalidBackup, MnemaError, OSError: it was not done, and the old state is as it was.
    """
    home.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    with lock_home(home), _named_file(file):
        _check_database_location(home)
        url = find_postgres_url(home)
        if url:
            shared.check_nobody_connected(url)
        _remove_leftovers(home.root)
        stamp = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
        with _ready_folder(home.root, stamp) as ready:
            done = _prepare(home, file, ready, url)
            hit("restore.verified")
            if not url:
                swap.commit_restore(home.root, stamp)
        if url:
            shared.replace_database(home.root, url, stamp)
        resume_restore(home.root)
        return replace(done, kept=_kept_paths(home.root, stamp), shared=bool(url))


def _prepare(home: HomeFolder, file: Path, ready: Path, url: str) -> RestoreResult:
    """Everything the home will be, in a folder beside it, on the disk. url: of the store's database, "" for a file."""
    new = HomeFolder(root=ready)
    for folder in (new.data, new.workspace, new.blobs):
        folder.mkdir(mode=0o700)
    record = ready / swap.DATABASE_NAME if url else new.db
    manifest = unpack(
        file, ready, lambda name: str(record.relative_to(ready)) if name == DATABASE_NAME else _target_of_member(name)
    )
    hit("restore.extracted")
    looked = _summarize(manifest, _examine_database(record))
    before, unsure = _current_people(home, manifest, url)
    told = f"{manifest.made.isoformat()} {manifest.version}"
    try:
        withheld = asyncio.run(prepare_restored(record, before, told))
    except StoreError as err:
        raise InvalidBackup(f"its record cannot be opened: {err}") from err
    missing, people = _settle_config(home, new, manifest, lived=unsure or bool(before and before.lived))
    _sync_all(ready)
    return RestoreResult(
        looked=looked,
        kept=(),
        missing=missing,
        withheld=(*withheld, *people),
        unsure=unsure,
        forgotten=before.forgotten if before else 0,
    )


def _target_of_member(name: str) -> str:
    """Where a file of a backup goes in a home."""
    return f"data/{name}" if name.startswith(f"{BLOBS_NAME}/") else name


def _examine_database(record: Path) -> StoreContents:
    try:
        return asyncio.run(examine_store(record))
    except StoreError as err:
        raise InvalidBackup(f"its record is not sound: {err}") from err


def _summarize(manifest: BackupManifest, contents: StoreContents) -> VerifiedBackup:
    names = [member.name for member in manifest.members]
    return VerifiedBackup(
        manifest=manifest,
        contents=contents,
        files=sum(name.startswith(f"{WORKSPACE_NAME}/") for name in names),
        attachments=sum(name.startswith(f"{BLOBS_NAME}/") for name in names),
        size=sum(member.size for member in manifest.members),
    )


def _current_people(home: HomeFolder, manifest: BackupManifest, url: str) -> tuple[ReplacedRights | None, bool]:
    """What the store that stands here says of rights, None where there is none; and whether it cannot be read."""
    if url:
        return _current_people_in_postgres(home, manifest, url), False
    if not home.db.exists():
        return None, False
    with tempfile.TemporaryDirectory(prefix=swap.STAGING_PREFIX, dir=home.root) as folder:
        copy = Path(folder) / home.db.name
        try:
            copy_database(home.db, copy)
            return asyncio.run(read_rights(copy, manifest.made.timestamp())), False
        except (StoreError, sqlite3.Error):
            return None, True


def _current_people_in_postgres(home: HomeFolder, manifest: BackupManifest, url: str) -> ReplacedRights | None:
    """The same of one in PostgreSQL; its copy is kept, for the next restore cannot make another."""
    kept = shared.save_current_database(home, url)
    if kept is None:
        return None
    with tempfile.TemporaryDirectory(prefix=swap.STAGING_PREFIX, dir=home.root) as folder:
        copy = Path(folder) / home.db.name
        shutil.copy(kept, copy)
        return asyncio.run(read_rights(copy, manifest.made.timestamp()))


def _settle_config(
    home: HomeFolder, new: HomeFolder, manifest: BackupManifest, *, lived: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Give the backup's config.json the secrets that this home has; returns what is missing, and who was left out."""
    if not new.config.exists():
        return (), ()
    try:
        text, here = read_regular_file(new.config).decode(), _read_text(home.config)
        text, missing = restore_secrets(text, manifest.left_out, here)
        text, people = restrict_access(text, here) if lived and here else (text, ())
        text, missing = keep_database_url(text, here), tuple(name for name in missing if name != "database_url")
    except (UnreadableConfig, UnicodeDecodeError) as err:
        raise InvalidBackup(f"its {CONFIG_NAME} is not right: {err}") from err
    write_atomic(new.config, text.encode(), 0o600)
    new.config.chmod(0o600)
    return missing, people


def _read_text(path: Path) -> str:
    try:
        return read_regular_file(path).decode()
    except (FileNotFoundError, NotRegularFile, ConfigFileTooLarge, UnicodeDecodeError):
        return ""


def _check_database_location(home: HomeFolder) -> None:
    """What is put in place by a rename must lie on the home's own disk, the store too."""
    here = home.root.stat().st_dev
    for path in (home.data, home.workspace):
        if path.exists() and (path.is_mount() or path.lstat().st_dev != here):
            raise MnemaError(f"{path} is a disk of its own; restore into a home that is on one disk, and move it then.")


def _remove_leftovers(root: Path) -> None:
    """Take away what a restore that was cut before its end had made ready; nobody else is in the home."""
    for left in root.glob(f"{swap.STAGING_PREFIX}*"):
        shutil.rmtree(left)


@contextmanager
def _ready_folder(root: Path, stamp: str) -> Iterator[Path]:
    """A new folder beside the home's own, gone again when what is done in it fails."""
    folder = swap.staging_folder(root, stamp)
    folder.mkdir(mode=0o700)
    with ExitStack() as undo:
        undo.callback(shutil.rmtree, folder, ignore_errors=True)
        undo.callback(swap.remove_kept_copy, root)
        yield folder
        undo.pop_all()


def _kept_paths(root: Path, stamp: str) -> tuple[Path, ...]:
    """Where the old state is; a folder that held nothing but our lock was none."""
    for path in root.glob(f"data.{swap.KEPT_SUFFIX}.{stamp}*"):
        if os.listdir(path) == ["lock"]:
            (path / "lock").unlink()
            path.rmdir()
    return tuple(sorted(root.glob(f"*.{swap.KEPT_SUFFIX}.{stamp}*")))


@contextmanager
def _named_file(file: Path) -> Iterator[None]:
    try:
        yield
    except InvalidBackup as err:
        raise InvalidBackup(f"{file}: {err}. Nothing was changed.") from err


def _sync_all(root: Path) -> None:
    """Every folder and file below, on the disk."""
    for folder, _, names in os.walk(root):
        for path in (*(os.path.join(folder, name) for name in names), folder):
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
