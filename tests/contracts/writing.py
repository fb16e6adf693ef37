"""Processes that write in a workspace beside others:
`python -m tests.contracts.writing ROOT URL LEASE ACT ARGUMENTS`.

URL and LEASE: of the record in PostgreSQL, "" and 0 for one machine's order.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from memory import failpoints
from memory.workspace import daily_log
from memory.workspace.atomic_write import FileConflict
from memory.workspace.daily_log import LogSection
from memory.workspace.files import SpaceFiles, Workspace
from memory.workspace.write_locks import LOCAL_WRITE_LOCKS, LockLost, SpaceWriter, WriteLocks

SECONDS = 20.0
AT = datetime(2026, 11, 20, 10, 0, tzinfo=UTC)
NOT_SURE = 3
ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Other:
    """One such process."""

    process: "subprocess.Popen[str]"

    def end(self) -> int:
        """Wait for its end; its exit code, negative for a signal's number."""
        return self.process.wait(SECONDS)

    def stopped(self) -> None:
        """Wait until it has stopped itself."""
        _, status = os.waitpid(self.process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)

    def wake(self) -> None:
        self.process.send_signal(signal.SIGCONT)


def spawned(root: Path, url: str, lease: int, *words: str, fp: str = "") -> Other:
    """Start one."""
    command = [sys.executable, "-m", "tests.contracts.writing", str(root), url, str(lease), *words]
    known = {**os.environ, "MNEMA_TEST": "1", "MNEMA_FP": fp}
    return Other(subprocess.Popen(command, cwd=ROOT, env=known, text=True))


def talk(files: SpaceFiles, me: str, lines: str) -> None:
    """Sections into the day's log, each marked then, and lines into MEMORY.md."""
    for number in range(int(lines)):
        fold = f"f{me}-{number}"
        section = LogSection(
            fold=fold, channel="web", first_turn=1, last_turn=2, at=AT, body=f"- said {me} {number}"
        )
        daily_log.mark_section(files, daily_log.append_section(files, section), fold, "undone")
        _add(files, f"- {me}-{number}\n")


def _add(files: SpaceFiles, line: str) -> None:
    while True:
        read = files.read("MEMORY.md")
        try:
            files.write("MEMORY.md", read.text + line, read.sha256)
        except FileConflict:
            continue
        return


def edit(files: SpaceFiles, path: str) -> None:
    """Change one file once."""
    files.write(path, "theirs", files.read(path).sha256)


@dataclass(frozen=True, slots=True)
class Sleepy:
    """Writers who fall asleep as soon as they are sure, or just before they ask."""

    real: WriteLocks
    asks: bool

    @contextmanager
    def alone(self, space: str, folder: int) -> Iterator[SpaceWriter]:
        with self.real.alone(space, folder) as writer:
            yield _Sleepy(writer, self.asks)


@dataclass(frozen=True, slots=True)
class _Sleepy:
    real: SpaceWriter
    asks: bool

    @property
    def mark(self) -> str:
        return self.real.mark

    def check_still_held(self) -> None:
        if self.asks:
            os.kill(os.getpid(), signal.SIGSTOP)
        self.real.check_still_held()
        if not self.asks:
            os.kill(os.getpid(), signal.SIGSTOP)


OTHERS = {"talk": talk, "edit": edit, "sleep": edit, "doze": edit}


def main(root: str, url: str, lease: str, act: str, *words: str) -> int:
    failpoints.arm(dict(os.environ))
    writers: WriteLocks = LOCAL_WRITE_LOCKS
    if url:
        from memory.store.postgres.locks import PostgresWriteLocks

        shared = PostgresWriteLocks(url, int(lease))
        shared.open()
        writers = shared
    if act in ("sleep", "doze"):
        writers = Sleepy(writers, act == "doze")
    try:
        OTHERS[act](Workspace(Path(root), writers).space(""), *words)  # type: ignore[operator]
    except LockLost as err:
        print(err, file=sys.stderr)
        return NOT_SURE
    return 0


if __name__ == "__main__":
    code = main(*sys.argv[1:])
    sys.stdout.flush()
    os._exit(code)
