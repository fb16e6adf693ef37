"""`mnema backup`: the store, the settings without their secrets, the workspace and all attachments in one file."""

import fcntl
import gzip
import hashlib
import os
import shutil
import stat
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
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
from bot.cli.backup.database import copy_store_to_file
from bot.config.home import ConfigFileTooLarge, HomeFolder, NotRegularFile, read_regular_file
from bot.errors import MnemaError
from memory.failpoints import hit
from memory.workspace.blobs import is_blob_name
from memory.workspace.files import TEMPORARY, fsync_path

PARTIAL_SUFFIX = ".half"
_MAX_SPOOLED_BYTES = 16 * 2**20
_READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def create_backup(
    home: HomeFolder, file: Path, *, force: bool = False, now: Callable[[], datetime] = lambda: datetime.now(UTC)
) -> BackupManifest:
    """Write the backup; a bot may run on the home meanwhile, and is not stopped or slowed by a lock.

    Args:
        file: appears whole and on the disk, or not at all.
        force: an existing file is replaced.

    Raises:
        MnemaError: it cannot be made; the text says why, and nothing of it is left.
    """
    _check_target(home, file, force=force)
    try:
        with _create_scratch_folder(file) as scratch:
            made = now()
            schema = copy_store_to_file(home, scratch / DATABASE_NAME)
            hit("backup.snapshot")
            manifest = _write_backup(home, scratch, made, schema)
            _check_target(home, file, force=force)
            os.replace(scratch / "archive", file)
            fsync_path(file.parent)
            return manifest
    except OSError as err:
        raise MnemaError(f"No backup was made: {err.filename or file}: {err.strerror or err}.") from err


def _check_target(home: HomeFolder, file: Path, *, force: bool) -> None:
    if not file.parent.is_dir():
        raise MnemaError(f"There is no folder {file.parent}; make it, or name another file.")
    if file.is_dir():
        raise MnemaError(f"{file} is a folder; a backup is one file.")
    if file.exists() and not force:
        raise MnemaError(f"{file} exists already; --force replaces it, or name another file.")
    if file.parent.resolve().is_relative_to(home.workspace.resolve()):
        raise MnemaError(f"{file} lies in the workspace, where tools read it; name a file outside {home.workspace}.")


@contextmanager
def _create_scratch_folder(file: Path) -> Iterator[Path]:
    """A folder beside the file, for what is not yet whole; what a killed process left in it is taken away."""
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
        for left in folder.iterdir():
            left.unlink()
        yield folder


def _write_backup(home: HomeFolder, scratch: Path, made: datetime, schema: str) -> BackupManifest:
    """The archive in the scratch folder, whole and on the disk.

    The store comes first, then the files. An attachment is stored before the row that names it, so that the later copy
    of the attachments has every one that the earlier copy of the store names. A memory file and the diary are written
    before their rows too: a file that is newer than the store is what a crash between the two leaves, and is put right
    by the same reconciling; a row that is newer than its file would be taken for a line that a person has deleted.
    """
    with (scratch / "archive").open("wb") as raw:
        os.fchmod(raw.fileno(), 0o600)
        with (
            gzip.GzipFile(filename="", mode="wb", fileobj=raw) as packed,
            tarfile.open(fileobj=packed, mode="w|", format=tarfile.PAX_FORMAT) as tar,
        ):
            archive = _ArchiveWriter(tar=tar, scratch=scratch)
            archive.add(DATABASE_NAME, scratch / DATABASE_NAME)
            left_out = _add_config(archive, home, made)
            for name, path in _home_files(home):
                archive.add(name, path)
            manifest = BackupManifest(
                made=made,
                schema=schema,
                version=metadata.version("mnema"),
                left_out=left_out,
                members=tuple(archive.members),
            )
            archive.put(MANIFEST_NAME, manifest.dump(), made)
        raw.flush()
        os.fsync(raw.fileno())
    return manifest


@dataclass(slots=True, kw_only=True)
class _ArchiveWriter:
    """The tar that is being written, and what is in it so far."""

    tar: tarfile.TarFile
    scratch: Path
    members: list[BackupMember] = field(default_factory=list)

    def add(self, name: str, path: Path) -> None:
        """A file as it is now; nothing where it is gone meanwhile or is no plain file."""
        try:
            handle = os.open(path, _READ_FLAGS)
        except FileNotFoundError:
            return
        with os.fdopen(handle, "rb") as source:
            status = os.fstat(source.fileno())
            if not stat.S_ISREG(status.st_mode):
                return
            with tempfile.SpooledTemporaryFile(_MAX_SPOOLED_BYTES, dir=str(self.scratch)) as held:
                shutil.copyfileobj(
                    source, held, CHUNK_BYTES
                )  # its length is known only then: somebody may be writing it
                self._put(name, held, mode=stat.S_IMODE(status.st_mode) & 0o777, mtime=status.st_mtime)

    def put(self, name: str, content: bytes, made: datetime) -> None:
        """A member made of these bytes."""
        with tempfile.SpooledTemporaryFile(_MAX_SPOOLED_BYTES, dir=str(self.scratch)) as held:
            held.write(content)
            self._put(name, held, mode=0o600, mtime=made.timestamp())

    def _put(self, name: str, content: "tempfile.SpooledTemporaryFile[bytes]", *, mode: int, mtime: float) -> None:
        header = tarfile.TarInfo(name)
        header.size, header.mode, header.mtime = content.tell(), mode, mtime
        content.seek(0)
        digest = hashlib.sha256()
        while piece := content.read(CHUNK_BYTES):
            digest.update(piece)
        content.seek(0)
        self.tar.addfile(header, content)
        self.members.append(BackupMember(name=name, size=header.size, sha256=digest.hexdigest()))


def _add_config(archive: _ArchiveWriter, home: HomeFolder, made: datetime) -> tuple[str, ...]:
    """config.json without its secrets, else its last good copy; returns the names of what was left out."""
    why = ""
    for path in (home.config, home.config.with_name(f"{home.config.name}.last-good")):
        with suppress(FileNotFoundError):
            try:
                text, left_out = strip_secrets(read_regular_file(path).decode())
            except (NotRegularFile, ConfigFileTooLarge, UnreadableConfig, UnicodeDecodeError) as err:
                why = why or str(err)
                continue
            archive.put(CONFIG_NAME, text.encode(), made)
            return left_out
    if why:
        print(f"mnema: {CONFIG_NAME} is not in the backup: {why}; mnema config check says more.", file=sys.stderr)
    return ()


def _home_files(home: HomeFolder) -> Iterator[tuple[str, Path]]:
    """Every file of the workspace and every attachment, with the names they have in a backup."""
    yield from _walk_files(home.workspace, WORKSPACE_NAME)
    for name, path in _walk_files(home.blobs, BLOBS_NAME):
        if is_blob_name(path.name):
            yield name, path


def _walk_files(root: Path, name: str) -> Iterator[tuple[str, Path]]:
    """Every plain file below a folder and the name it has in a backup, in order; links and half-written ones not."""
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
