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
from bot.cli.backup import journal as swap
from bot.cli.backup.archive import BLOBS, CONFIG, RECORD, WORKSPACE, BadBackup, Manifest, unpack
from bot.cli.backup.config import NotRight, narrowed, refilled, rehoused
from bot.cli.backup.database import address_of
from bot.config.home import Home
from bot.config.regular_file import NotPlain, TooLarge, read_plain
from bot.errors import MnemaError
from memory.failpoints import fp
from memory.store.engine.sqlite import copy_database
from memory.store.errors import StoreError
from memory.store.restore import Contents, Standing, examine, settle, standing
from memory.workspace.files import write_atomic


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """A backup that is right, and what is in it. files: of the workspace; attachments: blobs; size: bytes of all."""

    manifest: Manifest
    contents: Contents
    files: int
    attachments: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What a restore did. kept: where the old state is; missing: secrets that neither backup nor home have.

    withheld: roles, links and people in config.json that were not given back; unsure: the old record could not be read,
    so that nobody knows what was taken away since; forgotten: requests to forget since the backup was made. shared: the
    record is in PostgreSQL.
    """

    looked: Looked
    kept: tuple[Path, ...]
    missing: tuple[str, ...]
    withheld: tuple[str, ...]
    unsure: bool
    forgotten: int
    shared: bool = False


def verify(file: Path) -> Looked:
    """Check everything about a backup; no home is touched.

    Raises:
        BadBackup, OSError: what is wrong with it.
    """
    with tempfile.TemporaryDirectory(prefix="mnema-verify-") as folder, _named(file):
        into = Path(folder)
        manifest = unpack(file, into, lambda name: name if name == RECORD else None)
        return _looked(manifest, _examined(into / RECORD))


def restore(home: Home, file: Path) -> Restored:
    """Put the backup in the place of what the home holds; a kill leaves the one or the other, whole.

    Raises:
        Busy: a bot runs on the home.
        BadBackup, MnemaError, OSError: it was not done, and the old state is as it was.
    """
    home.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    with home.lock(), _named(file):
        _refuse_elsewhere(home)
        url = address_of(home)
        if url:
            shared.refuse_at_work(url)
        _clear(home.root)
        stamp = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
        with _ready(home.root, stamp) as ready:
            done = _prepared(home, file, ready, url)
            fp("restore.verified")
            if not url:
                swap.commit(home.root, stamp)
        if url:
            shared.load(home.root, url, stamp)
        swap.finish(home.root)
        return replace(done, kept=_kept(home.root, stamp), shared=bool(url))


def _prepared(home: Home, file: Path, ready: Path, url: str) -> Restored:
    """Everything the home will be, in a folder beside it, on the disk. url: of the record's database, "" for a file."""
    new = Home(root=ready)
    for folder in (new.data, new.workspace, new.blobs):
        folder.mkdir(mode=0o700)
    record = ready / swap.RECORD if url else new.db
    manifest = unpack(file, ready, lambda name: str(record.relative_to(ready)) if name == RECORD else _place(name))
    fp("restore.extracted")
    looked = _looked(manifest, _examined(record))
    before, unsure = _standing(home, manifest, url)
    told = f"{manifest.made.isoformat()} {manifest.version}"
    try:
        withheld = asyncio.run(settle(record, before, told))
    except StoreError as err:
        raise BadBackup(f"its record cannot be opened: {err}") from err
    missing, people = _settle_config(home, new, manifest, lived=unsure or bool(before and before.lived))
    _sync_all(ready)
    return Restored(
        looked=looked,
        kept=(),
        missing=missing,
        withheld=(*withheld, *people),
        unsure=unsure,
        forgotten=before.forgotten if before else 0,
    )


def _place(name: str) -> str:
    """Where a file of a backup goes in a home."""
    return f"data/{name}" if name.startswith(f"{BLOBS}/") else name


def _examined(record: Path) -> Contents:
    try:
        return asyncio.run(examine(record))
    except StoreError as err:
        raise BadBackup(f"its record is not sound: {err}") from err


