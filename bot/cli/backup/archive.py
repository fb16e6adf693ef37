"""What a backup file is: a compressed tar with a manifest at its end, read without believing anything it says."""

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

from bot.errors import MnemaError
from memory.workspace.blobs import is_blob_name

BACKUP_FORMAT = 1
DATABASE_NAME, CONFIG_NAME, MANIFEST_NAME = "record.db", "config.json", "manifest.json"
WORKSPACE_NAME, BLOBS_NAME = "workspace", "blobs"
MAX_MANIFEST_BYTES = 64 * 2**20
MAX_HEADER_BYTES = 2**20  # bytes of a member's name and the like, before its content
MIN_FREE_BYTES = 200_000_000  # bytes that must stay free on the disk that something is unpacked to
CHUNK_BYTES = 2**20
_READ_ERRORS = (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile, UnicodeError, OverflowError)


class InvalidBackup(MnemaError):
    """The file is no backup, is damaged, or holds what no backup holds; nothing was changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupMember:
    """One file in a backup. size in bytes; sha256 in hex."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupManifest:
    """What a backup says it holds."""

    #: UTC.
    made: datetime
    #: Of its record.
    schema: str
    #: Of the program that made it.
    version: str
    #: The dotted names of the secrets that its config.json does not have.
    left_out: tuple[str, ...]
    members: tuple[BackupMember, ...]

    def dump(self) -> bytes:
        """As JSON."""
        held = asdict(self) | {"format": BACKUP_FORMAT, "made": self.made.isoformat()}
        return json.dumps(held, indent=1).encode()


def load_manifest(text: bytes) -> BackupManifest:
    """The inverse of `dump`.

    Raises:
        InvalidBackup: it is none, or of a later format.
    """
    try:
        held = json.loads(text)
        if held["format"] != BACKUP_FORMAT:
            raise InvalidBackup(
                f"the backup has format {held['format']!r}; this version of mnema reads format {BACKUP_FORMAT}"
            )
        return BackupManifest(
            made=datetime.fromisoformat(held["made"]),
            schema=str(held["schema"]),
            version=str(held["version"]),
            left_out=tuple(str(name) for name in held["left_out"]),
            members=tuple(BackupMember(**one) for one in held["members"]),
        )
    except (ValueError, KeyError, TypeError, RecursionError) as err:
        raise InvalidBackup(f"its {MANIFEST_NAME} is no manifest of mnema") from err


def unpack(file: Path, into: Path, place: Callable[[str], str | None]) -> BackupManifest:
    """Read all of a backup and check every byte against its manifest; what `place` wants is written below `into`.

    Args:
        into: a new folder that nobody else writes to.
        place: where a member goes, as a path below `into`; None: it is only checked.

    Raises:
        InvalidBackup: as its words say; what was written by then is not to be used.
        OSError: the file cannot be read, or the disk is full.
    """
    reading = _ArchiveReader(into=into, place=place)
    try:
        with gzip.open(file) as plain:
            _read_members(plain, reading)
            while plain.read(CHUNK_BYTES):  # to the end, where the checksum is
                pass
    except _READ_ERRORS as err:
        raise InvalidBackup(f"it is damaged or no backup of mnema ({err})") from err
    return reading.checked()


def _read_members(plain: gzip.GzipFile, reading: "_ArchiveReader") -> None:
    with tarfile.open(fileobj=plain, mode="r|", tarinfo=_BoundedTarInfo) as tar:
        for header in tar:
            reading.take(tar, header)


class _BoundedTarInfo(tarfile.TarInfo):
    """A header that is not read into memory when it claims to be huge."""

    def _proc_member(self, tar: tarfile.TarFile) -> Any:
        if self.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) and self.size > MAX_HEADER_BYTES:
            raise tarfile.ReadError("a header is too long")
        return super()._proc_member(tar)  # type: ignore[misc]


@dataclass(slots=True, kw_only=True)
class _ArchiveReader:
    """Half-way through a backup: what was found so far, and the manifest once it was."""

    into: Path
    place: Callable[[str], str | None]
    found: dict[str, BackupMember] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    manifest: BackupManifest | None = None

    def take(self, tar: tarfile.TarFile, header: tarfile.TarInfo) -> None:
        name = header.name
        if self.manifest is not None:
            raise InvalidBackup(f"{name!r} stands behind the manifest")
        if header.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) or header.issparse():
            raise InvalidBackup(f"{name!r} is a link, a device or something else that no backup holds")
        content = tar.extractfile(header)
        assert content is not None
        if name == MANIFEST_NAME:
            if header.size > MAX_MANIFEST_BYTES:
                raise InvalidBackup("its manifest is too long")
            self.manifest = load_manifest(content.read())
            return
        self._refuse(name)
        self.found[name] = BackupMember(name=name, size=header.size, sha256=self._read(content, header))

    def _read(self, content: IO[bytes], header: tarfile.TarInfo) -> str:
        """The content's SHA-256; what is wanted is on the disk by then."""
        digest, wanted = hashlib.sha256(), self.place(header.name)
        with ExitStack() as held:
            target = held.enter_context(self._opened(header, wanted)) if wanted is not None else None
            while piece := content.read(CHUNK_BYTES):
                digest.update(piece)
                if target:
                    target.write(piece)
            if target:
                target.flush()
                os.utime(target.fileno(), (header.mtime, header.mtime))
                os.fsync(target.fileno())
        return digest.hexdigest()

    def _opened(self, header: tarfile.TarInfo, wanted: str) -> IO[bytes]:
        if shutil.disk_usage(self.into).free < header.size + MIN_FREE_BYTES:
            raise InvalidBackup(
                f"there is no room for {header.name} ({header.size:,} bytes): {MIN_FREE_BYTES:,} must stay free"
            )
        path = self.into / wanted
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        target = os.fdopen(os.open(path, flags, 0o600), "wb")
        if header.name.startswith(f"{WORKSPACE_NAME}/"):
            os.fchmod(target.fileno(), (header.mode & 0o700) | 0o600)
        return target

    def _refuse(self, name: str) -> None:
        """Refuse a name that no backup holds, and one that is there already, as itself or as a folder."""
        first, *others = parts = name.split("/")
        plain = all(part not in ("", ".", "..") and "\0" not in part for part in parts)
        ours = (
            name in (DATABASE_NAME, CONFIG_NAME)
            or (first == WORKSPACE_NAME and bool(others))
            or (first == BLOBS_NAME and len(others) == 1 and is_blob_name(others[0]))
        )
        if not plain or not ours:
            raise InvalidBackup(f"{name!r} is no name that a backup holds")
        above = {"/".join(parts[:end]) for end in range(1, len(parts))}
        if name in self.found or name in self.folders or not above.isdisjoint(self.found):
            raise InvalidBackup(f"{name!r} is in it twice")
        self.folders |= above

    def checked(self) -> BackupManifest:
        if self.manifest is None:
            raise InvalidBackup("it is cut short, or no backup of mnema: there is no manifest at its end")
        if len(self.manifest.members) != len({member.name for member in self.manifest.members}):
            raise InvalidBackup("its manifest names a file twice")
        for member in self.manifest.members:
            if self.found.get(member.name) != member:
                raise InvalidBackup(f"{member.name!r} is not what its manifest says")
        if stray := self.found.keys() - {member.name for member in self.manifest.members}:
            raise InvalidBackup(f"its manifest does not name {min(stray)!r}")
        if DATABASE_NAME not in self.found:
            raise InvalidBackup("it holds no record")
        return self.manifest
