"""Where one bot lives on disk: its paths, how they are made, and the lock that keeps a second one out."""

import fcntl
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import memory
from bot.errors import HomeLocked
from memory.workspace.files import write_atomic

TEMPLATES = Path(memory.__file__).parent / "templates"
LIVE_FILES = ("SOUL.md", "MEMORY.md")
_TRIES, _PAUSE = 4, 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class HomeFolder:
    """One folder with config.json, workspace/ and data/."""

    root: Path

    @property
    def config(self) -> Path:
        """config.json."""
        return self.root / "config.json"

    @property
    def workspace(self) -> Path:
        """The files that people read and edit."""
        return self.root / "workspace"

    @property
    def data(self) -> Path:
        """What only the program reads, but for the web token."""
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
        """What recall finds by, a file per space; made again from the files and the store where it is missing."""
        return self.data / "index"

    @property
    def log(self) -> Path:
        """The program's own log."""
        return self.data / "log" / "mnema.log"

    @property
    def web_token(self) -> Path:
        """The key to the page and the API on this machine."""
        return self.data / "web_token"

    @property
    def soul_copy(self) -> Path:
        """The newest good text of SOUL.md, for a start at which the file cannot be read."""
        return self.data / "SOUL.md.last-good"

    @property
    def lock_file(self) -> Path:
        """Locked while an instance runs; holds its process id."""
        return self.data / "lock"

    def ensure(self) -> None:
        """Create missing folders and live files, readable by this account only.

        Raises:
            OSError: a folder or file cannot be made.
        """
        for folder in (self.root, self.workspace, self.data, self.blobs, self.log.parent):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in LIVE_FILES:
            if not os.path.lexists(self.workspace / name):
                write_atomic(self.workspace / name, (TEMPLATES / name).read_bytes())

    def lock(self) -> "HomeLock":
        """Lock this home for one instance. It must not hold a half-done restore: see `store_access.lock_home`.

        Raises:
            HomeLocked: another instance has it.
            OSError: the lock file cannot be created.
        """
        while True:
            handle = os.open(self.lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            if not _try_lock(handle):
                holder = _read_holder(handle)
                os.close(handle)
                raise HomeLocked(f"Another mnema (process {holder}) is running on {self.root}; stop it first.")
            if _is_same_file(handle, self.lock_file):
                break
            os.close(handle)  # a restore has replaced the folder since it was opened
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        return HomeLock(handle)

    def address(self) -> str:
        """Where the `run` that holds this home answers, "" when none does."""
        if not self.running():
            return ""
        _, _, url = self.lock_file.read_text(encoding="utf-8").partition("\n")
        return url.strip()

    def running(self) -> int:
        """Process id of the instance that holds this home, 0 for none. Takes no lock that lasts."""
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
    """A home that is held; a context manager, also freed by the end of the process however it comes."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def release(self) -> None:
        """Give the home back; a second call does nothing."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def tell(self, url: str) -> None:
        """Say in the lock's file where this instance answers."""
        os.pwrite(self._handle, f"{os.getpid()}\n{url}\n".encode(), 0)

    def __enter__(self) -> "HomeLock":
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def _try_lock(handle: int) -> bool:
    """Lock it; `running` of another process may hold it for a moment, so a refusal counts when it stands."""
    for _ in range(_TRIES):
        with suppress(BlockingIOError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        time.sleep(_PAUSE)
    return False


def _is_same_file(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def _read_holder(handle: int) -> int:
    """The process id written in the lock file, -1 while its holder is about to write it."""
    written = os.pread(handle, 20, 0).split(b"\n")[0]
    return int(written) if written.isdigit() else -1


def resolve_home(wanted: Path | None) -> HomeFolder:
    """The home asked for, else the current folder if it has a config.json, else ~/.mnema."""
    if wanted is not None:
        return HomeFolder(root=wanted.expanduser().absolute())
    here = Path.cwd()
    return HomeFolder(root=here if (here / "config.json").exists() else Path.home() / ".mnema")
