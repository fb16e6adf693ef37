"""The last texts of config.json that were in force, so that a change can be taken back byte for
byte.
"""

import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bot.config.home import read_regular_file
from memory.workspace.atomic_write import write_atomic
from memory.workspace.safe_path import PathRefused

MAX_VERSIONS = 20
_NAME = re.compile(r"([0-9]{19})\.json", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigVersion:
    """A text of config.json that was in force."""

    id: str
    #: Seconds since 1970 at which it was first seen.
    at: float
    text: str


class ConfigVersions:
    """A folder that only its owner can read: texts may hold secrets.

    Args:
        now: nanoseconds since 1970.
    """

    def __init__(self, folder: Path, now: Callable[[], int] = time.time_ns) -> None:
        self._folder = folder
        self._now = now

    def record(self, text: str) -> None:
        """Store a text that is in force now unless the newest version is the same; the oldest ones
        go.

        A folder that cannot be written costs the history, not the change.
        """
        with suppress(OSError, PathRefused):
            ids = self._ids()
            if ids and self._read(ids[-1]) == text:
                return
            self._folder.mkdir(mode=0o700, exist_ok=True)
            number = max(self._now(), int(ids[-1]) + 1) if ids else self._now()
            write_atomic(self._path(f"{number:019d}"), text.encode(), 0o600)
            for old in self._ids()[:-MAX_VERSIONS]:
                self._path(old).unlink(missing_ok=True)

    def all(self) -> list[ConfigVersion]:
        """Return the versions that can be read, newest first."""
        found = [(id, self._read(id)) for id in reversed(self._ids())]
        return [
            ConfigVersion(id=id, at=int(id) / 1e9, text=text)
            for id, text in found
            if text is not None
        ]

    def find(self, id: str) -> ConfigVersion | None:
        """Return one version, None if it is not there (any more)."""
        return next((version for version in self.all() if version.id == id), None)

    def _ids(self) -> list[str]:
        try:
            names = [
                match[1] for path in self._folder.iterdir() if (match := _NAME.fullmatch(path.name))
            ]
        except OSError:
            return []
        return sorted(names)

    def _read(self, id: str) -> str | None:
        try:
            return read_regular_file(self._path(id)).decode()
        except (OSError, UnicodeDecodeError):
            return None

    def _path(self, id: str) -> Path:
        return self._folder / f"{id}.json"
