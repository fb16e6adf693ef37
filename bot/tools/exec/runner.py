"""Starts a command in bubblewrap, watches what it uses, and ends its whole tree of processes."""

import asyncio
import json
import mmap
import os
import platform
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bot.texts import from_system
from bot.tools.exec.cgroup import ProcessLimit, ProcessLimitError, create_process_limit
from bot.tools.exec.output import OutputBuffer
from bot.tools.exec.sandbox import (
    SHM_PATH,
    TMP_PATH,
    SandboxCommand,
    SandboxLimits,
    build_arguments,
)
from bot.tools.exec.seccomp import build_filter, is_known_machine
from channels.phrases import Phrase
from memory.tasks import cancel_and_wait

WATCH_SECONDS = 0.1
END_SECONDS = 2.0  # a killed tree has that long to disappear
_READ_BYTES = 65_536
_OPEN_FILES = 256
_PAGE_BYTES = mmap.PAGESIZE
# what a file counts against the limit of the disk: an inode and its place in a folder
FILE_BYTES = 4_096
# between two looks where the file system does not say how many files it holds, as btrfs
_LOOK_SECONDS = 2.0
_CLOCK_SECONDS = 0.1  # the kernel stamps files by a clock that may be a tick late
_NOT_INSTALLED = Phrase("bubblewrap is not installed (apt install bubblewrap)")


class SandboxError(Exception):
    """The sandbox could not be set up, so nothing was run."""

    def __init__(self, reason: Phrase) -> None:
        super().__init__(str(reason))
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxResult:
    """How a command ended."""

    #: Exit code; negative: the signal.
    code: int
    output: str
    seconds: float
    #: Why it was ended; "" if it ended by itself.
    ended: str = ""


def find_bubblewrap() -> str:
    """Return the path of bubblewrap.

    Raises:
        SandboxError: not installed, or not on this machine.
    """
    if not is_known_machine(platform.machine()):
        raise SandboxError(
            Phrase(
                "there is no sandbox for {system} on {machine}",
                system=platform.system(),
                machine=platform.machine(),
            )
        )
    found = shutil.which("bwrap", path="/usr/local/bin:/usr/bin:/bin")
    if found is None:
        raise SandboxError(_NOT_INSTALLED)
    return found


async def run_in_sandbox(
    command: SandboxCommand,
    limits: SandboxLimits,
    bubblewrap: str = "",
    output: OutputBuffer | None = None,
    passed: Sequence[int] = (),
) -> SandboxResult:
    """Run a command to its end or its limits; when this returns or is cancelled, no process of it
    is left.

    Args:
        bubblewrap: its path, "" to look for it.
        output: takes what the command prints, to be read meanwhile.
        passed: descriptors that it inherits under their numbers.

    Raises:
        SandboxError: nothing was run.
    """
    run = _SandboxRun(command, limits, output or OutputBuffer())
    try:
        await run.start(bubblewrap or find_bubblewrap(), passed)
        return await run.finish()
    finally:
        await run.end()


