"""Creates a backup: store, settings without secrets, workspace and all attachments in one file."""

import asyncio
import gzip
import hashlib
import os
import shutil
import sqlite3
import stat
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from bot.cli.backup.archive import (
    BLOBS_NAME,
    CHUNK_BYTES,
    CONFIG_NAME,
    DATABASE_NAME,
    MANIFEST_NAME,
    WORKSPACE_NAME,
    BackupManifest,
    BackupMember,
)
from bot.cli.backup.config import UnreadableConfig, strip_secrets
from bot.config.extras import program_version
from bot.config.file import ConfigFile
from bot.config.home import ConfigFileTooLarge, HomeFolder, NotRegularFile, read_regular_file
from bot.config.keys import known_secrets
from bot.config.schema import Config
from bot.console.operations.backup_encryption import encrypt
from bot.errors import ConfigError, MnemaError
from bot.runtime.store_access import find_postgres_url, import_scale_module
from bot.telemetry.log import MIN_SECRET_CHARS
from memory.failpoints import hit
from memory.store.engine.sqlite_connection import copy_database
from memory.store.maintenance.snapshots import redact_secrets
from memory.workspace.atomic_write import fsync_path
from memory.workspace.blobs import is_blob_name
from memory.workspace.safe_path import TEMPORARY

PARTIAL_SUFFIX = ".half"
_MAX_SPOOLED_BYTES = 16 * 2**20
_READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


Progress = Callable[[int, int], None]  # (done, expected): bytes; what is expected is an estimate


