"""File permissions of a home: what the program makes there is for its own account alone."""

import os
import re
import shlex
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from bot.config.home import HomeFolder

OTHERS_MODE = 0o077  # the permission bits of everybody but the owner
MAX_ENTRIES = 200_000  # files and folders looked at in one pass, about two seconds of one core
_OUR_NAMES = re.compile(
    r"config\.json(\..+)?|(workspace|data)(\.before-restore\..+)?|\.config\.json\..+|\.restore[-.].+", re.DOTALL
)
_README = "README.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenEntry:
    """A file or folder of the home that other accounts may open."""

    path: Path
    mode: int

    @property
    def remedy(self) -> str:
        """The command that closes it."""
        return f"chmod {self.mode & ~OTHERS_MODE:o} {shlex.quote(str(self.path))}"


def close_folders(home: HomeFolder) -> None:
    """Close the home's own folders to other accounts, which closes everything below them at once."""
    for entry in _open_ones(_folders(home), home):
        _close(entry)


def close_entries(home: HomeFolder) -> list[OpenEntry]:
    """Close every file and folder that the program keeps in the home; returns what was open.

    To be called once config.json and the web token have been accepted: a secret that others could read until now is
    refused, not hidden. Blocks for a walk of the whole home.
    """
    return [entry for entry in find_open(home) if _close(entry)]


def find_open(home: HomeFolder) -> Iterator[OpenEntry]:
    """Files and folders of ours that others may open; links, devices and files with a second name are left out.

    The web token is left out too: it is refused where it is open.
    """
    return _open_ones(chain(_folders(home), islice(_below_root(home), MAX_ENTRIES)), home)


def _open_ones(paths: Iterator[Path], home: HomeFolder) -> Iterator[OpenEntry]:
    owners = _owners(home)
    for path in paths:
        with suppress(OSError):
            status = path.lstat()
            if status.st_mode & OTHERS_MODE and status.st_uid in owners and _is_closable(status):
                yield OpenEntry(path=path, mode=stat.S_IMODE(status.st_mode))


def _folders(home: HomeFolder) -> Iterator[Path]:
    """The folders at the top. A root that holds anything else (a checkout, a home directory) is not ours to close."""
    tops = (home.root, home.workspace, home.data) if _is_ours_alone(home.root) else (home.workspace, home.data)
    return (path for path in tops if path.is_dir() and not path.is_symlink())


def _below_root(home: HomeFolder) -> Iterator[Path]:
    left_out = {home.workspace, home.data, home.web_token}
    if not _is_ours_alone(home.root):
        left_out.add(home.workspace / _README)  # a checkout's own file
    for name in _listed(home.root):
        if _OUR_NAMES.fullmatch(name):
            path = home.root / name
            yield from (found for found in chain((path,), _below(path)) if found not in left_out)


def _below(folder: Path) -> Iterator[Path]:
    """Everything below a folder; nothing for a file, a link or what cannot be listed."""
    if not folder.is_symlink():
        for parent, folders, files in os.walk(folder):
            yield from (Path(parent, name) for name in (*folders, *files))


def find_linked(home: HomeFolder) -> Iterator[OpenEntry]:
    """Folders that somebody has put elsewhere by a link: named, and never changed through it."""
    for path in (home.workspace, home.data):
        with suppress(OSError):
            if path.is_symlink() and (mode := stat.S_IMODE(path.stat().st_mode)) & OTHERS_MODE:
                yield OpenEntry(path=path.resolve(), mode=mode)


def _listed(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _is_ours_alone(root: Path) -> bool:
    return all(_OUR_NAMES.fullmatch(name) for name in _listed(root))


def _is_closable(status: os.stat_result) -> bool:
    """A folder, or a file of one name: a second name may stand outside the home, where its mode is not ours."""
    return stat.S_ISDIR(status.st_mode) or (stat.S_ISREG(status.st_mode) and status.st_nlink == 1)


def _owners(home: HomeFolder) -> frozenset[int]:
    """Accounts whose files are ours: this process's, and the one that the home belongs to."""
    with suppress(OSError):
        return frozenset({os.geteuid(), home.root.stat().st_uid})
    return frozenset({os.geteuid()})


def _close(entry: OpenEntry) -> bool:
    """Take the others' bits away, unless something else stands at the path by now."""
    with suppress(OSError):
        if os.chmod in os.supports_follow_symlinks:
            os.chmod(entry.path, entry.mode & ~OTHERS_MODE, follow_symlinks=False)
            return True
        # An O_PATH descriptor follows no link, opens no FIFO, and closing it does not release SQLite's locks.
        handle = os.open(entry.path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            if _is_closable(os.fstat(handle)):
                os.chmod(f"/proc/self/fd/{handle}", entry.mode & ~OTHERS_MODE)
                return True
        finally:
            os.close(handle)
    return False
