"""Labels what commands leave behind: the names that they made, and the files that they changed."""

import asyncio
import os
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from memory.store.longterm.file_labels import FileLabels
from memory.workspace.safe_path import PathRefused, split_path

# With more files and folders, or more that a command changed, all in the folders that it could
# write to stays labelled.
MAX_SCANNED, MAX_LABELLED = 20_000, 500
OWNER_SPACE = ""

# By path below the space: inode, time of change and size of a file, whatever a command sets its
# other times to; the inode of a folder.
Snapshot = Mapping[str, tuple[int, ...]]


class CommandLabels:
    """Labels the folders that a command may write to while it runs, and afterwards only what it
    wrote there.

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
        self._running.update(folders)
        is_known = True  # until the command starts, it has written nothing
        try:
            before = await self._begin(writable, folders)
            is_known = False
            try:
                yield
            finally:
                is_known = await self._label_changes(writable, before)
        finally:
            self._running.subtract(folders)
            await self._end(folders, is_known)

    async def _begin(self, writable: Sequence[str], folders: Sequence[str]) -> Snapshot | None:
        async with self._lock:
            labelled = await self._labels.load(OWNER_SPACE, folders)
            self._ours.update(set(folders) - labelled.names)
            # Before the start: its names can be listed while it runs, and it may end with the bot.
            await self._labels.label_names(OWNER_SPACE, folders)
            return await asyncio.to_thread(scan_folders, self._folder, writable)

    async def _label_changes(self, writable: Sequence[str], before: Snapshot | None) -> bool:
        """Label what has changed; return False if that is not known, or too much."""
        after = await asyncio.to_thread(scan_folders, self._folder, writable)
        if before is None or after is None:
            return False
        made, changed = compare_snapshots(before, after)
        if len(made) + len(changed) > MAX_LABELLED:
            return False
        await self._labels.label_names(OWNER_SPACE, made)
        await self._labels.label_contents(OWNER_SPACE, changed)
        await self._remove_gone(writable, after)
        return True

    async def _remove_gone(self, scanned: Sequence[str], snapshot: Snapshot) -> None:
        """Remove old labels of paths in the scanned folders where nothing is any more."""
        old = await self._labels.load_old(OWNER_SPACE, scanned)
        unseen = [path for path in old if path not in snapshot and not path.endswith("/")]
        gone = await asyncio.to_thread(_find_missing, self._folder, unseen)
        await self._labels.remove_gone(OWNER_SPACE, gone)

    async def _end(self, folders: Sequence[str], is_known: bool) -> None:
        """Remove our labels of folders that no command uses, unless it is not known what this one
        wrote there.
        """
        async with self._lock:
            ours = self._ours.intersection(folders)
            self._ours -= ours  # those of folders of which too little is known stay for good
            if not is_known:
                return
            idle = [folder for folder in ours if not self._running[folder]]
            await self._labels.remove(OWNER_SPACE, idle)
            self._ours |= ours.difference(idle)


def _find_missing(space: Path, paths: Sequence[str]) -> list[str]:
    """Return those of these paths where nothing is. Blocks."""
    return [path for path in paths if not os.path.lexists(space / path)]


def scan_folders(space: Path, folders: Sequence[str]) -> Snapshot | None:
    """Look at all files below these folders that a tool can read; None if too many, or not all can
    be. Blocks.
    """
    snapshot: dict[str, tuple[int, ...]] = {}
    try:
        for folder in folders:
            for absolute, subfolders, files, descriptor in os.fwalk(space / folder, onerror=_raise):
                path = os.path.relpath(absolute, space)
                subfolders[:] = [name for name in subfolders if _is_listed(f"{path}/{name}")]
                for name in subfolders:
                    if status := _status(name, descriptor):
                        snapshot[f"{path}/{name}"] = (status.st_ino,)
                for name in files:
                    status = _status(name, descriptor) if _is_listed(f"{path}/{name}") else None
                    if status:
                        snapshot[f"{path}/{name}"] = (
                            status.st_ino,
                            status.st_ctime_ns,
                            status.st_size,
                        )
                if len(snapshot) > MAX_SCANNED:
                    return None
    # a folder is closed to us or was removed meanwhile, or is too deep to walk
    except (OSError, RecursionError):
        return None
    return snapshot


def _raise(err: OSError) -> None:
    raise err


def _status(name: str, folder_descriptor: int) -> os.stat_result | None:
    """Return what is known of an entry of a folder; None if it was removed meanwhile."""
    try:
        return os.stat(name, dir_fd=folder_descriptor, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _is_listed(path: str) -> bool:
    try:
        split_path(path)
    except PathRefused:
        return False
    return True


def compare_snapshots(before: Snapshot, after: Snapshot) -> tuple[list[str], list[str]]:
    """Return the new names, without what is below a new folder, and the changed files of old names.

    Pure.
    """
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