def create_backup(
    home: HomeFolder,
    file: Path,
    *,
    force: bool = False,
    passphrase: str = "",
    progress: Progress = lambda done, expected: None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> BackupManifest:
    """Write a backup; needs no lock, so that a bot may run on the home meanwhile.

    Args:
        file: is created completely, or not at all.
        force: replace an existing file.
        passphrase: encrypts the backup, which then holds the secrets of config.json too; "" for a
            plain one.
        progress: called after each file.

    Raises:
        MnemaError: the backup cannot be made; the text says why, and nothing of it is left.
    """
    _check_target(home, file, force=force)
    try:
        if file.parent.resolve() == home.backups.resolve():
            _remove_leftovers(home.backups)
        with _create_scratch_folder(file) as scratch:
            made = now()
            schema = copy_store_to_file(home, scratch / DATABASE_NAME)
            hit("backup.snapshot")
            manifest = _write_backup(home, scratch, made, schema, passphrase, progress)
            _check_target(home, file, force=force)
            os.replace(scratch / "archive", file)
            fsync_path(file.parent)
            return manifest
    except OSError as err:
        raise MnemaError(
            f"No backup was made: {err.filename or file}: {err.strerror or err}."
        ) from err


def _check_target(home: HomeFolder, file: Path, *, force: bool) -> None:
    if not file.parent.is_dir():
        raise MnemaError(f"There is no folder {file.parent}; make it, or name another file.")
    if file.is_dir():
        raise MnemaError(f"{file} is a folder; a backup is one file.")
    if file.exists() and not force:
        raise MnemaError(f"{file} exists already; --force replaces it, or name another file.")
    if file.parent.resolve().is_relative_to(home.workspace.resolve()):
        raise MnemaError(
            f"{file} lies in the workspace, where tools read it; name a file outside "
            f"{home.workspace}."
        )


@contextmanager
def _create_scratch_folder(file: Path) -> Iterator[Path]:
    """Create a folder next to the file for incomplete files; removes what a killed process left in
    it.
    """
    import fcntl  # not on every system

    folder = file.with_name(f".{file.name}{PARTIAL_SUFFIX}")
    folder.mkdir(mode=0o700, exist_ok=True)
    with ExitStack() as held:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        held.callback(os.close, handle)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as err:
            raise MnemaError(f"Another process is writing a backup to {file}.") from err
        held.callback(shutil.rmtree, folder, ignore_errors=True)
        for leftover in folder.iterdir():
            leftover.unlink()
        yield folder


def _remove_leftovers(folder: Path) -> None:
    """Remove the scratch folders of killed processes; each of the page's backups has a name of its
    own.
    """
    for scratch in folder.glob(f".*{PARTIAL_SUFFIX}"):
        with (
            suppress(MnemaError),
            _create_scratch_folder(folder / scratch.name[1 : -len(PARTIAL_SUFFIX)]),
        ):
            pass  # removed at its end, unless another process writes a backup there


def copy_store_to_file(home: HomeFolder, target: Path) -> str:
    """Copy the store to a SQLite file, without secrets that people typed and without the channels'
    notes.

    Returns:
        The schema revision of its tables.

    Raises:
        MnemaError, StoreError: there is no store, or it cannot be copied.
        ConfigError: config.json is broken and may name a database.
    """
    config, url = _load_effective_config(home), find_postgres_url(home)
    if not url and not home.db.exists():
        raise MnemaError(f"There is no database in {home.data} yet; there is nothing to back up.")
    try:
        if url:
            copy_postgres(url, target)
        else:
            copy_database(home.db, target)
        return redact_secrets(
            target, {secret for secret in known_secrets(config) if len(secret) >= MIN_SECRET_CHARS}
        )
    except sqlite3.Error as err:
        raise MnemaError(
            f"No backup was made: {home.db} cannot be copied to {target.parent.parent}: {err}."
        ) from err


def copy_postgres(url: str, target: Path) -> None:
    """Copy a PostgreSQL store, as of one moment, to a SQLite file; every row is read back and
    compared.

    Raises:
        MnemaError, StoreError: it could not be copied; there is no file.
    """
    moved = asyncio.run(import_scale_module("memory.store.postgres.move").copy_out(url, target))
    if not moved.equal:
        target.unlink(missing_ok=True)
        wrong = ", ".join(table.source.table for table in moved.tables if not table.equal)
        raise MnemaError(f"The copy is not what the database holds (in {wrong}); nothing was done.")


def _load_effective_config(home: HomeFolder) -> Config:
    """Load the settings, else the last good copy, else the defaults; changes nothing on disk."""
    file = ConfigFile(home.config)
    try:
        return file.check()
    except ConfigError:
        with suppress(ConfigError):
            file.load()
        return file.current


def _write_backup(
    home: HomeFolder,
    scratch: Path,
    made: datetime,
    schema: str,
    passphrase: str,
    progress: Progress,
) -> BackupManifest:
    """Write the archive into the scratch folder and sync it to disk.

    The store is copied first, then the files. An attachment is stored before the row that names it,
    so the later copy of the attachments has every one that the earlier copy of the store names.
    Memory files and the daily log are written before their rows too. A file that is newer than the
    store is what a crash between the two leaves, and is reconciled like that; a row newer than its
    file would look like a line that a person has deleted.
    """
    with (scratch / "archive").open("wb") as raw:
        os.fchmod(raw.fileno(), 0o600)
        with (
            encrypt(raw, passphrase) as target,
            gzip.GzipFile(filename="", mode="wb", fileobj=target) as packed,
            tarfile.open(fileobj=packed, mode="w|", format=tarfile.PAX_FORMAT) as tar,
        ):
            expected = _expected_size(home, scratch)
            archive = _ArchiveWriter(
                tar=tar, scratch=scratch, on_bytes=lambda done: progress(done, expected)
            )
            archive.add(DATABASE_NAME, scratch / DATABASE_NAME)
            left_out = _add_config(archive, home, made, keep_secrets=bool(passphrase))
            for name, path in _home_files(home):
                archive.add(name, path)
            manifest = BackupManifest(
                made=made,
                schema=schema,
                version=program_version(),
                left_out=left_out,
                members=tuple(archive.members),
            )
            archive.put(MANIFEST_NAME, manifest.dump(), made)
        raw.flush()
        os.fsync(raw.fileno())
    return manifest


@dataclass(slots=True, kw_only=True)
class _ArchiveWriter:
    """The tar that is being written, and its members so far."""

    tar: tarfile.TarFile
    scratch: Path
    #: Called with the number of bytes added so far.
    on_bytes: Callable[[int], None]
    members: list[BackupMember] = field(default_factory=list)
    done: int = 0

    def add(self, name: str, path: Path) -> None:
        """Add a file as it is now; skips it if it has gone or is not a regular file."""
        try:
            handle = os.open(path, _READ_FLAGS)
        except FileNotFoundError:
            return
        with os.fdopen(handle, "rb") as source:
            status = os.fstat(source.fileno())
            if not stat.S_ISREG(status.st_mode):
                return
            # The length is only known after copying: another process may be writing the file.
            with tempfile.SpooledTemporaryFile(_MAX_SPOOLED_BYTES, dir=str(self.scratch)) as copy:
                shutil.copyfileobj(source, copy, CHUNK_BYTES)
                self._put(
                    name, copy, mode=stat.S_IMODE(status.st_mode) & 0o777, mtime=status.st_mtime
                )

    def put(self, name: str, content: bytes, made: datetime) -> None:
        """Add a member with these bytes."""
        with tempfile.SpooledTemporaryFile(_MAX_SPOOLED_BYTES, dir=str(self.scratch)) as copy:
            copy.write(content)
            self._put(name, copy, mode=0o600, mtime=made.timestamp())

    def _put(
        self, name: str, content: "tempfile.SpooledTemporaryFile[bytes]", *, mode: int, mtime: float
    ) -> None:
        header = tarfile.TarInfo(name)
        header.size, header.mode, header.mtime = content.tell(), mode, mtime
        content.seek(0)
        digest = hashlib.sha256()
        while piece := content.read(CHUNK_BYTES):
            digest.update(piece)
        content.seek(0)
        self.tar.addfile(header, content)
        self.members.append(BackupMember(name=name, size=header.size, sha256=digest.hexdigest()))
        self.done += header.size
        self.on_bytes(self.done)


def _expected_size(home: HomeFolder, scratch: Path) -> int:
    """Return the bytes of all files that are there now."""
    expected = (scratch / DATABASE_NAME).stat().st_size
    for _, path in _home_files(home):
        with suppress(FileNotFoundError):
            expected += path.lstat().st_size
    return expected


def _add_config(
    archive: _ArchiveWriter, home: HomeFolder, made: datetime, *, keep_secrets: bool
) -> tuple[str, ...]:
    """Add config.json, or its last good copy; returns the dotted names of the secrets that were
    left out of it.
    """
    why = ""
    for path in (home.config, home.config.with_name(f"{home.config.name}.last-good")):
        with suppress(FileNotFoundError):
            try:
                own = read_regular_file(path).decode()
                text, left_out = strip_secrets(own)
            except (
                NotRegularFile,
                ConfigFileTooLarge,
                UnreadableConfig,
                UnicodeDecodeError,
            ) as err:
                why = why or str(err)
                continue
            archive.put(CONFIG_NAME, (own if keep_secrets else text).encode(), made)
            return () if keep_secrets else left_out
    if why:
        print(
            f"mnema: {CONFIG_NAME} is not in the backup: {why}; mnema config check says more.",
            file=sys.stderr,
        )
    return ()


def _home_files(home: HomeFolder) -> Iterator[tuple[str, Path]]:
    """Yield every file of the workspace and every attachment, with its name in the backup."""
    yield from _walk_files(home.workspace, WORKSPACE_NAME)
    for name, path in _walk_files(home.blobs, BLOBS_NAME):
        if is_blob_name(path.name):
            yield name, path


def _walk_files(root: Path, name: str) -> Iterator[tuple[str, Path]]:
    """Yield every regular file below a folder, in order, with its name in the backup; no temporary
    files.
    """
    try:
        entries = sorted(os.scandir(root), key=lambda entry: entry.name)
    except FileNotFoundError:
        return
    for entry in entries:
        path, below = root / entry.name, f"{name}/{entry.name}"
        if entry.is_dir(follow_symlinks=False):
            yield from _walk_files(path, below)
        elif entry.is_file(follow_symlinks=False) and not entry.name.endswith(TEMPORARY):
            yield below, path
