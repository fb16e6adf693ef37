"""Holds the number of processes of a sandbox where the usual limit does not: for root."""

import os
import secrets
from contextlib import suppress
from pathlib import Path

from channels.phrases import Phrase

_ROOTS = (Path("/sys/fs/cgroup/pids"), Path("/sys/fs/cgroup"))  # cgroup v1, v2
_PREFIX = "mnema-exec-"


_NO_GROUP = Phrase(
    "root is not bound by limits on processes, and no cgroup with `pids` can be created"
)


class ProcessLimitError(Exception):
    """No group can be made that limits processes."""

    def __init__(self, reason: Phrase) -> None:
        super().__init__(str(reason))
        self.reason = reason


class ProcessLimit:
    """A group of processes with a maximum size."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, pid: int) -> None:
        """Move a process into the group; those it starts from now on belong to it, too."""
        (self._path / "cgroup.procs").write_text(str(pid))

    def remove(self) -> None:
        """Remove the group once its processes have ended."""
        with suppress(OSError):
            self._path.rmdir()


def sweep_process_limits() -> None:
    """Remove the groups of bots that were killed; those with processes stay, for the kernel removes
    none.
    """
    for root in _ROOTS:
        for path in root.glob(f"{_PREFIX}*"):
            pid = path.name.removeprefix(_PREFIX).partition("-")[0]
            if not Path(f"/proc/{pid}").exists():
                ProcessLimit(path).remove()


def create_process_limit(most: int) -> ProcessLimit | None:
    """Create a group if this process is root; for others RLIMIT_NPROC holds.

    Raises:
        ProcessLimitError: root, and no writable cgroup with the `pids` controller.
    """
    if os.geteuid() != 0:
        return None
    for root in _ROOTS:
        path = root / f"{_PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
        try:
            path.mkdir()
            (path / "pids.max").write_text(str(most))
        except OSError:
            with suppress(OSError):
                path.rmdir()
            continue
        return ProcessLimit(path)
    raise ProcessLimitError(_NO_GROUP)
