"""The folder of one bot: paths, lock, permissions, and bounded reading of config files."""

import errno
import os
import re
import shlex
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from bot.errors import HomeLocked
from bot.texts import detect_machine_language
from memory.workspace.atomic_write import write_atomic
from memory.workspace.files import FILES_FOLDER, GUARDED_FOLDERS
from memory.workspace.templates import MEMORY_TEMPLATE, SOUL_TEMPLATES, is_soul_template

SOUL_FILE = "SOUL.md"
OTHERS_MODE = 0o077  # the permission bits of group and others
MAX_ENTRIES = 200_000  # files and folders checked in one pass, about two seconds of one core
MAX_CONFIG_BYTES = 1_000_000
_LOCK_ATTEMPTS, _LOCK_PAUSE_SECONDS = 4, 0.05
# What the program creates in the root of a home.
_OUR_NAMES = re.compile(
    r"backups|config\.json(\..+)?|(workspace|data)(\.before-restore\..+)?|\.config\.json\..+|\.restore[-.].+",
    re.DOTALL,
)
_README = "README.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class HomeFolder:
    """A folder with config.json, workspace/ and data/."""

    root: Path

    @property
    def config(self) -> Path:
        """The settings."""
        return self.root / "config.json"

    @property
    def workspace(self) -> Path:
        """The files that people read and edit."""
        return self.root / "workspace"

    @property
    def data(self) -> Path:
        """Files that only the program uses, except for the web token."""
        return self.root / "data"

    @property
    def db(self) -> Path:
        """The SQLite database."""
        return self.data / "mnema.db"

    @property
    def blobs(self) -> Path:
        """Attachments, each named by its SHA-256."""
        return self.data / "blobs"

    @property
    def index(self) -> Path:
        """The recall index, a file per space; rebuilt from the files and the store if it is
        missing.
        """
        return self.data / "index"

    @property
    def log(self) -> Path:
        """The program's own log."""
        return self.data / "log" / "mnema.log"

    @property
    def web_token(self) -> Path:
        """The token for the page and the API."""
        return self.data / "web_token"

    @property
    def login_page(self) -> Path:
        """Leads a browser on to the link that signs it in, while that link is open."""
        return self.data / "login.html"

    def web_sessions(self, port: int) -> Path:
        """The logins of browsers at a port of the page: hashes, of use with the token that is valid
        now.
        """
        return self.data / f"web_sessions.{port}.json"

    @property
    def backups(self) -> Path:
        """Backups that were made or uploaded in the page; not in `data`, which a restore
        replaces.
        """
        return self.root / "backups"

    @property
    def last_restore(self) -> Path:
        """What came of the last restore in the page."""
        return self.backups / "last-restore.json"

    @property
    def mcp_logins(self) -> Path:
        """Logins at MCP servers, a file for each."""
        return self.data / "mcp"

    @property
    def skills_state(self) -> Path:
        """Which skills are enabled, by their hash."""
        return self.data / "skills.json"

    @property
    def passkeys(self) -> Path:
        """Public keys of the owner's passkeys."""
        return self.data / "passkeys.json"

    @property
    def plugins_state(self) -> Path:
        """Which plug-ins are enabled, by their hash."""
        return self.data / "plugins.json"

    @property
    def soul_copy(self) -> Path:
        """The last readable SOUL.md, for a start at which the file cannot be read."""
        return self.data / "SOUL.md.last-good"

    @property
    def lock_file(self) -> Path:
        """Locked while a bot runs; holds its process id and URL."""
        return self.data / "lock"

    def ensure(self, language: str = "auto") -> None:
        """Create missing folders and live files, readable only by this account.

        Args:
            language: of SOUL.md, as configured: "auto" for the machine's.

        Raises:
            OSError: a folder or file cannot be created.
        """
        for folder in (self.root, self.workspace, self.data, self.blobs, self.log.parent):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in (*GUARDED_FOLDERS, FILES_FOLDER):
            if not os.path.lexists(self.workspace / name):
                with suppress(FileExistsError):  # another process starts on this home, too
                    (self.workspace / name).mkdir(mode=0o700)
        soul = SOUL_TEMPLATES[detect_machine_language(language)]
        for name, template in ((SOUL_FILE, soul), ("MEMORY.md", MEMORY_TEMPLATE)):
            if not os.path.lexists(self.workspace / name):
                write_atomic(self.workspace / name, template.read_bytes())

    def set_soul_language(self, language: str) -> None:
        """Replace SOUL.md by the template in that language, "zh" or "en", unless somebody has
        changed it.
        """
        path = self.workspace / SOUL_FILE
        with suppress(OSError):
            if not path.is_symlink() and is_soul_template(read_regular_file(path)):
                write_atomic(path, SOUL_TEMPLATES[language].read_bytes())

    def lock(self) -> "HomeLock":
        """Lock this home for one process; `store_access.lock_home` finishes an interrupted restore
        first.

        Raises:
            HomeLocked: another process has it.
            OSError: the lock file cannot be created.
        """
        while True:
            handle = os.open(self.lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            if not _try_lock(handle):
                holder = _read_holder(handle)
                os.close(handle)
                raise HomeLocked(
                    f"Another mnema (process {holder}) is running on {self.root}; stop it first."
                )
            if is_same_file(handle, self.lock_file):
                break
            os.close(handle)  # a restore has replaced the folder since the file was opened
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        return HomeLock(handle)

    def address(self) -> str:
        """Return the URL of the `mnema run` that holds this home, "" if there is none."""
        if not self.running():
            return ""
        _, _, url = self.lock_file.read_text(encoding="utf-8").partition("\n")
        return url.strip()

    def running(self) -> int:
        """Return the process id that holds this home, 0 for none; keeps no lock."""
        import fcntl  # not on every system

        try:
            handle = os.open(self.lock_file, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return 0
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return _read_holder(handle)
        else:
            return 0
        finally:
            os.close(handle)


class HomeLock:
    """A held lock, as a context manager; the end of the process releases it too, even by a kill."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def release(self) -> None:
        """Release the lock; a second call does nothing."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def tell(self, url: str) -> None:
        """Write the URL of this process into the lock file."""
        os.pwrite(self._handle, f"{os.getpid()}\n{url}\n".encode(), 0)

    def __enter__(self) -> "HomeLock":
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def _try_lock(handle: int) -> bool:
    """Try a few times: `running` in another process may hold the lock for a moment."""
    import fcntl  # not on every system

    for _ in range(_LOCK_ATTEMPTS):
        with suppress(BlockingIOError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        time.sleep(_LOCK_PAUSE_SECONDS)
    return False


def is_same_file(handle: int, path: Path) -> bool:
    """Whether the path still names the opened file."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def _read_holder(handle: int) -> int:
    """Read the process id from the lock file, -1 if its holder has not written it yet."""
    written = os.pread(handle, 20, 0).split(b"\n")[0]
    return int(written) if written.isdigit() else -1


def resolve_home(path: Path | None) -> HomeFolder:
    """Return the given home, else the current folder if it has a config.json, else ~/.mnema."""
    if path is not None:
        return HomeFolder(root=path.expanduser().absolute())
    current = Path.cwd()
    return HomeFolder(
        root=current if (current / "config.json").exists() else Path.home() / ".mnema"
    )


def program_for(home: HomeFolder) -> str:
    """Return what is typed before a command for this home: `mnema`, with --home where it needs
    that.
    """
    is_default = home.root == Path.home() / ".mnema" == resolve_home(None).root
    return "mnema" if is_default else f"mnema --home {shlex.quote(str(home.root))}"


# Permissions: what the program creates in a home is for its own account alone.


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenEntry:
    """A file or folder of the home that other accounts may open."""

    path: Path
    mode: int

    @property
    def remedy(self) -> str:
        """The command that removes the others' permissions."""
        return f"chmod {self.mode & ~OTHERS_MODE:o} {shlex.quote(str(self.path))}"


def close_folders(home: HomeFolder) -> None:
    """Close the home's folders to other accounts, and so everything below them."""
    for entry in _filter_open(_top_folders(home), home):
        _close(entry)


def close_entries(home: HomeFolder) -> list[OpenEntry]:
    """Close every file and folder of the program to other accounts; blocks until all of the home is
    visited.

    Call this after config.json and the web token were accepted: a secret that others could read is
    refused there, and must not be closed silently before.

    Returns:
        What was open.
    """
    return [entry for entry in find_open(home) if _close(entry)]


def find_open(home: HomeFolder) -> Iterator[OpenEntry]:
    """Yield the program's files and folders that others may open; no links, devices or hard-linked
    files.

    The web token is left out: a start refuses an open one.
    """
    return _filter_open(chain(_top_folders(home), islice(_below_root(home), MAX_ENTRIES)), home)


def _filter_open(paths: Iterator[Path], home: HomeFolder) -> Iterator[OpenEntry]:
    owners = _owners(home)
    for path in paths:
        with suppress(OSError):
            status = path.lstat()
            if status.st_mode & OTHERS_MODE and status.st_uid in owners and _is_closable(status):
                yield OpenEntry(path=path, mode=stat.S_IMODE(status.st_mode))


def _top_folders(home: HomeFolder) -> Iterator[Path]:
    """Yield workspace and data, and the root unless it holds other things, like a checkout."""
    tops = (
        (home.root, home.workspace, home.data)
        if _is_ours_alone(home.root)
        else (home.workspace, home.data)
    )
    return (path for path in tops if path.is_dir() and not path.is_symlink())


def _below_root(home: HomeFolder) -> Iterator[Path]:
    left_out = {home.workspace, home.data, home.web_token}
    if not _is_ours_alone(home.root):
        left_out.add(home.workspace / _README)  # part of a checkout
    for name in _list_names(home.root):
        if _OUR_NAMES.fullmatch(name):
            path = home.root / name
            yield from (found for found in chain((path,), _below(path)) if found not in left_out)


def _below(folder: Path) -> Iterator[Path]:
    """Yield everything below a folder; nothing for a file, a link or an unreadable folder."""
    if not folder.is_symlink():
        for parent, folders, files in os.walk(folder):
            yield from (Path(parent, name) for name in (*folders, *files))


def find_linked(home: HomeFolder) -> Iterator[OpenEntry]:
    """Yield targets of a linked workspace or data that others may open; they are reported, never
    changed.
    """
    for path in (home.workspace, home.data):
        with suppress(OSError):
            if path.is_symlink() and (mode := stat.S_IMODE(path.stat().st_mode)) & OTHERS_MODE:
                yield OpenEntry(path=path.resolve(), mode=mode)


def _list_names(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _is_ours_alone(root: Path) -> bool:
    return all(_OUR_NAMES.fullmatch(name) for name in _list_names(root))


def _is_closable(status: os.stat_result) -> bool:
    """Whether it is a folder, or a file without hard links, which may lie outside the home."""
    return stat.S_ISDIR(status.st_mode) or (stat.S_ISREG(status.st_mode) and status.st_nlink == 1)


def _owners(home: HomeFolder) -> frozenset[int]:
    """Return the accounts whose files are the program's: this process's and the owner of the
    home.
    """
    with suppress(OSError):
        return frozenset({os.geteuid(), home.root.stat().st_uid})
    return frozenset({os.geteuid()})


def _close(entry: OpenEntry) -> bool:
    """Remove the others' permission bits, unless the path was replaced meanwhile; returns whether
    it did.
    """
    with suppress(OSError):
        if os.chmod in os.supports_follow_symlinks:
            os.chmod(entry.path, entry.mode & ~OTHERS_MODE, follow_symlinks=False)
            return True
        # An O_PATH descriptor follows no link and opens no FIFO, and closing it does not release
        # SQLite's locks.
        handle = os.open(entry.path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            if _is_closable(os.fstat(handle)):
                os.chmod(f"/proc/self/fd/{handle}", entry.mode & ~OTHERS_MODE)
                return True
        finally:
            os.close(handle)
    return False


class NotRegularFile(OSError):
    """The path is a device, a pipe, a socket or a folder."""


class ConfigFileTooLarge(OSError):
    """The file is larger than 1 MB."""


def read_regular_file(path: Path) -> bytes:
    """Read a whole configuration file; follows links, because configuration is often mounted as
    one.

    Raises:
        NotRegularFile, ConfigFileTooLarge: it has no end, or more than MAX_CONFIG_BYTES.
        OSError: it cannot be opened or read.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise NotRegularFile(errno.EINVAL, "It is not a plain file", str(path))
        pieces, size = [], 0
        while piece := os.read(handle, MAX_CONFIG_BYTES + 1 - size):
            pieces.append(piece)
            size += len(piece)
            if size > MAX_CONFIG_BYTES:
                raise ConfigFileTooLarge(errno.EFBIG, "It is larger than 1 MB", str(path))
        return b"".join(pieces)
    finally:
        os.close(handle)
