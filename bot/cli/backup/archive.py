"""The format of a backup: a compressed tar with a manifest at its end; reading trusts nothing in
it.
"""

import gzip
import hashlib
import json
import os
import shutil
import tarfile
import zlib
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from bot.console.operations.backup_encryption import decrypt
from bot.errors import MnemaError
from memory.workspace.blobs import is_blob_name

BACKUP_FORMAT = 1
DATABASE_NAME, CONFIG_NAME, MANIFEST_NAME = "record.db", "config.json", "manifest.json"
WORKSPACE_NAME, BLOBS_NAME = "workspace", "blobs"
MAX_MANIFEST_BYTES = 64 * 2**20
MAX_HEADER_BYTES = 2**20  # of a member's name and other headers
MIN_FREE_BYTES = 200_000_000  # that must stay free on the target disk
CHUNK_BYTES = 2**20
_READ_ERRORS = (
    tarfile.TarError,
    EOFError,
    zlib.error,
    gzip.BadGzipFile,
    UnicodeError,
    OverflowError,
)


class InvalidBackup(MnemaError):
    """The file is no backup, is damaged, or holds unexpected members."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupMember:
    """One file in a backup."""

    name: str
    #: In bytes.
    size: int
    #: In hex.
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupManifest:
    """The list of contents of a backup."""

    #: UTC.
    made: datetime
    #: Revision of its tables.
    schema: str
    #: Version of the program that made it.
    version: str
    #: Dotted names of the secrets that were removed from its config.json.
    left_out: tuple[str, ...]
    members: tuple[BackupMember, ...]

    def dump(self) -> bytes:
        """Encode as JSON."""
        entry = asdict(self) | {"format": BACKUP_FORMAT, "made": self.made.isoformat()}
        return json.dumps(entry, indent=1).encode()


def load_manifest(text: bytes) -> BackupManifest:
    """Decode a manifest.

    Raises:
        InvalidBackup: it is no manifest, or of another format.
    """
    try:
        entry = json.loads(text)
        if entry["format"] != BACKUP_FORMAT:
            raise InvalidBackup(
                f"the backup has format {entry['format']!r}; this version of mnema reads format "
                f"{BACKUP_FORMAT}"
            )
        return BackupManifest(
            made=datetime.fromisoformat(entry["made"]),
            schema=str(entry["schema"]),
            version=str(entry["version"]),
            left_out=tuple(str(name) for name in entry["left_out"]),
            members=tuple(BackupMember(**member) for member in entry["members"]),
        )
    except (ValueError, KeyError, TypeError, RecursionError) as err:
        raise InvalidBackup(f"its {MANIFEST_NAME} is no manifest of mnema") from err


def unpack(
    file: Path, folder: Path, target: Callable[[str], str | None], passphrase: str = ""
) -> BackupManifest:
    """Read a whole backup, check every member against the manifest, and write the selected ones.

    Args:
        folder: a new folder that no other process writes to.
        target: path of a member below `folder`; None: only check it.
        passphrase: of an encrypted backup.

    Raises:
        EncryptionError: it is encrypted, and this is not its passphrase.
        InvalidBackup: what was written so far must not be used.
        OSError: the file cannot be read, or the disk is full.
    """
    reader = _ArchiveReader(folder=folder, target=target)
    try:
        with (
            file.open("rb") as raw,
            decrypt(raw, passphrase) as opened,
            gzip.GzipFile(fileobj=opened) as content,
        ):
            with tarfile.open(fileobj=content, mode="r|", tarinfo=_BoundedTarInfo) as tar:
                for header in tar:
                    reader.read(tar, header)
            while content.read(CHUNK_BYTES):  # to the end, where gzip's checksum is
                pass
    except _READ_ERRORS as err:
        raise InvalidBackup(f"it is damaged or no backup of mnema ({err})") from err
    return reader.check_manifest()


class _BoundedTarInfo(tarfile.TarInfo):
    """Refuses huge headers, which tarfile would read into memory."""

    def _proc_member(self, tar: tarfile.TarFile) -> Any:
        if self.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) and self.size > MAX_HEADER_BYTES:
            raise tarfile.ReadError("a header is too long")
        return super()._proc_member(tar)  # type: ignore[misc]


def _is_member_name(name: str) -> bool:
    """Tell whether a backup may hold a member of this name: no way out, in a known place."""
    first, *others = parts = name.split("/")
    if any(part in ("", ".", "..") or "\0" in part for part in parts):
        return False
    if first == WORKSPACE_NAME:
        return bool(others)
    if first == BLOBS_NAME:
        return len(others) == 1 and is_blob_name(others[0])
    return name in (DATABASE_NAME, CONFIG_NAME)


@dataclass(slots=True, kw_only=True)
class _ArchiveReader:
    """Reads members one by one, and the manifest at the end."""

    folder: Path
    target: Callable[[str], str | None]
    found: dict[str, BackupMember] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    manifest: BackupManifest | None = None

    def read(self, tar: tarfile.TarFile, header: tarfile.TarInfo) -> None:
        name = header.name
        if self.manifest is not None:
            raise InvalidBackup(f"{name!r} comes after the manifest")
        if header.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) or header.issparse():
            raise InvalidBackup(
                f"{name!r} is a link, a device or something else that no backup holds"
            )
        content = tar.extractfile(header)
        assert content is not None
        if name == MANIFEST_NAME:
            if header.size > MAX_MANIFEST_BYTES:
                raise InvalidBackup("its manifest is too long")
            self.manifest = load_manifest(content.read())
            return
        self._check_name(name)
        self.found[name] = BackupMember(
            name=name, size=header.size, sha256=self._extract(content, header)
        )

    def _extract(self, content: IO[bytes], header: tarfile.TarInfo) -> str:
        """Write the content to its target, if it has one, and sync it; returns its SHA-256."""
        digest, path = hashlib.sha256(), self.target(header.name)
        with ExitStack() as stack:
            file = (
                stack.enter_context(self._create_file(header, path)) if path is not None else None
            )
            while piece := content.read(CHUNK_BYTES):
                digest.update(piece)
                if file:
                    file.write(piece)
            if file:
                file.flush()
                os.utime(file.fileno(), (header.mtime, header.mtime))
                os.fsync(file.fileno())
        return digest.hexdigest()

    def _create_file(self, header: tarfile.TarInfo, target: str) -> IO[bytes]:
        if shutil.disk_usage(self.folder).free < header.size + MIN_FREE_BYTES:
            raise InvalidBackup(
                f"there is no room for {header.name} ({header.size:,} bytes): {MIN_FREE_BYTES:,} "
                "must stay free"
            )
        path = self.folder / target
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        file = os.fdopen(os.open(path, flags, 0o600), "wb")
        if header.name.startswith(f"{WORKSPACE_NAME}/"):
            os.fchmod(file.fileno(), (header.mode & 0o700) | 0o600)
        return file

    def _check_name(self, name: str) -> None:
        """Refuse a name that no backup has, and a second member of the same name, as a file or as a
        folder.
        """
        if not _is_member_name(name):
            raise InvalidBackup(f"{name!r} is no name that a backup holds")
        parts = name.split("/")
        parents = {"/".join(parts[:end]) for end in range(1, len(parts))}
        if name in self.found or name in self.folders or not parents.isdisjoint(self.found):
            raise InvalidBackup(f"{name!r} is in it twice")
        self.folders |= parents

    def check_manifest(self) -> BackupManifest:
        """Compare the manifest with the members."""
        if self.manifest is None:
            raise InvalidBackup(
                "it is cut short, or no backup of mnema: there is no manifest at its end"
            )
        if len(self.manifest.members) != len({member.name for member in self.manifest.members}):
            raise InvalidBackup("its manifest names a file twice")
        for member in self.manifest.members:
            if self.found.get(member.name) != member:
                raise InvalidBackup(f"{member.name!r} is not what its manifest says")
        if stray := self.found.keys() - {member.name for member in self.manifest.members}:
            raise InvalidBackup(f"its manifest does not name {min(stray)!r}")
        if DATABASE_NAME not in self.found:
            raise InvalidBackup("it holds no database")
        return self.manifest
