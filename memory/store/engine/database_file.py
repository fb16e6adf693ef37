"""Whether the database file that is in use still stands at its path."""

import os
from pathlib import Path

REMEDY = "stop mnema, put the file back or restore a backup, then start again"
OUT_OF_REACH = (
    "cannot be reached while mnema uses it ({why}): give the account that runs mnema access to its folder again"
)


class DatabaseFile:
    """The SQLite file and its log as they were when they were opened, by device and inode.

    SQLite goes on with a file that was removed or replaced: what it commits then is gone with the process. A look
    costs two `stat` calls, some 3 µs.
    """

    def __init__(self, path: Path) -> None:
        self._opened = [(name, _device_and_inode(name)) for name in (str(path), f"{path}-wal")]

    def trouble(self) -> str:
        """What is wrong, in a sentence with what to do; "" as long as both files are those that were opened."""
        for name, opened in self._opened:
            try:
                now = _device_and_inode(name)
            except OSError as err:  # its folder is closed to us, or its disk answers with errors
                return f"{name} {OUT_OF_REACH.format(why=err.strerror)}"
            if now != opened and opened is not None:
                what = "was removed" if now is None else "was replaced by another file"
                return f"{name} {what} while mnema uses it: {REMEDY}"
        return ""


def _device_and_inode(name: str) -> tuple[int, int] | None:
    try:
        found = os.stat(name)
    except (FileNotFoundError, NotADirectoryError):  # the latter where its folder is a file now
        return None
    return found.st_dev, found.st_ino
