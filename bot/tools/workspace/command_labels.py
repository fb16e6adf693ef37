"""Labels what commands leave behind: the names that they made, and the files that they changed."""

import asyncio
import os
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from memory.store.longterm.file_labels import FileLabels
from memory.workspace.safe_path import PathRefused, split_path

# With more files and folders, or more that a command changed, all in the folders that it could write to stays labelled.
MAX_SCANNED, MAX_LABELLED = 20_000, 500
OWNER_SPACE = ""

# By path below the space: inode, time of change and size of a file, whatever a command sets its other times to; the
# inode of a folder.
Snapshot = Mapping[str, tuple[int, ...]]


class CommandLabels:
    """Labels the folders that a command may write to while it runs, and afterwards only what it wrote there.

    After a kill of this process the folders stay labelled: what the command did is not known then.
    """

    def __init__(self, folder: Path, labels: FileLabels) -> None:
        """folder: of the owner's space."""
        self._folder = folder
        self._labels = labels
        self._running = Counter[str]()
        #: Labels of folders that this process has set; others stay.
        self._ours: set[str] = set()
        self._lock = asyncio.Lock()

    @asynccontextmanager
    async def labelling(self, writable: Sequence[str]) -> AsyncIterator[None]:
        """Label what a command writes that runs in the body. writable: folders of the space."""
        folders = [f"{name}/" for name in writable]
        before = await self._begin(writable, folders)
        try:
            yield
        finally:
            await self._end(writable, folders, before)

    async def _begin(self, writable: Sequence[str], folders: Sequence[str]) -> Snapshot | None:
        async with self._lock:
            labelled = await self._labels.load(OWNER_SPACE)
            # Before the start: its names can be listed while it runs, and it may end with the bot.
            await self._labels.label_names(OWNER_SPACE, folders)
            self._ours.update(set(folders) - labelled.names)
            self._running.update(folders)
            return await asyncio.to_thread(scan_folders, self._folder, writable)

    async def _end(self, writable: Sequence[str], folders: Sequence[str], before: Snapshot | None) -> None:
        async with self._lock:
            self._running.subtract(folders)
            ours = self._ours.intersection(folders)
            self._ours -= ours  # they stay labelled if the changes cannot be stored
            after = await asyncio.to_thread(scan_folders, self._folder, writable)
            if before is None or after is None:
                return
            made, changed = compare_snapshots(before, after)
            if len(made) + len(changed) > MAX_LABELLED:
                return
            await self._labels.label_names(OWNER_SPACE, made)
            await self._labels.label_contents(OWNER_SPACE, changed)
            self._ours |= ours
            idle = [folder for folder in ours if not self._running[folder]]
            await self._labels.remove(OWNER_SPACE, idle)
            self._ours.difference_update(idle)


def scan_folders(space: Path, folders: Sequence[str]) -> Snapshot | None:
    """Look at all files below these folders that a tool can read; None if there are too many. Blocks."""
    found: dict[str, tuple[int, ...]] = {}
    try:
        for name in folders:
            for below, names, files, fd in os.fwalk(space / name):
                path = os.path.relpath(below, space)
                names[:] = [one for one in names if _is_listed(f"{path}/{one}")]
                for one in names:
                    found[f"{path}/{one}"] = (os.stat(one, dir_fd=fd, follow_symlinks=False).st_ino,)
                for one in filter(lambda one: _is_listed(f"{path}/{one}"), files):
                    status = os.stat(one, dir_fd=fd, follow_symlinks=False)
                    found[f"{path}/{one}"] = (status.st_ino, status.st_ctime_ns, status.st_size)
                if len(found) > MAX_SCANNED:
                    return None
    except (OSError, RecursionError):  # it changes under our eyes, or is too deep to walk
        return None
    return found


def _is_listed(path: str) -> bool:
    try:
        split_path(path)
    except PathRefused:
        return False
    return True


def compare_snapshots(before: Snapshot, after: Snapshot) -> tuple[list[str], list[str]]:
    """Return the new names, without what is below a new folder, and the changed files of old names. Pure."""
    made, changed = list[str](), list[str]()
    for path, state in sorted(after.items(), key=lambda item: item[0].split("/")):
        if made and path.startswith(f"{made[-1]}/"):
            continue
        known = before.get(path)
        is_new = known is None or len(known) != len(state) or (len(state) == 1 and known != state)
        if is_new:
            made.append(path)
        elif known != state:
            changed.append(path)
    return made, changed