class _SandboxRun:
    """One run: its processes, what they printed, and how they end."""

    def __init__(
        self, command: SandboxCommand, limits: SandboxLimits, output: OutputBuffer
    ) -> None:
        self._command = command
        self._limits = limits
        self._output = output
        self._process: asyncio.subprocess.Process | None = None
        #: The first process in the sandbox; the kernel kills all others with it.
        self._pid, self._pid_fd = 0, -1
        self._group: ProcessLimit | None = None
        self._files: FileCount | None = None
        self._written: dict[int, int] = {}
        self._began = time.monotonic()
        self._ended = ""

    async def start(self, bubblewrap: str, inherited: Sequence[int] = ()) -> None:
        """Start bubblewrap, set the limits of what it has created, and only then let it go on."""
        info, info_write = os.pipe()
        block_read, block = os.pipe()
        seccomp = memory_file(build_filter(platform.machine()))
        script = memory_file(self._command.script.encode()) if self._command.script else -1
        passed = [fd for fd in (info_write, block_read, seccomp, script) if fd >= 0]
        try:
            try:
                folders = [self._command.space / name for name in self._command.writable]
                self._files = FileCount(folders, self._limits.disk_bytes // FILE_BYTES)
                self._group = create_process_limit(self._limits.processes)
                await self._spawn(
                    bubblewrap,
                    build_arguments(self._command, info_write, block_read, seccomp, script),
                    [*passed, *inherited],
                )
            finally:
                for fd in passed:
                    os.close(fd)
            self._pid = await _read_child_pid(info)
            self._pid_fd = os.pidfd_open(self._pid)
            self._set_limits()
            os.write(block, b"x")
        except (OSError, ValueError, LookupError, ProcessLimitError) as err:
            raise SandboxError(await self._describe_failure(err)) from err
        finally:
            os.close(info)
            os.close(block)

    async def _spawn(
        self, bubblewrap: str, arguments: Sequence[str], passed: Sequence[int]
    ) -> None:
        self._process = await asyncio.create_subprocess_exec(
            bubblewrap,
            *arguments,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            pass_fds=passed,
            env={},
            cwd="/",
            start_new_session=True,
        )

    def _set_limits(self) -> None:
        import resource  # not on every system

        limits = self._limits
        for kind, most in (
            (resource.RLIMIT_NPROC, limits.processes),
            (resource.RLIMIT_DATA, limits.memory_bytes),
            (resource.RLIMIT_FSIZE, limits.disk_bytes),
            (resource.RLIMIT_CPU, int(limits.seconds) + 1),
            (resource.RLIMIT_NOFILE, _OPEN_FILES),
            (resource.RLIMIT_CORE, 0),
        ):
            resource.prlimit(self._pid, kind, (most, most))
        if self._group is not None:
            self._group.add(self._pid)

    async def _describe_failure(self, err: Exception) -> Phrase:
        if self._process is None:
            return err.reason if isinstance(err, ProcessLimitError) else from_system(err)
        self._kill()
        await self._read_output()
        lines = self._output.text().strip().splitlines()
        if lines:
            return Phrase("{words}", context="of bubblewrap", words=lines[0])
        return Phrase("bubblewrap ended at once ({err})", err=str(err))

    async def finish(self) -> SandboxResult:
        """Wait for the end of the whole tree; its limits may bring it about."""
        assert self._process is not None
        reader = asyncio.create_task(self._read_output())
        watcher = asyncio.create_task(self._watch())
        try:
            await _wait_until_readable(self._pid_fd)
            code = await self._process.wait()
            await reader
        finally:
            await cancel_and_wait({reader, watcher})
        seconds = time.monotonic() - self._began
        return SandboxResult(
            code=code, output=self._output.text(), seconds=seconds, ended=self._ended
        )

    async def end(self) -> None:
        """Kill what is left, and wait until it is gone."""
        self._kill()
        try:
            if self._pid_fd >= 0:
                async with asyncio.timeout(END_SECONDS):
                    await _wait_until_readable(self._pid_fd)
            if self._process is not None:
                await self._process.wait()
        finally:
            if self._pid_fd >= 0:
                os.close(self._pid_fd)
            if self._group is not None:
                self._group.remove()

    def _kill(self) -> None:
        if self._pid_fd >= 0:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pid_fd, signal.SIGKILL)
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.kill()

    async def _read_output(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        while data := await self._process.stdout.read(_READ_BYTES):
            self._output.add(data)

    async def _watch(self) -> None:
        """End the run at its limits, and when it cannot be watched."""
        assert self._files is not None
        while not self._ended:
            left = self._began + self._limits.seconds - time.monotonic()
            await asyncio.sleep(min(WATCH_SECONDS, max(left, 0)))
            if time.monotonic() >= self._began + self._limits.seconds:
                self._ended = f"it took longer than {self._limits.seconds:.0f} s"
            else:
                self._ended = await asyncio.to_thread(
                    _find_excess, self._pid, self._limits, self._files, self._written
                )
        self._kill()


class FileCount:
    """The files made in some folders since now.

    The file systems are asked first, which costs microseconds; only where these have lost so many
    free inodes, to whomever, the folders are walked.

    Args:
        most: how many may be made.
        read_system: `os.statvfs`.
    """

    def __init__(
        self,
        folders: Sequence[Path],
        most: int,
        clock: Callable[[], float] = time.time,
        read_system: Callable[[Path], os.statvfs_result] = os.statvfs,
    ) -> None:
        self._folders = folders
        self._most = most
        self._clock = clock
        self._read_system = read_system
        self._since = clock() - _CLOCK_SECONDS
        self._next_look = self._since + _LOOK_SECONDS
        one_of_each = {os.stat(folder).st_dev: folder for folder in folders}
        systems = {folder: read_system(folder) for folder in one_of_each.values()}
        #: Free inodes at the beginning, by a folder of each file system.
        self._free = {folder: system.f_ffree for folder, system in systems.items()}
        self._is_counted = all(system.f_files for system in systems.values())

    def is_exceeded(self, pid: int) -> bool:
        """Tell whether more files were made, in the folders or in the memory of the sandbox that
        `pid` is in.
        """
        return self._in_memory(pid) > self._most or (
            self._may_be_exceeded() and self._made() > self._most
        )

    def _may_be_exceeded(self) -> bool:
        if not self._is_counted:
            now = self._clock()
            is_due = now >= self._next_look
            self._next_look = now + _LOOK_SECONDS if is_due else self._next_look
            return is_due
        return (
            sum(free - self._read_system(folder).f_ffree for folder, free in self._free.items())
            > self._most
        )

    def _made(self) -> int:
        """Count the files made or changed since the beginning, up to the first one too many."""
        made = 0
        pending = list(map(str, self._folders))
        while pending and made <= self._most:
            try:
                with os.scandir(pending.pop()) as entries:
                    for entry in entries:
                        if entry.is_dir(follow_symlinks=False):
                            pending.append(entry.path)
                        made += self._is_new(entry)
            except FileNotFoundError:
                continue  # it was removed meanwhile
            except OSError:
                # too deep, or closed to us: a command that is honest does neither
                return self._most + 1
        return made

    def _is_new(self, entry: "os.DirEntry[str]") -> bool:
        try:
            return entry.stat(follow_symlinks=False).st_ctime >= self._since
        except FileNotFoundError:
            return False

    def _in_memory(self, pid: int) -> int:
        """Count the files in the sandbox's folders in memory."""
        made = 0
        for folder in (TMP_PATH, SHM_PATH):
            try:
                system = os.statvfs(f"/proc/{pid}/root{folder}")
            except (FileNotFoundError, ProcessLookupError):
                return 0  # it has ended
            made = max(made, system.f_files - system.f_ffree)
        return made


def _find_excess(pid: int, limits: SandboxLimits, files: FileCount, written: dict[int, int]) -> str:
    """Tell which limit a tree of processes exceeds; "" for none.

    Args:
        written: what each process had written when it was last looked at; brought up to date.
    """
    try:
        tree = list(_processes_of(pid))
        # memory that processes share is counted several times
        resident = sum(_resident_bytes(one) for one in tree)
        if (
            resident > limits.memory_bytes
            and sum(_own_bytes(one) for one in tree) > limits.memory_bytes
        ):
            return f"it used more than {limits.memory_bytes // 2**20} MB of memory"
        written |= {one: _written_bytes(one, written.get(one, 0)) for one in tree}
        if sum(written[one] for one in tree) > limits.disk_bytes:
            return f"it wrote more than {limits.disk_bytes // 2**20} MB"
        if files.is_exceeded(pid):
            return f"it made more than {limits.disk_bytes // FILE_BYTES:,} files"
    except OSError:
        return "it could not be watched"
    return ""


def _processes_of(pid: int) -> Iterator[int]:
    """Return a process and its descendants; orphans are children of the first one."""
    pending = [pid]
    while pending:
        one = pending.pop()
        yield one
        with suppress(FileNotFoundError, ProcessLookupError):
            for thread in os.listdir(f"/proc/{one}/task"):
                pending += map(int, _read(f"/proc/{one}/task/{thread}/children").split())


def _living_thread(pid: int) -> str:
    """Return the path of a thread that has the memory of its process; "" once the process has
    ended.

    The first thread may have ended before the others.
    """
    with suppress(FileNotFoundError, ProcessLookupError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            path = f"/proc/{pid}/task/{thread}"
            pages = _read(f"{path}/statm").partition(" ")[0]
            if pages not in ("", "0"):
                return path
    return ""


def _resident_bytes(pid: int) -> int:
    thread = _living_thread(pid)
    fields = _read(f"{thread}/statm").split() if thread else []
    return int(fields[1]) * _PAGE_BYTES if fields else 0


def _own_bytes(pid: int) -> int:
    """Return the memory of a process with its share of what others use, too (PSS)."""
    thread = _living_thread(pid)
    return _number(_read(f"{thread}/smaps_rollup"), "Pss:") * 1024 if thread else 0


def _written_bytes(pid: int, known: int) -> int:
    """Return what a process and its ended children wrote to disks, without what was removed before
    it got there.

    Args:
        known: what it had written when it was last looked at; of one that has ended, but was not
            waited for by its parent, only root is told more. It may have written a tenth of a
            second longer.
    """
    try:
        text = _read(f"/proc/{pid}/io")
    except PermissionError:
        if _living_thread(pid):
            raise  # it hides what it does
        return known
    return _number(text, "write_bytes:") - _number(text, "cancelled_write_bytes:")


def _number(text: str, name: str) -> int:
    for line in text.splitlines():
        if line.startswith(name):
            return int(line.split()[1])
    return 0


def _read(path: str) -> str:
    """Read a file of /proc; "" once its process has ended."""
    try:
        with open(path, encoding="ascii") as file:
            return file.read()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def memory_file(data: bytes) -> int:
    """Return a descriptor of a file in memory, to be read from its beginning."""
    fd = os.memfd_create("exec")
    os.write(fd, data)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


async def _read_child_pid(fd: int) -> int:
    """Read what bubblewrap says of its child; ValueError if it ended without a word."""
    text = b""
    while data := await _read_when_ready(fd):
        text += data
    return int(json.loads(text)["child-pid"])


async def _read_when_ready(fd: int) -> bytes:
    await _wait_until_readable(fd)
    return os.read(fd, _READ_BYTES)


async def _wait_until_readable(fd: int) -> None:
    """Wait until a descriptor can be read: a pidfd once its process has ended."""
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(fd, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(fd)
