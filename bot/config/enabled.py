"""What the owner enabled by its hash, in a file of the data folder: nothing in a workspace can
change it.
"""

from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, TypeVar

from memory.workspace.atomic_write import write_atomic

Row = TypeVar("Row")


class EnabledFile(Generic[Row]):
    """Rows by name, read again when the file has changed; an unreadable file enables nothing.

    Args:
        kind: a dataclass.
    """

    def __init__(self, path: Path, kind: type[Row]) -> None:
        self.path = path
        self._kind = kind
        self._stamp: object = None
        self._rows: Mapping[str, Row] = {}

    def load(self) -> Mapping[str, Row]:
        """Return the rows by name."""
        try:
            status = self.path.stat()
        except OSError:
            self._stamp, self._rows = None, {}
            return self._rows
        stamp = (status.st_mtime_ns, status.st_ino, status.st_size)
        if stamp != self._stamp:
            self._rows = {}
            with suppress(OSError, ValueError):
                self._rows = self._adapter.validate_json(self.path.read_bytes())
            self._stamp = stamp
        return self._rows

    def set(self, name: str, row: Row | None) -> None:
        """Enable something, or None to turn it off."""
        rows = {known: one for known, one in self.load().items() if known != name}
        if row is not None:
            rows[name] = row
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomic(self.path, self._adapter.dump_json(dict(sorted(rows.items())), indent=1))

    @cached_property
    def _adapter(self) -> Any:
        from pydantic import TypeAdapter

        return TypeAdapter(dict[str, self._kind])  # type: ignore[name-defined]