def _looked(manifest: Manifest, contents: Contents) -> Looked:
    names = [member.name for member in manifest.members]
    return Looked(
        manifest=manifest,
        contents=contents,
        files=sum(name.startswith(f"{WORKSPACE}/") for name in names),
        attachments=sum(name.startswith(f"{BLOBS}/") for name in names),
        size=sum(member.size for member in manifest.members),
    )


def _standing(home: Home, manifest: Manifest, url: str) -> tuple[Standing | None, bool]:
    """What the record that stands here says of rights, None where there is none; and whether it cannot be read."""
    if url:
        return _standing_shared(home, manifest, url), False
    if not home.db.exists():
        return None, False
    with tempfile.TemporaryDirectory(prefix=swap.STAGED, dir=home.root) as folder:
        copy = Path(folder) / home.db.name
        try:
            copy_database(home.db, copy)
            return asyncio.run(standing(copy, manifest.made.timestamp())), False
        except (StoreError, sqlite3.Error):
            return None, True


def _standing_shared(home: Home, manifest: Manifest, url: str) -> Standing | None:
    """The same of one in PostgreSQL; its copy is kept, for the next restore cannot make another."""
    kept = shared.keep(home, url)
    if kept is None:
        return None
    with tempfile.TemporaryDirectory(prefix=swap.STAGED, dir=home.root) as folder:
        copy = Path(folder) / home.db.name
        shutil.copy(kept, copy)
        return asyncio.run(standing(copy, manifest.made.timestamp()))


def _settle_config(
    home: Home, new: Home, manifest: Manifest, *, lived: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Give the backup's config.json the secrets that this home has; returns what is missing, and who was left out."""
    if not new.config.exists():
        return (), ()
    try:
        text, here = read_plain(new.config).decode(), _text(home.config)
        text, missing = refilled(text, manifest.left_out, here)
        text, people = narrowed(text, here) if lived and here else (text, ())
        text, missing = rehoused(text, here), tuple(name for name in missing if name != "database_url")
    except (NotRight, UnicodeDecodeError) as err:
        raise BadBackup(f"its {CONFIG} is not right: {err}") from err
    write_atomic(new.config, text.encode(), 0o600)
    new.config.chmod(0o600)
    return missing, people


def _text(path: Path) -> str:
    try:
        return read_plain(path).decode()
    except (FileNotFoundError, NotPlain, TooLarge, UnicodeDecodeError):
        return ""


def _refuse_elsewhere(home: Home) -> None:
    """What is put in place by a rename must lie on the home's own disk, the record too."""
    here = home.root.stat().st_dev
    for path in (home.data, home.workspace):
        if path.exists() and (path.is_mount() or path.lstat().st_dev != here):
            raise MnemaError(f"{path} is a disk of its own; restore into a home that is on one disk, and move it then.")


def _clear(root: Path) -> None:
    """Take away what a restore that was cut before its end had made ready; nobody else is in the home."""
    for left in root.glob(f"{swap.STAGED}*"):
        shutil.rmtree(left)


@contextmanager
def _ready(root: Path, stamp: str) -> Iterator[Path]:
    """A new folder beside the home's own, gone again when what is done in it fails."""
    folder = swap.staged(root, stamp)
    folder.mkdir(mode=0o700)
    with ExitStack() as undo:
        undo.callback(shutil.rmtree, folder, ignore_errors=True)
        undo.callback(swap.drop_copy, root)
        yield folder
        undo.pop_all()


def _kept(root: Path, stamp: str) -> tuple[Path, ...]:
    """Where the old state is; a folder that held nothing but our lock was none."""
    for path in root.glob(f"data.{swap.KEPT}.{stamp}*"):
        if os.listdir(path) == ["lock"]:
            (path / "lock").unlink()
            path.rmdir()
    return tuple(sorted(root.glob(f"*.{swap.KEPT}.{stamp}*")))


@contextmanager
def _named(file: Path) -> Iterator[None]:
    try:
        yield
    except BadBackup as err:
        raise BadBackup(f"{file}: {err}. Nothing was changed.") from err


def _sync_all(root: Path) -> None:
    """Every folder and file below, on the disk."""
    for folder, _, names in os.walk(root):
        for path in (*(os.path.join(folder, name) for name in names), folder):
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
